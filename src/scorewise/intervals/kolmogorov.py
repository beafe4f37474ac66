"""How small the largest distance of two score distributions may be, given the one seen.

A maximum over thresholds is too large: noise alone makes it positive, and it is taken where noise helped.
So the true maximum is supposed to be smaller, the distances seen are cut off at it, and noise is drawn.
The lower limit is the smallest maximum under which the one seen is not extreme. A maximum of 0 is the
hypothesis of the Kolmogorov-Smirnov test, so that the limit is 0 where that test finds nothing.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from scorewise.arrays import Floats
from scorewise.tallies import Tally
from scorewise.tallies.merging import pool

_CELLS = 32  # thresholds: more find hardly a larger maximum
_PAIRS = 300  # draws of noise, each also taken with the other sign
_STEPS = 8


def least_distance(t: Tally, level: float) -> float:
    """The lower limit of the largest distance between the score distributions of the two classes.

    >>> y, s = np.arange(40) % 2, np.arange(40) / 40
    >>> least_distance(Tally.of(y, s), 0.95), round(least_distance(Tally.of(y, s + y / 2), 0.95), 2)
    (0.0, 0.23)
    """
    gap, noise = _distances(pool(t.pooled, _CELLS))
    seen = float(np.abs(gap).max())
    place = (1 + level) / 2 * (2 * _PAIRS - 1)
    at, share = int(place), place % 1

    def usual(step: int) -> float:
        """What the maximum seen may be if the true one is so many steps of it."""
        most = seen * step / _STEPS
        found = np.sort(np.abs(np.clip(gap, -most, most)[:, None] + noise).max(0))
        return float(found[at] + share * (found[min(at + 1, len(found) - 1)] - found[at]))

    ends = {0: usual(0), _STEPS: math.inf}
    if ends[0] >= seen:
        return 0.0
    low, high = 0, _STEPS
    while high - low > 1:
        middle = (low + high) // 2
        ends[middle] = usual(middle)
        low, high = (middle, high) if ends[middle] < seen else (low, middle)
    # straight between the two
    top = ends[high] if high < _STEPS else usual(high)
    way = (seen - ends[low]) / (top - ends[low]) if top > seen else 1.0
    return seen * (low + way) / _STEPS


@cache
def _normal() -> Floats:
    """Cells x draws, for each class; the same for all data, so that the limit changes only with these."""
    return np.random.default_rng(0).standard_normal((2, _CELLS, _PAIRS))


def _distances(few: Tally) -> tuple[Floats, Floats]:
    """The distances at each threshold, and draws of their noise: normal, as of rows drawn anew."""
    gap, noise = np.zeros(len(few.score)), np.zeros((len(few.score), _PAIRS))
    sides = zip((1, -1), (few.neg, few.pos), few.squares, _normal(), strict=True)
    for sign, w, squares, drawn in sides:
        share = w / float(w.sum())
        below = share.cumsum()
        # weights as uneven everywhere as on the whole: where heavy rows lie is chance
        error = np.sqrt(share * (float(squares) / float(w.sum()) ** 2))
        moved = (drawn[: len(share)] * error[:, None]).cumsum(0)
        gap += sign * below
        noise += sign * (moved - below[:, None] * moved[-1])
    return gap, np.concatenate((noise, -noise), axis=1)
