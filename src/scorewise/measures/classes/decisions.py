"""Are the decisions among several classes right? Shares, means over classes, and association.

Decisions name the class of the highest score. Averages run over the classes for which the averaged share
exists: recall over those that occur, precision over those that are called, F1 over those that occur or are
called. scikit-learn counts a precision that does not exist as 0. Micro averages are not measures of their
own: with one label a row, micro precision, recall and F1 all are the accuracy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.inference import tables as formulas
from scorewise.inference.scales import effective_rows
from scorewise.inference.shares import Share, wilson_of_cells
from scorewise.inference.tables import (
    Sloped,
    delta_share,
    mcc_limits,
    mean_f1,
    mean_share,
    occurring_or_called,
)
from scorewise.measures.decisions import cohen
from scorewise.measures.decisions_rates import mcc as mcc_of_two
from scorewise.registry import measure
from scorewise.tallies import ClassTally

FEW = (
    3  # rows of a class, below which the interval of its share, and of means of few, is unreliable
)
UNKNOWN = "only the confidence is known; scores of each class are needed for this"
SIGNED = (-1.0, 1.0)


def occurring(t: ClassTally) -> NDArray[np.bool_]:
    """The classes of which there is a row."""
    there: NDArray[np.bool_] = t.weight > 0
    return there


def shares(t: ClassTally) -> list[float]:
    """How frequent each class is."""
    weight = t.weight.astype(float)
    frequent: list[float] = (weight / weight.sum()).tolist()
    return frequent


def why_one_class(t: ClassTally) -> str:
    """Why classes cannot be told apart, or nothing."""
    there = occurring(t)
    if not there.any():
        return "no rows"
    if there.sum() < 2:
        return f"all rows are of one class, {t.classes[int(there.argmax())]}"
    return why_uneven(t, t.weight)


def why_uneven(t: ClassTally, weight: Any) -> str:
    """Why classes of such weights cannot be compared in floating point, or nothing."""
    of = np.where(weight > 0, weight, np.inf).astype(float)
    if of.min() >= 1e-12 * float(weight.sum()):
        return ""
    return (
        f"weights are too uneven: class {t.classes[int(of.argmin())]!r} has less than 1e-12 of all"
    )


def left_out(t: ClassTally, used: Any, seen: Share, none: str = "no row of") -> str:
    """Why a mean over the classes used may not be that over all: some are left out, and could move it.

    Nothing is said where the interval holds whatever the values of those left out are.
    """
    many, of = int(np.count_nonzero(used)), len(t.classes)
    least = seen.value * many / of
    if many == of or (seen.low <= least and seen.high >= least + 1 - many / of):
        return ""
    if many < of - 1:
        return f"{none} {of - many} of {of} classes"
    return f"{none} class {t.classes[int(np.argmin(used))]!r}"


def few_rows(t: ClassTally, rows: NDArray[np.float64], which: str = "of class") -> str:
    """The caution that a class of one or two rows decides how uncertain a mean over classes is."""
    there = rows > 0
    inverse = np.divide(1.0, rows, out=np.zeros(len(rows)), where=there)
    at = int(inverse.argmax())
    # rounding: equal weights may sum to slightly less than their count
    if rows[at] > FEW - 1e-9 or inverse[at] < 0.45 * inverse.sum():
        return ""
    return f"{rows[at]:.3g} row{'s' * bool(rows[at] > 1)} {which} {t.classes[at]!r}"


def counted(t: ClassTally, used: Any, which: str) -> str:
    """How many classes there are in a mean, and which.

    >>> counted(ClassTally.of([0, 1], [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]), np.array([1, 1, 0]), "occur")
    'the 2 of 3 classes that occur'
    """
    many, of = int(np.count_nonzero(used)), len(t.classes)
    return f"{of} classes" if many == of else f"the {many} of {of} classes that {which}"


@measure(group="decisions", title="Accuracy", of="several classes")
def accuracy(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Share of rows for which the right class is named.

    Wilson interval. The baseline always names the most frequent class.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> accuracy(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.750 [0.301, 0.954]
    """
    if not t.confusion.weight.any():
        return Estimate.undefined("no rows", level)
    c, right = t.confusion, np.eye(len(t.classes), dtype=bool)
    seen = wilson_of_cells(c.weight, c.weight2, right, ~right, level)
    return Estimate(*seen, level, "Wilson", baseline=max(shares(t)))


