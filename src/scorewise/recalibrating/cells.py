"""The cells that a map is fitted to: distinct scores with the weight of both classes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from scorewise.arrays import Floats
from scorewise.recalibrating.scale import Points, Scale
from scorewise.tallies import Tally
from scorewise.tallies.sorting import add_runs, runs

MOST = 1 << 16  # cells that slow methods are fitted to
FEW = 1 << 13  # cells on which methods are compared


@dataclass(frozen=True)
class Cells:
    """Scores from the lowest up with the weight of negatives and positives on each.

    `row` is what one row weighs: 1 for counts, sum of squares / sum for weights.
    """

    points: Points
    neg: Floats
    pos: Floats
    row: float = 1.0

    @classmethod
    def of(cls, t: Tally, scale: Scale) -> Cells:
        """The cells of a tally."""
        total = t.negatives + t.positives
        # weights have no unit: near 1 their products stay floats; a power of two changes no digit
        unit = float(np.ldexp(1.0, int(np.frexp(total)[1]) - 1)) if t.weighted and total else 1.0
        row = sum(x / unit / unit for x in t.squares) / (total / unit) if total else 1.0
        return cls(scale.points(t.score), t.neg / unit, t.pos / unit, row)

    @property
    def x(self) -> Floats:
        """The scores as log-odds, or standardised."""
        return self.points.x

    @property
    def mass(self) -> Floats:
        """Weight of both classes."""
        return self.neg + self.pos

    @property
    def separable(self) -> bool:
        """Whether a threshold tells the classes apart, so that no slope is steep enough.

        A class without rows counts as apart from the other, and weight too small for floats beside the
        rest as none.
        """
        least = 1e-12 * float(self.mass.sum())
        neg, pos = (self.x[w > least] for w in (self.neg, self.pos))
        return not len(neg) or not len(pos) or bool(neg[-1] <= pos[0])

    def kept(self) -> Cells:
        """Without the cells that have no weight."""
        used = self.mass > 0
        if used.all():
            return self
        points = Points(self.points.score[used], self.points.x[used])
        return replace(self, points=points, neg=self.neg[used], pos=self.pos[used])

    def smoothed(self) -> Cells:
        """The same with Platt's targets: one more row of each class, spread over the rows (Platt 1999).

        A positive counts as (n+ + 1) / (n+ + 2) of a positive, a negative as 1 / (n- + 2) of one.
        """
        high = (self.pos.sum() + self.row) / (self.pos.sum() + 2 * self.row)
        low = self.row / (self.neg.sum() + 2 * self.row)
        pos = self.pos * high + self.neg * low
        return replace(self, pos=pos, neg=self.mass - pos)

    def pooled(self, most: int = MOST) -> Cells:
        """The same with neighbours pooled to about so many cells of equal mass, at their mean scores."""
        start = runs(self.mass, most)
        if len(start) == len(self.x):
            return self
        mass = add_runs(self.mass, start)
        means = (add_runs(self.mass * c, start) / mass for c in self.points)
        neg, pos = add_runs(self.neg, start), add_runs(self.pos, start)
        return replace(self, points=Points(*means), neg=neg, pos=pos)
