"""Are the decisions right? Measures made of two independent shares."""

from __future__ import annotations

import math

from scorewise.estimate import Estimate
from scorewise.intervals.shares import combine, ratio
from scorewise.measures._decided import (
    BOTH_CALLS,
    BOTH_CLASSES,
    called,
    judged,
    lacking,
    rates,
    share,
)
from scorewise.registry import measure
from scorewise.tallies import Confusion, formulas

TP, FP, FN, TN = range(4)


@measure(group="decisions", title="Balanced accuracy")
def balanced_accuracy(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Mean of sensitivity and specificity: the accuracy if both classes were equally frequent.

    Newcombe's interval: the Wilson limits of both shares, combined.

    >>> balanced_accuracy(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.646 [0.528, 0.743]
    """
    if why := lacking(c, *BOTH_CLASSES):
        return Estimate.undefined(why, level)
    limits = combine(lambda a, b: (a + b) / 2, *rates(c, level))
    return judged(c, formulas.balanced_accuracy, limits, level, "Newcombe", baseline=0.5)


@measure(group="decisions", bounds=(-1.0, 1.0), title="Youden's J")
def youden(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Sensitivity + specificity - 1: how much more often positives are called positive than negatives.

    Newcombe's interval for a difference of shares.

    >>> youden(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.292 [0.055, 0.485]
    """
    if why := lacking(c, *BOTH_CLASSES):
        return Estimate.undefined(why, level)
    limits = combine(lambda a, b: a + b - 1, *rates(c, level))
    bounds = (-1.0, 1.0)
    return judged(c, formulas.youden, limits, level, "Newcombe", baseline=0.0, bounds=bounds)


@measure(group="decisions", bounds=(-1.0, 1.0), title="Markedness")
def markedness(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Precision + npv - 1: how much a decision tells about the label.

    Newcombe's interval for a difference of shares.

    >>> markedness(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.286 [0.054, 0.478]
    """
    if why := lacking(c, *BOTH_CALLS):
        return Estimate.undefined(why, level)
    shares = share(c, (TP,), (FP,), level), share(c, (TN,), (FN,), level)
    limits = combine(lambda a, b: a + b - 1, *shares)
    bounds = (-1.0, 1.0)
    return judged(c, formulas.markedness, limits, level, "Newcombe", baseline=0.0, bounds=bounds)


@measure(group="decisions", title="G-mean")
def g_mean(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Geometric mean of sensitivity and specificity; 0 as soon as one class is wholly missed.

    The Wilson limits of both shares, combined. The baseline calls as many rows positive, at random.

    >>> g_mean(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.645 [0.519, 0.738]
    """
    if why := lacking(c, *BOTH_CLASSES):
        return Estimate.undefined(why, level)
    a, b = rates(c, level)
    limits = combine(lambda p, q: math.sqrt(p * q), a, b)
    if a.value == b.value == 0:
        limits = (0.0, math.sqrt(a.high * b.high))
    chance = math.sqrt(called(c) * (1 - called(c)))
    return judged(c, formulas.g_mean, limits, level, "MOVER", baseline=chance)


@measure(group="decisions", bounds=(0.0, math.inf), title="LR+")
def lr_plus(c: Confusion, *, level: float = 0.95) -> Estimate:
    """By how much a positive call raises the odds of being positive.

    Sensitivity / (1 - specificity); the Wilson limits of both shares, combined on the log scale.

    >>> lr_plus(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    1.875 [1.120, 3.358]
    """
    if why := lacking(c, *BOTH_CLASSES, *BOTH_CALLS[:1]) or (
        "" if c.fp else "infinite: no false positives"
    ):
        return Estimate.undefined(why, level)
    limits = ratio(share(c, (TP,), (FN,), level), share(c, (FP,), (TN,), level))
    return judged(
        c, formulas.lr_plus, limits, level, "MOVER, log", baseline=1.0, bounds=(0.0, math.inf)
    )


@measure(group="decisions", better="low", bounds=(0.0, math.inf), title="LR-")
def lr_minus(c: Confusion, *, level: float = 0.95) -> Estimate:
    """What a negative call leaves of the odds of being positive.

    (1 - sensitivity) / specificity; the Wilson limits of both shares, combined on the log scale.

    >>> lr_minus(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.562 [0.349, 0.896]
    """
    if why := lacking(c, *BOTH_CLASSES, *BOTH_CALLS[1:]) or (
        "" if c.tn else "infinite: no true negatives"
    ):
        return Estimate.undefined(why, level)
    limits = ratio(share(c, (FN,), (TP,), level), share(c, (TN,), (FP,), level))
    return judged(
        c, formulas.lr_minus, limits, level, "MOVER, log", baseline=1.0, bounds=(0.0, math.inf)
    )
