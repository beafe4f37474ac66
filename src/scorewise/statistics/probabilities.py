"""A tally read as probabilities: cells and bins that calibration is judged from, and the mean loss.

Cells are at most some 70,000. Bins have equal width or equal mass, are one for each value, or lie as
other packages cut them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats, Ints
from scorewise.checks import check, one_of
from scorewise.columns.rows import nearly_inside
from scorewise.computing import on_threads, once
from scorewise.errors import BadInput, Option
from scorewise.tallies.coarse import EQUAL_CELLS, loss_moments, probability_edges
from scorewise.tallies.losses import CLIP, Loss, Moments, logit, unit
from scorewise.tallies.runs import add_runs, first_of_runs, index_of_middles, middles
from scorewise.tallies.tally import Tally

MAX_CELLS = 1 << 16
_PART = 1 << 16  # scores that are added up at a time
_EDGES = 1 << 12  # edges of cells that are found at a time
Binning = Literal["width", "mass", "value"]
Convention = Literal["sklearn", "netcal", "torchmetrics", "relplot", "jordyvl"]
Index = Callable[[NDArray[np.floating]], Ints]  # the bin of each probability; never decreasing


@dataclass(frozen=True)
class ProbabilityCells:
    """Cells from the lowest probability up, each with sums over its rows of weight w and chance p.

    `weight` is the sum of w, `squares` of w^2, `pos` of w over the positives, `sum` of w p. `noise` is
    the variance of `pos` if the scores are calibrated: w^2 p (1 - p) with the mean p of the cells that
    were made first, which on the fixed grid are too narrow for more than five digits to change.
    `low` is the least p of a cell. Of joined cells, `finer` are those that they were joined from, and
    `first` the places there at which they begin.

    >>> c = probability_cells(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
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
    finer: ProbabilityCells | None = None
    first: Ints | None = None

    @cached_property
    def p(self) -> Floats:
        """The mean probability of each cell."""
        return self.sum / self.weight

    @cached_property
    def gap(self) -> Floats:
        """How much weight of positives each cell has beyond what its probabilities say."""
        return self.pos - self.sum

    @cached_property
    def rows(self) -> Floats:
        """The number of equal rows that each cell is worth."""
        worth: Floats = np.zeros(len(self))
        return np.divide(self.weight**2, self.squares, out=worth, where=self.squares > 0)

    @cached_property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.weight.sum())

    @cached_property
    def middles(self) -> tuple[Floats, Any]:
        """Twice the weight up to the middle of each cell, and twice the whole."""
        return middles(self.weight)

    def __len__(self) -> int:
        return len(self.low)

    def at_most(self, cells: int) -> ProbabilityCells:
        """The same with neighbouring cells joined to at most so many of about equal mass."""
        return self.joined(equal_mass(self, cells) if len(self) > cells else np.arange(len(self)))

    def joined(self, start: Ints) -> ProbabilityCells:
        """The same with neighbouring cells joined to runs that begin at `start`."""
        w, w2, pos, total, noise = (add_runs(column, start) for column in self.columns[1:])
        first = start if self.first is None else self.first[start]
        finer = self if self.finer is None else self.finer
        return ProbabilityCells(
            self.low[start], w, w2, pos, total, noise, self.weighted, finer, first
        )

    def shifted(self, by: Floats) -> ProbabilityCells:
        """The same with the chances of each cell moved by so much, where there is room."""
        if self.finer is None or self.first is None:
            total = np.clip(self.sum + by * self.weight, 0.0, self.weight)
            p = total / self.weight
            return replace(self, sum=total, noise=self.squares * p * (1 - p))
        length = np.diff(self.first, append=len(self.finer))
        finer = self.finer.shifted(np.repeat(by, length))
        total, noise = (add_runs(c, self.first) for c in (finer.sum, finer.noise))
        return replace(self, sum=total, noise=noise, finer=finer)

    def part(self, used: slice | NDArray[np.bool_]) -> ProbabilityCells:
        """Some of the cells, by themselves."""
        low, w, w2, pos, total, noise = (column[used] for column in self.columns)
        return ProbabilityCells(low, w, w2, pos, total, noise, self.weighted)

    @property
    def columns(self) -> tuple[Floats, ...]:
        """The sums, from `low` to `noise`."""
        return self.low, self.weight, self.squares, self.pos, self.sum, self.noise


