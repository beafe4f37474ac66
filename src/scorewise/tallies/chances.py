"""A tally read as probabilities: what calibration is judged from, on at most some 70,000 cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.tallies.grid import probability_edges
from scorewise.tallies.losses import unit
from scorewise.tallies.once import once
from scorewise.tallies.sorting import add_runs, first_of_runs
from scorewise.tallies.tally import Tally

Made = TypeVar("Made")
MOST = 1 << 16
_PART = 1 << 16  # scores that are added up at a time


@dataclass(frozen=True)
class Chances:
    """Cells from the lowest probability up, each with sums over its rows of weight w and chance p.

    `weight` is the sum of w, `squares` of w^2, `pos` of w over the positives, `sum` of w p. `noise` is
    the variance of `pos` if the scores are calibrated: w^2 p (1 - p) with the mean p of the cells that
    were made first, which on the fixed grid are too narrow for more than five digits to change.
    `low` is the least p of a cell. Of joined cells, `finer` are those that they were joined from, and
    `first` the places there at which they begin.

    >>> c = chances(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> c.p, c.gap.round(2)
    (array([0.1, 0.3, 0.8]), array([-0.1,  0.4,  0.2]))
    """

    low: Floats
    weight: Floats
    squares: Floats
    pos: Floats
    sum: Floats
    noise: Floats
    weighted: bool = False
    finer: Chances | None = None
    first: NDArray[np.int64] | None = None

    @property
    def p(self) -> Floats:
        """The mean probability of each cell."""
        return self.sum / self.weight

    @property
    def gap(self) -> Floats:
        """How much weight of positives each cell has beyond what its probabilities say."""
        return self.pos - self.sum

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    def __len__(self) -> int:
        return len(self.low)

    def joined(self, start: NDArray[np.int64]) -> Chances:
        """The same with neighbouring cells joined to runs that begin at `start`."""
        w, w2, pos, total, noise = (
            add_runs(c, start) for c in (self.weight, self.squares, self.pos, self.sum, self.noise)
        )
        first = start if self.first is None else self.first[start]
        finer = self if self.finer is None else self.finer
        return Chances(self.low[start], w, w2, pos, total, noise, self.weighted, finer, first)

    def shifted(self, by: Floats) -> Chances:
        """The same with the chances of each cell moved by so much, where there is room."""
        if self.finer is None or self.first is None:
            total = np.clip(self.sum + by * self.weight, 0.0, self.weight)
            p = total / self.weight
            return replace(self, sum=total, noise=self.squares * p * (1 - p))
        length = np.diff(self.first, append=len(self.finer))
        finer = self.finer.shifted(np.repeat(by, length))
        total, noise = (add_runs(c, self.first) for c in (finer.sum, finer.noise))
        return replace(self, sum=total, noise=noise, finer=finer)

    def part(self, used: slice | NDArray[np.bool_]) -> Chances:
        """Some of the cells, by themselves."""
        names = ("low", "weight", "squares", "pos", "sum", "noise")
        columns = {name: getattr(self, name)[used] for name in names}
        return Chances(**columns, weighted=self.weighted)


@once
def chances(t: Tally) -> Chances:
    """The cells of a tally of probabilities or logits; made once and kept with the tally.

    Up to 65,536 distinct scores each has a cell of its own; more are joined on the fixed grid of
    probabilities, whose edges contain i/B for the usual numbers of bins, with exact sums.
    """
    return _of_coarse(t) if t.coarse is not None else _of_scores(t)


def _of_scores(t: Tally) -> Chances:
    return summed(t, cell_starts(t))


@once
def cell_starts(t: Tally) -> NDArray[np.int64]:
    """Where in an exact tally's scores the cells begin: at each of them, or at edges of the grid."""
    n = len(t.score)
    if n <= MOST:
        return np.arange(n)
    edges = probability_edges()
    if t.kind == "logit":
        with np.errstate(divide="ignore"):
            edges = np.log(edges) - np.log1p(-edges)
    first = np.searchsorted(t.score, edges.astype(t.score.dtype))
    first = first[first < n]
    return first[first_of_runs(first)]


def summed(t: Tally, start: NDArray[np.int64]) -> Chances:
    """Sums over the narrow runs of an exact tally's scores that begin at `start`."""
    ends = np.append(start[1:], len(t.score))
    size = max(1, _PART * len(start) // max(len(t.score), 1))  # cells at a time
    alone = not t.weighted and t.origin.rows == len(t.score)  # a row on each score

    def part(first: int) -> Floats:
        cell, end = start[first : first + size], ends[first : first + size]
        at, inside = slice(cell[0], end[-1]), cell - cell[0]
        p, pos = unit(t.score[at], t.kind), t.pos[at]
        if alone:
            w, total = end - cell, add_runs(p, inside)
        else:
            each = t.neg[at] + pos
            w, total = add_runs(each, inside), add_runs(each * p, inside)
        # counts are their own squares
        w2 = add_runs(t.neg2[at] + t.pos2[at], inside) if t.weighted else w
        return np.stack([p[inside], w, w2, add_runs(pos, inside), total])

    parts = [part(i) for i in range(0, len(start), size)]
    columns = np.concatenate(parts, axis=1) if parts else np.empty((5, 0))
    low, w, w2, pos, total = columns
    return _with_noise(low, w, w2, pos, total, t.weighted)


def _of_coarse(t: Tally) -> Chances:
    assert t.coarse is not None
    w, w2 = ((a + b).astype(float) for a, b in ((t.neg, t.pos), (t.neg2, t.pos2)))
    low = unit(t.coarse.low.min(0), t.kind)
    return _with_noise(low, w, w2, t.pos.astype(float), t.coarse.sum.sum(0), t.weighted)


def _with_noise(
    low: Floats, w: Floats, w2: Floats, pos: Floats, total: Floats, weighted: bool
) -> Chances:
    # a sum may round to a hair beyond certainty
    p = np.clip(total / w, 0.0, 1.0)
    return Chances(low, w, w2, pos, total, w2 * p * (1 - p), weighted)


def why_not_probable(t: Tally) -> str:
    """Why the scores cannot be read as probabilities, or nothing."""
    if not t.positives and not t.negatives:
        return "no rows"
    if t.kind != "score":
        return ""
    low, high = t.ends
    if low >= 0 and high <= 1:
        return 'the scores are said not to be probabilities (kind="score")'
    # all digits where fewer would hide that a score lies outside: -1e-9, 1.0000001
    ends = [f"{x:.4g}" if not -0.01 < x < 1.01 else repr(x) for x in (low, high)]
    return f'scores from {ends[0]} to {ends[1]} are no probabilities; pass kind="logit" if logits'
