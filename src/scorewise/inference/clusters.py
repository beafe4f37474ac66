"""Rows that come in clusters, such as visits of patients, and estimates of several places.

A mean of rows has the sums of its clusters for units: their spread gives its standard error, with Student's
quantile of one degree of freedom less than there are clusters (Liang and Zeger 1986).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from scorewise.arrays import Floats, Ints
from scorewise.columns import Rows
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference.resampling import share_beyond
from scorewise.inference.scales import student, z
from scorewise.tallies import Tally

FLIPS = 999  # random signs of clusters that a p-value is made of


def deal_classes(codes: Ints, folds: int, rng: np.random.Generator) -> Ints:
    """The fold of each row: rows are dealt at random, those of each class evenly.

    >>> deal_classes(np.array([0, 0, 0, 1, 1]), 2, np.random.default_rng(0))
    array([1, 0, 0, 0, 1])
    """
    fold, dealt = np.empty(len(codes), np.int64), 0
    for code in np.unique(codes):
        at = rng.permutation(np.flatnonzero(codes == code))
        fold[at] = (dealt + np.arange(len(at))) % folds
        dealt += len(at)
    return fold


def deal_clusters(cluster: Ints, folds: int, seed: int) -> Ints:
    """The fold of each row: clusters are dealt at random, whole and evenly.

    >>> deal_clusters(np.array([0, 0, 1, 1, 2, 3]), 2, seed=0)
    array([0, 0, 0, 0, 1, 1])
    """
    order = np.random.default_rng(seed).permutation(int(cluster.max()) + 1)
    return (order % folds)[cluster]


def enough_clusters(cluster: Ints, folds: int) -> None:
    """Refuse fewer clusters than folds."""
    if (many := int(cluster.max()) + 1) < folds:
        raise BadInput(
            f"{many} clusters cannot be dealt into {folds} folds, whole as they are; pass ",
            Option("folds", many), " or name a column of more clusters with ", Option("cluster"),
        )  # fmt: skip


class FoldCells(NamedTuple):
    """Rows in folds of whole clusters: weights by class, fold and cell, and where each row is there."""

    weight: Floats
    square: Floats
    at: Ints


def fold_cells(rows: Rows, t: Tally, start: Ints, fold: Ints) -> FoldCells:
    """The weights of rows in cells of a tally, runs of its scores that begin at `start`."""
    shape = 2, int(fold.max()) + 1, len(start)
    score = np.searchsorted(t.score, rows.scores[t.origin.score], side="right") - 1
    # a row of no weight may lie below all
    cell = np.maximum(np.searchsorted(start, score, side="right") - 1, 0)
    at: Ints = np.ravel_multi_index((rows.y.astype(np.int64), fold, cell), shape)
    sums: list[Any] = [np.bincount(at, rows.mass(k), math.prod(shape)) for k in (1, 2)]
    return FoldCells(sums[0].reshape(shape), sums[1].reshape(shape), at)


def cluster_mean(gap: Floats, weight: Floats, cluster: Ints) -> tuple[float, float, int]:
    """The weighted mean of rows, its standard error by cluster, and how many clusters there are.

    >>> cluster_mean(np.array([1.0, 1, 3, 3]), np.ones(4), np.array([0, 0, 1, 1]))
    (2.0, 1.0, 2)
    """
    total = float(weight.sum())
    mean = float((weight * gap).sum() / total)
    sums = np.bincount(cluster, weight * (gap - mean))
    many = len(sums)
    if many < 2:
        return mean, math.inf, many
    return mean, math.sqrt(float((sums**2).sum()) * many / (many - 1)) / total, many


def widened(
    e: Estimate, variance: float, own: float, many: int, bounds: tuple[float, float]
) -> Estimate:
    """The estimate with limits as much further away as the standard error by cluster is larger.

    `variance` is that of sums by cluster, `own` that of rows by themselves. By Student's quantile with one
    degree of freedom less than there are clusters.

    >>> widened(Estimate(0.5, 0.4, 0.6), 4e-4, 1e-4, 1000, (0.0, 1.0))
    0.500 [0.300, 0.700]
    """
    if many < 2:
        return replace(e, low=math.nan, high=math.nan, method="none: a single cluster", p=None)
    grown = math.sqrt(max(variance / own, 1.0)) if own > 0 and variance < math.inf else 1.0
    grown *= student(e.level, many - 1) / z(e.level)
    if bounds == (0.0, math.inf) and e.low > 0:  # ratios, whose intervals are on the log scale
        low, high = (e.value * math.exp(grown * math.log(end / e.value)) for end in (e.low, e.high))
    else:
        low, high = e.value - grown * (e.value - e.low), e.value + grown * (e.high - e.value)
    low, high = max(low, bounds[0]), min(high, bounds[1])
    return replace(e, low=low, high=high, method=f"{e.method}; by cluster")


def widened_test(
    e: Estimate, variance: float, own: float, many: int, bounds: tuple[float, float]
) -> Estimate:
    """The same, and its p-value that of as far from 0 in the larger standard errors."""
    wide = widened(e, variance, own, many, bounds)
    if e.p is None or not own > 0 or many < 2:
        return replace(wide, p=None)
    return replace(wide, p=float(2 * ndtr(ndtri(e.p / 2) / math.sqrt(max(variance / own, 1.0)))))


def widened_mean(
    e: Estimate, x: Floats, weight: Floats, cluster: Ints, bounds: tuple[float, float]
) -> Estimate:
    """The estimate of a mean of rows, of these values and weights, with its interval by cluster."""
    if not e.defined or not e.high > e.low:
        return e
    mean, error, many = cluster_mean(x, weight, cluster)
    own = float(((weight * (x - mean)) ** 2).sum()) / float(weight.sum()) ** 2
    return widened(e, error**2, own, many, bounds)


def flipped(
    sums: Floats, statistic: Callable[[Floats], Floats], seed: int, replicates: int = FLIPS
) -> tuple[float, float]:
    """The p-value of residuals with mean 0, and what the statistic would be then on average.

    `sums` are sums of residuals, a row for each cluster, and the statistic takes replicates of their total.
    Under the null each cluster might as well have come with the other sign (wild bootstrap of Rademacher
    signs; Cameron, Gelbach and Miller 2008).

    >>> p, expected = flipped(np.ones((8, 1)), lambda total: abs(total).max(1), seed=0)
    >>> p < 0.03, round(expected, 1)
    (True, 2.2)
    """
    rng, drawn = np.random.default_rng(seed), []
    block = max(1, 10**7 // max(len(sums), 1))
    for first in range(0, replicates, block):
        size = (min(block, replicates - first), len(sums))
        drawn.append(statistic((2.0 * rng.integers(0, 2, size) - 1) @ sums))
    null, seen = np.concatenate(drawn), float(statistic(sums.sum(0)[None])[0])
    return share_beyond(null, seen * (1 - 1e-9) - 1e-15), float(null.mean())


def cluster_gap(gap: Floats, weight: Floats, cluster: Ints, level: float) -> Estimate:
    """The mean of paired differences of rows that come in clusters, with its t interval.

    >>> cluster_gap(np.array([1.0, 2, 3, 4]), np.ones(4), np.array([0, 0, 1, 1]), 0.95)
    2.500 [-10.206, 15.206]
    """
    mean, error, many = cluster_mean(gap, weight, cluster)
    if error <= 1e-13:
        return Estimate(mean, mean, mean, level, "none: no row differs", baseline=0.0)
    half = student(level, many - 1) * error
    return Estimate(mean, mean - half, mean + half, level, "t, paired; by cluster", baseline=0.0)


# What estimates of several places have in common, and how far a new place may be from it.
#
# Each place has a true value of its own, normal around a mean with variance tau^2, which is estimated by
# restricted likelihood (REML). The interval of the mean is that of Hartung and Knapp (2001). The prediction
# interval knows that tau^2 is an estimate, too, often 0 where it is not: it is drawn from its confidence
# distribution (Nagashima, Noma and Furukawa 2019), which that of Q under normal effects gives.


STEPS = 200
DRAWS = 10_000  # of a new place
GRID = 200  # values of tau^2 at which Q is computed


class Pooled(NamedTuple):
    """A mean with its limits, those of a new place, and how much places differ."""

    value: float
    low: float
    high: float
    new_low: float
    new_high: float
    tau2: float
    i2: float
    q: float


def between(values: Floats, variances: Floats) -> float:
    """tau^2 by restricted likelihood: Fisher scoring from the estimate of DerSimonian and Laird (1986).

    >>> round(between(np.array([0.1, 0.5, 0.9]), np.full(3, 0.01)), 6)
    0.15
    """
    weight = 1 / variances
    total = weight.sum()
    q = float((weight * (values - (weight * values).sum() / total) ** 2).sum())
    free = float(total - (weight**2).sum() / total)
    tau2 = max((q - len(values) + 1) / free, 0.0)
    scale = float(values.var()) + float(variances.mean())
    for _ in range(STEPS):
        w = 1 / (variances + tau2)
        mean = (w * values).sum() / w.sum()
        # P = W - W 1 1' W / 1' W 1: what is left of the values beside their mean
        trace = float(w.sum() - (w**2).sum() / w.sum())
        square = float((w**2).sum() - 2 * (w**3).sum() / w.sum() + ((w**2).sum() / w.sum()) ** 2)
        step = (float(((w * (values - mean)) ** 2).sum()) - trace) / square
        new = max(tau2 + step, 0.0)
        if abs(new - tau2) <= 1e-12 * scale:
            return new
        tau2 = new
    return tau2


def pooled(values: Floats, variances: Floats, level: float) -> Pooled:
    """The mean of three or more estimates under random effects, and where a new one may be.

    I^2 is the share of tau^2 in the variance of a typical estimate (Higgins and Thompson 2002); Q is
    Cochran's.

    >>> found = pooled(np.array([0.2, 0.4, 0.9, 0.5]), np.array([0.01, 0.02, 0.02, 0.01]), 0.95)
    >>> [round(x, 3) for x in found]
    [0.491, 0.027, 0.955, -0.568, 1.498, 0.069, 0.833, 16.75]
    """
    many, tau2 = len(values), between(values, variances)
    fixed, weight = 1 / variances, 1 / (variances + tau2)
    q = float((fixed * (values - (fixed * values).sum() / fixed.sum()) ** 2).sum())
    mean = float((weight * values).sum() / weight.sum())
    square = float((weight * (values - mean) ** 2).sum()) / (many - 1) / float(weight.sum())
    typical = (many - 1) * float(fixed.sum()) / float(fixed.sum() ** 2 - (fixed**2).sum())
    half = student(level, many - 1) * math.sqrt(square)
    new = np.quantile(_drawn(values, variances), [(1 - level) / 2, (1 + level) / 2])
    low, high = min(float(new[0]), mean - half), max(float(new[1]), mean + half)
    return Pooled(mean, mean - half, mean + half, low, high, tau2, tau2 / (tau2 + typical), q)


def _drawn(values: Floats, variances: Floats) -> Floats:
    """True values of a new place, drawn with fixed seed: the mean, Student's error of it, and tau."""
    wanted, t, normal = _chances(len(values) - 1)  # Q falls as tau^2 rises
    most = float(((values - values.mean()) ** 2).sum()) / float(wanted.min())
    tau2 = np.append(0.0, np.geomspace(1e-6 * (variances.min() + 1e-9 * most), most, GRID))
    few = max(1, (1 << 20) // len(values))  # of many places not all at once
    parts = [_at(values, variances, tau2[i : i + few]) for i in range(0, len(tau2), few)]
    q, mean, error = np.concatenate(parts, axis=1)
    at = np.interp(-wanted, -q, np.arange(len(q)))
    means, errors, spread = (np.interp(at, np.arange(len(q)), x) for x in (mean, error, tau2**0.5))
    found: Floats = means + errors * t + spread * normal
    return found


@lru_cache(8)
def _chances(free: int) -> tuple[Floats, Floats, Floats]:
    """Draws with fixed seed of chi-square, in even steps of its chance, of Student's t and the normal."""
    from scipy.special import chdtri

    rng = np.random.default_rng(0)
    steps = (rng.permutation(DRAWS) + 0.5) / DRAWS
    return chdtri(free, steps), rng.standard_t(free, DRAWS), rng.standard_normal(DRAWS)


def _at(values: Floats, variances: Floats, tau2: Floats) -> Floats:
    """Q, the mean and its standard error (Hartung and Knapp) if tau^2 is so large."""
    w = 1 / (variances + tau2[:, None])
    whole = w.sum(1)
    mean = (w * values).sum(1) / whole
    q = (w * (values - mean[:, None]) ** 2).sum(1)
    return np.stack([q, mean, np.sqrt(q / (len(values) - 1) / whole)])
