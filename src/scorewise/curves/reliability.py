"""The reliability curve: what happened, as a function of the probability that was given.

By isotonic regression (CORP), which needs no choice, or by loess, which is smooth: local quadratic
regression of labels on probabilities. A fit of loess is linear in the labels and leaves probabilities as
they are, so what it adds to them is the same fit to the gaps between labels and probabilities. Cells of a
tally stand for their rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import check, one_of
from scorewise.columns import Rows
from scorewise.computing import once, product
from scorewise.curves.hull import isotonic_fits
from scorewise.curves.thresholds import Band, reaches
from scorewise.errors import BadInput
from scorewise.inference.resampling import consistency_gaps
from scorewise.inference.scales import normal_quantile, t_quantile
from scorewise.inference.shares import monotone_limits
from scorewise.statistics.probabilities import (
    ProbabilityCells,
    probability_cells,
    why_not_probabilities,
)
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.runs import equal_mass_runs

Bands = Literal["consistency", "confidence"]
CELLS, REPLICATES, STRETCHES = 512, 500, 256
SPAN = 0.75  # share of the rows in the window around a probability
_BATCH = 1 << 15  # elements of the matrix that are made together
ROUNDING = 1e-14  # of the squares of a polynomial
TINY = 1e-290  # probabilities below count as 0


@dataclass(frozen=True, eq=False)
class Reliability(Band):
    """Probabilities (x) with the isotonic share of positives (y) and the weight (mass) on each.

    `low` and `high` are the band: around the diagonal, where curves of calibrated scores lie
    ("consistency"), or around the curve, where the true one may lie ("confidence").
    """

    mass: Floats
    bands: Bands

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
    check(level=level)
    if why := why_not_probabilities(t):
        raise BadInput(f"no reliability curve: {why}")
    c = probability_cells(t)
    curve = isotonic_fits((c.weight - c.pos)[None], c.pos[None])[0]
    if bands == "consistency":
        low, high = _consistency_band(c, level, simultaneous, seed)
    else:
        low, high = _confidence_band(c, level, simultaneous)
        low, high = np.minimum(low, curve), np.maximum(high, curve)
    x = np.clip(c.p, 0.0, 1.0)
    return Reliability(x, curve, low, high, level, simultaneous, c.weight, bands)


def _consistency_band(
    c: ProbabilityCells, level: float, simultaneous: bool, seed: int
) -> tuple[Floats, Floats]:
    """Around the diagonal: by fits to labels that calibrated scores would get."""
    few = c.at_most(CELLS)
    at, x = (np.clip(cells.p, 0.0, 1.0) for cells in (few, c))
    gaps = consistency_gaps(few, REPLICATES, np.random.default_rng(seed))
    pos = np.clip(gaps + few.sum, 0.0, few.weight)
    off = isotonic_fits(few.weight - pos, pos) - at
    least = float(0.1 * np.sqrt(few.squares.sum()) / few.total)
    down, up = reaches(off, level, least, simultaneous)
    low, high = (np.clip(x + np.interp(x, at, way), 0.0, 1.0) for way in (down, up))
    return np.maximum.accumulate(low), np.maximum.accumulate(high)


def _confidence_band(
    c: ProbabilityCells, level: float, simultaneous: bool
) -> tuple[Floats, Floats]:
    """Around the curve: by exact intervals for the shares of neighbouring cells."""
    start = equal_mass_runs(c.weight, STRETCHES)
    few = c.joined(start)
    single = len(few) == len(c)
    ends = monotone_limits(few, level, simultaneous=simultaneous, single=single)
    length = np.diff(start, append=len(c))
    return np.repeat(ends[0], length), np.repeat(ends[1], length)


# The smooth curve.


@dataclass(frozen=True)
class Smoother:
    """Loess at each of some cells, as a linear map of the gaps of all of them."""

    cells: ProbabilityCells

    @property
    def mass(self) -> Floats:
        """The share of the rows in each cell."""
        return self.cells.weight / self.cells.total

    @cached_property
    def matrix(self) -> Floats:
        """What a gap, as a share of all rows, of each cell (column) adds to the curve at each (row).

        Tricube weights within the window, times the share of the rows; polynomials orthogonal under them.
        """
        # means of cells that are denormal depend on the unit of weight
        x, mass = np.where(self.cells.p > TINY, self.cells.p, 0.0), self.mass
        width, step = _width(x, mass)[:, None], max(1, _BATCH // max(len(x), 1))
        parts = (slice(i, i + step) for i in range(0, max(len(x), 1), step))
        return np.concatenate([_fits(x[:, None][at], width[at], x, mass) for at in parts])

    def fitted(self, gaps: Floats) -> Floats:
        """The curve at each cell under gaps, of replicates by cells, as shares of all rows."""
        curve: Floats = np.clip(self.cells.p + product(gaps, self.matrix.T), 0.0, 1.0)
        return curve

    @cached_property
    def curve(self) -> Floats:
        """The curve at each cell."""
        found: Floats = self.fitted((self.cells.gap / self.cells.total)[None])[0]
        return found

    def variance(self, along: Floats) -> Floats:
        """The variance of sums of the curve over cells, with so much of each (rows by cells)."""
        c, y = self.cells, self.curve
        part = product(along, self.matrix) / c.total
        # what rounding leaves beside 0 and 1 does not vary
        own = c.squares * np.where(y * (1 - y) > 1e-12, y * (1 - y), 0.0)
        found: Floats = (part * part * own).sum(-1)
        return found


def _fits(at: Floats, width: Floats, x: Floats, mass: Floats) -> Floats:
    """The rows of the matrix for some places, given as a column like the widths of their windows."""
    # in widths of the window; what lies beyond it has no weight
    with np.errstate(over="ignore"):
        apart = (x - at) / np.maximum(width, np.nextafter(0.0, 1.0))
    np.clip(apart, -1.0, 1.0, out=apart)
    near = np.abs(apart)
    near = np.maximum(1 - near * near * near, 0.0)
    near *= near * near
    weight = near * mass
    total = weight.sum(1, keepdims=True)
    middle = _sums(weight, apart) / total
    # polynomials of degree 1 and 2, whose products with each other and with 1 add up to 0
    line: Floats = apart - middle
    part = weight * line
    lines = _sums(part, line)
    part *= line
    one = _inverse(lines, total)
    further = _sums(part, apart) * one
    curved = apart - further
    curved *= line
    curved -= lines / total
    np.multiply(weight, curved, out=part)
    two = np.where(one > 0, _inverse(_sums(part, curved), total), 0.0)
    line *= -middle * one
    curved *= (further * middle - lines / total) * two
    line += curved
    line += 1 / total
    line *= near
    return line


def _inverse(squares: Floats, total: Floats) -> Floats:
    """One over sums of squares; 0 where they are rounding."""
    return np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > ROUNDING * total)


def _sums(a: Floats, b: Floats) -> Floats:
    """The sum of products of each row, as a column."""
    found: Floats = np.einsum("ij,ij->i", a, b)[:, None]
    return found


def _width(x: Floats, mass: Floats) -> Floats:
    """How far the nearest rows reach from each of some increasing places: those of 75 % of the mass."""
    upto = np.append(0.0, mass.cumsum())
    # the last cell that a window needs which begins with each cell
    last = np.searchsorted(upto, upto[:-1] + SPAN - 1e-9) - 1
    first = np.arange(int((last < len(x)).sum()))
    cell = np.arange(len(x))[:, None]
    reach = x[np.maximum(last[first], cell)] - x[:, None]
    far = np.maximum(reach, x[:, None] - x[first])
    found: Floats = far.min(1, where=first <= cell, initial=np.inf)
    return found


@once
def smoother(t: Tally) -> Smoother:
    """The fit at each distinct score, or at 512 cells of equal mass where there are more."""
    return Smoother(probability_cells(t).at_most(CELLS))


def smooth_reliability(t: Tally, *, level: float = 0.95, rows: Rows | None = None) -> Band:
    """The share of positives over the probability, by loess, with a pointwise band.

    Local quadratic regression with tricube weights on the nearest 75 % of the rows, as R's `loess` has it
    (Cleveland and Devlin 1988; for calibration Austin and Steyerberg 2014), kept within [0, 1]. The band is
    normal, with the variance of the fitted shares, added up by cluster where `rows` come in clusters.

    >>> t = Tally.of([0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9])
    >>> smooth_reliability(t).y.round(2)
    array([0.  , 0.28, 0.46, 0.54, 0.77, 1.  , 0.54, 0.92])
    """
    reach = normal_quantile(level)
    if why := why_not_probabilities(t):
        raise BadInput(f"no calibration curve: {why}")
    s = smoother(t)
    c, y = s.cells, s.curve
    if rows is None or rows.cluster is None:
        variance = s.variance(np.eye(len(c)))
    else:
        p = unit(rows.scores[t.origin.score].astype(np.float64), t.kind)
        cell = np.maximum(np.searchsorted(c.low, p, side="right") - 1, 0)
        many = int(rows.cluster.max()) + 1
        off = rows.mass() * (rows.y - y[cell])
        sums = np.bincount(rows.cluster * len(c) + cell, off, many * len(c)).reshape(many, len(c))
        variance = ((s.matrix / c.total @ sums.T) ** 2).sum(1) * many / max(many - 1, 1)
        reach = t_quantile(level, many - 1) if many > 1 else np.inf
    with np.errstate(invalid="ignore"):
        half = np.where(variance > 0, reach * np.sqrt(variance), 0.0)
    low, high = np.clip(y - half, 0.0, 1.0), np.clip(y + half, 0.0, 1.0)
    return Band(c.p, y, low, high, level, simultaneous=False)
