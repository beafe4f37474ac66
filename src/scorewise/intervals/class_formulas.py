"""Formulas of a table of decisions on several classes, each with its slope in every cell."""

from __future__ import annotations

import math

import numpy as np

from scorewise.arrays import Floats


def macro_f1(table: Floats) -> tuple[float, Floats]:
    """The mean of the F1 of each class, and its slope.

    >>> value, slope = macro_f1(np.array([[2.0, 1.0], [0.0, 1.0]]))
    >>> round(value, 4), slope.round(4).tolist()
    (0.7333, [[0.04, -0.1911], [-0.1911, 0.1111]])
    """
    f1, own, margins = _f1(table)
    slope = own - (f1 / margins)[:, None] - (f1 / margins)[None, :]
    return float(f1.mean()), slope / len(table)


def weighted_f1(table: Floats) -> tuple[float, Floats]:
    """The mean of the F1 of each class by the frequency of the class, and its slope."""
    f1, own, margins = _f1(table)
    n, true = table.sum(), table.sum(1)
    value = float((true * f1).sum() / n)
    pull = true * f1 / margins
    slope = true[:, None] * own + f1[:, None] - value - pull[:, None] - pull[None, :]
    return value, slope / n


def _f1(table: Floats) -> tuple[Floats, Floats, Floats]:
    """The F1 of each class, what a right row adds to it, and the sum of its two margins."""
    margins = table.sum(0) + table.sum(1)
    return 2 * table.diagonal() / margins, np.diag(2 / margins), margins


def mcc(table: Floats) -> tuple[float, Floats]:
    """The correlation of two codings of the classes (Gorodkin 2004), and its slope."""
    po, pe, slope_po, slope_pe = _agreement(table)
    n = table.sum()
    true, called = table.sum(1) / n, table.sum(0) / n
    # 1 - the sum of squares, without the loss of digits when one class is nearly all
    of_true, of_called = (float((share * (1 - share)).sum()) for share in (true, called))
    root = math.sqrt(of_true * of_called)
    value = (po - pe) / root
    turn_true = -2 * (true - (1 - of_true)) / n / of_true
    turn_called = -2 * (called - (1 - of_called)) / n / of_called
    turn = turn_true[:, None] + turn_called[None, :]
    return value, (slope_po - slope_pe) / root - value / 2 * turn


def _agreement(table: Floats) -> tuple[float, float, Floats, Floats]:
    """Agreement, agreement by chance, and the slopes of both."""
    n = table.sum()
    true, called = table.sum(1) / n, table.sum(0) / n
    po, pe = float(table.trace() / n), float((true * called).sum())
    slope_po = (np.eye(len(table)) - po) / n
    slope_pe = (called[:, None] + true[None, :] - 2 * pe) / n
    return po, pe, slope_po, slope_pe
