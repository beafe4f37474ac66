"""Logistic regression on cells by Newton's method, and Cox's line: labels on log-odds (Cox 1958)."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.inference.scales import freedom
from scorewise.tallies import Tally
from scorewise.tallies.coarse import why_open
from scorewise.tallies.losses import expit, logit
from scorewise.tallies.probabilities import MOST, chances
from scorewise.tallies.sorting import add_runs, inner, once

TOLERANCE = 1e-10
_STEPS = 200
_FAR = 10.0  # times 1 + the largest coefficient: how far a step leads
_MANY = 1 << 13  # cells from which on a first fit to fewer of them saves time
_CHUNK = 1 << 15  # cells that fit into the cache
LARGEST = 1e100  # log-odds beyond which squares leave the floats


class Fitted(NamedTuple):
    """Coefficients, the loss at them (negative log likelihood) and its second derivatives."""

    coef: Floats
    loss: float
    curvature: Floats
    converged: bool


def logistic(
    features: list[Any],
    neg: Floats,
    pos: Floats,
    *,
    offset: Any = 0.0,
    penalty: Any = None,
    start: Any = None,
) -> Fitted:
    """The coefficients of `features` that make the labels likeliest, to 1e-10.

    `penalty` is a matrix Q: coef' Q coef / 2 is added to the loss. Steps that do not lower the loss are
    halved.
    """
    # whose squares are numbers too
    size = [max(float(np.sqrt(np.mean(np.square(f)))), 1e-150) for f in features]
    scaled = [np.broadcast_to(f / s, neg.shape) for f, s in zip(features, size, strict=True)]
    units = np.array(size)
    q = None if penalty is None else penalty / np.outer(units, units)
    if start is None and len(neg) > _MANY:
        means, fewer, of_them, off = _few(scaled, neg, pos, offset)
        start = _newton(means, fewer, of_them, off, q, np.zeros(len(units))).coef
    else:
        start = np.zeros(len(units)) if start is None else start * units
    found = _polished(scaled, neg, pos, offset, q, start) if len(neg) > _MANY else None
    found = found or _newton(scaled, neg, pos, offset, q, start)
    return Fitted(
        found.coef / units, found.loss, found.curvature * np.outer(units, units), found.converged
    )


def _few(features: list[Any], neg: Floats, pos: Floats, offset: Any) -> tuple[Any, ...]:
    """Every few neighbouring cells at their mean features: enough for a start."""
    at = np.arange(0, len(neg), -(-len(neg) // (_MANY >> 1)))
    mass = neg + pos
    total = add_runs(mass, at)
    means = [add_runs(f * mass, at) / total for f in features]
    off = add_runs(np.broadcast_to(offset, mass.shape) * mass, at) / total
    return means, add_runs(neg, at), add_runs(pos, at), off


def newton(
    loss: Callable[[Floats], tuple[float, Floats]],
    step: Callable[[Floats, Floats], tuple[Floats, Any]],
    coef: Floats,
    exact: float = TOLERANCE,
) -> Fitted:
    """Newton's method for a convex `loss`, which also gives the probabilities of all rows.

    `step` makes of coefficients and probabilities the step and the second derivatives. A step that does
    not lower the loss is halved; the last one changes no coefficient by more than `exact`.
    """
    value, p = loss(coef)
    for _ in range(_STEPS):
        move, curvature = step(coef, p)
        size, around = float(np.abs(move).max()), 1 + float(np.abs(coef).max())
        if size <= exact * around:
            return Fitted(coef - move, value, curvature, True)
        if not size < np.inf:
            break
        # where the likelihood is all but flat, a step would lead out of the floats
        move = move * min(1.0, _FAR * around / size)
        for _ in range(40):
            lower, p = loss(coef - move)
            if lower <= value + 1e-13 * abs(value):
                break
            move = move / 2
        coef, value = coef - move, lower
        if np.abs(coef).max() > 1e8:
            break
    return Fitted(coef, value, curvature, False)


def _newton(
    features: list[Any], neg: Floats, pos: Floats, offset: Any, q: Any, coef: Floats
) -> Fitted:
    mass = neg + pos

    def step(coef: Floats, p: Floats) -> tuple[Floats, Floats]:
        gradient, curvature = _derivatives(features, mass * p - pos, mass * p * (1 - p))
        if q is not None:
            gradient, curvature = gradient + q @ coef, curvature + q
        return _solve(curvature, gradient), curvature

    return newton(lambda c: _loss(_linear(features, c, offset), neg, pos, c, q), step, coef)


def _polished(
    features: list[Any], neg: Floats, pos: Floats, offset: Any, q: Any, coef: Floats
) -> Fitted | None:
    """Whole steps of Newton over all cells, chunk by chunk, from near the end; None if they go astray."""
    off = np.broadcast_to(offset, neg.shape)
    last = np.inf
    for _ in range(5):
        loss, gradient, curvature = 0.0, np.zeros(len(coef)), np.zeros((len(coef), len(coef)))
        for begin in range(0, len(neg), _CHUNK):
            at = slice(begin, begin + _CHUNK)
            part, down, up = [f[at] for f in features], neg[at], pos[at]
            more, p = _loss(_linear(part, coef, off[at]), down, up, coef, None)
            first, second = _derivatives(part, (down + up) * p - up, (down + up) * p * (1 - p))
            loss, gradient, curvature = loss + more, gradient + first, curvature + second
        if q is not None:
            loss += float(coef @ q @ coef) / 2
            gradient, curvature = gradient + q @ coef, curvature + q
        step = _solve(curvature, gradient)
        size = float(np.abs(step).max())
        if size <= TOLERANCE * (1 + np.abs(coef).max()):
            return Fitted(coef - step, loss, curvature, True)
        if not size < last / 2:
            return None
        coef, last = coef - step, size
    return None


def _linear(features: list[Any], coef: Floats, offset: Any) -> Any:
    return sum((c * f for c, f in zip(coef, features, strict=True)), offset)


def _loss(at: Floats, neg: Floats, pos: Floats, coef: Floats, q: Any) -> tuple[float, Floats]:
    """The loss, and the probabilities of the log-odds."""
    e = np.exp(-np.abs(at))
    loss = inner(neg + pos, np.log1p(e))
    loss += inner(neg, np.maximum(at, 0.0)) - inner(pos, np.minimum(at, 0.0))
    p: Floats = np.where(at >= 0, 1.0, e) / (1.0 + e)
    return (loss if q is None else loss + float(coef @ q @ coef) / 2), p


def _derivatives(features: list[Any], residual: Floats, weight: Floats) -> tuple[Floats, Floats]:
    gradient = np.array([inner(residual, f) for f in features])
    curvature = np.empty((len(features), len(features)))
    for i, f in enumerate(features):
        weighted = weight * f
        for j in range(i + 1):
            curvature[i, j] = curvature[j, i] = inner(weighted, features[j])
    return gradient, curvature


def _solve(curvature: Floats, gradient: Floats) -> Floats:
    """The step of Newton; the shortest where features say the same."""
    ridge = 1e-14 * max(float(np.trace(curvature)), 1e-300)
    try:
        step: Any = np.linalg.solve(curvature + ridge * np.eye(len(gradient)), gradient)
    except np.linalg.LinAlgError:
        step = np.linalg.lstsq(curvature, gradient, rcond=None)[0]
    solved: Floats = step
    return solved


def _constant(neg: Floats, pos: Floats, intercept: bool) -> Fitted:
    """No feature at all: the odds of all rows together, or even odds."""
    least = 1e-15 * float(neg.sum() + pos.sum())  # where a class is absent
    odds = [np.log(max(pos.sum(), least) / max(neg.sum(), least))] if intercept else []
    at = np.full(len(neg), odds[0] if odds else 0.0)
    coef = np.array(odds)
    return Fitted(coef, _loss(at, neg, pos, coef, None)[0], np.empty((0, 0)), True)


def rising(features: list[Any], neg: Floats, pos: Floats, intercept: bool = True) -> Floats:
    """The likeliest coefficients of which none but the intercept, the first, is negative.

    The loss is convex: if its minimum has a negative coefficient, then the best has one of them at 0.
    """
    ones = [np.ones(1)] if intercept else []
    best: tuple[float, Floats] | None = None
    for used in range(len(features), -1, -1):
        for chosen in combinations(range(len(features)), used):
            picked = [*ones, *(features[i] for i in chosen)]
            fit = logistic(picked, neg, pos) if used else _constant(neg, pos, intercept)
            slopes = fit.coef[len(ones) :]
            if not fit.converged or (slopes < 0).any():
                continue
            coef = np.zeros(len(ones) + len(features))
            coef[: len(ones)] = fit.coef[: len(ones)]
            coef[len(ones) + np.array(chosen, int)] = slopes
            if used == len(features):
                return coef
            if best is None or fit.loss < best[0]:
                best = fit.loss, coef
    assert best is not None  # no feature at all is always allowed
    return best[1]


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


@once
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
    odds: Floats = logit(p if clip is None else np.clip(p, clip, 1 - clip))
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
