"""How far are the scores from being probabilities? Errors that compare bins of scores.

The first functions serve all measures of calibration: when they are defined, and how they become
estimates.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import check
from scorewise.estimate import Estimate
from scorewise.inference import inversion
from scorewise.inference.inversion import Gaps, Inverted, ManyCells, Noise, Statistic, inverted
from scorewise.inference.scales import z
from scorewise.inference.shares import largest_gap
from scorewise.registry import measure
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.coarse import pooled_at, tied_within, why_open
from scorewise.tallies.probabilities import (
    Binning,
    Chances,
    Convention,
    beyond_mean,
    bin_index,
    binned,
    chances,
    check_bins,
    displacement,
    equal_mass,
    why_not_probable,
)
from scorewise.tallies.sorting import first_of_runs, kept

REPLICATES = 1000
FEWER = 300  # for measures of a hundred cells, each of which takes long
METHOD = "inverted consistency test"
_CELLS = 100
MOST_BINS = 1000
_AT_ONCE = 64  # edges of bins that are tried together, about


def lacking(t: Tally, level: float) -> str:
    """Why there is no calibration to judge, or nothing; refuses an invalid level."""
    z(level)
    return why_not_probable(t)


def scored(t: Tally | ClassTally, convention: str | None = None) -> Tally:
    """The tally that is judged: of several classes, the confidence against whether it was right."""
    if isinstance(t, Tally):
        return t
    # torchmetrics rounds the confidence of several classes to 32 bits, whatever the scores were
    if convention != "torchmetrics" or t.top.coarse is not None:
        return t.top
    score = t.top.score.astype(np.float32)
    return kept(
        t.top, "32 bits", lambda: pooled_at(replace(t.top, score=score), first_of_runs(score))
    )


def noise_of(c: Chances, seed: int, replicates: int = REPLICATES) -> Noise:
    """Replicates of the gaps of these cells, drawn once and kept with them."""
    return kept(c, ("noise", seed, replicates), lambda: Noise(c, replicates, seed))


def path_noise(t: Tally, seed: int) -> Noise:
    """Replicates on about a hundred cells of equal mass, for measures that need no bins."""
    c = chances(t)
    few = kept(t, "path", lambda: c.joined(equal_mass(c, _CELLS)))
    return noise_of(few, seed, FEWER)


def calibrated(
    found: Inverted,
    level: float,
    *,
    bound: float = 0.0,
    bounds: tuple[float, float] = (0.0, 1.0),
    how: str = METHOD,
    caution: str = "",
) -> Estimate:
    """The estimate, within the bounds of the measure."""
    value, low, high, expected, p = found
    more = {"bound": bound, "expected": expected, "p": p}
    return Estimate.within(bounds, value, low, high, level, how, caution=caution, **more)


@measure(group="calibration", better="low", title="ECE")
def ece(
    t: Tally | ClassTally, *, bins: int = 15, binning: Binning = "width", norm: float = 1.0,
    convention: Convention | None = None, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Mean distance between the share of positives in a bin and the mean probability there.

    (sum n_b/n |ybar_b - pbar_b|^norm)^(1/norm) over bins of equal "width", equal "mass", or one for each
    "value"; the largest distance where norm is inf. Chance alone makes it larger than 0: compare it with
    `expected`, what calibrated scores get. `convention` cuts bins as "sklearn", "netcal",
    "torchmetrics" or "relplot" do, or as the metric jordyvl/ece of the Hugging Face hub, which takes the
    upper edge of a bin for its probability. The interval inverts consistency tests along the gaps seen.
    Of several classes it is that of the highest probability against whether its class was right
    (top-label or top-1 calibration, Guo et al. 2017).

    >>> ece(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]), bins=2)
    0.290 [0.000, 0.462]
    >>> p = [[0.6, 0.2, 0.2], [0.0, 0.95, 0.05], [0.7, 0.1, 0.2]]
    >>> round(ece(ClassTally.of([0, 1, 2], p)).value, 7)
    0.3833333
    """
    t = scored(t, convention)
    check_bins(bins, binning, convention)
    check(norm=norm)
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    c = binned(t, bins, binning, convention)
    off = beyond_mean(t, c, bins, convention) / c.total
    error = Error(c, norm, off)
    limits = _error_limits(t, c, bins, binning, convention, norm)
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
    t: Tally | ClassTally, *, bins: int = 15, binning: Binning = "width",
    convention: Convention | None = None, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
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
    t: Tally | ClassTally,
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
    t = scored(t)
    check_bins(bins, binning, None)
    if why := lacking(t, level) or (why_open(t) if binning == "value" else ""):
        return Estimate.undefined(why, level)
    c = binned(t, bins, binning)
    error = Error(c, 2.0, root=not squared, debiased=True)
    size, limits = Error(c, 2.0, root=not squared), _debiased_limits(t, c, bins, binning)
    return _judged(c, error, size, limits, level, seed)


