"""What every threshold would give: ROC and precision-recall curves, their distances and their bands."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.curves.hull import pooled
from scorewise.inference.resampling import bootstrap_cells, few_cells
from scorewise.inference.scales import effective, z
from scorewise.inference.tables import Formula
from scorewise.tallies import Tally, formulas
from scorewise.tallies.confusion import Cut, on_their_scale
from scorewise.tallies.losses import expit, unit
from scorewise.tallies.smroc import Midpoint, climbs
from scorewise.tallies.sorting import Numbers

Steps = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]
POINTS = 101


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
        with np.errstate(divide="ignore", invalid="ignore"):
            cells = (x.astype(np.float64) for x in (self.tp, self.fp, self.fn, self.tn))
            return np.asarray(formula(*cells), np.float64)


@dataclass(frozen=True, eq=False)
class Curve:
    """Points (x, y) with the threshold of each; tied scores are one straight segment."""

    x: Floats
    y: Floats
    threshold: Floats


@dataclass(frozen=True, eq=False)
class Roc(Curve):
    """False positive rate (x) against true positive rate (y), from (0, 0) to (1, 1)."""

    corner: NDArray[np.int64]

    @property
    def area(self) -> float:
        """Area by trapezoids."""
        return float(np.trapezoid(self.y, self.x))

    def hull(self) -> Curve:
        """The least concave curve above: what mixing thresholds, or calibration, can reach."""
        return Curve(self.x[self.corner], self.y[self.corner], self.threshold[self.corner])


def thresholds(t: Tally) -> Thresholds:
    """The table of all thresholds."""
    at = t.score if t.coarse is None else t.coarse.low.min(0)
    above = np.concatenate(([np.inf], at[::-1].astype(np.float64)))
    none = np.zeros(1, t.pos.dtype)
    tp, fp = (np.concatenate((none, w[::-1].cumsum())) for w in (t.pos, t.neg))
    # what lies below is added up from below, so that it loses no digits to what lies above
    fn, tn = (np.concatenate((none, w.cumsum()))[::-1] for w in (t.pos, t.neg))
    return Thresholds(above, tp, fp, fn, tn)


def roc(t: Tally) -> Roc:
    """The ROC curve.

    >>> curve = roc(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> curve.x, curve.y, curve.area
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]), 0.875)
    """
    table = thresholds(t)
    # the runs count from the lowest score, the points from the highest
    corner = np.sort(len(t.score) - np.append(pooled(t), len(t.score)))
    with np.errstate(invalid="ignore"):
        x, y = table.fp / table.fp[-1], table.tp / table.tp[-1]
    return Roc(x, y, table.threshold, corner)


def precision_recall(t: Tally) -> Curve:
    """Recall (x) against precision (y); at recall 0, where nothing is called positive, precision is 1.

    >>> curve = precision_recall(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> curve.x, curve.y.round(3)
    (array([0. , 0.5, 1. , 1. ]), array([1.   , 1.   , 0.667, 0.5  ]))
    """
    table = thresholds(t)
    recall, precision = table.value(formulas.sensitivity), table.value(formulas.precision)
    precision[0] = 1.0
    return Curve(recall, precision, table.threshold)


def best_cut(t: Tally, formula: Formula = formulas.youden) -> tuple[Cut, float]:
    """The threshold at which a formula of tp, fp, fn, tn is largest (Youden's J unless said), and it.

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
    ):  # whose thresholds are probabilities, and never above the score that reaches them
        threshold = float(expit(np.array([score]))[0])
        while threshold > 0 and on_their_scale(t, threshold) > score:
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
    # upright parts have two heights at one x: from the left and from the right
    starts, ends = ((heights(a, x, side) - heights(b, x, side)) for side in ("right", "left"))
    left, right, step = starts[:-1], ends[1:], np.diff(x)
    size = np.abs(left) + np.abs(right)
    crossing = left * right < 0
    with np.errstate(invalid="ignore"):
        # two triangles, where the curves cross on the way
        area = np.where(crossing, (left**2 + right**2) / np.where(size > 0, size, 1.0), size)
    return float((step * area).sum() / 2)


def heights(curve: Curve, x: Floats, side: str) -> Floats:
    """The heights of a rising curve at x; on upright parts the top ("right") or the foot ("left")."""
    if side == "right":
        at = np.searchsorted(curve.x, x, side="right") - 1
        last = np.minimum(at + 1, len(curve.x) - 1)
        return _between(curve, at, last, x)
    at = np.searchsorted(curve.x, x, side="left")
    at = np.minimum(at, len(curve.x) - 1)
    return _between(curve, np.maximum(at - 1, 0), at, x)


def _between(curve: Curve, first: np.ndarray, last: np.ndarray, x: Floats) -> Floats:
    across = curve.x[last] - curve.x[first]
    share = np.where(across > 0, (x - curve.x[first]) / np.where(across > 0, across, 1.0), 0.0)
    exact = np.where(x == curve.x[last], 1.0, share)
    low, high = curve.y[first], curve.y[last]
    rise: Floats = low + (high - low) * np.where(across > 0, exact, 0.0)
    return rise


@dataclass(frozen=True, eq=False)
class Band:
    """The curve at the places x, and between which heights it lies there.

    With `simultaneous` the band holds the whole curve with the level's confidence; without, each point.
    """

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    level: float
    simultaneous: bool


def band(
    t: Tally,
    curve: Curve,
    steps: Steps,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    replicates: int = 1000,
    seed: int = 0,
) -> Band:
    """A band around a rising curve, whose `steps` turn cells (score, neg, pos) into climbs and runs.

    At each x the spread is that of the replicates. The simultaneous band is as many spreads wide as
    the largest deviation of a replicate, over all x, keeps within at the level (sup-t).
    """
    z(level)  # refuses a level that means nothing
    x = np.linspace(0.0, 1.0, POINTS)
    y = np.interp(x, curve.x, curve.y)
    few = few_cells(t)
    s = unit(few.score, t.kind)

    def walks(neg: Floats, pos: Floats) -> Floats:
        return np.array([_heights(x, *steps(s, n, p)) for n, p in zip(neg, pos, strict=True)])

    drawn = bootstrap_cells(_with_unseen(few), walks, replicates=replicates, seed=seed)
    centre = walks(*(w[None].astype(np.float64) for w in (few.neg, few.pos)))
    rows = effective(few.negatives + few.positives, sum(few.squares))
    low, high = _limits(drawn - centre, y, level, 0.25 / rows if simultaneous else None)
    # the curve rises, and so may its band
    low = np.clip(np.maximum.accumulate(np.minimum(low, y)), 0.0, 1.0)
    high = np.clip(np.minimum.accumulate(np.maximum(high, y)[::-1])[::-1], 0.0, 1.0)
    low[-1] = 1.0  # where every curve ends
    return Band(x, y, low, high, level, simultaneous)


def roc_steps(s: Floats, neg: Floats, pos: Floats) -> tuple[Floats, Floats]:
    """The ROC curve climbs by positives and runs by negatives."""
    return pos, neg


def smooth_steps(m: Midpoint) -> Steps:
    """Climbs and runs of smROC, whose midpoint moves with resampled cells where it is a mean."""

    def steps(s: Floats, neg: Floats, pos: Floats) -> tuple[Floats, Floats]:
        value = m.value
        if m.rule == "mean":
            value = float((s * (neg + pos)).sum() / (neg + pos).sum())
        elif m.rule == "balanced":
            value = float((s * neg).sum() / neg.sum() + (s * pos).sum() / pos.sum()) / 2
        return climbs(s, neg, pos, value)

    return steps


def _heights(x: Floats, climb: Floats, run: Floats) -> Floats:
    up, along = (np.concatenate(([0.0], w[::-1].cumsum())) for w in (climb, run))
    return np.asarray(np.interp(x, along / along[-1], up / up[-1]))


def _limits(off: Floats, y: Floats, level: float, least: float | None) -> tuple[Floats, Floats]:
    """Pointwise, or with the least spread that a curve of so many rows has, for the whole curve."""
    if least is None:
        ends = np.quantile(off, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return y + ends[0], y + ends[1]
    down, up = whole_curve(off, level, least)
    return y + down, y + up


def whole_curve(off: Floats, level: float, least: float) -> tuple[Floats, Floats]:
    """How far below and above a curve such a share of all replicates of it stay (sup-t).

    Each side is so many times its own spread, or the least: near the ends a curve can err to one side
    only, and a side on which next to no replicate lies would else decide it all.
    """
    up, down = (np.sqrt((np.maximum(side, 0.0) ** 2).mean(0)) for side in (off, -off))
    up, down = np.maximum(up, least), np.maximum(down, least)
    reach = float(np.quantile(np.where(off > 0, off / up, -off / down).max(1), level))
    return -reach * down, reach * up


def _with_unseen(t: Tally) -> Tally:
    """The same with one more row of each class, spread over the cells as all rows are.

    A resample has no rows where the sample has none; the next row of a class may yet lie there.
    """
    share = (t.neg + t.pos) / (t.negatives + t.positives)
    rows = [w2 / w for w, w2 in zip((t.negatives, t.positives), t.squares, strict=True)]
    neg, pos = (w + r * share for w, r in zip((t.neg, t.pos), rows, strict=True))
    neg2, pos2 = (w + r * r * share for w, r in zip((t.neg2, t.pos2), rows, strict=True))
    return Tally(t.score, neg, pos, neg2, pos2, t.kind)
