"""Are the decisions right? What is made of two independent shares, and agreement beyond chance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from scorewise.estimate import Estimate
from scorewise.inference.shares import combine, ratio
from scorewise.inference.tables import delta
from scorewise.measures.decisions import (
    BOTH_CALLS,
    BOTH_CLASSES,
    FN,
    FP,
    TN,
    TP,
    called,
    cohen,
    judged,
    lacking,
    prevalence,
    rates,
    share,
)
from scorewise.registry import measure
from scorewise.tallies import Confusion, formulas

SIGNED = (-1.0, 1.0)
POSITIVE = (0.0, math.inf)


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


@measure(group="decisions", bounds=SIGNED, title="MCC")
def mcc(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Correlation of labels and decisions (Matthews, phi).

    (tp tn - fp fn) / sqrt of the product of the four margins. Delta method on the Fisher z scale, but no
    narrower than what the Wilson limits of prevalence, sensitivity and specificity amount to: with few
    positives, or few errors, the table is far from normal.

    >>> mcc(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.289 [0.053, 0.494]
    """
    if why := lacking(c, *BOTH_CLASSES, *BOTH_CALLS):
        return Estimate.undefined(why, level)
    by_table, by_shares = delta(formulas.mcc, c, level, "atanh"), _by_shares(c, level)
    limits = min(by_table[0], by_shares[0]), max(by_table[1], by_shares[1])
    method = "delta, Fisher z; MOVER"
    return judged(c, formulas.mcc, limits, level, method, baseline=0.0, bounds=SIGNED)


def _by_shares(c: Confusion, level: float) -> tuple[float, float]:
    """Limits of MCC as a function of three independent shares, each moved to its limits in turn."""
    shares = (share(c, (TP, FN), (FP, TN), level), *rates(c, level))
    seen = [x.value for x in shares]
    value, down, up = _mcc_of(*seen), 0.0, 0.0
    for k, one in enumerate(shares):
        moved = [_mcc_of(*np.where(np.arange(3) == k, x, seen)) for x in (one.low, one.high)]
        ends = [value, *filter(math.isfinite, moved)]
        down, up = math.hypot(down, value - min(ends)), math.hypot(up, max(ends) - value)
    return value - down, value + up


def _mcc_of(p: float, hit: float, right: float) -> float:
    """MCC by prevalence, sensitivity and specificity."""
    with np.errstate(all="ignore"):
        cells = np.array([p * hit, (1 - p) * (1 - right), p * (1 - hit), (1 - p) * right])
        return float(formulas.mcc(*cells))


@measure(group="decisions", bounds=SIGNED, title="Cohen's kappa")
def kappa(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Agreement of labels and decisions beyond what their margins would give by chance.

    (po - pe) / (1 - pe), with the interval of two raters; see `cohen_kappa`. Every constant scores 0.

    >>> round(kappa(Confusion.counts(tp=25, fp=10, fn=15, tn=20)).value, 3)
    0.286
    """
    constant = "labels and decisions are one and the same constant"
    if why := lacking(c) or ("" if _margins_vary(c) else constant):
        return Estimate.undefined(why, level)
    e = cohen(c, level)
    if not e.defined:
        return e
    limits = e.low, e.high
    made = judged(c, formulas.kappa, limits, level, e.method, baseline=0.0, bounds=SIGNED)
    return replace(made, caution=e.caution) if made.defined else made


def _margins_vary(c: Confusion) -> bool:
    same = c.tp + c.fp + c.fn, c.tn + c.fp + c.fn
    return all(same)


@measure(group="decisions", bounds=POSITIVE, title="Odds ratio (DOR)")
def dor(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Odds of a positive call among positives over the odds among negatives.

    (tp tn) / (fp fn); Woolf's interval on the log scale, with half a row in each cell if one is empty.

    >>> dor(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    3.333 [1.235, 8.997]
    """
    infinite = "" if c.fp and c.fn else "infinite: no false positives or no false negatives"
    if why := lacking(c, *BOTH_CLASSES, *BOTH_CALLS) or infinite:
        return Estimate.undefined(why, level)
    limits = delta(formulas.dor, c, level, "log")
    return judged(c, formulas.dor, limits, level, "Woolf, log", baseline=1.0, bounds=POSITIVE)


@measure(group="decisions", bounds=POSITIVE, title="Lift")
def lift(c: Confusion, *, level: float = 0.95) -> Estimate:
    """How many times more frequent positives are among the rows called positive than among all rows.

    Precision / prevalence; delta method on the log scale.

    >>> lift(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    1.250 [1.051, 1.487]
    """
    if why := lacking(c, "no positives", "nothing is called positive"):
        return Estimate.undefined(why, level)
    if c.tp:
        limits = delta(formulas.lift, c, level, "log")
    else:
        limits = (0.0, share(c, (TP,), (FP,), level).high / prevalence(c))
    return judged(c, formulas.lift, limits, level, "delta, log", baseline=1.0, bounds=POSITIVE)
