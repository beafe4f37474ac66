"""Two classes in the plane, five ways, with the posterior known exactly.

Each simulation draws a class with even odds, then a point; its densities differ between the
classes in one coordinate only, so that the posterior is a ratio of two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Simulation:
    """How to draw points of given classes, and the log of what tells class 1 from class 0."""

    draw: Callable[[NDArray[np.int64], np.random.Generator], Array]
    log_odds: Callable[[Array], Array]

    def sample(self, n: int, seed: Any) -> tuple[Array, NDArray[np.int64]]:
        """`n` points and their classes."""
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, n)
        return self.draw(y, rng), y

    def posterior(self, x: Array) -> Array:
        """Chance of each class at each point."""
        p = expit(self.log_odds(x))
        return np.column_stack([1 - p, p])


def hellinger(p: Array, q: Array) -> float:
    """Mean Hellinger distance between two posteriors, row by row: 0 when equal, 1 when apart."""
    return float(np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=1)).mean())


def _log_normal(x: Array, mean: Any, spread: float) -> Array:
    return -0.5 * ((x - mean) / spread) ** 2


def _xor(spread: float = 0.6) -> Simulation:
    """Four normal clouds at the corners of a square; opposite corners share a class."""

    def draw(y: NDArray[np.int64], rng: np.random.Generator) -> Array:
        first = rng.choice([-1.0, 1.0], len(y))
        corner = np.column_stack([first, first * (1 - 2 * y)])
        return corner + rng.normal(0, spread, corner.shape)

    def log_odds(x: Array) -> Array:
        def cloud(a: float, b: float) -> Array:
            return _log_normal(x[:, 0], a, spread) + _log_normal(x[:, 1], b, spread)

        same = np.logaddexp(cloud(1, 1), cloud(-1, -1))
        return np.logaddexp(cloud(1, -1), cloud(-1, 1)) - same

    return Simulation(draw, log_odds)


def _spiral(turns: float = 1.0, spread: float = 0.7) -> Simulation:
    """Two arms of a spiral; the angle is noisy."""

    def arm(radius: Array, y: Any) -> Array:
        return 2 * np.pi * turns * radius + np.pi * y

    def draw(y: NDArray[np.int64], rng: np.random.Generator) -> Array:
        radius = rng.random(len(y))
        angle = arm(radius, y) + rng.normal(0, spread, len(y))
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])

    def log_odds(x: Array) -> Array:
        radius, angle = np.hypot(x[:, 0], x[:, 1]), np.arctan2(x[:, 1], x[:, 0])

        def around(y: int) -> Array:  # the angle is known up to whole turns
            whole = 2 * np.pi * np.arange(-8, 9)
            apart = np.angle(np.exp(1j * (angle - arm(radius, y))))[:, None] + whole
            return np.asarray(logsumexp(_log_normal(apart, 0, spread), axis=1))

        return around(1) - around(0)

    return Simulation(draw, log_odds)


def _ellipse(spread: float = 0.35) -> Simulation:
    """A ring around another, both stretched; the radius is noisy."""
    stretch, inner, outer = np.array([3.0, 1.0]), 1.0, 2.0

    def draw(y: NDArray[np.int64], rng: np.random.Generator) -> Array:
        radius = np.abs(np.where(y == 1, outer, inner) + rng.normal(0, spread, len(y)))
        angle = rng.uniform(0, 2 * np.pi, len(y))
        return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) * stretch

    def log_odds(x: Array) -> Array:
        radius = np.hypot(*(x / stretch).T)

        def folded(mean: float) -> Array:
            return np.logaddexp(
                _log_normal(radius, mean, spread), _log_normal(-radius, mean, spread)
            )

        return folded(outer) - folded(inner)

    return Simulation(draw, log_odds)


def _curves(of: Callable[[Array, Any], Array], spread: float) -> Simulation:
    """A curve for each class; the height is noisy."""

    def draw(y: NDArray[np.int64], rng: np.random.Generator) -> Array:
        x = rng.uniform(-1, 1, len(y))
        return np.column_stack([x, of(x, y) + rng.normal(0, spread, len(y))])

    def log_odds(x: Array) -> Array:
        one, zero = (_log_normal(x[:, 1], of(x[:, 0], y), spread) for y in (1, 0))
        return one - zero

    return Simulation(draw, log_odds)


SIMULATIONS = {
    "Gaussian XOR": _xor(),
    "spiral": _spiral(),
    "ellipse": _ellipse(),
    "sine wave": _curves(lambda x, y: np.sin(2 * np.pi * x) * (1 - 2 * y), 0.4),
    "polynomial": _curves(lambda x, y: np.where(y == 1, x**3, x) * 2, 0.15),
}
