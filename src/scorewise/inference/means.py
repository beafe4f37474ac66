"""Means over rows with their intervals, by row or by cluster, and what clusters widen.

A mean of rows that come in clusters has the sums of its clusters for units: their spread gives its standard
error, with Student's quantile of one degree of freedom less than there are clusters (Liang and Zeger 1986).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.estimate import Estimate
from scorewise.inference.resampling import resampling_p
from scorewise.inference.scales import (
    Variance,
    effective_size,
    limits,
    normal_quantile,
    number,
    pooled_variance,
    single_row,
    t_quantile,
)
from scorewise.statistics.smroc import class_sums
from scorewise.tallies import Tally
from scorewise.tallies.losses import Moments, unit

SIGN_FLIPS = 999  # random signs of clusters that a p-value is made of


def mean_loss(
    sums: Sequence[Moments],
    weights: Sequence[float],
    squares: Sequence[float],
    level: float,
    baseline: float,
    largest: float = math.inf,
) -> Estimate:
    """The mean loss, given its moments, weights and squared weights for each class.

    Normal interval on the log scale with Student's quantile; `largest` is the largest possible loss.

    >>> mean_loss([Moments(0.3, 0.3, 0.05), Moments(0.5, 0.5, 0.13)], (2, 2), (2, 2), 0.95, 0.69)
    0.200 [0.108, 0.371]
    """
    moments: Any = Moments(*np.array(sums, np.float64).T)
    value, variance = loss_variance(moments, *(np.array(w, np.float64) for w in (weights, squares)))
    if not math.isfinite(value):
        why = "infinite: the losses add up beyond the largest number"
        return Estimate(math.inf, level=level, why=why, baseline=baseline)
    value = min(value, largest)  # rounding may lead a little beyond
    if value == 0:
        return Estimate(value, 0.0, 0.0, level, "no loss at all", baseline=baseline)
    if not variance.informative(value):
        finite = variance.variance != math.inf
        method = f"none: {'all losses are equal' if finite else 'beyond the largest number'}"
        return Estimate(value, level=level, method=method, baseline=baseline)
    low, high = limits(value, variance, level, "log")
    return Estimate(value, low, min(high, largest), level, "Student, log scale", baseline=baseline)


@np.errstate(all="ignore")
def loss_variance(sums: Any, weights: Floats, squares: Floats) -> tuple[Any, Variance]:
    """The mean loss and its variance: within each class, and by how many rows of each class there are.

    Kept apart because the rare class, with its few and large losses, decides the degrees of freedom.
    Sums are `Moments` with classes along the first axis; axes after it are groups, each with a mean loss.
    """
    total = weights.sum(0)
    # shares of the weight, whose unit is then of no account
    share, square = weights / total, squares / total / total
    sums = Moments(sums.first / total, sums.square / total / total, sums.second / total / total)
    there, value = share > 0, sums.first.sum(0)
    mean, n = np.where(there, sums.first / share, value), effective_size(share, square)
    # a class of one row says nothing of its own spread
    within = np.where(single_row(n), 0.0, sums.about(mean, square))
    rows, classes, away = effective_size(share.sum(0), square.sum(0)), there.sum(0), mean - value
    # raised by Laplace's rule: two more rows, dealt out evenly to the classes
    raised = np.where(there, (rows * share + 2 / classes) / (rows + 2), 0.0)
    before, after = (_variance(p, mean) for p in (share, raised))
    # with a class beyond floating point, or without a difference, there is nothing to raise
    raises = (before > 0) & (before < np.inf) & (after < np.inf)
    between = (square * away * away).sum(0) * np.where(raises, after / before, 1.0)
    # means may be equal but for rounding
    alike = np.abs(away).max(0) <= 1e-13 * np.abs(value)
    variance = pooled_variance(*zip(within, n, strict=True), (np.where(alike, 0.0, between), rows))
    return number(value), variance


def _variance(shares: Floats, means: Floats) -> Floats:
    """The variance of classes of such shares and means about the mean of all."""
    centre = (shares * means).sum(0)
    return np.asarray((shares * (means - centre) ** 2).sum(0))


def mean_score(t: Tally, *, level: float = 0.95) -> Estimate:
    """The mean of all scores; of logits, of the probabilities. Student's interval.

    >>> mean_score(Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]))
    0.493 [0.132, 0.855]
    """
    total = t.negatives + t.positives
    if not total:
        return Estimate.undefined("no rows", level)
    value = sum(class_sums(t)) / total
    off = unit(t.score, t.kind) - value
    squares = (t.neg2 + t.pos2).astype(float)
    variance = pooled_variance(
        (float((squares * off * off).sum()) / total**2, effective_size(total, sum(t.squares)))
    )
    if not variance.informative(max(abs(value), 1.0)):
        return Estimate(value, level=level)
    low, high = limits(value, variance, level, "identity")
    return Estimate(value, low, high, level, "Student")


def row_mean(gap: Floats, weight: Floats, square: Floats) -> tuple[float, float, float]:
    """The weighted mean of rows, its standard error, and how many equal rows they are worth."""
    total = float(weight.sum())
    n = effective_size(total, float(square.sum()))
    mean = float((weight * gap).sum() / total)
    if single_row(n):
        return mean, math.inf, n
    variance = float((square * (gap - mean) ** 2).sum() / total**2) * n / (n - 1)
    return mean, math.sqrt(variance), n


def cluster_mean(gap: Floats, weight: Floats, cluster: Ints) -> tuple[float, float, int]:
    """The weighted mean of rows, its standard error by cluster, and how many clusters there are.

    >>> cluster_mean(np.array([1.0, 1, 3, 3]), np.ones(4), np.array([0, 0, 1, 1]))
    (2.0, 1.0, 2)
    """
    total = float(weight.sum())
    mean = float((weight * gap).sum() / total)
    sums = cluster_sums(weight * (gap - mean), cluster)
    clusters = len(sums)
    if clusters < 2:
        return mean, math.inf, clusters
    return mean, math.sqrt(float((sums**2).sum()) * clusters / (clusters - 1)) / total, clusters


def cluster_variance(influence: Floats, cluster: Ints) -> tuple[float, float, int]:
    """The variance of a sum of what rows add to it, by cluster and by rows, and the number of clusters.

    >>> cluster_variance(np.array([1.0, 1, -1, -1]), np.array([0, 0, 1, 1]))
    (16.0, 4.0, 2)
    """
    sums = cluster_sums(influence, cluster)
    clusters = len(sums)
    return (
        float((sums**2).sum()) * clusters / max(clusters - 1, 1),
        float((influence**2).sum()),
        clusters,
    )


def cluster_sums(x: Floats, cluster: Ints) -> Floats:
    """The sum of each cluster that has rows.

    >>> cluster_sums(np.array([1.0, 2.0, 4.0]), np.array([0, 0, 2]))
    array([3., 4.])
    """
    return np.asarray(np.bincount(cluster, x)[np.bincount(cluster) > 0].astype(np.float64))


def mean_estimate(
    mean: float, error: float, units: float, level: float, method: str, df: float | None = None
) -> Estimate:
    """The mean of paired differences of so many rows or clusters, with Student's interval."""
    if single_row(units):
        return Estimate(mean, level=level, method="none: a single row", baseline=0.0)
    if error <= 1e-13:
        return Estimate(mean, mean, mean, level, "none: no row differs", baseline=0.0)
    half = t_quantile(level, units - 1 if df is None else df) * error
    return Estimate(mean, mean - half, mean + half, level, method, baseline=0.0)


