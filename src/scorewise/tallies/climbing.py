"""What each score adds to the score-weighted ROC curve (smROC): a climb and a run.

A score is appropriate if it is high (at or above the midpoint) on a positive, or low on a negative. A row
climbs by v and runs by 1 - v, where v = s if its score s is appropriate and 1 - s if it is not. Scores of
0 and 1 thus climb or run by a whole row, as on the ROC curve; a score of 0.5 does half of each.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.tallies.losses import unit
from scorewise.tallies.tally import Tally

HAIR = 1e-12  # a score this near the midpoint is at it: sums of floats are rounded


def why_not_unit(t: Tally) -> str:
    """Why the scores have no place on [0, 1], or nothing."""
    low, high = t.ends
    if t.kind == "logit" or not len(t.score) or (low >= 0 and high <= 1):
        return ""
    # all digits where fewer would hide that a score lies outside: -1e-9, 1.0000001
    ends = [f"{x:.4g}" if not -0.01 < x < 1.01 else repr(x) for x in (low, high)]
    return (
        f"scores from {ends[0]} to {ends[1]} lie outside [0, 1]; rescale them to it, or pass "
        f'kind="logit" if they are logits'
    )


def first_high(s: Floats, midpoint: float) -> int:
    """Where, among increasing scores, those at or above the midpoint begin.

    >>> first_high(np.array([0.1, 0.2, 0.3]), 0.2)
    1
    """
    return int(np.searchsorted(s, midpoint - HAIR))


def climbs(s: Floats, neg: Any, pos: Any, midpoint: float) -> tuple[Floats, Floats]:
    """The climb and the run of each cell, from the lowest score up (along the last axis).

    >>> s, neg, pos = np.array([0.2, 0.7]), np.array([1, 1]), np.array([0, 1])
    >>> climbs(s, neg, pos, 0.5)
    (array([0.2, 1. ]), array([0.8, 1. ]))
    """
    i = first_high(s, midpoint)
    # those whose climb is the score itself, and those who climb by the rest
    if 0 < i < len(s):
        by_score = np.concatenate((neg[..., :i], pos[..., i:]), axis=-1).astype(np.float64)
        by_rest = np.concatenate((pos[..., :i], neg[..., i:]), axis=-1).astype(np.float64)
    else:
        by_score, by_rest = (w.astype(np.float64) for w in ((neg, pos) if i else (pos, neg)))
    # in place, which is twice as fast
    lead = by_score - by_rest
    lead *= s
    by_rest += lead
    by_score -= lead
    return by_rest, by_score


def cell_climbs(t: Tally, midpoint: float) -> tuple[Floats, Floats]:
    """The same for all cells of a tally.

    A coarse tally knows the sums of scores of each class in a cell, and with them its climb exactly,
    except in the cell that holds the midpoint.
    """
    s = unit(t.score, t.kind)
    if t.coarse is None:
        return climbs(s, t.neg, t.pos, midpoint)
    (neg, pos), (neg_sum, pos_sum) = (t.neg, t.pos), t.coarse.sum
    i = first_high(s, midpoint)
    by_score = np.concatenate((neg_sum[:i], pos_sum[i:]))
    by_rest = np.concatenate(((pos - pos_sum)[:i], (neg - neg_sum)[i:]))
    climb = by_score + by_rest
    return climb, (neg + pos) - climb


def row_climbs(y: NDArray[np.bool_], s: Floats, midpoint: float) -> Floats:
    """The climb of single rows; each runs by the rest.

    >>> row_climbs(np.array([True, False]), np.array([0.7, 0.7]), 0.5).round(3)
    array([0.7, 0.3])
    """
    return np.where(appropriate(y, s, midpoint), s, 1 - s)


def appropriate(y: NDArray[np.bool_], s: Floats, midpoint: float) -> NDArray[np.bool_]:
    """Whether each score is high on a positive or low on a negative."""
    right: NDArray[np.bool_] = (s >= midpoint - HAIR) == y
    return right


def class_sums(t: Tally) -> tuple[float, float]:
    """The sums of the scores (on [0, 1]) of the negatives and of the positives."""
    if t.coarse is not None:
        neg, pos = t.coarse.sum.sum(1).tolist()
        return neg, pos
    sums = [0.0, 0.0]
    for b in t.blocks():
        s = unit(b.score, t.kind)
        for k, w in enumerate((b.neg.astype(np.float64), b.pos.astype(np.float64))):
            w *= s
            sums[k] += float(w.sum())
    return sums[0], sums[1]
