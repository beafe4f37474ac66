"""Can the scores be read as probabilities? Proper scores: log loss and Brier."""

from __future__ import annotations

import math

from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.losses import mean_loss
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.chances import why_not_probable
from scorewise.tallies.coarse import loss_moments
from scorewise.tallies.losses import CLIP, Loss, Moments


@measure(group="probability", better="low", bounds=(0.0, math.inf), title="Log loss")
def log_loss(t: Tally, *, clip: float | None = None, level: float = 0.95) -> Estimate:
    """Mean of -log of the probability given to what happened (negative log likelihood).

    Infinite as soon as a certain prediction is wrong, unless `clip=1e-15` (or another) is asked for.
    Normal interval on the log scale. The baseline is the best constant, the prevalence.

    >>> log_loss(Tally.of([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1]))
    0.236 [0.015, 3.810]
    >>> log_loss(Tally.of([1, 0, 1, 0], [0.0, 0.2, 0.6, 0.1]))
    inf: a certain prediction was wrong in 1 row; pass clip=1e-15 to bound its loss
    """
    if clip is not None and not 0 < clip < 0.5:
        raise BadInput(f"clip={clip:g} is not between 0 and 0.5; 1e-15 is usual")
    if why := why_not_probable(t):
        return Estimate.undefined(why, level)
    p = t.positives / (t.positives + t.negatives)
    baseline = -sum(x * math.log(x) for x in (p, 1 - p) if x)
    wrong = _certain_and_wrong(t)
    if wrong and clip is None:
        rows = (
            f"{wrong:g} row{'s' * (wrong != 1)}" if not t.weighted else f"rows of weight {wrong:g}"
        )
        why = f"a certain prediction was wrong in {rows}; pass clip=1e-15 to bound its loss"
        return Estimate(math.inf, level=level, why=why, baseline=baseline)
    return _mean(t, "log" if clip is None else "log clipped", level, baseline, clip)


@measure(group="probability", better="low", title="Brier score")
def brier(t: Tally, *, level: float = 0.95) -> Estimate:
    """Mean squared distance of the probability from what happened (0 or 1).

    The binary convention, from 0 to 1; the sum over both classes is twice that. Normal interval on the
    log scale. The baseline is the best constant, the prevalence: p (1 - p).

    >>> brier(Tally.of([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1]))
    0.055 [0.000668, 1.000]
    """
    if why := why_not_probable(t):
        return Estimate.undefined(why, level)
    p = t.positives / (t.positives + t.negatives)
    return _mean(t, "brier", level, p * (1 - p), None)


def _certain_and_wrong(t: Tally) -> float:
    """Weight of positives at probability 0 and of negatives at probability 1."""
    if t.kind == "logit":
        return 0.0
    if t.coarse is None:
        low, high = t.score[:1], t.score[-1:]
    else:
        low, high = t.coarse.low[1, :1], t.coarse.high[0, -1:]
    return float(t.pos[:1][low == 0].sum() + t.neg[-1:][high == 1].sum())


def _moments(t: Tally, loss: Loss, clip: float | None) -> tuple[Moments, Moments]:
    if t.coarse is None:
        return loss_moments(t, loss) if clip is None else loss_moments(t, loss, clip=clip)
    if clip not in (None, CLIP):
        raise BadInput(f"a coarse tally knows log loss unclipped or with clip={CLIP:g} only")
    return t.coarse.losses[loss]


def _mean(t: Tally, loss: Loss, level: float, baseline: float, clip: float | None) -> Estimate:
    sums = _moments(t, loss, clip)
    most = 1.0 if loss == "brier" else math.inf
    return mean_loss(sums, (t.negatives, t.positives), t.squares, level, baseline, most)
