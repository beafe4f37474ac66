"""Tests of several models: DeLong's joint and unpaired tests, McNemar's, and the rows still missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from scipy.special import bdtr, chdtrc, gammaln

from scorewise.arrays import Bools, Floats
from scorewise.columns import Rows
from scorewise.estimate import Estimate
from scorewise.inference.effects import of_area, summed
from scorewise.inference.paired import Difference
from scorewise.inference.ranking import area, spread
from scorewise.inference.scales import Spread, effective, limits, one_row, student_chance, z
from scorewise.tallies import Tally

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
