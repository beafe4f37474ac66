"""Differences of two estimates that vary together, and tests of several models."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import bdtr, chdtrc, ndtr

from scorewise.arrays import Bools, Floats
from scorewise.columns import Rows
from scorewise.estimate import Estimate
from scorewise.inference.influence import at_cells, auroc_influence, placements
from scorewise.inference.means import cluster_sums
from scorewise.inference.ranking import MIN_ROWS, auroc_value, auroc_variance
from scorewise.inference.scales import (
    effective_size,
    limits,
    normal_quantile,
    pooled_variance,
    single_row,
    sum_of_variances,
    t_p_value,
)
from scorewise.inference.smroc import smauc_influence, smooth_area
from scorewise.statistics.smroc import midpoint, why_not_unit
from scorewise.tallies import Tally


def distinguishable(
    first: Estimate,
    second: Estimate,
    level: float,
    correlation: Callable[[], float] = lambda: 0.0,
) -> bool:
    """Whether the interval of the difference of two estimates excludes 0."""
    gap = difference(first, second, level, correlation)
    return gap.low > 0 or gap.high < 0


def difference(
    first: Estimate, second: Estimate, level: float, correlation: Callable[[], float]
) -> Estimate:
    """The first less the second, or why there is no difference."""
    for e in (first, second):
        if not e.defined:
            return Estimate.undefined(e.why, level, 0.0)
    if not all(math.isfinite(x) for e in (first, second) for x in (e.low, e.high)):
        value = first.value - second.value
        return Estimate(value, level=level, method="none: a value has no interval", baseline=0.0)
    shared = correlation()
    if shared > 1 - 1e-9 and (first.value, first.low, first.high) == (
        second.value,
        second.low,
        second.high,
    ):
        method = "none: the models do not differ"
        return Estimate(0.0, 0.0, 0.0, level, method, baseline=0.0, p=1.0)
    return mover_difference(first, second, shared, level)


def mover_difference(
    first: Estimate, second: Estimate, correlation: float, level: float
) -> Estimate:
    """The difference of two estimates that vary together so much, by the intervals that each has.

    The distances of the limits from the values are added as standard errors are, less what they share
    (MOVER: Newcombe 1998, Zou and Donner 2008), so the interval is as skewed as those it is made of. The
    p-value is that of the standard error on the side of no difference.

    >>> mover_difference(Estimate(0.8, 0.7, 0.9), Estimate(0.7, 0.6, 0.8), 0.5, 0.95)
    0.100 [0.000, 0.200]
    """
    a, b = (np.array([e.value, e.low, e.high]) for e in (first, second))
    value, low, high, p = (float(x) for x in mover(a, b, correlation, level))
    return Estimate(value, low, high, level, "MOVER, paired", baseline=0.0, p=p)


def mover(first: Floats, second: Floats, correlation: Any, level: float) -> tuple[Any, ...]:
    """The difference of values, each with its limits, its own limits and p-value; of many at once.

    Limits that are skewed would leave a distance between two models that do not differ, one's lower and the
    other's upper. The more alike they vary, the less skewed their difference is, so that the distances come
    near to half the widths.
    """
    (a, a_low, a_high), (b, b_low, b_high) = first, second
    value, alike = a - b, np.maximum(correlation, 0.0) ** 4

    def mixed(side: Any, low: Any, high: Any) -> Any:
        return side + alike * ((high - low) / 2 - side)

    sides = (
        (mixed(a - a_low, a_low, a_high), mixed(b_high - b, b_low, b_high)),
        (mixed(a_high - a, a_low, a_high), mixed(b - b_low, b_low, b_high)),
    )
    down, up = (np.sqrt(np.maximum(x * x + y * y - 2 * correlation * x * y, 0.0)) for x, y in sides)
    toward_zero = np.where(value > 0, down, up)
    steps = np.divide(
        np.abs(value), toward_zero, out=np.zeros_like(toward_zero), where=toward_zero > 0
    )
    return value, value - down, value + up, 2 * ndtr(-steps * normal_quantile(level))


def area_difference(rows: Rows, first: Tally, second: Tally, level: float = 0.95) -> Estimate:
    """AUROC of the first minus that of the second model, paired (DeLong et al. 1988).

    Each row is placed among the rows of the other class by both models; the spread of the difference
    of its places is what counts. Interval and p-value are Student's with Welch's degrees of freedom,
    because a class may have few rows. Beyond 65,536 distinct scores the places are those of that many
    pooled cells, for the variance alone.
    """
    if why := first.why_not_ranked:
        return Estimate.undefined(why, level, 0.0)
    places = [placements(t, rows) for t in (first, second)]
    value = auroc_value(first) - auroc_value(second)
    e = _judged(value, places, rows, level, "DeLong, paired", by_class=True)
    weight, square = rows.mass(), rows.mass(2)
    sides = (rows.labels.positive, rows.y), (rows.labels.negative, ~rows.y)
    n, name = min((effective_size(weight[y].sum(), square[y].sum()), name) for name, y in sides)
    # the interval of a large difference then holds no more than 88 to 91 %, that of none 95 %
    small = n < MIN_ROWS - 1e-9 and e.p is not None
    return replace(e, caution=f"a difference by {n:.3g} rows of class {name!r}" if small else "")


def smooth_difference(rows: Rows, first: Tally, second: Tally, level: float = 0.95) -> Estimate:
    """SmAUC of the first minus that of the second model, paired: by what each row does to both.

    Each model has its own midpoint, the mean of its scores. Beyond 65,536 distinct scores what rows do
    is read off as many pooled cells, for the variance alone.
    """
    if why := first.why_not_ranked or why_not_unit(first) or why_not_unit(second):
        return Estimate.undefined(why, level, 0.0)
    middles = [(t, midpoint(t)) for t in (first, second)]
    first_area, second_area = (smooth_area(t, m.value).value for t, m in middles)
    effects = [at_cells(t, smauc_influence(t.pooled, m), rows) for t, m in middles]
    return _judged(first_area - second_area, effects, rows, level, "influence, paired")


def _judged(
    value: float,
    effects: Sequence[Floats],
    rows: Rows,
    level: float,
    method: str,
    *,
    by_class: bool = False,
) -> Estimate:
    """The difference with its interval, kept within -1 and 1, and its p-value.

    Effects are what a unit of weight of a row does, or its place, of which the mean over a class counts.
    """
    weight, square, gap = rows.mass(), rows.mass(2), effects[0] - effects[1]
    if any(single_row(effective_size(weight[y].sum(), square[y].sum())) for y in (rows.y, ~rows.y)):
        method = "none: a class has a single row"
        return Estimate(value, level=level, method=method)
    components = []
    for side in (rows.y, ~rows.y) if by_class else (slice(None),):
        w, w2, off = weight[side], square[side], gap[side]
        total = w.sum()
        off = off - float((w * off).sum() / total)
        variance = float((w2 * off**2).sum() / (total**2 if by_class else 1.0))
        components.append((variance, effective_size(total, w2.sum())))
    combined = pooled_variance(*components)
    if not combined.informative():
        method = "none: no row is placed differently"
        return Estimate(value, value, value, level, method, baseline=0.0, p=1.0)
    low, high = (min(1.0, max(-1.0, x)) for x in limits(value, combined, level, "identity"))
    p = float(t_p_value(value / math.sqrt(combined.variance), combined.df))
    return Estimate(value, low, high, level, method, baseline=0.0, p=p)


def p_of_interval(e: Estimate, target: float, level: float) -> float:
    """The p-value of a target that an interval of such a level stands for; NaN where there is none.

    >>> round(p_of_interval(Estimate(0.9, 0.8, 1.0), 1.0, 0.95), 6)
    0.05
    """
    if not e.defined or not math.isfinite(e.low + e.high):
        return math.nan
    reach = e.value - e.low if e.value > target else e.high - e.value
    away = abs(e.value - target)
    return (
        2 * float(ndtr(-normal_quantile(level) * away / reach)) if reach > 0 else float(away == 0)
    )


def holm(p: Sequence[float | None]) -> list[float]:
    """The p-values of several tests, adjusted for their number (Holm 1979); NaN where there is none.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    x = np.array(p, np.float64)
    defined = np.flatnonzero(~np.isnan(x))
    order = defined[np.argsort(x[defined], kind="stable")]
    x[order] = np.maximum.accumulate(np.minimum(x[order] * np.arange(len(order), 0, -1), 1.0))
    adjusted: list[float] = x.tolist()
    return adjusted


