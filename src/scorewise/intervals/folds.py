"""Cross-fitting by cells: rows dealt out to folds, and losses compared row by row."""

from __future__ import annotations

import math

import numpy as np

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.intervals.scales import effective, one_row, wald


def dealt(
    weight: Floats, square: Floats, folds: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The weights of cells and their squares, each row dealt to one of the folds (fold by cell).

    Rows of one cell and class are alike, so that it is enough to draw how many of them go to each fold:
    the order of the rows does not matter. Weighted rows of one cell are dealt out as if each had their
    mean weight.

    >>> dealt(np.array([4.0, 1.0]), np.array([4.0, 1.0]), 2, np.random.default_rng(0))[0]
    array([[2., 0.],
           [2., 1.]])
    """
    safe = np.where(square > 0, square, 1.0)
    rows = np.maximum(np.rint(weight * weight / safe), weight > 0).astype(np.int64)
    drawn = rng.multinomial(rows, np.full(folds, 1 / folds)).T
    share = drawn / np.maximum(rows, 1)
    return share * weight, share * square


def others(weight: Floats) -> Floats:
    """The weights of all folds but each one."""
    total = weight.sum(0)
    rest = total - weight
    # what is left after a difference of equal sums is no weight
    return np.where(rest > 1e-12 * total, rest, 0.0)


def mean_gap(gap: Floats, weight: Floats, square: Floats, level: float) -> Estimate:
    """The mean of paired differences of rows, with its normal interval."""
    total = float(weight.sum())
    n = effective(total, float(square.sum()))
    mean = float((weight * gap).sum() / total)
    if one_row(n):
        return Estimate(mean, level=level, method="none: a single row", baseline=0.0)
    variance = float((square * (gap - mean) ** 2).sum() / total**2) * n / (n - 1)
    if variance <= 1e-26:
        return Estimate(mean, mean, mean, level, "none: no row differs", "", 0.0, 0.0)
    low, high = wald(mean, math.sqrt(variance), level, "identity")
    return Estimate(mean, low, high, level, "normal, paired", "", 0.0, 0.0)
