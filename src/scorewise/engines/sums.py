"""Growing sums of tallies by group: exact while their cells fit a budget of memory, then on a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scorewise.columns import Rows
from scorewise.columns.grouping import intersections, members
from scorewise.tallies.coarse import Grid, grid_of
from scorewise.tallies.sets import Key, pile
from scorewise.tallies.tally import Tally

PER_SCORE = 48  # bytes that a distinct score takes while rows are sorted and judged
PER_WEIGHTED = 160  # the same where rows have weights
_OVERHEAD = 384 << 20  # bytes that the program and a batch of rows take beside the scores
_GRID_ROWS = 1 << 22  # rows that are put on the grid at a time


@dataclass
class MemoryBudget:
    """How much memory tallies may take; the grid that they are on, once they do not fit."""

    memory: int
    grid: Grid | None = None
    overrun: bool = False  # the grid was taken because of the memory

    def scores(self, weighted: bool) -> int:
        """How many distinct scores fit."""
        left = self.memory - min(_OVERHEAD, self.memory // 2)
        return max(1, left // (PER_WEIGHTED if weighted else PER_SCORE))

    def rows(self, weighted: bool) -> int:
        """How many rows are taken together."""
        most = self.scores(weighted)
        return most if self.grid is None else min(_GRID_ROWS, most)


class GroupSums:
    """Growing sums by group, within a budget that they share with others."""

    def __init__(self, budget: MemoryBudget) -> None:
        self.budget = budget
        self.groups: dict[Key, list[Tally]] = {}  # tallies whose sum is that of the group

    @property
    def cells(self) -> int:
        """How many cells are held."""
        return sum(t.cells for parts in self.groups.values() for t in parts)

    def add(self, tallies: Mapping[Key, Tally]) -> None:
        """Add the tallies of some rows; all go onto the grid where they no longer fit."""
        grid = self.budget.grid
        for key, t in tallies.items():
            pile(self.groups.setdefault(key, []), t if grid is None else t.coarsen(grid))
        if grid is None and tallies:
            t = next(iter(tallies.values()))
            if self.cells > self.budget.scores(t.weighted):
                self.budget.grid, self.budget.overrun = grid_of(t.kind), True
        self._coarsen()

    def _coarsen(self) -> None:
        if (grid := self.budget.grid) is not None:
            for parts in self.groups.values():
                parts[:] = [t.coarsen(grid) for t in parts]

    def sums(self) -> dict[Key, Tally]:
        """The tally of each group."""
        self._coarsen()
        for parts in self.groups.values():
            parts[:] = [sum(reversed(parts), Tally.empty())]
        return {key: total for key, (total,) in self.groups.items()}


def group_tallies(batches: Sequence[Rows], score: str) -> dict[Key, Tally]:
    """The tally of each group of rows; of no groups, that of all rows under the empty key."""
    batches = [rows for rows in batches if len(rows)]
    if not batches:
        return {}
    rows = concatenated([replace(rows, groups={}, dropped=0) for rows in batches])
    if not batches[0].groups:
        return {(): Tally.of_rows(rows, score)}
    keys: dict[Key, int] = {}
    codes = []
    for batch in batches:
        at, words = intersections(batch.groups)
        codes.append(np.array([keys.setdefault(key, len(keys)) for key in words])[at])
    groups = zip(keys, members(np.concatenate(codes), len(keys)), strict=True)
    return {key: Tally.of_rows(rows.at(at), score) for key, at in groups}


def concatenated(batches: Sequence[Rows]) -> Rows:
    """The rows of several batches, without their places; of some without weights or counts, 1 for each."""
    first = batches[0]
    if len(batches) == 1:
        return first

    def column(name: str, dtype: Any) -> Any:
        columns = [getattr(rows, name) for rows in batches]
        if all(x is None for x in columns):
            return None
        each = zip(columns, batches, strict=True)
        return np.concatenate([np.ones(len(r), dtype) if x is None else x for x, r in each])

    return replace(
        first, y=column("y", np.bool_), weight=column("weight", np.float64),
        count=column("count", np.int64), dropped=sum(rows.dropped for rows in batches),
        scores={name: np.concatenate([r.scores[name] for r in batches]) for name in first.scores},
        kinds=batches[-1].kinds,
    )  # fmt: skip
