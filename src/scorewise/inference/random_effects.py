"""What estimates of several places have in common, and how far a new place may be from it.

Each place has a true value of its own, normal around a mean with variance tau^2, which is estimated by
restricted likelihood (REML). The interval of the mean is that of Hartung and Knapp (2001). The prediction
interval knows that tau^2 is an estimate, too, often 0 where it is not: it is drawn from its confidence
distribution (Nagashima, Noma and Furukawa 2019), which that of Q under normal effects gives.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.inference.scales import student

STEPS = 200
DRAWS = 10_000  # of a new place
GRID = 200  # values of tau^2 at which Q is computed


class Pooled(NamedTuple):
    """A mean with its limits, those of a new place, and how much places differ."""

    value: float
    low: float
    high: float
    new_low: float
    new_high: float
    tau2: float
    i2: float
    q: float


def between(values: Floats, variances: Floats) -> float:
    """tau^2 by restricted likelihood: Fisher scoring from the estimate of DerSimonian and Laird (1986).

    >>> round(between(np.array([0.1, 0.5, 0.9]), np.full(3, 0.01)), 6)
    0.15
    """
    weight = 1 / variances
    total = weight.sum()
    q = float((weight * (values - (weight * values).sum() / total) ** 2).sum())
    free = float(total - (weight**2).sum() / total)
    tau2 = max((q - len(values) + 1) / free, 0.0)
    scale = float(values.var()) + float(variances.mean())
    for _ in range(STEPS):
        w = 1 / (variances + tau2)
        mean = (w * values).sum() / w.sum()
        # P = W - W 1 1' W / 1' W 1: what is left of the values beside their mean
        trace = float(w.sum() - (w**2).sum() / w.sum())
        square = float((w**2).sum() - 2 * (w**3).sum() / w.sum() + ((w**2).sum() / w.sum()) ** 2)
        step = (float(((w * (values - mean)) ** 2).sum()) - trace) / square
        new = max(tau2 + step, 0.0)
        if abs(new - tau2) <= 1e-12 * scale:
            return new
        tau2 = new
    return tau2


def pooled(values: Floats, variances: Floats, level: float) -> Pooled:
    """The mean of three or more estimates under random effects, and where a new one may be.

    I^2 is the share of tau^2 in the variance of a typical estimate (Higgins and Thompson 2002); Q is
    Cochran's.

    >>> found = pooled(np.array([0.2, 0.4, 0.9, 0.5]), np.array([0.01, 0.02, 0.02, 0.01]), 0.95)
    >>> [round(x, 3) for x in found]
    [0.491, 0.027, 0.955, -0.568, 1.498, 0.069, 0.833, 16.75]
    """
    many, tau2 = len(values), between(values, variances)
    fixed, weight = 1 / variances, 1 / (variances + tau2)
    q = float((fixed * (values - (fixed * values).sum() / fixed.sum()) ** 2).sum())
    mean = float((weight * values).sum() / weight.sum())
    square = float((weight * (values - mean) ** 2).sum()) / (many - 1) / float(weight.sum())
    typical = (many - 1) * float(fixed.sum()) / float(fixed.sum() ** 2 - (fixed**2).sum())
    half = student(level, many - 1) * math.sqrt(square)
    new = np.quantile(_drawn(values, variances), [(1 - level) / 2, (1 + level) / 2])
    low, high = min(float(new[0]), mean - half), max(float(new[1]), mean + half)
    return Pooled(mean, mean - half, mean + half, low, high, tau2, tau2 / (tau2 + typical), q)


def _drawn(values: Floats, variances: Floats) -> Floats:
    """True values of a new place, drawn with fixed seed: the mean, Student's error of it, and tau."""
    wanted, t, normal = _chances(len(values) - 1)  # Q falls as tau^2 rises
    most = float(((values - values.mean()) ** 2).sum()) / float(wanted.min())
    tau2 = np.append(0.0, np.geomspace(1e-6 * (variances.min() + 1e-9 * most), most, GRID))
    few = max(1, (1 << 20) // len(values))  # of many places not all at once
    parts = [_at(values, variances, tau2[i : i + few]) for i in range(0, len(tau2), few)]
    q, mean, error = np.concatenate(parts, axis=1)
    at = np.interp(-wanted, -q, np.arange(len(q)))
    means, errors, spread = (np.interp(at, np.arange(len(q)), x) for x in (mean, error, tau2**0.5))
    found: Floats = means + errors * t + spread * normal
    return found


@lru_cache(8)
def _chances(free: int) -> tuple[Floats, Floats, Floats]:
    """Draws with fixed seed of chi-square, in even steps of its chance, of Student's t and the normal."""
    from scipy.special import chdtri

    rng = np.random.default_rng(0)
    steps = (rng.permutation(DRAWS) + 0.5) / DRAWS
    return chdtri(free, steps), rng.standard_t(free, DRAWS), rng.standard_normal(DRAWS)


def _at(values: Floats, variances: Floats, tau2: Floats) -> Floats:
    """Q, the mean and its standard error (Hartung and Knapp) if tau^2 is so large."""
    w = 1 / (variances + tau2[:, None])
    whole = w.sum(1)
    mean = (w * values).sum(1) / whole
    q = (w * (values - mean[:, None]) ** 2).sum(1)
    return np.stack([q, mean, np.sqrt(q / (len(values) - 1) / whole)])
