"""Maps that are linear in log probabilities, and how far each part of them may leave the identity."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats


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
