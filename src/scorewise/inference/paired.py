"""Means of losses over rows, and differences of models on the same rows, with the covariance they share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns import Rows
from scorewise.estimate import Estimate
from scorewise.inference.ranking import FEW, area
from scorewise.inference.scales import (
    Spread,
    effective,
    limits,
    one_row,
    pooled_spread,
    student_chance,
    wald,
)
from scorewise.inference.smroc import Influence, influence, smooth_area
from scorewise.tallies import Tally
from scorewise.tallies.formulas import placed
from scorewise.tallies.losses import Moments
from scorewise.tallies.smroc import midpoint, why_not_unit


def mean_gap(gap: Floats, weight: Floats, square: Floats, level: float) -> Estimate:
    """The mean of paired differences of rows, with its normal interval."""
    total = float(weight.sum())
    n = effective(total, float(square.sum()))
    mean = float((weight * gap).sum() / total)
    if one_row(n):
        return Estimate(mean, level=level, method="none: a single row", baseline=0.0)
    variance = float((square * (gap - mean) ** 2).sum() / total**2) * n / (n - 1)
    if variance <= 1e-26:
        return Estimate(mean, mean, mean, level, "none: no row differs", "", 0.0, 0.0)
    low, high = wald(mean, math.sqrt(variance), level, "identity")
    return Estimate(mean, low, high, level, "normal, paired", "", 0.0, 0.0)


def mean_loss(
    sums: Sequence[Moments],
    weights: Sequence[float],
    squares: Sequence[float],
    level: float,
    baseline: float,
    most: float = math.inf,
) -> Estimate:
    """The mean loss, given its moments, weights and squared weights for each class.

    Normal interval on the log scale with Student's quantile; `most` is the largest possible loss.

    >>> mean_loss([Moments(0.3, 0.3, 0.05), Moments(0.5, 0.5, 0.13)], (2, 2), (2, 2), 0.95, 0.69)
    0.200 [0.108, 0.371]
    """
    total = sum(weights)
    value = sum(m.first for m in sums) / total
    if not math.isfinite(value):
        why = "infinite: the losses add up beyond the largest number"
        return Estimate(math.inf, level=level, why=why, baseline=baseline)
    value = min(value, most)  # rounding may lead a hair beyond
    known = _spread(sums, weights, squares)
    if value == 0:
        return Estimate(value, 0.0, 0.0, level, "no loss at all", "", 0.0, baseline)
    if not known.says_something(value):
        reason = (
            "all losses are equal" if known.variance < math.inf else "beyond the largest number"
        )
        return Estimate(value, level=level, method=f"none: {reason}", baseline=baseline)
    low, high = limits(value, known, level, "log")
    return Estimate(value, low, min(high, most), level, "Student, log scale", "", 0.0, baseline)


def _spread(sums: Sequence[Moments], weights: Sequence[float], squares: Sequence[float]) -> Spread:
    """Variance of the mean loss: within each class, and by how many rows of each class there are.

    Kept apart because the rare class, with its few and large losses, decides the degrees of freedom.
    """
    total = sum(weights)
    rows = effective(total, sum(squares))
    used = [part for part in zip(sums, weights, squares, strict=True) if part[1]]
    means = [moments.first / w for moments, w, _ in used]
    parts = []
    for mean, (moments, w, w2) in zip(means, used, strict=True):
        n = effective(w, w2)
        # a class of one row says nothing of its own spread
        parts.append((0.0 if one_row(n) else moments.about(mean, w2) / total**2, n))
    if len(used) > 1:
        overall = sum(moments.first for moments in sums) / total
        gaps = [(w2, mean - overall) for mean, (_, _, w2) in zip(means, used, strict=True)]
        between = sum(w2 * gap * gap for w2, gap in gaps)
        raised = _succession([w / total for _, w, _ in used], means, rows)
        parts.append((between / total**2 * raised, rows))
    return pooled_spread(*parts)


def _succession(shares: list[float], means: list[float], n: float) -> float:
    """By how much Laplace's rule (two more rows, dealt out evenly) raises the variance between classes."""
    evened = [(n * p + 2 / len(shares)) / (n + 2) for p in shares]
    plain, raised = _variance(shares, means), _variance(evened, means)
    # with a class beyond floating point, or without a difference, there is nothing to raise
    return raised / plain if 0 < plain < math.inf and raised < math.inf else 1.0


def _variance(shares: list[float], means: list[float]) -> float:
    centre = sum(p * m for p, m in zip(shares, means, strict=True))
    return sum(p * (m - centre) * (m - centre) for p, m in zip(shares, means, strict=True))


class Difference(NamedTuple):
    """A difference, and the two-sided p-value of there being none."""

    estimate: Estimate
    p: float


