"""Rows that come in clusters, such as visits of patients: whole clusters are what varies.

A mean of rows has the sums of its clusters for units: their spread gives its standard error, with Student's
quantile of one degree of freedom less than there are clusters (Liang and Zeger 1986).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.columns import Rows
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference.scales import student
from scorewise.tallies import Tally


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
    sums: list[Floats] = [np.bincount(at, rows.mass(k), math.prod(shape)) + 0.0 for k in (1, 2)]
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
