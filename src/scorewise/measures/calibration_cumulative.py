"""How far are the scores from being probabilities? Cumulative gaps, without bins and without kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.intervals.inversion import Noise, Statistic, inverted
from scorewise.measures._calibrated import calibrated, lacking, path_noise
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.chances import MOST, chances
from scorewise.tallies.losses import unit
from scorewise.tallies.once import kept

Form = Callable[[float, float], float]  # of the lowest and the highest point
_OVERSHOOT = 0.5826  # how far Brownian motion goes beyond its steps, in steps (Siegmund 1985)


class Reach(NamedTuple):
    """The lowest and the highest point of the cumulative gaps, as shares of the whole.

    `low` and `high` are certainly reached; `least` and `most` are where a coarse tally's rows may reach
    between the ends of its cells.
    """

    low: float
    high: float
    least: float
    most: float


@measure(group="calibration", better="low", title="ECCE-MAD")
def ecce_mad(t: Tally, *, level: float = 0.95, seed: int = 0) -> Estimate:
    """Largest gap between positives and probabilities added up from the lowest score to any other.

    max over k of |sum over the k lowest rows of (y - p)| / n, tied scores as one step: the Kolmogorov-
    Smirnov form of the estimated cumulative calibration error (Arrieta-Ibarra et al. 2022). The interval
    inverts consistency tests along the gaps seen.

    >>> ecce_mad(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]))
    0.100 [0.000, 0.418]
    """

    def largest(gaps: Floats) -> Floats:
        path = np.cumsum(gaps, axis=-1)
        far: Floats = np.maximum(path.max(-1), -path.min(-1))
        return far

    return _judged(t, level, seed, largest, lambda low, high: max(high, -low), 1)


@measure(group="calibration", better="low", title="ECCE-R")
def ecce_range(t: Tally, *, level: float = 0.95, seed: int = 0) -> Estimate:
    """Largest gap between positives and probabilities added up between any two scores.

    The range of the cumulative sums of (y - p) / n from the lowest score up: the Kuiper form of the
    estimated cumulative calibration error (Arrieta-Ibarra et al. 2022), which sees errors as well in the
    middle as at the ends. The interval inverts consistency tests along the gaps seen.

    >>> ecce_range(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]))
    0.190 [0.000, 0.436]
    """

    def span(gaps: Floats) -> Floats:
        path = np.cumsum(gaps, axis=-1)
        width: Floats = np.maximum(path.max(-1), 0.0) - np.minimum(path.min(-1), 0.0)
        return width

    return _judged(t, level, seed, span, lambda low, high: high - low, 2)


def _judged(
    t: Tally, level: float, seed: int, statistic: Statistic, form: Form, ends: int
) -> Estimate:
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    reach = kept(t, "reach", lambda: _reach(t))
    least, most = form(reach.low, reach.high), form(reach.least, reach.most)
    noise = path_noise(t, seed)
    found = inverted(noise, statistic, level, value=(least + most) / 2)
    found = found._replace(expected=found.expected + ends * _between(t, noise))
    return calibrated(found, level, bound=(most - least) / 2)


def _between(t: Tally, noise: Noise) -> float:
    """How much further the path of all rows reaches, on average, than that of the pooled cells."""
    cells, rows = len(noise.cells), len(chances(t))
    error = math.sqrt(max(0.0, float(noise.cells.noise.sum()))) / noise.total
    return _OVERSHOOT * error * (1 / math.sqrt(cells) - 1 / math.sqrt(rows))


def _reach(t: Tally) -> Reach:
    if t.coarse is not None:
        return _reach_of_cells(t)
    if len(t.score) > MOST and t.kind == "probability" and t.score.dtype == np.float64:
        return _reach_of_joined(t)
    low = high = below = 0.0
    for b in t.blocks():
        path = np.cumsum(b.pos - (b.neg + b.pos) * unit(b.score, t.kind))
        low, high = min(low, below + float(path.min())), max(high, below + float(path.max()))
        below += float(path[-1])
    total = t.negatives + t.positives
    return Reach(low / total, high / total, low / total, high / total)


def _reach_of_joined(t: Tally) -> Reach:
    """The same of very many scores: only cells in which the path may go further are looked into."""
    c = chances(t)
    path = np.append(0.0, np.cumsum(c.gap))
    low, high = float(path.min()), float(path.max())
    up = path[:-1] + c.pos * (1 - c.low)
    down = path[:-1] - (c.weight - c.pos) * np.append(c.low[1:], 1.0)
    start = np.append(np.searchsorted(t.score, c.low), len(t.score))
    for k in np.flatnonzero((up > high) | (down < low)):
        at = slice(start[k], start[k + 1])
        steps = t.pos[at] - (t.neg[at] + t.pos[at]) * t.score[at]
        inside = path[k] + np.cumsum(steps)
        low, high = min(low, float(inside.min())), max(high, float(inside.max()))
    return Reach(*(x / c.total for x in (low, high, low, high)))


def _reach_of_cells(t: Tally) -> Reach:
    assert t.coarse is not None
    c = chances(t)
    path = np.append(0.0, np.cumsum(c.gap))
    low, high = unit(t.coarse.low.min(0), t.kind), unit(t.coarse.high.max(0), t.kind)
    several = low < high
    up = path[:-1] + np.where(several, t.pos * (1 - low), 0.0)
    down = path[:-1] - np.where(several, t.neg * high, 0.0)
    ends = path.min(), path.max(), min(path.min(), down.min()), max(path.max(), up.max())
    return Reach(*(float(x) / c.total for x in ends))
