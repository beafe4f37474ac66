"""Intervals for formulas of a two-by-two table."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.intervals.scales import Scale, wald
from scorewise.tallies import Confusion

Formula = Callable[[Any, Any, Any, Any], Any]


def delta(f: Formula, c: Confusion, level: float, scale: Scale) -> tuple[float, float]:
    """Interval of a formula by the delta method, for rows drawn at random with their decisions.

    The gradient is taken by a complex step, which is exact. Where the formula's slope says too little
    (an empty cell on a transformed scale, or no slope at all) half a row of mean weight is put into
    each cell, for the interval alone. Of weighted rows the error is the larger one: by the weights of each
    cell, or as if these differed within a class by chance alone.
    """
    table, squares = c.table * c.scale, np.stack([c.squares, c.evened]) * c.scale**2
    if scale != "identity" and (table == 0).any():
        return wald(*_with_half_rows(f, table, squares), level, scale)
    se = _error(f, table, squares)
    if se < 1e-12:  # no slope, up to rounding
        return wald(*_with_half_rows(f, table, squares), level, scale)
    return wald(float(f(*table)), se, level, scale)


def _error(f: Formula, table: NDArray[np.float64], squares: NDArray[np.float64]) -> float:
    return math.sqrt(float((squares @ gradient(f, table) ** 2).max()))


def _with_half_rows(
    f: Formula, table: NDArray[np.float64], squares: NDArray[np.float64]
) -> tuple[float, float]:
    mean = squares[0].sum() / table.sum()
    table, squares = table + mean / 2, squares + mean**2 / 2
    return float(f(*table)), _error(f, table, squares)


def gradient(f: Formula, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The slope of a formula in each cell.

    >>> gradient(lambda tp, fp, fn, tn: tp / (tp + fn), np.array([1.0, 0.0, 1.0, 0.0]))
    array([ 0.25,  0.  , -0.25,  0.  ])
    """
    step = 1e-30 * table.sum()
    return np.array([f(*(table + 1j * step * axis)).imag / step for axis in np.eye(4)])


def corners(c: Confusion) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The worst and the best table that the doubt of a coarse tally allows."""
    neg, pos = c.doubt[0] / 2, c.doubt[1] / 2
    slack = np.array([pos, -neg, -pos, neg])
    return c.table - slack, c.table + slack
