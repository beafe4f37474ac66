"""Cohen's kappa of two columns, weighted or not, with its slope in every cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.door.ratings import Scale
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.class_tables import SMOOTHING, Sloped, class_delta, occurring_or_called
from scorewise.intervals.scales import effective
from scorewise.tallies import Confusion

Floats = NDArray[np.float64]
_USUAL = {
    "nominal": "unweighted",
    "ordinal": "linear",
    "interval": "quadratic",
    "ratio": "quadratic",
}


def agreement_weights(
    weights: Any, scale: Scale, categories: tuple[str, ...], values: Floats
) -> tuple[Floats, str]:
    """How much each two categories agree (1 on the diagonal), and what that is called.

    Unless said, a nominal scale is unweighted, an ordinal one linear, an interval or ratio one quadratic.

    >>> agreement_weights("linear", "ordinal", ("low", "mid", "high"), np.arange(3.0))[0].tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    weights = _USUAL[scale] if weights is None else weights
    if not isinstance(weights, str):
        return _own(weights, categories), "own"
    if weights == "unweighted":
        return np.eye(len(categories)), weights
    if weights not in ("linear", "quadratic"):
        raise BadInput(
            f"weights={weights!r} is not known; pass unweighted, linear, quadratic or a matrix"
        )
    if scale == "nominal":
        raise BadInput(
            f'weights="{weights}" needs categories in an order; pass scale="ordinal", or "interval"'
        )
    width = float(np.ptp(values)) or 1.0
    apart = np.abs(values[:, None] - values[None, :]) / width
    return 1 - (apart if weights == "linear" else apart**2), weights


def _own(weights: Any, categories: tuple[str, ...]) -> Floats:
    try:
        matrix = np.asarray(weights, np.float64)
    except (TypeError, ValueError):
        raise BadInput("weights= is no matrix of numbers; give a row for each category") from None
    if matrix.shape != (len(categories), len(categories)):
        raise BadInput(
            f"weights= has shape {matrix.shape}; with {len(categories)} categories it takes a row and a "
            f"column for each"
        )
    if not ((matrix >= 0) & (matrix <= 1)).all() or (matrix.diagonal() != 1).any():
        raise BadInput("weights= say how much categories agree: from 0 to 1, and 1 on the diagonal")
    return matrix


def sloped(weights: Floats) -> Sloped:
    """The formula of kappa for those weights: a table -> its value, and its slope in each cell.

    >>> round(sloped(np.eye(2))(np.array([[20.0, 5.0], [10.0, 15.0]]))[0], 6)
    0.4
    """

    def kappa(table: Floats) -> tuple[float, Floats]:
        n = table.sum()
        rows, columns = table.sum(1) / n, table.sum(0) / n
        by_row, by_column = (weights * columns).sum(1), (weights * rows[:, None]).sum(0)
        po, pe = float((weights * table).sum() / n), float((rows * by_row).sum())
        value = (po - pe) / (1 - pe)
        turn = by_row[:, None] + by_column[None, :] - 2 * pe
        return value, (weights - po - (1 - value) * turn) / (1 - pe) / n

    return kappa


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
    """Agreement beyond chance, with the standard error of Fleiss, Cohen and Everitt (1969).

    Where that is 0 two items are spread over the table, for the interval alone.

    >>> kappa_of(Confusion.counts(tp=20, fp=5, fn=10, tn=15), np.eye(2), 0.95)
    0.400 [0.151, 0.649]
    """
    if why := why_no_kappa(c, weights):
        return Estimate.undefined(why, level)
    used = occurring_or_called(c)
    formula = sloped(weights[np.ix_(used, used)])
    value, _ = formula((c.weight[np.ix_(used, used)] * c.scale).astype(float))
    low, high = class_delta(formula, c, level, "identity")
    value = min(max(value, -1.0), 1.0)
    low, high = max(-1.0, min(low, value)), min(1.0, max(high, value))
    return Estimate(value, low, high, level, "Fleiss-Cohen-Everitt", baseline=0.0)


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
