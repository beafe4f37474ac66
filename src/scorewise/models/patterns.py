"""Which units of a ReLU network are on for a row, in bits, and how alike two rows are by them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Logs = NDArray[np.float32]
CELLS = 1 << 18  # pairs of rows that are compared at once: what the cache holds


@dataclass(frozen=True)
class Patterns:
    """For each layer the on/off bits of all rows, 64 to a word, and how many bits there are.

    >>> on = np.array([[True, False, True], [True, True, True], [False, True, False]])
    >>> p = Patterns.of([on])
    >>> (3 * np.exp(p.log_likeness(p))).round(1).tolist()
    [[3.0, 2.0, 0.5], [2.0, 3.0, 1.0], [0.5, 1.0, 3.0]]
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

    def log_likeness(self, others: Patterns) -> Logs:
        """Log of the product over layers of 1 - Hamming share, for all pairs; rows by others.

        Rows that differ in every unit of a layer count as if half a unit were equal, so that the log
        is finite.
        """
        total = np.zeros((len(self), len(others)), np.float32)
        for mine, theirs, width in zip(self.layers, others.layers, self.widths, strict=True):
            equal = np.maximum(width - np.arange(width + 1), 0.5) / width
            total += np.log(equal).astype(np.float32).take(distances(mine, theirs, width))
        return total

    def blocks(self, others: Patterns) -> Iterator[slice]:
        """Slices of rows, so many at once as can be compared with all others in little memory."""
        step = max(1, CELLS // max(len(others), 1))
        return (slice(start, start + step) for start in range(0, len(self), step))


def distances(a: Words, b: Words, width: int) -> NDArray[np.unsignedinteger[Any]]:
    """Count of differing bits, `width` at most, for all pairs of rows; as small integers as can be."""
    total = np.zeros((len(a), len(b)), np.min_scalar_type(width))
    for mine, theirs in zip(a.T, b.T, strict=True):
        total += np.bitwise_count(mine[:, None] ^ theirs[None, :])
    return total


def _packed(on: NDArray[np.bool_]) -> Words:
    """Bits in words; the last word is filled with zeros, which differ in no pair."""
    lacking = -on.shape[1] % 64
    filled = np.pad(on, ((0, 0), (0, lacking)))
    return np.ascontiguousarray(np.packbits(filled, axis=1)).view(np.uint64)
