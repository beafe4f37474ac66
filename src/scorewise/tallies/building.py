"""Tallies of more rows than memory holds: exact while their cells fit a budget, then on a grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.columns import Kind, Rows
from scorewise.columns.grouping import intersections
from scorewise.tallies.coarse import Coarse, Grid, Origin, cells_of, grid_of, probability_edges
from scorewise.tallies.exact import BITS, LIMBS, from_limbs, rest_of
from scorewise.tallies.losses import LOSSES, NOTHING, Loss, Moments, charge, clipped
from scorewise.tallies.sets import Key
from scorewise.tallies.sorting import add_runs, on_threads
from scorewise.tallies.tally import Tally

PER_SCORE = 48  # bytes that a distinct score takes while rows are sorted and judged
PER_WEIGHTED = 160  # the same where rows have weights
_OWN = 384 << 20  # bytes that the program and a batch of rows take beside the scores
_GRID_ROWS = 1 << 21  # rows that are put on the grid at a time
_FEW = 1 << 14  # scores that are added to a grid as a tally of their own
_BLOCK = 1 << 15
_EXACT = 1 << 22  # rows whose sums of limbs are exact as floats
_MOST = 1 << 32  # rows whose sums of limbs fit 64 bits


@dataclass
class Budget:
    """How much memory tallies may take; the grid that they are on, once they do not fit."""

    memory: int
    grid: Grid | None = None
    overrun: bool = False  # the grid was taken because of the memory

    def scores(self, weighted: bool) -> int:
        """How many distinct scores fit."""
        left = self.memory - min(_OWN, self.memory // 2)
        return max(1, left // (PER_WEIGHTED if weighted else PER_SCORE))

    def rows(self, weighted: bool) -> int:
        """How many rows are taken together."""
        most = self.scores(weighted)
        return most if self.grid is None else min(_GRID_ROWS, most)

    def settle(self, cells: int, weighted: bool, kind: Kind) -> None:
        """Take the grid that suits the scores, where there are too many of them."""
        if self.grid is None and cells > self.scores(weighted):
            self.grid, self.overrun = grid_of(kind), True


@dataclass
class Total:
    """A growing sum of tallies; small ones are added to each other first, so that each is seldom merged."""

    parts: list[Tally] = field(default_factory=list)
    dense: Dense | None = None

    @property
    def cells(self) -> int:
        """How many cells are held."""
        own = 0 if self.dense is None else int(np.count_nonzero(self.dense.count.any(0)))
        return own + sum(len(t.score) for t in self.parts)

    def add_to_grid(self, t: Tally, grid: Grid) -> None:
        """Add a tally to what is on a grid."""
        if grid == "probability" and t.coarse is None and len(t.score) > _FEW:
            self.dense = self.dense or Dense()
            if self.dense.add(t):
                return
        self.add(t.coarsen(grid))

    def add(self, t: Tally) -> None:
        """Add a tally."""
        while self.parts and len(self.parts[-1].score) <= 2 * len(t.score):
            t = self.parts.pop() + t
        self.parts.append(t)

    def coarsen(self, grid: Grid) -> None:
        """Bring what was added so far onto a grid."""
        parts, self.parts = self.parts, []
        for t in parts:
            self.add(t.coarsen(grid))

    def sum(self) -> Tally:
        """All of it."""
        total, dense = Tally.empty(), self.dense
        self.dense = None
        for t in (*([] if dense is None else [dense.tally()]), *reversed(self.parts)):
            total = t + total
        self.parts = [total]
        return total


class Totals:
    """Growing sums by group, within a budget that they share with others."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.totals: dict[Key, Total] = {}

    def add(self, made: dict[Key, Tally]) -> None:
        """Add the tallies of some rows."""
        grid = self.budget.grid
        for key, t in made.items():
            total = self.totals.setdefault(key, Total())
            if grid is not None and any(part.coarse is None for part in total.parts):
                total.coarsen(grid)
            if grid is None:
                total.add(t)
            else:
                total.add_to_grid(t, grid)
        if grid is None and made:
            t = next(iter(made.values()))
            cells = sum(total.cells for total in self.totals.values())
            self.budget.settle(cells, t.weighted, t.kind)
            if self.budget.grid is not None:
                self._coarsen(self.budget.grid)

    def _coarsen(self, grid: Grid) -> None:
        for total in self.totals.values():
            total.coarsen(grid)

    def sums(self) -> dict[Key, Tally]:
        """The tally of each group."""
        if self.budget.grid is not None:
            self._coarsen(self.budget.grid)
        return {key: total.sum() for key, total in self.totals.items()}


