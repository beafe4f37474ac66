"""How frequent each category is: judged on all items, corrected by those that humans labelled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.inference.scales import effective, one_row, student, wald, z
from scorewise.inference.shares import share_over_items, wilson, wilson_of
from scorewise.judging.reading import Codes, Panel
from scorewise.show.estimates import EstimateField
from scorewise.show.fields import Record, Share, means


class Prevalence(Record):
    """A category's share of human votes on all items."""

    category: str
    judge: EstimateField = means("Share among the judge's answers, uncorrected.")
    labelled: EstimateField = means("Share of votes on labelled items alone.")
    powered: EstimateField = means("Prediction-powered (Angelopoulos et al. 2023).")
    tuned: EstimateField = means(
        "Prediction-powered, with the power that makes the shares most certain (PPI++)."
    )
    tuning: Share = means("That power.")
    rates: EstimateField = means(
        "Corrected by sensitivity and specificity (Rogan and Gladen 1978)."
    )


def prevalences(panel: Panel, judge: str, level: float) -> list[Prevalence]:
    """The share of each category; empty where no item is unlabelled.

    The outcome of an item is the share of its human ratings that name the category: a tie of two is half
    of each. A judge that gives no answer is taken to say each category as often as it does elsewhere.
    """
    if not panel.items(panel.labelled) or not panel.items(~panel.labelled):
        return []
    codes = panel.answers[judge]
    found = [Outcomes.of(panel, codes, k) for k in range(len(panel.words))]
    power, made = tuning(found), []
    for k, (name, o) in enumerate(zip(panel.words, found, strict=True)):
        (one, one2), (two, two2) = panel.sums(codes == k), panel.sums((codes >= 0) & (codes != k))
        made.append(
            Prevalence(
                category=name,
                judge=Estimate(*wilson(one, two, one2, two2, level), level, "Wilson"),
                labelled=share_over_items(
                    o.votes, np.ones(len(o.votes)), o.weight, o.weight2, level=level
                ),
                powered=powered(o, level),
                tuned=tuned(o, power, level),
                tuning=power,
                rates=rates(o, level),
            )
        )
    return made


def tuning(found: list[Outcomes]) -> float:
    """The weight of the judge that makes the sum of the variances of all shares least.

    sum cov(votes, judge) / ((1 + n/N) sum var(judge)), one for all categories, so that shares add up to 1.
    Kept within 0, where the judge is not used, and 1, where it is used in full.
    """
    spread = sum(o.spread_of_judge * (1 + o.labelled / o.others) for o in found)
    return float(min(max(sum(o.covariance for o in found) / spread, 0.0), 1.0)) if spread else 0.0


def powered(o: Outcomes, level: float) -> Estimate:
    """Votes on labelled items + judge on the others - judge on labelled ones, with a normal interval.

    This is the interval as published. Of rare categories it covers less than it says.
    """
    value = _value(o, 1.0)
    error = math.sqrt(_variance(o, 1.0, padded=False))
    return _inside(value, wald(value, error, level, "identity"), level, "PPI")


def tuned(o: Outcomes, power: float, level: float) -> Estimate:
    """Votes on labelled items + power * (judge on the others - judge on labelled ones).

    The interval is Wilson's, of as many items as would be as uncertain, with Student's quantile. Where
    the judge never errs in one way, or never is right in one, two items are spread over the four ways, for
    the variance alone.
    """
    value = min(max(_value(o, power), 0.0), 1.0)
    variance = _variance(o, power, padded=True)
    n = o.labelled
    if value * (1 - value) and variance and not one_row(o.labelled):
        n = value * (1 - value) / variance * (1 - 1 / o.labelled)
        n = max(n * (z(level) / student(level, o.labelled - 1)) ** 2, 1e-9)
    return Estimate(*wilson_of(value, n, level), level, "PPI++, Wilson")


def _value(o: Outcomes, power: float) -> float:
    return o.mean(o.votes) + power * (o.said - o.mean(o.judge))


def _variance(o: Outcomes, power: float, *, padded: bool) -> float:
    """The variance of votes - power * judge on labelled items, plus that of the judge on the others."""
    left = o.votes - power * o.judge
    n, first, second = o.labelled, o.mean(left), o.mean(left**2)
    if padded and not o.table.all():
        more = np.array([0.0, -power, 1.0, 1.0 - power]) / 2
        first = (first * n + float(more.sum())) / (n + 2)
        second = (second * n + 2 * float((more**2).sum())) / (n + 2)
    return max(second - first**2, 0.0) / n + power**2 * o.spread_of_others / o.others


