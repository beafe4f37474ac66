"""Areas under ROC and precision-recall curves from the cells of a tally, with variances and intervals."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.computing import inner, on_threads, once
from scorewise.inference.scales import (
    Component,
    Side,
    Variance,
    bisection,
    effective_size,
    limits,
    normal_quantile,
    pooled_variance,
    sandwich,
    single_row,
    sum_of_variances,
)
from scorewise.statistics.formulas import auroc, largest_gaps, midranks
from scorewise.tallies import Tally
from scorewise.tallies.coarse import pool
from scorewise.tallies.losses import Moments
from scorewise.tallies.runs import ALL_CELLS, AllCells
from scorewise.tallies.tally import Block

MIN_ROWS = 10  # rows of a class, below which DeLong's variance is not trusted
MIN_FREEDOM = 20  # degrees of freedom of that variance, from which on it is trusted fully
_MANY = 1000  # degrees of freedom, beyond which more of them change nothing
_CELLS = 32  # thresholds: more find hardly a larger maximum
_PAIRS = 300  # draws of noise, each also taken with the other sign
_STEPS = 8


def auroc_value(t: Tally) -> float:
    """Share of pairs (positive, negative) in the right order, ties counting half.

    >>> auroc_value(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    0.875
    """
    if t.distinct and not t.why_not_ranked:
        return _steps(t).below / int(t.negatives * t.positives)
    # weights may add up to slightly more than all pairs
    return min(1.0, float(auroc(t.neg, t.pos)))


class _Steps(NamedTuple):
    """What one pass over the positives finds where each row has a score of its own.

    `below` adds up the negatives below each positive, `below2` their squares, and `above2` the squares of
    the positives below each negative, all exactly; `step` and `line` the precisions that positives get.
    `up` and `down` are the largest gaps of `largest_gaps`, with their places.
    """

    below: int
    below2: int
    above2: int
    step: float
    line: float
    up: tuple[float, int]
    down: tuple[float, int]


@once
def _steps(t: Tally) -> _Steps:
    """The sums of all measures of ranking, from the places of the positives alone."""
    neg, pos = t.negatives, t.positives

    def of_block(b: Block) -> _Steps:
        at = np.flatnonzero(b.pos > 0)
        positives, negatives, rank = len(at), len(b.pos) - len(at), np.arange(len(at))
        below = at - rank
        once, under, beyond = int(below.sum()), int(b.neg_below), int(b.pos_below)
        # summed by parts over the negatives: how many positives of the block lie below them, squared
        squares = positives * positives * negatives - 2 * int((below * rank).sum()) - once
        sums = (
            once + positives * under,
            int((below * below).sum()) + under * (2 * once + positives * under),
            squares + beyond * (2 * (positives * negatives - once) + negatives * beyond),
        )
        if not positives:
            return _Steps(*sums, 0.0, 0.0, (0.0, 0), (0.0, 0))
        # distribution functions are the furthest apart just before or just behind a positive
        lead = below * pos - rank * neg
        i, j, first = int(lead.argmax()), int(lead.argmin()), under + beyond
        up = (under + int(below[i])) / neg - (beyond + i) / pos
        down = (beyond + j + 1) / pos - (under + int(below[j])) / neg
        tp, rows = (pos - beyond) - rank, (neg + pos - first) - at
        step = float((tp / rows).sum())
        tp -= 1
        rows -= 1
        if not rows[-1]:  # above the highest score precision is 1 by convention
            tp[-1] = rows[-1] = 1
        line = (step + float((tp / rows).sum())) / 2
        ends = (up, first + int(at[i])), (down, first + int(at[j]) + 1)
        return _Steps(*sums, step, line, *ends)

    *sums, up, down = zip(*on_threads(of_block, list(t.blocks())), strict=True)
    largest = (max((0.0, 0), *side, key=lambda end: end[0]) for side in (up, down))
    return _Steps(*(sum(column) for column in sums), *largest)


def ks_gaps(t: Tally) -> tuple[float, float, int, int]:
    """`largest_gaps` of the scores of the two classes, and their places."""
    if t.distinct and not t.why_not_ranked:
        (up, at_up), (down, at_down) = _steps(t)[-2:]
        return up, down, at_up, at_down
    up, down, at_up, at_down = largest_gaps(t.neg, t.pos)
    return float(up), float(down), int(at_up), int(at_down)


def auroc_variance(t: Tally, auc: float) -> Variance:
    """Variance of the area (DeLong et al. 1988), by the placements of the cells."""
    neg, pos = t.negatives, t.positives
    if t.distinct and t.coarse is None:
        n, p, steps = int(neg), int(pos), _steps(t)
        spread_pos = (steps.below2 * p - steps.below**2) / (p * n * n)
        spread_neg = (steps.above2 * n - (n * p - steps.below) ** 2) / (n * p * p)
    else:
        both = on_threads(lambda b: placement_squares(b, (neg, pos), auc), list(t.blocks()))
        spread_pos, spread_neg = (sum(side) for side in zip(*both, strict=True))
    neg2, pos2 = t.squares
    rows_pos, rows_neg = effective_size(pos, pos2), effective_size(neg, neg2)
    if single_row(rows_pos) or single_row(rows_neg):  # whose distance from its mean is 0
        return Variance(math.nan, math.nan)
    return pooled_variance((spread_pos / pos**2, rows_pos), (spread_neg / neg**2, rows_neg))


def placement_squares(b: Block, totals: tuple[Any, Any], auc: Any, by: AllCells = ALL_CELLS) -> Any:
    """Of positives and of negatives, the squares of the distances of their placements from the area.

    `totals` are the weights of the negatives and of the positives of all blocks, or of each group.
    """
    neg, pos = map(by.of, totals)
    # twice the weight of the other class below a cell, its own counted half
    below = (2 * by.upto(b.neg) - b.neg).astype(np.float64, copy=False)
    above = (2 * by.upto(b.pos) - b.pos).astype(np.float64, copy=False)
    below *= 0.5 / neg
    below += b.neg_below / neg - by.of(auc)
    above *= -0.5 / pos
    above += 1 - b.pos_below / pos - by.of(auc)
    below *= below
    above *= above
    return by.add(b.pos2 * below), by.add(b.neg2 * above)


def least_freedom(variance: Any, *sides: tuple[Any, Any, Any], by: AllCells = ALL_CELLS) -> Any:
    """A bound of the degrees of freedom of DeLong's variance: no row brings more than if wholly misplaced.

    `sides` are the weights of the cells of both classes, those of their squares, and sums of the former.
    """
    heaviest: Any = 0.0
    for w, w2, total in sides:
        heavy = 1.0 if w2 is w else by.most(np.divide(w2, w, out=np.zeros(len(w)), where=w > 0))
        heaviest = np.maximum(heaviest, heavy / total)
    return 2 * variance / heaviest**2


def _carried(t: Tally, auc: float, variance: float) -> float:
    """Degrees of freedom of DeLong's variance, which few rows may bring; or a bound that is enough."""
    sides = (t.neg, t.neg2, t.negatives), (t.pos, t.pos2, t.positives)
    least: float = least_freedom(variance, *sides)
    if least > MIN_FREEDOM:
        return least
    pooled = t.pooled
    below = (midranks(pooled.neg) / t.negatives - auc) / t.positives
    above = (1 - midranks(pooled.pos) / t.positives - auc) / t.negatives
    sides = (pooled.pos, pooled.pos2, below), (pooled.neg, pooled.neg2, above)
    df: float = sum_of_variances(*map(sandwich, sides)).df
    return df if df > 0 else math.inf


def auroc_limits(t: Tally, auc: float, level: float) -> tuple[float, float, str]:
    """Interval of the area and its name: DeLong on the logit scale, where that says something.

    Student's quantile with Welch's degrees of freedom, because a class may have few rows. With fewer
    than ten rows in a class, or all pairs in one order, DeLong's variance is unreliable or 0; then the
    score interval with the Hanley-McNeil variance (Newcombe 2006, method 5) is taken. Where few rows
    bring most of DeLong's variance, the limit towards 0.5 is Newcombe's if that is further out: the rows
    that would lower an area near 1 may not have been seen.
    """
    # with a tolerance, because weights that are all equal may add up to 9.999...
    if min(class_sizes(t)) > MIN_ROWS - 1e-9 and 0 < auc < 1:
        variance = auroc_variance(t, auc)
        if variance.informative():
            low, high = limits(auc, variance, level, "logit")
            if _carried(t, auc, variance.variance) < MIN_FREEDOM:
                least, highest = newcombe_limits(auc, *class_sizes(t), level)
                low, high = (min(low, least), high) if auc > 0.5 else (low, max(high, highest))
            return low, high, "DeLong, logit"
    return *newcombe_limits(auc, *class_sizes(t), level), "Newcombe"


def class_sizes(t: Tally) -> tuple[float, float]:
    """Rows of the negatives and of the positives, or as many as their weights are worth."""
    neg2, pos2 = t.squares
    return effective_size(t.negatives, neg2), effective_size(t.positives, pos2)


def newcombe_limits(auc: float, neg: float, pos: float, level: float) -> tuple[float, float]:
    """The areas from which the one seen is just z Hanley-McNeil standard errors away.

    >>> [round(x, 3) for x in newcombe_limits(1.0, 10, 10, 0.95)]
    [0.8, 1.0]
    """

    def within(theta: float) -> bool:
        mean = (neg + pos) / 2 - 1
        bracket = 1 + mean * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        reach = normal_quantile(level) * math.sqrt(theta * (1 - theta) * bracket / (neg * pos))
        return abs(theta - auc) <= reach

    return bisection(within, auc, 0.0)[0], bisection(within, auc, 1.0)[0]


class PartialArea(NamedTuple):
    """The area up to a width, and what its variance is made of.

    `lengths` are moments, over the positives, of the width that lies behind each; `heights`, over the
    negatives within the width, of the curve there minus its height at the width.
    """

    area: float
    lengths: Moments
    heights: Moments


def partial_area(t: Tally, width: float, across: bool = False) -> PartialArea:
    """Area under the curve up to a false positive rate, or right of it from a true positive rate up.

    >>> partial_area(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]), 0.5).area
    0.375
    """
    # walked from its other end, the curve has positives as negatives
    cells: list[Any] = [t.neg[::-1], t.pos[::-1], t.neg2[::-1], t.pos2[::-1]]
    if across:
        cells = [t.pos, t.neg, t.pos2, t.neg2]
    neg, pos = (t.positives, t.negatives) if across else (t.negatives, t.positives)
    target = width * neg
    before = ((len(b.neg), b.pos_below if across else b.neg_above) for b in t.blocks())
    reached = cells[0][: sum(n for n, outside in before if outside < target)].cumsum()
    # whole cells first; then the one in which the curve passes the width (if rounding lets it)
    complete = int(np.searchsorted(reached, target))
    run, climb, run2, climb2 = (c[: complete + 1] for c in cells)
    height = (climb.cumsum() - climb / 2) / pos
    length = width - (reached[: complete + 1] - run / 2) / neg
    end = float(climb[:complete].sum()) / pos
    area = inner(run[:complete], height[:complete])
    if complete < len(reached):
        left, start = target - float(run[:complete].sum()), end
        share = left / run[-1].item()
        end = start + share * climb[-1].item() / pos
        area += left * (start + end) / 2
        # on average a positive of this cell has half of what is left of it behind itself
        length[-1], height[-1] = share * left / neg / 2, end + share * (start - end) / 2
    # weights may add up to slightly more than the whole
    return PartialArea(
        min(width, area / neg),
        Moments.of(length, climb, climb2),
        Moments.of(height - end, run, run2),
    )


def partial_variance(t: Tally, p: PartialArea, across: bool = False) -> Variance:
    """Variance of the area: DeLong's, with the score at the boundary estimated too.

    A positive counts with its length, a negative with its height; rows beyond the width count 0.
    """
    sides = (t.positives, t.squares[1]), (t.negatives, t.squares[0])
    classes = zip((p.lengths, p.heights), reversed(sides) if across else sides, strict=True)
    components = [
        (m.about(m.first / total, squares) / total**2, effective_size(total, squares))
        for m, (total, squares) in classes
    ]
    if any(single_row(n) for _, n in components):  # whose distance from its mean is 0
        return Variance(math.nan, math.nan)
    return pooled_variance(*components)


def precision_area(t: Tally, trapezoid: bool = False) -> float:
    """The area under the precision-recall curve, by steps or by straight lines."""
    # weights may add up to slightly more than the whole
    return min(1.0, _precision_sums(t)[trapezoid] / t.positives)


@once
def _precision_sums(t: Tally) -> tuple[float, float]:
    """The sums, over the positives, of the precisions that they get by steps and by straight lines."""
    if t.distinct and not t.why_not_ranked:
        return _steps(t)[3:5]

    def sums(b: Block) -> tuple[float, float]:
        neg, pos = (w.astype(np.float64, copy=False) for w in (b.neg, b.pos))
        tp, above = at_and_above(pos, b.pos_above)[1], b.neg_above + b.pos_above
        step = tp / (tp + at_and_above(neg, b.neg_above)[1])
        line = _lines(step, -1, b.pos_above / above if above > 0 else 1.0)
        return inner(pos, step), inner(pos, line)

    steps, lines = zip(*on_threads(sums, list(t.blocks())), strict=True)
    return sum(steps), sum(lines)


def precision_variance(t: Tally, trapezoid: bool = False) -> Variance:
    """Variance, as the sum of squared influences of all rows."""
    _, gain, loss = precision_influence(t.neg, t.pos, trapezoid)
    return variance_by_class((t.pos, t.pos2, gain), (t.neg, t.neg2, loss))


def variance_by_class(*sides: Side, by: AllCells = ALL_CELLS) -> Variance:
    """Variance by the effects of the rows of both classes, each with the degrees of freedom they have."""
    variances = [by.add(w2 * x * x) for _, w2, x in sides]
    rows = (x if w2 is w else x * np.divide(w2, w, out=0.0 * x, where=w > 0) for w, w2, x in sides)
    largest = np.maximum(*(by.most(np.abs(x)) for x in rows))
    few = 2 * sum(variances) < _MANY * largest**2  # otherwise no row brings much
    components = []
    for v, (w, w2, x) in zip(variances, sides, strict=True):
        df = np.where(few, sandwich((w, w2, x), by=by).df, np.inf) if np.any(few) else np.inf
        components.append(Component(v, effective_size(by.add(w), by.add(w2)), df))
    return pooled_variance(*components)


def average_precisions(neg: Any, pos: Any) -> Any:
    """The areas under precision-recall curves by steps, of many replicates.

    >>> average_precisions(np.array([[1, 1, 0], [0, 1, 1]]), np.array([[0, 1, 1], [1, 1, 0]])).round(3)
    array([0.833, 0.417])
    """
    tp = ALL_CELLS.downto(pos)
    precision = tp / np.maximum(tp + ALL_CELLS.downto(neg), 5e-324)  # of no rows, 0
    return (pos * precision).sum(-1) / pos.sum(-1)


def precision_influence(
    neg: Any, pos: Any, trapezoid: bool = False, by: AllCells = ALL_CELLS
) -> tuple[Any, Floats, Floats]:
    """The area, and what a unit of weight on each cell adds to it if positive, and takes off if negative.

    A positive adds the precision that it gets itself, and raises precision at every threshold below it;
    a negative lowers it there.
    """
    first, last = by.ends
    tp, fp = (1.0 * by.downto(w) for w in (pos, neg))
    rows, total = tp + fp, by.add(pos)
    lead, share = tp / rows, pos / by.of(total)
    if trapezoid:
        lead, before = _lines(lead, last), np.append(0.0, share[:-1])
        before[first] = 0.0
        share = (share + before) / 2
    share = share / (rows * rows)
    area, gain = by.add(pos * lead) / total, by.upto(share * (rows - tp))
    gain += (lead - by.of(area)) / by.of(total)
    return area, gain, by.upto(share * tp)


def _lines(precision: Floats, last: Any, above: float = 1.0) -> Floats:
    """The precision that the positives of each cell get on straight lines to that above the last one.

    Above the highest score nothing is called positive, and precision is 1 by convention.
    """
    line = np.append(precision[1:], above)
    line[last] = above
    return np.asarray((line + precision) / 2)


def at_and_above(weight: Floats, above: float) -> tuple[Floats, Floats]:
    """The weight above each cell of a block, and that at or above it."""
    down = above + np.append(weight[::-1].cumsum()[::-1], 0.0)
    return down[1:], down[:-1]


def ks_lower_limit(t: Tally, level: float) -> float:
    """The lower limit of the largest distance between the score distributions of the two classes.

    A maximum over thresholds is too large: noise alone makes it positive, and it is taken where noise
    helped. So the true maximum is supposed to be smaller, the distances seen are cut off at it, and noise
    is drawn. The limit is the smallest maximum under which the one seen is not extreme. A maximum of 0 is
    the hypothesis of the Kolmogorov-Smirnov test, so that the limit is 0 where that test finds nothing.

    >>> y, s = np.arange(40) % 2, np.arange(40) / 40
    >>> ks_lower_limit(Tally.of(y, s), 0.95), round(ks_lower_limit(Tally.of(y, s + y / 2), 0.95), 2)
    (0.0, 0.23)
    """
    pooled = pool(t.pooled, _CELLS)
    gap, noise = np.zeros(len(pooled.score)), np.zeros((len(pooled.score), _PAIRS))
    sides = zip((1, -1), (pooled.neg, pooled.pos), pooled.squares, _normal(), strict=True)
    for sign, w, w2, drawn in sides:
        share = w / float(w.sum())
        below = share.cumsum()
        # normal noise, as of rows drawn anew; weights are as uneven everywhere as on the whole, because
        # where heavy rows lie is chance
        error = np.sqrt(share * (float(w2) / float(w.sum()) ** 2))
        shift = (drawn[: len(share)] * error[:, None]).cumsum(0)
        gap += sign * below
        noise += sign * (shift - below[:, None] * shift[-1])
    noise = np.concatenate((noise, -noise), axis=1)
    seen = float(np.abs(gap).max())
    true = seen * np.arange(_STEPS + 1) / _STEPS
    maxima = [np.abs(np.clip(gap, -x, x)[:, None] + noise).max(0) for x in true]
    # what the maximum seen may be if the true one is as large
    usual = np.quantile(maxima, (1 + level) / 2, axis=1)
    if usual[0] >= seen:
        return 0.0
    high = int((usual[:-1] < seen).argmin()) or _STEPS
    # straight between the two
    low, top = usual[high - 1 : high + 1]
    way = (seen - low) / (top - low) if top > seen else 1.0
    return float(seen * (high - 1 + way) / _STEPS)


@cache
def _normal() -> Floats:
    """Cells x draws, for each class; the same for all data, so that the limit changes only with these."""
    return np.random.default_rng(0).standard_normal((2, _CELLS, _PAIRS))
