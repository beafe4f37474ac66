"""Are the decisions right? Shares of rows, and means of such shares that are shares themselves.

The first functions serve all measures of decisions: when they are undefined, baselines, and certified
bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.shares import Share, exact, wilson
from scorewise.inference.tables import Formula, corners
from scorewise.registry import measure
from scorewise.tallies import Confusion, Ratings, formulas

# the cells (of tp, fp, fn, tn) in which a measure needs something, under the reason if there is nothing
NEEDS = {
    "no rows": (0, 1, 2, 3),
    "no positives": (0, 2),
    "no negatives": (1, 3),
    "nothing is called positive": (0, 1),
    "nothing is called negative": (2, 3),
    "no positives, and nothing is called positive": (0, 1, 2),
}
BOTH_CLASSES = ("no positives", "no negatives")
BOTH_CALLS = ("nothing is called positive", "nothing is called negative")
TP, FP, FN, TN = range(4)


def lacking(c: Confusion, *needs: str) -> str:
    """The first reason that holds, or nothing."""
    table = c.table
    return next((why for why in ("no rows", *needs) if not table[list(NEEDS[why])].sum()), "")


def share(
    c: Confusion,
    hit: tuple[int, ...],
    miss: tuple[int, ...],
    level: float,
    interval: Callable[..., Share] = wilson,
) -> Share:
    """Share of some cells (of tp, fp, fn, tn) in these and others, with its Wilson interval.

    Of weighted rows it is the wider one: by the weights of hits and of misses, or as if these differed by
    chance alone.
    """
    a, b = (float(c.table[list(cells)].sum()) for cells in (hit, miss))
    squares = [[float(w2[list(x)].sum()) for x in (hit, miss)] for w2 in (c.squares, c.evened)]
    total = a + b
    a2, b2 = max(squares, key=lambda x: x[0] * (b / total) ** 2 + x[1] * (a / total) ** 2)
    return interval(a, b, a2, b2, level)


def rates(c: Confusion, level: float) -> tuple[Share, Share]:
    """Sensitivity and specificity."""
    return share(c, (0,), (2,), level), share(c, (3,), (1,), level)


def prevalence(c: Confusion) -> float:
    """Share of positives."""
    return float((c.tp + c.fn) / c.table.sum())


def called(c: Confusion) -> float:
    """Share of rows that are called positive."""
    return float((c.tp + c.fp) / c.table.sum())


def judged(
    c: Confusion,
    formula: Formula,
    limits: tuple[float, float],
    level: float,
    method: str,
    *,
    baseline: float,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """The formula's value between its limits, widened by what a coarse tally leaves in doubt.

    All formulas rise with tp and fall with fp, so the doubt is largest at two corners.
    """
    with np.errstate(all="ignore"):
        value, bound = float(formula(*(c.table * c.scale))), 0.0
    if not math.isfinite(value):
        return Estimate.undefined("the weights are too uneven for floating point", level)
    value = min(max(value, bounds[0]), bounds[1])  # rounding may lead a hair beyond
    if any(c.doubt):
        with np.errstate(all="ignore"):
            worst, best = (float(formula(*(table * c.scale))) for table in corners(c))
        value, bound = (worst + best) / 2, abs(best - worst) / 2
        if not math.isfinite(bound):
            return Estimate.undefined("the cells of the coarse tally leave it open", level)
    # limits never lie beyond what is possible, nor on the wrong side of the value
    low = max(bounds[0], min(limits[0], value) - bound)
    high = min(bounds[1], max(limits[1], value) + bound)
    return Estimate(value, low, high, level, method, "", bound, baseline)


def cohen(c: Confusion, level: float) -> Estimate:
    """Kappa of labels and decisions: that of two raters, with the same interval."""
    # here, because measures of raters are to be registered after these
    from scorewise.measures.agreement import cohen_kappa

    e = cohen_kappa(Ratings.of_confusion(c), level=level)
    return replace(e, why=e.why.replace("item", "row"), baseline=0.0, p=None)


def _of_share(
    c: Confusion,
    formula: Formula,
    hit: tuple[int, ...],
    miss: tuple[int, ...],
    level: float,
    baseline: Callable[[Confusion], float],
    *needs: str,
) -> Estimate:
    """The share of some cells in these and others, with its Wilson interval, if it has what it needs."""
    if why := lacking(c, *needs):
        return Estimate.undefined(why, level)
    _, low, high = share(c, hit, miss, level)
    return judged(c, formula, (low, high), level, "Wilson", baseline=baseline(c))


@measure(group="decisions", title="Accuracy")
def accuracy(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of right decisions.

    (tp + tn) / n; Wilson interval. The baseline, always naming the larger class, is high when classes
    are unequal: with 99 % onlookers, calling everybody an onlooker is 99 % accurate.

    >>> accuracy(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.643 [0.526, 0.745]
    """
    return _of_share(
        c,
        formulas.accuracy,
        (TP, TN),
        (FP, FN),
        level,
        lambda c: max(prevalence(c), 1 - prevalence(c)),
    )


