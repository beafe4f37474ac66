"""Windows over incoming rows: all of them, the latest, or weights that decay.

Each window keeps tallies, never rows for long: an `Accumulator` gathers checked rows and folds them into
its tally when there are enough, which is coarse once it has more distinct scores than a grid has cells.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from scorewise.columns import Rows
from scorewise.engines.sums import concatenated
from scorewise.errors import BadInput
from scorewise.tallies import Tally
from scorewise.tallies.exact import COLUMNS
from scorewise.tallies.losses import Moments

MAX_WAITING_ROWS = 1 << 18  # rows that are gathered before they are folded into cells
# and batches, of which one of a single row takes far more memory than the row
MAX_WAITING_BATCHES = 1 << 13
MAX_EXACT_SCORES = 1 << 16  # distinct scores up to which a tally stays exact
MAX_POWER = 64  # powers of two between the newest row and what is too light to keep
SCORE = "score"


class Accumulator:
    """A tally to which rows are added."""

    def __init__(self) -> None:
        self.total = Tally.empty()
        self.waiting: list[Rows] = []
        self.size = 0

    def add(self, rows: Rows) -> None:
        """Take checked rows."""
        self.waiting.append(rows)
        self.size += len(rows)
        if self.size >= MAX_WAITING_ROWS or len(self.waiting) >= MAX_WAITING_BATCHES:
            self.tally()

    def merge(self, t: Tally) -> None:
        """Take the rows of a tally."""
        total = self.total + t
        self.total = total.coarsen() if len(total.score) > MAX_EXACT_SCORES else total

    def tally(self) -> Tally:
        """The tally of all rows so far."""
        if self.waiting:
            # whatever the order in which threads came, rows are called the same
            rows = sorted(
                self.waiting, key=lambda r: (r.labels.rule == "no rows", r.labels.negative)
            )
            t = Tally.of_rows(concatenated(rows), SCORE)
            self.waiting, self.size = [], 0
            self.merge(t.unlabelled())
        return self.total


class Sliding:
    """The latest rows, by number or by time: a ring of tallies, of which whole ones are dropped.

    `length` is how many rows or seconds count at least, `width` what one of the parts holds. At any time
    there are between `length` and `length + width` of them; an endless time keeps all rows.
    """

    def __init__(self, length: float, parts: int, timed: bool) -> None:
        self.length, self.timed = length, timed
        self.width: Any = length / parts if timed else math.ceil(length / parts)
        self.ring: dict[int, Accumulator] = {}
        self.seen = 0

    def add(self, rows: Rows, now: float) -> None:
        """Take checked rows; those that fill up a part begin the next."""
        starts = [0]
        if not self.timed:
            starts += range(self.width - self.seen % self.width, len(rows), self.width)
        for _, part in _cut(rows, starts):
            slot = math.floor((now if self.timed else self.seen) / self.width)
            self.ring.setdefault(slot, Accumulator()).add(part)
            self.seen += len(part)
            self._drop(now)

    def _drop(self, now: float) -> None:
        since = (now if self.timed else self.seen) - self.length
        for slot in [slot for slot in self.ring if (slot + 1) * self.width <= since]:
            del self.ring[slot]

    def tallies(self, now: float) -> list[Tally]:
        """The tallies of the parts, the oldest first."""
        self._drop(now)
        return [self.ring[slot].tally() for slot in sorted(self.ring)]

    def merge(self, other: Sliding, now: float) -> None:
        """Take the rows of another, part by part."""
        if not self.timed:
            raise BadInput(
                "windows of rows cannot be merged, as nothing says which rows of both are the latest; add "
                "their snapshots, or take a window of time"
            )
        for slot, part in other.ring.items():
            self.ring.setdefault(slot, Accumulator()).merge(part.tally())
        self._drop(now)


class Decaying:
    """All rows, each weighing half as much after each half-life.

    A row weighs 2^(place / half-life), place being its number or the time, so that old rows need not be
    touched (forward decay, Cormode et al. 2009); all are scaled back by a power of two, which changes no
    digit, before weights become large. What then weighs less than 2^-64 of what was new is dropped.
    """

    def __init__(self, half_life: float, timed: bool) -> None:
        self.half_life, self.timed = half_life, timed
        self.part = Accumulator()
        self.seen, self.newest = 0, -math.inf
        self.base: int | None = None

    def add(self, rows: Rows, now: float) -> None:
        """Take checked rows, the last of which is the newest."""
        if not len(rows):
            self.part.add(rows)
            return
        place = np.full(len(rows), now) if self.timed else self.seen + np.arange(float(len(rows)))
        self.seen += len(rows)
        step = max(1, int(self.half_life * MAX_POWER)) if not self.timed else len(rows)
        for at, part in _cut(rows, range(0, len(rows), step)):
            power = place[at] / self.half_life
            self._rebase(float(power[-1]))
            assert self.base is not None
            weight = np.exp2(power - self.base) * (1.0 if part.weight is None else part.weight)
            names = replace(part.names, weight="decayed weight")
            self.part.add(replace(part, weight=weight, names=names))
            self.newest = max(self.newest, float(power[-1]))

    def _rebase(self, power: float) -> None:
        """Scale all weights back, so that none exceeds 2^64."""
        if self.base is None:
            self.base = math.floor(power)
        shift = math.floor(power) - self.base
        if shift > MAX_POWER:
            t = self.part.tally()
            # what the rows of the newest age weighed, in all: the unit of weight, whatever the user's is
            unit = (t.negatives + t.positives) * 2.0 ** (self.base - self.newest)
            self.part.total = _without_traces(scaled(t, -shift), 2.0**-MAX_POWER * unit)
            self.base += shift

    def tallies(self, now: float) -> list[Tally]:
        """The tally, scaled so that the newest row has its own weight."""
        if self.base is None:
            return [self.part.tally()]
        return [scaled(self.part.tally(), self.base - self.newest)]

    def merge(self, other: Decaying, now: float) -> None:
        """Take the rows of another."""
        if not self.timed:
            raise BadInput(
                "windows that decay by rows cannot be merged, as nothing says which rows of both are the "
                "latest; add their snapshots, or let them decay by time"
            )
        if other.base is None:
            self.part.merge(other.part.tally())
            return
        self._rebase(other.newest)
        assert self.base is not None
        self.part.merge(scaled(other.part.tally(), other.base - self.base))
        self.newest = max(self.newest, other.newest)


Window: TypeAlias = Sliding | Decaying


def _cut(rows: Rows, starts: Sequence[int]) -> Iterator[tuple[slice, Rows]]:
    """The parts of a batch that begin there; what was dropped from it is counted once."""
    for begin, end in pairwise([*starts, len(rows)]):
        at = slice(begin, end)
        part = rows if len(starts) == 1 else rows.at(at)
        yield at, replace(part, dropped=0) if begin else part


def scaled(t: Tally, power: float) -> Tally:
    """The tally with all weights times 2^power."""
    f = 2.0 ** max(power, -500.0)
    g = f * f
    coarse = t.coarse
    if coarse is not None:
        sums: Any = {
            loss: tuple(Moments(m.first * f, m.square * g, m.second * g) for m in both)
            for loss, both in coarse.losses.items()
        }
        coarse = replace(coarse, sum=coarse.sum * f, losses=sums, rest=None)
    columns = {"neg": t.neg * f, "pos": t.pos * f, "neg2": t.neg2 * g, "pos2": t.pos2 * g}
    return replace(t, coarse=coarse, rest=None, **columns)


def _without_traces(t: Tally, least: float) -> Tally:
    """The tally without weights of a class in a cell that are no more than `least`."""
    enough = np.stack((t.neg, t.pos)) > least
    used = enough.any(0)
    columns: Any = {
        name: np.where(enough[k % 2], getattr(t, name), 0.0)[used] for k, name in enumerate(COLUMNS)
    }
    score, coarse = t.score[used], t.coarse
    if coarse is not None:
        nothing = {"low": np.inf, "high": -np.inf, "sum": 0.0}
        ends: Any = {
            name: np.where(enough, getattr(coarse, name), x)[:, used] for name, x in nothing.items()
        }
        coarse = replace(coarse, cell=coarse.cell[used], rest=None, **ends)
        score = coarse.middle.astype(score.dtype)
    return replace(t, score=score, coarse=coarse, rest=None, **columns)
