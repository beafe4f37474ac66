"""Are the decisions right? How labels and decisions go together beyond chance."""

from __future__ import annotations

import math

from scorewise.estimate import Estimate
from scorewise.intervals.tables import delta
from scorewise.measures._decided import BOTH_CALLS, BOTH_CLASSES, judged, lacking, prevalence, share
from scorewise.registry import measure
from scorewise.tallies import Confusion, formulas

TP, FP, FN, TN = range(4)
SIGNED = (-1.0, 1.0)
POSITIVE = (0.0, math.inf)


@measure(group="decisions", bounds=SIGNED, title="MCC")
def mcc(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Correlation of labels and decisions (Matthews, phi).

    (tp tn - fp fn) / sqrt of the product of the four margins; delta method on the Fisher z scale.

    >>> mcc(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.289 [0.053, 0.494]
    """
    if why := lacking(c, *BOTH_CLASSES, *BOTH_CALLS):
        return Estimate.undefined(why, level)
    limits = delta(formulas.mcc, c, level, "atanh")
    return judged(c, formulas.mcc, limits, level, "delta, Fisher z", baseline=0.0, bounds=SIGNED)


@measure(group="decisions", bounds=SIGNED, title="Cohen's kappa")
def kappa(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Agreement of labels and decisions beyond what their margins would give by chance.

    (po - pe) / (1 - pe), with the standard error of Fleiss, Cohen and Everitt (1969). Where that is 0
    (agreement or disagreement in every row) half a row is put into each cell, for the interval alone.

    >>> kappa(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.286 [0.064, 0.508]
    """
    constant = "labels and decisions are one and the same constant"
    if why := lacking(c) or ("" if _margins_vary(c) else constant):
        return Estimate.undefined(why, level)
    limits = delta(formulas.kappa, c, level, "identity")
    method = "Fleiss-Cohen-Everitt"
    return judged(c, formulas.kappa, limits, level, method, baseline=0.0, bounds=SIGNED)


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
