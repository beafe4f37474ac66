"""Columns as a network takes them, learned from the training rows alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Prepared:
    """Numbers are standardised, with the mean in gaps; codes become a column for each level.

    A column with gaps in the training rows gets a second one that marks them, for codes a level of its
    own. A level that was not met is 0 in all columns. A number that does not vary is left out.
    """

    numbers: NDArray[np.int64]
    mean: Array
    spread: Array
    gappy: NDArray[np.int64]
    levels: tuple[tuple[int, Array], ...]

    @classmethod
    def of(cls, x: Array, nominal: NDArray[np.bool_]) -> Self:
        """What the training rows tell."""
        varies = np.array([len(np.unique(c[~np.isnan(c)])) > 1 for c in x.T], dtype=bool)
        numbers = np.flatnonzero(~nominal & varies)
        levels = tuple((int(j), np.unique(x[:, j])) for j in np.flatnonzero(nominal))
        inside = x[:, numbers]
        gappy = numbers[np.isnan(inside).any(axis=0)]
        return cls(numbers, np.nanmean(inside, axis=0), np.nanstd(inside, axis=0), gappy, levels)

    def __call__(self, x: Array) -> Array:
        """Rows in these columns."""
        z = (x[:, self.numbers] - self.mean) / self.spread
        parts = [np.where(np.isnan(z), 0.0, z), np.isnan(x[:, self.gappy])]
        for j, levels in self.levels:
            same = x[:, j, None] == levels
            parts.append(same | (np.isnan(x[:, j, None]) & np.isnan(levels)))
        return np.concatenate([part.astype(float) for part in parts], axis=1)