class Error:
    """An error in some norm, as a function of gaps: what cells add to it, and what is made of that.

    A debiased one is squared, less the noise of each bin; its root is shown, if not below 0.
    """

    def __init__(
        self, c: Chances, norm: float, off: Floats | None = None, *, root: bool = True,
        debiased: bool = False,
    ) -> None:  # fmt: skip
        self._cells, self._norm, self._root, self.debiased = c, norm, root, debiased
        self._off = off if off is not None and off.any() else None

    def part(self, used: slice) -> Statistic:
        """What some cells add."""
        c, norm, total = self._cells.part(used), self._norm, self._cells.total
        mass, off = c.weight / total, None if self._off is None else self._off[used]
        if self.debiased:
            rows = c.weight**2 / c.squares
            several = rows > 1 + 1e-9
            less, heed = np.where(several, rows - 1, np.inf), np.where(several, mass, 0.0)

            def squared(gaps: Floats) -> Floats:
                rate = gaps / mass
                share = np.clip(c.p + rate, 0.0, 1.0)
                return np.asarray((heed * (rate * rate - share * (1 - share) / less)).sum(-1))

            return squared

        def added(gaps: Floats) -> Floats:
            size = np.abs(gaps if off is None else gaps - off)
            if norm == 1:
                return np.asarray(size.sum(-1))
            rate = size / mass
            return np.asarray(rate.max(-1) if math.isinf(norm) else (mass * rate**norm).sum(-1))

        return added

    def made(self, added: Floats) -> Floats:
        """The error, of what all parts (the last axis) add."""
        if math.isinf(self._norm):
            return np.asarray(added.max(-1))
        total: Floats = added.sum(-1)
        rooted = self._root and self._norm != 1 and not self.debiased
        return total ** (1 / self._norm) if rooted else total

    def whole(self) -> Statistic:
        """The error as a function of the gaps of all cells."""
        all_cells = self.part(slice(None))
        return lambda gaps: self.made(all_cells(gaps)[..., None])

    def shown(self, error: Floats) -> Floats:
        """What is shown of it."""
        return np.sqrt(np.maximum(error, 0.0)) if self.debiased and self._root else error


def _judged(
    c: Chances, error: Error, size: Error, limits: tuple[float, float], level: float, seed: int
) -> Estimate:
    """The error of the gaps seen; `size` is that of gaps without noise, `limits` what cells allow."""
    value = float(error.shown(error.whole()((c.gap / c.total)[None]))[0])
    least, most = error.shown(np.array(limits)).tolist()
    bound = max(0.0, value - least, most - value)
    if len(c) > inversion.DRAWN:
        how = f"none: {len(c):,} bins are too many to draw labels for"
        return Estimate(value, level=level, method=how, bound=bound)
    noise: Gaps
    statistic: Statistic
    free: Statistic
    if len(c) > inversion.CELLS:
        noise = ManyCells(c, error.part, size.part, REPLICATES, seed)
        statistic, free, how = error.made, size.made, f"{METHOD}, {len(c):,} bins in blocks"
    else:
        noise = noise_of(c, seed)
        statistic, free, how = error.whole(), size.whole(), METHOD
    expected = float(error.shown(statistic(noise.null)).mean())
    found = inverted(noise, statistic, level, size=free, value=value, expected=expected)
    bounds = (-1.0, 1.0) if error.debiased else (0.0, 1.0)
    return calibrated(found, level, bound=bound, bounds=bounds, how=how)


# What a coarse tally leaves open: its cells may lie across the edges of bins. The grid of probabilities has
# the edges of the usual numbers of equal bins, and leaves these exact.


class _Open(NamedTuple):
    """For each bin: the gap and weight surely in it, and what cells across its edges may add."""

    gap: Floats
    weight: Floats
    squares: Floats
    up: Floats
    down: Floats
    more: Floats

    def rates(self) -> tuple[Floats, Floats]:
        """The least and the largest distance of the share of positives from the mean probability."""
        with np.errstate(divide="ignore", invalid="ignore"):
            high = np.maximum(self.gap + self.up, self.down - self.gap) / self.weight
            low = np.maximum(self.gap - self.down, -self.gap - self.up) / (self.weight + self.more)
        none = self.weight <= 0
        return np.where(none, 0.0, low.clip(0, 1)), np.where(none, 1.0, high.clip(0, 1))


