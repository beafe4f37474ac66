"""Sums of kernels, over each value or by Fourier transform over a grid, and bandwidths from the values.

Values are shared out to the two nodes of an even grid beside them (linear binning). Both rules for the
bandwidth see them through `c[k]`, the mean of cos(pi k z) over values z in [0, 1] that are mirrored at 0
and 1. There a Gaussian of variance t multiplies c[k] by exp(-k^2 pi^2 t / 2), so that norms of the density
and of its derivatives are short sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.tallies.kernels import Image, Kernel, kernel_areas, kernel_rows
from scorewise.tallies.sorting import inner

_PART = 1 << 16  # values that are binned at a time, which fit a core's cache
Terms: TypeAlias = tuple[Floats, Floats, Floats]  # c[k]^2, (pi k)^2 and its logarithm, from k = 1
_STAGES = 5
_SHORTER = 0.8  # step in which a bracket of the root is looked for
_DAMPED = 10.0  # standard deviations in frequency beyond which a term adds nothing
_FINEST = 4.0  # nodes that a bandwidth has to span
_ROOM = 1 << 20  # kernels that are summed at a time
_FINE = 256  # nodes a bandwidth, beyond which a finer grid changes nothing


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


def improved_sheather_jones(c: Floats, rows: float) -> float | None:
    """The bandwidth of Botev, Grotowski and Kroese (2010), or None where their equation has no root.

    A normal reference is nowhere used: each norm of a derivative is estimated with the bandwidth that is
    best for it, which needs the norm of the next derivative, down to the bandwidth itself; it is the
    fixed point t = xi gamma(t).
    """
    k2: Floats = (math.pi * np.arange(1, len(c), dtype=np.float64)) ** 2
    terms: Terms = c[1:] * c[1:], k2, np.log(k2)

    def excess(root: float) -> float:
        t = root * root
        return t - _best_variance(terms, rows, t)

    root = 1.0
    while excess(root) <= 0:
        root *= _SHORTER
        if root < 0.1:
            return None
    return _falling_root(excess, root, _FINEST / (len(c) - 1))


def _falling_root(excess: Callable[[float], float], high: float, least: float) -> float | None:
    while high > least:
        low = _SHORTER * high
        if excess(low) <= 0:
            return _root(excess, low, high)
        high = low
    return None


def _root(f: Callable[[float], float], low: float, high: float) -> float:
    """Where f, which is not above 0 at `low` and above it at `high`, crosses 0, to 1e-10 of the place.

    By secants; the value at an end that stays is halved (the Illinois rule), so that both ends move.

    >>> round(_root(lambda x: x * x - 2, 1.0, 2.0), 9)
    1.414213562
    """
    below, above, last = f(low), f(high), 0
    for _ in range(100):  # it takes about ten
        if not below < 0 or high - low <= 1e-10 * high:
            break
        x = high - above * (high - low) / (above - below)
        value = f(x)
        if value <= 0:
            low, below = x, value
            above = above / 2 if last < 0 else above
        else:
            high, above = x, value
            below = below / 2 if last > 0 else below
        last = -1 if value <= 0 else 1
    return low


def _best_variance(terms: Terms, rows: float, t: float) -> float:
    """The variance of the kernel, xi gamma^[5](t), if t is that for the highest derivative."""
    norm = _norm(terms, _STAGES + 2, t)
    for j in range(_STAGES + 1, 1, -1):
        odd = math.prod(range(1, 2 * j, 2))
        inflation = (1 + 0.5 ** (j + 0.5)) / 3
        t = (inflation * odd / (rows * math.sqrt(math.pi / 2) * norm)) ** (2 / (3 + 2 * j))
        norm = _norm(terms, j, t)
    return float((2 * rows * math.sqrt(math.pi) * norm) ** -0.4)


def _norm(terms: Terms, j: int, t: float) -> float:
    """Integral of the squared j-th derivative of the density with kernels of variance t."""
    squares, k2, log_k2 = (part[: _frequencies(t)] for part in terms)
    return max(2 * inner(squares, np.exp(j * log_k2 - k2 * t)), 1e-300)


def _frequencies(t: float) -> int:
    return int(_DAMPED / (math.pi * math.sqrt(t))) + 1


def cross_validation(c: Floats, rows: float, widest: float) -> float | None:
    """The bandwidth of least-squares cross-validation (Rudemo 1982, Bowman 1984), or None without one.

    It minimises the integral of the squared density less twice its mean at the values, each left out in
    turn. Among the minima below `widest` the deepest; ties alone pull it towards 0, which is none.
    """
    from scipy.optimize import minimize_scalar

    def loss(log_width: float) -> float:
        return _left_out(c, rows, math.exp(2 * log_width))

    least = _FINEST / (len(c) - 1)
    if widest <= least:
        return None
    tried = np.linspace(
        math.log(least), math.log(widest), 1 + math.ceil(math.log(widest / least) / 0.08)
    )
    losses = np.array([loss(w) for w in tried])
    inside = 1 + np.flatnonzero((losses[1:-1] < losses[:-2]) & (losses[1:-1] <= losses[2:]))
    if not len(inside):
        return None
    i = inside[losses[inside].argmin()]
    found = minimize_scalar(
        loss, bounds=(tried[i - 1], tried[i + 1]), method="bounded", options={"xatol": 1e-6}
    )
    return math.exp(found.x)


def _left_out(c: Floats, rows: float, t: float) -> float:
    few = min(len(c) - 1, _frequencies(t / 2))
    k = np.arange(1, few + 1)
    damped = np.exp(-((math.pi * k) ** 2) * t / 2)
    twice = np.zeros(few)
    reach = min(few, (len(c) - 1) // 2)
    twice[:reach] = c[2 : 2 * reach + 1 : 2]
    square = 1 + 2 * float((c[k] ** 2 * damped**2).sum())
    mean = 1 + 2 * float((c[k] ** 2 * damped).sum())
    itself = 1 + float(((1 + twice) * damped).sum())
    return square - 2 * (mean - itself / rows) * rows / (rows - 1)


# What a density is made of: its height at points inside the support, and the area below them.


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
        return self._summed(kernel_rows, x)

    def areas(self, x: Floats) -> Floats:
        """The share of the density below them."""
        low = max(self.low, float(self.s.min()) - 2 * self.kernel.reach * self.width)
        return np.minimum(self._summed(kernel_areas, x, low), 1.0)

    def _summed(self, rows: Callable[..., Floats], x: Floats, *low: float) -> Floats:
        parts = np.array_split(x, max(1, math.ceil(len(x) * len(self.s) / _ROOM)))
        each = (rows(part, self.s, self.width, self.seen, self.kernel, *low) for part in parts)
        return np.concatenate([(part * self.share).sum(1) for part in each])


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


Sums: TypeAlias = Direct | Gridded


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
