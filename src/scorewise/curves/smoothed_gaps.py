"""Gaps between labels and probabilities smoothed by the reflected Gaussian, and their total size.

On [0, 1] with reflecting ends the Gaussian is diagonal in cosines: a cosine of k half turns shrinks by
exp(-(pi k width)^2 / 2). So gaps are dealt to the points of a grid, and one cosine transform serves
all widths.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.tallies.probabilities import Chances
from scorewise.tallies.sorting import first_of_runs

Spread = Callable[[Floats], Floats]
POINTS = 3465  # their middles are edges of the fixed grid, so that no cell lies across one
_MOST, _FEW = 512, 64  # points for replicates, and cells that keep their places among these
REACH = 0.8  # a row moved by d changes the total size at width s by less than REACH d / s
_LEAST = 1e-3  # the width below which relplot does not look
_DENSITY = 1e-4  # what relplot adds to the density of rows


def on_grid(c: Chances, points: int = POINTS) -> Floats:
    """The gaps, as shares of the whole, dealt linearly to the middles of equal cells."""
    # the first and the last half cell reflect into the grid
    return _dealt(np.clip(c.p * points - 0.5, 0.0, points - 1.0), c.gap / c.total, points)


def _dealt(place: Floats, amount: Floats, points: int) -> Floats:
    """Amounts dealt linearly to the two points beside their places."""
    left = np.clip(place.astype(np.int64), 0, points - 2)
    right = place - left
    near, far = (np.bincount(left + k, amount * w, points) for k, w in ((0, 1 - right), (1, right)))
    dealt: Floats = np.add(near, far, dtype=np.float64)
    return dealt


def sizes(gaps: Floats) -> Callable[[Any], Floats]:
    """The total size of gaps on a grid (the last axis) after smoothing, as a function of the width.

    That is a number, or one for each row of gaps.

    >>> gaps = np.array([[0.0, 0.2, -0.2, 0.0]])
    >>> size = sizes(gaps)
    >>> size(1e-9).round(3), size(0.2).round(3), size(1.0).round(3)
    (array([0.4]), array([0.198]), array([0.001]))
    """
    from scipy.fft import dct, idct

    points = gaps.shape[-1]
    waves = dct(gaps, axis=-1, norm="ortho")
    turns = (np.pi * np.arange(points)) ** 2 / 2

    def size(width: Any) -> Floats:
        each = np.asarray(width)[..., None]
        shrunk = waves * np.exp(-turns * each * each)
        total: Floats = np.abs(idct(shrunk, axis=-1, norm="ortho", overwrite_x=True)).sum(-1)
        return total

    return size


def fixed_widths(gaps: Floats, within: float = 1e-14) -> Floats:
    """For each row of gaps on a grid, the width at which the total size equals it; 0 where none is left.

    >>> fixed_widths(np.array([[0.0, 0.2, -0.2, 0.0], [0.0, 0.0, 0.0, 0.0]])).round(4)
    array([0.199, 0.   ])
    """
    size, narrow = sizes(gaps), 1e-9
    # the size falls as the width grows: from that at the least width to that at the largest
    most, least = size(narrow), size(1.0)
    low, high = np.maximum(narrow, least), np.minimum(1.0, most)
    at_low, at_high = size(low) - low, size(high) - high
    found: Floats = np.where(at_low <= 0, low, high)
    found[most <= narrow] = 0.0
    going = (most > narrow) & (at_low > 0) & (at_high < 0)
    for _ in range(60):
        if not going.any():
            break
        # the Illinois variant of false position
        way = np.where(going, at_high - at_low, 1.0)
        found = np.where(going, low - at_low * (high - low) / way, found)
        at = size(found) - found
        going &= (np.abs(at) >= within) & (high - low >= 10 * within)
        up, down = going & (at > 0), going & (at <= 0)
        at_low, at_high = (
            np.where(up, at, np.where(down, at_low / 2, at_low)),
            np.where(down, at, np.where(up, at_high / 2, at_high)),
        )
        low, high = np.where(up, found, low), np.where(down, found, high)
    return found


def rough_widths(gaps: Floats) -> Floats:
    """The same, straight between nine widths: for replicates."""
    size = sizes(gaps)
    low: Floats = np.maximum(np.abs(gaps.sum(-1)), 1e-9)
    top = float(np.abs(gaps).sum(-1).max())
    if top <= low.min():
        return low
    # the size falls as the width grows, so the widths are between these ends
    widths = np.geomspace(max(float(low.min()), top / 64), top, 9)
    beyond = np.stack([size(w) - w for w in widths], axis=-1)
    at = np.clip((beyond > 0).sum(-1), 1, len(widths) - 1)
    a, b = (np.take_along_axis(beyond, (at + k)[:, None], -1)[:, 0] for k in (-1, 0))
    share = np.clip(np.divide(a, a - b, out=np.zeros(len(a)), where=a != b), 0.0, 1.0)
    found: Floats = widths[at - 1] + share * (widths[at] - widths[at - 1])
    return found


def few_cells(c: Chances, width: float) -> tuple[Chances, Spread]:
    """Cells for replicates, and how their gaps are put on a grid.

    Up to 64 cells stay as they are, each dealt to the two points beside it: gaps that nearly cancel
    depend on where they are. More are joined to equal cells half a width across, at most 512.
    """
    if len(c) <= _FEW:
        place = np.clip(c.p * _MOST - 0.5, 0.0, _MOST - 1.0)
        share = np.maximum(1 - np.abs(place[:, None] - np.arange(_MOST)), 0.0)
        return c, lambda gaps: gaps @ share
    points = int(np.clip(np.ceil(2 / max(width, 1e-3)), 48, _MOST))
    few = c.joined(first_of_runs(_cell(c.p, points)))
    at = _cell(few.p, points)

    def spread(gaps: Floats) -> Floats:
        if len(at) == points:
            return gaps
        full = np.zeros((*gaps.shape[:-1], points))
        full[..., at] = gaps
        return full

    return few, spread


def _cell(p: Floats, points: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.clip((p * points).astype(np.int64), 0, points - 1)


def smooth_error(c: Chances) -> float:
    """The total size of the smoothed gaps at the last width above the fixed point, of ten halvings.

    Unlike `smoothed_gaps`, the Gaussian ends at 0.5 from its middle, the result may lie some
    thousandths below the fixed point, and what lies at 0 or 1 counts only half.
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
    values = _dealt(c.p * (points - 1), amount, points)
    reflected = np.concatenate([values[:0:-1], values, values[-2::-1]])
    smoothed: Floats = fftconvolve(reflected, kernel, "valid")[points // 2 :][:points]
    return smoothed
