"""Which parts of a score-weighted ROC curve come from appropriate scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.curves.thresholds import Curve
from scorewise.tallies import Tally
from scorewise.tallies.climbing import first_high
from scorewise.tallies.losses import unit
from scorewise.tallies.sorting import Numbers, add_runs


@dataclass(frozen=True, eq=False)
class Segments:
    """Pieces of a curve, from the highest score down.

    Piece k runs from (x[k], y[k]) to (x[k + 1], y[k + 1]); of the weight of its rows, the share
    `appropriate[k]` has scores that are high on positives or low on negatives.
    """

    x: Floats
    y: Floats
    appropriate: Floats

    def __len__(self) -> int:
        return len(self.appropriate)


def segments(t: Tally, curve: Curve, midpoint: float, most: int = 400) -> Segments:
    """One piece for each cell; beyond `most` cells, about as many pieces of equal weight.

    >>> from scorewise.curves.smooth import smooth_roc
    >>> t = Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> segments(t, smooth_roc(t, 0.5), 0.5).appropriate
    array([1., 1., 0., 1., 1., 1.])
    """
    i = first_high(unit(t.score, t.kind), midpoint)
    right = np.concatenate((t.neg[:i], t.pos[i:]))[::-1]
    weight = (t.neg + t.pos)[::-1]
    start = _starts(weight, most)
    at = np.append(start, len(weight))
    share = add_runs(right, start) / add_runs(weight, start)
    return Segments(curve.x[at], curve.y[at], share)


def _starts(weight: Numbers, most: int) -> NDArray[np.int64]:
    if len(weight) <= most:
        return np.arange(len(weight))
    mass = weight.cumsum()
    return np.unique(np.searchsorted(mass, mass[-1] * (np.arange(most) / most)))
