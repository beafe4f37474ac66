"""What another midpoint would make of the area under the score-weighted ROC curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scorewise.arrays import Floats
from scorewise.tallies import Tally
from scorewise.tallies.climbing import HAIR
from scorewise.tallies.losses import unit


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The area for every midpoint: `area[k]` holds above `midpoint[k - 1]` up to `midpoint[k]`.

    The last midpoint is infinite: above all scores, every score is low.
    """

    midpoint: Floats
    area: Floats

    def at(self, midpoint: float) -> float:
        """The area for one midpoint."""
        return float(self.area[np.searchsorted(self.midpoint, midpoint - HAIR)])


def sensitivity(t: Tally) -> Sensitivity:
    """The area for every midpoint, in one walk over the cells.

    Cells at or above the midpoint are high, those below are low. So all areas follow from the areas
    within the upper and the lower part, added up cell by cell, and the climbs of the upper part times
    the runs of the lower. A coarse tally counts the middle of a cell for its scores.

    >>> t = Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> s = sensitivity(t)
    >>> s.midpoint, s.area.round(3)
    (array([0.  , 0.2 , 0.51, 0.6 , 0.7 , 0.95,  inf]),
     array([0.454, 0.745, 0.843, 0.845, 0.853, 0.794, 0.546]))
    """
    s, neg, pos = unit(t.score, t.kind), t.neg.astype(np.float64), t.pos.astype(np.float64)
    high_climb, high_run = pos * s + neg * (1 - s), pos * (1 - s) + neg * s
    low_climb, low_run = high_run, high_climb
    above = _from_top(high_climb)
    upper = _from_top(high_run * (above[1:] + high_climb / 2))
    below = _from_foot(low_run)
    lower = _from_foot(low_climb * (below[:-1] + low_run / 2))
    height = above + _from_foot(low_climb)
    width = _from_top(high_run) + below
    with np.errstate(divide="ignore", invalid="ignore"):
        area = np.minimum((upper + lower + above * below) / (height * width), 1.0)
    return Sensitivity(np.append(s, np.inf), area)


def _from_foot(parts: Floats) -> Floats:
    """Sums of what lies below each boundary of cells."""
    return np.concatenate(([0.0], parts.cumsum()))


def _from_top(parts: Floats) -> Floats:
    """Sums of what lies above each boundary of cells."""
    return np.concatenate((parts[::-1].cumsum()[::-1], [0.0]))
