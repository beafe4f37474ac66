"""How the scores of each class are spread: kernel densities on [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scorewise.curves.thresholds import Floats
from scorewise.tallies import Tally
from scorewise.tallies.crossing import density, kernel_widths
from scorewise.tallies.losses import unit
from scorewise.tallies.merging import pool

_CELLS, _POINTS = 2048, 513


@dataclass(frozen=True, eq=False)
class Densities:
    """The densities of the negatives and of the positives at the scores x; each has area 1."""

    x: Floats
    neg: Floats
    pos: Floats

    @property
    def overlap(self) -> Floats:
        """The lower of both."""
        return np.minimum(self.neg, self.pos)


def densities(t: Tally) -> Densities:
    """Gaussian kernels of Silverman's width, reflected at 0 and 1, for scores that lie there.

    Where they cross is the midpoint by the rule "crossing". Beyond 2,048 distinct scores they are those
    of as many pooled cells.

    >>> found = densities(Tally.of([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.3, 0.7, 0.8, 0.9]))
    >>> round(float(np.trapezoid(found.neg, found.x)), 6)
    1.0
    """
    few = pool(t, _CELLS)
    s, x = unit(few.score, few.kind), np.linspace(0.0, 1.0, _POINTS)
    sides = zip((few.neg, few.pos), kernel_widths(few), strict=True)
    neg, pos = ((density(x, s, h) * (w / w.sum())).sum(1) for w, h in sides)
    return Densities(x, neg, pos)
