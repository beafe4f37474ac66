"""Are the decisions right? Shares of rows, means of shares, association, and agreement beyond chance.

Of two classes the measures take a `Confusion`, of several a `ClassTally`, whose decisions name the class of
the highest score. Averages run over the classes for which the averaged share exists: recall over those
that occur, precision over those that are called, F1 over those that occur or are called. scikit-learn
counts a precision that does not exist as 0. Micro averages are not measures of their own: with one label a
row, micro precision, recall and F1 all are the accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.errors import BadInput
from scorewise.estimate import Estimate, Undefined, undefined_if
from scorewise.inference import tables
from scorewise.inference.scales import effective_size
from scorewise.inference.shares import (
    Share,
    clopper_pearson,
    combined_limits,
    ratio_limits,
    share_of_cells,
    wilson,
)
from scorewise.measures.agreement import cohen_kappa
from scorewise.registry import measure
from scorewise.statistics.formulas import DECISIONS, FN, FP, SHARES, TN, TP
from scorewise.statistics.formulas import f_beta as f_formula
from scorewise.tallies import ClassTally, Confusion, Ratings

# why a share of these cells is undefined where they are empty
WHY_EMPTY = {
    (TP, FP, FN, TN): "no rows",
    (TP, FN): "no positives",
    (FP, TN): "no negatives",
    (TP, FP): "nothing is called positive",
    (FN, TN): "nothing is called negative",
    (TP, FP, FN): "no positives, and nothing is called positive",
}
RATES, VALUES = ("sensitivity", "specificity"), ("precision", "npv")
SIGNED, POSITIVE = (-1.0, 1.0), (0.0, math.inf)
MIN_ROWS = 3  # of a class: with fewer, the interval of a mean of few shares is unreliable
UNKNOWN = "only the confidence is known; scores of each class are needed for this"
CONSTANT = "labels and decisions are one and the same constant"


def why_empty(c: Confusion, cells: tuple[int, ...]) -> str:
    """Why a share of cells (tp, fp, fn, tn) is undefined; empty where it is defined."""
    if not c.table.any():
        return "no rows"
    return "" if c.table[list(cells)].any() else WHY_EMPTY[cells]


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
    undefined_if(why_empty(c, tuple(sorted((*hit, *miss)))))
    a, b = (float(c.table[list(cells)].sum()) for cells in (hit, miss))
    squares = [[float(w2[list(x)].sum()) for x in (hit, miss)] for w2 in (c.squares, c.evened)]
    total = a + b
    a2, b2 = max(squares, key=lambda x: x[0] * (b / total) ** 2 + x[1] * (a / total) ** 2)
    return interval(a, b, a2, b2, level)


def shares(c: Confusion, names: tuple[str, ...], level: float) -> list[Share]:
    """Some of the shares of `SHARES`, with their Wilson intervals."""
    return [share(c, *SHARES[name], level) for name in names]


def prevalence(c: Confusion) -> float:
    """Share of positives; 0 without rows."""
    return float((c.tp + c.fn) / (c.table.sum() or 1.0))


def predicted_positive(c: Confusion) -> float:
    """Share of rows that are predicted positive; 0 without rows."""
    return float((c.tp + c.fp) / (c.table.sum() or 1.0))


def estimate_of_table(
    c: Confusion,
    formula: tables.Formula,
    limits: tuple[float, float],
    level: float,
    method: str,
    *,
    baseline: float,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """The formula's value between its limits, widened by what a coarse tally leaves in doubt.

    All formulas rise with tp and fall with fp, or the reverse, so the doubt is largest at two corners.
    """
    neg, pos = c.doubt[0] / 2, c.doubt[1] / 2
    slack = np.array([pos, -neg, -pos, neg])
    corners = (c.table - slack, c.table + slack) if any(c.doubt) else ()
    with np.errstate(all="ignore"):
        value, *ends = (float(formula(*(table * c.scale))) for table in (c.table, *corners))
    if not math.isfinite(value):
        raise Undefined("the weights are too uneven for floating point")
    bound = abs(ends[1] - ends[0]) / 2 if ends else 0.0
    if not math.isfinite(bound):
        raise Undefined("the cells of the coarse tally leave it open")
    value = sum(ends) / 2 if ends else value
    return Estimate.within(bounds, value, *limits, level, method, bound=bound, baseline=baseline)


def _estimate_of_share(c: Confusion, name: str, level: float, baseline: float) -> Estimate:
    """One of the shares of `SHARES`, with its Wilson interval."""
    limits = share(c, *SHARES[name], level)[1:]
    return estimate_of_table(c, DECISIONS[name], limits, level, "Wilson", baseline=baseline)


@measure(
    group="decisions", title="Accuracy", classes="Share of rows whose class is predicted correctly."
)
def accuracy(c: Confusion | ClassTally, *, level: float = 0.95) -> Estimate:
    """Share of correct predictions.

    (tp + tn) / n; Wilson interval. The baseline, always naming the largest class, is high when classes
    are unequal: with 99 % onlookers, calling everybody an onlooker is 99 % accurate.

    >>> accuracy(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.643 [0.526, 0.745]
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> accuracy(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.750 [0.301, 0.954]
    """
    if isinstance(c, Confusion):
        return _estimate_of_share(c, "accuracy", level, max(prevalence(c), 1 - prevalence(c)))
    undefined_if(why_no_rows(c))
    table, right = c.confusion, np.eye(len(c.classes), dtype=bool)
    found = share_of_cells(table.weight, table.weight2, right, ~right, level)
    return Estimate(*found, level, "Wilson", baseline=max(frequencies(c)))


@measure(group="decisions", title="Sensitivity (recall)")
def sensitivity(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of positives that are predicted positive (recall, true positive rate).

    tp / (tp + fn); Wilson interval. The baseline calls as many rows positive, at random.

    >>> sensitivity(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.625 [0.470, 0.758]
    """
    return _estimate_of_share(c, "sensitivity", level, predicted_positive(c))


@measure(group="decisions", title="Specificity")
def specificity(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of negatives that are predicted negative (true negative rate).

    tn / (tn + fp); Wilson interval. The baseline calls as many rows positive, at random.

    >>> specificity(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.667 [0.488, 0.808]
    """
    return _estimate_of_share(c, "specificity", level, 1 - predicted_positive(c))


@measure(group="decisions", title="Precision (PPV)")
def precision(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of positives among the rows predicted positive (positive predictive value).

    tp / (tp + fp); Wilson interval. The baseline, calling rows positive at random, is the prevalence.

    >>> precision(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.714 [0.549, 0.837]
    """
    return _estimate_of_share(c, "precision", level, prevalence(c))


@measure(group="decisions", title="NPV")
def npv(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Share of negatives among the rows predicted negative (negative predictive value).

    tn / (tn + fn); Wilson interval. The baseline is the share of negatives among all rows.

    >>> npv(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.571 [0.409, 0.720]
    """
    return _estimate_of_share(c, "npv", level, 1 - prevalence(c))


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
    b2, p = beta**2, prevalence(c)
    return estimate_of_table(
        c,
        lambda tp, fp, fn, tn: f_formula(tp, fp, fn, tn, beta),
        _f_limits(c, b2, level),
        level,
        "Wilson" if beta == 1 else "MOVER, log",
        baseline=(1 + b2) * p / (b2 * p + 1),
    )


def _f_limits(c: Confusion, b2: float, level: float) -> tuple[float, float]:
    """Limits of F, from the odds of an error and the share of misses among the errors.

    The two are independent. To count a miss as b^2 rows is wrong where there are few errors: the kind that
    was not seen may be the costly one.
    """

    def f(errors: Any) -> float:  # each times its cost, in true positives
        return float((1 + b2) / (1 + b2 + errors))

    jaccard = np.array(share(c, *SHARES["jaccard"], level))
    with np.errstate(all="ignore"):
        odds, most, least = (1 - jaccard) / jaccard
        if not odds:  # there are no errors, of either kind
            return f(most * max(1.0, b2)), 1.0
        misses = np.array(share(c, (FN,), (FP,), level, clopper_pearson))
        cost, *limits = 1 - misses + b2 * misses
        low, high = np.sort(limits)
        if not c.tp or not cost:
            return f(most * high), f(least * low)
        both = Share(odds, least, most), Share(cost, low, high)
        low, high = combined_limits(lambda a, b: np.log(a * b), *both)
        return f(np.exp(high)), f(np.exp(low))


@measure(group="decisions", title="Jaccard")
def jaccard(c: Confusion, *, level: float = 0.95) -> Estimate:
    """True positives among rows that are positive or predicted positive (intersection over union).

    tp / (tp + fp + fn); Wilson interval. The baseline calls every row positive.

    >>> jaccard(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.500 [0.366, 0.634]
    """
    return _estimate_of_share(c, "jaccard", level, prevalence(c))


@measure(
    group="decisions",
    title="Balanced accuracy",
    classes="Mean of the recall of each class: the accuracy if all classes were equally frequent "
    "(macro recall).",
)
def balanced_accuracy(c: Confusion | ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of sensitivity and specificity: the accuracy if both classes were equally frequent.

    Newcombe's interval: the Wilson limits of both shares, combined. Of several classes the mean recall of
    those that occur, with the score interval of a mean of independent shares, which of one share is
    Wilson's. Every constant, and so the baseline, gets 1 / (number of classes).

    >>> balanced_accuracy(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.646 [0.528, 0.743]
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> balanced_accuracy(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.833 [0.287, 0.988]
    """
    if isinstance(c, Confusion):
        limits = combined_limits(lambda a, b: (a + b) / 2, *shares(c, RATES, level))
        formula = DECISIONS["balanced_accuracy"]
        return estimate_of_table(c, formula, limits, level, "Newcombe", baseline=0.5)
    undefined_if(why_one_class(c))
    return _mean_share(c, 1, level, 1 / occurring(c).sum())


@measure(group="decisions", bounds=SIGNED, title="Youden's J")
def youden(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Sensitivity + specificity - 1: how much more often positives are predicted positive than negatives.

    Newcombe's interval for a difference of shares.

    >>> youden(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.292 [0.055, 0.485]
    """
    limits = combined_limits(lambda a, b: a + b - 1, *shares(c, RATES, level))
    return estimate_of_table(
        c, DECISIONS["youden"], limits, level, "Newcombe", baseline=0.0, bounds=SIGNED
    )


@measure(group="decisions", bounds=SIGNED, title="Markedness")
def markedness(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Precision + npv - 1: how much a prediction tells about the label.

    Newcombe's interval for a difference of shares.

    >>> markedness(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.286 [0.054, 0.478]
    """
    limits = combined_limits(lambda a, b: a + b - 1, *shares(c, VALUES, level))
    return estimate_of_table(
        c, DECISIONS["markedness"], limits, level, "Newcombe", baseline=0.0, bounds=SIGNED
    )


@measure(group="decisions", title="G-mean")
def g_mean(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Geometric mean of sensitivity and specificity; 0 as soon as one class is wholly missed.

    The Wilson limits of both shares, combined. The baseline calls as many rows positive, at random.

    >>> g_mean(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.645 [0.519, 0.738]
    """
    a, b = shares(c, RATES, level)
    limits = combined_limits(lambda p, q: math.sqrt(p * q), a, b)
    if a.value == b.value == 0:
        limits = (0.0, math.sqrt(a.high * b.high))
    baseline = math.sqrt(predicted_positive(c) * (1 - predicted_positive(c)))
    return estimate_of_table(c, DECISIONS["g_mean"], limits, level, "MOVER", baseline=baseline)


@measure(group="decisions", bounds=POSITIVE, title="LR+")
def lr_plus(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Factor by which a positive prediction raises the odds of being positive.

    Sensitivity / (1 - specificity); the Wilson limits of both shares, combined on the log scale.

    >>> lr_plus(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    1.875 [1.120, 3.358]
    """
    of_positives, of_negatives = share(c, (TP,), (FN,), level), share(c, (FP,), (TN,), level)
    undefined_if(why_empty(c, (TP, FP)) or ("" if c.fp else "infinite: no false positives"))
    return _estimate_of_ratio(c, "lr_plus", ratio_limits(of_positives, of_negatives), level)


@measure(group="decisions", better="low", bounds=POSITIVE, title="LR-")
def lr_minus(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Factor by which a negative prediction lowers the odds of being positive.

    (1 - sensitivity) / specificity; the Wilson limits of both shares, combined on the log scale.

    >>> lr_minus(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.562 [0.349, 0.896]
    """
    of_positives, of_negatives = share(c, (FN,), (TP,), level), share(c, (TN,), (FP,), level)
    undefined_if(why_empty(c, (FN, TN)) or ("" if c.tn else "infinite: no true negatives"))
    return _estimate_of_ratio(c, "lr_minus", ratio_limits(of_positives, of_negatives), level)


def _estimate_of_ratio(
    c: Confusion, name: str, limits: tuple[float, float], level: float, method: str = "MOVER, log"
) -> Estimate:
    """A ratio that is 1 where predictions say nothing about the label."""
    return estimate_of_table(
        c, DECISIONS[name], limits, level, method, baseline=1.0, bounds=POSITIVE
    )


@measure(group="decisions", bounds=SIGNED, title="MCC")
def mcc(c: Confusion | ClassTally, *, level: float = 0.95) -> Estimate:
    """Correlation of labels and predictions (Matthews, phi).

    (tp tn - fp fn) / sqrt of the product of the four margins. Delta method on the Fisher z scale, but no
    narrower than what the Wilson limits of prevalence, sensitivity and specificity amount to: with few
    positives, or few errors, the table is far from normal. Of several classes it is that of the class
    indicators, summed over classes (R_K, Gorodkin 2004). Given how frequent classes and decisions are it
    follows the accuracy, whose Wilson interval, of as many rows as are as uncertain by the delta method,
    is brought over. Every constant scores 0.

    >>> mcc(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    0.289 [0.053, 0.494]
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> mcc(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.700 [0.228, 0.964]
    """
    if isinstance(c, ClassTally):
        named = c.confusion.weight.sum(0) > 0
        one = f"all rows are called {c.classes[int(named.argmax())]}" if named.sum() < 2 else ""
        uneven = why_uneven(c, c.weight) or why_uneven(c, c.confusion.weight.sum(0))
        undefined_if(why_one_class(c) or one or uneven)
        if len(c.classes) > 2:
            table, used = c.confusion, np.ix_(*2 * [tables.occurring_or_predicted(c.confusion)])
            value, _ = tables.mcc((table.weight[used] * table.scale).astype(float))
            limits = tables.mcc_limits(table, level)
            return Estimate.within(SIGNED, value, *limits, level, "Wilson, delta", baseline=0.0)
        c = c.confusion
    undefined_if(_why_empty_margin(c))

    def of_shares(p: float, hit: float, right: float) -> Any:
        cells = p * hit, (1 - p) * (1 - right), p * (1 - hit), (1 - p) * right
        return DECISIONS["mcc"](*cells)

    prevalent = share(c, (TP, FN), (FP, TN), level)
    by_table = tables.delta_limits(DECISIONS["mcc"], c, level, "atanh")
    by_shares = combined_limits(of_shares, prevalent, *shares(c, RATES, level))
    limits = min(by_table[0], by_shares[0]), max(by_table[1], by_shares[1])
    return estimate_of_table(
        c, DECISIONS["mcc"], limits, level, "delta, Fisher z; MOVER", baseline=0.0, bounds=SIGNED
    )


def _why_empty_margin(c: Confusion) -> str:
    """Why not all four margins of the table have rows, or nothing."""
    margins = (TP, FN), (FP, TN), (TP, FP), (FN, TN)
    return next(filter(None, (why_empty(c, margin) for margin in margins)), "")


@measure(group="decisions", bounds=SIGNED, title="Cohen's kappa")
def kappa(c: Confusion | ClassTally, *, level: float = 0.95) -> Estimate:
    """Agreement of labels and predictions beyond chance, given their margins.

    (po - pe) / (1 - pe), with the interval of two raters; see `cohen_kappa`. Every constant scores 0.

    >>> round(kappa(Confusion.counts(tp=25, fp=10, fn=15, tn=20)).value, 3)
    0.286
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> round(kappa(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"])).value, 3)
    0.636
    """
    table = c.confusion if isinstance(c, ClassTally) else c
    undefined_if("" if table.weight.any() else "no rows")
    undefined_if(CONSTANT if tables.occurring_or_predicted(table).sum() < 2 else "")
    if isinstance(c, ClassTally):
        undefined_if(why_uneven(c, c.weight + table.weight.sum(0)))
    e = cohen_kappa(Ratings.of_confusion(table), level=level)
    e = replace(e, why=e.why.replace("item", "row"), baseline=0.0, p=None)
    if isinstance(c, ClassTally) or not e.defined:
        return e
    of_table = estimate_of_table(
        c, DECISIONS["kappa"], (e.low, e.high), level, e.method, baseline=0.0, bounds=SIGNED
    )
    return replace(of_table, caution=e.caution)


@measure(group="decisions", bounds=POSITIVE, title="Odds ratio (DOR)")
def dor(c: Confusion, *, level: float = 0.95) -> Estimate:
    """Odds of a positive prediction among positives over those among negatives.

    (tp tn) / (fp fn); Woolf's interval on the log scale, with half a row in each cell if one is empty.

    >>> dor(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    3.333 [1.235, 8.997]
    """
    infinite = "" if c.fp and c.fn else "infinite: no false positives or no false negatives"
    undefined_if(_why_empty_margin(c) or infinite)
    limits = tables.delta_limits(DECISIONS["dor"], c, level, "log")
    return _estimate_of_ratio(c, "dor", limits, level, "Woolf, log")


@measure(group="decisions", bounds=POSITIVE, title="Lift")
def lift(c: Confusion, *, level: float = 0.95) -> Estimate:
    """How many times more frequent positives are among rows predicted positive than among all rows.

    Precision / prevalence; delta method on the log scale.

    >>> lift(Confusion.counts(tp=25, fp=10, fn=15, tn=20))
    1.250 [1.051, 1.487]
    """
    undefined_if(why_empty(c, (TP, FN)))
    precise = share(c, (TP,), (FP,), level)
    if c.tp:
        limits = tables.delta_limits(DECISIONS["lift"], c, level, "log")
    else:
        limits = (0.0, precise.high / prevalence(c))
    return _estimate_of_ratio(c, "lift", limits, level, "delta, log")


# Means over several classes: what all of them need, and the measures.


def why_no_rows(t: ClassTally) -> str:
    """That there are no rows, or nothing."""
    return "" if t.confusion.weight.any() else "no rows"


def occurring(t: ClassTally) -> Bools:
    """The classes of which there is a row."""
    return np.asarray(t.weight > 0)


def frequencies(t: ClassTally) -> list[float]:
    """How frequent each class is."""
    weight = t.weight.astype(float)
    found: list[float] = (weight / weight.sum()).tolist()
    return found


def why_one_class(t: ClassTally) -> str:
    """Why classes cannot be told apart, or nothing."""
    there = occurring(t)
    if there.sum() == 1:
        return f"all rows are of one class, {t.classes[int(there.argmax())]}"
    return why_no_rows(t) or why_uneven(t, t.weight)


def why_uneven(t: ClassTally, weight: Any) -> str:
    """Why classes of such weights cannot be compared in floating point, or nothing."""
    of = np.where(weight > 0, weight, np.inf).astype(float)
    if of.min() >= 1e-12 * float(weight.sum()):
        return ""
    least = t.classes[int(of.argmin())]
    return f"weights are too uneven: class {least!r} has less than 1e-12 of all"


def left_out(t: ClassTally, used: Any, seen: Estimate | Share, none: str = "no row of") -> str:
    """Why a mean over the classes used may differ from that over all: some are left out.

    Nothing is said where the interval holds whatever the values of those left out are.
    """
    many, of = int(np.count_nonzero(used)), len(t.classes)
    least = seen.value * many / of
    if many == of or (seen.low <= least and seen.high >= least + 1 - many / of):
        return ""
    if many < of - 1:
        return f"{none} {of - many} of {of} classes"
    return f"{none} class {t.classes[int(np.argmin(used))]!r}"


def few_rows(t: ClassTally, rows: Floats, which: str = "of class") -> str:
    """The caution that one class of one or two rows decides how uncertain a mean over classes is."""
    inverse = np.divide(1.0, rows, out=np.zeros(len(rows)), where=rows > 0)
    at = int(inverse.argmax())
    # rounding: equal weights may sum to slightly less than their count
    if rows[at] > MIN_ROWS - 1e-9 or inverse[at] < 0.45 * inverse.sum():
        return ""
    return f"{rows[at]:.3g} row{'s' * bool(rows[at] > 1)} {which} {t.classes[at]!r}"


def class_count(t: ClassTally, used: Any, which: str) -> str:
    """How many classes there are in a mean, and which.

    >>> class_count(ClassTally.of([0, 1], [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]), np.array([1, 1, 0]), "occur")
    'the 2 of 3 classes that occur'
    """
    many, of = int(np.count_nonzero(used)), len(t.classes)
    return f"{of} classes" if many == of else f"the {many} of {of} classes that {which}"


def _mean_share(t: ClassTally, axis: int, level: float, baseline: float) -> Estimate:
    """Mean over classes of the share of right rows, of those called so (axis 0) or of the class (1)."""
    exists = ("are called", "occur in truth")[axis]
    none, which = (("no prediction of", "predicted as"), ("no row of", "of class"))[axis]
    w, w2 = (x.astype(float) for x in (t.confusion.weight, t.confusion.weight2))
    total, squares, hit = w.sum(axis), w2.sum(axis), w.diagonal()
    used, rows = total > 0, effective_size(total, squares)
    seen = tables.mean_share(hit[used] / total[used], rows[used], level)
    method = f"score, mean of {class_count(t, used, exists)}"
    caution = left_out(t, used, seen, none) or few_rows(t, rows, which)
    return Estimate(*seen, level, method, baseline=baseline, caution=caution)


@measure(group="decisions", title="Macro precision", of="several classes")
def macro_precision(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean precision over the classes that are predicted.

    A class that is never called has no precision and is left out, which the method says; scikit-learn
    counts it as 0. Score interval of a mean of independent shares. The baseline always names the most
    frequent class.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> macro_precision(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.833 [0.287, 0.988]
    """
    undefined_if(why_no_rows(t))
    return _mean_share(t, 0, level, max(frequencies(t)))


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
    undefined_if(why_no_rows(t))
    most, used = max(frequencies(t)), tables.occurring_or_predicted(t.confusion)
    seen = tables.mean_f1(t.confusion, level)
    method = f"score, mean of {class_count(t, used, 'occur or are called')}"
    caution = left_out(t, occurring(t), seen) or few_rows(t, effective_size(t.weight, t.weight2))
    baseline = 2 * most / (1 + most) / int(occurring(t).sum())
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
    undefined_if(why_no_rows(t))
    most, seen = max(frequencies(t)), tables.delta_share(tables.weighted_f1, t.confusion, level)
    return Estimate(*seen, level, "delta, Wilson", baseline=2 * most / (1 + most) * most)


# of several classes they come after the means of F1
for _function, _title, _meaning in (
    (kappa, "Cohen's kappa", ""),
    (mcc, "MCC", "Correlation of labels and predictions (R_K of Gorodkin 2004)."),
):
    measure(group="decisions", bounds=SIGNED, title=_title, of="several classes", meaning=_meaning)(
        _function
    )
