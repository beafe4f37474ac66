"""The reliability curve: what happened, as a function of the probability that was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.rows import one_of
from scorewise.curves.hull import fits
from scorewise.curves.thresholds import whole_curve
from scorewise.errors import BadInput
from scorewise.inference.resampling import drawn_gaps
from scorewise.inference.scales import z
from scorewise.inference.shares import rising_limits
from scorewise.tallies import Tally
from scorewise.tallies.probabilities import Chances, chances, why_not_probable
from scorewise.tallies.sorting import runs

Bands = Literal["consistency", "confidence"]
CELLS, REPLICATES, STRETCHES = 512, 500, 256


@dataclass(frozen=True, eq=False)
class Reliability:
    """Probabilities (x) with the isotonic share of positives (y) and the weight (mass) on each.

    `low` and `high` are the band: around the diagonal, where curves of calibrated scores lie
    ("consistency"), or around the curve, where the true one may lie ("confidence").
    """

    x: Floats
    y: Floats
    mass: Floats
    low: Floats
    high: Floats
    bands: Bands
    level: float
    simultaneous: bool

    @property
    def outside(self) -> float:
        """The share of rows at which the curve lies outside the band."""
        out = (self.y < self.low - 1e-12) | (self.y > self.high + 1e-12)
        return float(self.mass[out].sum() / self.mass.sum())


def reliability(
    t: Tally,
    *,
    level: float = 0.95,
    bands: Bands = "consistency",
    simultaneous: bool = False,
    seed: int = 0,
) -> Reliability:
    """The isotonic regression of the labels on the probabilities, with a band.

    Of all rising curves it is the likeliest (CORP; Dimitriadis, Gneiting and Jordan 2021): no bins have
    to be chosen. Up to 65,536 distinct probabilities are a point each, more are joined on a fixed grid.
    It holds at each probability by itself, or with simultaneous=True along the whole curve at once.

    The consistency band is drawn by labels that calibrated scores would get, refitted on at most 512
    joined cells. The confidence band is exact, and wide: the bootstrap fails for isotonic fits (see
    `scorewise.inference.shares`).

    >>> curve = reliability(Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.9]))
    >>> curve.x, curve.y
    (array([0.1, 0.2, 0.3, 0.9]), array([0. , 0.5, 0.5, 1. ]))
    """
    one_of("bands", bands, get_args(Bands))
    z(level)  # which refuses a level that means nothing
    if why := why_not_probable(t):
        raise BadInput(f"no reliability curve: {why}")
    c = chances(t)
    curve = fits((c.weight - c.pos)[None], c.pos[None])[0]
    low, high = (_consistent if bands == "consistency" else _confident)(
        c, level, simultaneous=simultaneous, seed=seed
    )
    if bands == "confidence":
        low, high = np.minimum(low, curve), np.maximum(high, curve)
    x = np.clip(c.p, 0.0, 1.0)
    return Reliability(x, curve, c.weight, low, high, bands, level, simultaneous)


def _consistent(
    c: Chances, level: float, *, simultaneous: bool, seed: int
) -> tuple[Floats, Floats]:
    """Around the diagonal: refitted to labels that calibrated scores would get."""
    few = c.joined(runs(c.weight, CELLS))
    at, x = (np.clip(cells.p, 0.0, 1.0) for cells in (few, c))
    gaps = drawn_gaps(few, REPLICATES, np.random.default_rng(seed))
    pos = np.clip(gaps + few.sum, 0.0, few.weight)
    off = fits(few.weight - pos, pos) - at
    least = float(0.1 * np.sqrt(few.squares.sum()) / few.total)
    down, up = whole_curve(off, level, least) if simultaneous else _pointwise(off, level)
    low, high = (np.clip(x + np.interp(x, at, way), 0.0, 1.0) for way in (down, up))
    return np.maximum.accumulate(low), np.maximum.accumulate(high)


def _pointwise(off: Floats, level: float) -> tuple[Floats, Floats]:
    low, high = np.quantile(off, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return np.minimum(low, 0.0), np.maximum(high, 0.0)


def _confident(c: Chances, level: float, *, simultaneous: bool, seed: int) -> tuple[Floats, Floats]:
    """Around the curve: what exact intervals of shares of neighbours leave for a rising curve."""
    start = runs(c.weight, STRETCHES)
    few = c.joined(start)
    single = len(few) == len(c)
    ends = rising_limits(few, level, simultaneous=simultaneous, single=single)
    length = np.diff(start, append=len(c))
    return np.repeat(ends[0], length), np.repeat(ends[1], length)
