"""The score-weighted ROC curve (smROC)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.curves.hull import pool
from scorewise.curves.thresholds import Curve
from scorewise.tallies import Tally
from scorewise.tallies.climbing import cell_climbs
from scorewise.tallies.losses import unit


@dataclass(frozen=True, eq=False)
class SmoothRoc(Curve):
    """Share of all runs (x) against share of all climbs (y), from (0, 0) to (1, 1).

    `climb` and `run` are those of the cells, from the highest score down; `height` and `width` are their
    sums, the sides of the rectangle in which the curve runs before it is scaled to the unit square.
    """

    climb: Floats
    run: Floats

    @property
    def height(self) -> float:
        """All climbs together."""
        return float(self.climb.sum())

    @property
    def width(self) -> float:
        """All runs together."""
        return float(self.run.sum())

    @property
    def area(self) -> float:
        """Area by trapezoids; NaN where nothing climbs or nothing runs."""
        return float(np.trapezoid(self.y, self.x))

    def rectangle(self) -> Curve:
        """The curve before scaling, from (0, 0) to (width, height)."""
        return Curve(_sums(self.run), _sums(self.climb), self.threshold)

    def hull(self) -> Curve:
        """The least concave curve above."""
        at = self._corners()
        return Curve(self.x[at], self.y[at], self.threshold[at])

    def slopes(self) -> Floats:
        """For each cell, from the highest score down, climb / (climb + run) on its part of the hull.

        This is the isotonic regression of the climbs of rows on their scores.
        """
        at = self._corners()
        climb, run = (np.diff(_sums(w)[at]) for w in (self.climb, self.run))
        return np.repeat(climb / (climb + run), np.diff(at))

    def _corners(self) -> NDArray[np.int64]:
        starts = pool(self.run[::-1], self.climb[::-1])
        return np.sort(len(self.run) - np.append(starts, len(self.run)))


def _sums(parts: Floats) -> Floats:
    return np.concatenate(([0.0], parts.cumsum()))


def chance_roc(t: Tally, midpoint: float) -> SmoothRoc:
    """The curve that the same scores would give if they were dealt out to the rows at random."""
    weight, share = (t.neg + t.pos).astype(np.float64), t.positives / (t.negatives + t.positives)
    neg, pos = weight * (1 - share), weight * share
    return smooth_roc(Tally(t.score, neg, pos, neg, pos, t.kind), midpoint)


def smooth_roc(t: Tally, midpoint: float) -> SmoothRoc:
    """The score-weighted ROC curve of a tally whose scores have a place on [0, 1].

    >>> t = Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> curve = smooth_roc(t, 0.5)
    >>> curve.x.round(3), curve.y.round(3)
    (array([0.   , 0.015, 0.108, 0.293, 0.444, 0.691, 1.   ]),
     array([0.   , 0.344, 0.598, 0.743, 0.928, 1.   , 1.   ]))
    """
    climb, run = (w[::-1] for w in cell_climbs(t, midpoint))
    at = unit(t.score, t.kind) if t.coarse is None else unit(t.coarse.low.min(0), t.kind)
    x, y = _sums(run), _sums(climb)
    with np.errstate(invalid="ignore"):
        return SmoothRoc(x / x[-1], y / y[-1], np.concatenate(([np.inf], at[::-1])), climb, run)
