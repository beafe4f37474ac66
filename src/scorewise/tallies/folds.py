"""Rows dealt to folds, cell by cell: by a seed, and whatever the order of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.tallies.chances import Chances

_COUNTABLE = 10**8  # rows of a cell up to which draws without replacement are made


def dealt(c: Chances, folds: int, seed: int) -> tuple[Floats, Floats]:
    """For each fold (rows) the share of each cell's weight (columns) and its weight of positives.

    Cells that are worth whole numbers of equal rows are dealt row by row, others as a whole.

    >>> c = Chances(*np.array([[0.5], [4.0], [4.0], [2.0], [2.0], [1.0]]))
    >>> share, pos = dealt(c, 2, seed=0)
    >>> share.sum(), pos.sum()
    (np.float64(1.0), np.float64(2.0))
    """
    rows = c.weight**2 / c.squares
    unit = c.weight / rows
    positives = c.pos / unit
    near = np.rint(rows), np.rint(positives)
    whole = (np.abs(rows - near[0]) < 1e-6 * rows) & (np.abs(positives - near[1]) < 1e-6 * rows)
    equal = np.full(folds, 1 / folds)
    by_row, by_label, by_cell = (np.random.default_rng([seed, k]) for k in (0, 1, 2))
    total, hits = (np.where(whole, n, 0).clip(0).astype(np.int64) for n in near)
    # labels have no say in which fold a row goes to
    rows_in = by_row.multinomial(total, equal).T
    share = rows_in / near[0].clip(1)
    positive = _drawn(hits, total, rows_in, by_label) * unit
    fold = by_cell.integers(folds, size=len(c))
    broken = np.flatnonzero(~whole)
    share[fold[broken], broken] = 1.0
    positive[fold[broken], broken] = c.pos[broken]
    return share, positive


def _drawn(
    hits: NDArray[np.int64], total: NDArray[np.int64], each: Any, rng: np.random.Generator
) -> Floats:
    """How many of a cell's positives go with the rows that each fold gets of it."""
    found = np.zeros(each.shape)
    left, of = hits.copy(), total.copy()
    countable = total < _COUNTABLE
    for k, n in enumerate(each):
        drawn = rng.hypergeometric(
            np.where(countable, left, 0),
            np.where(countable, of - left, 0),
            np.where(countable, n, 0),
        )
        # of very many rows each fold gets its share
        found[k] = np.where(countable, drawn, hits * (n / np.maximum(total, 1)))
        left, of = left - drawn, of - n
    return found