@measure(group="decisions", title="Sensitivity (recall)")
def sensitivity(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of positives that are called positive (recall, true positive rate).

    tp / (tp + fn); Wilson interval. The baseline calls as many rows positive, at random.

    >>> sensitivity(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.625 [0.470, 0.758]
    """
    return _of_share(c, formulas.sensitivity, (TP,), (FN,), level, called, "no positives")


@measure(group="decisions", title="Specificity")
def specificity(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of negatives that are called negative (true negative rate).

    tn / (tn + fp); Wilson interval. The baseline calls as many rows positive, at random.

    >>> specificity(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.667 [0.488, 0.808]
    """
    return _of_share(
        c, formulas.specificity, (TN,), (FP,), level, lambda c: 1 - called(c), "no negatives"
    )


@measure(group="decisions", title="Precision (PPV)")
def precision(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of positives among the rows called positive (positive predictive value).

    tp / (tp + fp); Wilson interval. The baseline, calling rows positive at random, is the prevalence.

    >>> precision(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.714 [0.549, 0.837]
    """
    return _of_share(
        c, formulas.precision, (TP,), (FP,), level, prevalence, "nothing is called positive"
    )


@measure(group="decisions", title="NPV")
def npv(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of negatives among the rows called negative (negative predictive value).

    tn / (tn + fn); Wilson interval. The baseline is the share of negatives among all rows.

    >>> npv(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.571 [0.409, 0.720]
    """
    return _of_share(
        c,
        formulas.npv,
        (TN,),
        (FN,),
        level,
        lambda c: 1 - prevalence(c),
        "nothing is called negative",
    )


@measure(group="decisions", title="F1")
def f1(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Harmonic mean of precision and sensitivity.

    2 tp / (2 tp + fp + fn), an increasing function of the Jaccard share tp / (tp + fp + fn), whose
    Wilson limits it takes over. The baseline calls every row positive.

    >>> f1(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.667 [0.536, 0.776]
    """
    return f_beta(c, beta=1.0, level=level)


@measure(group="decisions", title="F2 (f_beta)")
def f_beta(c: Confusion, *, beta: float = 2.0, level: float = 0.95) -> Estimate:
    """Harmonic mean of precision and sensitivity, with sensitivity weighing beta^2 times as much.

    (1 + b^2) tp / ((1 + b^2) tp + b^2 fn + fp). Its odds are those of the Jaccard share times a mean of 1
    and b^2, by how many of the errors are misses; the Wilson limits of the one and the exact limits of the
    other are combined on the log scale. The baseline calls every row positive.

    >>> f_beta(Confusion.counts(tp=25, fp=10, fn=15, tn=20), beta=2)
    0.641 [0.501, 0.766]
    """
    if not 0 < beta < math.inf:
        raise BadInput(f"beta is {beta}; it must be positive, such as 2")
    if why := lacking(c, "no positives, and nothing is called positive"):
        return Estimate.undefined(why, level)
    b2, p = beta**2, prevalence(c)
    return judged(
        c,
        lambda tp, fp, fn, tn: formulas.f_beta(tp, fp, fn, tn, beta),
        _f_limits(c, b2, level),
        level,
        "Wilson" if beta == 1 else "MOVER, log",
        baseline=(1 + b2) * p / (b2 * p + 1),
    )


@measure(group="decisions", title="Jaccard")
def jaccard(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of the rows called positive and positive among those called positive or positive.

    tp / (tp + fp + fn); Wilson interval. The baseline calls every row positive.

    >>> jaccard(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.500 [0.366, 0.634]
    """
    return _of_share(
        c,
        formulas.jaccard,
        (TP,),
        (FN, FP),
        level,
        prevalence,
        "no positives, and nothing is called positive",
    )


def _f_limits(c: Confusion, b2: float, level: float) -> tuple[float, float]:
    """Limits of F, from the odds of an error and the share of misses among the errors.

    The two are independent. To count a miss as b^2 rows is wrong where there are few errors: the kind that
    was not seen may be the costly one.
    """
    overlap = share(c, (TP,), (FN, FP), level)
    few, usual, many = (_odds(p) for p in (overlap.high, overlap.value, overlap.low))
    if not usual:  # there are no errors, of either kind
        return _f_of(many * max(1.0, b2), b2), 1.0
    missed = share(c, (FN,), (FP,), level, exact)
    cost, *limits = (1 - x + b2 * x for x in missed)
    low, high = sorted(limits)
    if not c.tp or not cost:
        return _f_of(many * high, b2), _f_of(few * low, b2)
    up = math.hypot(_log(many / usual), _log(high / cost))
    down = math.hypot(_log(usual / few) if few else math.inf, _log(cost / low) if low else math.inf)
    return _f_of(usual * cost * _exp(up), b2), _f_of(usual * cost * _exp(-down), b2)


def _odds(p: float) -> float:
    """Of the rest: what is not in the share, over it."""
    return (1 - p) / p if p else math.inf


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf


def _log(x: float) -> float:
    return math.log(x) if x < math.inf else math.inf


def _f_of(errors: float, b2: float) -> float:
    """F where the errors, each times its cost, are so many times the true positives."""
    return (1 + b2) / (1 + b2 + errors)
