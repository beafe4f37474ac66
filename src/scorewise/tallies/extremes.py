"""What a coarse tally leaves open: the order within its cells, and bins that cells lie across.

The grid of probabilities has the edges of the usual numbers of equal bins, and leaves these exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.tallies.losses import unit
from scorewise.tallies.probabilities import Binning, Chances, Convention, bin_index, chances
from scorewise.tallies.sorting import Numbers
from scorewise.tallies.tally import Tally


def order_within(t: Tally) -> NDArray[np.int8]:
    """For each cell: 1 if its positives lie above its negatives, -1 if below or tied, 0 if unknown."""
    if t.coarse is None:
        return np.full(len(t.score), -1, np.int8)
    (neg_low, pos_low), (neg_high, pos_high) = t.coarse.low, t.coarse.high
    below = (pos_high < neg_low) | tied_within(t)
    return np.where(below, -1, np.where(pos_low > neg_high, 1, 0)).astype(np.int8)


def tied_within(t: Tally) -> NDArray[np.bool_]:
    """Whether all scores of a cell are one and the same."""
    if t.coarse is None:
        return np.ones(len(t.score), np.bool_)
    return np.asarray(t.coarse.low.min(0) == t.coarse.high.max(0))


def extremes(t: Tally) -> tuple[Tally, Tally]:
    """Tallies whose ROC curves run below and above the unknown exact one.

    Each cell is cut in two, with all its negatives above its positives, or below.

    >>> worst, best = extremes(Tally.of([1, 0, 1], [0.500001, 0.500002, 0.500003]).coarsen())
    >>> worst.pos, best.pos
    (array([2, 0]), array([0, 2]))
    """
    order, tied = order_within(t), tied_within(t)
    return _arranged(t, (order == 1), tied), _arranged(t, (order >= 0), tied)


def _arranged(t: Tally, pos_above: NDArray[np.bool_], tied: NDArray[np.bool_]) -> Tally:
    neg_up, pos_up = ~pos_above & ~tied, pos_above & ~tied
    neg, neg2 = (_halves(w, neg_up) for w in (t.neg, t.neg2))
    pos, pos2 = (_halves(w, pos_up) for w in (t.pos, t.pos2))
    used = (neg > 0) | (pos > 0)
    score = np.flatnonzero(used).astype(np.float64)
    return Tally(score, neg[used], pos[used], neg2[used], pos2[used], "score", t.origin)


def _halves(w: Numbers, up: NDArray[np.bool_]) -> Any:
    """The lower and the upper half of each cell, one after the other."""
    return np.stack([w * ~up, w * up], 1).ravel()


def certified(t: Tally, value: Callable[[Tally], float]) -> tuple[float, float]:
    """A value that only rises with the ROC curve, and its certified half-width.

    For an exact tally that is the value and 0; for a coarse one the middle between the extremes.
    """
    if t.coarse is None:
        return value(t), 0.0
    worst, best = (value(x) for x in extremes(t))
    return (worst + best) / 2, (best - worst) / 2


def why_open(t: Tally) -> str:
    """Why what depends on each score by itself cannot be said of a coarse tally, or nothing."""
    return "" if bool(tied_within(t).all()) else "the cells of the coarse tally leave it open"


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
    c = chances(t)
    ends = unit(t.coarse.high.max(0), t.kind) - unit(t.coarse.low.min(0), t.kind)
    return float((c.weight * ends).sum() / c.total)


class Parts(NamedTuple):
    """For each bin: the gap and weight surely in it, and what cells across its edges may add."""

    gap: Floats
    weight: Floats
    squares: Floats
    up: Floats
    down: Floats
    more: Floats

    def rates(self) -> tuple[Floats, Floats]:
        """The least and the largest distance of the share of positives from the mean probability."""
        with np.errstate(divide="ignore", invalid="ignore"):
            high = np.maximum(self.gap + self.up, self.down - self.gap) / self.weight
            low = np.maximum(self.gap - self.down, -self.gap - self.up) / (self.weight + self.more)
        none = self.weight <= 0
        return np.where(none, 0.0, low.clip(0, 1)), np.where(none, 1.0, high.clip(0, 1))


def error_limits(
    t: Tally, c: Chances, bins: int, binning: Binning, convention: Convention | None, norm: float
) -> tuple[float, float]:
    """The least and the largest error that the cells allow; from inf to -inf where it is exact."""
    if binning == "value":
        return _limits_of_values(t, c, norm)
    parts = _parts(t, bins, binning, convention)
    if parts is None:
        return math.inf, -math.inf
    low, high = parts.rates()
    if math.isinf(norm):
        return float(low.max()), float(high.max())
    share = [w / c.total for w in (parts.weight, parts.weight + parts.more)]
    least, most = (
        float((m * r**norm).sum() ** (1 / norm)) for m, r in zip(share, (low, high), strict=True)
    )
    return least, min(1.0, most)


def _limits_of_values(t: Tally, c: Chances, norm: float) -> tuple[float, float]:
    """The same where each score is a bin: of a cell, all rows may lie on one score or each on its own."""
    if t.coarse is None or (tied := tied_within(t)).all():
        return math.inf, -math.inf
    low, high = unit(t.coarse.low.min(0), t.kind), unit(t.coarse.high.max(0), t.kind)
    pos, neg = t.pos.astype(float), t.neg.astype(float)
    together = np.abs(c.gap) / c.weight
    above, below = np.where(tied, together, 1 - low), np.where(tied, together, high)
    if math.isinf(norm):
        apart = np.maximum(np.where(pos > 0, above, 0.0), np.where(neg > 0, below, 0.0))
        return float(together.max()), float(apart.max())
    least, most = (
        float((x / c.total).sum() ** (1 / norm))
        for x in (c.weight * together**norm, pos * above**norm + neg * below**norm)
    )
    return least, min(1.0, most)


def debiased_limits(t: Tally, c: Chances, bins: int, binning: Binning) -> tuple[float, float]:
    """The same of the debiased squared error."""
    parts = _parts(t, bins, binning, None)
    if parts is None:
        return math.inf, -math.inf
    low, high = parts.rates()
    share = parts.weight / c.total, (parts.weight + parts.more) / c.total
    rows = np.divide(parts.weight**2, parts.squares, out=np.zeros(len(low)), where=parts.weight > 0)
    noise = np.where(parts.more > 0, 0.25 / np.maximum(rows - 1, 0.25), 0.0)
    raw = parts.gap / np.where(parts.weight > 0, parts.weight, 1.0)
    sure = _noise_of_sure_bins(t, parts, bins, raw, rows)
    # a bin that has one row, or may have, counts as 0
    least = share[0] * np.where((parts.more > 0) & (rows < 2), 0.0, low**2) - share[1] * noise
    most = share[1] * high**2
    exact = parts.more == 0
    least, most = (np.where(exact, share[0] * sure, x) for x in (least, most))
    return float(least.sum()), float(min(1.0, most.sum()))


def _noise_of_sure_bins(t: Tally, parts: Parts, bins: int, rate: Floats, rows: Floats) -> Floats:
    """The debiased squared gap of each bin, for those that no cell may join."""
    c = chances(t)
    index = bin_index(bins, None, t.score.dtype)(c.p)
    mean = np.bincount(index, c.sum, minlength=len(rate)) / np.where(
        parts.weight > 0, parts.weight, 1
    )
    share = np.clip(mean + rate, 0.0, 1.0)
    several = rows > 1 + 1e-9
    noise = share * (1 - share) / np.where(several, rows - 1, np.inf)
    return np.where(several, rate * rate - noise, 0.0)


def _parts(t: Tally, bins: int, binning: Binning, convention: Convention | None) -> Parts | None:
    if t.coarse is None or binning != "width":
        return None
    c = chances(t)
    low, high = unit(t.coarse.low.min(0), t.kind), unit(t.coarse.high.max(0), t.kind)
    index = bin_index(bins, convention, t.score.dtype)
    first, last = index(low), index(high)
    across = first != last
    if not across.any():
        return None
    n = int(last.max()) + 1
    sure = ~across
    gap, weight, squares = (
        np.bincount(first[sure], x[sure], n).astype(float) for x in (c.gap, c.weight, c.squares)
    )
    up, down, more = np.zeros(n), np.zeros(n), np.zeros(n)
    pos, neg = t.pos.astype(float), t.neg.astype(float)
    for i in np.flatnonzero(across):
        at = slice(first[i], last[i] + 1)
        up[at] += pos[i] * (1 - low[i])
        down[at] += neg[i] * high[i]
        more[at] += pos[i] + neg[i]
    return Parts(gap, weight, squares, up, down, more)
