"""How sure a curve is: bands around it, by the bootstrap of cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.thresholds import Curve
from scorewise.intervals.bootstrap import bootstrap_cells, few_cells
from scorewise.intervals.scales import effective, z
from scorewise.tallies import Tally
from scorewise.tallies.climbing import climbs
from scorewise.tallies.losses import unit
from scorewise.tallies.midpoint import Midpoint

Steps = Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]
POINTS = 101


@dataclass(frozen=True, eq=False)
class Band:
    """The curve at the places x, and between which heights it lies there.

    With `simultaneous` the band holds the whole curve with the level's confidence; without, each point.
    """

    x: Floats
    y: Floats
    low: Floats
    high: Floats
    level: float
    simultaneous: bool


def band(
    t: Tally,
    curve: Curve,
    steps: Steps,
    *,
    level: float = 0.95,
    simultaneous: bool = False,
    replicates: int = 1000,
    seed: int = 0,
) -> Band:
    """A band around a rising curve, whose `steps` turn cells (score, neg, pos) into climbs and runs.

    At each x the spread is that of the replicates. The simultaneous band is as many spreads wide as
    the largest deviation of a replicate, over all x, keeps within at the level (sup-t).
    """
    z(level)  # refuses a level that means nothing
    x = np.linspace(0.0, 1.0, POINTS)
    y = np.interp(x, curve.x, curve.y)
    few = few_cells(t)
    s = unit(few.score, t.kind)

    def walks(neg: Floats, pos: Floats) -> Floats:
        return np.array([_heights(x, *steps(s, n, p)) for n, p in zip(neg, pos, strict=True)])

    drawn = bootstrap_cells(_with_unseen(few), walks, replicates=replicates, seed=seed)
    centre = walks(*(w[None].astype(np.float64) for w in (few.neg, few.pos)))
    rows = effective(few.negatives + few.positives, sum(few.squares))
    low, high = _limits(drawn - centre, y, level, 0.25 / rows if simultaneous else None)
    # the curve rises, and so may its band
    low = np.clip(np.maximum.accumulate(np.minimum(low, y)), 0.0, 1.0)
    high = np.clip(np.minimum.accumulate(np.maximum(high, y)[::-1])[::-1], 0.0, 1.0)
    low[-1] = 1.0  # where every curve ends
    return Band(x, y, low, high, level, simultaneous)


def roc_steps(s: Floats, neg: Floats, pos: Floats) -> tuple[Floats, Floats]:
    """The ROC curve climbs by positives and runs by negatives."""
    return pos, neg


def smooth_steps(m: Midpoint) -> Steps:
    """Climbs and runs of smROC, whose midpoint moves with resampled cells where it is a mean."""

    def steps(s: Floats, neg: Floats, pos: Floats) -> tuple[Floats, Floats]:
        value = m.value
        if m.rule == "mean":
            value = float((s * (neg + pos)).sum() / (neg + pos).sum())
        elif m.rule == "balanced":
            value = float((s * neg).sum() / neg.sum() + (s * pos).sum() / pos.sum()) / 2
        return climbs(s, neg, pos, value)

    return steps


def _heights(x: Floats, climb: Floats, run: Floats) -> Floats:
    up, along = (np.concatenate(([0.0], w[::-1].cumsum())) for w in (climb, run))
    return np.asarray(np.interp(x, along / along[-1], up / up[-1]))


def _limits(off: Floats, y: Floats, level: float, least: float | None) -> tuple[Floats, Floats]:
    """Pointwise, or with the least spread that a curve of so many rows has, for the whole curve."""
    if least is None:
        ends = np.quantile(off, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return y + ends[0], y + ends[1]
    # a spread for each side, because near the ends the curve can err to one side only
    up, down = (np.sqrt((np.maximum(side, 0.0) ** 2).mean(0)) for side in (off, -off))
    up, down = np.maximum(up, least), np.maximum(down, least)
    reach = float(np.quantile(np.where(off > 0, off / up, -off / down).max(1), level))
    return y - reach * down, y + reach * up


def _with_unseen(t: Tally) -> Tally:
    """The same with one more row of each class, spread over the cells as all rows are.

    A resample has no rows where the sample has none; the next row of a class may yet lie there.
    """
    share = (t.neg + t.pos) / (t.negatives + t.positives)
    rows = [w2 / w for w, w2 in zip((t.negatives, t.positives), t.squares, strict=True)]
    neg, pos = (w + r * share for w, r in zip((t.neg, t.pos), rows, strict=True))
    neg2, pos2 = (w + r * r * share for w, r in zip((t.neg2, t.pos2), rows, strict=True))
    return Tally(t.score, neg, pos, neg2, pos2, t.kind)
