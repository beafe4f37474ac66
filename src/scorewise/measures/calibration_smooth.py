"""How far are the scores from being probabilities? Cumulative and smoothed gaps, without bins."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import one_of
from scorewise.curves import smoothed_gaps as smoothed
from scorewise.curves.smoothed_gaps import smooth_error
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference.inversion import Statistic, inverted
from scorewise.measures.calibration_bins import (
    FEWER,
    calibrated,
    lacking,
    noise_of,
    path_noise,
    scored,
)
from scorewise.registry import measure
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.coarse import loss_moments
from scorewise.tallies.losses import unit
from scorewise.tallies.probabilities import MOST, Chances, chances, displacement
from scorewise.tallies.sorting import inner, kept

Form = Callable[[float, float], float]  # of the lowest and the highest point
_OVERSHOOT = 0.5826  # how far Brownian motion goes beyond its steps, in steps (Siegmund 1985)
_ENOUGH = 100  # replicates for the mean of fixed points


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
        return np.asarray(np.maximum(path.max(-1), -path.min(-1)))

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
        return np.asarray(np.maximum(path.max(-1), 0.0) - np.minimum(path.min(-1), 0.0))

    return _judged(t, level, seed, span, lambda low, high: high - low, 2)


def _judged(
    t: Tally, level: float, seed: int, statistic: Statistic, form: Form, ends: int
) -> Estimate:
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    low, high, lowest, highest = kept(t, "reach", lambda: _reach(t))
    least, most = form(low, high), form(lowest, highest)
    noise = path_noise(t, seed)
    found = inverted(noise, statistic, level, value=(least + most) / 2)
    # how much further the path of all rows reaches, on average, than that of the pooled cells
    error = math.sqrt(max(0.0, float(noise.cells.noise.sum()))) / noise.total
    further = 1 / math.sqrt(len(noise.cells)) - 1 / math.sqrt(len(chances(t)))
    found = found._replace(expected=found.expected + ends * (_OVERSHOOT * error * further))
    return calibrated(found, level, bound=(most - least) / 2)


def _reach(t: Tally) -> tuple[float, float, float, float]:
    """The lowest and the highest point of the cumulative gaps, as shares of the whole.

    The first two are certainly reached; the others are where a coarse tally's rows may reach between the
    ends of its cells.
    """
    total = t.negatives + t.positives
    joined = len(t.score) > MOST and t.kind == "probability" and t.score.dtype == np.float64
    if t.coarse is None and not joined:
        low = high = below = 0.0
        for b in t.blocks():
            path = np.cumsum(b.pos - (b.neg + b.pos) * unit(b.score, t.kind))
            low, high = min(low, below + float(path.min())), max(high, below + float(path.max()))
            below += float(path[-1])
        return low / total, high / total, low / total, high / total
    c = chances(t)
    path = np.append(0.0, np.cumsum(c.gap))
    low, high = float(path.min()), float(path.max())
    if t.coarse is not None:
        first, last = t.coarse.ends(t.kind)
        up = path[:-1] + np.where(first < last, t.pos * (1 - first), 0.0)
        down = path[:-1] - np.where(first < last, t.neg * last, 0.0)
        ends = low, high, min(low, float(down.min())), max(high, float(up.max()))
        return ends[0] / c.total, ends[1] / c.total, ends[2] / c.total, ends[3] / c.total
    # of very many scores, only cells in which the path may go further are looked into
    up = path[:-1] + c.pos * (1 - c.low)
    down = path[:-1] - (c.weight - c.pos) * np.append(c.low[1:], 1.0)
    start = np.append(np.searchsorted(t.score, c.low), len(t.score))
    for k in np.flatnonzero((up > high) | (down < low)):
        at = slice(start[k], start[k + 1])
        inside = path[k] + np.cumsum(t.pos[at] - (t.neg[at] + t.pos[at]) * t.score[at])
        low, high = min(low, float(inside.min())), max(high, float(inside.max()))
    return low / c.total, high / c.total, low / c.total, high / c.total


@measure(group="calibration", better="low", title="smECE")
def smece(
    t: Tally | ClassTally,
    *,
    convention: Literal["relplot"] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Mean size of the gaps between labels and probabilities after smoothing by a fitting width.

    The width s at which the gaps, smoothed by a Gaussian of that width that is reflected at 0 and 1,
    have total size s (Błasiok and Nakkiran 2023): a distance from calibration with nothing to choose.
    convention="relplot" halves the width ten times on the grids of that package, whose results are some
    thousandths off, in small samples up to a hundredth; more where many scores are 0 or 1, which it counts
    only half.
    The interval inverts consistency tests along the gaps seen.

    >>> smece(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]))
    0.198 [0.000, 0.440]
    """
    t = scored(t)
    one_of("convention", convention, (None, "relplot"))
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    c = chances(t)
    value = kept(
        t, "smece", lambda: float(smoothed.fixed_widths(smoothed.on_grid(c)[None], 1e-10)[0])
    )
    few, spread = smoothed.few_cells(c, value)
    noise = noise_of(few, seed, FEWER)

    def size(gaps: Floats) -> Floats:
        return smoothed.fixed_widths(spread(gaps), within=1e-5)

    # the fixed point reaches a width exactly when the size at that width does
    def at_value(gaps: Floats) -> Floats:
        return smoothed.sizes(spread(gaps))(value)

    null = smoothed.rough_widths(spread(noise.null[:_ENOUGH]))
    found = inverted(
        noise, at_value, level, size=size, value=value, expected=float(null.mean())
    )  # fmt: skip
    if convention == "relplot":
        found = found._replace(value=smooth_error(c))
    return calibrated(found, level, bound=_smece_bound(value, displacement(t)))


