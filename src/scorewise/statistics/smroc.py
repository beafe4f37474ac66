"""The score-weighted ROC curve (smROC) of a tally: the midpoint, climbs and runs, and their bounds.

The midpoint is where a score turns from low to high. A score is appropriate if it is high (at or above
the midpoint) on a positive, or low on a negative. A row climbs by v and runs by 1 - v, where v = s if its
score s is appropriate and 1 - s if it is not. Scores of 0 and 1 thus climb or run by a whole row, as on the
ROC curve; a score of 0.5 does half of each.

A coarse tally knows the sum of the scores of each class in a cell, so it knows climb and run of every
cell but the one that holds the midpoint. What is open is the order within cells, and that cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.checks import check
from scorewise.columns.rows import nearly_inside
from scorewise.computing import on_threads
from scorewise.errors import BadInput, Option, Setting
from scorewise.statistics.formulas import median
from scorewise.statistics.kernels import kernel_matrix, reflections, silverman
from scorewise.statistics.probabilities import why_not_probabilities
from scorewise.tallies.coarse import order_within, pool, tied_within
from scorewise.tallies.losses import unit
from scorewise.tallies.tally import Block, Tally

Rule: TypeAlias = Literal["mean", "balanced", "median", "crossing"]
FoundBy: TypeAlias = Rule | Literal["fixed", "learned"]

_FAR = 0.2
_CELLS, _STEPS = 2048, 256
_EDGES = reflections((0.0, 1.0), 1.0)
MIN_BANDWIDTH = 0.005  # scores of one class that are all equal have a density, too
TOLERANCE = 1e-12  # a score this near the midpoint is at it: sums of floats are rounded
MIN_ROUNDING = 1e-12  # of an area: what rounding leaves of ordinary ones


def far_from_half(value: float) -> bool:
    """Whether a midpoint is so far from 0.5 that wrong scores may climb more than right ones."""
    return abs(value - 0.5) > _FAR


class Midpoint(NamedTuple):
    """The midpoint, how it was found, and between which values it lies when the tally is coarse."""

    value: float
    rule: FoundBy
    low: float
    high: float


def midpoint(t: Tally, rule: Rule | float | Tally = "mean") -> Midpoint:
    """The midpoint of a tally whose scores have a place on [0, 1]; for logits, of the probabilities.

    "mean": of all scores, which is the mean of the class means, each weighted by its class.
    "balanced": of the two class means. "median": of the two class medians. "crossing": where the
    densities of the classes cross. A number is taken as it is, in the precision of the scores ("fixed").
    Another tally, for instance of a validation set, gives its mean ("learned").

    >>> t = Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> [round(midpoint(t, rule).value, 3) for rule in ("mean", "balanced", "median", 0.5)]
    [0.493, 0.493, 0.45, 0.5]
    """
    if isinstance(rule, Tally):
        if why := why_not_unit(rule) or rule.why_not_ranked:
            raise BadInput(f"no midpoint can be learned from that tally: {why}")
        return midpoint(rule)._replace(rule="learned")
    check(midpoint=rule)
    if not isinstance(rule, str):
        return _fixed(rule, t)
    weights = t.negatives, t.positives
    if rule == "mean":  # which one class is enough for
        low = high = sum(class_sums(t)) / sum(weights)
    elif rule == "balanced":
        low = high = sum(x / w for x, w in zip(class_sums(t), weights, strict=True)) / 2
    elif (
        rule == "median"
    ):  # between which values those of the classes lie, where the tally is coarse
        coarse = t.coarse
        ends = [[t.score] * 2] * 2 if coarse is None else [coarse.low, coarse.high]
        low, high = (
            sum(float(median(unit(x, t.kind), w)) for x, w in zip(end, (t.neg, t.pos), strict=True))
            / 2
            for end in ends
        )
    else:
        low = high = crossing(t)
    return Midpoint((low + high) / 2, rule, low, high)


def midpoints(s: Floats, neg: Any, pos: Any, rule: Literal["mean", "balanced", "median"]) -> Any:
    """The same by a rule, of weights on increasing scores (the last axis); before it are replicates.

    >>> midpoints(np.array([0.2, 0.8]), np.array([[2, 0], [1, 1]]), np.array([[0, 2], [0, 2]]), "mean")
    array([0.5 , 0.65])
    """
    if rule == "mean":
        return _mean(s, neg + pos)
    of_class = _mean if rule == "balanced" else median
    return (of_class(s, neg) + of_class(s, pos)) / 2


def _mean(s: Floats, w: Any) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return (s * w).sum(-1) / w.sum(-1)


def _fixed(value: Any, t: Tally) -> Midpoint:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= 1:
        raise BadInput(Setting("midpoint"), f" must be a number from 0 to 1; got {value!r}")
    if t.kind != "logit":  # in the precision of the scores, as a threshold is
        number = float(t.precision.type(number))
    return Midpoint(number, "fixed", number, number)


def crossing(t: Tally) -> float:
    """The score between the class means at which both class densities are equal.

    Each class counts as much as the other. The densities are Gaussian kernels of Silverman's width,
    reflected at 0 and 1. Where they cross more than once, the crossing nearest to the middle of the
    class means is taken. Beyond 2,048 distinct scores the densities are those of as many pooled cells.

    >>> round(crossing(Tally.of([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.8, 0.9])), 6)
    0.5
    """
    from scipy.optimize import brentq

    if t.coarse is not None:
        raise BadInput(
            "a coarse tally does not know where densities cross; choose another midpoint, ",
            "such as ", Option("midpoint", "balanced"),
        )  # fmt: skip
    pooled = pool(t, _CELLS)
    lead, means = _leads(pooled, pooled.neg, pooled.pos)
    low, high = sorted(means)
    x = np.linspace(low, high, _STEPS + 1)
    above = lead(x) > 0
    turns = np.flatnonzero(above[1:] != above[:-1])
    if not len(turns):
        raise BadInput(
            "the densities of the classes do not cross between the class means; choose another ",
            "midpoint, such as ", Option("midpoint", "balanced"),
        )  # fmt: skip
    middle = (low + high) / 2
    i = min(turns, key=lambda i: abs((x[i] + x[i + 1]) / 2 - middle))
    ends = float(x[i]), float(x[i + 1])
    return float(brentq(lambda x: float(lead(np.array([x]))[0]), *ends, xtol=1e-14))


def _leads(t: Tally, neg: Any, pos: Any) -> tuple[Callable[[Floats], Floats], list[Any]]:
    """By how much the density of the positives is above that of the negatives, and the class means.

    Of weights on the cells of a tally, which may be replicates; the widths of the kernels are the tally's.
    """
    s, widths = unit(t.score, t.kind), kernel_widths(t)
    shares = [w / w.sum(-1, keepdims=True) for w in (neg, pos)]

    def lead(x: Floats) -> Floats:
        below, above = (
            share @ kernel_matrix(x, s, h, _EDGES).T
            for share, h in zip(shares, widths, strict=True)
        )
        return np.asarray(above - below)

    return lead, [share @ s for share in shares]


def crossings(t: Tally, neg: Floats, pos: Floats) -> Floats:
    """The same for other weights on the same cells (rows: resamples); fast, and on a grid.

    The widths of the kernels stay those of the tally. NaN where the densities do not cross.
    """
    lead, means = _leads(t, neg, pos)
    x, ends = np.linspace(0.0, 1.0, _STEPS + 1), np.sort(means, axis=0).T
    return np.array([_turn(x, row, *end) for row, end in zip(lead(x), ends, strict=True)])


def _turn(x: Floats, lead: Floats, low: float, high: float) -> float:
    up = lead > 0
    turns = np.flatnonzero((up[1:] != up[:-1]) & (x[1:] > low) & (x[:-1] < high))
    if not len(turns):
        return math.nan
    i = turns[np.abs(x[turns] - (low + high) / 2).argmin()]
    return float(x[i] + (x[i + 1] - x[i]) * lead[i] / (lead[i] - lead[i + 1]))


def kernel_widths(t: Tally) -> list[float]:
    """The widths of the kernels of the negatives and of the positives."""
    s = unit(t.score, t.kind)
    shares = [w / total for w, total in ((t.neg, t.negatives), (t.pos, t.positives))]
    rows = [w * w / w2 for w, w2 in zip((t.negatives, t.positives), t.squares, strict=True)]
    return [max(MIN_BANDWIDTH, silverman(s, w, n)) for w, n in zip(shares, rows, strict=True)]


def why_not_unit(t: Tally) -> str:
    """Why the scores have no place on [0, 1], or nothing."""
    low, high = t.ends
    if t.kind == "logit" or not len(t.score) or (low >= 0 and high <= 1):
        return ""
    if nearly_inside(low, high):
        return why_not_probabilities(t)
    return (
        f"scores {t.written_ends} lie outside [0, 1]; rescale them to it, or declare their "
        f"kind as logit if they are logits"
    )


def first_high(s: Floats, midpoint: float) -> int:
    """Where, among increasing scores, those at or above the midpoint begin.

    >>> first_high(np.array([0.1, 0.2, 0.3]), 0.2)
    1
    """
    return int(np.searchsorted(s, midpoint - TOLERANCE))


def climbs(s: Floats, neg: Any, pos: Any, midpoint: Any) -> tuple[Floats, Floats]:
    """The climb and the run of each cell, from the lowest score up (along the last axis).

    Replicates of weights stand along the axes before it, and each may have a midpoint of its own.

    >>> s, neg, pos = np.array([0.2, 0.7]), np.array([1, 1]), np.array([0, 1])
    >>> climbs(s, neg, pos, 0.5)
    (array([0.2, 1. ]), array([0.8, 1. ]))
    """
    # those whose climb is the score itself, and those who climb by the rest
    by_score, by_rest = _split(s, neg, pos, midpoint), _split(s, pos, neg, midpoint)
    # in place, which is twice as fast
    lead = by_score - by_rest
    lead *= s
    by_rest += lead
    by_score -= lead
    return by_rest, by_score


def _split(s: Floats, low: Any, high: Any, midpoint: Any) -> Floats:
    """One column below the midpoint and another from it on; replicates may each have a midpoint."""
    if np.ndim(midpoint):
        chosen: Floats = np.where(s >= np.asarray(midpoint)[..., None] - TOLERANCE, high, low)
        return chosen.astype(np.float64, copy=False)
    first = first_high(s, midpoint)
    return np.concatenate((low[..., :first], high[..., first:]), axis=-1, dtype=np.float64)


def cell_climbs(t: Tally, midpoint: float) -> tuple[Floats, Floats]:
    """The same for all cells of a tally.

    A coarse tally knows the sums of scores of each class in a cell, and with them its climb exactly,
    except in the cell that holds the midpoint.
    """
    s = unit(t.score, t.kind)
    if t.coarse is None:
        return climbs(s, t.neg, t.pos, midpoint)
    (neg, pos), (neg_sum, pos_sum) = (t.neg, t.pos), t.coarse.sum
    climb = _split(s, neg_sum, pos_sum, midpoint) + _split(
        s, pos - pos_sum, neg - neg_sum, midpoint
    )
    return climb, (neg + pos) - climb


def row_climbs(y: Bools, s: Floats, midpoint: float) -> Floats:
    """The climb of single rows; each runs by the rest.

    >>> row_climbs(np.array([True, False]), np.array([0.7, 0.7]), 0.5).round(3)
    array([0.7, 0.3])
    """
    return np.where(appropriate(y, s, midpoint), s, 1 - s)


def appropriate(y: Bools, s: Floats, midpoint: float) -> Bools:
    """Whether each score is high on a positive or low on a negative."""
    return np.asarray((s >= midpoint - TOLERANCE) == y)


def class_sums(t: Tally) -> tuple[float, float]:
    """The sums of the scores (on [0, 1]) of the negatives and of the positives."""
    if t.coarse is not None:
        neg, pos = t.coarse.sum.sum(1).tolist()
        return neg, pos

    def sums(b: Block) -> tuple[float, float]:
        s = unit(b.score, t.kind)
        of_pos = b.pos * s
        # of a row on each score, all that are not positive are negative
        of_neg = s - of_pos if t.distinct else b.neg * s
        return of_neg.sum().item(), of_pos.sum().item()

    both = on_threads(sums, list(t.blocks()))
    return sum(neg for neg, _ in both), sum(pos for _, pos in both)


def smooth_bounds(t: Tally, m: Midpoint) -> tuple[float, float]:
    """Between which values the area of the exact tally lies; NaN where its rectangle may be empty.

    >>> from scorewise.statistics.smroc import midpoint
    >>> t = Tally.of([1, 0, 1, 0], [0.7000001, 0.7000002, 0.7000003, 0.1]).coarsen()
    >>> [round(x, 3) for x in smooth_bounds(t, midpoint(t))]
    [0.576, 0.778]
    """
    assert t.coarse is not None
    weight, (neg_sum, pos_sum) = np.stack([t.neg, t.pos]).astype(np.float64), t.coarse.sum
    absent = weight == 0
    low, high = (np.where(absent, 0.0, unit(x, t.kind)) for x in (t.coarse.low, t.coarse.high))
    # whether all scores of a cell are high, or all low; all others are treated as open
    side, below = (
        (x | absent).all(0) for x in (low >= m.high - TOLERANCE, high < m.low - TOLERANCE)
    )
    settled, total = side | below, weight.sum(0)
    known = np.where(side, pos_sum + weight[0] - neg_sum, weight[1] - pos_sum + neg_sum)
    # a row of an open cell may climb by its score or by the rest
    least = np.where(settled, known, (weight * np.minimum(low, 1 - high)).sum(0))
    highest = np.where(settled, known, (weight * np.maximum(high, 1 - low)).sum(0))
    inside = _inside(t, weight, low, high, side, known)
    inside = (
        np.where(settled, inside[0], 0.0),
        np.where(settled, inside[1], highest * (total - least)),
    )
    under = [
        float((climb * (run.cumsum() - run)).sum() + within.sum())
        for climb, run, within in zip(
            (least, highest), (total - highest, total - least), inside, strict=True
        )
    ]
    # the smallest and the largest rectangle whose sides add up to the total
    mass, sides = float(total.sum()), (float(least.sum()), float(highest.sum()))
    areas = [x * (mass - x) for x in sides]
    largest = mass * mass / 4 if sides[0] <= mass / 2 <= sides[1] else max(areas)
    if not min(areas) > 0:
        return math.nan, math.nan
    # sums are known to a rounding of the whole, which is much of a side that is far smaller than it
    lost = float(4 * np.finfo(np.float64).eps * mass * mass / min(areas))
    rounding = lost if lost >= MIN_ROUNDING else 0.0
    return max(0.0, under[0] / largest - rounding), min(1.0, under[1] / min(areas) + rounding)


def _inside(
    t: Tally, weight: Floats, low: Floats, high: Floats, side: Bools, climb: Floats
) -> tuple[Floats, Floats]:
    """Between which values the area within each cell lies, in units of climb x run.

    If all were tied it would be half of climb x run. A pair adds to that half the difference of its
    climbs, with the sign of the difference of its scores: for two rows of a class that is known and
    no more than their distance; for a positive and a negative it is s + s' - 1, whose sign depends on
    which of them is higher.
    """
    assert t.coarse is not None
    (neg, pos), (neg_sum, pos_sum) = weight, t.coarse.sum
    apart = weight**2 * (high - low) / 8
    above, below = np.where(side, apart[1], apart[0]), np.where(side, apart[0], apart[1])
    order = order_within(t)
    sign = np.where(side, 1.0, -1.0) * np.where(tied_within(t), 0, order)
    known = sign * (neg * pos_sum + pos * neg_sum - neg * pos) / 2
    reach = neg * pos * np.maximum(abs(low.sum(0) - 1), abs(high.sum(0) - 1)) / 2
    cross_low, cross_high = (np.where(order == 0, way * reach, known) for way in (-1, 1))
    half = climb * (neg + pos - climb) / 2
    return np.maximum(half - below + cross_low, 0.0), half + above + cross_high
