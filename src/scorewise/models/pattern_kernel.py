"""Rows of known class as patterns: what lies near a row by its pattern, class by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.models.kernel_posterior import Array, Neighbourhood
from scorewise.models.patterns import Logs, Patterns
from scorewise.models.relu_layers import Seen

NEIGHBOURS = 10


@dataclass(frozen=True)
class Around:
    """What the known rows say of others: kernel sums by exponent, row and class; the log density."""

    sums: Array
    log_density: Array


@dataclass(frozen=True)
class KnownRows:
    """Rows of known class in the order of their classes, with their weights."""

    patterns: Patterns
    near: Neighbourhood
    weight: NDArray[np.float32]
    starts: NDArray[np.int64]
    present: NDArray[np.int64]
    classes: int

    @classmethod
    def of(cls, seen: Seen, codes: NDArray[np.int64], weight: Array, classes: int) -> KnownRows:
        """From rows as the network sees them, their class codes and weights."""
        order = np.argsort(codes, kind="stable")
        present, starts = np.unique(codes[order], return_index=True)
        near = Neighbourhood.of(seen.points[order])
        kept = weight[order].astype(np.float32)
        return cls(seen.patterns[order], near, kept, starts, present, classes)

    def __len__(self) -> int:
        return len(self.patterns)

    def around(self, seen: Seen, exponents: Sequence[float]) -> Around:
        """Sums of w^exponent over the known rows of each class, where the nearest row has w = 1.

        The density is normal around the ten known rows of the most similar patterns.
        """
        sums = np.zeros((len(exponents), len(seen), self.classes))
        density = np.empty(len(seen))
        for rows in seen.patterns.blocks(self.patterns):
            log_w = seen.patterns[rows].log_likeness(self.patterns)
            density[rows] = self._log_density(seen.points[rows], log_w)
            log_w -= log_w.max(axis=1, keepdims=True)
            for place, exponent in enumerate(exponents):
                sums[place, rows, self.present] = self._sums(log_w, exponent).T
        return Around(sums, density)

    def _sums(self, log_w: Logs, exponent: float) -> Array:
        weighed = np.exp(log_w * np.float32(exponent))
        weighed *= self.weight
        return np.add.reduceat(weighed, self.starts, axis=1, dtype=np.float64)

    def _log_density(self, points: Array, log_w: Logs) -> Array:
        count = min(NEIGHBOURS, log_w.shape[1])
        places = np.argpartition(log_w, -count, axis=1)[:, -count:]
        weights = np.exp(np.take_along_axis(log_w, places, axis=1)).astype(np.float64)
        with np.errstate(over="ignore"):  # as far as can be: the log density is -inf
            return self.near.log_density(points, places, weights)


def thinned(
    codes: NDArray[np.int64], most: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], Array]:
    """Places of at most about `most` rows, drawn within classes, and how many rows each stands for.

    >>> places, stands_for = thinned(np.repeat([0, 1], [90, 10]), 10, np.random.default_rng(0))
    >>> len(places), stands_for.sum()
    (10, np.float64(100.0))
    """
    counts = np.bincount(codes)
    if len(codes) <= most:
        return np.arange(len(codes)), np.ones(len(codes))
    kept = np.minimum(counts, np.maximum(np.floor(most * counts / len(codes)), 1)).astype(int)
    drawn = [
        random.choice(np.flatnonzero(codes == code), kept[code], replace=False)
        for code in np.flatnonzero(counts)
    ]
    places = np.sort(np.concatenate(drawn))
    return places, (counts / np.maximum(kept, 1))[codes[places]]
