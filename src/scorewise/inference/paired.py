"""Means of losses over rows, differences of models with the covariance they share, and tests of several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import bdtr, chdtrc, gammaln, ndtr

from scorewise.arrays import Bools, Floats
from scorewise.columns import Rows
from scorewise.estimate import Estimate
from scorewise.inference.effects import of_area, of_cells, placements, summed
from scorewise.inference.ranking import FEW, area, spread
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


# Several models: DeLong's joint and unpaired tests, McNemar's, and the rows still missing.


McNemarKind: TypeAlias = Literal["mid-p", "exact", "corrected"]


class ChiSquare(NamedTuple):
    """A statistic that is chi-square distributed where nothing differs; `why` there is none."""

    statistic: float
    df: int
    p: float
    why: str = ""


def unpaired_areas(first: Tally, second: Tally, level: float = 0.95) -> Difference:
    """AUROC of the first minus that of the second model, which were judged on different rows.

    The variances of DeLong et al. (1988) add up; Student's quantile with Welch's degrees of freedom.

    >>> a, b = Tally.of([0, 1, 0, 1], [1, 3, 2, 4]), Tally.of([0, 1, 0, 1], [1, 2, 3, 4])
    >>> unpaired_areas(a, b).estimate.value
    0.25
    """
    for t in (first, second):
        if why := t.why_not_ranked:
            return Difference(Estimate.undefined(why, level, 0.0), math.nan)
    areas = [area(t) for t in (first, second)]
    value = areas[0] - areas[1]
    known = [spread(t, a) for t, a in zip((first, second), areas, strict=True)]
    variance = sum(s.variance for s in known)
    unsure = sum(s.variance**2 / s.df for s in known if s.variance > 0)
    both = Spread(variance, variance**2 / unsure if unsure > 0 else math.nan)
    if not both.says_something():
        method = "none: a class has a single row, or is placed all alike"
        return Difference(Estimate(value, level=level, method=method, baseline=0.0), math.nan)
    low, high = (min(1.0, max(-1.0, x)) for x in limits(value, both, level, "identity"))
    estimate = Estimate(value, low, high, level, "DeLong, unpaired", baseline=0.0)
    return Difference(estimate, student_chance(value / math.sqrt(variance), both.df))


def joint_areas(rows: Mapping[str, Rows], tallies: Mapping[str, Tally], paired: bool) -> ChiSquare:
    """Whether the AUROCs of several models differ at all (DeLong et al. 1988).

    The differences to the first model, by the inverse of their covariance: chi-square distributed with the
    rank of that matrix as degrees of freedom. Rows of a cluster are added up.
    """
    if why := next((t.why_not_ranked for t in tallies.values() if t.why_not_ranked), ""):
        return ChiSquare(math.nan, 0, math.nan, why)
    areas = np.array([area(t) for t in tallies.values()])
    if paired:
        of = next(iter(rows.values()))
        covariance = area_covariance(of, list(tallies.values()))
    else:
        known = [spread(t, a).variance for t, a in zip(tallies.values(), areas, strict=True)]
        covariance = np.diag(known)
    if not np.isfinite(covariance).all():
        return ChiSquare(math.nan, 0, math.nan, "a class has a single row")
    contrast = np.hstack([-np.ones((len(areas) - 1, 1)), np.eye(len(areas) - 1)])
    gaps, between = contrast @ areas, contrast @ covariance @ contrast.T
    df = int(np.linalg.matrix_rank(between, tol=1e-12, hermitian=True))
    if not df:
        return ChiSquare(0.0, 0, 1.0, "the models place all rows alike")
    statistic = float(gaps @ np.linalg.pinv(between, rcond=1e-10, hermitian=True) @ gaps)
    return ChiSquare(statistic, df, float(chdtrc(df, statistic)))


def area_covariance(rows: Rows, tallies: Sequence[Tally]) -> Floats:
    """The covariance of the AUROCs of models on the same rows, by the placements of rows.

    NaN where a class has a single row.
    """
    weight, square = rows.mass(), rows.mass(2)
    sizes = [effective(weight[side].sum(), square[side].sum()) for side in (rows.y, ~rows.y)]
    if any(map(one_row, sizes)):
        return np.full((len(tallies), len(tallies)), math.nan)
    moved = np.stack([of_area(rows, t) for t in tallies])
    if rows.cluster is None:
        grown = np.where(rows.y, *(n / (n - 1) for n in sizes))
        return np.asarray((moved * (square * grown)) @ moved.T)
    by = np.stack([summed(weight * x, rows.cluster) for x in moved])
    many = by.shape[1]
    return np.asarray(by @ by.T * many / (many - 1))


class McNemar(NamedTuple):
    """Rows that only the first and only the second of two models gets right, and the p-value."""

    only_first: int
    only_second: int
    statistic: float
    p: float


def mcnemar(
    first: Bools, second: Bools, kind: McNemarKind = "mid-p", count: Floats | None = None
) -> McNemar:
    """McNemar's test of two models that are right or wrong on the same rows.

    "exact" doubles the binomial tail of the rows on which one alone is right; "mid-p" counts the value
    itself half, which keeps the level and has more power (Fagerland, Lydersen and Laake 2013); "corrected"
    is the chi-square with the continuity correction of Edwards (1948), as the statistic.

    >>> right = np.arange(20) < 9
    >>> m = mcnemar(right, np.arange(20) >= 18)
    >>> m.only_first, m.only_second, round(m.p, 4)
    (9, 2, 0.0386)
    """
    times = np.ones(len(first)) if count is None else count
    a, b = (round(float(times[x].sum())) for x in (first & ~second, second & ~first))
    n, least = a + b, min(a, b)
    if not n:
        return McNemar(a, b, math.nan, 1.0)
    if kind == "corrected":
        statistic = max(abs(a - b) - 1, 0) ** 2 / n
        return McNemar(a, b, statistic, float(chdtrc(1, statistic)))
    tail = 2 * float(bdtr(least, n, 0.5))
    if kind == "mid-p":
        ways = gammaln(n + 1) - gammaln(least + 1) - gammaln(n - least + 1)
        tail -= float(np.exp(ways - n * math.log(2)))
    return McNemar(a, b, math.nan, min(1.0, tail))


def rows_needed(gap: Estimate, rows: int, power: float = 0.8) -> float:
    """How many rows would show the present difference with that power at the level of its interval.

    The standard error, read off the interval, falls as the square root of the number of rows; infinite
    where there is no difference, NaN where there is no interval.

    >>> round(rows_needed(Estimate(0.01, -0.01, 0.03), 500))
    4086
    """
    error = (gap.high - gap.low) / (2 * z(gap.level))
    if not error > 0:
        return math.nan
    reach = z(gap.level) + z(2 * power - 1)
    share = reach * error / abs(gap.value) if gap.value else math.inf
    return rows * share * share
