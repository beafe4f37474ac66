"""Tests of paired values: over the runs of one data set, and over data sets."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import stats


class Shift(NamedTuple):
    """By how much paired values differ in the middle, and how clearly.

    `effect` is the matched-pairs rank-biserial correlation: 1 if all differences are positive, -1 if none.
    """

    middle: float
    low: float
    high: float
    effect: float
    p: float
    less: int
    count: int


def shift(d: np.ndarray, level: float = 0.95) -> Shift:
    """Hodges-Lehmann middle of the differences with the interval that Wilcoxon's test gives.

    Infinite differences count by their rank; differences that are no number or 0 are left out, as Wilcoxon
    does. Fewer than six pairs bound nothing at a level of 95 %.

    >>> s = shift(np.array([0.1, 0.4, 0.2, 0.3, -0.05, 0.6, 0.5, 0.25, 0.15, 0.7]))
    >>> round(s.middle, 3), round(s.effect, 3), s.less, s.count
    (0.3, 0.964, 1, 10)
    """
    d = d[~np.isnan(d) & (d != 0)]
    n = len(d)
    if n < 2:
        return Shift(*[math.nan] * 5, int((d < 0).sum()), n)
    finite = np.where(np.isinf(d), np.sign(d) * 1e9, d)  # of a rank above all others
    i, j = np.triu_indices(n)
    walsh = np.sort((finite[i] + finite[j]) / 2)
    spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    k = max(0, math.floor(len(walsh) / 2 - stats.norm.ppf((1 + level) / 2) * spread))
    rank = stats.rankdata(np.abs(finite))
    ends = (walsh[k], walsh[-1 - k]) if 2 ** (1 - n) <= 1 - level else (-math.inf, math.inf)
    effect = float((rank * np.sign(finite)).sum() / rank.sum())
    return Shift(
        float(np.median(walsh)),
        float(ends[0]),
        float(ends[1]),
        effect,
        _wilcoxon(finite, rank),
        int((d < 0).sum()),
        n,
    )


def _wilcoxon(d: np.ndarray, rank: np.ndarray) -> float:
    """Wilcoxon's two-sided p-value: exact, or with ties or many pairs by the normal distribution."""
    if len(d) <= 50 and len(np.unique(rank)) == len(d):
        return float(stats.wilcoxon(d, method="exact").pvalue)
    z = float((rank * np.sign(d)).sum()) / math.sqrt(float((rank**2).sum()))
    return math.erfc(abs(z) / math.sqrt(2))


class Difference(NamedTuple):
    """A mean difference, its t, the two-sided p-value and the interval."""

    mean: float
    t: float
    p: float
    low: float
    high: float


def corrected_t(d: np.ndarray, learned: float, judged: float, level: float = 0.95) -> Difference:
    """The corrected resampled t-test of Nadeau and Bengio (2003): runs share the rows they learned from.

    >>> round(corrected_t(np.array([0.02, 0.01, 0.03, 0.00]), 90, 10).p, 4)
    0.1487
    """
    d = d[~np.isnan(d)]
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
    """Spearman's correlation with its interval (Bonett and Wright 2000)."""

    value: float
    low: float
    high: float


def spearman(x: np.ndarray, y: np.ndarray, level: float = 0.95) -> Correlation:
    """How far two quantities rise together."""
    r = float(stats.spearmanr(x, y).statistic)
    reach = float(stats.norm.ppf((1 + level) / 2)) * math.sqrt((1 + r * r / 2) / (len(x) - 3))
    bent = math.atanh(min(max(r, -1 + 1e-12), 1 - 1e-12))
    return Correlation(r, math.tanh(bent - reach), math.tanh(bent + reach))


def share(hits: int, of: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a share."""
    found = stats.binomtest(hits, of).proportion_ci(level, "wilson")
    return float(found.low), float(found.high)