class Builder:
    """Tallies of checked rows that come in batches."""

    def __init__(self, budget: Budget, score: str) -> None:
        self.totals, self.score = Totals(budget), score
        self.batches: list[Rows] = []
        self.codes: list[Ints] = []
        self.keys: dict[Key, int] = {}
        self.many = 0
        self.rows = 0
        self.dropped = 0

    def add(self, rows: Rows) -> None:
        """Take a batch in."""
        self.dropped += rows.dropped
        self.rows += len(rows) + rows.dropped
        if not len(rows):
            return
        if rows.groups:
            at, words = intersections(rows.groups)
            code = np.array([self.keys.setdefault(key, len(self.keys)) for key in words])
            self.codes.append(code[at])
        self.batches.append(replace(rows, groups={}, dropped=0))
        self.many += len(rows)
        if self.many >= self.totals.budget.rows(rows.weight is not None):
            self._flush()

    def _flush(self) -> None:
        if not self.batches:
            return
        rows, self.batches, self.many = joined(self.batches), [], 0
        made: dict[Key, Tally] = {}
        if self.codes:
            codes, self.codes = np.concatenate(self.codes), []
            for key, at in _groups(codes, list(self.keys)):
                made[key] = Tally.of_rows(rows.at(at), self.score)
        else:
            made[()] = Tally.of_rows(rows, self.score)
        self.totals.add(made)

    def sums(self) -> dict[Key, Tally]:
        """The tally of each group; of no groups, that of all rows under the empty key."""
        self._flush()
        return self.totals.sums()


def _groups(codes: Ints, keys: Sequence[Key]) -> Iterator[tuple[Key, Ints]]:
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(len(keys) + 1))
    for k, key in enumerate(keys):
        if ends[k] < ends[k + 1]:
            yield key, order[ends[k] : ends[k + 1]]


def joined(batches: Sequence[Rows]) -> Rows:
    """The rows of several batches, without their places; of some without weights or counts, 1 for each."""
    first = batches[0]
    if len(batches) == 1:
        return first

    def column(name: str, kind: Any) -> Any:
        found = [getattr(rows, name) for rows in batches]
        if all(x is None for x in found):
            return None
        each = zip(found, batches, strict=True)
        return np.concatenate([np.ones(len(r), kind) if x is None else x for x, r in each])

    return replace(
        first, y=column("y", np.bool_), weight=column("weight", np.float64),
        count=column("count", np.int64), dropped=sum(rows.dropped for rows in batches),
        scores={name: np.concatenate([r.scores[name] for r in batches]) for name in first.scores},
        kinds=batches[-1].kinds,
    )  # fmt: skip