def _open(t: Tally, bins: int, binning: Binning, convention: Convention | None) -> _Open | None:
    if t.coarse is None or binning != "width":
        return None
    c = chances(t)
    low, high = t.coarse.ends(t.kind)
    index = bin_index(bins, convention, t.score.dtype)
    first, last = index(low), index(high)
    across, n = first != last, int(last.max()) + 1
    if not across.any():
        return None
    sure = (np.bincount(first[~across], x[~across], n) for x in (c.gap, c.weight, c.squares))
    added, more = np.stack([t.pos * (1 - low), t.neg * high, t.pos + t.neg]), np.zeros((3, n))
    for i in np.flatnonzero(across):
        more[:, first[i] : last[i] + 1] += added[:, i, None]
    return _Open(*(x.astype(float) for x in sure), *more)


def _error_limits(
    t: Tally, c: Chances, bins: int, binning: Binning, convention: Convention | None, norm: float
) -> tuple[float, float]:
    """The least and the largest error that the cells allow; from inf to -inf where it is exact."""
    if binning == "value":
        return _limits_of_values(t, c, norm)
    parts = _open(t, bins, binning, convention)
    if parts is None:
        return math.inf, -math.inf
    low, high = parts.rates()
    if math.isinf(norm):
        return float(low.max()), float(high.max())
    share = [w / c.total for w in (parts.weight, parts.weight + parts.more)]
    least, most = (
        float((m * r**norm).sum() ** (1 / norm)) for m, r in zip(share, (low, high), strict=True)
    )
    return least, min(1.0, most)


def _limits_of_values(t: Tally, c: Chances, norm: float) -> tuple[float, float]:
    """The same where each score is a bin: of a cell, all rows may lie on one score or each on its own."""
    if t.coarse is None or (tied := tied_within(t)).all():
        return math.inf, -math.inf
    low, high = t.coarse.ends(t.kind)
    pos, neg = t.pos.astype(float), t.neg.astype(float)
    together = np.abs(c.gap) / c.weight
    above, below = np.where(tied, together, 1 - low), np.where(tied, together, high)
    if math.isinf(norm):
        apart = np.maximum(np.where(pos > 0, above, 0.0), np.where(neg > 0, below, 0.0))
        return float(together.max()), float(apart.max())
    least, most = (
        float((x / c.total).sum() ** (1 / norm))
        for x in (c.weight * together**norm, pos * above**norm + neg * below**norm)
    )
    return least, min(1.0, most)


def _debiased_limits(t: Tally, c: Chances, bins: int, binning: Binning) -> tuple[float, float]:
    """The same of the debiased squared error."""
    parts = _open(t, bins, binning, None)
    if parts is None:
        return math.inf, -math.inf
    low, high = parts.rates()
    share = parts.weight / c.total, (parts.weight + parts.more) / c.total
    some = np.where(parts.weight > 0, parts.weight, 1.0)
    rows = np.divide(parts.weight**2, parts.squares, out=np.zeros(len(low)), where=parts.weight > 0)
    noise = np.where(parts.more > 0, 0.25 / np.maximum(rows - 1, 0.25), 0.0)
    # a bin that has one row, or may have, counts as 0
    least = share[0] * np.where((parts.more > 0) & (rows < 2), 0.0, low**2) - share[1] * noise
    # the squared gap less its noise, of bins that no cell may join
    cells, rate, several = chances(t), parts.gap / some, rows > 1 + 1e-9
    index = bin_index(bins, None, t.score.dtype)(cells.p)
    mean = np.clip(np.bincount(index, cells.sum, minlength=len(rate)) / some + rate, 0.0, 1.0)
    chance = mean * (1 - mean) / np.where(several, rows - 1, np.inf)
    sure = share[0] * np.where(several, rate * rate - chance, 0.0)
    ends = (np.where(parts.more == 0, sure, x).sum() for x in (least, share[1] * high**2))
    return float(next(ends)), float(min(1.0, next(ends)))


@measure(group="calibration", better="low", title="ECE, sweep")
def ece_sweep(t: Tally | ClassTally, *, level: float = 0.95, seed: int = 0) -> Estimate:
    """Mean distance of shares from probabilities over as many bins as keep the shares rising.

    Bins of equal mass, that never split a score, are made more until the share of positives falls from
    one bin to the next for the first time; the number before that is used (Roelofs et al. 2022), at most
    1,000, or all distinct scores if the shares rise throughout. Less biased than `ece`. Beyond 65,536
    distinct scores, and for a coarse tally, bins do not split cells. The interval inverts
    consistency tests along the gaps seen, on a hundred cells.

    >>> ece_sweep(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]))
    0.290 [0.000, 0.427]
    """
    t = scored(t)
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    c = chances(t)
    value = kept(t, "sweep", lambda: float(_swept(c, (c.gap / c.total)[None])[0]))
    noise = path_noise(t, seed)
    few = noise.cells
    found = inverted(noise, lambda gaps: _swept(few, gaps), level, value=value)
    how = f"{METHOD}, on coarse cells" if displacement(t) else METHOD
    return calibrated(found, level, how=how)


