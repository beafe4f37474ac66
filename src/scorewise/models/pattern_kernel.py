"""Rows of known class as patterns: what lies near a row by its pattern, class by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.models.kernel_posterior import Array
from scorewise.models.patterns import Logs, Patterns

Places = NDArray[np.int64]
STRIDES = 16  # columns of which one is looked at first where many are compared
MANY = 1_000


@dataclass(frozen=True)
class Around:
    """What known rows say of others: kernel sums by exponent, row and class; the most alike.

    The places of the most alike and how alike they are have a line for each row.
    """

    sums: Array
    places: Places
    likeness: Array


@dataclass(frozen=True)
class KnownRows:
    """Patterns of rows of known class, in the order of their classes, with their weights."""

    patterns: Patterns
    weight: NDArray[np.float32]
    starts: Places
    present: Places
    classes: int

    @classmethod
    def of(cls, patterns: Patterns, codes: Places, weight: Array, classes: int) -> KnownRows:
        """From patterns, class codes in rising order, and weights."""
        present, starts = np.unique(codes, return_index=True)
        return cls(patterns, weight.astype(np.float32), starts, present, classes)

    def __len__(self) -> int:
        return len(self.patterns)

    def around(
        self, asked: Patterns, exponents: Sequence[float], count: int, own: Places | None = None
    ) -> Around:
        """Sums of w^exponent over the known rows of each class, where the nearest row has w = 1.

        `count` rows are told that are most alike. `own` has for each row asked for its own place among
        the known ones, where it is not to count.
        """
        count = min(count, len(self) - (own is not None))
        sums = np.zeros((len(exponents), len(asked), self.classes))
        places = np.empty((len(asked), count), np.int64)
        likeness = np.empty((len(asked), count))
        for rows in asked.blocks(self.patterns):
            log_w = asked[rows].log_likeness(self.patterns)
            if own is not None:
                log_w[np.arange(len(log_w)), own[rows]] = -np.inf
            places[rows] = largest(log_w, count)
            likeness[rows] = np.exp(np.take_along_axis(log_w, places[rows], axis=1))
            log_w -= log_w.max(axis=1, keepdims=True)
            for place, exponent in enumerate(exponents):
                sums[place, rows, self.present] = self._sums(log_w, exponent).T
        return Around(sums, places, likeness)

    def _sums(self, log_w: Logs, exponent: float) -> Array:
        weighed = log_w * np.float32(exponent)
        np.exp(weighed, out=weighed)
        weighed *= self.weight
        return np.asarray(np.add.reduceat(weighed, self.starts, axis=1))


def largest(values: Logs, count: int) -> Places:
    """Places of the `count` largest values of each row, in no order.

    Of many columns the largest of each stride comes first: the places sought are in the strides with
    the largest, or among the columns that are left over.
    """
    width = values.shape[1] // STRIDES
    if values.shape[1] < MANY or width <= count:
        return np.argpartition(values, -count, axis=1)[:, -count:]
    top = values[:, :width].copy()
    for start in range(width, STRIDES * width, width):
        np.maximum(top, values[:, start : start + width], out=top)
    best = np.argpartition(top, -count, axis=1)[:, -count:]
    inside = (best[:, :, None] + width * np.arange(STRIDES)).reshape(len(values), -1)
    over = np.arange(STRIDES * width, values.shape[1])
    among = np.hstack([inside, np.broadcast_to(over, (len(values), len(over)))])
    found = np.argpartition(np.take_along_axis(values, among, axis=1), -count, axis=1)[:, -count:]
    return np.take_along_axis(among, found, axis=1)


def thinned(codes: Places, most: int, random: np.random.Generator) -> tuple[Places, Array]:
    """Places of at most about `most` rows, drawn within classes, and how many rows each stands for.

    The places are in the order of the classes.

    >>> places, stands_for = thinned(np.repeat([0, 1], [90, 10]), 10, np.random.default_rng(0))
    >>> len(places), stands_for.sum()
    (10, np.float64(100.0))
    """
    if len(codes) <= most:
        return np.argsort(codes, kind="stable"), np.ones(len(codes))
    counts = np.bincount(codes)
    kept = np.minimum(counts, np.maximum(np.floor(most * counts / len(codes)), 1)).astype(int)
    drawn = [
        np.sort(random.choice(np.flatnonzero(codes == code), kept[code], replace=False))
        for code in np.flatnonzero(counts)
    ]
    places = np.concatenate(drawn)
    return places, (counts / np.maximum(kept, 1))[codes[places]]
