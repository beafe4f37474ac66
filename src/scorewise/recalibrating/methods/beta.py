"""Beta calibration: what is right when the scores of both classes are beta distributed."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.inference.logistic import rising
from scorewise.recalibrating.cells import Cells
from scorewise.recalibrating.methods.method import Method, Parameters, number
from scorewise.recalibrating.scale import Points
from scorewise.tallies.losses import expit


def _features(x: Floats) -> list[Floats]:
    """Features log p and -log(1 - p), from the log-odds of p."""
    return [-np.logaddexp(0.0, -x), np.logaddexp(0.0, x)]


def _fit(cells: Cells) -> Parameters:
    c, a, b = rising(_features(cells.x), cells.neg, cells.pos)
    return {"a": float(a), "b": float(b), "c": float(c)}


def _apply(parameters: Parameters, points: Points) -> Floats:
    left, right = _features(points.x)
    a, b, c = (number(parameters, name) for name in "abc")
    return expit(a * left + b * right + c)


BETA = Method(
    "beta",
    "log-odds a log p - b log(1 - p) + c, with a and b not negative (Kull et al. 2017)",
    _fit,
    _apply,
    single=("a", "b", "c"),
    least=50,
)
