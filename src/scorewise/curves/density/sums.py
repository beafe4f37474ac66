"""Sums of kernels: over each value, or where values are many, by Fourier transform over a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.density.binning import Grid
from scorewise.tallies.kernels import Image, Kernel, kernel_areas, kernel_rows

_ROOM = 1 << 20  # kernels that are summed at a time
_FINE = 256  # nodes a bandwidth, beyond which a finer grid changes nothing


class Sums(Protocol):
    """What a density is made of: its height at any points, and the area below them."""

    def heights(self, x: Floats) -> Floats:
        """The density at points inside the support."""

    def areas(self, x: Floats) -> Floats:
        """The share of the density below them."""


@dataclass(frozen=True, eq=False)
class Direct:
    """One kernel for each value and each of its images."""

    s: Floats
    share: Floats
    width: float
    kernel: Kernel
    seen: list[Image]
    low: float

    def heights(self, x: Floats) -> Floats:
        """The density at points inside the support."""
        parts = []
        for part in self._parts(x):
            each = kernel_rows(part, self.s, self.width, self.seen, self.kernel)
            parts.append((each * self.share).sum(1))
        return np.concatenate(parts)

    def areas(self, x: Floats) -> Floats:
        """The share of the density below them."""
        low = max(self.low, float(self.s.min()) - 2 * self.kernel.reach * self.width)
        parts = []
        for part in self._parts(x):
            each = kernel_areas(part, self.s, self.width, self.seen, self.kernel, low)
            parts.append((each * self.share).sum(1))
        areas: Floats = np.minimum(np.concatenate(parts), 1.0)
        return areas

    def _parts(self, x: Floats) -> list[Floats]:
        return np.array_split(x, max(1, math.ceil(len(x) * len(self.s) / _ROOM)))


@dataclass(frozen=True, eq=False)
class Gridded:
    """The density on even nodes, straight between them; its area by trapezoids is 1."""

    x: Floats
    y: Floats

    def heights(self, x: Floats) -> Floats:
        """The density at points inside the support."""
        return np.interp(x, self.x, self.y, left=0.0, right=0.0)

    def areas(self, x: Floats) -> Floats:
        """The share of the density below them."""
        return np.interp(x, self.x, self._below)

    @cached_property
    def _below(self) -> Floats:
        below = np.concatenate(([0.0], (self.y[1:] + self.y[:-1]).cumsum()))
        shares: Floats = below / below[-1]
        return shares


def smoothed(grid: Grid, width: float, kernel: Kernel, open_ends: tuple[bool, bool]) -> Gridded:
    """The density of binned values, mirrored at the ends of the grid; open ends are first moved away."""
    from scipy.fft import irfft, rfft

    times = 2 ** max(0, math.floor(math.log2(width / (_FINE * grid.step))))
    coarse = grid.thinned(times)
    room = math.ceil(kernel.reach * width / coarse.step) + 1
    first, last = np.flatnonzero(coarse.share)[[0, -1]]
    before, after = room - first, room - (len(coarse.share) - 1 - last)
    coarse = coarse.padded(
        max(0, before) if open_ends[0] else 0, max(0, after) if open_ends[1] else 0
    )
    around = coarse.mirrored()
    weights = _wrapped(kernel, coarse.step / width, room, len(around))
    y = irfft(rfft(around) * rfft(weights), len(around))[: len(coarse.share)] / coarse.step
    return Gridded(coarse.nodes, np.maximum(y, 0.0))


def _wrapped(kernel: Kernel, step: float, room: int, around: int) -> Floats:
    """The kernel's area around each node, laid once or several times around the circle."""
    edges = kernel.below(-(np.arange(room + 2, dtype=np.float64) - 0.5) * step)
    side = edges[:-1] - edges[1:]
    at = np.arange(-room, room + 1)
    around_it: Floats = np.bincount(
        at % around, np.concatenate((side[:0:-1], side)), minlength=around
    ).astype(np.float64)
    return around_it
