"""What a coarse tally leaves open: the worst and the best order that its cells allow."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.errors import BadInput
from scorewise.tallies.coarse import loss_moments
from scorewise.tallies.losses import CLIP, Loss, Moments
from scorewise.tallies.sorting import Numbers, once
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


# The mean loss of a tally of probabilities, and what it is made of.


@once
def moments(t: Tally, loss: Loss, clip: float | None) -> tuple[Moments, Moments]:
    """Moments of the finite losses of the negatives and of the positives; exact for coarse tallies."""
    if t.coarse is None:
        return loss_moments(t, loss) if clip is None else loss_moments(t, loss, clip=clip)
    if clip not in (None, CLIP):
        raise BadInput(f"a coarse tally knows log loss unclipped or with clip={CLIP:g} only")
    return t.coarse.losses[loss]


def certain_and_wrong(t: Tally) -> float:
    """Weight of positives at probability 0 and of negatives at probability 1."""
    if t.kind == "logit":
        return 0.0
    if t.coarse is None:
        low, high = t.score[:1], t.score[-1:]
    else:
        low, high = t.coarse.low[1, :1], t.coarse.high[0, -1:]
    return float(t.pos[:1][low == 0].sum() + t.neg[-1:][high == 1].sum())


def why_infinite(t: Tally) -> str:
    """Why log loss that is not clipped is infinite, or nothing."""
    wrong = certain_and_wrong(t)
    if not wrong:
        return ""
    rows = f"{wrong:g} row{'s' * (wrong != 1)}" if not t.weighted else f"rows of weight {wrong:g}"
    return f"a certain prediction was wrong in {rows}; pass clip=1e-15 to bound its loss"


def check_clip(clip: float | None) -> None:
    """Refuse a distance from 0 and 1 that is none."""
    if clip is not None and not 0 < clip < 0.5:
        raise BadInput(f"clip={clip:g} is not between 0 and 0.5; 1e-15 is usual")


def mean_loss(t: Tally, loss: Loss, clip: float | None = None) -> float:
    """The mean loss; infinite where a certain prediction was wrong and nothing is clipped.

    >>> round(mean_loss(Tally.of([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1]), "brier"), 6)
    0.055
    """
    if loss == "log" and certain_and_wrong(t):
        return math.inf
    neg, pos = moments(t, loss, clip)
    return (neg.first + pos.first) / (t.negatives + t.positives)