def _swept(c: Chances, gaps: Floats) -> Floats:
    """The error of each row of gaps, over the most bins before the first that do not rise."""
    found: Floats = np.abs(gaps).sum(1)
    # cell by cell, since bins are sums of neighbours
    gap = np.ascontiguousarray(gaps.T)
    base = (c.sum / c.total)[:, None]
    falls = ~_rising((gap + base) * _unit(c.weight, c.total)).all(0)
    if not falls.any():
        return found
    gap = _upto(gap[:, falls])
    pos, who = gap + _upto(base), np.arange(gap.shape[1])
    rising = np.zeros(len(who), np.int64)  # how many numbers of bins do, beyond one
    edges: list[Ints] = [np.array([0, len(c)])]
    most = min(MOST_BINS, len(c))
    while len(who) and len(edges) < most:
        tried = _tried(c, len(edges) + 1, most)
        at = pos[tried.rows]
        share = at[1:] - at[:-1]
        share *= tried.unit
        rises = np.ones(share.shape, np.bool_)
        rises[:-1] = _rising(share)
        rises[tried.between] = True
        fall = rises.argmin(0)  # the first, if any
        going = rises[fall, np.arange(len(who))]
        rising[who] += np.where(going, len(tried.edges), tried.number[fall])
        who, pos, edges = who[going], pos[:, going], edges + tried.edges
    found[falls] = _total(gap, edges, rising)
    return found


def _total(upto: Floats, edges: list[Ints], which: Ints) -> Floats:
    """The error of each column over bins with one of several edges."""
    used, place = np.unique(which, return_inverse=True)
    longest = max(len(edges[k]) for k in used)
    # bins without cells have no gap
    padded = np.full((longest, len(used)), edges[0][-1])
    for column, k in enumerate(used):
        padded[: len(edges[k]), column] = edges[k]
    at = upto[padded[:, place], np.arange(upto.shape[1])]
    return np.asarray(np.abs(at[1:] - at[:-1]).sum(0))


class _Tried(NamedTuple):
    """Several numbers of bins: the edges of each, and of all one after the other.

    `unit` turns the positives between two edges into their share, of which `number` says to which number
    of bins it belongs; `between` two numbers of bins it means nothing.
    """

    edges: list[Ints]
    rows: Ints
    unit: Floats
    number: Ints
    between: Ints


def _tried(c: Chances, first: int, most: int) -> _Tried:
    """Some numbers of bins of equal mass, from the first on: with about a hundred edges in all, or more."""
    end = min(int(max(math.sqrt(first * first + 2 * _AT_ONCE), 1.4 * first)), most) + 1

    def made() -> _Tried:
        # the share of the mass up to the middle of each cell, and the mass up to each edge
        mass = kept(c, "mass", lambda: np.append(0.0, c.weight.cumsum()))
        middle = kept(c, "middle", lambda: (mass[1:] - c.weight / 2) / c.total)
        numbers = np.arange(first, end)
        bins = np.repeat(numbers, numbers + 1)
        place = np.concatenate([np.arange(n + 1) for n in numbers])
        start = np.where(place < bins, np.searchsorted(middle, (place - 1e-9) / bins), len(c))
        some = first_of_runs(bins, start)
        rows, number = start[some], bins[some] - first
        begin = first_of_runs(number)
        unit_of, between = _unit(np.diff(mass[rows]), c.total), begin[1:, None] - (2, 1)
        return _Tried(np.split(rows, begin[1:]), rows, unit_of, number, between.ravel())

    return kept(c, ("tried", first, end), made)


def _unit(weight: Floats, total: float) -> Floats:
    """What turns shares of all rows into those of their bins; a weight that vanishes has none."""
    return np.divide(total, weight, out=np.zeros(len(weight)), where=weight > 0)[:, None]


def _rising(share: Floats) -> Bools:
    """Whether each share is no lower than the one before."""
    return np.asarray(share[1:] - share[:-1] >= -1e-12)


def _upto(x: Floats) -> Floats:
    """Sums from the lowest cell up, beginning with none."""
    sums = np.zeros((len(x) + 1, x.shape[1]))
    np.cumsum(x, axis=0, out=sums[1:])
    return sums
