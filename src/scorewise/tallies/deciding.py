"""From a tally to decisions: a threshold, the interval of scores around it, and the confusion.

A score is compared in its own precision: the threshold is rounded to 32 bits where the scores have 32, as
numpy, torch, polars and pandas do. So the 32-bit score 0.7 is at the threshold 0.7, not a hair below it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorewise.errors import BadInput
from scorewise.tallies.confusion import Confusion
from scorewise.tallies.losses import expit

if TYPE_CHECKING:
    from scorewise.tallies.tally import Tally


class Cut(NamedTuple):
    """A threshold, and the scores `above` < s <= `upto` that give the same decisions as it."""

    threshold: float
    above: float
    upto: float


def cut(t: Tally, threshold: float) -> Cut:
    """The threshold with the whole interval of scores that gives the same decisions."""
    raw = on_their_scale(t, threshold)
    if t.coarse is None:
        low, high = t.score, t.score
    else:
        low, high = t.coarse.low.min(0), t.coarse.high.max(0)
    below, reached = int(np.searchsorted(high, raw)), int(np.searchsorted(low, raw))
    ends = [-np.inf if not below else high[below - 1], *low[reached:][:1], np.inf][:2]
    above, upto = (_written(x, t) for x in ends)
    # in the precision of the scores the threshold is never above the score that reaches it
    return Cut(threshold, above, max(upto, threshold))


def _written(score: Any, t: Tally) -> float:
    """A score as a threshold: a probability for logits, and 0.7 rather than 0.699999988 for 32 bits."""
    if t.kind == "logit":
        return float(expit(np.array([score], np.float64))[0])
    return float(str(t.score.dtype.type(score)))


def confusion(t: Tally, threshold: float) -> Confusion:
    """Decisions against labels at a threshold."""
    raw = on_their_scale(t, threshold)
    names = t.origin.negative, t.origin.positive
    if t.coarse is not None:
        return _split_confusion(t, raw, names)
    i = int(np.searchsorted(t.score, raw))
    sides = [[w[:i].sum(), w[i:].sum()] for w in (t.neg, t.pos, t.neg2, t.pos2)]
    return Confusion(np.array(sides[:2]), np.array(sides[2:]), names)


def _split_confusion(t: Tally, raw: Any, names: tuple[str, str]) -> Confusion:
    """The same for a coarse tally: cells that hold the threshold are split in the middle."""
    assert t.coarse is not None
    low, high = t.coarse.low, t.coarse.high
    share = np.where(low >= raw, 1.0, np.where(high < raw, 0.0, 0.5))
    w, w2 = np.stack([t.neg, t.pos]), np.stack([t.neg2, t.pos2])
    doubt = ((share == 0.5) * w).sum(1)
    if not doubt.any():
        share = share.astype(w.dtype)
    sides = [np.stack([((1 - share) * v).sum(1), (share * v).sum(1)], 1) for v in (w, w2)]
    return Confusion(sides[0], sides[1], names, (float(doubt[0]), float(doubt[1])))


def on_their_scale(t: Tally, threshold: float) -> Any:
    """A threshold on the scale and in the precision of the scores; of logits it is a probability."""
    if math.isnan(threshold):
        raise BadInput("threshold is NaN; pass a number")
    raw = np.float64(threshold)
    if t.kind == "logit":
        if not 0 <= threshold <= 1:
            raise BadInput(
                f"threshold {threshold:g} is not a probability; for logits it has to be one"
            )
        with np.errstate(divide="ignore"):
            raw = np.log(raw) - np.log1p(-raw)
    with np.errstate(over="ignore"):  # beyond the range of 32 bits it is infinite
        return t.score.dtype.type(raw)