@once
def probability_cells(t: Tally) -> ProbabilityCells:
    """The cells of a tally of probabilities or logits; made once and kept with the tally.

    Up to 65,536 distinct scores each has a cell of its own; more are joined on the fixed grid of
    probabilities, whose edges contain i/B for the usual numbers of bins, with exact sums.
    """
    if t.coarse is None:
        return run_sums(t, cell_starts(t))
    w, w2 = ((a + b).astype(float) for a, b in ((t.neg, t.pos), (t.neg2, t.pos2)))
    low = t.coarse.ends(t.kind)[0]
    return _with_noise(low, w, w2, t.pos.astype(float), t.coarse.sum.sum(0), t.weighted)


@once
def cell_starts(t: Tally) -> Ints:
    """Where in an exact tally's scores the cells begin: at each of them, or at edges of the grid."""
    n = len(t.score)
    if n <= MAX_CELLS:
        return np.arange(n)
    edges = probability_edges()
    if t.kind == "logit":
        edges = logit(edges)
    edges = edges.astype(t.score.dtype)
    parts = [edges[i : i + _EDGES] for i in range(0, len(edges), _EDGES)]
    first = np.concatenate(on_threads(lambda part: np.searchsorted(t.score, part), parts))
    first = first[first < n]
    return first[first_of_runs(first)]


def run_sums(t: Tally, start: Ints) -> ProbabilityCells:
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

    parts = on_threads(part, range(0, len(start), size))
    low, w, w2, pos, total = np.concatenate(parts, axis=1) if parts else np.empty((5, 0))
    return _with_noise(low, w, w2, pos, total, t.weighted)


def _with_noise(
    low: Floats, w: Floats, w2: Floats, pos: Floats, total: Floats, weighted: bool
) -> ProbabilityCells:
    # a sum may round to slightly beyond certainty
    p = np.clip(total / w, 0.0, 1.0)
    return ProbabilityCells(low, w, w2, pos, total, w2 * p * (1 - p), weighted)


def displacement(t: Tally) -> float:
    """Mean over rows of the most by which their probability may differ from their cell's mean.

    0 for an exact tally, and where each cell of a coarse one holds one score.

    >>> displacement(Tally.of([0, 1], [0.1, 0.7]).coarsen())
    0.0
    >>> f"{displacement(Tally.of([0, 1], [0.1, 0.10001]).coarsen()):.0e}"
    '1e-05'
    """
    if t.coarse is None:
        return 0.0
    c = probability_cells(t)
    low, high = t.coarse.ends(t.kind)
    return float((c.weight * (high - low)).sum() / c.total)


def why_not_probabilities(t: Tally) -> str:
    """Why the scores cannot be read as probabilities, or nothing."""
    if not t.positives and not t.negatives:
        return "no rows"
    if t.kind != "score":
        return ""
    low, high = t.ends
    if low >= 0 and high <= 1:
        return "the kind of the scores is declared as score, not probability"
    if nearly_inside(low, high):
        way_out = "declare their kind as probability to take them as 0 or 1"
        return f"scores {t.written_ends} leave [0, 1] by rounding; {way_out}"
    percent = (
        "if they are percentages, divide them by 100; " if low >= 0 and 10 < high <= 100 else ""
    )
    way_out = f"{percent}if they are logits, declare their kind as logit"
    return f"scores {t.written_ends} are not probabilities; {way_out}"


def check_bins(bins: int, binning: str, convention: str | None) -> None:
    """Refuse what names no bins."""
    check(bins=bins)
    one_of("binning", binning, get_args(Binning))
    one_of("convention", convention, (None, *get_args(Convention)))
    if convention is not None and binning != "width":
        raise BadInput(f"convention={convention!r} has bins of equal width; leave out binning")


@once
def binned(
    t: Tally, bins: int = 15, binning: Binning = "width", convention: Convention | None = None
) -> ProbabilityCells:
    """The sums over each bin that is not empty, made once and kept with the tally.

    Bins of equal width are [i/B, (i + 1)/B), the last closed. Bins of equal mass never split a score,
    nor, beyond 65,536 distinct scores, a cell of the fixed grid. Bins of single values split every cell of
    an exact tally.

    >>> binned(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.5, 0.1]), bins=2).weight
    array([2., 2.])
    """
    check_bins(bins, binning, convention)
    c, bins = probability_cells(t), int(bins)
    if binning == "value" and t.coarse is None and len(t.score) > MAX_CELLS:
        return run_sums(t, np.arange(len(t.score)))
    if binning == "value" or not len(c):
        return c
    if binning == "mass":
        return c.joined(equal_mass(c, bins))
    index = bin_index(bins, convention, t.score.dtype)
    apart = t.coarse is not None or len(t.score) <= MAX_CELLS
    # edges are rounded for logits and for scores of 32 bits, and cells then lie across those of bins
    exact = t.kind == "probability" and t.score.dtype == np.float64
    if apart or (exact and convention is None and EQUAL_CELLS % bins == 0):
        # of a coarse cell its mean probability, which rounding must not take out of it
        at = c.low if t.coarse is None else np.clip(c.p, *t.coarse.ends(t.kind))
        return c.joined(first_of_runs(index(at)))
    start = _starts(t, index)
    parts = np.union1d(start, cell_starts(t))
    return run_sums(t, parts).joined(np.searchsorted(parts, start))


