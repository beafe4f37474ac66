"""How suspicious each label is: the share of rows scored alike that have the other one.

Which rows are scored alike is read off the convex hull of the ROC curve, which joins neighbouring scores as
isotonic regression does. A confident score on the wrong side is thus near 1 (an easy error), one on the
right side near 0, and a right score where others fail lies between. Unlike |y - p| this does not believe
the scores of an overconfident model, and it takes scores of any scale; docs/tables/labels.md compares it
with other rankings.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns import Rows
from scorewise.curves.hull import calibrated
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import why_not_unit

_DIGITS = 12  # beyond these, sums of floats depend on the order of rows


class Suspicion(NamedTuple):
    """For each row its suspicion, and how far its score errs, which orders equals.

    The error is |y - p|, or for scores beyond [0, 1] the share of the other class they are wrongly beyond.
    """

    value: Floats
    error: Floats


def suspicion(rows: Rows, t: Tally) -> Suspicion:
    """The suspicion of each of the rows that the tally was made of.

    Weights and counts say how much a row matters to the others, not how suspicious it is itself.

    >>> from scorewise.columns import take
    >>> rows = take([0, 0, 1, 0, 1], {"p": [0.1, 0.4, 0.6, 0.8, 0.9]})
    >>> suspicion(rows, Tally.of_rows(rows, "p")).value
    array([0. , 0. , 0.5, 0.5, 0. ])
    """
    # a row of no weight may lie beside all cells
    cell = np.searchsorted(t.score, rows.scores[t.origin.score]).clip(0, len(t.score) - 1)
    share = calibrated(t)
    value = np.where(rows.y, (1 - share)[cell], share[cell]).round(_DIGITS)
    if not why_not_unit(t):
        s = unit(t.score, t.kind)
        return Suspicion(value, np.where(rows.y, (1 - s)[cell], s[cell]))
    # ties count half
    above = 1 - (t.neg.cumsum() - t.neg / 2) / t.negatives
    below = (t.pos.cumsum() - t.pos / 2) / t.positives
    return Suspicion(value, np.where(rows.y, above[cell], below[cell]).round(_DIGITS))


def most(found: Suspicion, among: NDArray[np.bool_], top: int) -> NDArray[np.int64]:
    """The most suspicious rows among some; of equals the one that errs further, then the first.

    >>> same = np.array([0.5, 0.7, 0.7])
    >>> most(Suspicion(same, np.array([0.1, 0.2, 0.3])), same > 0, 2)
    array([2, 1])
    """
    rows = np.flatnonzero(among)
    value = found.value[rows]
    if top < len(rows):
        least = -np.partition(-value, top - 1)[top - 1] if top else np.inf
        rows, value = rows[value >= least], value[value >= least]
    order: NDArray[np.int64] = rows[np.lexsort((rows, -found.error[rows], -value))][:top]
    return order
