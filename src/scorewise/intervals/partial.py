"""Area under part of the ROC curve, and its variance."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from scorewise.intervals.scales import Spread, effective, one_row, pooled_spread
from scorewise.tallies import Tally
from scorewise.tallies.losses import NOTHING, Moments

_Cells = tuple[Any, Any, Any, Any]


class Part(NamedTuple):
    """The area up to a width, and what its variance is made of.

    `lengths` are moments, over the positives, of the width that lies behind each; `heights`, over the
    negatives within the width, of the curve there minus its height at the width.
    """

    area: float
    lengths: Moments
    heights: Moments


def partial(t: Tally, width: float, across: bool = False) -> Part:
    """Area under the curve up to a false positive rate, or right of it from a true positive rate up.

    >>> partial(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]), 0.5).area
    0.375
    """
    neg, pos = (t.positives, t.negatives) if across else (t.negatives, t.positives)
    target = width * neg
    lengths = heights = NOTHING
    before_neg = before_pos = squares = 0.0
    for block in _from_the_end(t, across):
        reached = before_neg + block[0].cumsum()
        # whole cells first; then the one in which the curve passes the width
        whole = int(np.searchsorted(reached, target))
        run, climb, run2, climb2 = (c[:whole] for c in block)
        heights += Moments.of((before_pos + climb.cumsum() - climb / 2) / pos, run, run2)
        lengths += Moments.of(width - (reached[:whole] - run / 2) / neg, climb, climb2)
        squares += run2.sum().item()
        before_neg, before_pos = before_neg + run.sum().item(), before_pos + climb.sum().item()
        if whole < len(reached):
            run, climb, run2, climb2 = (c[whole].item() for c in block)
            share = (target - before_neg) / run
            end = (before_pos + share * climb) / pos
            # on average a positive of this cell has half of what is left of it behind itself
            lengths += _same(share * (target - before_neg) / neg / 2, climb, climb2)
            area = (heights.first + share * run * (before_pos / pos + end) / 2) / neg
            last = _same(share * (before_pos / pos - end) / 2, run, run2)
            # weights may add up to a hair above the whole
            return Part(
                min(width, area), lengths, _lowered(heights, end, before_neg, squares) + last
            )
    # rounding may keep the sum of weights a hair below the whole width
    end = before_pos / pos
    return Part(
        min(width, heights.first / neg), lengths, _lowered(heights, end, before_neg, squares)
    )


def _same(v: float, weight: float, square: float) -> Moments:
    return Moments(weight * v, square * v, square * v * v)


def _lowered(m: Moments, by: float, weight: float, squares: float) -> Moments:
    """The moments of values that are all smaller by so much."""
    second = m.second - 2 * by * m.square + by * by * squares
    return Moments(m.first - by * weight, m.square - by * squares, second)


def _from_the_end(t: Tally, across: bool) -> Iterator[_Cells]:
    """Cells from the highest score down; across, from the lowest up with the classes exchanged.

    Walked from its other end, the curve has positives as negatives, and true positive rates as false
    positive rates.
    """
    if across:
        yield from ((b.pos, b.neg, b.pos2, b.neg2) for b in t.blocks())
        return
    for b in reversed(list(t.blocks())):
        yield b.neg[::-1], b.pos[::-1], b.neg2[::-1], b.pos2[::-1]


def partial_spread(t: Tally, p: Part, across: bool = False) -> Spread:
    """Variance of the area: DeLong's, with the score at the boundary estimated too.

    A positive counts with its length, a negative with its height; rows beyond the width count 0.
    """
    sides = (t.negatives, t.squares[0]), (t.positives, t.squares[1])
    neg, pos = reversed(sides) if across else sides
    parts = _about_mean(p.lengths, *pos), _about_mean(p.heights, *neg)
    if any(one_row(n) for _, n in parts):  # whose distance from its own mean, 0, says nothing
        return Spread(math.nan, math.nan)
    return pooled_spread(*parts)


def _about_mean(m: Moments, total: float, squares: float) -> tuple[float, float]:
    """Variance of a mean over a class, and the size of the class."""
    return m.about(m.first / total, squares) / total**2, effective(total, squares)
