"""How the scores of each class are spread."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from scorewise.curves.density.checks import check_options
from scorewise.curves.density.curve import Density, estimated
from scorewise.curves.density.values import Rule, Support, Values
from scorewise.errors import BadInput
from scorewise.tallies import Tally
from scorewise.tallies.climbing import why_not_unit
from scorewise.tallies.crossing import NARROWEST
from scorewise.tallies.kernels import kernel_named
from scorewise.tallies.losses import unit


class ClassDensities(NamedTuple):
    """The densities of the scores of the negatives and of the positives, each of area 1."""

    neg: Density
    pos: Density

    @property
    def overlap(self) -> float:
        """The area that both have in common: 0 where the classes lie apart, 1 where they are alike."""
        x = np.union1d(self.neg.x, self.pos.x)
        return float(np.trapezoid(np.minimum(self.neg(x), self.pos(x)), x))


def class_densities(
    t: Tally, *, kernel: str = "gaussian", bandwidth: Rule | float = "isj", points: int = 1024
) -> ClassDensities:
    """The densities of both classes of a tally, whose cells are the values.

    Where the scores lie in [0, 1], rules give no bandwidth below 0.005, so that a class whose scores are
    all equal has a density, too.
    """
    shape = kernel_named(kernel)
    check_options(bandwidth, points)
    if why := t.why_not_ranked:
        raise BadInput(f"no densities of two classes: {why}")
    within = not why_not_unit(t) and t.kind != "score"
    support: Support = (0.0, 1.0) if within else (-math.inf, math.inf)
    least = NARROWEST if within else 0.0
    names = "the score of the negatives", "the score of the positives"
    columns = zip((t.neg, t.pos), (t.negatives, t.positives), t.squares, names, strict=True)
    neg, pos = (
        estimated(
            _values(t, w, total**2 / squares, name), shape, bandwidth, support, points, least=least
        )
        for w, total, squares, name in columns
    )
    return ClassDensities(neg, pos)


def _values(t: Tally, weight: Any, rows: float, name: str) -> Values:
    held = weight > 0
    s = unit(t.score, t.kind)[held]
    return Values(s, weight[held], (float(s[0]), float(s[-1])), rows, name)
