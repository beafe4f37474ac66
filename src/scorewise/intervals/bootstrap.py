"""The bootstrap of cells: its cost does not grow with the number of rows.

Rows on the same cell are alike, so a resample need only say how much weight each cell gets. With
Exp(1) weights for rows (Rubin's Bayesian bootstrap, 1981) a cell of n rows gets Gamma(n); with weights
it gets the gamma of the same mean and variance. Unlike a multinomial draw this never loses a class,
knows weights, and does not change when all weights are multiplied.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.intervals.tables import Formula
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.merging import pool
from scorewise.tallies.sorting import Numbers

_CELLS = 1024


def resampled(
    weight: Numbers, squares: Numbers, replicates: int, rng: np.random.Generator
) -> Floats:
    """Replicates (rows) of the weights of cells (columns), given their sums of squared weights."""
    used = weight > 0
    w, w2 = weight[used].astype(np.float64), squares[used].astype(np.float64)
    drawn = np.zeros((replicates, len(weight)))
    rows = w * w / w2
    # draws of one row are of another kind than those of a little more
    rows = np.where(np.abs(rows - 1) < 1e-9, 1.0, rows)
    drawn[:, used] = rng.standard_gamma(rows, (replicates, len(w))) * (w2 / w)
    return drawn


def bootstrap_table(
    c: Confusion, formula: Formula, *, replicates: int = 1000, seed: int = 0
) -> Floats:
    """Replicates of a formula of tp, fp, fn, tn.

    >>> c = Confusion.counts(tp=25, fp=10, fn=15, tn=20)
    >>> np.quantile(bootstrap_table(c, lambda tp, fp, fn, tn: tp / (tp + fn)), [0.025, 0.975]).round(2)
    array([0.48, 0.76])
    """
    drawn = resampled(c.table, c.squares, replicates, np.random.default_rng(seed))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(formula(*drawn.T), np.float64)


def few_cells(t: Tally, cells: int = _CELLS) -> Tally:
    """The same pooled to about a thousand cells of equal mass, for replicates alone."""
    return pool(t.pooled, cells)


def bootstrap_cells(
    t: Tally,
    statistic: Callable[[Floats, Floats], Any],
    *,
    replicates: int = 1000,
    seed: int = 0,
    cells: int = _CELLS,
) -> Floats:
    """Replicates of a statistic of (neg, pos).

    Both arguments of the statistic have cells, from the lowest score up, as their last axis: those of
    `few_cells(t, cells)`.
    """
    rng = np.random.default_rng(seed)
    few = few_cells(t, cells)
    neg, pos, neg2, pos2 = (c.astype(np.float64) for c in (few.neg, few.pos, few.neg2, few.pos2))
    drawn = resampled(neg, neg2, replicates, rng), resampled(pos, pos2, replicates, rng)
    return np.asarray(statistic(*drawn))