def _smece_bound(value: float, moved: float) -> float:
    """How far the fixed point can be off if rows lie elsewhere by that much in the mean."""
    if not moved:
        return 0.0
    reach = 4 * smoothed.REACH * moved
    above = (math.sqrt(value * value + reach) - value) / 2
    below = value - (value + math.sqrt(value * value - reach)) / 2 if value**2 > reach else value
    return max(above, below)


def _each_skce(t: Tally, neg: Floats, pos: Floats, neg2: Floats, pos2: Floats) -> Floats:
    """The value of each replicate."""
    p, total = chances(t).p, neg.sum(-1) + pos.sum(-1)
    both = _kernel_sum(p, 0.25)(pos * (1 - p) - neg * p)
    own = (pos2 * (1 - p) ** 2 + neg2 * p**2).sum(-1)
    return np.asarray((both - own) / (total * total - (neg2 + pos2).sum(-1)))


@measure(group="calibration", better="low", bounds=(-1.0, 1.0), title="SKCE", replicated=_each_skce)
def skce(t: Tally, *, width: float = 0.25, level: float = 0.95, seed: int = 0) -> Estimate:
    """Squared kernel calibration error: how much pairs of like scores err in the same direction.

    The mean over pairs of rows of (y - p)(y' - p') exp(-|p - p'| / width), without a row's pair with
    itself (Widmann, Lindsten and Zachariah 2019): unbiased, so near 0, on either side, for calibrated
    scores. The interval, for which nothing is below 0, inverts consistency tests along the gaps seen.

    >>> skce(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]))
    0.012 [0.000, 0.111]
    """
    if not 0.002 <= width < math.inf:
        raise BadInput(
            Option("width", width), " is no width of a kernel; 0.25 is usual, 0.002 the least"
        )
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    c = chances(t)
    total, squares = c.total, float(c.squares.sum())
    if squares >= total * total * (1 - 1e-12):
        return Estimate.undefined("one row makes no pair", level)
    share = total * total / (total * total - squares)  # of pairs in all pairs of rows

    def seen() -> float:
        both = float(_kernel_sum(c.p, width)((c.gap / total)[None])[0])
        return (both - _single(t, c) / total**2) * share

    value = kept(t, ("skce", width), seen)
    noise = path_noise(t, seed)
    few = noise.cells
    pairs = _kernel_sum(few.p, width)
    # of each cell: the squares of single rows, which depend on how many of them are positive
    turn = np.where(few.weight > 0, few.squares / few.weight, 0.0) * (1 - 2 * few.p) / total
    own = float(few.noise.sum()) / total**2

    def unbiased(gaps: Floats) -> Floats:
        return np.asarray((pairs(gaps) - (gaps * turn).sum(-1) - own) * share)

    found = inverted(noise, unbiased, level, size=pairs, value=value)
    bound = 2 * displacement(t) / width * share
    return calibrated(found, level, bound=bound, bounds=(-1.0, 1.0))


def _single(t: Tally, c: Chances) -> float:
    """Sum of w^2 (y - p)^2 over rows: their pairs with themselves."""
    if t.coarse is not None:
        return sum(m.square for m in t.coarse.losses["brier"])
    if t.weighted:
        return sum(m.square for m in loss_moments(t, "brier"))
    return inner(c.gap, 1 - 2 * c.p) + float(c.noise.sum())


def _kernel_sum(p: Floats, width: float) -> Statistic:
    """Sum of gap x gap' x exp(-|p - p'| / width) over all pairs of cells, in one pass over them."""
    rise, fall = np.exp(p / width), np.exp(-p / width)

    def total(gaps: Floats) -> Floats:
        below = np.cumsum(gaps * rise, axis=-1)
        return np.asarray(2 * (gaps * fall * below).sum(-1) - (gaps * gaps).sum(-1))

    return total
