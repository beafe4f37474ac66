"""Where the densities of the scores of the two classes cross."""

from __future__ import annotations

import math

import numpy as np

from scorewise.errors import BadInput
from scorewise.tallies.climbing import Floats
from scorewise.tallies.losses import unit
from scorewise.tallies.merging import pool
from scorewise.tallies.tally import Tally

_CELLS, _STEPS = 2048, 512
_NARROWEST = 0.005


def crossing(t: Tally) -> float:
    """The score between the class means at which both class densities are equal.

    Each class counts as much as the other. The densities are Gaussian kernels of Silverman's width,
    reflected at 0 and 1. Where they cross more than once, the crossing nearest to the middle of the
    class means is taken. Beyond 2,048 distinct scores the densities are those of as many pooled cells.

    >>> round(crossing(Tally.of([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.8, 0.9])), 6)
    0.5
    """
    few = pool(t, _CELLS)
    s = unit(few.score, few.kind)
    sides = [w.astype(np.float64) / w.sum() for w in (few.neg, few.pos)]
    low, high = sorted(float((w * s).sum()) for w in sides)
    squares = zip((t.negatives, t.positives), t.squares, strict=True)
    rows = [w * w / w2 for w, w2 in squares]
    widths = [silverman(s, share, n) for share, n in zip(sides, rows, strict=True)]

    def lead(x: Floats) -> Floats:
        neg, pos = (density(x, s, w, h) for w, h in zip(sides, widths, strict=True))
        return pos - neg

    x = np.linspace(low, high, _STEPS + 1)
    above = lead(x) > 0
    turns = np.flatnonzero(above[1:] != above[:-1])
    if not len(turns):
        raise BadInput(
            "the densities of the classes do not cross between the class means; "
            'choose another midpoint, such as midpoint="balanced"'
        )
    middle = (low + high) / 2
    i = min(turns, key=lambda i: abs((x[i] + x[i + 1]) / 2 - middle))
    return _root(lead, float(x[i]), float(x[i + 1]))


def silverman(s: Floats, share: Floats, rows: float) -> float:
    """Silverman's rule of thumb (1986): 0.9 min(sd, iqr / 1.34) n^(-1/5), and never quite 0."""
    mean = float((share * s).sum())
    spread = math.sqrt(float((share * (s - mean) ** 2).sum()))
    below = share.cumsum()
    first, last = (s[np.searchsorted(below, q * below[-1])] for q in (0.25, 0.75))
    iqr = float(last - first) / 1.34
    return max(_NARROWEST, 0.9 * (min(spread, iqr) or spread) * float(rows**-0.2))


def density(x: Floats, s: Floats, share: Floats, width: float) -> Floats:
    """The kernel density at x of the scores s, reflected at 0 and 1."""
    total = np.zeros(len(x))
    for mirrored in (s, -s, 2 - s):
        z = (x[:, None] - mirrored[share > 0]) / width
        total += (np.exp(-z * z / 2) * share[share > 0]).sum(1)
    return total / (width * math.sqrt(2 * math.pi))


def _root(lead: object, low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(lambda x: lead(np.array([x]))[0], low, high, xtol=1e-14))  # type: ignore[operator]
