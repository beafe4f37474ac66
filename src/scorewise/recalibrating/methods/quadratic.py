"""A parabola on the log-odds that rises wherever scores were seen."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.inference.logistic import rising
from scorewise.recalibrating.cells import Cells
from scorewise.recalibrating.methods.method import ANY, Method, Parameters, number
from scorewise.recalibrating.scale import Points
from scorewise.tallies.losses import expit


def _features(x: Floats, low: float, high: float) -> list[Floats]:
    """Two parabolas: the slope of one falls from 1 to 0 between `low` and `high`, that of the other rises.

    Outside both go on straight, so that any sum of them with factors from 0 up rises everywhere.
    """
    width = max(high - low, 1e-300)
    inside = np.clip(x, low, high)
    up = (inside - low) ** 2 / (2 * width)
    return [(inside - low) - up + np.minimum(x - low, 0.0), up + np.maximum(x - high, 0.0)]


def _fit(cells: Cells) -> Parameters:
    low, high = float(cells.x[0]), float(cells.x[-1])
    intercept, first, last = rising(_features(cells.x, low, high), cells.neg, cells.pos)
    named = {"low": low, "high": high, "intercept": intercept, "first": first, "last": last}
    return {name: float(value) for name, value in named.items()}


def _apply(parameters: Parameters, points: Points) -> Floats:
    low, high, intercept, first, last = (number(parameters, n) for n in NAMES)
    down, up = _features(points.x, low, high)
    return expit(intercept + first * down + last * up)


NAMES = ("low", "high", "intercept", "first", "last")
QUADRATIC = Method(
    "quadratic",
    "a parabola of the log-odds, rising; its slope goes from first to last over the range seen",
    _fit,
    _apply,
    single=NAMES,
    kinds=ANY,
    least=50,
)
