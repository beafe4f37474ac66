"""Where the densities of the scores of the two classes cross."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.tallies.bandwidths import silverman
from scorewise.tallies.kernels import images, kernel_rows
from scorewise.tallies.losses import unit
from scorewise.tallies.merging import pool
from scorewise.tallies.tally import Tally

_CELLS, _STEPS = 2048, 256
_EDGES = images((0.0, 1.0), 1.0)
NARROWEST = 0.005  # scores of one class that are all equal have a density, too


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
    widths = kernel_widths(few)

    def lead(x: Floats) -> Floats:
        sums = (
            (kernel_rows(x, s, h, _EDGES) * w).sum(1) for w, h in zip(sides, widths, strict=True)
        )
        lead: Floats = -np.subtract(*sums)
        return lead

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


def crossings(t: Tally, neg: Floats, pos: Floats) -> Floats:
    """The same for other weights on the same cells (rows: resamples); fast, and on a grid.

    The widths of the kernels stay those of the tally. NaN where the densities do not cross.
    """
    s = unit(t.score, t.kind)
    x = np.linspace(0.0, 1.0, _STEPS + 1)
    shares = [w / w.sum(1, keepdims=True) for w in (neg, pos)]
    below, above = (
        share @ kernel_rows(x, s, h, _EDGES).T
        for share, h in zip(shares, kernel_widths(t), strict=True)
    )
    ends = np.sort([share @ s for share in shares], axis=0).T
    return np.array([_turn(x, row, *end) for row, end in zip(above - below, ends, strict=True)])


def _turn(x: Floats, lead: Floats, low: float, high: float) -> float:
    up = lead > 0
    turns = np.flatnonzero((up[1:] != up[:-1]) & (x[1:] > low) & (x[:-1] < high))
    if not len(turns):
        return math.nan
    i = turns[np.abs(x[turns] - (low + high) / 2).argmin()]
    return float(x[i] + (x[i + 1] - x[i]) * lead[i] / (lead[i] - lead[i + 1]))


def kernel_widths(t: Tally) -> list[float]:
    """The widths of the kernels of the negatives and of the positives."""
    s = unit(t.score, t.kind)
    shares = [w / total for w, total in ((t.neg, t.negatives), (t.pos, t.positives))]
    rows = [w * w / w2 for w, w2 in zip((t.negatives, t.positives), t.squares, strict=True)]
    return [max(NARROWEST, silverman(s, w, n)) for w, n in zip(shares, rows, strict=True)]


def _root(lead: Callable[[Floats], Floats], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(lambda x: float(lead(np.array([x]))[0]), low, high, xtol=1e-14))
