"""Intervals for formulas of a table of decisions on several classes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from scorewise.intervals.scales import Scale, effective, wald
from scorewise.intervals.shares import Share, wilson
from scorewise.tallies import Confusion

Floats = NDArray[np.float64]
# a table (true class by decision) -> the value, and its slope in each cell
Sloped = Callable[[Floats], tuple[float, Floats]]
SMOOTHING = 2.0  # rows spread evenly over all cells: half a row in each of four


def mean_share(hit: Floats, miss: Floats, squares: Floats, level: float) -> Share:
    """The mean of independent shares hit / (hit + miss), with a Wilson interval.

    The interval is that of one share of as many rows as would be as uncertain. For this alone each
    share is drawn towards the mean by one row, because a class of few rows that are all right (or all
    wrong) is not certain. `squares` are the sums of squared weights of each class.

    >>> ones = np.array([9.0, 9.0])
    >>> [round(x, 3) for x in mean_share(ones, np.array([1.0, 1.0]), np.array([10.0, 10.0]), 0.95)]
    [0.9, 0.699, 0.972]
    """
    total = hit + miss
    share, rows = hit / total, total * (total / squares)
    mean, rest = float(share.mean()), float((miss / total).mean())
    drawn = (share * rows + mean) / (rows + 1)
    spread = float((drawn * (1 - drawn) / rows).sum()) / len(share) ** 2
    # where all shares are 0 or 1 the rows are those of equal shares in between
    even = len(share) ** 2 / float((1 / rows).sum())
    return _share(mean, rest, spread, even, level)


def delta_share(f: Sloped, c: Confusion, level: float, lost: int = 0) -> Share:
    """A formula between 0 and 1 with a Wilson interval, of as many rows as would be as uncertain.

    That is by the delta method, for rows drawn at random with their decisions, on a table over which two
    rows are spread evenly. `lost` are the rows that are used up by other estimates, one for each class.
    """
    table, squares = _used(c)
    value, _ = f(table)
    rows = effective(float(table.sum()), float(squares.sum()))
    _, error = _error(f, *_smoothed(table, squares))
    # one row at least is left over
    variance = error**2 * rows / max(rows - lost, 1.0)
    value = min(max(value, 0.0), 1.0)  # rounding may lead a hair beyond
    return _share(value, 1 - value, variance, rows, level)


def _share(value: float, rest: float, variance: float, rows: float, level: float) -> Share:
    """Wilson's interval for a share of that variance; of so many rows, where that says nothing."""
    n = value * rest / variance if value * rest and variance else rows
    _, low, high = wilson(value * n, rest * n, value * n, rest * n, level)
    return Share(value, low, high)


def class_delta(f: Sloped, c: Confusion, level: float, scale: Scale) -> tuple[float, float]:
    """Interval of a formula by the delta method, for rows drawn at random with their decisions.

    Two rows of mean weight are first spread evenly over the cells of those classes that occur or are
    called, where the slope says nothing or, on a transformed scale, where a cell is empty.
    """
    table, squares = _used(c)
    value, error = _error(f, table, squares)
    if error < 1e-12 or (scale != "identity" and (table == 0).any()):
        value, error = _error(f, *_smoothed(table, squares))
    return wald(value, error, level, scale)


def occurring_or_called(c: Confusion) -> NDArray[np.bool_]:
    """The classes of which there is a row in truth or in the decisions."""
    used: NDArray[np.bool_] = (c.weight.sum(0) + c.weight.sum(1)) > 0
    return used


def _used(c: Confusion) -> tuple[Floats, Floats]:
    """Weights and squared weights of those classes, in a unit near 1."""
    used = occurring_or_called(c)
    at = np.ix_(used, used)
    return (c.weight[at] * c.scale).astype(float), (c.weight2[at] * c.scale**2).astype(float)


def _smoothed(table: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """The same with two rows of mean weight spread evenly over the cells."""
    mean, each = squares.sum() / table.sum(), SMOOTHING / table.size
    return table + mean * each, squares + mean**2 * each


def _error(f: Sloped, table: Floats, squares: Floats) -> tuple[float, float]:
    value, slope = f(table)
    return value, math.sqrt(float((squares * slope * slope).sum()))
