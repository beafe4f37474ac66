"""Intervals for formulas of a table of decisions, of two classes or of several."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.inference.scales import Scale, effective_size, normal_quantile, wald
from scorewise.inference.shares import Share, wilson_of
from scorewise.tallies import Confusion

Formula = Callable[[Any, Any, Any, Any], Any]
# a table (true class by decision) -> the value, and its slope in each cell
Sloped = Callable[[Floats], tuple[float, Floats]]
SHRINKAGE = 0.5  # rows by which a share is drawn towards the mean
SMOOTHING = 2.0  # rows spread evenly over all cells: half a row in each of four


def delta_limits(f: Formula, c: Confusion, level: float, scale: Scale) -> tuple[float, float]:
    """Interval of a formula by the delta method, for rows drawn at random with their decisions.

    The gradient is taken by a complex step, which is exact. Where the formula's slope says too little
    (an empty cell on a transformed scale, or no slope at all) half a row of mean weight is put into
    each cell, for the interval alone. Of weighted rows the error is the larger one: by the weights of each
    cell, or as if these differed within a class by chance alone.
    """
    table, squares = c.table * c.scale, np.stack([c.squares, c.evened]) * c.scale**2

    def error() -> float:
        return math.sqrt(float((squares @ gradient(f, table) ** 2).max()))

    se = 0.0 if scale != "identity" and (table == 0).any() else error()
    if se < 1e-12:  # no slope, up to rounding
        mean = squares[0].sum() / table.sum()
        table, squares = table + mean / 2, squares + mean**2 / 2
        se = error()
    return wald(float(f(*table)), se, level, scale)


def gradient(f: Formula, table: NDArray[np.float64]) -> NDArray[np.float64]:
    """The slope of a formula in each cell.

    >>> gradient(lambda tp, fp, fn, tn: tp / (tp + fn), np.array([1.0, 0.0, 1.0, 0.0]))
    array([ 0.25,  0.  , -0.25,  0.  ])
    """
    step = 1e-30 * table.sum()
    return np.array([f(*(table + 1j * step * axis)).imag / step for axis in np.eye(4)])


def weighted_f1(table: Floats) -> tuple[float, Floats]:
    """The mean of the F1 of each class by the frequency of the class, and its slope.

    >>> value, slope = weighted_f1(np.array([[2.0, 1.0], [0.0, 1.0]]))
    >>> round(value, 4), slope.round(4).tolist()
    (0.7667, [[0.0683, -0.1672], [-0.2006, 0.0306]])
    """
    n, true, margins = table.sum(), table.sum(1), table.sum(0) + table.sum(1)
    f1 = 2 * table.diagonal() / margins
    value = float((true * f1).sum() / n)
    pull = true * f1 / margins
    slope = np.diag(2 * true / margins) + f1[:, None] - value - pull[:, None] - pull[None, :]
    return value, slope / n


def mcc(table: Floats) -> tuple[float, Floats]:
    """The correlation of two codings of the classes (Gorodkin 2004), and its slope."""
    right, chance, root = _right(table)
    n, value = table.sum(), (right - chance) / root
    true, predicted = table.sum(1) / n, table.sum(0) / n
    turn_true, turn_called = (
        2 * ((share * (1 - share)).sum() + share - 1) / (share * (1 - share)).sum()
        for share in (true, predicted)
    )
    slope = np.eye(len(table)) - right - (predicted[:, None] + true[None, :] - 2 * chance)
    slope = slope / root + value / 2 * (turn_true[:, None] + turn_called[None, :])
    return value, slope / n


def _right(table: Floats) -> tuple[float, float, float]:
    """The share of right rows, that by chance, and how much more of it would be a correlation of 1."""
    n = table.sum()
    true, predicted = table.sum(1) / n, table.sum(0) / n
    # 1 - the sum of squares, without the loss of digits when one class is nearly all
    root = math.sqrt(float((true * (1 - true)).sum() * (predicted * (1 - predicted)).sum()))
    right = table.trace()
    wrong = (
        table - np.diag(table.diagonal())
    ).sum()  # 0 where no row is, which a difference may miss
    return float(right / (right + wrong)), float((true * predicted).sum()), root


def mean_share(share: Floats, rows: Floats, level: float) -> Share:
    """The mean of independent shares, each known from so many rows, with its score interval.

    The ends are those means from which the one seen is just z standard errors away, where the shares have
    moved to what is likeliest given such a mean (Martin Andres et al. 2011). Of one share it is Wilson's
    interval. For this alone each share is drawn towards the mean by half a row, because a class of few
    rows that are all right (or all wrong) is not certain.

    >>> [round(x, 3) for x in mean_share(np.array([0.9, 0.9]), np.array([10.0, 10.0]), 0.95)]
    [0.9, 0.693, 0.973]
    """
    mean, rest = float(share.mean()), float((1 - share).mean())
    down, up = (_score_reach(x, rows, normal_quantile(level)) for x in (share, 1 - share))
    return Share(mean, max(0.0, mean - down) if mean else 0.0, min(1.0, mean + up) if rest else 1.0)


def shrunk(share: Floats, rows: Floats) -> Floats:
    """Shares drawn towards their mean by half a row."""
    return np.asarray((rows * share + SHRINKAGE * share.mean()) / (rows + SHRINKAGE))


def _score_reach(share: Floats, rows: Floats, quantile: float) -> float:
    """How far below the mean of shares its score interval reaches."""
    if not share.any():
        return 0.0
    of, even, part = rows + SHRINKAGE, shrunk(share, rows), 1 / len(rows)
    # of shares that are alike, drawing them together takes away this much of their variance
    df = rows * (1 - (1 - 1 / len(rows)) * rows / of**2)

    from scipy.optimize import brentq

    def at_pull(pull: float) -> tuple[float, float]:
        """How far the mean is pulled down, less the reach of the interval there, and that reach."""
        turn = of + pull * part
        root = np.sqrt(np.maximum(turn * turn - 4 * pull * part * of * even, 0.0))
        at = np.minimum(2 * of * even / (turn + root), 1.0)
        each = part * part * at * (1 - at)
        reach = quantile * math.sqrt(float((each / df).sum()))
        # shares of 1 do not move before the pull is as strong as their rows
        return (pull * float((each / of).sum()) - reach if reach else -1.0), reach

    high = 1.0
    while at_pull(high)[0] < 0:
        high *= 4
    return at_pull(brentq(lambda pull: at_pull(pull)[0], 0.0, high, xtol=1e-300, rtol=1e-14))[1]


def mean_f1(c: Confusion, level: float) -> Share:
    """The mean of the F1 of each class that occurs or is called, with its score interval.

    F1 = 2 tp / s, where s is the sum of the two margins, has the variance F1 (1 - F1) (2 - F1) / s: that
    of a share of s / (2 - F1) rows. A wrong row lowers the F1 of two classes, so that they are not
    independent: by as much as the variance of their mean is larger (by the delta method), there are
    fewer rows.
    """
    table, squares = _used(c)
    margins, hit = table.sum(0) + table.sum(1), table.diagonal()
    f1, of = np.minimum(2 * hit / margins, 1.0), margins - hit
    of2 = squares.sum(0) + squares.sum(1) - squares.diagonal()
    rows = of * (of / of2) * 2 / (2 - f1) ** 2
    # the variance of the sum of all F1 over the sum of their variances: from 1 to 2
    table, squares = _smoothed(table, squares)
    margins, hit = table.sum(0) + table.sum(1), squares.diagonal()
    pull, wrong = 2 * table.diagonal() / margins**2, squares - np.diag(hit)
    variance_of_hits = float((hit * (2 / margins - 2 * pull) ** 2).sum())
    alone = variance_of_hits + float(((wrong.sum(0) + wrong.sum(1)) * pull**2).sum())
    both = variance_of_hits + float((wrong * (pull[:, None] + pull[None, :]) ** 2).sum())
    return mean_share(f1, rows / (both / alone if alone else 1.0), level)


def delta_share(f: Sloped, c: Confusion, level: float) -> Share:
    """A formula between 0 and 1 with a Wilson interval, of as many rows as would be as uncertain.

    That is by the delta method, for rows drawn at random with their decisions, on a table over which two
    rows are spread evenly.
    """
    table, squares = _used(c)
    value = min(max(f(table)[0], 0.0), 1.0)  # rounding may lead a little beyond
    rows = effective_size(float(table.sum()), float(squares.sum()))
    error = _error(f, *_smoothed(table, squares))
    inside = value * (1 - value)
    return wilson_of(value, inside / error**2 if inside and error else rows, level)


def mcc_limits(c: Confusion, level: float) -> tuple[float, float]:
    """Interval of the correlation of labels and decisions: that of the share of right rows, brought over.

    Given how frequent each class and each decision is, the correlation follows that share. Its interval is
    Wilson's, of as many rows as make the correlation as uncertain by the delta method; where all rows are
    right, all wrong, or none moves the correlation, on a table over which two rows are spread evenly.
    """
    seen = _used(c)
    rows = 0.0
    for table, squares in (seen, _smoothed(*seen)):
        share, _, unit = _right(table)
        error = _error(mcc, table, squares) * unit
        rows = rows or (share * (1 - share) / error**2 if error > 0 else 0.0)
    right, chance, root = _right(seen[0])
    _, low, high = wilson_of(right, rows, level)
    return (low - chance) / root, (high - chance) / root


def occurring_or_predicted(c: Confusion) -> NDArray[np.bool_]:
    """The classes of which there is a row in truth or in the decisions."""
    return np.asarray((c.weight.sum(0) + c.weight.sum(1)) > 0)


def _used(c: Confusion) -> tuple[Floats, Floats]:
    """Weights and squared weights of those classes, in a unit near 1."""
    used = occurring_or_predicted(c)
    at = np.ix_(used, used)
    return (c.weight[at] * c.scale).astype(float), (c.weight2[at] * c.scale**2).astype(float)


def _smoothed(table: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """The same with two rows of mean weight spread evenly over the cells."""
    mean, each = squares.sum() / table.sum(), SMOOTHING / table.size
    return table + mean * each, squares + mean**2 * each


def _error(f: Sloped, table: Floats, squares: Floats) -> float:
    return math.sqrt(float((squares * f(table)[1] ** 2).sum()))
