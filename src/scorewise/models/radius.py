"""Points at a distance from data, in random directions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.errors import BadInput

Array = NDArray[np.float64]


def at_radius(X: Any, radius: float, n: int = 500, *, random_state: int = 0) -> Array:  # noqa: N803
    """`n` points in random directions from the centre of the rows, at `radius` times their reach.

    Columns are measured in their standard deviations, so that no unit counts more than another; the
    reach is the largest distance of a row from the mean of all. Constant columns stay as they are.

    >>> X = np.array([[0.0, 10.0], [2.0, 30.0], [4.0, 20.0]])
    >>> at_radius(X, 2, n=2).round(1)
    array([[ 5.9, -0.5],
           [ 7.6, 24.6]])
    """
    rows = np.asarray(X, dtype=float)
    if rows.ndim < 2 or not len(rows):
        raise BadInput(f"X has the shape {rows.shape}; it must have rows and columns")
    if not (np.isfinite(radius) and radius >= 0):
        raise BadInput(f"radius is {radius}; it must be a number from 0 up, such as 5")
    flat = rows.reshape(len(rows), -1)
    if missing := int((~np.isfinite(flat)).any(axis=1).sum()):
        raise BadInput(f"X is missing or infinite in {missing:,} rows; leave them out")
    spread = np.where(flat.min(axis=0) < flat.max(axis=0), flat.std(axis=0), 0.0)
    unit = np.where(spread > 0, spread, 1.0)
    centre = flat.mean(axis=0)
    reach = np.sqrt((((flat - centre) / unit) ** 2).sum(axis=1)).max()
    directions = np.random.default_rng(random_state).normal(size=(n, flat.shape[1])) * (spread > 0)
    length = np.sqrt((directions**2).sum(axis=1, keepdims=True))
    directions /= np.where(length > 0, length, 1.0)
    points: Array = centre + radius * reach * directions * spread
    return points.reshape(n, *rows.shape[1:])
