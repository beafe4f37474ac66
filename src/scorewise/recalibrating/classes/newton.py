"""The likeliest map of several classes: Newton's method, its steps found by conjugate gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.recalibrating.classes.linear import Linear
from scorewise.tallies.sorting import inner

TOLERANCE = 1e-8
_STEPS = 100
_DENSE = 130  # numbers up to which the whole curvature is made
_CHUNK = 1 << 12


def likeliest(
    model: Linear, y: Ints, w: Floats, *, start: Floats | None = None, exact: float = TOLERANCE
) -> tuple[Floats, bool]:
    """The vector that makes the classes `y` likeliest under its prior, and whether it was found.

    The sum of w x log loss plus half the precision times squares is convex; steps that do not lower it
    are halved. It is found when a step changes no number by more than `exact`.
    """
    theta = np.zeros(len(model.free)) if start is None else start
    rows = np.arange(len(w))
    loss, p = _loss(model, theta, y, w)
    for _ in range(_STEPS):
        g = w[:, None] * p
        g[rows, y] -= w
        gradient = model.back(g) + model.precision * theta
        step = _step(model, p, w, gradient)
        if np.abs(step).max() <= exact * (1 + np.abs(theta).max()):
            return theta - step, True
        for _ in range(40):
            lower, q = _loss(model, theta - step, y, w)
            if lower <= loss + 1e-13 * abs(loss):
                break
            step = step / 2
        theta, loss, p = theta - step, lower, q
    return theta, False


def _loss(model: Linear, theta: Floats, y: Ints, w: Floats) -> tuple[float, Floats]:
    """The loss, and the probabilities."""
    z = model.x + model.ahead(theta)
    z -= z.max(1, keepdims=True)
    truth = z[np.arange(len(w)), y]
    e = np.exp(z, out=z)
    total = e.sum(1)
    loss = inner(w, np.log(total) - truth) + inner(model.precision * theta, theta) / 2
    return loss, np.divide(e, total[:, None], out=e)


def _step(model: Linear, p: Floats, w: Floats, gradient: Floats) -> Floats:
    """The gradient divided by the curvature."""
    if model.parts.mixing is None or len(gradient) > _DENSE:
        return _conjugate(model, p, w, gradient)
    free = np.flatnonzero(model.free)
    curvature = model.gathered(_curvature(model.x, p, w))[np.ix_(free, free)]
    curvature.flat[:: len(free) + 1] += model.precision[free]
    ridge = 1e-14 * float(np.trace(curvature))
    curvature.flat[:: len(free) + 1] += max(ridge, 1e-300)
    step = np.zeros_like(gradient)
    step[free] = np.linalg.solve(curvature, gradient[free])
    return step


def _curvature(x: Floats, p: Floats, w: Floats) -> Floats:
    """Second derivatives by all numbers of a K x (K + 1) matrix: weights, then the intercept."""
    k = x.shape[1]
    size = k * (k + 1)
    total = np.zeros((size, size))
    within = np.zeros((k + 1, size))
    for begin in range(0, len(w), _CHUNK):
        at = slice(begin, begin + _CHUNK)
        features = np.column_stack((x[at], np.ones(len(w[at]))))
        each = (p[at][:, :, None] * features[:, None, :]).reshape(-1, size)
        weighted = w[at][:, None] * each
        total -= weighted.T @ each
        within += features.T @ weighted
    for j in range(k):
        block = slice(j * (k + 1), (j + 1) * (k + 1))
        total[block, block] += within[:, block]
    return total


def _conjugate(model: Linear, p: Floats, w: Floats, gradient: Floats) -> Floats:
    """The same by conjugate gradients, more exact as the gradient falls.

    With a matrix the products are of 32 bits: the steps need no more, and where they end does not
    depend on them.
    """
    size_of = np.float32 if model.parts.mixing is not None else np.float64
    narrow = model.narrowed(size_of)
    p, w = p.astype(size_of, copy=False), w.astype(size_of, copy=False)
    wp = w[:, None] * p
    divided = _divider(model, wp, p, w)
    least = 1e-26 if size_of is np.float64 else 1e-10
    step = np.zeros_like(gradient)
    left = gradient.copy()
    towards = scaled = divided(left)
    size = begin = inner(left, scaled)
    enough = begin * min(1e-2, begin / max(float(w.sum()), 1e-300)) ** 2
    for _ in range(4 * len(gradient)):
        if size <= max(enough, least * begin, 1e-300):
            break
        dg = narrow.ahead(towards.astype(size_of, copy=False))
        dg *= wp
        dg -= p * dg.sum(1)[:, None]
        curved = narrow.back(dg) + np.where(model.free, model.precision * towards, 0.0)
        bend = inner(towards, curved)
        if bend <= 0:
            break
        step += size / bend * towards
        left -= size / bend * curved
        scaled = divided(left)
        size, old = inner(left, scaled), size
        towards = scaled + size / old * towards
    return step


def _divider(model: Linear, wp: Floats, p: Floats, w: Floats) -> Callable[[Floats], Floats]:
    """Division by what is close to the curvature: its diagonal, and with a matrix whole rows of that.

    The curvature of the weights and the intercept of class j is close to c_j S, where S is that of all
    classes together and c_j the share of the class in it.
    """
    h = wp * (1 - p)
    unit = model.diagonal(h, p, w) + model.precision
    unit = np.maximum(unit, 1e-12 * max(unit.max(), 1e-300))
    if model.parts.mixing is None:
        return lambda left: left / unit
    k = model.k
    _, _, mixing, intercepts = np.split(model.precision, model.ends)
    root = np.sqrt(np.maximum(np.append(mixing[:k], intercepts[0]), 1e-300))
    x = np.column_stack((model.x, np.ones(len(w)))) / root
    size, turn = np.linalg.eigh(x.T @ (h.sum(1)[:, None] * x))
    each = h.sum(0) / max(float(h.sum()), 1e-300)
    within = np.maximum(size, 0.0) * each[:, None] + 1.0
    start = model.ends[1]

    def divided(left: Floats) -> Floats:
        made = left / unit
        mixing, intercepts = left[start:-k].reshape(k, k), left[-k:]
        whole = np.column_stack((mixing, intercepts)) / root
        whole = ((whole @ turn) / within) @ turn.T / root
        made[start:-k], made[-k:] = whole[:, :k].ravel(), whole[:, k]
        return np.where(model.free, made, 0.0)

    return divided
