"""Methods compared: paired differences over runs or data sets, and mean ranks over data sets."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]


class Shift(NamedTuple):
    """By how much paired values differ in the middle, and how clearly.

    `effect` is the matched-pairs rank-biserial correlation: 1 if all differences are positive, -1 if none.
    `count` differences decide; `ties` are 0 and `undefined` no number, and both are left out.
    """

    middle: float
    low: float
    high: float
    effect: float
    p: float
    less: int
    count: int
    ties: int = 0
    undefined: int = 0


def shift(d: np.ndarray, level: float = 0.95) -> Shift:
    """Hodges-Lehmann middle of the differences, with the p-value and the interval of Wilcoxon's test.

    Both count Walsh averages, so that the interval leaves 0 out just where p is below 1 - level. Infinite
    differences count by their rank; differences that are no number or 0 are left out, as Wilcoxon does.
    Fewer than six pairs bound nothing at a level of 95 %.

    >>> s = shift(np.array([0.1, 0.4, 0.2, 0.3, -0.05, 0.6, 0.5, 0.25, 0.15, 0.7]))
    >>> round(s.middle, 3), round(s.effect, 3), s.less, s.count
    (0.3, 0.964, 1, 10)
    """
    undefined, ties = int(np.isnan(d).sum()), int((d == 0).sum())
    d = d[~np.isnan(d) & (d != 0)]
    n = len(d)
    if n < 2:
        return Shift(*[math.nan] * 5, int((d < 0).sum()), n, ties, undefined)
    walsh, rank = _walsh(d), stats.rankdata(np.abs(d))
    both = np.minimum(1.0, 2 * signed_rank_tail(n))
    p = float(both[min((walsh <= 0).sum(), (walsh >= 0).sum())])
    k = int((both < 1 - level).sum()) - 1
    low, high = (walsh[k], walsh[-1 - k]) if k >= 0 else (-math.inf, math.inf)
    middle = (float(walsh[(len(walsh) - 1) // 2]) + float(walsh[len(walsh) // 2])) / 2
    effect = float((rank * np.sign(d)).sum() / rank.sum())
    less = int((d < 0).sum())
    return Shift(middle, float(low), float(high), effect, p, less, n, ties, undefined)


def _walsh(d: np.ndarray) -> np.ndarray:
    """Means of all pairs, each with itself too, in order; an infinite one and its opposite meet in 0."""
    known = np.abs(d[np.isfinite(d)]).max(initial=0.0)
    held = np.where(
        np.isinf(d), np.sign(d) * (4 * known + 1), d
    )  # so that means with it exceed all
    i, j = np.triu_indices(len(d))
    walsh = np.sort((held[i] + held[j]) / 2)
    return np.where(np.abs(walsh) > known, np.copysign(math.inf, walsh), walsh)


def signed_rank_tail(n: int) -> np.ndarray:
    """Chance of a signed-rank sum of at most 0, 1, 2, ... by chance: exact, above 50 pairs normal.

    >>> signed_rank_tail(3) * 2**3
    array([1., 2., 3., 5., 6., 7., 8.])
    """
    most = n * (n + 1) // 2
    if n > 50:
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        return np.asarray(stats.norm.cdf((np.arange(most + 1) - most / 2) / spread))
    ways = np.zeros(most + 1)
    ways[0] = 1
    for rank in range(1, n + 1):
        ways[rank:] += ways[:-rank].copy()
    return np.cumsum(ways) / 2.0**n


class Difference(NamedTuple):
    """A mean difference, its t, the two-sided p-value and the interval."""

    mean: float
    t: float
    p: float
    low: float
    high: float


def corrected_t(d: np.ndarray, learned: float, judged: float, level: float = 0.95) -> Difference:
    """The corrected resampled t-test of Nadeau and Bengio (2003): runs share the rows they learned from.

    Differences that are no number are left out; fewer than two give no test.

    >>> round(corrected_t(np.array([0.02, 0.01, 0.03, 0.00]), 90, 10).p, 4)
    0.1487
    """
    d = d[~np.isnan(d)]
    if len(d) < 2:
        return Difference(float(d[0]) if len(d) else math.nan, *[math.nan] * 4)
    mean, spread = float(d.mean()), float(d.std(ddof=1))
    se = spread * math.sqrt(1 / len(d) + judged / learned)
    if se == 0:
        return Difference(
            mean, 0.0 if mean == 0 else math.copysign(math.inf, mean), float(mean == 0), mean, mean
        )
    t = mean / se
    reach = float(stats.t.ppf((1 + level) / 2, len(d) - 1)) * se
    return Difference(
        mean, t, float(2 * stats.t.sf(abs(t), len(d) - 1)), mean - reach, mean + reach
    )


class Correlation(NamedTuple):
    """Spearman's correlation of `count` pairs with its interval (Bonett and Wright 2000) and p-value."""

    value: float
    low: float
    high: float
    p: float
    count: int


