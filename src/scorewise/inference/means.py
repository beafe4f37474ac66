"""Means over rows with their intervals: of losses, scores and paired differences, by row or by cluster.

A mean of rows that come in clusters has the sums of its clusters for units: their spread gives its standard
error, with Student's quantile of one degree of freedom less than there are clusters (Liang and Zeger 1986).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.estimate import Estimate
from scorewise.inference.scales import (
    Variance,
    effective_size,
    limits,
    number,
    pooled_variance,
    single_row,
    t_quantile,
)
from scorewise.statistics.smroc import class_sums
from scorewise.tallies import Tally
from scorewise.tallies.losses import Moments, unit


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
    sums = _sums(weight * (gap - mean), cluster)
    clusters = len(sums)
    if clusters < 2:
        return mean, math.inf, clusters
    return mean, math.sqrt(float((sums**2).sum()) * clusters / (clusters - 1)) / total, clusters


def cluster_variance(influence: Floats, cluster: Ints) -> tuple[float, float, int]:
    """The variance of a sum of what rows add to it, by cluster and by rows, and the number of clusters.

    >>> cluster_variance(np.array([1.0, 1, -1, -1]), np.array([0, 0, 1, 1]))
    (16.0, 4.0, 2)
    """
    sums = _sums(influence, cluster)
    clusters = len(sums)
    return (
        float((sums**2).sum()) * clusters / max(clusters - 1, 1),
        float((influence**2).sum()),
        clusters,
    )


def _sums(x: Floats, cluster: Ints) -> Floats:
    """The sum of each cluster that has rows."""
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
