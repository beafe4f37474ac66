"""What estimates of several places have in common, and how far a new place may be from it.

Each place has a true value of its own, normal around a mean with variance tau^2, which is estimated by
restricted likelihood (REML). The interval of the mean is that of Hartung and Knapp (2001), the prediction
interval that of Higgins, Thompson and Spiegelhalter (2009), with Student's quantile of k - 2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from scorewise.arrays import Floats
from scorewise.inference.scales import student

STEPS = 200


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

    >>> import numpy as np
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

    >>> import numpy as np
    >>> found = pooled(np.array([0.2, 0.4, 0.9, 0.5]), np.array([0.01, 0.02, 0.02, 0.01]), 0.95)
    >>> [round(x, 3) for x in found]
    [0.491, 0.027, 0.955, -0.801, 1.783, 0.069, 0.833, 16.75]
    """
    many, tau2 = len(values), between(values, variances)
    fixed, weight = 1 / variances, 1 / (variances + tau2)
    q = float((fixed * (values - (fixed * values).sum() / fixed.sum()) ** 2).sum())
    mean = float((weight * values).sum() / weight.sum())
    square = float((weight * (values - mean) ** 2).sum()) / (many - 1) / float(weight.sum())
    typical = (many - 1) * float(fixed.sum()) / float(fixed.sum() ** 2 - (fixed**2).sum())
    half = student(level, many - 1) * math.sqrt(square)
    far = student(level, many - 2) * math.sqrt(tau2 + square)
    i2 = tau2 / (tau2 + typical)
    return Pooled(mean, mean - half, mean + half, mean - far, mean + far, tau2, i2, q)