def mean_difference(gap: Floats, weight: Floats, square: Floats, level: float) -> Estimate:
    """The mean of paired differences of rows, with its normal interval."""
    return mean_estimate(*row_mean(gap, weight, square), level, "normal, paired", math.inf)


def cluster_difference(gap: Floats, weight: Floats, cluster: Ints, level: float) -> Estimate:
    """The mean of paired differences of rows that come in clusters, with its t interval.

    >>> cluster_difference(np.array([1.0, 2, 3, 4]), np.ones(4), np.array([0, 0, 1, 1]), 0.95)
    2.500 [-10.206, 15.206]
    """
    return mean_estimate(*cluster_mean(gap, weight, cluster), level, "t, paired; by cluster")


# What clusters widen.


def widened(
    e: Estimate,
    variance: float,
    by_row: float,
    clusters: int,
    bounds: tuple[float, float],
) -> Estimate:
    """The estimate with limits as much further away as the standard error by cluster is larger.

    `variance` is that of sums by cluster, `by_row` that of single rows. By Student's quantile with one
    degree of freedom less than there are clusters.

    >>> widened(Estimate(0.5, 0.4, 0.6), 4e-4, 1e-4, 1000, (0.0, 1.0))
    0.500 [0.300, 0.700]
    >>> widened(Estimate(1.0, 1e-3, 1e3), 1e4, 1.0, 2, (0.0, math.inf))  # two clusters that disagree
    1.000 [0.000, inf]
    """
    if clusters < 2:
        return replace(e, low=math.nan, high=math.nan, method="none: a single cluster", p=None)
    grown = math.sqrt(max(variance / by_row, 1.0)) if by_row > 0 and variance < math.inf else 1.0
    grown *= t_quantile(e.level, clusters - 1) / normal_quantile(e.level)
    if bounds == (0.0, math.inf) and e.low > 0:  # ratios, whose intervals are on the log scale
        with np.errstate(over="ignore"):  # beyond the floats a limit is infinite
            ends = np.exp(grown * np.log(np.array([e.low, e.high]) / e.value)) * e.value
        low, high = ends.tolist()
    else:
        low, high = e.value - grown * (e.value - e.low), e.value + grown * (e.high - e.value)
    low, high = max(low, bounds[0]), min(high, bounds[1])
    return replace(e, low=low, high=high, method=f"{e.method}; by cluster")


