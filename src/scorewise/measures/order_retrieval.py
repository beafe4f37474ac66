"""Is the order right? Measures of the precision-recall curve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.estimate import Estimate
from scorewise.intervals.scales import Spread, effective, limits, pooled_spread
from scorewise.intervals.shares import wilson
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.extremes import order_within, tied_within
from scorewise.tallies.sorting import Numbers, inner
from scorewise.tallies.tally import Block

Floats = NDArray[np.float64]


@measure(group="order", title="Average precision")
def average_precision(t: Tally, *, level: float = 0.95) -> Estimate:
    """Mean, over the positives, of the precision at the threshold that just finds them.

    The step sum of the precision-recall curve, tied scores as one step. The interval is linearised
    (each row's influence on the value) on the logit scale; the baseline is the prevalence.

    >>> average_precision(Tally.of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.833 [0.001, 1.000]
    """
    return _judged(t, level, trapezoid=False)


@measure(group="order", title="PR area, trapezoid")
def pr_trapezoid(t: Tally, *, level: float = 0.95) -> Estimate:
    """Area under the precision-recall curve drawn with straight lines, which is too kind.

    Offered to reproduce other tools; `average_precision` does not interpolate. Starts at recall 0 with
    precision 1, so that a constant gets (1 + prevalence) / 2, the baseline.

    >>> pr_trapezoid(Tally.of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.792 [3.69e-05, 1.000]
    """
    return _judged(t, level, trapezoid=True)


def _judged(t: Tally, level: float, *, trapezoid: bool) -> Estimate:
    if not t.positives:
        return Estimate.undefined(t.why_not_ranked, level)
    pos, neg = t.positives, t.negatives
    prevalence = pos / (pos + neg)
    exact = _value(t, trapezoid)
    value, bound = exact, 0.0
    if t.coarse is not None:
        worst, best = _ends(t, trapezoid)
        value, bound = (worst + best) / 2, (best - worst) / 2
    known = _spread(t, exact, trapezoid)
    if known.says_something() and 0 < value < 1:
        low, high = limits(value, known, level, "logit")
        method = "linearised, logit"
    else:
        n = effective(pos, t.pos2.sum().item())
        _, low, high = wilson(value * n, (1 - value) * n, value * n, (1 - value) * n, level)
        method = "Wilson on the positives"
    low, high = max(0.0, low - bound), min(1.0, high + bound)
    baseline = (1 + prevalence) / 2 if trapezoid else prevalence
    return Estimate(value, low, high, level, method, "", bound, baseline)


class _Counts(NamedTuple):
    """For each cell of a block: positives and rows at or above it, and the precision its positives get."""

    tp: Numbers
    rows: Numbers
    lead: Floats


def _counts(b: Block, trapezoid: bool) -> _Counts:
    tp_above, tp = _at_and_above(b.pos, b.pos_above)
    fp_above, fp = _at_and_above(b.neg, b.neg_above)
    rows = tp + fp
    precision = tp / rows
    if not trapezoid:
        return _Counts(tp, rows, precision)
    rows_above = tp_above + fp_above
    # above the highest score nothing is called positive, and precision is 1 by convention
    before = np.divide(tp_above, rows_above, out=np.ones(len(tp)), where=rows_above > 0)
    return _Counts(tp, rows, (precision + before) / 2)


def _at_and_above(weight: Numbers, above: float) -> tuple[Any, Any]:
    """The weight above each cell of a block, and that at or above it."""
    down = np.empty(len(weight) + 1, weight.dtype)
    down[0] = above
    np.cumsum(weight[::-1], out=down[1:])
    down[1:] += down[0]
    return down[-2::-1], down[:0:-1]


def _value(t: Tally, trapezoid: bool) -> float:
    total = sum(inner(b.pos, _counts(b, trapezoid).lead) for b in t.blocks())
    return total / t.positives


def _spread(t: Tally, value: float, trapezoid: bool) -> Spread:
    """Sum of squared influences: by how much the value moves with the weight of each row.

    A positive adds its own lead precision, and raises precision at every threshold below it; a
    negative lowers it there.
    """
    pos = t.positives
    by_pos = by_neg = raised = lowered = last = 0.0
    for b in t.blocks():
        tp, rows, lead = _counts(b, trapezoid)
        share = b.pos / pos
        if trapezoid:
            below = np.concatenate(([last], share[:-1]))
            last = float(share[-1])
            share = (share + below) / 2
        slope = share / (rows * rows)
        up = raised + (slope * (rows - tp)).cumsum()
        down = lowered + (slope * tp).cumsum()
        by_pos += inner(b.pos2, (up + (lead - value) / pos) ** 2)
        by_neg += inner(b.neg2, down * down)
        raised, lowered = float(up[-1]), float(down[-1])
    sizes = effective(pos, t.pos2.sum().item()), effective(t.negatives, t.neg2.sum().item())
    return pooled_spread((by_pos, sizes[0]), (by_neg, sizes[1]))


def _ends(t: Tally, trapezoid: bool) -> tuple[float, float]:
    """The least and the largest value that the cells of a coarse tally allow."""
    pos, neg = t.pos.astype(np.float64), t.neg.astype(np.float64)
    tp, fp = _at_and_above(pos, 0.0)[0], _at_and_above(neg, 0.0)[0]
    order, tied = order_within(t), tied_within(t)
    # negatives of the cell itself that may come first: none, or all
    least_fp, most_fp = np.where(order == -1, fp + neg, fp), np.where(order == 1, fp, fp + neg)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = (tp + pos) / (tp + pos + least_fp)
        if not trapezoid:
            group = (tp + pos) / (tp + pos + most_fp)
            tied_pos = tied if t.coarse is None else t.coarse.low[1] == t.coarse.high[1]
            worst = np.where(tied_pos, group, _one_by_one(tp, pos, most_fp, t.weighted))
        else:
            start = np.where(tp + fp > 0, tp / (tp + fp), 1.0)
            end = (tp + pos) / (tp + pos + fp + neg)
            alone = neg == 0
            worst = np.where(alone, (start + end) / 2, tp / (tp + fp + neg))
            best = np.maximum(start, best)
            worst, best = (np.where(tied, (start + end) / 2, x) for x in (worst, best))
    used = pos > 0
    total = t.positives
    return inner(pos[used], worst[used]) / total, inner(pos[used], best[used]) / total


def _one_by_one(tp: Floats, pos: Floats, fp: Floats, weighted: bool) -> Floats:
    """Mean precision if the positives of a cell come one after another, with all negatives before."""
    from scipy.special import digamma

    if weighted:  # in the smallest of steps
        missed = np.log((tp + pos + fp) / (tp + fp))
    else:
        missed = digamma(tp + pos + fp + 1) - digamma(tp + fp + 1)
    mean = 1 - fp * missed / np.where(pos > 0, pos, 1.0)
    return np.where(fp > 0, np.maximum(mean, 0.0), 1.0)
