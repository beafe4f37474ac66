"""Is each class right as often as its probability says? Class by class, on bins of its probability."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.door.rows import one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.class_consistency import drawn_class_gaps
from scorewise.intervals.inversion import Noise, Statistic, inverted
from scorewise.intervals.scales import z
from scorewise.registry import measure
from scorewise.tallies import ClassTally
from scorewise.tallies.chances import Chances
from scorewise.tallies.class_sample import ClassSample, why_no_rows
from scorewise.tallies.marks import Marks
from scorewise.tallies.sorting import add_runs

Floats = NDArray[np.float64]
Binning = Literal["width", "mass"]
Closed = Literal["left", "right"]
_ROWS = 2048  # whose labels are drawn; the value is of all rows


@measure(group="calibration", better="low", title="Class-wise ECE", of="several classes")
def classwise_ece(
    t: ClassTally,
    *,
    bins: int = 15,
    norm: float = 1,
    binning: Binning = "width",
    closed: Closed = "left",
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Mean over the classes of how far the share of a class lies from its probability, bin by bin.

    (1/K sum_k sum_b n_kb/n |ybar_kb - pbar_kb|^norm)^(1/norm), on `bins` of equal width or mass of the
    probabilities of each class (Kull et al. 2019; norm=2: Kumar, Liang and Ma 2019). norm=inf is the
    largest gap of all. Bins hold their left end, [a, b), or with closed="right" their right, (a, b].
    Interval by inverted tests along the observed gaps; labels drawn from each row's own probabilities
    give `expected` and `p`.

    >>> p = np.random.default_rng(1).dirichlet([1, 1, 1], 100)
    >>> e = classwise_ece(ClassTally.of(p.argmax(1), p))
    >>> e, round(e.expected, 3), e.p
    (0.238 [0.209, 0.243], 0.108, 0.001)
    """
    _check(bins, norm, binning, closed)
    z(level)
    if why := why_no_rows(t):
        return Estimate.undefined(why, level)
    if binning == "mass":
        closed = "left"
    binned = [_Binned.of(m, k, bins, binning, closed) for k, m in enumerate(t.each)]
    cells = _stacked([b.cells for b in binned])
    s = ClassSample.of(t, _ROWS)
    first = np.concatenate(([0], np.cumsum([len(b.cells) for b in binned])))
    cell = np.stack([first[k] + b.find(s.p[:, k]) for k, b in enumerate(binned)], axis=1)
    drawn = drawn_class_gaps(s, cell, cells, np.random.default_rng(seed))
    e = inverted(Noise(cells, len(drawn), seed, drawn=drawn), _size(cells, norm), level)
    how = f"inverted tests, {len(drawn)} draws of labels of {len(s):,} rows"
    high = min(e.high, 1.0)
    return Estimate(e.value, e.low, high, level, how, expected=e.expected, p=e.p)


def _check(bins: int, norm: float, binning: str, closed: str) -> None:
    if not isinstance(bins, int) or bins < 1:
        raise BadInput(f"bins={bins} is no number of bins; 15 is usual")
    if not norm >= 1:
        raise BadInput(f"norm={norm} is below 1; the usual are 1, 2 and inf")
    one_of("binning", binning, get_args(Binning))
    one_of("closed", closed, get_args(Closed))


def _size(cells: Chances, norm: float) -> Statistic:
    """The error as a function of gaps that are shares of the whole."""
    share = cells.weight / cells.total
    if norm == 1:
        return lambda gaps: np.abs(gaps).sum(1)
    if math.isinf(norm):
        return lambda gaps: np.abs(gaps / share).max(1)
    return lambda gaps: (share * np.abs(gaps / share) ** norm).sum(1) ** (1 / norm)


class _Binned(NamedTuple):
    """The bins of one class that are not empty: their sums, and the edges between them."""

    cells: Chances
    between: Floats
    closed: Closed

    @classmethod
    def of(cls, m: Marks, k: int, bins: int, binning: Binning, closed: Closed) -> _Binned:
        used = m.weight > 0
        p, true = m.score[used], m.true[used]
        w, w2 = (c[used].astype(float) for c in (m.weight, m.weight2))
        edges = _edges(p, w, bins, binning)
        # of equal probabilities all are in one bin
        start = np.unique(np.concatenate(([0], np.searchsorted(p, edges, side=closed))))
        start = start[start < len(p)]
        sums = (w, w2, np.where(true == k, w, 0.0), w * p, w2 * p * (1 - p))
        cells = Chances(p[start], *(add_runs(c, start) for c in sums))
        between = p[start[1:]] if closed == "left" else p[start[1:] - 1]
        return cls(cells, between, closed)

    def find(self, p: Floats) -> NDArray[np.int64]:
        """In which of these bins each probability lies."""
        side: Closed = "right" if self.closed == "left" else "left"
        return np.searchsorted(self.between, p, side=side)


def _edges(p: Floats, w: Floats, bins: int, binning: Binning) -> Floats:
    """The edges between bins, without the ends."""
    inside = np.arange(1, bins) / bins
    if binning == "width":
        return inside
    reached = np.cumsum(w, dtype=float)
    at = np.searchsorted(reached, inside * reached[-1] * (1 + 1e-12), side="right")
    return np.unique(p[np.minimum(at, len(p) - 1)])


def _stacked(parts: list[Chances]) -> Chances:
    names = ("low", "weight", "squares", "pos", "sum", "noise")
    low, weight, squares, pos, total, noise = (
        np.concatenate([getattr(c, name) for c in parts]) for name in names
    )
    return Chances(low, weight, squares, pos, total, noise)
