"""Consistency resampling of several classes: what the labels might have been if the rows were calibrated.

Each row's class is drawn anew from the row's own probabilities (Vaicenavicius et al. 2019, Widmann,
Lindsten and Zachariah 2019).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.intervals.consistency import drawn_gaps, hits
from scorewise.tallies.chances import Chances
from scorewise.tallies.class_sample import ClassSample
from scorewise.tallies.classes import ClassTally
from scorewise.tallies.joint import MOST as JOINT

Labels = NDArray[np.int64]
_DRAWS = 1 << 19  # of labels
_ROWS = 1 << 11
_MANY = 100  # variance, in rows, beyond which the values that a cell can take do not matter


def replicates(cost: int, most: int = 999, budget: int = 1 << 27) -> int:
    """How many replicates of that cost fit a budget; 99 at the least, 999 at the most."""
    return int(np.clip(budget // max(cost, 1), 99, most))


def class_replicates(s: ClassSample, cells: int, most: int) -> int:
    """How many replicates of so many cells' gaps can be drawn; 0 where they are too many cells."""
    cost = len(s) if len(s) <= _ROWS else max(int(_changes(s)), 1)
    many = min(replicates(cost, budget=_DRAWS), most // cells)
    return many if many >= 99 else 0


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


def changes(labels: Labels, usual: Labels, classes: int) -> Any:
    """What `indicator` of replicates of labels adds to that of the usual ones; in single precision.

    It is empty where labels are as usual: what is added to a sum is then exactly nothing.

    >>> changes(np.array([[0, 1, 1]]), np.array([0, 0, 1]), 2).toarray()
    array([[ 0., -1.,  0.],
           [ 0.,  1.,  0.]], dtype=float32)
    """
    from scipy.sparse import csr_array

    many, n = labels.shape
    replicate, row = np.nonzero(labels != usual)
    to, off = labels[replicate, row], usual[row]
    place = np.concatenate((to, off)) + classes * np.tile(replicate, 2)
    sign = np.repeat(np.array([1, -1], np.float32), len(row))
    return csr_array((sign, (place, np.tile(row, 2))), shape=(many * classes, n))


def enough_rows(t: ClassTally) -> ClassSample:
    """The rows whose labels are drawn: all that are known where few are surprising, or else 2,048."""
    s = ClassSample.of(t, JOINT)
    return s if len(s) <= _ROWS or _changes(s) <= _ROWS else ClassSample.of(t, _ROWS)


def drawn_class_gaps(
    s: ClassSample, cell: Labels, cells: Chances, many: int, rng: np.random.Generator
) -> Floats:
    """Replicates (rows) of `cells.gap` if the rows are calibrated.

    `cell` says in which cell a row (first axis) lies by its probability of a class (second). The noise
    of a sample of rows is scaled, cell by cell, to the variance that all rows have; where few rows of a
    class are expected, it says only in which replicates draws of all rows are large.
    """
    n, m = len(s), len(cells)
    w = s.weight[:, None]
    spread: Any
    spread, mean = (
        np.bincount(cell.ravel(), c.ravel(), m) for c in (w * w * s.p * (1 - s.p), w * s.p)
    )
    if n > _ROWS:
        drawn = _surprises(s, cell, m, many, rng)
        spread = spread * (n / s.rows)
    else:
        labels = drawn_labels(s.p, rng.random((many, n)))
        drawn = _added(cell[np.arange(n), labels], s.weight, m)
    known = spread > 0
    scale = np.sqrt(np.divide(cells.noise, spread, out=np.zeros(m), where=known))
    gaps: Floats = (drawn - mean) * scale
    if n < s.rows:
        few = cells.noise <= _MANY * (cells.squares / cells.weight) ** 2
        gaps[:, few] = _ranked(drawn_gaps(cells.part(few), many, rng), gaps[:, few], rng)
        known |= few
    unseen = ~known & (cells.noise > 0)
    if unseen.any():
        more = rng.standard_normal((many, int(unseen.sum())))
        gaps[:, unseen] = more * np.sqrt(cells.noise[unseen])
    return gaps


def _added(place: Labels, weight: Floats, cells: int) -> Floats:
    """The weight on each cell, of replicates (rows) of places of weights."""
    many = len(place)
    place = place + cells * np.arange(many)[:, None]
    total: Any = np.bincount(
        place.ravel(), np.broadcast_to(weight, place.shape).ravel(), many * cells
    )
    added: Floats = total.reshape(many, cells)
    return added


def _changes(s: ClassSample) -> float:
    """About how many rows are expected not to get their likeliest class, of all that `s` stands for."""
    return float(-np.log(np.maximum(s.p.max(1), 1e-300)).mean()) * s.rows


def _surprises(
    s: ClassSample, cell: Labels, cells: int, many: int, rng: np.random.Generator
) -> Floats:
    """The same as `_added` of drawn labels, where only those that are not the likeliest are drawn."""
    n, row = len(s), np.arange(len(s))
    top = s.p.argmax(1)
    usual = np.bincount(cell[row, top], s.weight, cells)
    # a row of a sample stands for several
    replicate, hit = hits(1 - s.p[row, top], np.full(n, s.rows / n), many, rng)
    other = s.p[hit]
    other[np.arange(len(hit)), top[hit]] = 0.0
    to = drawn_labels(other / other.sum(1, keepdims=True), rng.random((1, len(hit))))[0]
    weight = s.weight[hit] * (n / s.rows)
    place = np.concatenate((cell[hit, to], cell[hit, top[hit]])) + cells * np.tile(replicate, 2)
    moved: Any = np.bincount(place, np.concatenate((weight, -weight)), many * cells)
    found: Floats = usual + moved.reshape(many, cells)
    return found


def _ranked(drawn: Floats, like: Floats, rng: np.random.Generator) -> Floats:
    """The draws of each column, in the order of those of another table; equal ones in any order."""
    spread = like.std(0)
    order = np.argsort(like + 1e-9 * spread * rng.random(like.shape), axis=0)
    found = np.empty(drawn.shape)
    np.put_along_axis(found, order, np.sort(drawn, axis=0), axis=0)
    return found


def resampled_class_gaps(
    s: ClassSample, cell: Labels, cells: int, many: int, rng: np.random.Generator
) -> Floats:
    """Replicates, of variance 1, of what other rows would change in the gaps of the cells.

    Each row's distances of labels from probabilities count a number of times that is drawn anew, so that
    what is wrong in one class is missing in another.
    """
    from scipy.sparse import csr_array

    some = slice(None, None, -(-len(s) // _ROWS))
    cell, weight = cell[some], s.weight[some] / s.weight[some].sum()
    n, k = cell.shape
    gap = (s.gap[some] * weight[:, None]).ravel()
    table = csr_array((gap, cell.ravel(), k * np.arange(n + 1)), shape=(n, cells))
    times = rng.standard_normal((n, many))
    times -= weight @ times
    drawn: Floats = (table.T @ times).T
    size = np.sqrt(np.bincount(cell.ravel(), gap**2, cells))
    found: Floats = np.divide(drawn, size, out=np.zeros(drawn.shape), where=size > 0)
    return found
