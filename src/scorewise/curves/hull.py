"""The convex hull of the ROC curve, which is isotonic regression of the labels on the scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorewise.tallies import Tally
from scorewise.tallies.once import once
from scorewise.tallies.sorting import Numbers, add_runs

_PART = 1 << 16


@once
def pooled(t: Tally) -> NDArray[np.int64]:
    """The first cell of each run of cells that the hull joins, from the lowest score up.

    Within a run the isotonic fit (pool adjacent violators) is constant: pos / (pos + neg), the slope of
    the hull read as a posterior. Parts are pooled first and then their runs, which is the same and
    keeps memory small.

    >>> t = Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    >>> pooled(t)
    array([0, 1, 3])
    """
    starts = [
        i + pool(t.neg[i : i + _PART], t.pos[i : i + _PART]) for i in range(0, len(t.score), _PART)
    ]
    if not starts:
        return np.empty(0, np.int64)
    start = np.concatenate(starts)
    if len(starts) == 1:
        return start
    return start[pool(add_runs(t.neg, start), add_runs(t.pos, start))]


def calibrated(t: Tally) -> NDArray[np.float64]:
    """The calibrated score of each cell: the slope of the hull there, read as the share of positives.

    This is the isotonic regression of the labels on the scores.

    >>> calibrated(Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]))
    array([0. , 0.5, 0.5, 1. ])
    """
    start = pooled(t)
    neg, pos = (add_runs(w, start) for w in (t.neg, t.pos))
    return np.repeat(pos / (neg + pos), np.diff(start, append=len(t.score)))


def pool(neg: Numbers, pos: Numbers) -> NDArray[np.int64]:
    """The same for arrays of weights that lie in memory."""
    from scipy.optimize import isotonic_regression

    weight = (neg + pos).astype(np.float64)
    runs = isotonic_regression(pos / weight, weights=weight).blocks
    return np.asarray(runs[:-1], np.int64)
