"""Isotonic regression of shares: pool adjacent violators, all of them at once.

scipy has it too, but its module takes longer to import than a million rows to pool.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scorewise.arrays import Ints

_PASSES = 64  # of which data take about 20; what still needs more is left to scipy


def pooled_runs(neg: Any, pos: Any, row: Ints | None = None) -> Ints:
    """The first cell of each run that the isotonic fit of pos / (neg + pos) gives one value.

    Runs do not cross from one `row`, an ascending number of each cell, to the next.

    >>> pooled_runs(np.array([1, 0, 1, 0]), np.array([0, 1, 0, 1]))
    array([0, 1, 3])
    """
    weight, up = (np.asarray(x, np.float64) for x in (neg + pos, pos))
    start = np.arange(len(weight))
    for _ in range(_PASSES):
        share = up / weight
        begins = np.ones(len(share), np.bool_)
        # neighbours that do not ascend have one value in the fit, and so have whole descents
        np.less(share[:-1], share[1:], out=begins[1:])
        if row is not None:
            begins[1:] |= row[1:] != row[:-1]
        if begins.all():
            return start
        at = np.flatnonzero(begins)
        start, row = start[at], None if row is None else row[at]
        weight, up = np.add.reduceat(weight, at), np.add.reduceat(up, at)
    from scipy.optimize import isotonic_regression

    # each row two higher than the last: no run crosses from one row to the next
    lifted = up / weight + (0.0 if row is None else 2.0 * row)
    return start[np.asarray(isotonic_regression(lifted, weights=weight).blocks[:-1], np.int64)]
