"""Where a row is, in words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools


@dataclass(frozen=True)
class Place:
    """Turns the index of a row into words: arrays count from 0, files from 1 after the header.

    `files` are names with their numbers of rows, in order; `kept` the rows left of the original.

    >>> Place().row(17)
    'row 17, counting from 0'
    >>> Place(files=(("day1.csv", 10), ("day2.csv", 30))).row(17)
    'row 8 of day2.csv'
    """

    files: tuple[tuple[str, int], ...] = ()
    kept: NDArray[np.integer[Any]] | None = None

    def number(self, index: int) -> tuple[str | None, int]:
        """The file that a row is in, if any, and its number there or from 0.

        >>> Place(files=(("day1.csv", 10), ("day2.csv", 30))).number(17), Place().number(17)
        (('day2.csv', 8), (None, 17))
        """
        index = self.position(index)
        for name, rows in self.files:
            if index < rows:
                return name, index + 1
            index -= rows
        return None, index

    def position(self, index: int) -> int:
        """Where the row was before others were left out."""
        return index if self.kept is None else int(self.kept[index])

    def row(self, index: int) -> str:
        """The row's number, and what it counts from."""
        file, number = self.number(index)
        return f"row {number}, counting from 0" if file is None else f"row {number} of {file}"

    def keep(self, rows: Bools) -> Place:
        """The same place when only those of its rows are left.

        >>> Place().keep(np.array([False, True, True])).keep(np.array([False, True])).position(0)
        2
        """
        left = np.flatnonzero(rows)
        return replace(self, kept=left if self.kept is None else self.kept[left])

    def rows(self, where: Bools) -> str:
        """How many rows, and the first of them.

        >>> Place().rows(np.array([False, True, True]))
        'in 2 rows, first at row 1, counting from 0'
        """
        count = int(np.count_nonzero(where))
        first = self.row(int(where.argmax()))
        return f"in 1 row, {first}" if count == 1 else f"in {count:,} rows, first at {first}"
