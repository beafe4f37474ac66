"""The area under the precision-recall curve and its variance, from the cells of a tally."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.intervals.scales import Part, Spread, effective, freedom, pooled_spread
from scorewise.tallies import Tally
from scorewise.tallies.sorting import inner
from scorewise.tallies.tally import Block

_MANY = 1000  # degrees of freedom, beyond which more of them change nothing


def precision_area(t: Tally, trapezoid: bool = False) -> float:
    """The area under the precision-recall curve, by steps or by straight lines."""
    total = 0.0
    for b in t.blocks():
        pos = b.pos.astype(np.float64, copy=False)
        total += inner(pos, _precisions(pos, b, trapezoid)[2])
    # weights may add up to a hair above the whole
    return min(1.0, total / t.positives)


def precision_spread(t: Tally, trapezoid: bool = False) -> Spread:
    """Variance, as the sum of squared influences of all rows.

    A positive adds the precision that it gets itself, and raises precision at every threshold below it;
    a negative lowers it there.
    """
    pos, value = t.positives, precision_area(t, trapezoid)
    by_pos = by_neg = raised = lowered = last = most = 0.0
    effects: list[tuple[Floats, Floats]] = []
    for b in t.blocks():
        weight = b.pos.astype(np.float64, copy=False)
        tp, rows, lead = _precisions(weight, b, trapezoid)
        share = weight / pos
        if trapezoid:
            below = np.concatenate(([last], share[:-1]))
            last = float(share[-1])
            share = (share + below) / 2
        share /= rows * rows
        up, down = raised + (share * (rows - tp)).cumsum(), lowered + (share * tp).cumsum()
        raised, lowered = float(up[-1]), float(down[-1])
        up = up + (lead - value) / pos
        by_pos += inner(b.pos2, up * up)
        by_neg += inner(b.neg2, down * down)
        effects.append((up, down))
        for effect, w, w2 in ((up, b.pos, b.pos2), (down, b.neg, b.neg2)):
            row = np.abs(effect if w2 is w else effect * (w2 / np.where(w > 0, w, 1.0)))
            most = max(most, float(row.max()))
    sizes = effective(pos, t.squares[1]), effective(t.negatives, t.squares[0])
    parts = [Part(by_pos, sizes[0]), Part(by_neg, sizes[1])]
    if 2 * (by_pos + by_neg) < _MANY * most**2:  # otherwise no row brings much
        up, down = (np.concatenate(x) for x in zip(*effects, strict=True))
        dfs = freedom(t.pos, t.pos2, up), freedom(t.neg, t.neg2, down)
        parts = [p._replace(df=df) for p, df in zip(parts, dfs, strict=True)]
    return pooled_spread(*parts)


def _precisions(pos: Floats, b: Block, trapezoid: bool) -> tuple[Floats, Floats, Floats]:
    """For each cell: positives and rows at or above it, and the precision that its positives get."""
    tp_above, tp = at_and_above(pos, b.pos_above)
    fp_above, fp = at_and_above(b.neg.astype(np.float64, copy=False), b.neg_above)
    rows = tp + fp
    precision = tp / rows
    if not trapezoid:
        return tp, rows, precision
    above = tp_above + fp_above
    # above the highest score nothing is called positive, and precision is 1 by convention
    before = np.divide(tp_above, above, out=np.ones(len(tp)), where=above > 0)
    return tp, rows, (precision + before) / 2


def at_and_above(weight: Floats, above: float) -> tuple[Floats, Floats]:
    """The weight above each cell of a block, and that at or above it."""
    down = np.empty(len(weight) + 1)
    down[0] = above
    np.cumsum(weight[::-1], out=down[1:])
    down[1:] += down[0]
    return down[-2::-1], down[:0:-1]
