"""Scores as the methods see them: as they came, and on the scale on which logistic models are linear."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns import Kind
from scorewise.computing import inner
from scorewise.errors import BadInput
from scorewise.recalibrating.sql import Sql, logit
from scorewise.show.records import Record, field
from scorewise.tallies import Tally
from scorewise.tallies.runs import add_runs, equal_mass_runs

LARGEST = 1e100  # the cube of a score must be a float
MAX_CELLS = 1 << 16  # that slow methods are fitted to
MAX_COMPARED = 1 << 13  # cells on which methods are compared
Clip: TypeAlias = Annotated[float, Meta(gt=0, lt=0.5)]


class Points(NamedTuple):
    """Scores as they came, and as log-odds; scores of any scale are standardised instead.

    Both are arrays, or expressions of SQL.
    """

    score: Any
    x: Any


class Scale(Record):
    """How scores are put on the scale of log-odds.

    Probabilities are kept `clip` away from 0 and 1, logits stay as they are, and scores of any scale
    become (score - centre) / unit.

    >>> Scale(kind="probability", clip=1e-7, centre=0.0, unit=1.0).points(np.array([0.0, 0.5])).x.round(3)
    array([-16.118,   0.   ])
    """

    kind: Kind
    clip: Clip = field("Probabilities are kept this far from 0 and 1 on the way to log-odds.")
    centre: float = field("Taken off scores of any scale.")
    unit: float = field("Then they are divided by this.")

    @classmethod
    def of(cls, t: Tally, clip: float) -> Scale:
        """The scale that suits a tally: mean and standard deviation, for scores of any scale."""
        reach = float(max(map(abs, t.ends)))
        if t.kind != "probability" and reach > LARGEST:
            raise BadInput(
                f"{t.origin.score or 'score'} reaches {reach:.3g}, beyond the {LARGEST:g} that maps are "
                f"fitted to; divide all scores by the same number"
            )
        if t.kind != "score":
            return cls(kind=t.kind, clip=clip, centre=0.0, unit=1.0)
        weight = (t.neg + t.pos) / (t.negatives + t.positives)
        # in a unit near 1, so that squares do not vanish
        unit = float(np.ldexp(1.0, int(np.frexp(reach)[1]) - 1)) if reach else 1.0
        score = t.score.astype(np.float64) / unit
        middle = float(score[len(score) // 2])  # taken off first, so that squares keep their digits
        centre = middle + inner(weight, score - middle)
        deviation = float(np.sqrt(inner(weight, (score - centre) ** 2))) * unit
        return cls(kind=t.kind, clip=clip, centre=centre * unit, unit=deviation or 1.0)

    def points(self, score: NDArray[np.floating] | Sql) -> Points:
        """Scores on both scales."""
        s: Any = score.astype(np.float64)
        if self.kind == "logit":
            return Points(s, s)
        if self.kind == "score":
            with np.errstate(over="ignore"):
                x = (s - self.centre) / self.unit
            return Points(s, np.clip(x, -LARGEST, LARGEST))
        return Points(s, logit(np.clip(s, self.clip, 1 - self.clip)))


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
        x: Floats = self.points.x
        return x

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

    def weighted(self) -> Cells:
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

    def pooled(self, most: int = MAX_CELLS) -> Cells:
        """The same with neighbours pooled to about so many cells of equal mass, at their mean scores."""
        start = equal_mass_runs(self.mass, most)
        if len(start) == len(self.x):
            return self
        mass = add_runs(self.mass, start)
        means = (add_runs(self.mass * c, start) / mass for c in self.points)
        neg, pos = add_runs(self.neg, start), add_runs(self.pos, start)
        return replace(self, points=Points(*means), neg=neg, pos=pos)
