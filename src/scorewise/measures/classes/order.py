"""Is the order right? Areas of one class against the rest, and of pairs of classes.

Values are exact, from all rows. Intervals know that the scores of a row for all classes go together: they
are made of what each row adds, on all rows up to 16,384 and beyond that on a sample of so many. Classes
that do not occur have no area and are left out of means.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.inference import class_rows
from scorewise.inference.ranking import (
    FEW,
    area,
    area_limits,
    precision_area,
    precision_spread,
    score_limits,
    spread,
)
from scorewise.inference.scales import Spread, effective_rows, limits
from scorewise.inference.shares import Share
from scorewise.measures.classes.decisions import (
    UNKNOWN,
    counted,
    left_out,
    occurring,
    why_one_class,
)
from scorewise.registry import measure
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.sorting import Numbers, sum_cells

Influence = Callable[[class_rows.Sample], Floats]


@measure(group="order", title="Macro AUROC", of="several classes")
def macro_auroc(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of the AUROC of each class against the rest.

    Over the classes that occur. The interval is DeLong's for the mean, on the logit scale; the variance
    by the rows of a rare class is steadied by what those of all classes say. With all pairs in one order
    it is Newcombe's (2006) score interval, of two classes that of `auroc`. Every constant scores 0.5.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> macro_auroc(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    1.000 [0.356, 1.000]
    """
    if why := _why_not(t):
        return Estimate.undefined(why, level)
    areas, weight = _areas(t)[occurring(t)], t.weight[occurring(t)].astype(float)
    weight /= weight.sum()
    # rows of a class are also among the rest of each other class
    rest = (1 / (1 - weight)).sum() - 1 / (1 - weight)
    terms = class_rows.Terms(areas, (1 + weight * rest) / len(areas), _of_area)
    return _judged(t, float(areas.mean()), class_rows.of_areas, level, 0.5, terms)


