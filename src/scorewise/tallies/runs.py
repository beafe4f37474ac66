"""Runs of neighbouring cells: where they begin, their sums, and runs of equal mass.

Cells lie along the last axis, from the lowest score up. Axes before it are replicates, which are summed one
by one.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Ints

_PART = 1 << 15  # cells that are walked through at a time


def first_of_runs(*sorted_columns: NDArray[np.generic]) -> NDArray[np.int64]:
    """The places at which a sorted array, or one of several sorted together, takes a new value.

    >>> first_of_runs(np.array([3, 3, 5, 7, 7]))
    array([0, 2, 3])
    """
    first = np.zeros(len(sorted_columns[0]), np.bool_)
    first[:1] = True
    for column in sorted_columns:
        first[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(first)


def add_runs(columns: Any, start: NDArray[np.int64]) -> Any:
    """The sums of each run along the last axis."""
    if not len(start):
        return np.zeros((*columns.shape[:-1], 0), columns.dtype)
    return np.add.reduceat(columns, start, axis=-1)


def equal_mass_runs(mass: Any, limit: int) -> NDArray[np.int64]:
    """The first cells of at most so many runs of about equal mass; no cell is split.

    >>> equal_mass_runs(np.array([1.0, 1.0, 2.0, 1.0, 1.0]), 3)
    array([0, 2, 3])
    """
    return np.arange(len(mass)) if len(mass) <= limit else first_of_runs(mass_index(mass, limit))


def middles(mass: Any) -> tuple[Any, Any]:
    """Twice the mass up to the middle of each cell, and twice the whole."""
    upto = mass.cumsum()
    return 2 * upto - mass, 2 * upto[-1]


def mass_index(mass: Any, parts: int) -> Ints:
    """In which of so many parts of equal mass each cell has its middle."""
    return index_of_middles(*middles(mass), parts)


def index_of_middles(middle: Any, total: Any, parts: int) -> Ints:
    """The same of what `middles` gives."""
    # sums of weights may fall slightly below an edge that they reach
    place = middle * parts / total + 1e-9
    return np.asarray(np.minimum(place.astype(np.int64), parts - 1))


def quantile_cells(parts: int, *mass: Any) -> Ints:
    """The cells in which the quantiles of the summed masses lie, the first cell included.

    So many parts of equal mass have these as their first cells, at most. Walked through in blocks.

    >>> quantile_cells(3, np.array([1.0, 1.0, 2.0, 1.0, 1.0]))
    array([0, 1, 2])
    """
    total = sum(w.sum() for w in mass)
    wanted, below, starts = total * (np.arange(1, parts) / parts), 0.0, [np.zeros(1, np.int64)]
    for first in range(0, len(mass[0]), _PART):
        upto = sum(w[first : first + _PART] for w in mass).cumsum() + below
        inside = wanted[(wanted > below) & (wanted <= upto[-1])]
        starts.append(first + np.searchsorted(upto, inside))
        below = upto[-1]
    start = np.concatenate(starts)
    return start[first_of_runs(start)]


class AllCells:
    """All cells are one group.

    >>> [ALL_CELLS.upto(np.array([1, 2, 4])).tolist(), ALL_CELLS.downto(np.array([1, 2, 4])).tolist()]
    [[1, 3, 7], [7, 6, 4]]
    """

    def add(self, x: Any) -> Any:
        """The sum of each group."""
        return x.sum(-1)

    def most(self, x: Any) -> Any:
        """The largest number of each group."""
        return x.max(-1)

    def of(self, total: Any) -> Any:
        """What belongs to each group, for each of its cells."""
        return np.asarray(total)[..., None]

    def upto(self, x: Any) -> Any:
        """The sum over the cells of the group up to each of them."""
        return x.cumsum(-1)

    def downto(self, x: Any) -> Any:
        """The sum over the cells of the group from its last down to each of them."""
        return x[..., ::-1].cumsum(-1)[..., ::-1]

    @property
    def ends(self) -> Any:
        """The first cell of each group, and the last one."""
        return [0], [-1]


class ByGroup(AllCells):
    """Groups side by side, each of the cells from one of `first` up to the next.

    >>> by = ByGroup(np.array([0, 2]), 4)
    >>> x = np.array([1, 2, 4, 8])
    >>> by.add(x).tolist(), by.upto(x).tolist(), by.downto(x).tolist()
    ([3.0, 12.0], [1, 3, 4, 12], [3, 2, 12, 8])
    """

    def __init__(self, first: Ints, cells: int) -> None:
        self.first, self.cells = first, cells

    @cached_property
    def length(self) -> Ints:
        """How many cells each group has."""
        return np.diff(self.first, append=self.cells)

    def add(self, x: Any) -> Any:
        """The sum of each group."""
        return add_runs(x, self.first).astype(np.float64)

    def most(self, x: Any) -> Any:
        """The largest number of each group."""
        return np.maximum.reduceat(x, self.first)

    def of(self, total: Any) -> Any:
        """What belongs to each group, for each of its cells."""
        return np.repeat(total, self.length)

    def upto(self, x: Any) -> Any:
        """The sum over the cells of the group up to each of them."""
        total = x.cumsum()
        return total - self.of(np.append(0, total[self.first[1:] - 1]).astype(total.dtype))

    def downto(self, x: Any) -> Any:
        """The sum over the cells of the group from its last down to each of them."""
        total = x[::-1].cumsum()[::-1]
        return total - self.of(np.append(total[self.first[1:]], 0).astype(total.dtype))

    @property
    def ends(self) -> Any:
        """The first cell of each group, and the last one."""
        return self.first, self.first + self.length - 1


ALL_CELLS = AllCells()