def bin_index(bins: int, convention: Convention | None, dtype: np.dtype[np.floating]) -> Index:
    """Which bin of equal width a probability is in, as we cut or as another package does.

    >>> p = np.array([0.0, 0.1, 0.3, 1.0])
    >>> [bin_index(10, c, p.dtype)(p).tolist() for c in (None, "sklearn", "relplot")]
    [[0, 1, 3, 9], [0, 0, 2, 9], [0, 1, 2, 10]]
    """
    if convention == "relplot":
        return lambda p: (p / (1.0 / bins)).astype(np.int64)
    edges: Any = np.linspace(0.0, 1.0, bins + 1)[1:-1]
    if convention is None:
        edges = np.arange(1, bins) / bins
    elif convention == "torchmetrics":
        edges = _torch_edges(bins, dtype)[1:]
    return lambda p: np.searchsorted(edges, p, side="left" if convention == "sklearn" else "right")


def beyond_mean(t: Tally, c: ProbabilityCells, bins: int, convention: Convention | None) -> Floats:
    """What the convention takes off the gap of each bin: jordyvl compares with its upper edge."""
    if convention != "jordyvl":
        return np.zeros(len(c))
    at = c.p if t.coarse is not None else c.low
    upper = np.linspace(0.0, 1.0, bins + 1)[bin_index(bins, convention, t.score.dtype)(at) + 1]
    return upper * c.weight - c.sum


def _torch_edges(bins: int, dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
    """torch.linspace(0, 1, bins + 1): from either end to the middle, in the precision of the scores."""
    step = dtype.type(1) / dtype.type(bins)
    low_edges = [step * dtype.type(i) for i in range((bins + 1) // 2)]
    # torch multiplies and subtracts in one rounding
    left = range(bins - len(low_edges), -1, -1)
    high_edges = [float(1 - Fraction(float(step)) * i) for i in left]
    return np.array([*low_edges, *high_edges], dtype)


def equal_mass(c: ProbabilityCells, bins: int) -> Ints:
    """Where bins of about equal mass begin; each cell is in the bin of the middle of its mass.

    >>> c = probability_cells(Tally.of([1, 0, 1, 0, 1], [0.1, 0.2, 0.2, 0.2, 0.9]))
    >>> equal_mass(c, 2), equal_mass(c, 3)
    (array([0, 1]), array([0, 1, 2]))
    """
    return first_of_runs(index_of_middles(*c.middles, bins))


def _starts(t: Tally, index: Index) -> Ints:
    """The first score of each bin, found by halving: a pass over millions of scores is not needed."""
    n = len(t.score)
    ends = index(unit(t.score[[0, -1]], t.kind))
    wanted = np.arange(ends[0] + 1, ends[1] + 1)
    low, high = np.zeros(len(wanted), np.int64), np.full(len(wanted), n - 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        reached = index(unit(t.score[middle], t.kind)) >= wanted
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.unique(np.concatenate(([0], high)))


@once
def moments(t: Tally, loss: Loss, clip: float | None) -> tuple[Moments, Moments]:
    """Moments of the finite losses of the negatives and of the positives; exact for coarse tallies.

    `clip` is that of log loss.
    """
    if clip is not None:
        loss = "log clipped" if loss == "log" else loss
    if t.coarse is None:
        return loss_moments(t, [loss], CLIP if clip is None else clip)[loss]
    if loss == "log clipped" and clip not in (None, CLIP):
        raise BadInput(
            "a coarse tally knows log loss unclipped or with ", Option("clip", f"{CLIP:g}"), " only"
        )
    return t.coarse.losses[loss]


def why_infinite(t: Tally) -> str:
    """Why log loss that is not clipped is infinite, or nothing; logits never say 0 or 1."""
    if t.coarse is None:
        low, high = t.score[:1], t.score[-1:]
    else:
        low, high = t.coarse.low[1, :1], t.coarse.high[0, -1:]
    wrong = float(t.pos[:1][low == 0].sum() + t.neg[-1:][high == 1].sum())
    if t.kind == "logit" or not wrong:
        return ""
    rows = f"rows of weight {wrong:g}" if t.weighted else f"{wrong:,.0f} row{'s' * (wrong != 1)}"
    return f"a certain prediction was wrong in {rows}; a clip of 1e-15 bounds its loss"