def area_difference(rows: Rows, first: Tally, second: Tally, level: float = 0.95) -> Difference:
    """AUROC of the first minus that of the second model, paired (DeLong et al. 1988).

    Each row is placed among the rows of the other class by both models; the spread of the difference
    of its places is what counts. Interval and p-value are Student's with Welch's degrees of freedom,
    because a class may have few rows. Beyond 65,536 distinct scores the places are those of that many
    pooled cells, for the variance alone.
    """
    if why := first.why_not_ranked:
        return _undefined(why, level)
    weight, square = rows.mass(), rows.mass(2)
    gap = _places(first, rows) - _places(second, rows)
    value, parts = area(first) - area(second), []
    names = rows.labels.positive, rows.labels.negative
    for side in (rows.y, ~rows.y):
        total = weight[side].sum()
        n = effective(total, square[side].sum())
        if one_row(n):
            return _single(value, level)
        apart = gap[side] - float((weight[side] * gap[side]).sum() / total)
        parts.append((float((square[side] * apart**2).sum() / total**2), n))
    made = _judged(value, pooled_spread(*parts), level, "DeLong, paired")
    n, name = min((n, name) for (_, n), name in zip(parts, names, strict=True))
    # the interval of a large difference then holds no more than 88 to 91 %, that of none 95 %
    few = f"a difference by {n:.3g} rows of class {name!r}" if n < FEW - 1e-9 else ""
    return made._replace(estimate=replace(made.estimate, caution=few))


def smooth_difference(rows: Rows, first: Tally, second: Tally, level: float = 0.95) -> Difference:
    """SmAUC of the first minus that of the second model, paired: by what each row does to both.

    Each model has its own midpoint, the mean of its scores. Beyond 65,536 distinct scores what rows do
    is read off as many pooled cells, for the variance alone.
    """
    if why := first.why_not_ranked or why_not_unit(first) or why_not_unit(second):
        return _undefined(why, level)
    weight, square = rows.mass(), rows.mass(2)
    middles = [(t, midpoint(t)) for t in (first, second)]
    one, other = (smooth_area(t, m.value).value for t, m in middles)
    effects = [_effects(t, influence(t.pooled, m), rows) for t, m in middles]
    gap = effects[0] - effects[1]
    total, n = weight.sum(), effective(weight.sum(), square.sum())
    if any(
        one_row(effective(weight[side].sum(), square[side].sum())) for side in (rows.y, ~rows.y)
    ):
        return _single(one - other, level)
    mean = float((weight * gap).sum() / total)
    known = pooled_spread((float((square * (gap - mean) ** 2).sum()), n))
    return _judged(one - other, known, level, "influence, paired")


def _undefined(why: str, level: float) -> Difference:
    return Difference(Estimate.undefined(why, level, 0.0), math.nan)


def _single(value: float, level: float) -> Difference:
    why = "a class has a single row"
    return Difference(Estimate(value, level=level, method="none: " + why), math.nan)


def _judged(value: float, known: Spread, level: float, method: str) -> Difference:
    """The difference with its interval, kept within -1 and 1, and its p-value."""
    if not known.says_something():
        method = "none: no row is placed differently"
        return Difference(Estimate(value, value, value, level, method, "", 0.0, 0.0), 1.0)
    low, high = (min(1.0, max(-1.0, x)) for x in limits(value, known, level, "identity"))
    estimate = Estimate(value, low, high, level, method, "", 0.0, 0.0)
    return Difference(estimate, student_chance(value / math.sqrt(known.variance), known.df))


def _cells(t: Tally, rows: Rows) -> NDArray[np.int64]:
    """The pooled cell of each row: the last that begins at or below its score."""
    at = np.searchsorted(t.pooled.score, rows.scores[t.origin.score], side="right") - 1
    # a row of no weight may lie below all
    return np.maximum(at, 0)


def _places(t: Tally, rows: Rows) -> Floats:
    """For each row the share of the other class that it is placed rightly against.

    Positives: the negatives below, ties half. Negatives: the positives above, ties half.
    """
    few = t.pooled
    below, above = placed(few.neg) / t.negatives, 1 - placed(few.pos) / t.positives
    return _effects(t, Influence(above, below), rows)


def _effects(t: Tally, effect: Influence, rows: Rows) -> Floats:
    """What holds for the class and the pooled cell of each row."""
    cell = _cells(t, rows)
    found: Floats = np.where(rows.y, effect.pos[cell], effect.neg[cell])
    return found


def holm(p: list[float]) -> list[float]:
    """The p-values of several tests, adjusted for their number (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, most = [math.nan] * len(p), 0.0
    known = sorted((x, i) for i, x in enumerate(p) if not math.isnan(x))
    for rank, (x, i) in enumerate(known):
        most = max(most, min(1.0, x * (len(known) - rank)))
        adjusted[i] = most
    return adjusted
