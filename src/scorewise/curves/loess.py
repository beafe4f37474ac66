"""The smooth calibration curve: local quadratic regression of labels on probabilities (loess).

A fit is linear in the labels and lets probabilities as they are, so what it adds to them is the same fit to
the gaps between labels and probabilities. Cells of a tally stand for their rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns import Rows
from scorewise.errors import BadInput
from scorewise.inference.scales import student, z
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.probabilities import Chances, chances, equal_mass, why_not_probable
from scorewise.tallies.sorting import once, product

SPAN = 0.75  # share of the rows in the window around a probability
CELLS = 512  # more are joined to so many of equal mass
_AT_ONCE = 1 << 15  # elements of the matrix that are made together
NONE = 1e-14  # of the squares of a polynomial: less is rounding
TINY = 1e-290


@dataclass(frozen=True)
class Smoother:
    """The fit at each of some cells, as what it makes of the gaps of all of them."""

    cells: Chances

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
        width, step = _width(x, mass)[:, None], max(1, _AT_ONCE // max(len(x), 1))
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
    off = x - at
    far = np.abs(off)
    # in widths of the window; what lies beyond it has no weight
    inside = (far <= width) & (width > 0)
    apart = np.divide(off, width, out=np.where(far > 0, 1.0, 0.0), where=inside)
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
    return np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > NONE * total)


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
    c = chances(t)
    return Smoother(c.joined(equal_mass(c, CELLS)) if len(c) > CELLS else c)


class SmoothCurve(NamedTuple):
    """A smooth calibration curve at probabilities `x`, with its band."""

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    level: float


def smooth_reliability(t: Tally, *, level: float = 0.95, rows: Rows | None = None) -> SmoothCurve:
    """The share of positives over the probability, by loess, with a pointwise band.

    Local quadratic regression with tricube weights on the nearest 75 % of the rows, as R's `loess` has it
    (Cleveland and Devlin 1988; for calibration Austin and Steyerberg 2014), kept within [0, 1]. The band is
    normal, with the variance of the fitted shares, added up by cluster where `rows` come in clusters.

    >>> t = Tally.of([0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9])
    >>> smooth_reliability(t).y.round(2)
    array([0.  , 0.28, 0.46, 0.54, 0.77, 1.  , 0.54, 0.92])
    """
    reach = z(level)
    if why := why_not_probable(t):
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
        reach = student(level, many - 1) if many > 1 else np.inf
    with np.errstate(invalid="ignore"):
        half = np.where(variance > 0, reach * np.sqrt(variance), 0.0)
    low, high = np.clip(y - half, 0.0, 1.0), np.clip(y + half, 0.0, 1.0)
    return SmoothCurve(c.p, y, low, high, level)
