"""The reliability curve: what happened, as a function of the probability that was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.curves.hull import fits
from scorewise.door.rows import one_of
from scorewise.errors import BadInput
from scorewise.intervals.consistency import drawn_gaps
from scorewise.intervals.scales import z
from scorewise.tallies import Tally
from scorewise.tallies.chances import Chances, chances, why_not_probable
from scorewise.tallies.sorting import runs

Floats = NDArray[np.float64]
Bands = Literal["consistency", "confidence"]
CELLS, REPLICATES = 1000, 1000
_LEAST = 0.5  # rows: a share of none is no surer than one of half a row would be


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
    The band is drawn by labels that are resampled and refitted, on at most 1,000 joined cells: labels
    of calibrated scores for bands="consistency", of the curve itself for "confidence". It holds at each
    probability by itself, or with simultaneous=True along the whole curve at once.

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
    few = c.joined(runs(c.weight, CELLS))
    fit = fits((few.weight - few.pos)[None], few.pos[None])[0]
    centre = np.clip(few.p if bands == "consistency" else fit, 0.0, 1.0)
    off = _drawn(few, bands, fit, seed) - centre
    if bands == "confidence":
        off = -off  # the curve is off the truth as refitted curves are off the curve
    ends = _around(off, few, centre, level) if simultaneous else _pointwise(off, centre, level)
    x = np.clip(c.p, 0.0, 1.0)
    middle = x if bands == "consistency" else curve
    at = np.clip(few.p, 0.0, 1.0)
    low, high = (
        np.clip(np.maximum.accumulate(middle + np.interp(x, at, end - centre)), 0.0, 1.0)
        for end in ends
    )
    return Reliability(x, curve, c.weight, low, high, bands, level, simultaneous)


def _drawn(c: Chances, bands: Bands, fit: Floats, seed: int) -> Floats:
    """Isotonic fits to labels that are drawn by chance, replicates by cells."""
    if bands == "confidence":
        c = _expecting(c, _unsure(c, fit))
    gaps = drawn_gaps(c, REPLICATES, np.random.default_rng(seed))
    pos = np.clip(gaps + c.sum, 0.0, c.weight)
    return fits(c.weight - pos, pos)


def _expecting(c: Chances, share: Floats) -> Chances:
    """The same cells with other probabilities."""
    total, noise = c.weight * share, c.squares * share * (1 - share)
    return Chances(share, c.weight, c.squares, c.pos, total, noise, c.weighted)


def _unsure(c: Chances, fit: Floats) -> Floats:
    """The fit with each of its steps drawn to one half by one row: what no row was seen of may be."""
    step = np.flatnonzero(np.concatenate(([True], fit[1:] != fit[:-1])))
    rows = np.add.reduceat(c.weight, step) ** 2 / np.add.reduceat(c.squares, step)
    spread = np.repeat(rows, np.diff(step, append=len(fit)))
    unsure: Floats = (fit * spread + _LEAST) / (spread + 2 * _LEAST)
    return np.maximum.accumulate(unsure)


def _pointwise(off: Floats, centre: Floats, level: float) -> tuple[Floats, Floats]:
    low, high = np.quantile(off, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return centre + np.minimum(low, 0.0), centre + np.maximum(high, 0.0)


def _around(off: Floats, c: Chances, centre: Floats, level: float) -> tuple[Floats, Floats]:
    """As many spreads of each side as hold a whole curve at once."""
    # a side on which no draw lies has at least the spread of one row
    least = 1 / np.sqrt(c.total**2 / c.squares.sum()) * 0.1
    up, down = (np.sqrt((np.maximum(side, 0.0) ** 2).mean(0)) for side in (off, -off))
    up, down = np.maximum(up, least), np.maximum(down, least)
    reach = float(np.quantile(np.where(off > 0, off / up, -off / down).max(1), level))
    return centre - reach * down, centre + reach * up
