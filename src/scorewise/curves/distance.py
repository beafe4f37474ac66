"""How far two curves are apart."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.thresholds import Curve


def distance(a: Curve, b: Curve) -> float:
    """The area between two rising curves on [0, 1]: the mean of their vertical distances.

    >>> diagonal = Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([np.inf, 0.0]))
    >>> corner = Curve(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0]), np.array([np.inf, 1.0, 0.0]))
    >>> distance(diagonal, corner)
    0.5
    """
    x = np.unique(np.concatenate((a.x, b.x)))
    # upright parts have two heights at one x: from the left and from the right
    starts, ends = ((heights(a, x, side) - heights(b, x, side)) for side in ("right", "left"))
    left, right, step = starts[:-1], ends[1:], np.diff(x)
    size = np.abs(left) + np.abs(right)
    crossing = left * right < 0
    with np.errstate(invalid="ignore"):
        # two triangles, where the curves cross on the way
        area = np.where(crossing, (left**2 + right**2) / np.where(size > 0, size, 1.0), size)
    return float((step * area).sum() / 2)


def heights(curve: Curve, x: Floats, side: str) -> Floats:
    """The heights of a rising curve at x; on upright parts the top ("right") or the foot ("left")."""
    if side == "right":
        at = np.searchsorted(curve.x, x, side="right") - 1
        last = np.minimum(at + 1, len(curve.x) - 1)
        return _between(curve, at, last, x)
    at = np.searchsorted(curve.x, x, side="left")
    at = np.minimum(at, len(curve.x) - 1)
    return _between(curve, np.maximum(at - 1, 0), at, x)


def _between(curve: Curve, first: np.ndarray, last: np.ndarray, x: Floats) -> Floats:
    across = curve.x[last] - curve.x[first]
    share = np.where(across > 0, (x - curve.x[first]) / np.where(across > 0, across, 1.0), 0.0)
    exact = np.where(x == curve.x[last], 1.0, share)
    low, high = curve.y[first], curve.y[last]
    rise: Floats = low + (high - low) * np.where(across > 0, exact, 0.0)
    return rise
