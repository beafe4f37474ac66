"""The mean loss of a tally of probabilities, and what it is made of."""

from __future__ import annotations

import math

from scorewise.errors import BadInput
from scorewise.tallies.coarse import loss_moments
from scorewise.tallies.losses import CLIP, Loss, Moments
from scorewise.tallies.once import once
from scorewise.tallies.tally import Tally


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
