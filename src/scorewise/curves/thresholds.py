"""What every threshold would give: ROC and precision-recall curves, their distances and their bands."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.checks import check
from scorewise.curves.hull import pav_blocks
from scorewise.inference.resampling import CELLS, bootstrap_cells
from scorewise.inference.scales import effective_size
from scorewise.inference.shares import run_shares
from scorewise.inference.tables import Formula
from scorewise.statistics.formulas import DECISIONS, value_at_cuts
from scorewise.statistics.smroc import Midpoint, climbs, midpoints
from scorewise.tallies import Tally
from scorewise.tallies.coarse import pool
from scorewise.tallies.confusion import Cut, threshold_on_scale
from scorewise.tallies.losses import expit, unit
from scorewise.tallies.sorting import Numbers

Steps = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]
_BAND_X = np.linspace(0.0, 1.0, 101)  # where bands are drawn


@dataclass(frozen=True, eq=False)
class Thresholds:
    """tp, fp, fn, tn at every distinct threshold, from above all scores (nothing is positive) down.

    A row is called positive when its score >= threshold; the first threshold is infinite.

    >>> table = thresholds(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> table.threshold, table.tp, table.fp
    (array([inf, 0.8, 0.3, 0.1]), array([0, 1, 2, 2]), array([0, 0, 1, 2]))
    """

    threshold: Floats
    tp: Numbers
    fp: Numbers
    fn: Numbers
    tn: Numbers

    def value(self, formula: Formula) -> Floats:
        """A formula of tp, fp, fn, tn at every threshold; NaN where it is undefined."""
        return value_at_cuts(formula, (self.tp, self.fp, self.fn, self.tn))


@dataclass(frozen=True, eq=False)
class Curve:
    """Points (x, y) with the threshold of each; tied scores are one straight segment."""

    x: Floats
    y: Floats
    threshold: Floats


@dataclass(frozen=True, eq=False)
class Roc(Curve):
    """A curve that climbs and runs by what is on each cell, from the highest score down to (1, 1).

    The ROC curve climbs by positives and runs by negatives, the score-weighted one by parts of both.
    `climb` and `run` are those of the cells; `height` and `width` are their sums, the sides of the
    rectangle in which the curve runs before it is scaled to the unit square.
    """

    climb: Numbers
    run: Numbers

    @staticmethod
    def walk(climb: Numbers, run: Numbers, score: Any) -> Roc:
        """The curve of climbs and runs of cells that are given from the lowest score up."""
        up, along = cumulative(climb[::-1]), cumulative(run[::-1])
        threshold = np.concatenate(([np.inf], score[::-1].astype(np.float64)))
        with np.errstate(invalid="ignore"):
            return Roc(along / along[-1], up / up[-1], threshold, climb[::-1], run[::-1])

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

    @property
    def gap(self) -> float:
        """The area between the curve and its hull: how far the scores are from calibration."""
        hull = self.hull()
        return max(0.0, float(np.trapezoid(hull.y, hull.x)) - self.area)

    def rectangle(self) -> Curve:
        """The curve before scaling, from (0, 0) to (width, height)."""
        return Curve(cumulative(self.run), cumulative(self.climb), self.threshold)

    def hull(self) -> Curve:
        """The least concave curve above: what mixing thresholds, or calibration, can reach."""
        # the runs count from the lowest score, the points from the highest
        at = np.sort(len(self.run) - np.append(self._pooled, len(self.run)))
        return Curve(self.x[at], self.y[at], self.threshold[at])

    def slopes(self) -> Floats:
        """For each cell, from the highest score down, climb / (climb + run) on its part of the hull.

        This is the isotonic regression of labels, or of climbs of rows, on their scores.
        """
        return run_shares(self.run[::-1], self.climb[::-1], self._pooled)[::-1]

    @cached_property
    def _pooled(self) -> Ints:
        return pav_blocks(self.run[::-1], self.climb[::-1])


def cumulative(parts: Any) -> Any:
    """The sums of what comes before each part, and of all.

    >>> cumulative(np.array([3, 1, 2]))
    array([0, 3, 4, 6])
    """
    return np.concatenate((np.zeros(1, parts.dtype), parts.cumsum()))


def cumulative_above(parts: Any) -> Any:
    """The sums of what comes after each boundary of parts, from the first to the last.

    >>> cumulative_above(np.array([3, 1, 2]))
    array([6, 3, 2, 0])
    """
    return cumulative(parts[::-1])[::-1]


def thresholds(t: Tally) -> Thresholds:
    """The table of all thresholds."""
    above = np.concatenate(([np.inf], lowest_scores(t)[::-1].astype(np.float64)))
    tp, fp = (cumulative(w[::-1]) for w in (t.pos, t.neg))
    # what lies below is added up from below, so that it loses no digits to what lies above
    fn, tn = (cumulative(w)[::-1] for w in (t.pos, t.neg))
    return Thresholds(above, tp, fp, fn, tn)


def roc(t: Tally) -> Roc:
    """The ROC curve.

    >>> curve = roc(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> curve.x, curve.y, curve.area
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]), 0.875)
    """
    return Roc.walk(t.pos, t.neg, lowest_scores(t))


def lowest_scores(t: Tally) -> Any:
    """The score from which on a cell counts as positive: the lowest of its scores."""
    return t.score if t.coarse is None else t.coarse.low.min(0)


def precision_recall(t: Tally) -> Curve:
    """Recall (x) against precision (y); at recall 0, where nothing is called positive, precision is 1.

    >>> curve = precision_recall(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> curve.x, curve.y.round(3)
    (array([0. , 0.5, 1. , 1. ]), array([1.   , 1.   , 0.667, 0.5  ]))
    """
    table = thresholds(t)
    recall, precision = (table.value(DECISIONS[name]) for name in ("sensitivity", "precision"))
    precision[0] = 1.0
    return Curve(recall, precision, table.threshold)


def best_cut(t: Tally, formula: Formula = DECISIONS["youden"]) -> tuple[Cut, float]:
    """The threshold with the largest value of a formula of tp, fp, fn, tn (Youden's J), and that value.

    The highest such threshold if there are several. It is the largest value that still gives these
    decisions; the cut says the whole interval.

    >>> best_cut(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    (Cut(threshold=0.8, above=0.3, upto=0.8), 0.5)
    """
    table = thresholds(t)
    value = table.value(formula)
    if np.isnan(value).all():
        return Cut(np.nan, np.nan, np.nan), np.nan
    best = int(np.nanargmax(value))
    score = threshold = float(table.threshold[best])
    if (
        t.kind == "logit"
    ):  # whose thresholds are probabilities, none above the score that reaches it
        threshold = float(expit(np.array([score]))[0])
        while threshold > 0 and threshold_on_scale(t, threshold) > score:
            threshold = math.nextafter(threshold, 0.0)
    return t.cut(threshold), float(value[best])


def distance(a: Curve, b: Curve) -> float:
    """The area between two rising curves on [0, 1]: the mean of their vertical distances.

    >>> diagonal = Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]), np.array([np.inf, 0.0]))
    >>> corner = Curve(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0]), np.array([np.inf, 1.0, 0.0]))
    >>> distance(diagonal, corner)
    0.5
    """
    x = np.unique(np.concatenate((a.x, b.x)))
    # upright parts have two heights at one x: the top, and from the other side the foot
    starts = np.interp(x, a.x, a.y) - np.interp(x, b.x, b.y)
    ends = np.interp(-x, -a.x[::-1], a.y[::-1]) - np.interp(-x, -b.x[::-1], b.y[::-1])
    left, right, step = starts[:-1], ends[1:], np.diff(x)
    size = np.abs(left) + np.abs(right)
    crossing = left * right < 0
    with np.errstate(invalid="ignore"):
        # two triangles, where the curves cross on the way
        area = np.where(crossing, (left**2 + right**2) / np.where(size > 0, size, 1.0), size)
    return float((step * area).sum() / 2)


@dataclass(frozen=True, eq=False)
class Band:
    """A curve at the places x, and limits of its height there.

    With `simultaneous` the band holds the whole curve with the level's confidence; without, each point.
    """

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    level: float
    simultaneous: bool


def band(
    t: Tally, curve: Curve, steps: Steps, *, level: float = 0.95, simultaneous: bool = False,
    replicates: int = 1000, seed: int = 0,
) -> Band:  # fmt: skip
    """A band around a rising curve, whose `steps` turn cells (score, neg, pos) into climbs and runs.

    At each x the spread is that of the replicates. The simultaneous band is as many spreads wide as
    the largest deviation of a replicate, over all x, keeps within at the level (sup-t).
    """

    def heights(*cells: Floats) -> Floats:
        up, along = (cumulative(part[::-1]) for part in steps(*cells))
        return np.asarray(np.interp(_BAND_X, along / along[-1], up / up[-1]))

    y = np.interp(_BAND_X, curve.x, curve.y)
    b = _band(t, y, heights, level, simultaneous, replicates, seed)
    # the curve rises, and so may its band
    low, high = np.maximum.accumulate(b.low), np.minimum.accumulate(b.high[::-1])[::-1]
    low[-1] = 1.0  # where every curve ends
    return replace(b, low=low, high=high)


def precision_band(
    t: Tally, *, level: float = 0.95, simultaneous: bool = False, replicates: int = 1000,
    seed: int = 0,
) -> Band:  # fmt: skip
    """A band around the precision-recall curve: at each recall, as far as replicates of it spread.

    >>> b = precision_band(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> bool((b.low <= b.y).all() and (b.y <= b.high).all())
    True
    """
    y = _precisions(t.pooled.score, *(w.astype(np.float64) for w in (t.pooled.neg, t.pooled.pos)))
    return _band(t, y, _precisions, level, simultaneous, replicates, seed)


def _precisions(s: Any, neg: Floats, pos: Floats) -> Floats:
    """The precision of the highest threshold that reaches each recall."""
    tp, fp = pos[::-1].cumsum(), neg[::-1].cumsum()
    at = np.minimum(np.searchsorted(tp, _BAND_X * tp[-1] * (1 - 1e-12)), len(tp) - 1)
    # nothing is called positive before the first rows
    return np.asarray(np.where(tp[at] > 0, tp[at] / np.maximum(tp[at] + fp[at], 1e-300), 1.0))


def _band(
    t: Tally, y: Floats, heights: Callable[[Floats, Floats, Floats], Floats], level: float,
    simultaneous: bool, replicates: int, seed: int,
) -> Band:  # fmt: skip
    """A band around heights of a curve of cells (score, neg, pos), by those of bootstrapped cells."""
    check(level=level)
    few = pool(t.pooled, CELLS)
    s = unit(few.score, t.kind)

    def each(neg: Floats, pos: Floats) -> Floats:
        return np.array([heights(s, n, p) for n, p in zip(neg, pos, strict=True)])

    drawn = bootstrap_cells(_with_next_rows(few), each, replicates=replicates, seed=seed)
    off = drawn - each(*(w[None].astype(np.float64) for w in (few.neg, few.pos)))
    rows = effective_size(few.negatives + few.positives, sum(few.squares))
    down, up = reaches(off, level, 0.25 / rows, simultaneous)
    low, high = (np.clip(y + way, 0.0, 1.0) for way in (down, up))
    return Band(_BAND_X.copy(), y, low, high, level, simultaneous)


def reaches(off: Floats, level: float, least: float, simultaneous: bool) -> tuple[Floats, Floats]:
    """How far its replicates reach below and above a curve, at each place or everywhere at once.

    Everywhere (sup-t) each side is so many times its own spread, or the least: near the ends a curve can
    err to one side only, and a side on which next to no replicate lies would else decide it all.
    """
    if not simultaneous:
        ends = np.quantile(off, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return np.minimum(ends[0], 0.0), np.maximum(ends[1], 0.0)
    up, down = (np.sqrt((np.maximum(side, 0.0) ** 2).mean(0)) for side in (off, -off))
    up, down = np.maximum(up, least), np.maximum(down, least)
    reach = float(np.quantile(np.where(off > 0, off / up, -off / down).max(1), level))
    return -reach * down, reach * up


def roc_steps(s: Floats, neg: Floats, pos: Floats) -> tuple[Floats, Floats]:
    """The ROC curve climbs by positives and runs by negatives."""
    return pos, neg


def smooth_steps(m: Midpoint) -> Steps:
    """Climbs and runs of smROC, whose midpoint moves with resampled cells where it is a mean."""

    def steps(s: Floats, neg: Floats, pos: Floats) -> tuple[Floats, Floats]:
        if m.rule == "mean" or m.rule == "balanced":
            return climbs(s, neg, pos, midpoints(s, neg, pos, m.rule))
        return climbs(s, neg, pos, m.value)

    return steps


def _with_next_rows(t: Tally) -> Tally:
    """The same with one more row of each class, spread over the cells like all rows.

    A resample has no rows where the sample has none; the next row of a class may yet lie there.
    """
    share = (t.neg + t.pos) / (t.negatives + t.positives)
    rows = [w2 / w for w, w2 in zip((t.negatives, t.positives), t.squares, strict=True)]
    neg, pos = (w + r * share for w, r in zip((t.neg, t.pos), rows, strict=True))
    neg2, pos2 = (w + r * r * share for w, r in zip((t.neg2, t.pos2), rows, strict=True))
    return Tally(t.score, neg, pos, neg2, pos2, t.kind)
