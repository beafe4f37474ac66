"""The score-weighted ROC curve of one rater, and the distance between two."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorewise.tallies import Tally
from scorewise.tallies.climbing import cell_climbs, why_not_unit

Floats = NDArray[np.float64]
Points = tuple[Floats, Floats]


def why_no_curve(t: Tally) -> str:
    """Why these scores have no smROC curve, or nothing."""
    return t.why_not_ranked or why_not_unit(t)


def curve(t: Tally, midpoint: float) -> Points | None:
    """The points of the normalised smROC curve, from (0, 0) to (1, 1); none where it is degenerate.

    >>> t = Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> x, y = curve(t, 0.493333)
    >>> x.round(3)
    array([0.   , 0.015, 0.108, 0.293, 0.444, 0.691, 1.   ])
    """
    climb, run = (np.concatenate(([0.0], w[::-1])).cumsum() for w in cell_climbs(t, midpoint))
    return (run / run[-1], climb / climb[-1]) if run[-1] > 0 and climb[-1] > 0 else None


def distance(first: Points, second: Points) -> float:
    """The area between two curves, ∫|y1 - y2| dx over [0, 1], exact for straight pieces.

    >>> straight = np.array([0.0, 1.0]), np.array([0.0, 1.0])
    >>> corner = np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])
    >>> distance(straight, corner)
    0.5
    """
    x = np.unique(np.concatenate((first[0], second[0])))
    (left1, right1), (left2, right2) = _ends(first, x), _ends(second, x)
    a, b = left1 - left2, right1 - right2
    size = np.abs(a) + np.abs(b)
    # two triangles where the curves cross, one trapezoid where they do not
    crossed = (a * a + b * b) / (2 * np.where(size > 0, size, 1))
    area = np.where(a * b < 0, crossed, size / 2)
    return float((area * np.diff(x)).sum())


def _ends(points: Points, x: Floats) -> Points:
    """The height of a curve at both ends of each piece between neighbours of x, within the piece."""
    px, py = points
    i = np.searchsorted(px, x[:-1], side="right") - 1
    slope = (py[i + 1] - py[i]) / (px[i + 1] - px[i])
    return py[i] + slope * (x[:-1] - px[i]), py[i] + slope * (x[1:] - px[i])
