"""Histogram binning: the share of positives in each of a few bins of equal mass."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.recalibrating.cells import Cells, Points
from scorewise.recalibrating.methods.parametric import ANY, Method, Parameters, number, numbers
from scorewise.tallies.losses import expit
from scorewise.tallies.sorting import add_runs, runs


def _fit_histogram(cells: Cells) -> Parameters:
    rows = cells.mass.sum() / cells.row
    start = runs(cells.mass, int(np.clip(np.cbrt(2 * rows), 2, 50)))
    neg, pos = add_runs(cells.neg, start), add_runs(cells.pos, start)
    values = (pos + cells.row) / (neg + pos + 2 * cells.row)
    return {"edges": cells.points.score[start].tolist(), "values": values.tolist()}


def _apply_histogram(parameters: Parameters, points: Points) -> Floats:
    edges, values = numbers(parameters, "edges"), numbers(parameters, "values")
    found: Floats = values[np.maximum(np.searchsorted(edges, points.score, side="right") - 1, 0)]
    return found


HISTOGRAM = Method(
    "histogram",
    "(positives + 1) / (rows + 2) in each of up to 50 bins of equal mass that split no ties",
    _fit_histogram,
    _apply_histogram,
    many=("edges", "values"),
    kinds=ANY,
    least=500,
    outside="clamped",
    likely=False,
)


# Isotonic regression: the best of all maps that never fall, and a variant that always rises.


def blocks(cells: Cells) -> tuple[np.ndarray, Floats]:
    """The first cell of each block of the isotonic fit, and the share of positives in the block."""
    from scipy.optimize import isotonic_regression

    mass = cells.mass
    start = isotonic_regression(cells.pos / mass, weights=mass).blocks[:-1].astype(np.int64)
    return start, add_runs(cells.pos, start) / add_runs(mass, start)


def _fit_isotonic(cells: Cells) -> Parameters:
    start, share = blocks(cells)
    ends = np.append(start[1:], len(cells.x)) - 1
    both = np.stack([start, ends]).T.ravel()
    # a block of one cell is one point
    at = np.concatenate(([True], both[1:] != both[:-1]))
    values = np.repeat(share, 2)[at]
    return {"scores": cells.points.score[both[at]].tolist(), "values": values.tolist()}


def _apply_isotonic(parameters: Parameters, points: Points) -> Floats:
    return np.interp(points.score, numbers(parameters, "scores"), numbers(parameters, "values"))


def _fit_strict(cells: Cells) -> Parameters:
    start, share = blocks(cells)
    centre = add_runs(cells.points.x * cells.mass, start) / add_runs(cells.mass, start)
    rows = float(cells.mass.sum() / cells.row)
    return {"x": centre.tolist(), "values": share.tolist(), "rows": rows}


def _apply_strict(parameters: Parameters, points: Points) -> Floats:
    fit = np.interp(points.x, numbers(parameters, "x"), numbers(parameters, "values"))
    rows = number(parameters, "rows")
    return (rows * fit + expit(points.x)) / (rows + 1)


ISOTONIC = Method(
    "isotonic",
    "the likeliest map that never falls, straight between the scores seen (Zadrozny and Elkan 2002)",
    _fit_isotonic,
    _apply_isotonic,
    many=("scores", "values"),
    kinds=ANY,
    least=500,
    outside="clamped",
    likely=False,
)
ISOTONIC_STRICT = Method(
    "isotonic_strict",
    "isotonic, straight between the centres of its blocks (Oron and Flournoy 2017), the score itself "
    "counting as one more row: rises everywhere, and is never 0 or 1",
    _fit_strict,
    _apply_strict,
    single=("rows",),
    many=("x", "values"),
    kinds=ANY,
    least=500,
    outside="clamped",
    likely=False,
)


# Venn-Abers prediction: what isotonic regression would say if the row itself were one of either class.


def _fit_venn_abers(cells: Cells) -> Parameters:
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


def _apply_venn_abers(parameters: Parameters, points: Points) -> Floats:
    p0, p1 = both(parameters, points.score)
    merged: Floats = p1 / (1 - p0 + p1)
    return merged


VENN_ABERS = Method(
    "venn_abers",
    "isotonic with the row itself as a negative (p0) and as a positive (p1), merged to "
    "p1 / (1 - p0 + p1) (Vovk, Petej and Fedorova 2015)",
    _fit_venn_abers,
    _apply_venn_abers,
    many=("scores", "low", "high"),
    kinds=ANY,
    least=500,
    outside="clamped",
    likely=False,
)
