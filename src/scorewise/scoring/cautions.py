"""What makes a score-weighted ROC curve hard to read, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scorewise.arrays import Floats
from scorewise.estimate import number
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import far

if TYPE_CHECKING:
    from scorewise.scoring.one import SmRoc


def cautions(curve: SmRoc) -> list[str]:
    """What a reader should be told in words."""
    return [*_overlap(curve), *_extreme(curve), *_far(curve)]


def _overlap(curve: SmRoc) -> Iterator[str]:
    m = curve.midpoint
    (neg_low, neg_high), (pos_low, pos_high) = (class_ends(curve.tally, side) for side in (0, 1))
    if neg_high < pos_low or pos_high < neg_low:
        below, above = (
            ("negatives", "positives") if neg_high < pos_low else ("positives", "negatives")
        )
        edge, start = (neg_high, pos_low) if neg_high < pos_low else (pos_high, neg_low)
        where = "" if edge < m <= start else f", and the midpoint {number(m)} is not between them"
        yield (
            f"the classes are separable: all {below} score at most {number(edge)}, all {above} at "
            f"least {number(start)}{where}"
        )
        return
    low, high = max(neg_low, pos_low), min(neg_high, pos_high)
    if not low <= m <= high:
        yield (
            f"the midpoint {number(m)} lies outside [{number(low)}, {number(high)}], where the scores of "
            f"the classes overlap; see whether another rule, such as balanced, suits them better"
        )


def _extreme(curve: SmRoc) -> Iterator[str]:
    if not curve.area.defined:
        yield f"there is no area: {curve.area.why}"


def _far(curve: SmRoc) -> Iterator[str]:
    """The objection of Schubert et al. (2012), where it applies."""
    m = curve.midpoint
    if not far(m) or not curve.area.defined:
        return
    after, chance = curve.recalibrated().area, curve.area.baseline
    side = "below" if m < 0.5 else "above"
    yield (
        f"the midpoint {number(m)} is far from 0.5, and smROC misleads there (Schubert et al. 2012): "
        f"with most scores {side} 0.5, wrong ones can climb more than right ones; the same scores dealt "
        f"out at random would get {_said(chance)}, and after recalibration the area is {after} "
        f"({_said(after.baseline)} at random)"
    )


def _said(baseline: float | None) -> str:
    return number(math.nan if baseline is None else baseline)


def class_ends(t: Tally, side: int) -> tuple[float, float]:
    """The lowest and the highest score, on [0, 1], of a class that has rows."""
    used = (t.neg, t.pos)[side] > 0
    if t.coarse is None:
        ends: Floats = unit(t.score[used][[0, -1]], t.kind)
        return float(ends[0]), float(ends[1])
    low, high = (unit(x[side][used], t.kind) for x in (t.coarse.low, t.coarse.high))
    return float(low[0]), float(high[-1])
