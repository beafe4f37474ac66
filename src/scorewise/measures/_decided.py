"""What the decision measures share: when they are undefined, baselines, and certified bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from scorewise.estimate import Estimate
from scorewise.intervals.shares import Share, wilson
from scorewise.intervals.tables import Formula, corners
from scorewise.tallies import Confusion, Ratings

# the cells (of tp, fp, fn, tn) in which a measure needs something, under the reason if there is nothing
NEEDS = {
    "no rows": (0, 1, 2, 3),
    "no positives": (0, 2),
    "no negatives": (1, 3),
    "nothing is called positive": (0, 1),
    "nothing is called negative": (2, 3),
    "no positives, and nothing is called positive": (0, 1, 2),
}
BOTH_CLASSES = ("no positives", "no negatives")
BOTH_CALLS = ("nothing is called positive", "nothing is called negative")


def lacking(c: Confusion, *needs: str) -> str:
    """The first reason that holds, or nothing."""
    table = c.table
    return next((why for why in ("no rows", *needs) if not table[list(NEEDS[why])].sum()), "")


def share(
    c: Confusion,
    hit: tuple[int, ...],
    miss: tuple[int, ...],
    level: float,
    interval: Callable[..., Share] = wilson,
) -> Share:
    """Share of some cells (of tp, fp, fn, tn) in these and others, with its Wilson interval.

    Of weighted rows it is the wider one: by the weights of hits and of misses, or as if these differed by
    chance alone.
    """
    a, b = (float(c.table[list(cells)].sum()) for cells in (hit, miss))
    squares = [[float(w2[list(x)].sum()) for x in (hit, miss)] for w2 in (c.squares, c.evened)]
    total = a + b
    a2, b2 = max(squares, key=lambda x: x[0] * (b / total) ** 2 + x[1] * (a / total) ** 2)
    return interval(a, b, a2, b2, level)


def rates(c: Confusion, level: float) -> tuple[Share, Share]:
    """Sensitivity and specificity."""
    return share(c, (0,), (2,), level), share(c, (3,), (1,), level)


def prevalence(c: Confusion) -> float:
    """Share of positives."""
    return float((c.tp + c.fn) / c.table.sum())


def called(c: Confusion) -> float:
    """Share of rows that are called positive."""
    return float((c.tp + c.fp) / c.table.sum())


def judged(
    c: Confusion,
    formula: Formula,
    limits: tuple[float, float],
    level: float,
    method: str,
    *,
    baseline: float,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Estimate:
    """The formula's value between its limits, widened by what a coarse tally leaves in doubt.

    All formulas rise with tp and fall with fp, so the doubt is largest at two corners.
    """
    with np.errstate(all="ignore"):
        value, bound = float(formula(*(c.table * c.scale))), 0.0
    if not math.isfinite(value):
        return Estimate.undefined("the weights are too uneven for floating point", level)
    value = min(max(value, bounds[0]), bounds[1])  # rounding may lead a hair beyond
    if any(c.doubt):
        with np.errstate(all="ignore"):
            worst, best = (float(formula(*(table * c.scale))) for table in corners(c))
        value, bound = (worst + best) / 2, abs(best - worst) / 2
        if not math.isfinite(bound):
            return Estimate.undefined("the cells of the coarse tally leave it open", level)
    # limits never lie beyond what is possible, nor on the wrong side of the value
    low = max(bounds[0], min(limits[0], value) - bound)
    high = min(bounds[1], max(limits[1], value) + bound)
    return Estimate(value, low, high, level, method, "", bound, baseline)


def cohen(c: Confusion, level: float) -> Estimate:
    """Kappa of labels and decisions: that of two raters, with the same interval."""
    # here, because measures of raters are to be registered after these
    from scorewise.measures.raters.pairs import cohen_kappa

    e = cohen_kappa(Ratings.of_confusion(c), level=level)
    return replace(e, why=e.why.replace("item", "row"), baseline=0.0, p=None)
