"""Two models on the same rows: the difference of their areas, with the covariance that they share."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.door import Rows
from scorewise.estimate import Estimate
from scorewise.intervals.placements import area
from scorewise.intervals.scales import effective, one_row, wald
from scorewise.tallies import Tally

Floats = NDArray[np.float64]


class Difference(NamedTuple):
    """A difference, and the two-sided p-value of there being none."""

    estimate: Estimate
    p: float


def area_difference(rows: Rows, first: Tally, second: Tally, level: float = 0.95) -> Difference:
    """AUROC of the first minus that of the second model, paired (DeLong et al. 1988).

    Each row is placed among the rows of the other class by both models; the spread of the difference
    of its places is what counts. Beyond 65,536 distinct scores the places are those of that many pooled
    cells, for the variance alone.
    """
    if why := first.why_not_ranked:
        return Difference(Estimate.undefined(why, level, 0.0), math.nan)
    w: Any = 1.0 if rows.weight is None else rows.weight
    times: Any = 1 if rows.count is None else rows.count
    weight, square = (np.broadcast_to(times * x, len(rows)) for x in (w, w * w))
    gap = _places(first, rows) - _places(second, rows)
    value, variance = area(first) - area(second), 0.0
    for side in (rows.y, ~rows.y):
        total, squares = weight[side].sum(), square[side].sum()
        mean = float((weight[side] * gap[side]).sum() / total)
        n = effective(total, squares)
        if one_row(n):
            why = "a class has a single row"
            return Difference(Estimate(value, level=level, method="none: " + why), math.nan)
        spread = float((square[side] * (gap[side] - mean) ** 2).sum() / total**2)
        variance += spread * n / (n - 1)
    if variance == 0:
        method = "none: no row is placed differently"
        return Difference(Estimate(value, value, value, level, method, "", 0.0, 0.0), 1.0)
    se = math.sqrt(variance)
    low, high = (min(1.0, max(-1.0, x)) for x in wald(value, se, level, "identity"))
    estimate = Estimate(value, low, high, level, "DeLong, paired", "", 0.0, 0.0)
    return Difference(estimate, math.erfc(abs(value) / se / math.sqrt(2)))


def _places(t: Tally, rows: Rows) -> Floats:
    """For each row the share of the other class that it is placed rightly against.

    Positives: the negatives below, ties half. Negatives: the positives above, ties half.
    """
    few = t.pooled
    # the last cell that begins at or below the score; a row of no weight may lie below all
    cell = np.maximum(np.searchsorted(few.score, rows.scores[t.origin.score], side="right") - 1, 0)
    below = (few.neg.cumsum() - few.neg / 2) / t.negatives
    above = 1 - (few.pos.cumsum() - few.pos / 2) / t.positives
    places: Floats = np.where(rows.y, below[cell], above[cell])
    return places


def holm(p: list[float]) -> list[float]:
    """The p-values of several tests, adjusted for their number (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, most = [math.nan] * len(p), 0.0
    known = sorted((x, i) for i, x in enumerate(p) if not math.isnan(x))
    for rank, (x, i) in enumerate(known):
        most = max(most, min(1.0, x * (len(known) - rank)))
        adjusted[i] = most
    return adjusted
