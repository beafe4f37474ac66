"""Is the order right? Measures of the precision-recall curve."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.intervals.precision import at_and_above, precision_area, precision_spread
from scorewise.intervals.scales import effective, limits
from scorewise.intervals.shares import wilson
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.extremes import order_within, tied_within
from scorewise.tallies.sorting import inner


@measure(group="order", title="Average precision")
def average_precision(t: Tally, *, level: float = 0.95) -> Estimate:
    """Mean, over the positives, of the precision at the threshold that just finds them.

    The step sum of the precision-recall curve, tied scores as one step. The interval is linearised
    (each row's influence on the value) on the logit scale, with Student's quantile for as many degrees of
    freedom as there are rows that bring the variance. The baseline is the prevalence.

    >>> average_precision(Tally.of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.833 [0.001, 1.000]
    """
    return _judged(t, level, trapezoid=False)


@measure(group="order", title="PR trapezoid")
def pr_trapezoid(t: Tally, *, level: float = 0.95) -> Estimate:
    """Area under the precision-recall curve when its points are joined by straight lines.

    Offered to reproduce other tools. No threshold reaches the points between, and with many ties the
    value is too kind; `average_precision` does not interpolate. Starts at recall 0 with precision 1.
    The baseline is that of scores without meaning, the prevalence.

    >>> pr_trapezoid(Tally.of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.792 [3.69e-05, 1.000]
    """
    return _judged(t, level, trapezoid=True)


def _judged(t: Tally, level: float, *, trapezoid: bool) -> Estimate:
    if not t.positives:
        return Estimate.undefined(t.why_not_ranked, level)
    pos, neg = t.positives, t.negatives
    prevalence = pos / (pos + neg)
    value, bound, known = precision_area(t, trapezoid), 0.0, precision_spread(t.pooled, trapezoid)
    if t.coarse is not None:
        worst, best = _ends(t, trapezoid)
        value, bound = (worst + best) / 2, (best - worst) / 2
    if known.says_something() and 0 < value < 1:
        low, high = limits(value, known, level, "logit")
        method = "linearised, logit"
    else:
        n = effective(pos, t.squares[1])
        _, low, high = wilson(value * n, (1 - value) * n, value * n, (1 - value) * n, level)
        method = "Wilson on the positives"
    low, high = max(0.0, low - bound), min(1.0, high + bound)
    return Estimate(value, low, high, level, method, "", bound, prevalence)


def _ends(t: Tally, trapezoid: bool) -> tuple[float, float]:
    """The least and the largest value that the cells of a coarse tally allow."""
    pos, neg = t.pos.astype(np.float64), t.neg.astype(np.float64)
    tp, fp = at_and_above(pos, 0.0)[0], at_and_above(neg, 0.0)[0]
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
    """The least mean precision of a cell's positives if they come apart, with all negatives before.

    Precision rises with each of them, ever more slowly, so its mean is no less than that of the first
    and the last. Weights may come in the smallest of steps.
    """
    first = tp if weighted else tp + 1
    return (first / (first + fp) + (tp + pos) / (tp + pos + fp)) / 2
