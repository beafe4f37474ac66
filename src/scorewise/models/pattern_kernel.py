"""Rows of known class as patterns: what lies near a row by its pattern, class by class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats, Ints
from scorewise.models.patterns import Patterns, Singles, likenesses

TINY = np.float32(1e-30)


@dataclass(frozen=True)
class Around:
    """What known rows say of others: kernel sums by exponent, row and class; the most alike.

    The places of the most alike and how alike they are have a line for each row.
    """

    sums: Floats
    places: Ints
    likeness: Floats


@dataclass(frozen=True)
class KnownRows:
    """Patterns of rows of known class, in the order of their classes, with their weights."""

    patterns: Patterns
    weight: NDArray[np.float32]
    starts: Ints
    present: Ints
    classes: int

    @classmethod
    def of(cls, patterns: Patterns, codes: Ints, weight: Floats, classes: int) -> KnownRows:
        """From patterns, class codes in rising order, and weights."""
        present, starts = np.unique(codes, return_index=True)
        return cls(patterns, weight.astype(np.float32), starts, present, classes)

    def __len__(self) -> int:
        return len(self.patterns)

    def around(
        self, asked: Patterns, exponents: Sequence[float], count: int, own: Ints | None = None
    ) -> Around:
        """Sums of w^exponent over the known rows of each class, where the nearest row has w = 1.

        The exponents are powers of two, rising. `count` rows are told that are most alike. `own` has for
        each row asked for its own place among the known ones, where it is not to count.
        """
        count = min(count, len(self) - (own is not None))
        sums = np.zeros((len(exponents), len(asked), self.classes))
        places = np.empty((len(asked), count), np.int64)
        likeness = np.empty((len(asked), count))
        for rows, w in likenesses(asked, self.patterns):
            if own is not None:
                w[np.arange(len(w)), own[rows]] = 0
            places[rows], likeness[rows] = largest(w, count)
            w /= np.maximum(likeness[rows, :1].astype(np.float32), TINY)
            for place, powered in enumerate(_powers(w, exponents)):
                sums[place, rows, self.present] = self._sums(powered).T
        return Around(sums, places, likeness)

    def _sums(self, w: Singles) -> Singles:
        return np.add.reduceat(w * self.weight, self.starts, axis=1)


def _powers(w: Singles, exponents: Sequence[float]) -> Iterator[Singles]:
    """`w` to each exponent in turn, by squaring it in place."""
    power = 1.0
    for exponent in exponents:
        while power < exponent:
            np.square(w, out=w)
            power *= 2
        yield w


def largest(values: Singles, count: int) -> tuple[Ints, Singles]:
    """Places of the `count` largest values of each row, and these values, falling.

    One search for the largest after another: of few it is quicker than a partition of many ties.

    >>> largest(np.array([[1.0, 3.0, 2.0]], np.float32), 2)
    (array([[1, 2]]), array([[3., 2.]], dtype=float32))
    """
    rows = np.arange(len(values))
    places = np.empty((len(values), count), np.int64)
    found = np.empty((len(values), count), np.float32)
    for rank in range(count):
        place = values.argmax(axis=1)
        places[:, rank], found[:, rank] = place, values[rows, place]
        values[rows, place] = -1
    values[rows[:, None], places] = found
    return places, found
