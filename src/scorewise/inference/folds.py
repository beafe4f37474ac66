"""How rows are dealt to folds: one by one, by class, by cell, or in whole clusters."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.columns import Rows
from scorewise.errors import BadInput, Option
from scorewise.statistics.probabilities import ProbabilityCells
from scorewise.tallies import Tally

_COUNTABLE = 10**8  # rows of a cell up to which draws without replacement are made


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
    if (clusters := int(cluster.max()) + 1) < folds:
        raise BadInput(
            f"{clusters} clusters cannot be dealt into {folds} folds, whole as they are; pass ",
            Option("folds", clusters), " or name a column of more clusters with ", Option("cluster"),
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


def deal_rows(
    weight: Floats, square: Floats, folds: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The weights of cells and their squares, each row dealt to one of the folds (fold by cell).

    Rows of one cell and class are alike, so that it is enough to draw how many of them go to each fold:
    the order of the rows does not matter. Weighted rows of one cell are dealt out as if each had their
    mean weight.

    >>> deal_rows(np.array([4.0, 1.0]), np.array([4.0, 1.0]), 2, np.random.default_rng(0))[0]
    array([[2., 0.],
           [2., 1.]])
    """
    safe = np.where(square > 0, square, 1.0)
    # what lies half way between two numbers of rows goes down, whatever rounding makes of the unit
    rows = np.maximum(np.rint(weight * weight / safe - 1e-6), weight > 0).astype(np.int64)
    drawn = rng.multinomial(rows, np.full(folds, 1 / folds)).T
    share = drawn / np.maximum(rows, 1)
    return share * weight, share * square


def other_folds(weight: Floats) -> Floats:
    """The weights of all folds but each one."""
    total = weight.sum(0)
    rest = total - weight
    # what is left after a difference of equal sums is no weight
    return np.where(rest > 1e-12 * total, rest, 0.0)


def deal_cells(c: ProbabilityCells, folds: int, seed: int) -> tuple[Floats, Floats]:
    """For each fold (rows) the share of each cell's weight (columns) and its weight of positives.

    Unlike with `deal_rows`, labels have no say in which fold a row goes to. Cells that are worth whole
    numbers of equal rows are dealt row by row, others as a whole.

    >>> c = ProbabilityCells(*np.array([[0.5], [4.0], [4.0], [2.0], [2.0], [1.0]]))
    >>> share, pos = deal_cells(c, 2, seed=0)
    >>> share.sum(), pos.sum()
    (np.float64(1.0), np.float64(2.0))
    """
    rows, unit = c.rows, c.weight / c.rows
    positives = c.pos / unit
    rounded = np.rint(rows), np.rint(positives)
    integer = (np.abs(rows - rounded[0]) < 1e-6 * rows) & (
        np.abs(positives - rounded[1]) < 1e-6 * rows
    )
    by_row, by_label, by_cell = (np.random.default_rng([seed, k]) for k in (0, 1, 2))
    total, hits = (np.where(integer, n, 0).clip(0).astype(np.int64) for n in rounded)
    rows_in: Any = by_row.multinomial(total, np.full(folds, 1 / folds)).T
    share, positive = rows_in / rounded[0].clip(1), np.zeros(rows_in.shape)
    left, of, countable = hits, total, total < _COUNTABLE
    for k, n in enumerate(rows_in):
        # how many of a cell's positives go with the rows that the fold gets of it
        kinds = (np.where(countable, x, 0) for x in (left, of - left, n))
        drawn = by_label.hypergeometric(*kinds)
        # of very many rows each fold gets its share
        hits_in = np.where(countable, drawn, hits * (n / np.maximum(total, 1)))
        left, of, positive[k] = left - drawn, of - n, hits_in * unit
    fold, broken = by_cell.integers(folds, size=len(c)), np.flatnonzero(~integer)
    share[fold[broken], broken] = 1.0
    positive[fold[broken], broken] = c.pos[broken]
    return share, positive
