"""Venn-Abers prediction: what isotonic regression would say if the row itself were one of either class."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.recalibrating.cells import Cells
from scorewise.recalibrating.methods.method import ANY, Method, Parameters, numbers
from scorewise.recalibrating.scale import Points


def _fit(cells: Cells) -> Parameters:
    few = cells.pooled()
    low = 1 - _with_one_more(few.neg[::-1], few.pos[::-1], few.row)[::-1]
    high = _with_one_more(few.pos, few.neg, few.row)
    return {"scores": few.points.score.tolist(), "low": low.tolist(), "high": high.tolist()}


def _with_one_more(up: Floats, down: Floats, row: float) -> Floats:
    """For each cell the isotonic fit there, once it has one more row of the class that goes up.

    That fit is the slope of the greatest convex curve below the cumulative sums. One more row in a cell
    shifts all sums left of it by (-row, -row). From the left, cell by cell, the sum that has to be shifted
    is the corner at which the curve begins (Vovk, Petej and Fedorova 2015).
    """
    x = np.concatenate(([0.0], (up + down).cumsum())).tolist()
    y = np.concatenate(([0.0], up.cumsum())).tolist()
    # corners right of each sum, as a stack from the far right to the near
    stack: list[tuple[float, float]] = []
    undone: list[list[tuple[float, float]]] = []
    for corner in zip(reversed(x[1:]), reversed(y[1:]), strict=True):
        dropped = []
        while len(stack) > 1 and not _turns(corner, stack[-1], stack[-2]):
            dropped.append(stack.pop())
        stack.append(corner)
        undone.append(dropped)
    left: list[tuple[float, float]] = []
    found = []
    for k in range(len(up)):
        corner = x[k] - row, y[k] - row
        while len(left) > 1 and not _turns(left[-2], left[-1], corner):
            left.pop()
        left.append(corner)
        found.append(_bridge(left, stack))
        stack.pop()
        stack.extend(reversed(undone.pop()))
    return np.array(found)


def _turns(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether the way over three points turns upwards at the middle one."""
    return (b[1] - a[1]) * (c[0] - b[0]) < (c[1] - b[1]) * (b[0] - a[0])


def _bridge(left: list[tuple[float, float]], right: list[tuple[float, float]]) -> float:
    """The slope of the line below both convex chains that touches both.

    The nearest corner of `left` is its last, and that of `right` its last.
    """
    i, j = len(left) - 1, len(right) - 1
    moved = True
    while moved:
        moved = False
        while i > 0 and not _turns(left[i - 1], left[i], right[j]):
            i, moved = i - 1, True
        while j > 0 and not _turns(left[i], right[j], right[j - 1]):
            j, moved = j - 1, True
    return (right[j][1] - left[i][1]) / (right[j][0] - left[i][0])


def both(parameters: Parameters, score: Floats) -> tuple[Floats, Floats]:
    """The probabilities if the row were negative and if it were positive."""
    at = numbers(parameters, "scores")
    low = np.concatenate(([0.0], numbers(parameters, "low")))
    high = np.concatenate((numbers(parameters, "high"), [1.0]))
    return (
        low[np.searchsorted(at, score, side="right")],
        high[np.searchsorted(at, score, side="left")],
    )


def _apply(parameters: Parameters, points: Points) -> Floats:
    p0, p1 = both(parameters, points.score)
    merged: Floats = p1 / (1 - p0 + p1)
    return merged


VENN_ABERS = Method(
    "venn_abers",
    "isotonic with the row itself as a negative (p0) and as a positive (p1), merged to "
    "p1 / (1 - p0 + p1) (Vovk, Petej and Fedorova 2015)",
    _fit,
    _apply,
    many=("scores", "low", "high"),
    kinds=ANY,
    least=500,
    outside="clamped",
    likely=False,
)
