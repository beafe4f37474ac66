"""Where a rising curve of shares may lie: exact intervals of shares over neighbouring cells.

A rising curve is at most its mean over any stretch to the right, and at least that over any stretch to
the left. So the Clopper-Pearson intervals of many stretches, each of a level raised for their number,
bound it without any resampling (Dimitriadis, Dümbgen, Henzi, Puke and Ziegel 2023).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.tallies.chances import Chances


def rising_limits(
    c: Chances, level: float, *, simultaneous: bool, single: bool
) -> tuple[Floats, Floats]:
    """The lower and upper limits of the curve on each cell; `single` if each holds one probability.

    At each cell by itself the lengths of stretches share the level, at all cells at once all stretches
    do. Lengths are the powers of two.

    >>> c = Chances(*np.array([[0.2, 0.7], [10, 10], [10, 10], [1, 8], [2, 7], [1.6, 2.1]], float))
    >>> [x.round(2) for x in rising_limits(c, 0.95, simultaneous=False, single=True)]
    [array([0. , 0.4]), array([0.49, 0.98])]
    """
    cells = len(c)
    lengths = 2 ** np.arange(int(np.log2(cells)) + 1, dtype=np.int64)
    tail = (1 - level) / 2 / len(lengths) / (cells if simultaneous else 1)
    above = _upper(c.pos, c.weight, c.squares, lengths, tail)
    mirrored = (c.weight - c.pos)[::-1], c.weight[::-1], c.squares[::-1]
    below = 1 - _upper(*mirrored, lengths, tail)[::-1]
    if not single:  # a cell of several probabilities says nothing of its own ends
        above, below = np.append(above[1:], 1.0), np.concatenate(([0.0], below[:-1]))
    if simultaneous:
        return np.maximum.accumulate(below), np.minimum.accumulate(above[::-1])[::-1]
    return np.minimum.accumulate(below[::-1])[::-1], np.maximum.accumulate(above)


def _upper(
    pos: Floats, weight: Floats, square: Floats, lengths: NDArray[np.int64], tail: float
) -> Floats:
    """The least upper limit of the stretches of these lengths that begin at each cell."""
    sums = [np.concatenate(([0.0], w.cumsum())) for w in (pos, weight, square)]
    start = np.arange(len(pos))
    least = np.ones(len(pos))
    for length in lengths:
        end = np.minimum(start + int(length), len(pos))
        p, w, w2 = (s[end] - s[start] for s in sums)
        least = np.minimum(least, exact_upper(p, w, w2, tail))
    return least


def exact_upper(pos: Floats, weight: Floats, square: Floats, tail: float) -> Floats:
    """The upper limit of the share of positives in each cell (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv

    rows = weight * weight / square
    hits = np.clip(pos / weight, 0.0, 1.0) * rows
    misses = rows - hits
    some = misses > 1e-9
    limit = np.ones(len(pos))
    limit[some] = betaincinv(hits[some] + 1, misses[some], 1 - tail)
    return limit


def largest_gap(c: Chances, off: Floats, level: float) -> float:
    """How far the share of positives in any one cell may be from its probability plus `off`.

    That of the cell in which it is farthest is within its own exact limits, so it is at most this, in
    all but (1 - level) / 2 of samples.

    >>> c = Chances(*np.array([[0.2, 0.7], [100, 10], [100, 10], [20, 8], [20, 7], [16, 2.1]], float))
    >>> round(largest_gap(c, np.zeros(2), 0.95), 3)
    0.275
    """
    tail = (1 - level) / 2
    above = exact_upper(c.pos, c.weight, c.squares, tail)
    below = 1 - exact_upper(c.weight - c.pos, c.weight, c.squares, tail)
    at = c.p + off
    return float(np.maximum(above - at, at - below).max())
