"""Area under part of the ROC curve, and its variance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.intervals.scales import Spread, effective, one_row, pooled_spread
from scorewise.tallies import Tally
from scorewise.tallies.sorting import inner

Floats = NDArray[np.float64]


class _Walk(NamedTuple):
    """The cells from the best end to where the false positive rate passes `width`."""

    neg: Floats
    pos: Floats
    neg2: Floats
    pos2: Floats
    fpr: Floats  # before each cell
    tpr: Floats
    inside: Floats  # share of the cell before `width`


def _walk(t: Tally, width: float, across: bool) -> tuple[_Walk, float, float]:
    """The walk, and the weights of negatives and positives.

    Across, the curve is walked from its other end: positives from the lowest score up play the
    negatives, and the true positive rate the false positive rate.
    """
    if across:
        columns, total = [t.pos, t.neg, t.pos2, t.neg2], (t.positives, t.negatives)
    else:
        columns = [c[::-1] for c in (t.neg, t.pos, t.neg2, t.pos2)]
        total = t.negatives, t.positives
    reached = columns[0].cumsum()
    # the last cell is the one in which the curve passes the width; rates are counts over counts
    last = int(np.searchsorted(reached, width * total[0])) + 1
    neg, pos, neg2, pos2 = (c[:last].astype(np.float64) for c in columns)
    fpr, tpr = (neg.cumsum() - neg) / total[0], (pos.cumsum() - pos) / total[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.clip((width - fpr) / (neg / total[0]), 0.0, 1.0)
    inside = np.where(neg > 0, share, 1.0)
    return _Walk(neg, pos, neg2, pos2, fpr, tpr, inside), *total


def partial_area(t: Tally, width: float, across: bool = False) -> float:
    """Area under the curve up to a false positive rate, or right of it from a true positive rate up.

    >>> partial_area(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]), 0.5)
    0.375
    """
    w, neg, pos = _walk(t, width, across)
    run = w.inside * w.neg / neg
    # weights may add up to a hair above the whole
    return min(width, inner(run, w.tpr + w.inside * w.pos / pos / 2))


def partial_spread(t: Tally, width: float, across: bool = False) -> Spread:
    """Variance of that area: DeLong's, with the score at the boundary estimated too.

    A positive counts with the length of the part that lies behind it, a negative with its height above
    or below the curve's end; both are centred on their means.
    """
    w, neg, pos = _walk(t, width, across)
    neg2, pos2 = t.neg2.sum().item(), t.pos2.sum().item()
    if across:
        neg2, pos2 = pos2, neg2
    end = w.tpr[-1] + w.inside[-1] * w.pos[-1] / pos
    length = np.clip(width - w.fpr - w.neg / neg / 2, 0.0, None)
    length[-1] = (width - w.fpr[-1]) * w.inside[-1] / 2 if w.neg[-1] else width - w.fpr[-1]
    height = w.inside * (w.tpr + w.inside * w.pos / pos / 2 - end)
    sides = (length, w.pos, w.pos2, pos, pos2), (height, w.neg, w.neg2, neg, neg2)
    parts = [_about_mean(*side) for side in sides]
    if any(one_row(n) for _, n in parts):
        return Spread(math.nan, math.nan)
    return pooled_spread(*parts)


def _about_mean(
    v: Floats, weight: Floats, squares: Floats, total: float, all_squares: float
) -> tuple[float, float]:
    """Variance of a mean over a class, whose rows beyond the walk count 0; and the class's size."""
    mean = inner(weight, v) / total
    beyond = max(0.0, all_squares - squares.sum().item()) * mean**2
    return (inner(squares, (v - mean) ** 2) + beyond) / total**2, effective(total, all_squares)
