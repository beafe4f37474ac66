"""Which scores are high on which class, and how far that turns the rectangle of the labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scorewise.tallies import Confusion, Tally
from scorewise.tallies.climbing import HAIR, first_high
from scorewise.tallies.deciding import on_their_scale
from scorewise.tallies.losses import unit


class Part(NamedTuple):
    """The weight of some rows, and the mean of their scores (NaN where there are none)."""

    weight: float
    mean: float


@dataclass(frozen=True)
class Sets:
    """The four sets: high or low scores on positives or negatives.

    High scores on positives and low ones on negatives are appropriate.
    """

    high_positive: Part
    high_negative: Part
    low_positive: Part
    low_negative: Part

    @property
    def appropriate(self) -> float:
        """Share of the weight whose scores are appropriate."""
        right = self.high_positive.weight + self.low_negative.weight
        return right / (right + self.high_negative.weight + self.low_positive.weight)

    @property
    def by_label(self) -> tuple[float, float]:
        """Weight of positives and of negatives."""
        return (
            self.high_positive.weight + self.low_positive.weight,
            self.high_negative.weight + self.low_negative.weight,
        )

    @property
    def by_score(self) -> tuple[float, float]:
        """Weight of high and of low scores."""
        return (
            self.high_positive.weight + self.high_negative.weight,
            self.low_positive.weight + self.low_negative.weight,
        )

    @property
    def rotation(self) -> float:
        """By how many degrees the balance of the scores turns that of the labels."""
        return float(rotation(*self.by_score, *self.by_label))


def rotation(high: Any, low: Any, pos: Any, neg: Any) -> Any:
    """By how many degrees the balance of high and low scores turns that of positives and negatives.

    The angle of a rectangle as high as there are high scores and as wide as there are low ones, minus
    that of positives by negatives. Above 0, more scores are high than labels are positive.

    >>> round(float(rotation(4, 2, 3, 3)), 2)
    18.43
    """
    return np.degrees(np.arctan2(high, low) - np.arctan2(pos, neg))


def four_sets(t: Tally, midpoint: float) -> Sets:
    """The four sets of a tally whose scores have a place on [0, 1].

    Three labels against three, but four high scores against two low ones:

    >>> sets = four_sets(Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]), 0.4933)
    >>> sets.by_label, sets.by_score, round(sets.rotation, 2)
    ((3.0, 3.0), (4.0, 2.0), 18.43)
    """
    s = unit(t.score, t.kind)
    i = first_high(s, midpoint)
    sums = t.coarse.sum if t.coarse is not None else (t.neg * s, t.pos * s)
    parts = [
        _part(float(w[side].sum()), float(total[side].sum()))
        for side in (slice(i, None), slice(None, i))
        for w, total in ((t.pos, sums[1]), (t.neg, sums[0]))
    ]
    return Sets(*parts)


def _part(weight: float, total: float) -> Part:
    return Part(weight, total / weight if weight else math.nan)


def tables(t: Tally, midpoint: float, threshold: float) -> tuple[Confusion, Confusion]:
    """Labels against decisions, for the rows with appropriate and for those with inappropriate scores.

    Where the threshold is the midpoint, all appropriate scores decide rightly and all others wrongly.

    >>> t = Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> [c.weight.tolist() for c in tables(t, 0.4933, 0.65)]
    [[[2, 0], [1, 2]], [[1, 0], [0, 0]]]
    """
    s = unit(t.score, t.kind)
    high, decided = s >= midpoint - HAIR, t.score >= on_their_scale(t, threshold)
    names = t.origin.negative, t.origin.positive
    made = []
    for right in (True, False):
        kept = (high != right, high == right)  # of negatives and of positives
        sides = [_counted(w, keep, decided) for w, keep in zip((t.neg, t.pos), kept, strict=True)]
        squares = [
            _counted(w, keep, decided) for w, keep in zip((t.neg2, t.pos2), kept, strict=True)
        ]
        made.append(Confusion(np.array(sides), np.array(squares), names))
    return made[0], made[1]


def _counted(w: Any, keep: Any, decided: Any) -> list[Any]:
    return [w[keep & ~decided].sum(), w[keep & decided].sum()]
