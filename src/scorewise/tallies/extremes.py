"""What a coarse tally leaves open: the order within its cells, and bins that cells lie across.

The grid of probabilities has the edges of the usual numbers of equal bins, and leaves these exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.tallies.losses import unit
from scorewise.tallies.probabilities import chances
from scorewise.tallies.sorting import Numbers
from scorewise.tallies.tally import Tally


def order_within(t: Tally) -> NDArray[np.int8]:
    """For each cell: 1 if its positives lie above its negatives, -1 if below or tied, 0 if unknown."""
    if t.coarse is None:
        return np.full(len(t.score), -1, np.int8)
    (neg_low, pos_low), (neg_high, pos_high) = t.coarse.low, t.coarse.high
    below = (pos_high < neg_low) | tied_within(t)
    return np.where(below, -1, np.where(pos_low > neg_high, 1, 0)).astype(np.int8)


def tied_within(t: Tally) -> NDArray[np.bool_]:
    """Whether all scores of a cell are one and the same."""
    if t.coarse is None:
        return np.ones(len(t.score), np.bool_)
    return np.asarray(t.coarse.low.min(0) == t.coarse.high.max(0))


def extremes(t: Tally) -> tuple[Tally, Tally]:
    """Tallies whose ROC curves run below and above the unknown exact one.

    Each cell is cut in two, with all its negatives above its positives, or below.

    >>> worst, best = extremes(Tally.of([1, 0, 1], [0.500001, 0.500002, 0.500003]).coarsen())
    >>> worst.pos, best.pos
    (array([2, 0]), array([0, 2]))
    """
    order, tied = order_within(t), tied_within(t)
    return _arranged(t, (order == 1), tied), _arranged(t, (order >= 0), tied)


def _arranged(t: Tally, pos_above: NDArray[np.bool_], tied: NDArray[np.bool_]) -> Tally:
    neg_up, pos_up = ~pos_above & ~tied, pos_above & ~tied
    neg, neg2 = (_halves(w, neg_up) for w in (t.neg, t.neg2))
    pos, pos2 = (_halves(w, pos_up) for w in (t.pos, t.pos2))
    used = (neg > 0) | (pos > 0)
    score = np.flatnonzero(used).astype(np.float64)
    return Tally(score, neg[used], pos[used], neg2[used], pos2[used], "score", t.origin)


def _halves(w: Numbers, up: NDArray[np.bool_]) -> Any:
    """The lower and the upper half of each cell, one after the other."""
    return np.stack([w * ~up, w * up], 1).ravel()


def certified(t: Tally, value: Callable[[Tally], float]) -> tuple[float, float]:
    """A value that only rises with the ROC curve, and its certified half-width.

    For an exact tally that is the value and 0; for a coarse one the middle between the extremes.
    """
    if t.coarse is None:
        return value(t), 0.0
    worst, best = (value(x) for x in extremes(t))
    return (worst + best) / 2, (best - worst) / 2


def why_open(t: Tally) -> str:
    """Why what depends on each score by itself cannot be said of a coarse tally, or nothing."""
    return "" if bool(tied_within(t).all()) else "the cells of the coarse tally leave it open"


def displacement(t: Tally) -> float:
    """Mean over rows of the most by which their probability may differ from their cell's mean.

    0 for an exact tally, and where each cell of a coarse one holds one score.

    >>> displacement(Tally.of([0, 1], [0.1, 0.7]).coarsen())
    0.0
    >>> f"{displacement(Tally.of([0, 1], [0.1, 0.10001]).coarsen()):.0e}"
    '1e-05'
    """
    if t.coarse is None:
        return 0.0
    c = chances(t)
    ends = unit(t.coarse.high.max(0), t.kind) - unit(t.coarse.low.min(0), t.kind)
    return float((c.weight * ends).sum() / c.total)
