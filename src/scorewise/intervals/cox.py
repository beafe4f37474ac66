"""Cox's line: labels regressed on the log-odds of their probabilities (Cox 1958)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.intervals.logistic import Fitted, logistic
from scorewise.intervals.scales import freedom
from scorewise.tallies import Tally
from scorewise.tallies.chances import MOST, chances
from scorewise.tallies.extremes import why_open
from scorewise.tallies.losses import expit
from scorewise.tallies.sorting import inner

LARGEST = 1e100  # log-odds beyond which squares leave the floats


class LogOdds(NamedTuple):
    """Log-odds from the lowest up, with the weights of both classes on each, and their squares."""

    x: Floats
    neg: Floats
    pos: Floats
    neg2: Floats
    pos2: Floats


class Coefficient(NamedTuple):
    """A coefficient, its standard error from the sandwich, and the degrees of freedom of that."""

    value: float
    se: float
    df: float


def log_odds(t: Tally, clip: float | None) -> LogOdds:
    """The log-odds of a tally of probabilities or logits; infinite at 0 and 1 unless clipped.

    Beyond 65,536 distinct scores, neighbours are joined on the fixed grid at their mean probability.
    """
    if not why_open(t) and len(t.score) <= MOST:
        columns: Any = (c.astype(np.float64) for c in (t.neg, t.pos, t.neg2, t.pos2))
        if t.kind == "logit":
            return LogOdds(t.score.astype(np.float64), *columns)
        return LogOdds(_logit(t.score.astype(np.float64), clip), *columns)
    c = chances(t)
    share = c.pos / c.weight
    sides = c.weight - c.pos, c.pos, c.squares * (1 - share), c.squares * share
    return LogOdds(_logit(np.clip(c.p, 0.0, 1.0), clip), *sides)


def _logit(p: Floats, clip: float | None) -> Floats:
    kept = p if clip is None else np.clip(p, clip, 1 - clip)
    with np.errstate(divide="ignore"):
        odds: Floats = np.log(kept) - np.log1p(-kept)
    return odds


def in_the_large(c: LogOdds) -> Coefficient | None:
    """By how much all log-odds are too low: the intercept beside log-odds of slope 1; None if infinite."""
    ones, mass = np.ones(len(c.x)), c.neg + c.pos
    fit = logistic([ones], c.neg, c.pos, offset=c.x)
    if (
        not fit.converged
    ):  # as where scores are all but certain, and a first step would leave the floats
        start = np.array([_balanced(c.x, mass, float(c.pos.sum()))])
        p = expit(c.x + start)
        flat = inner(mass, p * (1 - p)) < 1e-12 * mass.sum()
        fit = Fitted(start, math.nan, np.array([[inner(mass, p * (1 - p))]]), not flat)
    return _last(fit, [ones], c.x, c) if fit.converged else None


def _balanced(x: Floats, mass: Floats, pos: float) -> float:
    """The intercept with which as many are expected to be positive as are, by halving."""
    far = float(np.abs(x).max()) + 800.0
    low, high = -far, far
    for _ in range(120):
        middle = (low + high) / 2
        few = inner(mass, expit(x + middle)) < pos
        low, high = (middle, high) if few else (low, middle)
    return (low + high) / 2


def slope(c: LogOdds) -> Coefficient | None:
    """By what the log-odds should be multiplied, beside an intercept; None if nothing is steep enough."""
    neg, pos = c.x[c.neg > 0], c.x[c.pos > 0]
    hair = 1e-12 * (c.x[-1] - c.x[0])  # beside which no slope tells scores apart
    if neg[-1] <= pos[0] + hair or pos[-1] <= neg[0] + hair:
        return None
    mass = c.neg + c.pos
    # centred, which leaves the slope as it is and keeps its digits
    features = [np.ones(len(c.x)), c.x - c.x[0] - inner(mass, c.x - c.x[0]) / mass.sum()]
    fit = logistic(features, c.neg, c.pos)
    return _last(fit, features, 0.0, c) if fit.converged else None


def _last(
    fit: Fitted, features: list[Floats], offset: Floats | float, c: LogOdds
) -> Coefficient | None:
    p = expit(np.asarray(sum((a * f for a, f in zip(fit.coef, features, strict=True)), offset)))
    square = c.neg2 * p * p + c.pos2 * (1 - p) ** 2
    meat = np.array([[inner(square * a, b) for b in features] for a in features])
    bread = np.linalg.pinv(fit.curvature)
    with np.errstate(over="ignore", invalid="ignore"):  # where the likelihood is all but flat
        variance = float((bread @ meat @ bread)[-1, -1])
        effect = sum((a * f for a, f in zip(bread[-1], features, strict=True)), np.zeros(len(c.x)))
    if not variance < LARGEST:
        return None
    both = [np.concatenate(x) for x in ((c.neg, c.pos), (c.neg2, c.pos2))]
    df = freedom(both[0], both[1], np.concatenate((effect * p, effect * (1 - p))))
    return Coefficient(float(fit.coef[-1]), math.sqrt(max(variance, 0.0)), df)
