"""Which units of a ReLU network are on for a row, in bits, and how alike two rows are by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Singles = NDArray[np.float32]
CELLS = 1 << 16  # pairs of rows that are compared at once: what the cache holds


@dataclass(frozen=True)
class Patterns:
    """For each layer the on/off bits of all rows, 64 to a word, and how many bits there are.

    >>> on = np.array([[True, False, True], [True, True, True], [False, True, False]])
    >>> p = Patterns.of([on])
    >>> (7 * p.likeness(p)).round().tolist()
    [[7.0, 5.0, 1.0], [5.0, 7.0, 3.0], [1.0, 3.0, 7.0]]
    """

    layers: tuple[Words, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, layers: Sequence[NDArray[np.bool_]]) -> Patterns:
        """From one boolean array for each layer, rows by units."""
        return cls(tuple(_packed(on) for on in layers), tuple(on.shape[1] for on in layers))

    def __len__(self) -> int:
        return len(self.layers[0])

    def __getitem__(self, rows: Any) -> Patterns:
        return Patterns(tuple(words[rows] for words in self.layers), self.widths)

    def likeness(self, others: Patterns) -> Singles:
        """Product over layers of 1 - the share of units in which two rows differ; rows by others.

        Each layer counts half a unit more than it has, which never differs, so that no product is 0.
        """
        return Comparison(len(self), others).likeness(self)


class Comparison:
    """Patterns to compare others with, so many at once, in memory that is used again and again."""

    def __init__(self, rows: int, known: Patterns) -> None:
        shape = rows, len(known)
        self._known = known
        self._words = np.empty(shape, np.uint64)
        self._bits = np.empty(shape, np.uint8)
        self._differing = np.empty(shape, np.min_scalar_type(max(known.widths)))
        self._equal, self._product = np.empty(shape, np.float32), np.empty(shape, np.float32)

    def likeness(self, asked: Patterns) -> Singles:
        """How alike the rows asked for are to the known ones; the next call overwrites it."""
        rows = slice(len(asked))
        equal, product = self._equal[rows], self._product[rows]
        layers = zip(asked.layers, self._known.layers, self._known.widths, strict=True)
        for number, (mine, theirs, width) in enumerate(layers):
            into = equal if number else product
            np.multiply(self.differing(mine, theirs), np.float32(-1 / (width + 0.5)), out=into)
            into += np.float32(1)
            if number:
                product *= equal
        return product

    def differing(self, asked: Words, known: Words) -> NDArray[np.unsignedinteger[Any]]:
        """Count of differing bits for all pairs of rows; the next call overwrites it."""
        rows = slice(len(asked))
        words, bits, total = self._words[rows], self._bits[rows], self._differing[rows]
        for number, (mine, theirs) in enumerate(zip(asked.T, known.T, strict=True)):
            np.bitwise_xor(mine[:, None], theirs[None, :], out=words)
            np.bitwise_count(words, out=bits if number else total)
            if number:
                total += bits
        return total


def likenesses(asked: Patterns, known: Patterns) -> Iterator[tuple[slice, Singles]]:
    """Likeness of all rows asked for to all known ones, some rows at a time to save memory.

    Each block overwrites the one before.
    """
    step = max(1, min(CELLS // max(len(known), 1), len(asked)))
    comparison = Comparison(step, known)
    for start in range(0, len(asked), step):
        rows = slice(start, min(start + step, len(asked)))
        yield rows, comparison.likeness(asked[rows])


def _packed(on: NDArray[np.bool_]) -> Words:
    """Bits in words; the last word is filled with zeros, which differ in no pair."""
    lacking = -on.shape[1] % 64
    filled = np.pad(on, ((0, 0), (0, lacking)))
    return np.ascontiguousarray(np.packbits(filled, axis=1)).view(np.uint64)
