"""How far the rows of a tally may lie from the places at which its cells keep them."""

from __future__ import annotations

from scorewise.tallies.chances import chances
from scorewise.tallies.losses import unit
from scorewise.tallies.tally import Tally


def displacement(t: Tally) -> float:
    """Mean over rows of the most by which their probability may differ from their cell's mean.

    0 for an exact tally, and where each cell of a coarse one holds one score.

    >>> displacement(Tally.of([0, 1], [0.1, 0.7]).coarsen())
    0.0
    >>> f"{displacement(Tally.of([0, 1], [0.1, 0.10001]).coarsen()):.0e}"
    '1e-05'
    """
    if t.coarse is None:
        return 0.0
    c = chances(t)
    ends = unit(t.coarse.high.max(0), t.kind) - unit(t.coarse.low.min(0), t.kind)
    return float((c.weight * ends).sum() / c.total)
