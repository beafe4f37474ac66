"""Whether probabilities are right on the whole, and neither too bold nor too timid."""

from __future__ import annotations

import math

import numpy as np

from scorewise.estimate import Estimate
from scorewise.intervals.logistic import Fitted, logistic
from scorewise.intervals.scales import wald
from scorewise.recalibrating.cells import Cells
from scorewise.recalibrating.scale import Floats, Scale
from scorewise.tallies import Tally
from scorewise.tallies.losses import expit
from scorewise.tallies.sorting import inner

METHOD = "normal, sandwich"


def in_the_large(t: Tally, clip: float, level: float = 0.95) -> Estimate:
    """By how much all log-odds are too low: the intercept beside log-odds of slope 1; 0 is right.

    Cox 1958. Sandwich interval.
    """
    cells = Cells.of(t, Scale(t.kind, clip))
    if why := _why_not(t, cells):
        return Estimate.undefined(why, level, 0.0)
    ones = np.ones(len(cells.x))
    fit = logistic([ones], cells.neg, cells.pos, offset=cells.x)
    return _estimate(fit, [ones], cells.x, t, level, 0.0)


def slope(t: Tally, clip: float, level: float = 0.95) -> Estimate:
    """By what the log-odds should be multiplied: below 1 they are too bold; 1 is right.

    Cox 1958. Sandwich interval.
    """
    cells = Cells.of(t, Scale(t.kind, clip))
    if why := _why_not(t, cells) or ("all scores are equal" if len(cells.x) < 2 else ""):
        return Estimate.undefined(why, level, 1.0)
    if cells.separable:
        return Estimate.undefined("a threshold tells the classes apart", level, 1.0)
    features = [np.ones(len(cells.x)), cells.x]
    fit = logistic(features, cells.neg, cells.pos)
    if not fit.converged:
        return Estimate.undefined("no slope is steep enough", level, 1.0)
    return _estimate(fit, features, 0.0, t, level, 1.0)


def _why_not(t: Tally, cells: Cells) -> str:
    if t.kind == "score":
        return "the scores are no probabilities"
    return t.why_not_ranked


def _estimate(
    fit: Fitted,
    features: list[Floats],
    offset: Floats | float,
    t: Tally,
    level: float,
    right: float,
) -> Estimate:
    """The last coefficient with its interval."""
    p = expit(np.asarray(sum((c * f for c, f in zip(fit.coef, features, strict=True)), offset)))
    square = t.neg2 * p * p + t.pos2 * (1 - p) ** 2
    meat = np.array([[inner(square * a, b) for b in features] for a in features])
    bread = np.linalg.pinv(fit.curvature)
    variance = float((bread @ meat @ bread)[-1, -1])
    value = float(fit.coef[-1])
    low, high = wald(value, math.sqrt(max(variance, 0.0)), level, "identity")
    return Estimate(value, low, high, level, METHOD, "", 0.0, right)