def spearman(x: np.ndarray, y: np.ndarray, level: float = 0.95) -> Correlation:
    """How far two quantities rise together; pairs with no number are left out.

    There is no interval of fewer than four pairs, nor if one quantity does not vary. Where all ranks agree
    the interval is that of the next lower correlation, and reaches to 1.

    >>> x = np.arange(4)
    >>> [round(v, 2) for v in spearman(x, x)]
    [1.0, -0.82, 1.0, 0.34, 4]
    """
    known = ~(np.isnan(x) | np.isnan(y))
    x, y, n = x[known], y[known], int(known.sum())
    if n < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Correlation(*[math.nan] * 4, n)
    r = float(stats.spearmanr(x, y).statistic)
    if n < 4:
        return Correlation(r, *[math.nan] * 3, n)
    most = 1 - 12 / (n * (n * n - 1))
    inside = min(max(r, -most), most)
    bent, se = math.atanh(inside), math.sqrt((1 + inside * inside / 2) / (n - 3))
    reach = float(stats.norm.ppf((1 + level) / 2)) * se
    low = -1.0 if r < -most else math.tanh(bent - reach)
    high = 1.0 if r > most else math.tanh(bent + reach)
    return Correlation(r, low, high, math.erfc(abs(bent) / se / math.sqrt(2)), n)


class Ranking(NamedTuple):
    """Mean ranks of methods, 1 the best, and how far apart they must be to be told apart (Demsar 2006)."""

    mean: Array
    critical: float
    statistic: float
    p: float
    joined: tuple[tuple[int, ...], ...]


def ranking(values: Array, level: float = 0.95) -> Ranking:
    """Friedman's test, and Nemenyi's critical difference of mean ranks; low values are good.

    Rows are data sets, columns methods; ties share their ranks. `joined` are the largest groups of
    methods that are not told apart. Rows with a value that is no number are left out; where none is left,
    ranks and p are NaN, as p is for fewer than three methods.

    >>> a = np.array([[0.1, 0.2, 0.9], [0.3, 0.4, 0.8], [0.2, 0.1, 0.7], [0.0, 0.1, 0.5]])
    >>> found = ranking(a)
    >>> found.mean.tolist(), round(found.p, 3), found.joined
    ([1.25, 1.75, 3.0], 0.039, ((0, 1), (1, 2)))
    """
    values = values[np.isfinite(values).all(axis=1)]
    sets, methods = values.shape
    if not sets:
        return Ranking(np.full(methods, np.nan), np.nan, np.nan, np.nan, ())
    ranks = stats.rankdata(values, axis=1)
    mean = np.asarray(ranks.mean(axis=0))
    if methods < 3:
        test = (np.nan, np.nan)
    elif not np.ptp(values, axis=1).any():
        test = (0.0, 1.0)  # rows in which all are equal leave nothing to test
    else:
        test = stats.friedmanchisquare(*values.T)
    critical = critical_difference(methods, sets, level)
    return Ranking(mean, critical, float(test[0]), float(test[1]), joined(mean, critical))


def critical_difference(methods: int, sets: int, level: float = 0.95) -> float:
    """How far apart two mean ranks are by chance, at most, when all methods are compared (Nemenyi).

    >>> round(critical_difference(4, 20), 2)
    1.05
    """
    return critical_value(methods, level) * float(np.sqrt(methods * (methods + 1) / (6 * sets)))


def critical_value(methods: int, level: float = 0.95) -> float:
    """The studentised range of so many methods, divided by the root of 2.

    >>> [round(critical_value(k), 3) for k in (2, 3, 4)]
    [1.96, 2.344, 2.569]
    """
    return float(stats.studentized_range.ppf(level, methods, np.inf) / np.sqrt(2))


def joined(mean: Array, critical: float) -> tuple[tuple[int, ...], ...]:
    """The largest groups of methods within a critical difference, best first."""
    order = np.argsort(mean, kind="stable")
    groups: list[tuple[int, ...]] = []
    end = 0
    for first in range(len(order)):
        near = [i for i in order[first:] if mean[i] - mean[order[first]] <= critical]
        if len(near) > 1 and first + len(near) > end:
            groups.append(tuple(int(i) for i in near))
            end = first + len(near)
    return tuple(groups)
