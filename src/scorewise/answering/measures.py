"""Measures of the confidence in answers that have it: those of any tally, and a few of answers alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.answering.rows import AnswerRows
from scorewise.arrays import Floats, Ints
from scorewise.checks import check
from scorewise.columns import Rows, binary_rows
from scorewise.computing import cached
from scorewise.curves.benefit import risk_coverage
from scorewise.estimate import Estimate
from scorewise.inference.means import mean_loss, mean_score
from scorewise.inference.scales import effective_size, limits, pooled_variance
from scorewise.inference.shares import wilson, wilson_of
from scorewise.registry import ANSWER_MEASURES, CLASS_MEASURES, MEASURES, Measure, measure
from scorewise.tallies import Tally
from scorewise.tallies.losses import Moments

MAX_TAUS = 20  # distinct qualities, up to which each is a threshold of its own
GRID = tuple(i / 20 for i in range(20))
MARGIN = 0.05  # of coverage on both sides, where the last answers kept are judged


@dataclass(frozen=True, eq=False)
class Sample:
    """The quality of answers, the confidence in them, how much each matters, and clusters if there are any.

    >>> s = Sample(np.array([0.0, 0.6, 1.0]), np.array([0.3, 0.7, 0.9]), None)
    >>> s.tally(0.5)
    <Tally: 3 rows, 2 positive, on 3 scores (probability)>
    """

    quality: Floats
    confidence: Floats
    weight: Floats | None
    cluster: Ints | None = None

    @classmethod
    def of(cls, rows: AnswerRows, name: str, at: Ints | None = None) -> Sample:
        """The answers that have this confidence, among all rows or some of them."""
        index: Any = np.arange(len(rows)) if at is None else at
        there = ~np.isnan(rows.confidence[name][index])
        if rows.weight is not None:  # rows of weight 0 carry no information
            there &= rows.weight[index] > 0
        part = rows.at(index[there])
        return cls(part.quality, part.confidence[name], part.weight, part.cluster)

    def __len__(self) -> int:
        return len(self.quality)

    @property
    def mass(self) -> Floats:
        """How much each answer matters."""
        return np.ones(len(self)) if self.weight is None else self.weight

    def correct(self, tau: float) -> int:
        """How many answers are above `tau`; of two thresholds with the same number, these are the same."""
        return int(np.count_nonzero(self.quality > tau))

    def rows(self, tau: float) -> Rows:
        """The confidence against whether the answer is correct, answer by answer."""
        columns: dict[str, Any] = {
            "label": self.quality > tau, "score": {"score": self.confidence}, "weight": self.weight,
        }  # fmt: skip
        known = ("rows", self.correct(tau))
        return cached(
            self, known, lambda: binary_rows(None, **columns, positive=True, kind="probability")
        )

    def tally(self, tau: float) -> Tally:
        """The same, with the rows counted."""
        known = ("tally", self.correct(tau))
        return cached(self, known, lambda: Tally.of_rows(self.rows(tau), "score").unlabelled())


def thresholds(quality: Floats) -> tuple[float, ...]:
    """The thresholds that tell something: each distinct quality below 1 if they are few, or a grid.

    >>> thresholds(np.array([0.0, 1.0, 1.0])), len(thresholds(np.linspace(0, 1, 99)))
    ((0.0,), 20)
    """
    found = np.unique(quality)
    return GRID if len(found) > MAX_TAUS else (*sorted({0.0, *found[found < 1].tolist()}),)


# Measures of answers alone: of the tally of confidence against correct, or of quality itself.


NONE = "no answers"


@measure(group="decisions", title="Accuracy", of="answers")
def accuracy(t: Tally, *, level: float = 0.95) -> Estimate:
    """Share of answers that are correct; Wilson interval.

    >>> accuracy(Tally.of([1, 1, 0, 1], [0.9, 0.8, 0.7, 0.6]))
    0.750 [0.301, 0.954]
    """
    if not t.negatives and not t.positives:
        return Estimate.undefined(NONE, level)
    wrong2, right2 = t.squares
    share = wilson(t.positives, t.negatives, right2, wrong2, level)
    return Estimate(share.value, share.low, share.high, level, "Wilson")


@measure(group="decisions", title="Mean quality", of="answers")
def mean_quality(s: Sample, *, level: float = 0.95) -> Estimate:
    """Mean quality of the answers, whatever tau; Wilson where it is 0 or 1, else Student, logit.

    >>> mean_quality(Sample(np.array([0.0, 0.6, 1.0, 0.8]), np.full(4, 0.5), None))
    0.600 [0.079, 0.963]
    """
    w = s.mass
    if not w.any():
        return Estimate.undefined(NONE, level)
    if not ((s.quality > 0) & (s.quality < 1)).any():
        return accuracy(s.tally(0.5), level=level)
    value = float((w * s.quality).sum() / w.sum())
    off = s.quality - value
    rows = effective_size(float(w.sum()), float((w * w).sum()))
    variance = pooled_variance((float((w * w * off * off).sum() / w.sum() ** 2), rows))
    if not variance.informative():
        return Estimate(value, level=level, method="none: all are equal")
    low, high = limits(value, variance, level, "logit")
    return Estimate(value, low, high, level, "Student, logit scale")


@measure(group="scores", better="neither", title="Mean confidence", of="answers")
def mean_confidence(t: Tally, *, level: float = 0.95) -> Estimate:
    """Mean confidence in the answers; Student's interval, within [0, 1].

    >>> mean_confidence(Tally.of([1, 1, 0], [0.95, 0.9, 0.3]))
    0.717 [0.000, 1.000]
    """
    e = mean_score(t, level=level)
    return replace(e, low=max(e.low, 0.0), high=min(e.high, 1.0)) if e.low < e.high else e


@measure(
    group="calibration",
    better="near",
    target=0.0,
    bounds=(-1.0, 1.0),
    title="Overconfidence",
    of="answers",
)
def overconfidence(t: Tally, *, level: float = 0.95) -> Estimate:
    """Mean confidence less the share of correct answers; above 0 is overconfident.

    The interval puts together Student's for the mean confidence and Wilson's for the share, with the
    correlation of the two on the same answers (MOVER; Zou 2007), drawn to 0 where it is above 0 and answers
    are few.

    >>> overconfidence(Tally.of([1, 1, 0, 1], [0.9, 0.8, 0.7, 1.0]))
    0.100 [-0.102, 0.486]
    """
    right = accuracy(t, level=level)
    if not right.defined:
        return right
    mean = mean_score(t, level=level)
    value = mean.value - right.value
    alone = not math.isfinite(mean.low)  # all say the same, or there is one answer
    ends = (mean.value, mean.value) if alone else (mean.low, mean.high)
    r = 0.0 if alone else _correlation(t)
    sides = (
        (mean.value - ends[0], right.high - right.value),
        (ends[1] - mean.value, right.value - right.low),
    )
    # the standard error of a difference, in the units of the two distances
    down, up = (math.sqrt(max(a * a + b * b - 2 * r * a * b, 0.0)) for a, b in sides)
    low, high = max(value - down, -1.0), min(value + up, 1.0)
    return Estimate(value, low, high, level, "MOVER, paired")


def _correlation(t: Tally) -> float:
    """Of confidence and correctness, over the answers; drawn to 0, as that of two answers is 1 or -1."""
    w = (t.neg + t.pos).astype(np.float64)
    total, right = float(w.sum()), t.positives / (t.negatives + t.positives)
    x = t.score - float((w * t.score).sum()) / total
    both = float((x * (t.pos - w * right)).sum()) / total
    size = math.sqrt(float((w * x * x).sum()) / total * right * (1 - right))
    r = min(max(both / size, -1.0), 1.0) if size > 1e-12 else 0.0
    rows = effective_size(total, float((t.neg2 + t.pos2).sum()))
    return r * (1 - 1 / (rows - 1)) if r > 0 and rows > 2 else min(r, 0.0)


@measure(group="probability", better="low", title="Brier against quality", of="answers")
def soft_brier(s: Sample, *, level: float = 0.95) -> Estimate:
    """Mean squared distance of the confidence from the quality; needs no tau.

    The Brier score where quality is 0 or 1. Normal interval on the log scale, its variance added up within
    and between the better and the worse half of the scale, because few bad answers may decide it. The
    baseline is the best constant confidence, the mean quality.

    >>> soft_brier(Sample(np.array([0.0, 0.6, 1.0]), np.array([0.3, 0.7, 0.9]), None))
    0.037 [0.001, 0.948]
    """
    w = s.mass
    if not w.any():
        return Estimate.undefined(NONE, level)
    loss = (s.confidence - s.quality) ** 2
    mean = (w * s.quality).sum() / w.sum()
    baseline = float((w * (s.quality - mean) ** 2).sum() / w.sum())
    halves = [np.where(side, w, 0.0) for side in (s.quality <= 0.5, s.quality > 0.5)]
    sums = [Moments.of(loss, half, half * half) for half in halves]
    weights, squares = ([float((half**k).sum()) for half in halves] for k in (1, 2))
    return mean_loss(sums, weights, squares, level, baseline, 1.0)


@measure(group="order", title="Accuracy, surest 80%", of="answers")
def selective_accuracy(t: Tally, *, coverage: float = 0.8, level: float = 0.95) -> Estimate:
    """Share of correct answers among the surest ones, four in five unless `coverage` says another share.

    Of answers with equal confidence the share that fits is kept. Wilson interval of as many answers as
    would be as uncertain; where the cut lies is uncertain too, which matters by how far the answers next
    to it differ from those kept. The baseline is confidence without meaning: the share of all answers.

    >>> selective_accuracy(Tally.of([1, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5]))
    0.750 [0.229, 0.968]
    """
    check(coverage=coverage)
    total = t.negatives + t.positives
    if not total:
        return Estimate.undefined(NONE, level)
    cached = np.concatenate(([0.0], (t.neg + t.pos)[::-1].cumsum() / total))
    right = np.concatenate(([0.0], t.pos[::-1].cumsum() / total))
    value = min(max(1 - risk_coverage(t).at(coverage), 0.0), 1.0)
    ends = np.array([max(coverage - MARGIN, 0.0), min(coverage + MARGIN, 1.0)])
    near = float(np.diff(np.interp(ends, cached, right))[0] / np.diff(ends)[0])
    rows = effective_size(total, sum(t.squares)) * coverage
    inside = value * (1 - value)
    # of the sum over the kept of (correct - near), each answer being kept by chance
    variance = inside + (value - near) ** 2 * (1 - coverage)
    n = rows * (inside / variance if inside > 0 else 1.0)
    baseline = t.positives / total
    return Estimate(*wilson_of(value, n, level), level, "Wilson, cut uncertain", "", 0.0, baseline)


ALL_MEASURES: dict[str, Measure] = {
    **{name: m for name, m in MEASURES.items() if m.group != "decisions"},
    **{name: CLASS_MEASURES[name] for name in ("aurc", "excess_aurc", "augrc")},
    **ANSWER_MEASURES,
}
PAGE_MEASURES = (
    "accuracy", "mean_quality", "mean_confidence", "overconfidence", "ece", "smece", "brier", "mcb", "dsc",
    "unc", "soft_brier", "auroc", "aurc", "selective_accuracy",
)  # fmt: skip
OF_QUALITY = {"mean_quality", "soft_brier"}  # functions of a sample, the others of its tally
# of which values a measure is the mean; right is 1 for correct answers
MEANS: dict[str, Callable[[Sample, Floats], Floats]] = {
    "accuracy": lambda s, right: right,
    "mean_quality": lambda s, right: s.quality,
    "mean_confidence": lambda s, right: s.confidence,
    "overconfidence": lambda s, right: s.confidence - right,
    "soft_brier": lambda s, right: (s.confidence - s.quality) ** 2,
}
