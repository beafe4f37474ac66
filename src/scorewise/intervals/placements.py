"""DeLong's variance from the cells of a tally, ties exact, and what to do where it says nothing."""

from __future__ import annotations

import math

import numpy as np

from scorewise.intervals.scales import (
    Spread,
    effective,
    freedom,
    limits,
    one_row,
    pooled_spread,
    z,
)
from scorewise.tallies import Tally
from scorewise.tallies.sorting import inner

FEW = 10  # rows of a class, below which DeLong's variance is not trusted
CERTAIN = 20  # degrees of freedom of that variance, from which on it is trusted fully


def area(t: Tally) -> float:
    """Share of pairs (positive, negative) in the right order, ties counting half.

    >>> area(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    0.875
    """
    neg, pos = t.negatives, t.positives
    # twice the pairs fit int64 for counts up to this; beyond, floats are exact enough
    exact = not t.weighted and neg * pos < 2**61
    twice = 0.0
    if exact:
        twice = 0
    for b in t.blocks():
        n, p = (b.neg, b.pos) if exact else (b.neg.astype(np.float64), b.pos.astype(np.float64))
        inside = n.cumsum()
        inside *= 2
        inside -= n
        twice += inner(p, inside) + 2 * b.neg_below * p.sum().item()
    # weights may add up to a hair above all pairs
    return min(1.0, float(twice / (2 * neg * pos)))


def spread(t: Tally, auc: float) -> Spread:
    """Variance of the area (DeLong et al. 1988), by the placements of the cells."""
    neg, pos = t.negatives, t.positives
    spread_neg = spread_pos = 0.0
    for b in t.blocks():
        # twice the weight of the other class below a cell, its own counted half
        below = (2 * b.neg.cumsum() - b.neg).astype(np.float64, copy=False)
        above = (2 * b.pos.cumsum() - b.pos).astype(np.float64, copy=False)
        below *= 0.5 / neg
        below += b.neg_below / neg - auc
        above *= -0.5 / pos
        above += 1 - b.pos_below / pos - auc
        below *= below
        above *= above
        spread_pos += inner(b.pos2, below)
        spread_neg += inner(b.neg2, above)
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
    below = ((few.neg.cumsum() - few.neg / 2) / t.negatives - auc) / t.positives
    above = (1 - (few.pos.cumsum() - few.pos / 2) / t.positives - auc) / t.negatives
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
    # a hair of tolerance, because weights that are all equal may add up to 9.999...
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

    def beyond(theta: float) -> bool:
        mean = (neg + pos) / 2 - 1
        bracket = 1 + mean * ((1 - theta) / (2 - theta) + theta / (1 + theta))
        reach = z(level) * math.sqrt(theta * (1 - theta) * bracket / (neg * pos))
        return abs(theta - auc) > reach

    def search(outer: float) -> float:
        near, far = auc, outer
        for _ in range(60):
            middle = (near + far) / 2
            near, far = (near, middle) if beyond(middle) else (middle, far)
        return near

    return search(0.0), search(1.0)
