"""Growing sums of tallies by group: exact while their cells fit a budget of memory, then on a grid."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from scorewise.arrays import Ints
from scorewise.columns import Rows
from scorewise.columns.grouping import intersections, members
from scorewise.tallies.coarse import (
    Coarse,
    Grid,
    cells_of,
    class_runs,
    empty_ends,
    grid_of,
    loss_moments,
    probability_edges,
)
from scorewise.tallies.exact import from_digits, run_digits
from scorewise.tallies.losses import LOSSES, NO_LOSS
from scorewise.tallies.origin import Origin
from scorewise.tallies.runs import add_runs
from scorewise.tallies.sets import Key, pile
from scorewise.tallies.tally import Tally

PER_SCORE = 48  # bytes that a distinct score takes while rows are sorted and judged
PER_WEIGHTED = 160  # the same where rows have weights
_OVERHEAD = 384 << 20  # bytes that the program and a batch of rows take beside the scores
_GRID_ROWS = 1 << 21  # rows that are put on the grid at a time
_MAX_ROWS = 1 << 32  # rows whose sums of digits fit 64 bits
_MIN_DENSE = 1 << 14  # scores from which on they are added to all cells of the grid


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


@dataclass
class RunningSum:
    """A growing sum of tallies."""

    parts: list[Tally] = field(default_factory=list)
    dense: DenseGrid | None = None

    @property
    def cells(self) -> int:
        """How many cells are held."""
        dense = 0 if self.dense is None else int(np.count_nonzero(self.dense.count.any(0)))
        return dense + sum(t.cells for t in self.parts)

    def add(self, t: Tally, grid: Grid | None = None) -> None:
        """Add a tally, on a grid if there is one."""
        counted = t.kind == "probability" and t.coarse is None and not t.weighted
        if grid == "probability" and counted and t.cells > _MIN_DENSE:
            if self.dense is not None and self.dense.origin.rows + t.rows > _MAX_ROWS:
                self.parts.insert(0, self.dense.tally())
                self.dense = None
            self.dense = self.dense or DenseGrid()
            self.dense.add(t)
        else:
            pile(self.parts, t if grid is None else t.coarsen(grid))

    def coarsen(self, grid: Grid) -> None:
        """Bring what was added so far onto a grid."""
        if any(t.coarse is None for t in self.parts):
            parts, self.parts = self.parts, []
            for t in parts:
                pile(self.parts, t.coarsen(grid))

    def sum(self) -> Tally:
        """All of it."""
        total, dense = Tally.empty(), self.dense
        self.dense = None
        for t in (*([] if dense is None else [dense.tally()]), *reversed(self.parts)):
            total = t + total
        self.parts = [total]
        return total


class GroupSums:
    """Growing sums by group, within a budget that they share with others."""

    def __init__(self, budget: MemoryBudget) -> None:
        self.budget = budget
        self.groups: dict[Key, RunningSum] = {}

    @property
    def cells(self) -> int:
        """How many cells are held."""
        return sum(total.cells for total in self.groups.values())

    def add(self, tallies: Mapping[Key, Tally]) -> None:
        """Add the tallies of some rows; all go onto the grid where they no longer fit."""
        self._coarsen()
        for key, t in tallies.items():
            self.groups.setdefault(key, RunningSum()).add(t, self.budget.grid)
        if self.budget.grid is None and tallies:
            t = next(iter(tallies.values()))
            if self.cells > self.budget.scores(t.weighted):
                self.budget.grid, self.budget.overrun = grid_of(t.kind), True
                self._coarsen()

    def _coarsen(self) -> None:
        if self.budget.grid is not None:
            for total in self.groups.values():
                total.coarsen(self.budget.grid)

    def sums(self) -> dict[Key, Tally]:
        """The tally of each group."""
        self._coarsen()
        return {key: total.sum() for key, total in self.groups.items()}


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


class DenseGrid:
    """Sums over all cells of the grid "probability", to which counted probabilities are added.

    Batches of counted rows are added without making a tally of each. The sums of scores are kept as digits,
    by their place.
    """

    def __init__(self) -> None:
        size = len(probability_edges())
        self.count = np.zeros((2, size), np.int64)
        self.low, self.high = empty_ends(size)
        self.digits: dict[int, Ints] = {}
        self.losses = dict.fromkeys(LOSSES, (NO_LOSS, NO_LOSS))
        self.origin = Origin()
        self.dtype: Any = None

    def add(self, t: Tally) -> None:
        """Add an exact tally of counted probabilities."""
        cell, start = cells_of(t.score, "probability")
        s = t.score.astype(np.float64, copy=False)
        for side, w in enumerate((t.neg, t.pos)):
            rows, there, first, end = class_runs(w, start)
            counts, at = None if t.distinct else w[rows], cell[there]
            self.count[side, at] += end - first if counts is None else add_runs(counts, first)
            self.low[side, at] = np.minimum(self.low[side, at], s[rows[first]])
            self.high[side, at] = np.maximum(self.high[side, at], s[rows[end - 1]])
            digits, top = run_digits(s[rows], first, counts)
            for place, digit in zip(range(top, top - len(digits), -1), digits, strict=True):
                total = self.digits.setdefault(place, np.zeros(self.count.shape, np.int64))
                total[side, at] += digit
        for loss, (neg, pos) in loss_moments(t).items():
            self.losses[loss] = self.losses[loss][0] + neg, self.losses[loss][1] + pos
        self.origin = self.origin + t.origin
        dtype = t.score.dtype
        self.dtype = dtype if self.dtype is None else np.result_type(self.dtype, dtype)

    def tally(self) -> Tally:
        """The tally of all that was added."""
        cell = np.flatnonzero(self.count.any(0))
        if not len(cell):
            return replace(Tally.empty(), origin=self.origin)
        top, last = max(self.digits), min(self.digits)
        digits = np.zeros((top - last + 1, 2, len(cell)), np.int64)
        for place, digit in self.digits.items():
            digits[top - place] = digit[:, cell]
        sums = [from_digits(digits[:, side], top) for side in (0, 1)]
        low, high = self.low[:, cell].copy(), self.high[:, cell].copy()
        coarse = Coarse.of("probability", cell, low, high, sums, self.losses)
        neg, pos = self.count[0, cell], self.count[1, cell]
        middle = coarse.middle.astype(self.dtype)
        return Tally(middle, neg, pos, kind="probability", origin=self.origin, coarse=coarse)
