"""Isotonic regression: the best of all maps that never fall, and a variant that always rises."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.recalibrating.cells import Cells
from scorewise.recalibrating.methods.method import ANY, Method, Parameters, number, numbers
from scorewise.recalibrating.scale import Points
from scorewise.tallies.losses import expit
from scorewise.tallies.sorting import add_runs


def blocks(cells: Cells) -> tuple[np.ndarray, Floats]:
    """The first cell of each block of the isotonic fit, and the share of positives in the block."""
    from scipy.optimize import isotonic_regression

    mass = cells.mass
    start = isotonic_regression(cells.pos / mass, weights=mass).blocks[:-1].astype(np.int64)
    return start, add_runs(cells.pos, start) / add_runs(mass, start)


def _fit(cells: Cells) -> Parameters:
    start, share = blocks(cells)
    ends = np.append(start[1:], len(cells.x)) - 1
    both = np.stack([start, ends]).T.ravel()
    # a block of one cell is one point
    at = np.concatenate(([True], both[1:] != both[:-1]))
    values = np.repeat(share, 2)[at]
    return {"scores": cells.points.score[both[at]].tolist(), "values": values.tolist()}


def _apply(parameters: Parameters, points: Points) -> Floats:
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
    _fit,
    _apply,
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
