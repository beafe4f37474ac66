"""The area under the score-weighted ROC curve (smAUC), and what single rows do to it.

smAUC is the chance that a unit of climb lies above a unit of run, ties counting half, so it is the area
under a ROC curve whose positives are the climbs and whose negatives are the runs. Unlike there, one row
holds some of both, and all rows together move the midpoint; the variance counts all three.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.computing import inner
from scorewise.inference.resampling import bootstrap_cells
from scorewise.inference.scales import Variance, effective_size, pooled_variance, single_row
from scorewise.statistics.formulas import auroc, concordance, midranks
from scorewise.statistics.smroc import TOLERANCE, Midpoint, climbs, crossings, first_high, midpoints
from scorewise.tallies import Tally
from scorewise.tallies.coarse import pool
from scorewise.tallies.losses import unit

_CELLS, _REPLICATES = 256, 400


class Area(NamedTuple):
    """The area of the curve in its rectangle, and the sides of that rectangle."""

    value: float
    height: float
    width: float


def smooth_area(t: Tally, midpoint: float) -> Area:
    """The area under the curve as a share of its rectangle; NaN where that has no height or width.

    >>> smooth_area(Tally.of([1, 0, 1], [0.8, 0.3, 0.4]), 0.5).value
    0.7262443438914028
    """
    pairs = concordance(
        list(t.blocks()), lambda b: climbs(unit(b.score, t.kind), b.neg, b.pos, midpoint)[::-1]
    )
    height, width = float(pairs.pos), float(pairs.neg)
    share = min(1.0, float(pairs.share)) if height * width > 0 else math.nan
    return Area(share, height, width)


def chance_area(t: Tally, midpoint: float) -> float:
    """The area if the same scores were dealt out to the rows at random; from the pooled cells.

    >>> rare = Tally.of([1, 0, 0, 0, 0, 0, 0, 0], [0.3, 0.2, 0.1, 0.1, 0.1, 0.1, 0.0, 0.0])
    >>> round(smooth_area(rare, 0.1125).value, 3), round(chance_area(rare, 0.1125), 3)
    (0.813, 0.747)
    """
    return smooth_area(by_chance(t.pooled), midpoint).value


def by_chance(t: Tally) -> Tally:
    """The same scores dealt out to the rows at random: on average, each cell has the prevalence."""
    weight = (t.neg + t.pos).astype(np.float64)
    share = t.positives / (t.negatives + t.positives)
    neg, pos = weight * (1 - share), weight * share
    return Tally(t.score, neg, pos, kind=t.kind)


class CellInfluence(NamedTuple):
    """What one row of weight 1 does to the area, for each cell: on a negative and on a positive."""

    neg: Floats
    pos: Floats


def smauc_influence(pooled: Tally, m: Midpoint) -> CellInfluence:
    """What single rows do to the area: by their climb and run, and by moving the midpoint.

    A row with climb v lies above a share of all runs and below a share of all climbs; it moves the area
    by v (above - area) / V + (1 - v) (below - area) / H. If the midpoint moves up by d, those rows that
    lie between change sides, each by 1 - 2 m: how many they are is read off the scores near it.
    """
    s = unit(pooled.score, pooled.kind)
    climb, run = climbs(s, pooled.neg, pooled.pos, m.value)
    height, width = float(climb.sum()), float(run.sum())
    over, under = midranks(run) / width, 1 - midranks(climb) / height
    area = float((climb * over).sum()) / height
    up, along = (over - area) / height, (under - area) / width
    high = first_high(s, m.value)
    v = np.concatenate((1 - s[:high], s[high:]))
    neg, pos = (1 - v) * up + v * along, v * up + (1 - v) * along
    if m.rule not in ("mean", "balanced"):
        return CellInfluence(neg, pos)
    at = min(high, len(s) - 1)
    total = pooled.negatives + pooled.positives
    share = (pooled.neg + pooled.pos) / total
    error = math.sqrt(inner(share, (s - inner(share, s)) ** 2))
    # the width of a box that is worth Silverman's Gaussian
    reach = 1.8 * error * effective_size(total, sum(pooled.squares)) ** -0.2
    first, last = np.searchsorted(s, (m.value - reach, m.value + reach))
    # by how much more positives than negatives lie at the midpoint, per unit of score
    crowd = float(pooled.pos[first:last].sum() - pooled.neg[first:last].sum())
    drag = crowd / (2 * reach) if reach > TOLERANCE else 0.0
    drag *= (1 - 2 * m.value) * float(up[at] - along[at])
    if m.rule == "mean":
        pull = drag * (s - m.value) / total
        return CellInfluence(neg + pull, pos + pull)
    sides = (neg, pooled.neg, pooled.negatives), (pos, pooled.pos, pooled.positives)
    return CellInfluence(*(x + drag * (s - inner(w * 1.0, s) / n) / (2 * n) for x, w, n in sides))


def smooth_variance(t: Tally, m: Midpoint) -> Variance:
    """Variance of the area: within each class, and by how many rows of each class there are.

    From at most 65,536 pooled cells; the value itself is exact.
    """
    pooled = t.pooled
    components, means = [], []
    sides = (pooled.neg, pooled.neg2), (pooled.pos, pooled.pos2)
    for effect, (w, w2) in zip(smauc_influence(pooled, m), sides, strict=True):
        total, squares = float(w.sum()), float(w2.sum())
        rows = effective_size(total, squares)
        if single_row(rows):  # whose distance from its mean is 0
            return Variance(math.nan, math.nan)
        mean = inner(w, effect) / total
        components.append((inner(w2, (effect - mean) ** 2), rows))
        means.append(squares * mean * mean)
    rows = effective_size(pooled.negatives + pooled.positives, sum(pooled.squares))
    return pooled_variance(*components, (sum(means), rows))


def smooth_bootstrap(t: Tally, rule: Literal["median", "crossing"], *, seed: int = 0) -> Variance:
    """Variance of the area by the bootstrap of cells, the midpoint found anew in each resample."""
    pooled = pool(t.pooled, _CELLS)
    s = unit(pooled.score, pooled.kind)

    def areas(neg: Floats, pos: Floats) -> Floats:
        crossed = rule == "crossing"
        middles = crossings(pooled, neg, pos) if crossed else midpoints(s, neg, pos, "median")
        climb, run = climbs(s, neg, pos, middles)
        return np.where(np.isnan(middles), np.nan, auroc(run, climb))

    drawn = bootstrap_cells(pooled, areas, replicates=_REPLICATES, seed=seed)
    smaller = min(map(effective_size, (t.negatives, t.positives), t.squares))
    return Variance(float(np.nanvar(drawn)), smaller - 1)