# Several models: DeLong's joint and unpaired tests, McNemar's, and the rows still missing.


McNemarKind: TypeAlias = Literal["mid-p", "exact", "corrected"]


class ChiSquare(NamedTuple):
    """A statistic that is chi-square distributed where nothing differs; `why` there is none."""

    statistic: float
    df: int
    p: float
    why: str = ""


def unpaired_areas(first: Tally, second: Tally, level: float = 0.95) -> Estimate:
    """AUROC of the first minus that of the second model, which were judged on different rows.

    The variances of DeLong et al. (1988) add up; Student's quantile with Welch's degrees of freedom.

    >>> a, b = Tally.of([0, 1, 0, 1], [1, 3, 2, 4]), Tally.of([0, 1, 0, 1], [1, 2, 3, 4])
    >>> unpaired_areas(a, b).value
    0.25
    """
    for t in (first, second):
        if why := t.why_not_ranked:
            return Estimate.undefined(why, level, 0.0)
    areas = [auroc_value(t) for t in (first, second)]
    value = areas[0] - areas[1]
    both = sum_of_variances(
        *(auroc_variance(t, a) for t, a in zip((first, second), areas, strict=True))
    )
    if not both.informative():
        method = "none: a class has a single row, or is placed all alike"
        return Estimate(value, level=level, method=method, baseline=0.0)
    low, high = (min(1.0, max(-1.0, x)) for x in limits(value, both, level, "identity"))
    p = float(t_p_value(value / math.sqrt(both.variance), both.df))
    return Estimate(value, low, high, level, "DeLong, unpaired", baseline=0.0, p=p)


