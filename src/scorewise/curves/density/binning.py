"""Values on an even grid: each is shared out to the two nodes beside it (linear binning)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats

_PART = 1 << 16  # values that are binned at a time, which fit a core's cache


@dataclass(frozen=True, eq=False)
class Grid:
    """Even nodes from `low` on, `step` apart, and the share of the values on each; all make 1."""

    low: float
    step: float
    share: Floats

    @property
    def nodes(self) -> Floats:
        """Where the nodes are."""
        return self.low + self.step * np.arange(len(self.share), dtype=np.float64)

    @property
    def length(self) -> float:
        """From the first node to the last."""
        return self.step * (len(self.share) - 1)

    def thinned(self, times: int) -> Grid:
        """The same on every so manieth node; exactly as if the values had been binned there."""
        if times == 1:
            return self
        cells = math.ceil((len(self.share) - 1) / times)
        at = np.arange(len(self.share)) / times
        return Grid(self.low, self.step * times, _shared_out(at, self.share, 0.0, 1.0, cells))

    def padded(self, before: int, after: int) -> Grid:
        """The same with empty nodes before and after."""
        share = np.concatenate((np.zeros(before), self.share, np.zeros(after)))
        return Grid(self.low - before * self.step, self.step, share)

    def spectrum(self) -> Floats:
        """Mean of cos(pi k z) over the values z, counted from 0 to 1 along the grid; k = 0, 1, ...

        They are the Fourier coefficients of the values mirrored at both ends of the grid.
        """
        from scipy.fft import rfft

        coefficients: Floats = rfft(self.mirrored()).real / 2
        return coefficients

    def mirrored(self) -> Floats:
        """Once around the circle that the grid and its mirror image make."""
        ends = self.share[[0, -1]]
        return np.concatenate(
            (2 * ends[:1], self.share[1:-1], 2 * ends[1:], self.share[-2:0:-1]), dtype=np.float64
        )


def binned(x: NDArray[Any], weight: Any, low: float, high: float, cells: int) -> Grid:
    """Values that lie in [low, high] on a grid of so many cells.

    >>> binned(np.array([0.25, 1.0]), None, 0.0, 1.0, 2).share
    array([0.25, 0.25, 0.5 ])
    """
    step = (high - low) / cells
    sums = _shared_out(x, weight, low, step, cells)
    return Grid(low, step, sums / sums.sum())


def _shared_out(x: NDArray[Any], weight: Any, low: float, step: float, cells: int) -> Floats:
    here, next_ = np.zeros(cells + 2), np.zeros(cells + 2)
    room, places = np.empty(min(_PART, len(x))), np.empty(min(_PART, len(x)), np.int64)
    for i in range(0, len(x), _PART):
        part = x[i : i + _PART]
        z, at = room[: len(part)], places[: len(part)]
        np.subtract(part, low, out=z, dtype=np.float64)
        z /= step
        at[:] = z
        z -= at
        if weight is None:
            here += np.bincount(at, minlength=cells + 2)
        else:
            w = weight[i : i + _PART]
            z *= w
            here += np.bincount(at, w, minlength=cells + 2)
        next_ += np.bincount(at, z, minlength=cells + 2)
    here -= next_
    here[1:] += next_[:-1]
    here[cells] += here[cells + 1]  # where rounding put the last value beyond the last node
    return here[: cells + 1]
