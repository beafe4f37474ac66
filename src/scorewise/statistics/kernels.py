"""Kernels for densities, their widths by rules of thumb, mirrors at edges, and values on even nodes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.checks import one_of

Reflection = tuple[int, float]  # a value v is seen at sign * v + shift
_BLOCK = 1 << 16  # values that are binned at a time, which fit a core's cache
_WIDE = 9.0  # standard deviations beyond which a Gaussian adds less than rounding does


def standard_deviation(s: Floats, share: Floats) -> float:
    """The standard deviation of values s with these shares.

    >>> standard_deviation(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    0.5
    """
    mean = float((share * s).sum())
    return math.sqrt(float((share * (s - mean) ** 2).sum()))


def scott(s: Floats, share: Floats, rows: float) -> float:
    """Scott's rule (1992), best for a normal density: (4 / 3)^(1/5) sd n^(-1/5)."""
    return float((4 / 3 / rows) ** 0.2) * standard_deviation(s, share)


def silverman(s: Floats, share: Floats, rows: float) -> float:
    """Silverman's rule of thumb (1986): 0.9 min(sd, iqr / 1.34) n^(-1/5); values are increasing."""
    wide = standard_deviation(s, share)
    below = share.cumsum()
    first, last = (s[np.searchsorted(below, q * below[-1])] for q in (0.25, 0.75))
    iqr = float(last - first) / 1.34
    return 0.9 * (min(wide, iqr) or wide) * float(rows**-0.2)


@dataclass(frozen=True)
class Kernel:
    """A symmetric bump of area 1 and standard deviation 1, which vanishes beyond its `reach`.

    `pdf` is its height and `below` the area left of a point, at distances in standard deviations.
    """

    name: str
    reach: float
    pdf: Callable[[Floats], Floats]
    below: Callable[[Floats], Floats]


def _bounded(
    name: str, reach: float, height: Callable[[Any], Any], area: Callable[[Any], Any]
) -> Kernel:
    """A kernel known by its height on [-1, 1] and its area from 0 to a point in there."""

    def pdf(z: Floats) -> Floats:
        u = np.abs(z) / reach
        return np.where(u <= 1, height(np.minimum(u, 1.0)), 0.0) / reach

    def below(z: Floats) -> Floats:
        return np.asarray(0.5 + area(np.clip(z / reach, -1.0, 1.0)))

    return Kernel(name, reach, pdf, below)


def _gaussian(z: Floats) -> Floats:
    return np.asarray(np.exp(-z * z / 2) / math.sqrt(2 * math.pi))


def _gaussian_below(z: Floats) -> Floats:
    from scipy.special import ndtr

    return np.asarray(ndtr(z))


GAUSSIAN = Kernel("gaussian", _WIDE, _gaussian, _gaussian_below)
KERNELS = {
    k.name: k
    for k in (
        GAUSSIAN,
        _bounded(
            "epanechnikov",
            math.sqrt(5),
            lambda u: 0.75 * (1 - u * u),
            lambda u: 0.75 * (u - u**3 / 3),
        ),
        _bounded(
            "biweight",
            math.sqrt(7),
            lambda u: 15 / 16 * (1 - u * u) ** 2,
            lambda u: 15 / 16 * (u - 2 * u**3 / 3 + u**5 / 5),
        ),
        _bounded(
            "triweight",
            3.0,
            lambda u: 35 / 32 * (1 - u * u) ** 3,
            lambda u: 35 / 32 * (u - u**3 + 3 * u**5 / 5 - u**7 / 7),
        ),
        _bounded("triangular", math.sqrt(6), lambda u: 1 - u, lambda u: u - u * np.abs(u) / 2),
        _bounded("uniform", math.sqrt(3), lambda u: 0.5 + 0 * u, lambda u: u / 2),
        _bounded(
            "cosine",
            1 / math.sqrt(1 - 8 / math.pi**2),
            lambda u: math.pi / 4 * np.cos(math.pi * u / 2),
            lambda u: np.sin(math.pi * u / 2) / 2,
        ),
    )
}


def kernel_named(name: str) -> Kernel:
    """The kernel of that name.

    >>> kernel_named("uniform").reach.__round__(3)
    1.732
    """
    one_of("kernel", name, tuple(KERNELS))
    return KERNELS[name]


def reflections(support: tuple[float, float], reach: float) -> list[Reflection]:
    """Where edges show a value again: itself, mirrored at each finite edge, and mirrors of mirrors.

    Only images from which a kernel that reaches `reach` still touches the support.

    >>> reflections((0.0, 1.0), 0.4), reflections((0.0, math.inf), 5.0)
    ([(1, 0.0), (-1, 0.0), (-1, 2.0)], [(1, 0.0), (-1, 0.0)])
    """
    low, high = support
    if not math.isfinite(high - low):
        edges = [edge for edge in support if math.isfinite(edge)]
        return [(1, 0.0), *((-1, 2 * edge) for edge in edges)]
    width = high - low
    seen: list[Reflection] = [(1, 0.0), (-1, 2 * low), (-1, 2 * high)]
    for k in range(1, math.ceil(reach / width)):  # k widths away on either side
        if k % 2:
            seen += [(1, (k + 1) * width), (1, -(k + 1) * width)]
        else:
            seen += [(-1, 2 * low - k * width), (-1, 2 * high + k * width)]
    return seen


def kernel_matrix(
    x: Floats,
    s: Floats,
    width: float,
    seen: list[Reflection],
    kernel: Kernel = GAUSSIAN,
    low: float | None = None,
) -> Floats:
    """The kernels of that width at the points x (rows), one for each value s (columns).

    With `low`, their areas between that and the points.
    """
    total = np.zeros((len(x), len(s)))
    for sign, shift in seen:
        at = sign * s + shift
        far = (x[:, None] - at) / width
        if low is None:
            total += kernel.pdf(far) / width
        else:
            total += kernel.below(far) - kernel.below((low - at) / width)
    return total


def linear_binning(x: NDArray[Any], weight: Any, low: float, step: float, cells: int) -> Floats:
    """Weights shared out to the nodes beside each value, of the ends of so many cells from `low` on."""
    here, next_ = np.zeros(cells + 2), np.zeros(cells + 2)
    for i in range(0, len(x), _BLOCK):
        z = x[i : i + _BLOCK].astype(np.float64)
        z -= low
        z /= step
        at, w = z.astype(np.int64), None if weight is None else weight[i : i + _BLOCK]
        z -= at
        here += np.bincount(at, w, cells + 2)
        next_ += np.bincount(at, z if w is None else z * w, cells + 2)
    here -= next_
    here[1:] += next_[:-1]
    here[cells] += here[cells + 1]  # where rounding put the last value beyond the last node
    return here[: cells + 1]