@measure(group="decisions", title="Balanced accuracy", of="several classes")
def balanced_accuracy(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of the recall of each class: the accuracy if all classes were equally frequent (macro recall).

    Over the classes that occur. Score interval of a mean of independent shares, which of one share is
    Wilson's. Every constant, and so the baseline, gets 1 / (number of classes).

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> balanced_accuracy(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.833 [0.287, 0.988]
    """
    if why := why_one_class(t):
        return Estimate.undefined(why, level)
    e, seen, rows = _mean_share(t, 1, level, 1 / occurring(t).sum(), "occur in truth")
    return replace(e, caution=left_out(t, occurring(t), seen) or few_rows(t, rows))


@measure(group="decisions", title="Macro precision", of="several classes")
def macro_precision(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean, over the classes that are called, of the share of calls that are right.

    A class that is never called has no precision and is left out, which the method says; scikit-learn
    counts it as 0. Score interval of a mean of independent shares. The baseline always names the most
    frequent class.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> macro_precision(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.833 [0.287, 0.988]
    """
    if not t.confusion.weight.any():
        return Estimate.undefined("no rows", level)
    e, seen, rows = _mean_share(t, 0, level, max(shares(t)), "are called")
    caution = left_out(t, rows > 0, seen, "no prediction of") or few_rows(t, rows, "predicted as")
    return replace(e, caution=caution)


def _mean_share(
    t: ClassTally, axis: int, level: float, baseline: float, exists: str
) -> tuple[Estimate, Share, Floats]:
    """The mean over classes of the share of right rows along an axis of the table; rows of each class."""
    w, w2 = (x.astype(float) for x in (t.confusion.weight, t.confusion.weight2))
    total, squares, hit = w.sum(axis), w2.sum(axis), w.diagonal()
    used, rows = total > 0, effective_rows(total, squares)
    seen = mean_share(hit[used] / total[used], rows[used], level)
    method = f"score, mean of {counted(t, used, exists)}"
    return Estimate(*seen, level, method, baseline=baseline), seen, rows


@measure(group="decisions", title="Macro F1", of="several classes")
def macro_f1(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of the F1 of each class, each class counting the same.

    F1 is 2 right / (rows of the class + calls of the class), over the classes that occur or are called.
    Score interval of a mean of shares, of fewer rows because a wrong row lowers the F1 of two classes.
    The baseline always names the most frequent class.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> macro_f1(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.778 [0.297, 0.967]
    """
    if not t.confusion.weight.any():
        return Estimate.undefined("no rows", level)
    most, used = max(shares(t)), occurring_or_called(t.confusion)
    baseline = 2 * most / (1 + most) / int(occurring(t).sum())
    seen = mean_f1(t.confusion, level)
    method = f"score, mean of {counted(t, used, 'occur or are called')}"
    caution = left_out(t, occurring(t), seen) or few_rows(t, effective_rows(t.weight, t.weight2))
    return Estimate(*seen, level, method, baseline=baseline, caution=caution)


@measure(group="decisions", title="Weighted F1", of="several classes")
def weighted_f1(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of the F1 of each class, by how frequent the class is.

    Wilson interval of as many rows as are as uncertain by the delta method. The baseline always names
    the most frequent class.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> weighted_f1(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.750 [0.323, 0.950]
    """
    if not t.confusion.weight.any():
        return Estimate.undefined("no rows", level)
    most = max(shares(t))
    baseline = 2 * most / (1 + most) * most
    value, low, high = delta_share(formulas.weighted_f1, t.confusion, level)
    return Estimate(value, low, high, level, "delta, Wilson", baseline=baseline)


@measure(group="decisions", bounds=SIGNED, title="Cohen's kappa", of="several classes")
def kappa(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Agreement of labels and decisions beyond what their margins would give by chance.

    (po - pe) / (1 - pe), with the interval of two raters; see `cohen_kappa`. Every constant scores 0.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> round(kappa(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"])).value, 3)
    0.636
    """
    if not t.confusion.weight.any():
        return Estimate.undefined("no rows", level)
    if occurring_or_called(t.confusion).sum() < 2:
        return Estimate.undefined("labels and decisions are one and the same constant", level)
    if why := why_uneven(t, t.weight + t.confusion.weight.sum(0)):
        return Estimate.undefined(why, level)
    return cohen(t.confusion, level)


@measure(group="decisions", bounds=SIGNED, title="MCC", of="several classes")
def mcc(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Correlation of labels and decisions (R_K of Gorodkin 2004).

    That of the class indicators, summed over classes; of two classes, Matthews' phi, with its interval.
    Given how frequent classes and decisions are it follows the accuracy, whose Wilson interval, of as
    many rows as are as uncertain by the delta method, is brought over. Every constant scores 0.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> mcc(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.700 [0.228, 0.964]
    """
    if why := why_one_class(t):
        return Estimate.undefined(why, level)
    called = t.confusion.weight.sum(0) > 0
    if called.sum() < 2:
        only = t.classes[int(called.argmax())]
        return Estimate.undefined(f"all rows are called {only}", level)
    if why := why_uneven(t, t.weight) or why_uneven(t, t.confusion.weight.sum(0)):
        return Estimate.undefined(why, level)
    if len(t.classes) == 2:
        return mcc_of_two(t.confusion, level=level)
    return _signed(t, formulas.mcc, mcc_limits(t.confusion, level), level, "Wilson, delta")


def _signed(
    t: ClassTally, formula: Sloped, limits: tuple[float, float], level: float, method: str
) -> Estimate:
    """The value between -1 and 1 of a formula, with its interval."""
    c, used = t.confusion, occurring_or_called(t.confusion)
    value, _ = formula((c.weight[np.ix_(used, used)] * c.scale).astype(float))
    # rounding may lead a hair beyond, and rows spread over the table beside the value
    value = min(max(value, -1.0), 1.0)
    low, high = max(-1.0, min(limits[0], value)), min(1.0, max(limits[1], value))
    return Estimate(value, low, high, level, method, baseline=0.0)
