"""Intervals and tests of rows that come in clusters, such as visits of patients."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.special import ndtr, ndtri

from scorewise.arrays import Floats, Ints
from scorewise.columns import Rows
from scorewise.estimate import Estimate
from scorewise.inference.influence import (
    GROUPS,
    Settings,
    binned_residuals,
    deal_groups,
    left_out,
    row_influence,
)
from scorewise.inference.means import cluster_mean
from scorewise.inference.resampling import resampling_p
from scorewise.inference.scales import normal_quantile, t_quantile
from scorewise.registry import Measure
from scorewise.tallies import Tally

SIGN_FLIPS = 999  # random signs of clusters that a p-value is made of


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
    """
    if clusters < 2:
        return replace(e, low=math.nan, high=math.nan, method="none: a single cluster", p=None)
    grown = math.sqrt(max(variance / by_row, 1.0)) if by_row > 0 and variance < math.inf else 1.0
    grown *= t_quantile(e.level, clusters - 1) / normal_quantile(e.level)
    if bounds == (0.0, math.inf) and e.low > 0:  # ratios, whose intervals are on the log scale
        low, high = (e.value * math.exp(grown * math.log(end / e.value)) for end in (e.low, e.high))
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


def clustered(
    e: Estimate, m: Measure, rows: Rows, t: Tally, settings: Settings, cluster: Ints
) -> Estimate:
    """The estimate of rows that come in clusters: its interval widened by what rows of one share.

    The distances of the limits grow as the standard error does when influences are added up by cluster
    before they are squared (of AUROC: Obuchowski 1997; of a share, the design effect of Korn and Graubard
    1998), and by Student's quantile with one degree of freedom less than there are clusters. A p-value
    that knows nothing of clusters is left out.
    """
    if not e.defined or not e.high > e.low:
        return e
    clusters, seed = int(cluster.max()) + 1, settings["seed"]
    if clusters < 2:
        return widened(e, 0.0, 0.0, clusters, m.bounds)
    x = row_influence(m, rows, t, settings)
    if x is None:
        group = deal_groups(rows, min(GROUPS, clusters), seed, cluster)
        values = left_out(m, rows, t.origin.score, settings, group)
        groups = len(values)
        variance = (groups - 1) / groups * float(((values - values.mean()) ** 2).sum())
        by_row = ((e.high - e.low) / (2 * normal_quantile(settings["level"]))) ** 2
    else:
        total = np.bincount(cluster, rows.mass() * x, clusters)
        variance = float((total * total).sum()) * clusters / (clusters - 1)
        by_row = float((rows.mass(2) * x * x).sum())
    wide = widened(e, variance, by_row, clusters, m.bounds)
    if m.name == "ece":
        at, residual, bins = binned_residuals(rows, t)
        sums = np.bincount(cluster * bins + at, rows.mass() * residual, clusters * bins)
        total_weight = float(rows.mass().sum())
        p, expected = wild_bootstrap(
            sums.reshape(clusters, bins).astype(np.float64),
            lambda total: np.abs(total).sum(1) / total_weight, seed,
        )  # fmt: skip
        return replace(wide, p=p, expected=expected)
    if e.p is None or m.better != "near":
        return replace(wide, p=None)
    quantile = (
        abs(e.value - m.target) * normal_quantile(e.level) / max((wide.high - wide.low) / 2, 1e-300)
    )
    return replace(wide, p=float(2 * ndtr(-quantile)))
