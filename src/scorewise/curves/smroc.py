"""The score-weighted ROC curve (smROC): its parts, other midpoints, and the balance of its scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.curves.thresholds import Curve, Roc, cumulative, cumulative_above, lowest_scores
from scorewise.inference.smroc import by_chance
from scorewise.statistics.smroc import TOLERANCE, cell_climbs, first_high
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.confusion import threshold_on_scale
from scorewise.tallies.losses import unit
from scorewise.tallies.runs import add_runs, quantile_cells
from scorewise.tallies.sorting import Numbers


def chance_roc(t: Tally, midpoint: float) -> Roc:
    """The curve that the same scores would give if they were dealt out to the rows at random."""
    return smooth_roc(by_chance(t), midpoint)


def smooth_roc(t: Tally, midpoint: float) -> Roc:
    """The score-weighted ROC curve of a tally whose scores have a place on [0, 1].

    >>> t = Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> curve = smooth_roc(t, 0.5)
    >>> curve.x.round(3), curve.y.round(3)
    (array([0.   , 0.015, 0.108, 0.293, 0.444, 0.691, 1.   ]),
     array([0.   , 0.344, 0.598, 0.743, 0.928, 1.   , 1.   ]))
    """
    return Roc.walk(*cell_climbs(t, midpoint), unit(lowest_scores(t), t.kind))


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

    >>> from scorewise.curves.smroc import smooth_roc
    >>> t = Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> segments(t, smooth_roc(t, 0.5), 0.5).appropriate
    array([1., 1., 0., 1., 1., 1.])
    """
    i = first_high(unit(t.score, t.kind), midpoint)
    right = np.concatenate((t.neg[:i], t.pos[i:]))[::-1]
    weight = (t.neg + t.pos)[::-1]
    start = np.arange(len(weight)) if len(weight) <= most else quantile_cells(most, weight)
    at = np.append(start, len(weight))
    share = add_runs(right, start) / add_runs(weight, start)
    return Segments(curve.x[at], curve.y[at], share)


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """The area for every midpoint: `area[k]` holds above `midpoint[k - 1]` up to `midpoint[k]`.

    The last midpoint is infinite: above all scores, every score is low.
    """

    midpoint: Floats
    area: Floats

    def at(self, midpoint: float) -> float:
        """The area for one midpoint."""
        return float(self.area[np.searchsorted(self.midpoint, midpoint - TOLERANCE)])


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
    above, below = cumulative_above(high_climb), cumulative(low_run)
    upper = cumulative_above(high_run * (above[1:] + high_climb / 2))
    lower = cumulative(low_climb * (below[:-1] + low_run / 2))
    height, width = above + cumulative(low_climb), cumulative_above(high_run) + below
    with np.errstate(divide="ignore", invalid="ignore"):
        area = np.minimum((upper + lower + above * below) / (height * width), 1.0)
    return Sensitivity(np.append(s, np.inf), area)


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
        positives = self.high_positive.weight + self.low_positive.weight
        return positives, self.high_negative.weight + self.low_negative.weight

    @property
    def by_score(self) -> tuple[float, float]:
        """Weight of high and of low scores."""
        high = self.high_positive.weight + self.high_negative.weight
        return high, self.low_positive.weight + self.low_negative.weight

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
    neg, pos = t.coarse.sum if t.coarse is not None else (t.neg * s, t.pos * s)
    parts = []
    for side in (slice(i, None), slice(None, i)):
        for w, total in ((t.pos, pos), (t.neg, neg)):
            weight = float(w[side].sum())
            parts.append(Part(weight, float(total[side].sum()) / weight if weight else math.nan))
    return Sets(*parts)


def tables(t: Tally, midpoint: float, threshold: float) -> tuple[Confusion, Confusion]:
    """Labels against decisions, for the rows with appropriate and for those with inappropriate scores.

    Where the threshold is the midpoint, all appropriate scores decide rightly and all others wrongly.

    >>> t = Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> [c.weight.tolist() for c in tables(t, 0.4933, 0.65)]
    [[[2, 0], [1, 2]], [[1, 0], [0, 0]]]
    """
    s = unit(t.score, t.kind)
    high, called = s >= midpoint - TOLERANCE, t.score >= threshold_on_scale(t, threshold)
    names = t.origin.negative, t.origin.positive

    def by_decision(weight: Numbers, kept: Bools) -> list[Any]:
        return [weight[kept & ~called].sum(), weight[kept & called].sum()]

    made = []
    for right in (True, False):
        negatives, positives = high != right, high == right
        weight = np.array([by_decision(t.neg, negatives), by_decision(t.pos, positives)])
        squares = np.array([by_decision(t.neg2, negatives), by_decision(t.pos2, positives)])
        made.append(Confusion(weight, squares, names))
    return made[0], made[1]
