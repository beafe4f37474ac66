"""Rules of thumb for the width of kernels, from the spread of the values."""

from __future__ import annotations

import math

import numpy as np

from scorewise.arrays import Floats


def spread(s: Floats, share: Floats) -> float:
    """The standard deviation of values s with these shares.

    >>> spread(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    0.5
    """
    mean = float((share * s).sum())
    return math.sqrt(float((share * (s - mean) ** 2).sum()))


def scott(s: Floats, share: Floats, rows: float) -> float:
    """Scott's rule (1992), best for a normal density: (4 / 3)^(1/5) sd n^(-1/5)."""
    return float((4 / 3 / rows) ** 0.2) * spread(s, share)


def silverman(s: Floats, share: Floats, rows: float) -> float:
    """Silverman's rule of thumb (1986): 0.9 min(sd, iqr / 1.34) n^(-1/5); values are increasing."""
    wide = spread(s, share)
    below = share.cumsum()
    first, last = (s[np.searchsorted(below, q * below[-1])] for q in (0.25, 0.75))
    iqr = float(last - first) / 1.34
    return 0.9 * (min(wide, iqr) or wide) * float(rows**-0.2)