def widened_test(
    e: Estimate,
    variance: float,
    by_row: float,
    clusters: int,
    bounds: tuple[float, float],
) -> Estimate:
    """The same, and its p-value that of as far from 0 in the larger standard errors."""
    from scipy.special import ndtr, ndtri

    wide = widened(e, variance, by_row, clusters, bounds)
    if e.p is None or not by_row > 0 or clusters < 2:
        return replace(wide, p=None)
    return replace(wide, p=float(2 * ndtr(ndtri(e.p / 2) / math.sqrt(max(variance / by_row, 1.0)))))


def widened_mean(
    e: Estimate, x: Floats, weight: Floats, cluster: Ints, bounds: tuple[float, float]
) -> Estimate:
    """The estimate of a mean of rows, of these values and weights, with its interval by cluster."""
    if not e.defined or not e.high > e.low:
        return e
    mean, error, clusters = cluster_mean(x, weight, cluster)
    by_row = float(((weight * (x - mean)) ** 2).sum()) / float(weight.sum()) ** 2
    return widened(e, error**2, by_row, clusters, bounds)


def wild_bootstrap(
    sums: Floats, statistic: Callable[[Floats], Floats], seed: int, replicates: int = SIGN_FLIPS
) -> tuple[float, float]:
    """The p-value of residuals with mean 0, and what the statistic would be then on average.

    `sums` are sums of residuals, a row for each cluster, and the statistic takes replicates of their total.
    Under the null each cluster might as well have come with the other sign (wild bootstrap of Rademacher
    signs; Cameron, Gelbach and Miller 2008).

    >>> p, expected = wild_bootstrap(np.ones((8, 1)), lambda total: abs(total).max(1), seed=0)
    >>> p < 0.03, round(expected, 1)
    (True, 2.2)
    """
    rng, drawn = np.random.default_rng(seed), []
    block = max(1, 10**7 // max(len(sums), 1))
    for first in range(0, replicates, block):
        size = (min(block, replicates - first), len(sums))
        drawn.append(statistic((2.0 * rng.integers(0, 2, size) - 1) @ sums))
    null, seen = np.concatenate(drawn), float(statistic(sums.sum(0)[None])[0])
    return resampling_p(null, seen * (1 - 1e-9) - 1e-15), float(null.mean())
