"""How far are the scores from being probabilities? Errors that compare bins of scores."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.inversion import Gaps, Statistic, inverted
from scorewise.intervals.many_cells import CELLS, DRAWN, ManyCells
from scorewise.intervals.monotone import largest_gap
from scorewise.measures._calibrated import METHOD, REPLICATES, calibrated, lacking, noise_of
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.bins import Binning, Convention, beyond_mean, binned, check_bins
from scorewise.tallies.chances import Chances
from scorewise.tallies.extremes import why_open
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
    0.290 [0.000, 0.462]
    """
    check_bins(bins, binning, convention)
    if not norm >= 1:
        raise BadInput(f"norm={norm:g} is below 1; 1 is usual, 2 weighs large gaps, inf takes one")
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    c = binned(t, bins, binning, convention)
    off = beyond_mean(t, c, bins, convention) / c.total
    error = _Norm(c, norm, off)
    limits = error_limits(t, c, bins, binning, convention, norm)
    e = _judged(c, error, error, limits, level, seed)
    if not math.isinf(norm) or math.isnan(e.high):
        return e
    # the largest gap may be that of any bin: none is known better than its own rows tell
    far = largest_gap(c, off * c.total / c.weight, level)
    return replace(
        e, high=max(e.high, min(far + e.bound, 1.0)), method=f"{e.method}, exact in each bin"
    )


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
    0.317 [0.000, 0.592]
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
    0.292 [0.000, 0.552]
    """
    check_bins(bins, binning, None)
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    if binning == "value" and (why := why_open(t)):
        return Estimate.undefined(why, level)
    c = binned(t, bins, binning)
    size = _Norm(c, 2.0, root=not squared)
    limits = debiased_limits(t, c, bins, binning)
    return _judged(c, _Debiased(c, root=not squared), size, limits, level, seed)


class _Norm:
    """An error in some norm, as a function of gaps: what cells add to it, and what is made of it."""

    def __init__(
        self, c: Chances, norm: float, off: Floats | None = None, *, root: bool = True
    ) -> None:
        self._mass, self._norm, self._root = c.weight / c.total, norm, root
        self._off = np.zeros(len(c)) if off is None else off

    def part(self, used: slice) -> Statistic:
        """What some cells add."""
        norm, mass, off = self._norm, self._mass[used], self._off[used]
        shifted = bool(off.any())

        def added(gaps: Floats) -> Floats:
            size = np.abs(gaps - off if shifted else gaps)
            total: Floats
            if norm == 1:
                total = size.sum(-1)
                return total
            rate = size / mass
            total = rate.max(-1) if math.isinf(norm) else (mass * rate**norm).sum(-1)
            return total

        return added

    def made(self, added: Floats) -> Floats:
        """The error, of what all parts (the last axis) add."""
        if math.isinf(self._norm):
            return np.asarray(added.max(-1))
        total: Floats = added.sum(-1)
        return total ** (1 / self._norm) if self._root and self._norm != 1 else total

    def shown(self, error: Floats) -> Floats:
        return error


class _Debiased:
    """The squared error less the noise of each bin, in the same way; its root is shown, if not below 0."""

    def __init__(self, c: Chances, *, root: bool) -> None:
        self._mass, self._p, self._root = c.weight / c.total, c.p, root
        self._rows = c.weight**2 / c.squares

    def part(self, used: slice) -> Statistic:
        mass, p, rows = self._mass[used], self._p[used], self._rows[used]
        several = rows > 1 + 1e-9
        less = np.where(several, rows - 1, np.inf)
        kept = np.where(several, mass, 0.0)

        def added(gaps: Floats) -> Floats:
            rate = gaps / mass
            share = np.clip(p + rate, 0.0, 1.0)
            total: Floats = (kept * (rate * rate - share * (1 - share) / less)).sum(-1)
            return total

        return added

    def made(self, added: Floats) -> Floats:
        return np.asarray(added.sum(-1))

    def shown(self, error: Floats) -> Floats:
        return np.sqrt(np.maximum(error, 0.0)) if self._root else error


def _judged(
    c: Chances,
    error: _Norm | _Debiased,
    size: _Norm,
    limits: tuple[float, float],
    level: float,
    seed: int,
) -> Estimate:
    """The error of the gaps seen; `size` is that of gaps without noise, `limits` what cells allow."""

    def whole(of: _Norm | _Debiased) -> Statistic:
        all_cells = of.part(slice(None))
        return lambda gaps: of.made(all_cells(gaps)[..., None])

    value = float(error.shown(whole(error)((c.gap / c.total)[None]))[0])
    least, most = (float(error.shown(np.array([x]))[0]) for x in limits)
    bound = max(0.0, value - least, most - value)
    if len(c) > DRAWN:
        how = f"none: {len(c):,} bins are too many to draw labels for"
        return Estimate(value, level=level, method=how, bound=bound)
    many = len(c) > CELLS
    noise: Gaps
    statistic: Statistic
    free: Statistic
    if many:
        noise = ManyCells(c, error.part, size.part, REPLICATES, seed)
        statistic, free = error.made, size.made
    else:
        noise = noise_of(c, seed)
        statistic, free = whole(error), whole(size)
    expected = float(error.shown(statistic(noise.null)).mean())
    found = inverted(noise, statistic, level, size=free, value=value, expected=expected)
    bounds = (-1.0, 1.0) if isinstance(error, _Debiased) else (0.0, 1.0)
    how = f"{METHOD}, {len(c):,} bins in blocks" if many else METHOD
    return calibrated(found, level, bound=bound, bounds=bounds, how=how)
