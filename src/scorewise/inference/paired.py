"""Means of losses over rows, and differences of models on the same rows, with the covariance they share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr

from scorewise.arrays import Floats
from scorewise.columns import Rows
from scorewise.estimate import Estimate
from scorewise.inference.effects import of_cells, placements
from scorewise.inference.ranking import FEW, area
from scorewise.inference.scales import (
    Spread,
    effective,
    limits,
    one_row,
    pooled_spread,
    student_chance,
    wald,
    z,
)
from scorewise.inference.smroc import influence, smooth_area
from scorewise.tallies import Tally
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
        return Estimate(mean, mean, mean, level, "none: no row differs", baseline=0.0)
    low, high = wald(mean, math.sqrt(variance), level, "identity")
    return Estimate(mean, low, high, level, "normal, paired", baseline=0.0)


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
    # shares of the weight, whose unit is then of no account
    sums = [
        Moments(first / total, square / total / total, second / total / total)
        for first, square, second in sums
    ]
    weights, squares = [w / total for w in weights], [x / total / total for x in squares]
    value = sum(m.first for m in sums)
    if not math.isfinite(value):
        why = "infinite: the losses add up beyond the largest number"
        return Estimate(math.inf, level=level, why=why, baseline=baseline)
    value = min(value, most)  # rounding may lead a little beyond
    known = _spread(sums, weights, squares)
    if value == 0:
        return Estimate(value, 0.0, 0.0, level, "no loss at all", baseline=baseline)
    if not known.says_something(value):
        finite = known.variance != math.inf
        method = f"none: {'all losses are equal' if finite else 'beyond the largest number'}"
        return Estimate(value, level=level, method=method, baseline=baseline)
    low, high = limits(value, known, level, "log")
    return Estimate(value, low, min(high, most), level, "Student, log scale", baseline=baseline)


def _spread(sums: Sequence[Moments], weights: Sequence[float], squares: Sequence[float]) -> Spread:
    """Variance of the mean loss: within each class, and by how many rows of each class there are.

    Kept apart because the rare class, with its few and large losses, decides the degrees of freedom.
    """
    total = sum(weights)
    used = [(m, w, w2, m.first / w) for m, w, w2 in zip(sums, weights, squares, strict=True) if w]
    parts = []
    for moments, w, w2, mean in used:
        n = effective(w, w2)
        # a class of one row says nothing of its own spread
        parts.append((0.0 if one_row(n) else moments.about(mean, w2) / total**2, n))
    if len(used) < 2:
        return pooled_spread(*parts)
    rows, many = effective(total, sum(squares)), len(used)
    overall = sum(moments.first for moments in sums) / total
    if max(abs(mean - overall) for *_, mean in used) <= 1e-13 * abs(overall):
        return pooled_spread(*parts)  # means are equal but for rounding
    between = sum(w2 * (mean - overall) * (mean - overall) for _, _, w2, mean in used) / total**2

    # raised by Laplace's rule: two more rows, dealt out evenly to the classes
    shares, means = [w / total for _, w, _, _ in used], [mean for *_, mean in used]
    plain = _variance(shares, means)
    raised = _variance([(rows * p + 2 / many) / (rows + 2) for p in shares], means)
    # with a class beyond floating point, or without a difference, there is nothing to raise
    times = raised / plain if 0 < plain < math.inf and raised < math.inf else 1.0
    return pooled_spread(*parts, (between * times, rows))


def _variance(shares: list[float], means: list[float]) -> float:
    """The variance of classes of such shares and means about the mean of all."""
    centre = total = 0.0
    for p, mean in zip(shares, means, strict=True):
        centre += p * mean
    for p, mean in zip(shares, means, strict=True):
        total += p * (mean - centre) * (mean - centre)
    return total


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
        return Difference(Estimate.undefined(why, level, 0.0), math.nan)
    places = [placements(t, rows) for t in (first, second)]
    value = area(first) - area(second)
    made = _judged(value, places, rows, level, "DeLong, paired", by_class=True)
    weight, square = rows.mass(), rows.mass(2)
    sides = (rows.labels.positive, rows.y), (rows.labels.negative, ~rows.y)
    n, name = min((effective(weight[y].sum(), square[y].sum()), name) for name, y in sides)
    # the interval of a large difference then holds no more than 88 to 91 %, that of none 95 %
    few = n < FEW - 1e-9 and not math.isnan(made.p)
    caution = f"a difference by {n:.3g} rows of class {name!r}" if few else ""
    return made._replace(estimate=replace(made.estimate, caution=caution))


def smooth_difference(rows: Rows, first: Tally, second: Tally, level: float = 0.95) -> Difference:
    """SmAUC of the first minus that of the second model, paired: by what each row does to both.

    Each model has its own midpoint, the mean of its scores. Beyond 65,536 distinct scores what rows do
    is read off as many pooled cells, for the variance alone.
    """
    if why := first.why_not_ranked or why_not_unit(first) or why_not_unit(second):
        return Difference(Estimate.undefined(why, level, 0.0), math.nan)
    middles = [(t, midpoint(t)) for t in (first, second)]
    one, other = (smooth_area(t, m.value).value for t, m in middles)
    effects = [of_cells(t, influence(t.pooled, m), rows) for t, m in middles]
    return _judged(one - other, effects, rows, level, "influence, paired")


def _judged(
    value: float,
    effects: Sequence[Floats],
    rows: Rows,
    level: float,
    method: str,
    *,
    by_class: bool = False,
) -> Difference:
    """The difference with its interval, kept within -1 and 1, and its p-value.

    Effects are what a unit of weight of a row does, or its place, of which the mean over a class counts.
    """
    weight, square, gap, parts = rows.mass(), rows.mass(2), effects[0] - effects[1], []
    if any(one_row(effective(weight[y].sum(), square[y].sum())) for y in (rows.y, ~rows.y)):
        method = "none: a class has a single row"
        return Difference(Estimate(value, level=level, method=method), math.nan)
    for side in (rows.y, ~rows.y) if by_class else (slice(None),):
        w, w2, off = weight[side], square[side], gap[side]
        total = w.sum()
        off = off - float((w * off).sum() / total)
        spread = float((w2 * off**2).sum() / (total**2 if by_class else 1.0))
        parts.append((spread, effective(total, w2.sum())))
    known = pooled_spread(*parts)
    if not known.says_something():
        method = "none: no row is placed differently"
        return Difference(Estimate(value, value, value, level, method, baseline=0.0), 1.0)
    low, high = (min(1.0, max(-1.0, x)) for x in limits(value, known, level, "identity"))
    estimate = Estimate(value, low, high, level, method, baseline=0.0)
    return Difference(estimate, student_chance(value / math.sqrt(known.variance), known.df))


def p_of(e: Estimate, target: float, level: float) -> float:
    """The p-value of a target that an interval of such a level stands for; NaN where there is none.

    >>> round(p_of(Estimate(0.9, 0.8, 1.0), 1.0, 0.95), 6)
    0.05
    """
    if not e.defined or not math.isfinite(e.low + e.high):
        return math.nan
    reach = e.value - e.low if e.value > target else e.high - e.value
    away = abs(e.value - target)
    return 2 * float(ndtr(-z(level) * away / reach)) if reach > 0 else float(away == 0)


def holm(p: list[float]) -> list[float]:
    """The p-values of several tests, adjusted for their number (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    x = np.array(p, np.float64)
    known = np.flatnonzero(~np.isnan(x))
    order = known[np.argsort(x[known], kind="stable")]
    x[order] = np.maximum.accumulate(np.minimum(x[order] * np.arange(len(order), 0, -1), 1.0))
    found: list[float] = x.tolist()
    return found
