"""Area under part of the ROC curve, and its variance."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.tallies import Tally
from scorewise.tallies.sorting import inner


class _Walk(NamedTuple):
    """The cells from the best end to where the false positive rate passes `width`."""

    neg: NDArray[np.float64]
    pos: NDArray[np.float64]
    neg2: NDArray[np.float64]
    pos2: NDArray[np.float64]
    fpr: NDArray[np.float64]  # before each cell
    tpr: NDArray[np.float64]
    inside: NDArray[np.float64]  # share of the cell before `width`


def _walk(t: Tally, width: float, across: bool) -> tuple[_Walk, float, float]:
    """The walk, and the weights of negatives and positives.

    Across, the curve is walked from its other end: positives from the lowest score up play the
    negatives, and the true positive rate the false positive rate.
    """
    columns = t.neg, t.pos, t.neg2, t.pos2
    total = t.negatives, t.positives
    if across:
        columns, total = (t.pos, t.neg, t.pos2, t.neg2), (total[1], total[0])
    else:
        columns = tuple(c[::-1] for c in columns)
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
    return inner(run, w.tpr + w.inside * w.pos / pos / 2)


def partial_variance(t: Tally, width: float, across: bool = False) -> float:
    """Variance of that area: DeLong's, with the score at the boundary estimated too.

    A positive counts with the length of the part that lies behind it, a negative with its height above
    or below the curve's end; both are centred on their means. NaN when a class has a single row.
    """
    w, neg, pos = _walk(t, width, across)
    end = w.tpr[-1] + w.inside[-1] * w.pos[-1] / pos
    length = np.clip(width - w.fpr - w.neg / neg / 2, 0.0, None)
    length[-1] = (width - w.fpr[-1]) * w.inside[-1] / 2 if w.neg[-1] else width - w.fpr[-1]
    height = w.inside * (w.tpr + w.inside * w.pos / pos / 2 - end)
    return _spread(length, w.pos, w.pos2, pos, t.neg2.sum() if across else t.pos2.sum()) + _spread(
        height, w.neg, w.neg2, neg, t.pos2.sum() if across else t.neg2.sum()
    )


def _spread(
    v: NDArray[np.float64],
    weight: NDArray[np.float64],
    squares: NDArray[np.float64],
    total: float,
    all_squares: float,
) -> float:
    """Variance of a mean over a class, whose rows beyond the walk count 0."""
    n = total**2 / all_squares
    if n <= 1:
        return math.nan
    mean = inner(weight, v) / total
    beyond = max(0.0, all_squares - squares.sum()) * mean**2
    return float((inner(squares, (v - mean) ** 2) + beyond) / total**2 * n / (n - 1))
