"""Are the decisions right? How labels and decisions go together beyond chance."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from scorewise.estimate import Estimate
from scorewise.intervals.tables import delta
from scorewise.measures._decided import (
    BOTH_CALLS,
    BOTH_CLASSES,
    cohen,
    judged,
    lacking,
    prevalence,
    rates,
    share,
)
from scorewise.registry import measure
from scorewise.tallies import Confusion, formulas

TP, FP, FN, TN = range(4)
SIGNED = (-1.0, 1.0)
POSITIVE = (0.0, math.inf)


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