@measure(group="order", title="Weighted AUROC", of="several classes")
def weighted_auroc(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of the AUROC of each class against the rest, by how frequent the class is.

    The interval is DeLong's for that mean, on the logit scale, and knows that the frequencies are
    estimates too. Every constant scores 0.5.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> weighted_auroc(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    1.000 [0.356, 1.000]
    """
    if why := _why_not(t):
        return Estimate.undefined(why, level)
    there = occurring(t)
    weight = t.weight[there].astype(float)
    value = float((weight / weight.sum() * _areas(t)[there]).sum())
    return _judged(t, value, class_rows.of_areas_by_frequency, level, 0.5)


@measure(group="order", title="Micro AUROC", of="several classes")
def micro_auroc(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Chance that the score of a row's own class exceeds one that any row gives to a class not its own.

    All scores of all classes in one list: it compares scores across classes and rows, so it is no mere
    matter of the order within a class. DeLong's interval for rows that appear once for each class. The
    baseline gives every row the frequencies of the classes, which beats 0.5 when they are unequal.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> micro_auroc(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.938 [0.315, 0.998]
    """
    if why := _why_not(t):
        return Estimate.undefined(why, level)
    own = np.concatenate([marks.true == c for c, marks in enumerate(t.each)])
    score, weight = (np.concatenate([getattr(m, x) for m in t.each]) for x in ("score", "weight"))
    value = _area(score, np.stack([np.where(own, 0, weight), np.where(own, weight, 0)]))
    frequent = t.weight.astype(float)
    constant = _area(frequent, np.stack([frequent.sum() - frequent, frequent]))
    return _judged(t, value, class_rows.of_pooled_area, level, constant)


def _area(score: Floats, columns: Numbers) -> float:
    """The area of scores in any order, given the weight of negatives and of positives on each."""
    cells, (neg, pos) = sum_cells(score, columns)
    return area(Tally(cells, neg, pos, neg, pos))


@measure(group="order", title="Hand-Till M", of="several classes")
def hand_till(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of the AUROC of all pairs of classes: how well two classes are told apart (Hand and Till 2001).

    For each pair, the mean of the areas of both classes' scores on the rows of the two; unlike the macro
    AUROC it does not depend on how frequent classes are. The interval is DeLong's for the mean, on the
    logit scale, with the variance of rare classes steadied as there. Every constant scores 0.5.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> hand_till(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    1.000 [0.356, 1.000]
    """
    if why := _why_not(t):
        return Estimate.undefined(why, level)
    there = np.flatnonzero(occurring(t))
    weight = t.weight[there].astype(float)
    pairs = t.wins[np.ix_(there, there)] / weight[:, None] / weight[None, :]
    k = len(there)
    of_class = (pairs + pairs.T).sum(1) / (2 * (k - 1))
    # rows of a class are in its own mean over pairs, and as one of a pair in those of all others
    terms = class_rows.Terms(of_class, np.full(k, 2 / k), _of_area, 4.0)
    return _judged(t, float(pairs.sum()) / (k * (k - 1)), class_rows.of_pairs, level, 0.5, terms)


@measure(group="order", title="Macro average precision", of="several classes")
def macro_average_precision(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of the average precision of each class against the rest.

    Over the classes that occur. Score interval of a mean of shares, each of as many rows as make it as
    uncertain: by each row's influence, or by the rows of the class where these are few (Boyd, Eng and
    Page 2013). Its lower end starts from the value less its bias, because with few rows of a class
    average precision is too high: each row finds itself. The baseline is 1 / (number of classes).

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> macro_average_precision(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    1.000 [0.417, 1.000]
    """
    if why := _why_not(t):
        return Estimate.undefined(why, level)
    there = np.flatnonzero(occurring(t))
    each = np.array([precision_area(t.one(t.classes[c])) for c in there])
    k = len(there)
    terms = class_rows.Terms(each, np.full(k, 1 / k), precision_spread)
    seen = class_rows.mean_precision(t, terms, level)
    method = f"score, {counted(t, occurring(t), 'occur')}"
    caution = left_out(t, occurring(t), seen)
    return Estimate(*seen, level, method, baseline=1 / k, caution=caution)


def _why_not(t: ClassTally) -> str:
    return why_one_class(t) or ("" if t.each else UNKNOWN)


def _areas(t: ClassTally) -> Floats:
    """The area of each class against the rest; NaN where the class does not occur."""
    own = t.weight.astype(float)
    with np.errstate(invalid="ignore"):
        areas: Floats = t.wins.sum(1) / own / (own.sum() - own)
    return areas


def _of_area(one: Tally) -> Spread:
    """Variance of the area of one class against the rest."""
    seen = area(one)
    known = spread(one, seen)
    # of a single row no more is known than between which ends its placement lies
    return known if known.says_something() else Spread(seen * (1 - seen), 1.0)


def _judged(
    t: ClassTally,
    value: float,
    influence: Influence,
    level: float,
    baseline: float,
    terms: class_rows.Terms | None = None,
) -> Estimate:
    """The value with DeLong's interval, or with Newcombe's where that says nothing."""
    value = min(1.0, value)  # weights may add up to a hair above all pairs
    half = _worth(t) / 2
    known = Spread(0.0, 0.0)
    if len(t.classes) == 2 and influence is not class_rows.of_pooled_area:
        low, high, method = area_limits(t.one(t.classes[1]), value, level)
        return Estimate(value, low, high, level, f"{method}, 2 classes", baseline=baseline)
    if 0 < value < 1 and (terms is not None or half > FEW - 1e-9):
        known = class_rows.spread_of_rows(t, influence, terms)
    if known.says_something():
        low, high = limits(value, known, level, "logit")
        method = "DeLong, logit"
    else:
        low, high = score_limits(value, half, half, level)
        method = "Newcombe"
    method += f", {counted(t, occurring(t), 'occur')}"
    caution = left_out(t, occurring(t), Share(value, low, high)) if terms is not None else ""
    return Estimate(value, low, high, level, method, baseline=baseline, caution=caution)


def _worth(t: ClassTally) -> float:
    """As many rows of equally frequent classes as say as much: classes times the harmonic mean."""
    rows = effective_rows(t.weight, t.weight2)[occurring(t)]
    return float(len(rows) ** 2 / (1 / rows).sum())
