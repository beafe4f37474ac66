"""Rows of several classes as maps see them: log probabilities, in an order that their content gives."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats, Ints
from scorewise.columns.classes import ClassKind, ClassRows
from scorewise.errors import BadInput
from scorewise.tallies.losses import softmax
from scorewise.tallies.sorting import GOLDEN, inner, mixed

MOST = 10**7


@dataclass(frozen=True)
class Table:
    """Rows: log probabilities `x`, probabilities `p`, the place of the true class `y`, the weight `w`.

    `row` is what one row weighs: 1 for counts, sum of squares / sum for weights.
    """

    x: Floats
    p: Floats
    y: Ints
    w: Floats
    row: float = 1.0

    @classmethod
    def of(cls, rows: ClassRows, clip: float) -> Table:
        """The rows that have weight, sorted by their content, each as often as it counts."""
        w = np.ones(len(rows)) if rows.weight is None else rows.weight
        times: Any = 1 if rows.count is None else rows.count
        kept = np.flatnonzero((w > 0) & (np.broadcast_to(times, w.shape) > 0))
        kept = kept[np.argsort(_content(rows.y[kept], rows.scores[kept], w[kept]), kind="stable")]
        if rows.count is not None:
            if int(rows.count[kept].sum()) > MOST:
                raise BadInput(
                    f"{rows.names.count} adds up to more than {MOST:,} rows, which are fitted one by one; "
                    f"pass it as weight= instead"
                )
            kept = np.repeat(kept, rows.count[kept])
        scores, w = rows.scores[kept], w[kept]
        p = softmax(scores) if rows.kind == "logit" else scores
        total = float(w.sum())
        row = float((w * w).sum()) / total if total else 1.0
        return cls(log_probabilities(scores, rows.kind, clip), p, rows.y[kept], w, row)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def many(self) -> int:
        """The number of classes."""
        return int(self.x.shape[1])

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which classes occur."""
        return np.bincount(self.y, minlength=self.many) > 0

    def at(self, which: Any) -> Table:
        """Some of the rows."""
        return replace(self, x=self.x[which], p=self.p[which], y=self.y[which], w=self.w[which])


def log_probabilities(scores: Floats, kind: ClassKind, clip: float) -> Floats:
    """The logarithms of probabilities kept `clip` from 0; of logits without rounding to 0.

    >>> log_probabilities(np.array([[1.0, 0.0]]), "probability", 1e-7).round(3)
    array([[  0.   , -16.118]])
    """
    if kind == "probability":
        return np.log(np.clip(scores, clip, 1.0))
    apart = scores - scores.max(1, keepdims=True)
    made: Floats = apart - np.log(row_sums(np.exp(apart)))[:, None]
    return made


def row_sums(values: Floats) -> Floats:
    """The sum of each row, class after class: the same bits whatever rows stand beside it."""
    total = values[:, 0].copy()
    for k in range(1, values.shape[1]):
        total += values[:, k]
    return total


def _content(y: Ints, scores: Floats, w: Floats) -> NDArray[np.uint64]:
    """A number for each row that depends on what is in it alone, as good as drawn at random."""
    made = y.astype(np.uint64)
    for column in (*scores.T, w):
        bits = np.ascontiguousarray(column + 0.0).view(np.uint64)  # + 0.0 folds -0.0 into 0.0
        made = mixed((made ^ bits) + GOLDEN)
    return made


# Maps that are linear in log probabilities, and how far each part of them may leave the identity.


@dataclass(frozen=True)
class Parts:
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

    def __init__(self, parts: Parts, x: Floats, seen: NDArray[np.bool_], row: float = 1.0) -> None:
        k = x.shape[1]
        self.x, self.k, self.parts = x, k, parts
        off = ~np.eye(k, dtype=bool) & seen[:, None]
        free = [np.ones(1, bool), seen, off.ravel(), seen]
        held = (parts.slope, parts.slopes, parts.mixing, parts.intercepts)
        sizes = (1, k, k * k, k)
        self.free = np.concatenate(
            [
                f if h is not None else np.zeros(n, bool)
                for f, h, n in zip(free, held, sizes, strict=True)
            ]
        )
        precision = [np.full(n, row * (h or 0.0)) for h, n in zip(held, sizes, strict=True)]
        self.precision: Floats = np.concatenate(precision)
        self.ends = np.cumsum(sizes)[:-1]

    def split(self, theta: Floats) -> tuple[float, Floats, Floats, Floats]:
        """Slope, slopes, mixing and intercepts."""
        slope, slopes, mixing, intercepts = np.split(theta, self.ends)
        return float(slope[0]), slopes, mixing.reshape(self.k, self.k), intercepts

    def narrowed(self, size: type[np.floating]) -> Linear:
        """The same with log probabilities of that size."""
        made = copy(self)
        made.x = self.x.astype(size, copy=False)
        return made

    def ahead(self, theta: Floats) -> Floats:
        """What the vector adds to the log probabilities."""
        slope, slopes, mixing, intercepts = self.split(theta)
        made = self.x * (slope + slopes) + intercepts
        return made + self.x @ mixing.T if self.parts.mixing is not None else made

    def back(self, g: Floats) -> Floats:
        """The derivatives by the vector, given those by the logits."""
        gx = (g * self.x).sum(0)
        mixing = g.T @ self.x if self.parts.mixing is not None else np.zeros((self.k, self.k))
        whole = np.concatenate(([gx.sum()], gx, mixing.ravel(), g.sum(0)))
        return np.where(self.free, whole, 0.0)

    def diagonal(self, h: Floats, p: Floats, w: Floats) -> Floats:
        """Second derivatives by each number alone, but for the prior; `h` is w p (1 - p)."""
        square = self.x * self.x
        mean = (p * self.x).sum(1)
        slope = float((w * ((p * square).sum(1) - mean * mean)).sum())
        mixing = h.T @ square if self.parts.mixing is not None else np.zeros((self.k, self.k))
        whole = np.concatenate(([slope], (h * square).sum(0), mixing.ravel(), h.sum(0)))
        return np.where(self.free, whole, 1.0)

    def gathered(self, h: Floats) -> Floats:
        """Second derivatives by the vector, given those by all numbers of a K x (K + 1) matrix."""
        k = self.k
        place = np.arange(k * (k + 1)).reshape(k, k + 1)
        diagonal = place[:, :k].diagonal()
        at = np.concatenate(([0], diagonal, place[:, :k].ravel(), place[:, k]))
        made: Floats = h[np.ix_(at, at)]
        made[0] = made[:, 0] = h[diagonal].sum(0)[at]
        made[0, 0] = h[np.ix_(diagonal, diagonal)].sum()
        return made


# The likeliest map of several classes: Newton's method, its steps found by conjugate gradients.


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
