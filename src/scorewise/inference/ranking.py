"""Areas under ROC and precision-recall curves from the cells of a tally, with variances and intervals."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.inference.scales import (
    Part,
    Spread,
    effective,
    freedom,
    halved,
    limits,
    one_row,
    pooled_spread,
    z,
)
from scorewise.tallies import Tally
from scorewise.tallies.coarse import pool
from scorewise.tallies.formulas import auroc, largest_gaps, placed
from scorewise.tallies.losses import Moments
from scorewise.tallies.sorting import inner, on_threads, once
from scorewise.tallies.tally import Block

FEW = 10  # rows of a class, below which DeLong's variance is not trusted
CERTAIN = 20  # degrees of freedom of that variance, from which on it is trusted fully
_MANY = 1000  # degrees of freedom, beyond which more of them change nothing
_CELLS = 32  # thresholds: more find hardly a larger maximum
_PAIRS = 300  # draws of noise, each also taken with the other sign
_STEPS = 8


def area(t: Tally) -> float:
    """Share of pairs (positive, negative) in the right order, ties counting half.

    >>> area(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
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
        many, others, rank = len(at), len(b.pos) - len(at), np.arange(len(at))
        below = at - rank
        once, under, beyond = int(below.sum()), int(b.neg_below), int(b.pos_below)
        # summed by parts over the negatives: how many positives of the block lie below them, squared
        squares = many * many * others - 2 * int((below * rank).sum()) - once
        sums = (
            once + many * under,
            int((below * below).sum()) + under * (2 * once + many * under),
            squares + beyond * (2 * (many * others - once) + others * beyond),
        )
        if not many:
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
    most = (max((0.0, 0), *side, key=lambda end: end[0]) for side in (up, down))
    return _Steps(*(sum(column) for column in sums), *most)


def gaps(t: Tally) -> tuple[float, float, int, int]:
    """`largest_gaps` of the scores of the two classes, and their places."""
    if t.distinct and not t.why_not_ranked:
        (up, at_up), (down, at_down) = _steps(t)[-2:]
        return up, down, at_up, at_down
    up, down, at_up, at_down = largest_gaps(t.neg, t.pos)
    return float(up), float(down), int(at_up), int(at_down)


def spread(t: Tally, auc: float) -> Spread:
    """Variance of the area (DeLong et al. 1988), by the placements of the cells."""
    neg, pos = t.negatives, t.positives

    def squares(b: Block) -> tuple[float, float]:
        # twice the weight of the other class below a cell, its own counted half
        below = (2 * b.neg.cumsum() - b.neg).astype(np.float64, copy=False)
        above = (2 * b.pos.cumsum() - b.pos).astype(np.float64, copy=False)
        below *= 0.5 / neg
        below += b.neg_below / neg - auc
        above *= -0.5 / pos
        above += 1 - b.pos_below / pos - auc
        below *= below
        above *= above
        return inner(b.pos2, below), inner(b.neg2, above)

    if t.distinct and t.coarse is None:
        n, p, found = int(neg), int(pos), _steps(t)
        spread_pos = (found.below2 * p - found.below**2) / (p * n * n)
        spread_neg = (found.above2 * n - (n * p - found.below) ** 2) / (n * p * p)
    else:
        both = on_threads(squares, list(t.blocks()))
        spread_pos, spread_neg = (sum(side) for side in zip(*both, strict=True))
    neg2, pos2 = t.squares
    rows_pos, rows_neg = effective(pos, pos2), effective(neg, neg2)
    if one_row(rows_pos) or one_row(rows_neg):  # whose distance from its own mean, 0, says nothing
        return Spread(math.nan, math.nan)
    return pooled_spread((spread_pos / pos**2, rows_pos), (spread_neg / neg**2, rows_neg))


def _carried(t: Tally, auc: float, variance: float) -> float:
    """Degrees of freedom of DeLong's variance, which few rows may bring; or a bound that is enough."""
    heaviest = [
        float((w2 / np.where(w > 0, w, 1)).max()) / float(w.sum()) if t.weighted else 1 / w.sum()
        for w, w2 in ((t.neg, t.neg2), (t.pos, t.pos2))
    ]
    # no row brings more than if it were placed wholly wrong
    if (least := 2 * variance / max(heaviest) ** 2) > CERTAIN:
        return least
    few = t.pooled
    below = (placed(few.neg) / t.negatives - auc) / t.positives
    above = (1 - placed(few.pos) / t.positives - auc) / t.negatives
    sides = (few.pos, few.pos2, below), (few.neg, few.neg2, above)
    known = [(inner(w2, x * x), freedom(w, w2, x)) for w, w2, x in sides]
    unsure = sum(v * v / df for v, df in known)
    return sum(v for v, _ in known) ** 2 / unsure if unsure > 0 else math.inf


def area_limits(t: Tally, auc: float, level: float) -> tuple[float, float, str]:
    """Interval of the area and its name: DeLong on the logit scale, where that says something.

    Student's quantile with Welch's degrees of freedom, because a class may have few rows. With fewer
    than ten rows in a class, or all pairs in one order, DeLong's variance is unreliable or 0; then the
    score interval with the Hanley-McNeil variance (Newcombe 2006, method 5) is taken. Where few rows
    bring most of DeLong's variance, the limit towards 0.5 is Newcombe's if that is further out: the rows
    that would lower an area near 1 may not have been seen.
    """
    # with a tolerance, because weights that are all equal may add up to 9.999...
    if min(sizes(t)) > FEW - 1e-9 and 0 < auc < 1:
        known = spread(t, auc)
        if known.says_something():
            low, high = limits(auc, known, level, "logit")
            if _carried(t, auc, known.variance) < CERTAIN:
                least, most = score_limits(auc, *sizes(t), level)
                low, high = (min(low, least), high) if auc > 0.5 else (low, max(high, most))
            return low, high, "DeLong, logit"
    return *score_limits(auc, *sizes(t), level), "Newcombe"


def sizes(t: Tally) -> tuple[float, float]:
    """Rows of the negatives and of the positives, or as many as their weights are worth."""
    neg2, pos2 = t.squares
    return effective(t.negatives, neg2), effective(t.positives, pos2)


def score_limits(auc: float, neg: float, pos: float, level: float) -> tuple[float, float]:
    """The areas from which the one seen is just z Hanley-McNeil standard errors away.

    >>> [round(x, 3) for x in score_limits(1.0, 10, 10, 0.95)]
    [0.8, 1.0]
    """

    def within(theta: float) -> bool:
        mean = (neg + pos) / 2 - 1
        bracket = 1 + mean * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        reach = z(level) * math.sqrt(theta * (1 - theta) * bracket / (neg * pos))
        return abs(theta - auc) <= reach

    return halved(within, auc, 0.0)[0], halved(within, auc, 1.0)[0]


class PartialArea(NamedTuple):
    """The area up to a width, and what its variance is made of.

    `lengths` are moments, over the positives, of the width that lies behind each; `heights`, over the
    negatives within the width, of the curve there minus its height at the width.
    """

    area: float
    lengths: Moments
    heights: Moments


def partial(t: Tally, width: float, across: bool = False) -> PartialArea:
    """Area under the curve up to a false positive rate, or right of it from a true positive rate up.

    >>> partial(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]), 0.5).area
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
    whole = int(np.searchsorted(reached, target))
    run, climb, run2, climb2 = (c[: whole + 1] for c in cells)
    height = (climb.cumsum() - climb / 2) / pos
    length = width - (reached[: whole + 1] - run / 2) / neg
    end = float(climb[:whole].sum()) / pos
    area = inner(run[:whole], height[:whole])
    if whole < len(reached):
        left, start = target - float(run[:whole].sum()), end
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


def partial_spread(t: Tally, p: PartialArea, across: bool = False) -> Spread:
    """Variance of the area: DeLong's, with the score at the boundary estimated too.

    A positive counts with its length, a negative with its height; rows beyond the width count 0.
    """
    sides = (t.positives, t.squares[1]), (t.negatives, t.squares[0])
    classes = zip((p.lengths, p.heights), reversed(sides) if across else sides, strict=True)
    parts = [
        (m.about(m.first / total, squares) / total**2, effective(total, squares))
        for m, (total, squares) in classes
    ]
    if any(one_row(n) for _, n in parts):  # whose distance from its own mean, 0, says nothing
        return Spread(math.nan, math.nan)
    return pooled_spread(*parts)


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
        *_, step, line = _precisions(neg, pos, b.neg_above, b.pos_above)
        return inner(pos, step), inner(pos, line)

    steps, lines = zip(*on_threads(sums, list(t.blocks())), strict=True)
    return sum(steps), sum(lines)


def precision_spread(t: Tally, trapezoid: bool = False) -> Spread:
    """Variance, as the sum of squared influences of all rows."""
    neg, pos = (w.astype(np.float64, copy=False) for w in (t.neg, t.pos))
    gain, loss = precision_effects(neg, pos, trapezoid)
    sides = (t.pos, t.pos2, gain), (t.neg, t.neg2, loss)
    variances = [inner(w2, x * x) for _, w2, x in sides]
    rows = [x if w2 is w else x * (w2 / np.where(w > 0, w, 1.0)) for w, w2, x in sides]
    most = max(float(np.abs(x).max(initial=0.0)) for x in rows)
    few = 2 * sum(variances) < _MANY * most**2  # otherwise no row brings much
    parts = [
        Part(v, effective(w.sum(), w2.sum()), freedom(w, w2, x) if few else math.inf)
        for v, (w, w2, x) in zip(variances, sides, strict=True)
    ]
    return pooled_spread(*parts)


def precision_effects(neg: Floats, pos: Floats, trapezoid: bool = False) -> tuple[Floats, Floats]:
    """What a unit of weight on each cell adds to the area if positive, and takes off if negative.

    A positive adds the precision that it gets itself, and raises precision at every threshold below it;
    a negative lowers it there.
    """
    tp, rows, *leads = _precisions(neg, pos)
    lead, total = leads[trapezoid], pos.sum()
    share = pos / total
    if trapezoid:
        share = (share + np.concatenate(([0.0], share[:-1]))) / 2
    share = share / (rows * rows)
    gain = (share * (rows - tp)).cumsum() + (lead - inner(pos, lead) / total) / total
    return gain, (share * tp).cumsum()


def _precisions(
    neg: Floats, pos: Floats, neg_above: float = 0.0, pos_above: float = 0.0
) -> tuple[Floats, Floats, Floats, Floats]:
    """For each cell: positives and rows at or above it, and the precision that its positives get.

    That is by steps and by straight lines.
    """
    tp, fp = at_and_above(pos, pos_above)[1], at_and_above(neg, neg_above)[1]
    rows = tp + fp
    precision = tp / rows
    above = neg_above + pos_above
    # above the highest score nothing is called positive, and precision is 1 by convention
    line = np.append(precision[1:], pos_above / above if above > 0 else 1.0)
    line += precision
    line /= 2
    return tp, rows, precision, line


def at_and_above(weight: Floats, above: float) -> tuple[Floats, Floats]:
    """The weight above each cell of a block, and that at or above it."""
    down = np.empty(len(weight) + 1)
    down[0] = above
    np.cumsum(weight[::-1], out=down[1:])
    down[1:] += down[0]
    return down[-2::-1], down[:0:-1]


def least_distance(t: Tally, level: float) -> float:
    """The lower limit of the largest distance between the score distributions of the two classes.

    A maximum over thresholds is too large: noise alone makes it positive, and it is taken where noise
    helped. So the true maximum is supposed to be smaller, the distances seen are cut off at it, and noise
    is drawn. The limit is the smallest maximum under which the one seen is not extreme. A maximum of 0 is
    the hypothesis of the Kolmogorov-Smirnov test, so that the limit is 0 where that test finds nothing.

    >>> y, s = np.arange(40) % 2, np.arange(40) / 40
    >>> least_distance(Tally.of(y, s), 0.95), round(least_distance(Tally.of(y, s + y / 2), 0.95), 2)
    (0.0, 0.23)
    """
    few = pool(t.pooled, _CELLS)
    gap, noise = np.zeros(len(few.score)), np.zeros((len(few.score), _PAIRS))
    for sign, w, w2, drawn in zip((1, -1), (few.neg, few.pos), few.squares, _normal(), strict=True):
        share = w / float(w.sum())
        below = share.cumsum()
        # normal noise, as of rows drawn anew; weights are as uneven everywhere as on the whole, because
        # where heavy rows lie is chance
        error = np.sqrt(share * (float(w2) / float(w.sum()) ** 2))
        moved = (drawn[: len(share)] * error[:, None]).cumsum(0)
        gap += sign * below
        noise += sign * (moved - below[:, None] * moved[-1])
    noise = np.concatenate((noise, -noise), axis=1)
    seen = float(np.abs(gap).max())
    place = (1 + level) / 2 * (2 * _PAIRS - 1)
    at, part = int(place), place % 1

    def usual(step: int) -> float:
        """What the maximum seen may be if the true one is so many steps of it."""
        most = seen * step / _STEPS
        found = np.sort(np.abs(np.clip(gap, -most, most)[:, None] + noise).max(0))
        return float(found[at] + part * (found[min(at + 1, len(found) - 1)] - found[at]))

    ends = {0: usual(0), _STEPS: math.inf}
    if ends[0] >= seen:
        return 0.0
    low, high = 0, _STEPS
    while high - low > 1:
        middle = (low + high) // 2
        ends[middle] = usual(middle)
        low, high = (middle, high) if ends[middle] < seen else (low, middle)
    # straight between the two
    top = ends[high] if high < _STEPS else usual(high)
    way = (seen - ends[low]) / (top - ends[low]) if top > seen else 1.0
    return seen * (low + way) / _STEPS


@cache
def _normal() -> Floats:
    """Cells x draws, for each class; the same for all data, so that the limit changes only with these."""
    return np.random.default_rng(0).standard_normal((2, _CELLS, _PAIRS))
