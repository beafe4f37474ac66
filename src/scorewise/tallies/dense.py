"""A coarse tally that grows in place: sums over the cells of the grid on [0, 1], all of them at hand.

Batches of counted rows are added without making a tally of each. The sums of scores are kept as whole
numbers of 2^-30, 2^-60, 2^-90 and 2^-120, which are exact for scores from 2^-67 (7e-21) up; a batch with
smaller ones is left to the general way.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns import Kind
from scorewise.tallies.coarse import Coarse, Origin, cells_of, probability_edges
from scorewise.tallies.exact import BITS, from_limbs
from scorewise.tallies.losses import CLIP, LOSSES, NOTHING, Loss, Moments, charge
from scorewise.tallies.sorting import add_runs, on_threads
from scorewise.tallies.tally import Tally
from scorewise.tallies.weights import rest_of

LIMBS = 4
_BLOCK = 1 << 15
_EXACT = 1 << 22  # rows whose sums of limbs are exact as floats
_MOST = 1 << 32  # rows whose sums of limbs fit 64 bits


class Dense:
    """Sums over all cells of the grid "probability", to which counted probabilities are added."""

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
        "log clipped": np.clip(log, -np.log1p(-CLIP), -np.log(CLIP)),
        "brier": charge(s, "probability", "brier", positive),
        "spherical": charge(s, "probability", "spherical", positive),
    }
    return {loss: Moments.of(x, many, many) for loss, x in found.items()}
