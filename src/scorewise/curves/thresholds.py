"""What every threshold would give, and the ROC and precision-recall curves made of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.curves.hull import pooled
from scorewise.intervals.tables import Formula
from scorewise.tallies import Tally, formulas
from scorewise.tallies.deciding import Cut
from scorewise.tallies.sorting import Numbers


@dataclass(frozen=True, eq=False)
class Thresholds:
    """tp, fp, fn, tn at every distinct threshold, from above all scores (nothing is positive) down.

    A row is called positive when its score >= threshold; the first threshold is infinite.

    >>> table = thresholds(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> table.threshold, table.tp, table.fp
    (array([inf, 0.8, 0.3, 0.1]), array([0, 1, 2, 2]), array([0, 0, 1, 2]))
    """

    threshold: Floats
    tp: Numbers
    fp: Numbers
    fn: Numbers
    tn: Numbers

    def value(self, formula: Formula) -> Floats:
        """A formula of tp, fp, fn, tn at every threshold; NaN where it is undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            cells = (x.astype(np.float64) for x in (self.tp, self.fp, self.fn, self.tn))
            return np.asarray(formula(*cells), np.float64)


@dataclass(frozen=True, eq=False)
class Curve:
    """Points (x, y) with the threshold of each; tied scores are one straight segment."""

    x: Floats
    y: Floats
    threshold: Floats


@dataclass(frozen=True, eq=False)
class Roc(Curve):
    """False positive rate (x) against true positive rate (y), from (0, 0) to (1, 1)."""

    corner: NDArray[np.int64]

    @property
    def area(self) -> float:
        """Area by trapezoids."""
        return float(np.trapezoid(self.y, self.x))

    def hull(self) -> Curve:
        """The least concave curve above: what mixing thresholds, or calibration, can reach."""
        return Curve(self.x[self.corner], self.y[self.corner], self.threshold[self.corner])


def thresholds(t: Tally) -> Thresholds:
    """The table of all thresholds."""
    tp, fp = (np.concatenate((w[:1] * 0, w[::-1].cumsum())) for w in (t.pos, t.neg))
    at = t.score if t.coarse is None else t.coarse.low.min(0)
    above = np.concatenate(([np.inf], at[::-1].astype(np.float64)))
    if not len(t.score):
        tp = fp = np.zeros(1, np.int64)
    # what lies below is added up from below, so that it loses no digits to what lies above
    fn, tn = (np.concatenate((w[:1] * 0, w.cumsum()))[::-1] for w in (t.pos, t.neg))
    if not len(t.score):
        fn = tn = np.zeros(1, np.int64)
    return Thresholds(above, tp, fp, fn, tn)


def roc(t: Tally) -> Roc:
    """The ROC curve.

    >>> curve = roc(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> curve.x, curve.y, curve.area
    (array([0. , 0. , 0.5, 1. ]), array([0. , 0.5, 1. , 1. ]), 0.875)
    """
    table = thresholds(t)
    # the runs count from the lowest score, the points from the highest
    corner = np.sort(len(t.score) - np.append(pooled(t), len(t.score)))
    with np.errstate(invalid="ignore"):
        x, y = table.fp / table.fp[-1], table.tp / table.tp[-1]
    return Roc(x, y, table.threshold, corner)


def precision_recall(t: Tally) -> Curve:
    """Recall (x) against precision (y); at recall 0, where nothing is called positive, precision is 1.

    >>> curve = precision_recall(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> curve.x, curve.y.round(3)
    (array([0. , 0.5, 1. , 1. ]), array([1.   , 1.   , 0.667, 0.5  ]))
    """
    table = thresholds(t)
    recall, precision = table.value(formulas.sensitivity), table.value(formulas.precision)
    precision[0] = 1.0
    return Curve(recall, precision, table.threshold)


def best_cut(t: Tally, formula: Formula = formulas.youden) -> tuple[Cut, float]:
    """The threshold at which a formula of tp, fp, fn, tn is largest (Youden's J unless said), and it.

    The highest such threshold if there are several. It is the largest value that still gives these
    decisions; the cut says the whole interval.

    >>> best_cut(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    (Cut(threshold=0.8, above=0.3, upto=0.8), 0.5)
    """
    table = thresholds(t)
    value = table.value(formula)
    if np.isnan(value).all():
        return Cut(np.nan, np.nan, np.nan), np.nan
    best = int(np.nanargmax(value))
    return t.cut(float(table.threshold[best])), float(value[best])
