"""Histogram binning: the share of positives in each of a few bins of equal mass."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.recalibrating.cells import Cells
from scorewise.recalibrating.methods.method import ANY, Method, Parameters, numbers
from scorewise.recalibrating.scale import Points
from scorewise.tallies.sorting import add_runs, runs


def _fit(cells: Cells) -> Parameters:
    rows = cells.mass.sum() / cells.row
    start = runs(cells.mass, int(np.clip(np.cbrt(2 * rows), 2, 50)))
    neg, pos = add_runs(cells.neg, start), add_runs(cells.pos, start)
    values = (pos + cells.row) / (neg + pos + 2 * cells.row)
    return {"edges": cells.points.score[start].tolist(), "values": values.tolist()}


def _apply(parameters: Parameters, points: Points) -> Floats:
    edges, values = numbers(parameters, "edges"), numbers(parameters, "values")
    found: Floats = values[np.maximum(np.searchsorted(edges, points.score, side="right") - 1, 0)]
    return found


HISTOGRAM = Method(
    "histogram",
    "(positives + 1) / (rows + 2) in each of up to 50 bins of equal mass that split no ties",
    _fit,
    _apply,
    many=("edges", "values"),
    kinds=ANY,
    least=500,
    outside="clamped",
    likely=False,
)