def _inside(value: float, limits: tuple[float, float], level: float, method: str) -> Estimate:
    """A share and its interval, kept within 0 and 1."""
    value, low, high = (min(max(x, 0.0), 1.0) for x in (value, *limits))
    return Estimate(value, low, high, level, method)


def rates(o: Outcomes, level: float) -> Estimate:
    """(judge's share + specificity - 1) / (sensitivity + specificity - 1), by the delta method.

    A labelled item counts in the judge's share and in both rates; where its humans differ, in part.
    """
    share = o.mean(o.votes)
    if not 1e-100 < share < 1:
        return Estimate.undefined("no labelled item for sensitivity or specificity", level)
    hit = o.mean(o.votes * o.judge) / share
    false = o.mean((1 - o.votes) * o.judge) / (1 - share)
    gain = hit - false
    if gain <= 1e-12:
        return Estimate.undefined("the judge is no better than chance", level)
    n, more = o.labelled, o.others
    said = (n * o.mean(o.judge) + more * o.said) / (n + more)
    value = (said - false) / gain
    # what an item adds to the judge's share, and through the rates
    effect = (o.judge - said) * n / (n + more)
    effect -= value * o.votes / share * (o.judge - hit)
    effect -= (1 - value) * (1 - o.votes) / (1 - share) * (o.judge - false)
    others = o.spread_of_others + (o.said - said) ** 2
    variance = (o.mean(effect**2) / n + others * more / (n + more) ** 2) / gain**2
    limits = wald(value, math.sqrt(variance), level, "identity")
    return _inside(value, limits, level, "Rogan-Gladen, delta")


# What humans and a judge say about one category, item by item.


@dataclass(frozen=True, eq=False)
class Outcomes:
    """A category on the labelled items, and the judge on the others.

    Patterns of labelled items have `votes`, the share of their human ratings that name the category,
    `judge`, whether the judge does, and weights. `said` is the judge's share of the others,
    `spread_of_others` its variance there. `labelled` and `others` are numbers of items of equal weight.
    """

    votes: Floats
    judge: Floats
    weight: NDArray[Any]
    weight2: NDArray[Any]
    said: float
    spread_of_others: float
    labelled: float
    others: float

    @classmethod
    def of(cls, panel: Panel, codes: Codes, k: int) -> Outcomes:
        """One category on all items; where the judge gives no answer, its share elsewhere."""
        human, other = panel.labelled, ~panel.labelled
        weight, spoke = panel.weight, codes >= 0
        usual = float(weight[codes == k].sum()) / float(weight[spoke].sum())
        said = np.where(spoke, codes == k, usual).astype(np.float64)
        votes = np.stack([c[human] for c in panel.humans.values()])
        share = weight[other] / weight[other].sum()
        mean = float((share * said[other]).sum())
        return cls(
            (votes == k).sum(0) / (votes >= 0).sum(0),
            said[human],
            weight[human],
            panel.weight2[human],
            mean,
            float((share * (said[other] - mean) ** 2).sum()),
            effective(*panel.sums(human)),
            effective(*panel.sums(other)),
        )

    @cached_property
    def _shares(self) -> Floats:
        return np.asarray(self.weight / self.weight.sum(), np.float64)

    def mean(self, values: Floats) -> float:
        """The mean of something over labelled items."""
        return float((self._shares * values).sum())

    @cached_property
    def covariance(self) -> float:
        """Of votes and judge."""
        return self.mean(self.votes * self.judge) - self.mean(self.votes) * self.mean(self.judge)

    @cached_property
    def spread_of_judge(self) -> float:
        """The judge's variance over all items."""
        n, more = self.labelled, self.others
        first = (n * self.mean(self.judge) + more * self.said) / (n + more)
        second = n * self.mean(self.judge**2) + more * (self.spread_of_others + self.said**2)
        return second / (n + more) - first**2

    @cached_property
    def table(self) -> Floats:
        """Labelled items by (votes, judge), as shares."""
        sides = [[1 - x, x] for x in (self.votes, self.judge)]
        return np.array([[self.mean(a * b) for b in sides[1]] for a in sides[0]])
