"""How far are the scores from being probabilities? Errors that compare bins of scores."""

from __future__ import annotations

import math

import numpy as np

from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.inversion import Statistic, inverted
from scorewise.measures._calibrated import calibrated, lacking, noise_of
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.bins import Binning, Convention, beyond_mean, binned, check_bins
from scorewise.tallies.chances import Chances, Floats
from scorewise.tallies.split_bins import debiased_limits, error_limits


@measure(group="calibration", better="low", title="ECE")
def ece(
    t: Tally,
    *,
    bins: int = 15,
    binning: Binning = "width",
    norm: float = 1.0,
    convention: Convention | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Mean distance between the share of positives in a bin and the mean probability there.

    (sum n_b/n |ybar_b - pbar_b|^norm)^(1/norm) over bins of equal "width", equal "mass", or one for each
    "value"; the largest distance where norm is inf. Chance alone makes it larger than 0: compare it with
    `expected`, what calibrated scores get. `convention` cuts bins as "sklearn", "netcal",
    "torchmetrics" or "relplot" do, or as the metric jordyvl/ece of the Hugging Face hub, which takes the
    upper edge of a bin for its probability. The interval inverts consistency tests along the gaps seen.

    >>> ece(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]), bins=2)
    0.290 [0.000, 0.290]
    """
    check_bins(bins, binning, convention)
    if not norm >= 1:
        raise BadInput(f"norm={norm:g} is below 1; 1 is usual, 2 weighs large gaps, inf takes one")
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    c = binned(t, bins, binning, convention)
    plain, off = _error(c, norm), beyond_mean(t, c, bins, convention) / c.total
    error = (lambda gaps: plain(gaps - off)) if off.any() else plain
    found = inverted(noise_of(c, seed), error, level)
    least, most = error_limits(t, c, bins, binning, convention, norm)
    return calibrated(found, level, bound=max(0.0, found.value - least, most - found.value))


@measure(group="calibration", better="low", title="Max. calibration error")
def max_ce(
    t: Tally,
    *,
    bins: int = 15,
    binning: Binning = "width",
    convention: Convention | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Largest distance, over bins, of the share of positives from the mean probability.

    `ece` with norm=inf. A bin of few rows decides it, so `expected` is large. The interval inverts
    consistency tests along the gaps seen.

    >>> max_ce(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]), bins=2)
    0.317 [0.000, 0.317]
    """
    return ece(
        t, bins=bins, binning=binning, norm=math.inf, convention=convention, level=level, seed=seed
    )


@measure(group="calibration", better="low", title="Debiased L2 error")
def ce_l2_debiased(
    t: Tally,
    *,
    bins: int = 15,
    binning: Binning = "width",
    squared: bool = False,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Root mean square distance of shares from probabilities over bins, less what chance adds.

    From each bin's (ybar_b - pbar_b)^2 its noise ybar_b (1 - ybar_b)/(n_b - 1) is taken off, whatever
    the sign (Kumar, Liang and Ma 2019); the root is 0 where the sum is below 0, and squared=True gives
    the sum itself. Bins of one row cannot tell gap from noise and count as 0. Weights count as effective
    rows. The interval inverts consistency tests along the gaps seen.

    >>> ce_l2_debiased(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]), bins=2)
    0.292 [0.000, 0.292]
    """
    check_bins(bins, binning, None)
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    c = binned(t, bins, binning)
    plain = _error(c, 2.0)
    size = (lambda gaps: plain(gaps) ** 2) if squared else plain
    raw, root = _debiased(c), _root if not squared else float
    noise = noise_of(c, seed)
    value = root(float(raw(noise.gap[None])[0]))
    expected = None if squared else float(_roots(raw(noise.null)).mean())
    found = inverted(noise, raw, level, size=size, value=value, expected=expected)
    least, most = (root(x) for x in debiased_limits(t, c, bins, binning))
    bound = max(0.0, found.value - least, most - found.value)
    return calibrated(found, level, bound=bound, bounds=(-1.0 if squared else 0.0, 1.0))


def _root(x: float) -> float:
    return math.sqrt(max(x, 0.0))


def _roots(x: Floats) -> Floats:
    return np.sqrt(np.maximum(x, 0.0))


def _error(c: Chances, norm: float) -> Statistic:
    """The error in some norm, as a function of gaps."""
    mass = c.weight / c.total

    def error(gaps: Floats) -> Floats:
        size = np.abs(gaps)
        total: Floats
        if norm == 1:
            total = size.sum(-1)
            return total
        rate = size / mass
        total = rate.max(-1) if math.isinf(norm) else (mass * rate**norm).sum(-1) ** (1 / norm)
        return total

    return error


def _debiased(c: Chances) -> Statistic:
    """The squared error less the noise of each bin, as a function of gaps."""
    mass, p = c.weight / c.total, c.p
    rows = c.weight**2 / c.squares
    several = rows > 1 + 1e-9
    less = np.where(several, rows - 1, np.inf)
    kept = np.where(several, mass, 0.0)

    def error(gaps: Floats) -> Floats:
        rate = gaps / mass
        share = np.clip(p + rate, 0.0, 1.0)
        total: Floats = (kept * (rate * rate - share * (1 - share) / less)).sum(-1)
        return total

    return error
