"""Consistency resampling of several classes: what the labels might have been if the rows were calibrated.

Each row's class is drawn anew from the row's own probabilities (Vaicenavicius et al. 2019, Widmann,
Lindsten and Zachariah 2019).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.tallies.chances import Chances, Floats
from scorewise.tallies.class_sample import ClassSample

Labels = NDArray[np.int64]
_DRAWS = 1 << 19


def replicates(cost: int, most: int = 999, budget: int = 1 << 27) -> int:
    """How many replicates of that cost fit a budget; 99 at the least, 999 at the most."""
    return int(np.clip(budget // max(cost, 1), 99, most))


def drawn_labels(p: Floats, chance: Floats) -> Labels:
    """The class of each row (column of the result) that a number in [0, 1) for it stands for.

    >>> drawn_labels(np.array([[0.5, 0.3, 0.2]]), np.array([[0.1], [0.5], [0.9]])).ravel()
    array([0, 1, 2])
    """
    drawn = np.zeros(chance.shape, np.int64)
    ends = np.cumsum(p, axis=1)
    # against rounding: the last class ends at 1, and so do those before it that nothing follows
    ends = np.where(ends >= ends[:, -1:], np.inf, ends)
    for k in range(p.shape[1] - 1):
        drawn += chance >= ends[:, k]
    return drawn


def indicator(labels: Labels, classes: int) -> Any:
    """A sparse table with a row for each replicate and class, and ones at the rows of that class.

    Its product with a matrix of n columns adds, in one thread, what the classes' rows hold there.

    >>> indicator(np.array([[0, 1, 1]]), 2).toarray()
    array([[1., 0., 0.],
           [0., 1., 1.]])
    """
    from scipy.sparse import csr_array

    many, n = labels.shape
    order = np.argsort(labels, axis=1, kind="stable")
    place = labels + classes * np.arange(many)[:, None]
    each = np.bincount(place.ravel(), minlength=many * classes)
    ends = np.concatenate(([0], np.cumsum(each)))
    return csr_array((np.ones(many * n), order.ravel(), ends), shape=(many * classes, n))


def drawn_class_gaps(
    s: ClassSample, cell: Labels, cells: Chances, rng: np.random.Generator
) -> Floats:
    """Replicates (rows) of `cells.gap` if the rows are calibrated.

    `cell` says in which cell a row (first axis) lies by its probability of a class (second). The noise
    of a sample of rows is scaled, cell by cell, to the variance that all rows have.
    """
    n, m = len(s), len(cells)
    many = replicates(n, budget=_DRAWS)
    w = s.weight[:, None]
    spread, mean = (
        np.bincount(cell.ravel(), c.ravel(), m) for c in (w * w * s.p * (1 - s.p), w * s.p)
    )
    labels = drawn_labels(s.p, rng.random((many, n)))
    place = cell[np.arange(n), labels] + m * np.arange(many)[:, None]
    weight = np.broadcast_to(s.weight, labels.shape)
    drawn: Any = np.bincount(place.ravel(), weight.ravel(), many * m)
    known = spread > 0
    scale = np.sqrt(np.divide(cells.noise, spread, out=np.zeros(m), where=known))
    gaps: Floats = (drawn.reshape(many, m) - mean) * scale
    unseen = ~known & (cells.noise > 0)
    if unseen.any():
        more = rng.standard_normal((many, int(unseen.sum())))
        gaps[:, unseen] = more * np.sqrt(cells.noise[unseen])
    return gaps
