"""smECE as relplot computes it: on its grids, to the tenth halving of the width."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.tallies.chances import Chances

_LEAST = 1e-3  # the width below which relplot does not look
_DENSITY = 1e-4  # what relplot adds to the density of rows


def smooth_error(c: Chances) -> float:
    """The total size of the smoothed gaps at the last width above the fixed point, of ten halvings.

    Unlike `smoothed_gaps`, the Gaussian ends at 0.5 from its middle, and the result may lie some
    thousandths below the fixed point.
    """
    above, below = 1.0, 0.0
    if _size(c, above) > above:
        return _size(c, above)
    for _ in range(10):
        middle = (above + below) / 2
        if middle < _LEAST or middle < _size(c, middle):
            below = middle
        else:
            above = middle
    return _size(c, above)


def _size(c: Chances, width: float) -> float:
    points = max(2000, round(20 / width)) // 2 + 1
    at = np.linspace(0.0, 1.0, points)
    kernel = np.exp(-((at - 0.5) ** 2) / (2 * width * width))
    kernel /= np.sqrt(2 * np.pi) * width
    mesh = np.linspace(0.0, 1.0, max(round(10 / width), 200))
    gap, mass = (np.interp(mesh, at, _smoothed(c, x, kernel)) for x in (c.gap, c.weight))
    return float(np.abs(gap).sum() / (mass + _DENSITY).sum())


def _smoothed(c: Chances, amount: Floats, kernel: Floats) -> Floats:
    """Amounts dealt linearly to the points of a grid, and smoothed with reflecting ends."""
    from scipy.signal import fftconvolve

    points = len(kernel)
    place = c.p * (points - 1)
    left = np.clip(place.astype(np.int64), 0, points - 2)
    right = place - left
    values = np.bincount(left, amount * (1 - right), points)
    values += np.bincount(left + 1, amount * right, points)
    reflected = np.concatenate([values[:0:-1], values, values[-2::-1]])
    smoothed: Floats = fftconvolve(reflected, kernel, "valid")[points // 2 :][:points]
    return smoothed
