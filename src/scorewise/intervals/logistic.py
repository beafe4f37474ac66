"""Logistic regression on cells: maximum likelihood by Newton's method."""

from __future__ import annotations

from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.tallies.sorting import add_runs, inner

TOLERANCE = 1e-10
_STEPS = 200
_FAR = 10.0  # times 1 + the largest coefficient: how far a step leads
_MANY = 1 << 17  # cells from which on a first fit to fewer of them saves time
_CHUNK = 1 << 15  # cells that fit into the cache


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


def _newton(
    features: list[Any], neg: Floats, pos: Floats, offset: Any, q: Any, coef: Floats
) -> Fitted:
    mass = neg + pos
    loss, p = _loss(_linear(features, coef, offset), neg, pos, coef, q)
    for _ in range(_STEPS):
        gradient, curvature = _derivatives(features, mass * p - pos, mass * p * (1 - p))
        if q is not None:
            gradient, curvature = gradient + q @ coef, curvature + q
        step = _solve(curvature, gradient)
        size, around = float(np.abs(step).max()), 1 + float(np.abs(coef).max())
        if size <= TOLERANCE * around:
            return Fitted(coef - step, loss, curvature, True)
        if not size < np.inf:
            break
        # where the likelihood is all but flat, a step would lead out of the floats
        step = step * min(1.0, _FAR * around / size)
        for _ in range(40):
            new = coef - step
            lower, p = _loss(_linear(features, new, offset), neg, pos, new, q)
            if lower <= loss + 1e-13 * abs(loss):
                break
            step = step / 2
        coef, loss = new, lower
        if np.abs(coef).max() > 1e8:
            break
    return Fitted(coef, loss, curvature, False)


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
