"""Bandwidths found from the values themselves, with Gaussian kernels on binned data.

Both rules see the values through `c[k]`, the mean of cos(pi k z) over values z in [0, 1] that are mirrored
at 0 and 1. There a Gaussian of variance t multiplies c[k] by exp(-k^2 pi^2 t / 2), so that norms of the
density and of its derivatives are short sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from scorewise.arrays import Floats
from scorewise.tallies.sorting import inner

Terms: TypeAlias = tuple[Floats, Floats, Floats]  # c[k]^2, (pi k)^2 and its logarithm, from k = 1
_STAGES = 5
_SHORTER = 0.8  # step in which a bracket of the root is looked for
_DAMPED = 10.0  # standard deviations in frequency beyond which a term adds nothing
_FINEST = 4.0  # nodes that a bandwidth has to span


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
    from scipy.optimize import brentq

    while high > least:
        low = _SHORTER * high
        if excess(low) <= 0:
            return float(brentq(excess, low, high, rtol=1e-10))
        high = low
    return None


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
