"""Multinomial regression of labels on log probabilities, held at the identity by a prior.

Newton's method finds the likeliest map; its steps are solved for, or found by conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.computing import inner
from scorewise.inference.logistic import newton

TOLERANCE = 1e-8
_DENSE = 130  # numbers up to which the whole curvature is made
_CHUNK = 1 << 12


class Parts(NamedTuple):
    """How strongly each part is held at the identity, in rows; None where it stays there.

    New logits are x + `slope` x + `slopes` * x + `mixing` x + `intercepts`: one number for all classes,
    one for each, a matrix with an empty diagonal, and one for each class. Each number has a normal prior
    about 0 with this precision.
    """

    slope: float | None = None
    slopes: float | None = None
    mixing: float | None = None
    intercepts: float | None = None


class Linear:
    """The parts that are free, laid out as one vector, on rows of log probabilities.

    Classes that do not occur keep slopes, mixing and intercepts of 0.
    """

    def __init__(self, parts: Parts, x: Floats, seen: Bools, row: float = 1.0) -> None:
        k = x.shape[1]
        self.x, self.k, self.mixes = x, k, parts.mixing is not None
        sizes = (1, k, k * k, k)
        off = ~np.eye(k, dtype=bool) & seen[:, None]
        free = np.concatenate(([True], seen, off.ravel(), seen))
        self.free = free & np.repeat([held is not None for held in parts], sizes)
        self.precision: Floats = np.repeat([row * (held or 0.0) for held in parts], sizes)
        self.ends = np.cumsum(sizes)[:-1]

    def split(self, theta: Floats) -> tuple[float, Floats, Floats, Floats]:
        """Slope, slopes, mixing and intercepts."""
        slope, slopes, mixing, intercepts = np.split(theta, self.ends)
        return float(slope[0]), slopes, mixing.reshape(self.k, self.k), intercepts

    def forward(self, theta: Floats) -> Floats:
        """What the vector adds to the log probabilities."""
        slope, slopes, mixing, intercepts = self.split(theta)
        z = self.x * (slope + slopes) + intercepts
        return z + self.x @ mixing.T if self.mixes else z

    def backward(self, g: Floats) -> Floats:
        """The derivatives by the vector, given those by the logits."""
        gx = (g * self.x).sum(0)
        mixing = g.T @ self.x if self.mixes else np.zeros((self.k, self.k))
        slopes = np.concatenate(([gx.sum()], gx, mixing.ravel(), g.sum(0)))
        return np.where(self.free, slopes, 0.0)

    def diagonal(self, h: Floats, p: Floats, w: Floats) -> Floats:
        """Second derivatives by each number alone, but for the prior; `h` is w p (1 - p)."""
        square = self.x * self.x
        mean = (p * self.x).sum(1)
        slope = float((w * ((p * square).sum(1) - mean * mean)).sum())
        mixing = h.T @ square if self.mixes else np.zeros((self.k, self.k))
        bends = np.concatenate(([slope], (h * square).sum(0), mixing.ravel(), h.sum(0)))
        return np.where(self.free, bends, 1.0)

    def gathered(self, h: Floats) -> Floats:
        """Second derivatives by the vector, given those by all numbers of a K x (K + 1) matrix."""
        k = self.k
        place = np.arange(k * (k + 1)).reshape(k, k + 1)
        diagonal = place[:, :k].diagonal()
        at = np.concatenate(([0], diagonal, place[:, :k].ravel(), place[:, k]))
        curvature: Floats = h[np.ix_(at, at)]
        curvature[0] = curvature[:, 0] = h[diagonal].sum(0)[at]
        curvature[0, 0] = h[np.ix_(diagonal, diagonal)].sum()
        return curvature


def likeliest(
    model: Linear, y: Ints, w: Floats, *, start: Floats | None = None, exact: float = TOLERANCE
) -> tuple[Floats, bool]:
    """The vector that makes the classes `y` likeliest under its prior, and whether it was found.

    The sum of w x log loss plus half the precision times squares is convex. It is found when a step
    changes no number by more than `exact`.
    """
    rows = np.arange(len(w))

    def step(theta: Floats, p: Floats) -> tuple[Floats, Any]:
        g = w[:, None] * p
        g[rows, y] -= w
        return _step(model, p, w, model.backward(g) + model.precision * theta), None

    start = np.zeros(len(model.free)) if start is None else start
    fit = newton(lambda theta: _loss(model, theta, y, w), step, start, exact)
    return fit.coef, fit.converged


def _loss(model: Linear, theta: Floats, y: Ints, w: Floats) -> tuple[float, Floats]:
    """The loss, and the probabilities."""
    z = model.x + model.forward(theta)
    z -= z.max(1, keepdims=True)
    truth = z[np.arange(len(w)), y]
    e = np.exp(z, out=z)
    total = e.sum(1)
    loss = inner(w, np.log(total) - truth) + inner(model.precision * theta, theta) / 2
    return loss, np.divide(e, total[:, None], out=e)


def _step(model: Linear, p: Floats, w: Floats, gradient: Floats) -> Floats:
    """The gradient divided by the curvature."""
    if not model.mixes or len(gradient) > _DENSE:
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
    size_of = np.float32 if model.mixes else np.float64
    narrow = copy(model)
    narrow.x = model.x.astype(size_of, copy=False)
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
        dg = narrow.forward(towards.astype(size_of, copy=False))
        dg *= wp
        dg -= p * dg.sum(1)[:, None]
        curved = narrow.backward(dg) + np.where(model.free, model.precision * towards, 0.0)
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
    if not model.mixes:
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
        step = left / unit
        mixing, intercepts = left[start:-k].reshape(k, k), left[-k:]
        matrix = np.column_stack((mixing, intercepts)) / root
        matrix = ((matrix @ turn) / within) @ turn.T / root
        step[start:-k], step[-k:] = matrix[:, :k].ravel(), matrix[:, k]
        return np.where(model.free, step, 0.0)

    return divided
