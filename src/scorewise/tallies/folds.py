"""Rows dealt to folds, cell by cell: by a seed, and whatever the order of the rows."""

from __future__ import annotations

import numpy as np

from scorewise.tallies.chances import Chances, Floats


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
    by_row, by_cell = (np.random.default_rng([seed, k]) for k in (0, 1))
    counts = [np.where(whole, n, 0).astype(np.int64) for n in (near[1], near[0] - near[1])]
    pos, neg = (by_row.multinomial(np.maximum(n, 0), equal).T for n in counts)
    share = (pos + neg) / near[0].clip(1)
    positive = pos * unit
    fold = by_cell.integers(folds, size=len(c))
    broken = np.flatnonzero(~whole)
    share[fold[broken], broken] = 1.0
    positive[fold[broken], broken] = c.pos[broken]
    return share, positive