def joint_areas(rows: Mapping[str, Rows], tallies: Mapping[str, Tally], paired: bool) -> ChiSquare:
    """Whether the AUROCs of several models differ at all (DeLong et al. 1988).

    The differences to the first model, by the inverse of their covariance: chi-square distributed with the
    rank of that matrix as degrees of freedom. Rows of a cluster are added up.
    """
    if why := next((t.why_not_ranked for t in tallies.values() if t.why_not_ranked), ""):
        return ChiSquare(math.nan, 0, math.nan, why)
    areas = np.array([auroc_value(t) for t in tallies.values()])
    if paired:
        of = next(iter(rows.values()))
        covariance = area_covariance(of, list(tallies.values()))
    else:
        variances = [
            auroc_variance(t, a).variance for t, a in zip(tallies.values(), areas, strict=True)
        ]
        covariance = np.diag(variances)
    if not np.isfinite(covariance).all():
        return ChiSquare(math.nan, 0, math.nan, "a class has a single row, or all rows one cluster")
    contrast = np.hstack([-np.ones((len(areas) - 1, 1)), np.eye(len(areas) - 1)])
    gaps, between = contrast @ areas, contrast @ covariance @ contrast.T
    df = int(np.linalg.matrix_rank(between, tol=1e-12, hermitian=True))
    if not df:
        return ChiSquare(0.0, 0, 1.0, "the models place all rows alike")
    statistic = float(gaps @ np.linalg.pinv(between, rcond=1e-10, hermitian=True) @ gaps)
    return ChiSquare(statistic, df, float(chdtrc(df, statistic)))


def area_covariance(rows: Rows, tallies: Sequence[Tally]) -> Floats:
    """The covariance of the AUROCs of models on the same rows, by the placements of rows.

    NaN where a class has a single row, and where all rows are of one cluster.
    """
    weight, square = rows.mass(), rows.mass(2)
    sizes = [effective_size(weight[side].sum(), square[side].sum()) for side in (rows.y, ~rows.y)]
    if any(map(single_row, sizes)):
        return np.full((len(tallies), len(tallies)), math.nan)
    influence = np.stack([auroc_influence(rows, t) for t in tallies])
    if rows.cluster is None:
        grown = np.where(rows.y, *(n / (n - 1) for n in sizes))
        return np.asarray((influence * (square * grown)) @ influence.T)
    by = np.stack([cluster_sums(weight * x, rows.cluster) for x in influence])
    clusters = by.shape[1]
    if clusters < 2:
        return np.full((len(tallies), len(tallies)), math.nan)
    return np.asarray(by @ by.T * clusters / (clusters - 1))


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
    upto, below = (float(bdtr(k, n, 0.5)) if k >= 0 else 0.0 for k in (least, least - 1))
    return McNemar(a, b, math.nan, min(1.0, upto + (below if kind == "mid-p" else upto)))


def rows_needed(gap: Estimate, rows: int, power: float = 0.8) -> float:
    """How many rows would show the present difference with that power at the level of its interval.

    The standard error, read off the interval, falls as the square root of the number of rows; infinite
    where there is no difference, NaN where there is no interval.

    >>> round(rows_needed(Estimate(0.01, -0.01, 0.03), 500))
    4086
    """
    error = (gap.high - gap.low) / (2 * normal_quantile(gap.level))
    if not error > 0:
        return math.nan
    reach = normal_quantile(gap.level) + normal_quantile(2 * power - 1)
    share = reach * error / abs(gap.value) if gap.value else math.inf
    return rows * share * share
