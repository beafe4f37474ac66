"""How suspicious each label is, read off the hull of the score-weighted ROC curve (smROC).

On the curve a row climbs by v and runs by 1 - v (see `tallies.climbing`). The slopes of the curve's convex
hull say how much of a row climbs at a score, the more the higher: an isotonic fit of the climbs, weighted
by the rows. A positive ought to climb and a negative to run, so a negative is as suspicious as rows of
its score climb, and a positive as they run: near 1 for an easy error, near 0 for an easy success.

Unlike |y - p| this does not believe the scores of an overconfident model, and unlike an isotonic fit of the
labels alone it still tells high scores apart where all labels agree; docs/tables/labels.md compares them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.door import Rows
from scorewise.tallies import Tally
from scorewise.tallies.climbing import appropriate, cell_climbs, row_climbs
from scorewise.tallies.losses import unit

Floats = NDArray[np.float64]
_DIGITS = 12  # beyond these, sums of floats depend on the order of rows


class Suspicion(NamedTuple):
    """For each row: its suspicion, its climb, and whether its score is appropriate to its label."""

    value: Floats
    climb: Floats
    appropriate: NDArray[np.bool_]
    error: Floats


def hull_climbs(t: Tally, midpoint: float) -> Floats:
    """How much of a row climbs at each score, on the hull of the curve, from the lowest score up.

    >>> t = Tally.of([0, 0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8, 0.9])
    >>> hull_climbs(t, 0.5)
    array([0.1, 0.4, 0.4, 0.4, 0.9])
    """
    from scipy.optimize import isotonic_regression

    climb, run = cell_climbs(t, midpoint)
    weight = climb + run
    fitted: Floats = isotonic_regression(climb / weight, weights=weight).x
    return fitted


def suspicion(rows: Rows, t: Tally, midpoint: float) -> Suspicion:
    """The suspicion of each of the rows that the tally was made of; its weight does not enter.

    >>> from scorewise.door import take
    >>> rows = take([0, 0, 1, 0, 1], {"p": [0.1, 0.4, 0.6, 0.8, 0.9]})
    >>> suspicion(rows, Tally.of_rows(rows, "p"), 0.5).value
    array([0.1, 0.4, 0.6, 0.4, 0.1])
    """
    score = rows.scores[t.origin.score]
    # a row of no weight may lie beside all cells
    cell = np.searchsorted(t.score, score).clip(0, len(t.score) - 1)
    climbs = hull_climbs(t, midpoint)[cell]
    s = unit(score, t.kind)
    value = np.where(rows.y, 1 - climbs, climbs).round(_DIGITS)
    error = np.where(rows.y, 1 - s, s).round(_DIGITS)
    right = appropriate(rows.y, s, midpoint)
    return Suspicion(value, row_climbs(rows.y, s, midpoint), right, error)


def most(found: Suspicion, among: NDArray[np.bool_], top: int) -> NDArray[np.int64]:
    """The most suspicious rows among some; of equals the one whose score errs more, then the first.

    >>> same = np.array([0.5, 0.7, 0.7])
    >>> most(Suspicion(same, same, same > 1, np.array([0.1, 0.2, 0.3])), same > 0, 2)
    array([2, 1])
    """
    rows = np.flatnonzero(among)
    value = found.value[rows]
    if top < len(rows):
        least = -np.partition(-value, top - 1)[top - 1] if top else np.inf
        rows, value = rows[value >= least], value[value >= least]
    order: NDArray[np.int64] = rows[np.lexsort((rows, -found.error[rows], -value))][:top]
    return order
