"""From a tally to decisions: a threshold, the interval of scores around it, and the confusion."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    raw = _raw(t, threshold)
    if t.coarse is None:
        low, high = t.score, t.score
    else:
        low, high = t.coarse.low.min(0), t.coarse.high.max(0)
    below, reached = _first_at_least(high, raw), _first_at_least(low, raw)
    ends = np.array([-np.inf if not below else high[below - 1], *low[reached:][:1], np.inf])[:2]
    above, upto = expit(ends) if t.kind == "logit" else ends
    return Cut(threshold, float(above), float(upto))


def confusion(t: Tally, threshold: float) -> Confusion:
    """Decisions against labels at a threshold."""
    raw = _raw(t, threshold)
    names = t.origin.negative, t.origin.positive
    if t.coarse is not None:
        return _split_confusion(t, raw, names)
    i = _first_at_least(t.score, raw)
    sides = [[w[:i].sum(), w[i:].sum()] for w in (t.neg, t.pos, t.neg2, t.pos2)]
    return Confusion(np.array(sides[:2]), np.array(sides[2:]), names)


def _split_confusion(t: Tally, raw: float, names: tuple[str, str]) -> Confusion:
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


def _raw(t: Tally, threshold: float) -> float:
    """A threshold on the scale of the scores; for logits it is said as a probability."""
    if math.isnan(threshold):
        raise BadInput("threshold is NaN; pass a number")
    if t.kind != "logit":
        return threshold
    if not 0 <= threshold <= 1:
        raise BadInput(f"threshold {threshold:g} is not a probability; for logits it has to be one")
    with np.errstate(divide="ignore"):
        return float(np.log(threshold) - np.log1p(-threshold))


def _first_at_least(values: NDArray[np.floating], threshold: float) -> int:
    """The first place, among increasing values, at which the threshold is reached."""
    # 32-bit values are compared with the threshold itself, not with it rounded to 32 bits
    return int(np.searchsorted(values, np.float64(threshold)))
