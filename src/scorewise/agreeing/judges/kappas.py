"""Cohen's kappa of two columns, weighted or not, with its slope in every cell."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.inference.scales import effective
from scorewise.inference.tables import SMOOTHING, Sloped, occurring_or_called
from scorewise.measures.raters.agreement import cohen_kappa
from scorewise.tallies import Confusion, Ratings
from scorewise.tallies.formulas import kappa_slope
from scorewise.tallies.formulas import table_kappa as kappa


def sloped(weights: Floats) -> Sloped:
    """The formula of kappa for those weights: a table -> its value, and its slope in each cell.

    >>> round(sloped(np.eye(2))(np.array([[20.0, 5.0], [10.0, 15.0]]))[0], 6)
    0.4
    """
    return lambda table: (float(kappa(table, 1 - weights)), kappa_slope(table, 1 - weights))


def why_no_kappa(c: Confusion, weights: Floats) -> str:
    """Why chance cannot be told from agreement; nothing where it can."""
    if not c.weight.any():
        return "no item is rated by both"
    used = occurring_or_called(c)
    if used.sum() < 2:
        return "both always say the same one thing"
    rows, columns = (c.weight.sum(k).astype(float)[used] for k in (1, 0))
    apart = 1 - weights[np.ix_(used, used)]
    if not (rows[:, None] * apart * columns).any():
        return "every two ratings that occur count as agreement"
    return ""


def kappa_of(c: Confusion, weights: Floats, level: float) -> Estimate:
    """Agreement beyond chance, as of two raters.

    >>> kappa_of(Confusion.counts(tp=20, fp=5, fn=10, tn=15), np.eye(2), 0.95)
    0.400 [0.131, 0.632]
    """
    if why := why_no_kappa(c, weights):
        return Estimate.undefined(why, level)
    return cohen_kappa(Ratings.of_confusion(c), weights=weights, level=level)


def error_of_one(c: Confusion, weights: Floats) -> float:
    """The standard error of kappa that one item like these would give."""
    used = occurring_or_called(c)
    table = c.weight[np.ix_(used, used)] / c.weight.sum()
    if np.count_nonzero(table) == np.count_nonzero(table.diagonal()):
        # as for the interval: nobody is sure of perfect agreement
        n = effective(float(c.weight.sum()), float(c.weight2.sum()))
        table = (table * n + SMOOTHING / table.size) / (n + SMOOTHING)
    _, slope = sloped(weights[np.ix_(used, used)])(table)
    return float(np.sqrt((table * slope**2).sum()))
