"""How far are the scores from being probabilities? Cumulative and smoothed gaps, without bins."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.checks import one_of
from scorewise.computing import cached
from scorewise.errors import BadInput, Setting
from scorewise.estimate import Estimate, Undefined, undefined_if
from scorewise.inference.inversion import Statistic, invert_test
from scorewise.measures.calibration_bins import FEWER, noise_of, pooled_noise, top_label
from scorewise.registry import measure
from scorewise.statistics.kernels import linear_binning
from scorewise.statistics.probabilities import (
    MAX_CELLS,
    ProbabilityCells,
    cell_starts,
    displacement,
    moments,
    probability_cells,
    why_not_probabilities,
)
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.runs import first_of_runs

_OVERSHOOT = 0.5826  # how far Brownian motion goes beyond its steps, in steps (Siegmund 1985)
_NULL_WIDTHS = 100  # replicates for the mean of fixed points
POINTS = 3465  # their middles are edges of the fixed grid, so that no cell lies across one
_MAX_POINTS, _FEW = 512, 64  # points for replicates, and cells that keep their places among these
REACH = 0.8  # a row moved by d changes the total size at width s by less than REACH d / s
_LEAST_WIDTH = 1e-3  # below which relplot does not look
_DENSITY = 1e-4  # what relplot adds to the density of rows


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

    return _estimate_of_path(t, level, seed, largest, lambda low, high: max(high, -low), 1)


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

    return _estimate_of_path(t, level, seed, span, lambda low, high: high - low, 2)


def _estimate_of_path(
    t: Tally,
    level: float,
    seed: int,
    statistic: Statistic,
    of_ends: Callable[[float, float], float],
    ends: int,
) -> Estimate:
    """A statistic of the cumulative gaps, by how many of their ends (`of_ends`) it is made of."""
    undefined_if(why_not_probabilities(t))
    low, high, lowest, highest = cached(t, "ends of path", lambda: _ends_of_path(t))
    least, most = of_ends(low, high), of_ends(lowest, highest)
    noise = pooled_noise(t, seed)
    found = invert_test(noise, statistic, level, value=(least + most) / 2)
    # how much further the path of all rows reaches, on average, than that of the pooled cells
    error = math.sqrt(max(0.0, float(noise.cells.noise.sum()))) / noise.total
    further = 1 / math.sqrt(len(noise.cells)) - 1 / math.sqrt(len(probability_cells(t)))
    found = found._replace(expected=found.expected + ends * (_OVERSHOOT * error * further))
    return found.estimate(level, bound=(most - least) / 2)


def _ends_of_path(t: Tally) -> list[float]:
    """The lowest and the highest point of the cumulative gaps, as shares of the whole, twice.

    The first two are certainly reached; the others are where a coarse tally's rows may reach between the
    ends of its cells.
    """
    low = high = below = 0.0
    joined = len(t.score) > MAX_CELLS and t.kind == "probability" and t.score.dtype == np.float64
    if t.coarse is None and not joined:
        for b in t.blocks():
            path = np.cumsum(b.pos - (b.neg + b.pos) * unit(b.score, t.kind))
            low, high = min(low, below + float(path.min())), max(high, below + float(path.max()))
            below += float(path[-1])
        return [x / (t.negatives + t.positives) for x in (low, high, low, high)]
    c = probability_cells(t)
    path = np.append(0.0, np.cumsum(c.gap))
    low, high = float(path.min()), float(path.max())
    if t.coarse is not None:
        first, last = t.coarse.ends(t.kind)
        up = path[:-1] + np.where(first < last, t.pos * (1 - first), 0.0)
        down = path[:-1] - np.where(first < last, t.neg * last, 0.0)
        lowest, highest = min(low, float(down.min())), max(high, float(up.max()))
        return [x / c.total for x in (low, high, lowest, highest)]
    # of very many scores, only cells in which the path may go further are looked into
    up = path[:-1] + c.pos * (1 - c.low)
    down = path[:-1] - (c.weight - c.pos) * np.append(c.low[1:], 1.0)
    start = np.append(cell_starts(t), len(t.score))
    for k in np.flatnonzero((up > high) | (down < low)):
        at = slice(start[k], start[k + 1])
        inside = path[k] + np.cumsum(t.pos[at] - (t.neg[at] + t.pos[at]) * t.score[at])
        low, high = min(low, float(inside.min())), max(high, float(inside.max()))
    return [x / c.total for x in (low, high, low, high)]


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
    t = top_label(t)
    one_of("convention", convention, (None, "relplot"))
    undefined_if(why_not_probabilities(t))
    c = probability_cells(t)
    value = cached(t, "smece", lambda: float(_fixed_widths(_on_grid(c)[None], 1e-10)[0]))
    few, on_points = _few_cells(c, value)
    noise = noise_of(few, seed, FEWER)

    def size(gaps: Floats) -> Floats:
        return _fixed_widths(on_points(gaps), within=1e-5)

    # the fixed point reaches a width exactly when the size at that width does
    def at_value(gaps: Floats) -> Floats:
        return _smoothed_sizes(on_points(gaps))(value)

    expected = float(_rough_widths(on_points(noise.null[:_NULL_WIDTHS])).mean())
    found = invert_test(noise, at_value, level, size=size, value=value, expected=expected)
    if convention == "relplot":
        found = found._replace(value=_relplot_error(c))
    return found.estimate(level, bound=_smece_bound(value, displacement(t)))


def _smece_bound(value: float, displaced: float) -> float:
    """How far the fixed point can be off if rows lie elsewhere by that much in the mean."""
    if not displaced:
        return 0.0
    reach = 4 * REACH * displaced
    above = (math.sqrt(value * value + reach) - value) / 2
    below = value - (value + math.sqrt(value * value - reach)) / 2 if value**2 > reach else value
    return max(above, below)


def _skce_values(t: Tally, neg: Floats, pos: Floats, neg2: Floats, pos2: Floats) -> Floats:
    """The value of each replicate."""
    p, total = probability_cells(t).p, neg.sum(-1) + pos.sum(-1)
    both = _kernel_sum(p, 0.25)(pos * (1 - p) - neg * p)
    own = (pos2 * (1 - p) ** 2 + neg2 * p**2).sum(-1)
    return np.asarray((both - own) / (total * total - (neg2 + pos2).sum(-1)))


@measure(
    group="calibration", better="low", bounds=(-1.0, 1.0), title="SKCE", replicated=_skce_values
)
def skce(t: Tally, *, width: float = 0.25, level: float = 0.95, seed: int = 0) -> Estimate:
    """Squared kernel calibration error: how much pairs of like scores err in the same direction.

    The mean over pairs of rows of (y - p)(y' - p') exp(-|p - p'| / width), without a row's pair with
    itself (Widmann, Lindsten and Zachariah 2019): unbiased, so near 0, on either side, for calibrated
    scores. The interval, for which nothing is below 0, inverts consistency tests along the gaps seen.

    >>> skce(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]))
    0.012 [0.000, 0.111]
    """
    if not 0.002 <= width < math.inf:
        raise BadInput(Setting("width"), f" must be at least 0.002, such as 0.25; got {width:g}")
    undefined_if(why_not_probabilities(t))
    c = probability_cells(t)
    total, squares = c.total, float(c.squares.sum())
    if squares >= total * total * (1 - 1e-12):
        raise Undefined("one row makes no pair")
    share = total * total / (total * total - squares)  # of pairs in all pairs of rows

    def of_pairs() -> float:
        both = float(_kernel_sum(c.p, width)((c.gap / total)[None])[0])
        with_itself = sum(m.square for m in moments(t, "brier", None))  # of w^2 (y - p)^2
        return (both - with_itself / total**2) * share

    value = cached(t, ("skce", width), of_pairs)
    noise = pooled_noise(t, seed)
    few = noise.cells
    pairs = _kernel_sum(few.p, width)
    # of each cell: the squares of single rows, which depend on how many of them are positive
    turn = np.where(few.weight > 0, few.squares / few.weight, 0.0) * (1 - 2 * few.p) / total
    own = float(few.noise.sum()) / total**2

    def unbiased(gaps: Floats) -> Floats:
        return np.asarray((pairs(gaps) - (gaps * turn).sum(-1) - own) * share)

    found = invert_test(noise, unbiased, level, size=pairs, value=value)
    bound = 2 * displacement(t) / width * share
    return found.estimate(level, bound=bound, bounds=(-1.0, 1.0))


def _kernel_sum(p: Floats, width: float) -> Statistic:
    """Sum of gap x gap' x exp(-|p - p'| / width) over all pairs of cells, in one pass over them."""
    rise, fall = np.exp(p / width), np.exp(-p / width)

    def total(gaps: Floats) -> Floats:
        below = np.cumsum(gaps * rise, axis=-1)
        return np.asarray(2 * (gaps * fall * below).sum(-1) - (gaps * gaps).sum(-1))

    return total


# Gaps smoothed by the Gaussian with reflecting ends at 0 and 1. It is diagonal in cosines: one of k half
# turns shrinks by exp(-(pi k width)^2 / 2). So gaps are dealt to the points of a grid, and one cosine
# transform serves all widths.


def _on_grid(c: ProbabilityCells) -> Floats:
    """The gaps, as shares of the whole, dealt linearly to the middles of equal cells."""
    # the first and the last half cell reflect into the grid
    place = np.clip(c.p * POINTS - 0.5, 0.0, POINTS - 1.0)
    return linear_binning(place, c.gap / c.total, 0.0, 1.0, POINTS - 1)


def _smoothed_sizes(gaps: Floats) -> Callable[[Any], Floats]:
    """The total size of gaps on a grid (the last axis) after smoothing, as a function of the width.

    That is a number, one for each row of gaps, or a column of numbers for all rows.

    >>> gaps = np.array([[0.0, 0.2, -0.2, 0.0]])
    >>> size = _smoothed_sizes(gaps)
    >>> size(1e-9).round(3), size(0.2).round(3), size(1.0).round(3)
    (array([0.4]), array([0.198]), array([0.001]))
    """
    from scipy.fft import dct, idct

    waves = dct(gaps, axis=-1, norm="ortho")
    turns = (np.pi * np.arange(gaps.shape[-1])) ** 2 / 2

    def size(width: Any) -> Floats:
        each = np.asarray(width)[..., None]
        shrunk = idct(waves * np.exp(-turns * each * each), axis=-1, norm="ortho", overwrite_x=True)
        return np.asarray(np.abs(shrunk, out=shrunk).sum(-1))

    return size


def _fixed_widths(gaps: Floats, within: float = 1e-14) -> Floats:
    """For each row of gaps on a grid, the width at which the total size equals it; 0 where none is left.

    >>> _fixed_widths(np.array([[0.0, 0.2, -0.2, 0.0], [0.0, 0.0, 0.0, 0.0]])).round(4)
    array([0.199, 0.   ])
    """
    size, narrow = _smoothed_sizes(gaps), 1e-9
    # the size falls as the width grows: from that at the least width to that at the largest
    most, least = size(narrow), size(1.0)
    low, high = np.maximum(narrow, least), np.minimum(1.0, most)
    at_low, at_high = size(low) - low, size(high) - high
    found: Floats = np.where(at_low <= 0, low, high)
    found[most <= narrow] = 0.0
    going = (most > narrow) & (at_low > 0) & (at_high < 0)
    for _ in range(60):
        if not going.any():
            break
        # the Illinois variant of false position
        way = np.where(going, at_high - at_low, 1.0)
        found = np.where(going, low - at_low * (high - low) / way, found)
        at = size(found) - found
        going &= (np.abs(at) >= within) & (high - low >= 10 * within)
        up, down = going & (at > 0), going & (at <= 0)
        at_low, at_high = (
            np.where(up, at, np.where(down, at_low / 2, at_low)),
            np.where(down, at, np.where(up, at_high / 2, at_high)),
        )
        low, high = np.where(up, found, low), np.where(down, found, high)
    return found


def _rough_widths(gaps: Floats) -> Floats:
    """The same, straight between nine widths: for replicates."""
    size = _smoothed_sizes(gaps)
    low: Floats = np.maximum(np.abs(gaps.sum(-1)), 1e-9)
    top = float(np.abs(gaps).sum(-1).max())
    if top <= low.min():
        return low
    # the size falls as the width grows, so the widths are between these ends
    widths = np.geomspace(max(float(low.min()), top / 64), top, 9)
    beyond = (size(widths[:, None]) - widths[:, None]).T
    at = np.clip((beyond > 0).sum(-1), 1, len(widths) - 1)
    a, b = (np.take_along_axis(beyond, (at + k)[:, None], -1)[:, 0] for k in (-1, 0))
    share = np.clip(np.divide(a, a - b, out=np.zeros(len(a)), where=a != b), 0.0, 1.0)
    found: Floats = widths[at - 1] + share * (widths[at] - widths[at - 1])
    return found


def _few_cells(c: ProbabilityCells, width: float) -> tuple[ProbabilityCells, Statistic]:
    """Cells for replicates, and how their gaps are put on a grid.

    Up to 64 cells stay as they are, each dealt to the two points beside it: gaps that nearly cancel
    depend on where they are. More are joined to equal cells half a width across, at most 512.
    """
    if len(c) <= _FEW:
        place = np.clip(c.p * _MAX_POINTS - 0.5, 0.0, _MAX_POINTS - 1.0)
        share = np.maximum(1 - np.abs(place[:, None] - np.arange(_MAX_POINTS)), 0.0)
        return c, lambda gaps: gaps @ share
    points = int(np.clip(np.ceil(2 / max(width, 1e-3)), 48, _MAX_POINTS))

    def cell(p: Floats) -> Ints:
        return np.clip((p * points).astype(np.int64), 0, points - 1)

    few = c.joined(first_of_runs(cell(c.p)))
    at = cell(few.p)

    def on_points(gaps: Floats) -> Floats:
        if len(at) == points:
            return gaps
        full = np.zeros((*gaps.shape[:-1], points))
        full[..., at] = gaps
        return full

    return few, on_points


def _relplot_error(c: ProbabilityCells) -> float:
    """The total size of the smoothed gaps at the last width above the fixed point, of ten halvings.

    Unlike in `_smoothed_sizes`, the Gaussian ends at 0.5 from its middle, the result may lie some
    thousandths below the fixed point, and what lies at 0 or 1 counts only half.
    """
    above, below = 1.0, 0.0
    if _relplot_size(c, above) > above:
        return _relplot_size(c, above)
    for _ in range(10):
        middle = (above + below) / 2
        if middle < _LEAST_WIDTH or middle < _relplot_size(c, middle):
            below = middle
        else:
            above = middle
    return _relplot_size(c, above)


def _relplot_size(c: ProbabilityCells, width: float) -> float:
    points = max(2000, round(20 / width)) // 2 + 1
    at = np.linspace(0.0, 1.0, points)
    kernel = np.exp(-((at - 0.5) ** 2) / (2 * width * width))
    kernel /= np.sqrt(2 * np.pi) * width
    mesh = np.linspace(0.0, 1.0, max(round(10 / width), 200))
    gap, mass = (np.interp(mesh, at, _smoothed(c, x, kernel)) for x in (c.gap, c.weight))
    return float(np.abs(gap).sum() / (mass + _DENSITY).sum())


def _smoothed(c: ProbabilityCells, amount: Floats, kernel: Floats) -> Floats:
    """Amounts dealt linearly to the points of a grid, and smoothed with reflecting ends."""
    from scipy.signal import fftconvolve

    points = len(kernel)
    values = linear_binning(c.p * (points - 1), amount, 0.0, 1.0, points - 1)
    reflected = np.concatenate([values[:0:-1], values, values[-2::-1]])
    smoothed: Floats = fftconvolve(reflected, kernel, "valid")[points // 2 :][:points]
    return smoothed
