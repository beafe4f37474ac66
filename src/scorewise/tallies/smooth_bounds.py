"""What a coarse tally leaves open of the score-weighted ROC curve: bounds on its area.

A coarse tally knows the sum of the scores of each class in a cell, so it knows climb and run of every
cell but the one that holds the midpoint. What is open is the order within cells, and that cell.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.tallies.climbing import HAIR
from scorewise.tallies.extremes import order_within, tied_within
from scorewise.tallies.losses import unit
from scorewise.tallies.midpoint import Midpoint
from scorewise.tallies.tally import Tally


class _Cells(NamedTuple):
    """By class (rows: negatives, positives) and cell: weights, ends and sums of the scores on [0, 1]."""

    weight: Floats
    low: Floats
    high: Floats
    sum: Floats


def smooth_bounds(t: Tally, m: Midpoint) -> tuple[float, float]:
    """Between which values the area of the exact tally lies; NaN where its rectangle may be empty.

    >>> from scorewise.tallies.midpoint import midpoint
    >>> t = Tally.of([1, 0, 1, 0], [0.7000001, 0.7000002, 0.7000003, 0.1]).coarsen()
    >>> [round(x, 3) for x in smooth_bounds(t, midpoint(t))]
    [0.576, 0.778]
    """
    cells = _cells(t)
    high, low = cells.low >= m.high - HAIR, cells.high < m.low - HAIR
    absent = cells.weight == 0
    sure = (high | low | absent).all(0)
    # a cell whose classes lie on either side of the midpoint is treated as open
    sure &= (high | absent).all(0) | (low | absent).all(0)
    side = (high | absent).all(0)
    least, most = _climbs(cells, sure, side)
    inside = _inside(t, cells, sure, side, least, most)
    total = cells.weight.sum(0)
    runs = total - most, total - least
    under = [
        float((climb * (run.cumsum() - run)).sum() + within.sum())
        for climb, run, within in zip((least, most), runs, inside, strict=True)
    ]
    smallest, largest = _rectangles(float(least.sum()), float(most.sum()), float(total.sum()))
    if not smallest > 0:
        return math.nan, math.nan
    return max(0.0, under[0] / largest), min(1.0, under[1] / smallest)


def _cells(t: Tally) -> _Cells:
    assert t.coarse is not None
    low, high = (unit(x, t.kind) for x in (t.coarse.low, t.coarse.high))
    return _Cells(np.stack([t.neg, t.pos]).astype(np.float64), low, high, t.coarse.sum)


def _climbs(c: _Cells, sure: NDArray[np.bool_], side: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The least and the most that each cell climbs; the same where all its scores are on one side."""
    neg, pos = c.sum
    known = np.where(side, pos + c.weight[0] - neg, c.weight[1] - pos + neg)
    used = c.weight > 0
    ends = np.where(used, c.low, 0.0), np.where(used, c.high, 0.0)
    # a row may climb by its score or by the rest
    least = (c.weight * np.minimum(ends[0], 1 - ends[1])).sum(0)
    most = (c.weight * np.maximum(ends[1], 1 - ends[0])).sum(0)
    return np.where(sure, known, least), np.where(sure, known, most)


def _inside(
    t: Tally,
    c: _Cells,
    sure: NDArray[np.bool_],
    side: NDArray[np.bool_],
    least: Floats,
    most: Floats,
) -> tuple[Floats, Floats]:
    """Between which values the area within each cell lies, in units of climb x run.

    If all were tied it would be half of climb x run. A pair adds to that half the difference of its
    climbs, with the sign of the difference of its scores: for two rows of a class that is known and
    no more than their distance; for a positive and a negative it is s + s' - 1, whose sign depends on
    which of them is higher.
    """
    (neg, pos), (neg_sum, pos_sum) = c.weight, c.sum
    used = c.weight > 0
    low, high = np.where(used, c.low, 0.0), np.where(used, c.high, 0.0)
    apart = c.weight**2 * (high - low) / 8
    direction = np.where(side, 1.0, -1.0)
    above, below = np.where(side, apart[1], apart[0]), np.where(side, apart[0], apart[1])
    order = order_within(t)
    sign = np.where(tied_within(t), 0, order)
    known = direction * sign * (neg * pos_sum + pos * neg_sum - neg * pos) / 2
    reach = neg * pos * np.maximum(abs(low.sum(0) - 1), abs(high.sum(0) - 1)) / 2
    cross_low, cross_high = (np.where(order == 0, way * reach, known) for way in (-1, 1))
    climb, run = least, c.weight.sum(0) - least
    half = climb * run / 2
    open_high = most * (c.weight.sum(0) - least)
    return (
        np.where(sure, np.maximum(half - below + cross_low, 0.0), 0.0),
        np.where(sure, half + above + cross_high, open_high),
    )


def _rectangles(least: float, most: float, total: float) -> tuple[float, float]:
    """The smallest and the largest rectangle whose sides add up to the total."""
    ends = least * (total - least), most * (total - most)
    inside = least <= total / 2 <= most
    return min(ends), total * total / 4 if inside else max(ends)