class Dense:
    """Sums over all cells of the grid "probability", to which counted probabilities are added.

    Batches of counted rows are added without making a tally of each. The sums of scores are kept as whole
    numbers of 2^-30, 2^-60, 2^-90 and 2^-120, which are exact for scores from 2^-67 (7e-21) up; a batch
    with smaller ones is left to the general way.
    """

    def __init__(self) -> None:
        size = len(probability_edges())
        self.count = np.zeros((2, size), np.int64)
        self.low, self.high = np.full((2, size), np.inf), np.full((2, size), -np.inf)
        self.limbs = np.zeros((LIMBS, 2, size), np.int64)
        self.losses = {loss: [NOTHING, NOTHING] for loss in LOSSES}
        self.origin = Origin()
        self.dtype: Any = None

    def add(self, t: Tally) -> bool:
        """Add an exact tally of counted probabilities; False where it takes the general way."""
        if t.weighted or t.kind != "probability" or t.coarse is not None:
            return False
        rows = t.origin.rows
        if rows > _EXACT or self.origin.rows + rows > _MOST:
            return False
        cell, start = cells_of(t.score, "probability")
        sides = [_side(t, cell, start, side) for side in (0, 1)]
        if any(s is None for s in sides):
            return False
        for side, found in enumerate(sides):
            assert found is not None
            at, count, low, high, limbs, losses = found
            self.count[side, at] += count
            self.low[side, at] = np.minimum(self.low[side, at], low)
            self.high[side, at] = np.maximum(self.high[side, at], high)
            for k, limb in enumerate(limbs):
                self.limbs[k, side, at] += limb
            for loss, made in losses.items():
                self.losses[loss][side] += made
        self.origin = self.origin + t.origin
        dtype = t.score.dtype
        self.dtype = dtype if self.dtype is None else np.result_type(self.dtype, dtype)
        return True

    def tally(self) -> Tally:
        """The tally of all that was added."""
        kind: Kind = "probability"
        cell = np.flatnonzero(self.count.any(0))
        if not len(cell):
            return replace(Tally.empty(), origin=self.origin)
        sums = [from_limbs(self.limbs[:, side, cell], 0) for side in (0, 1)]
        losses: dict[Loss, tuple[Moments, Moments]] = {
            loss: (neg, pos) for loss, (neg, pos) in self.losses.items()
        }
        total, rest = np.stack([x.value for x in sums]), rest_of(sums)
        low, high = self.low[:, cell].copy(), self.high[:, cell].copy()
        coarse = Coarse("probability", cell, low, high, total, losses, rest)
        neg, pos = self.count[0, cell], self.count[1, cell]
        middle = coarse.middle.astype(self.dtype)
        return Tally(middle, neg, pos, neg, pos, kind, self.origin, coarse)


def _side(t: Tally, cell: Any, start: Any, side: int) -> Any:
    """What one class adds: cells, rows, ends, limbs and losses; None where limbs do not suffice."""
    w = t.pos if side else t.neg
    which = np.flatnonzero(w)
    s, many = t.score[which].astype(np.float64, copy=False), None if t.distinct else w[which]
    first = np.searchsorted(which, start)
    last = np.append(first[1:], len(which))
    there = last > first
    at, first, last = cell[there], first[there], last[there]
    if not len(at):
        return at, *(np.empty(0) for _ in range(3)), [], {}
    cuts = np.unique(np.searchsorted(first, np.arange(0, len(s), _BLOCK)))
    cuts = cuts[cuts < len(first)].tolist()

    def of_block(runs: tuple[int, int]) -> Any:
        begin, end = first[runs[0]], last[runs[1] - 1]
        own = s[begin:end]
        counts = None if many is None else many[begin:end]
        return _limbs(own, counts, first[runs[0] : runs[1]] - begin), _losses(
            own, counts, bool(side)
        )

    blocks = on_threads(of_block, list(zip(cuts, [*cuts[1:], len(first)], strict=True)))
    if any(limbs is None for limbs, _ in blocks):
        return None
    limbs = [np.concatenate([b[k] for b, _ in blocks]) for k in range(LIMBS)]
    losses = {x: sum((made[x] for _, made in blocks), NOTHING) for x in LOSSES}
    count = last - first if many is None else add_runs(many, first)
    return at, count, s[first], s[last - 1], limbs, losses


def _limbs(s: Floats, many: Any, start: Any) -> list[Any] | None:
    """Sums of runs of scores as whole numbers of 2^-30, 2^-60, ...; None where that leaves something."""
    left, found = s, []
    for _ in range(LIMBS):
        left = left * float(1 << BITS)
        whole = np.floor(left)
        left -= whole
        each = whole if many is None else whole * many
        found.append(np.add.reduceat(each, start).astype(np.int64))
    return None if left.any() else found


def _losses(s: Floats, many: Any, positive: bool) -> dict[Loss, Moments]:
    """The moments of each loss of scores of one class."""
    log = charge(s, "probability", "log", positive)
    found: dict[Loss, Floats] = {
        "log": log,
        "log clipped": clipped(log),
        "brier": charge(s, "probability", "brier", positive),
        "spherical": charge(s, "probability", "spherical", positive),
    }
    return {loss: Moments.of(x, many, many) for loss, x in found.items()}
