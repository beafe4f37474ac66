"""How frequent each category is: judged on all items, corrected by those that humans labelled."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.inference.scales import effective_size, normal_quantile, single_row, t_quantile, wald
from scorewise.inference.shares import share_of_items, wilson, wilson_of
from scorewise.judging.panel import Codes, Panel
from scorewise.show.records import EstimateField, Record, Share, field


class Prevalence(Record):
    """A category's share of human votes on all items."""

    category: str
    judge: EstimateField = field("Share among the judge's answers, uncorrected.")
    labelled: EstimateField = field("Share of votes on labelled items alone.")
    powered: EstimateField = field("Prediction-powered (Angelopoulos et al. 2023).")
    tuned: EstimateField = field(
        "Prediction-powered, with the power that makes the shares most certain (PPI++)."
    )
    tuning: Share = field("That power.")
    rates: EstimateField = field(
        "Corrected by sensitivity and specificity (Rogan and Gladen 1978)."
    )


def prevalences(panel: Panel, judge: str) -> list[Prevalence]:
    """The share of each category; empty where no item is unlabelled.

    The outcome of an item is the share of its human ratings that name the category: a tie of two is half
    of each. A judge that gives no answer is taken to say each category as often as it does elsewhere.

    The power is the weight of the judge that makes the sum of the variances of all shares least:
    sum cov(votes, judge) / ((1 + n/N) sum var(judge)), one for all categories, so that shares add up to 1.
    It is kept within 0, where the judge is not used, and 1, where it is used in full.
    """
    if not panel.labelled.any() or panel.labelled.all():
        return []
    codes, level, human = panel.answers[judge], panel.settings.level, panel.labelled
    outcomes = [Outcomes.of(panel, codes, k) for k in range(len(panel.words))]
    variance = sum(o.variance_of_judge * (1 + o.labelled / o.others) for o in outcomes)
    power = sum(o.covariance for o in outcomes) / variance if variance else 0.0
    power, made = float(min(max(power, 0.0), 1.0)), []
    for k, (name, o) in enumerate(zip(panel.words, outcomes, strict=True)):
        (hit, hit2), (miss, miss2) = (
            panel.sums(where) for where in (codes == k, (codes >= 0) & (codes != k))
        )
        of, weights = np.ones(len(o.votes)), (panel.weight[human], panel.weight2[human])
        made.append(
            Prevalence(
                category=name,
                judge=Estimate(*wilson(hit, miss, hit2, miss2, level), level, "Wilson"),
                labelled=share_of_items(o.votes, of, *weights, level=level),
                powered=o.powered(level),
                tuned=o.tuned(power, level),
                tuning=power,
                rates=o.by_rates(level),
            )
        )
    return made


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What humans and a judge say about one category: item by item where humans did, and elsewhere.

    Patterns of labelled items have `votes`, the share of their human ratings that name the category,
    `judge`, whether the judge does, and their `share` of the weight. `elsewhere` is the judge's share of
    the other items, `variance_elsewhere` its variance there. `labelled` and `others` are numbers of items
    of equal weight.
    """

    votes: Floats
    judge: Floats
    share: Floats
    elsewhere: float
    variance_elsewhere: float
    labelled: float
    others: float

    @classmethod
    def of(cls, panel: Panel, codes: Codes, k: int) -> Outcomes:
        """One category on all items; where the judge gives no answer, its share elsewhere."""
        human, other, answered = panel.labelled, ~panel.labelled, codes >= 0
        usual = panel.sums(codes == k)[0] / panel.sums(answered)[0]
        judge = np.where(answered, codes == k, usual).astype(np.float64)
        votes = np.stack([c[human] for c in panel.humans.values()])
        own, rest = (panel.weight[x] / panel.weight[x].sum() for x in (human, other))
        mean = float((rest * judge[other]).sum())
        return cls(
            votes=(votes == k).sum(0) / (votes >= 0).sum(0),
            judge=judge[human],
            share=own,
            elsewhere=mean,
            variance_elsewhere=float((rest * (judge[other] - mean) ** 2).sum()),
            labelled=effective_size(*panel.sums(human)),
            others=effective_size(*panel.sums(other)),
        )

    def mean(self, values: Floats) -> float:
        """The mean of something over labelled items."""
        return float((self.share * values).sum())

    def everywhere(self, labelled: float, elsewhere: float) -> float:
        """The mean over all items, of one over labelled items and one over the others."""
        both = self.labelled * labelled + self.others * elsewhere
        return both / (self.labelled + self.others)

    @property
    def covariance(self) -> float:
        """Of votes and judge."""
        return self.mean(self.votes * self.judge) - self.mean(self.votes) * self.mean(self.judge)

    @property
    def variance_of_judge(self) -> float:
        """The judge's variance over all items."""
        square = self.variance_elsewhere + self.elsewhere**2
        first = self.everywhere(self.mean(self.judge), self.elsewhere)
        return self.everywhere(self.mean(self.judge**2), square) - first**2

    def powered(self, level: float) -> Estimate:
        """Votes on labelled items + judge on the others - judge on labelled ones, with a normal interval.

        This is the interval as published. Of rare categories it covers less than it says.
        """
        value, variance = self._with_power(1.0, padded=False)
        limits = wald(value, math.sqrt(variance), level, "identity")
        return Estimate.within((0.0, 1.0), value, *limits, level, "PPI")

    def tuned(self, power: float, level: float) -> Estimate:
        """Votes on labelled items + power * (judge on the others - judge on labelled ones).

        The interval is Wilson's, of as many items as would be as uncertain, with Student's quantile. Where
        the judge never errs in one way, or never is right in one, two items are spread over the four ways,
        for the variance alone.
        """
        value, variance = self._with_power(power, padded=True)
        value, n = min(max(value, 0.0), 1.0), self.labelled
        if value * (1 - value) and variance and not single_row(n):
            items = value * (1 - value) / variance * (1 - 1 / n)
            n = max(items * (normal_quantile(level) / t_quantile(level, n - 1)) ** 2, 1e-9)
        return Estimate(*wilson_of(value, n, level), level, "PPI++, Wilson")

    def _with_power(self, power: float, *, padded: bool) -> tuple[float, float]:
        """The share, and its variance: votes - power * judge on labelled items, and the judge elsewhere."""
        value = self.mean(self.votes) + power * (self.elsewhere - self.mean(self.judge))
        left = self.votes - power * self.judge
        n, first, second = self.labelled, self.mean(left), self.mean(left**2)
        ways = [[1 - x, x] for x in (self.votes, self.judge)]
        if padded and not all(self.mean(a * b) for a in ways[0] for b in ways[1]):
            more = np.array([0.0, -power, 1.0, 1.0 - power]) / 2
            first = (first * n + float(more.sum())) / (n + 2)
            second = (second * n + 2 * float((more**2).sum())) / (n + 2)
        variance = max(second - first**2, 0.0) / n
        return value, variance + power**2 * self.variance_elsewhere / self.others

    def by_rates(self, level: float) -> Estimate:
        """(judge's share + specificity - 1) / (sensitivity + specificity - 1), by the delta method.

        A labelled item counts in the judge's share and in both rates; where its humans differ, in part.
        """
        share = self.mean(self.votes)
        if not 1e-100 < share < 1:
            return Estimate.undefined("no labelled item for sensitivity or specificity", level)
        hit = self.mean(self.votes * self.judge) / share
        false = self.mean((1 - self.votes) * self.judge) / (1 - share)
        gain = hit - false
        if gain <= 1e-12:
            return Estimate.undefined("the judge is no better than chance", level)
        n, more = self.labelled, self.others
        everywhere = self.everywhere(self.mean(self.judge), self.elsewhere)
        value = (everywhere - false) / gain
        # what an item adds to the judge's share, and through the rates
        effect = (self.judge - everywhere) * n / (n + more)
        effect -= value * self.votes / share * (self.judge - hit)
        effect -= (1 - value) * (1 - self.votes) / (1 - share) * (self.judge - false)
        others = self.variance_elsewhere + (self.elsewhere - everywhere) ** 2
        variance = (self.mean(effect**2) / n + others * more / (n + more) ** 2) / gain**2
        limits = wald(value, math.sqrt(variance), level, "identity")
        return Estimate.within((0.0, 1.0), value, *limits, level, "Rogan-Gladen, delta")
