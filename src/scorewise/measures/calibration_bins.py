"""How far are the scores from being probabilities? Errors that compare bins of scores."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import check
from scorewise.computing import cached
from scorewise.estimate import Estimate, undefined_if
from scorewise.inference import inversion
from scorewise.inference.inversion import METHOD, Gaps, ManyCells, Noise, Statistic, invert_test
from scorewise.inference.scales import effective_size
from scorewise.inference.shares import largest_gap
from scorewise.registry import measure
from scorewise.statistics.probabilities import (
    Binning,
    Convention,
    ProbabilityCells,
    beyond_mean,
    bin_index,
    binned,
    check_bins,
    displacement,
    equal_mass,
    probability_cells,
    why_not_probabilities,
)
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.coarse import pooled_at, tied_within, why_undecided
from scorewise.tallies.runs import add_runs, first_of_runs

REPLICATES = 1000
FEWER = 300  # for measures of a hundred cells, each of which takes long
_CELLS = 100
MAX_BINS = 1000


def top_label(t: Tally | ClassTally, convention: str | None = None) -> Tally:
    """The tally itself; of several classes, that of the confidence against whether it was right."""
    if isinstance(t, Tally):
        return t
    # torchmetrics rounds the confidence of several classes to 32 bits, whatever the scores were
    if convention != "torchmetrics" or t.top.coarse is not None:
        return t.top
    score = t.top.score.astype(np.float32)
    return cached(
        t.top, "32 bits", lambda: pooled_at(replace(t.top, score=score), first_of_runs(score))
    )


def noise_of(c: ProbabilityCells, seed: int, replicates: int = REPLICATES) -> Noise:
    """Replicates of the gaps of these cells, drawn once and kept with them."""
    return cached(c, ("noise", seed, replicates), lambda: Noise(c, replicates, seed))


def pooled_noise(t: Tally, seed: int) -> Noise:
    """Replicates on about a hundred cells of equal mass, for measures that need no bins."""
    c = probability_cells(t)
    few = cached(t, "hundred cells", lambda: c.joined(equal_mass(c, _CELLS)))
    return noise_of(few, seed, FEWER)


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
    t = top_label(t, convention)
    check_bins(bins, binning, convention)
    check(norm=norm)
    undefined_if(why_not_probabilities(t))
    c = binned(t, bins, binning, convention)
    offset = beyond_mean(t, c, bins, convention) / c.total
    limits = _error_limits(t, c, bins, binning, convention, norm)
    e = _estimate(BinnedError(c, norm, offset), limits, level, seed)
    if not math.isinf(norm) or math.isnan(e.high):
        return e
    # the largest gap may be that of any bin: none is known better than its own rows tell
    largest = largest_gap(c, offset * c.total / c.weight, level)
    high = max(e.high, min(largest + e.bound, 1.0))
    return replace(e, high=high, method=f"{e.method}, exact in each bin")


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
    t = top_label(t)
    check_bins(bins, binning, None)
    undefined_if(why_not_probabilities(t) or (why_undecided(t) if binning == "value" else ""))
    c = binned(t, bins, binning, None)
    error = BinnedError(c, 2.0, root=not squared, debiased=True)
    return _estimate(error, _debiased_limits(t, c, bins, binning), level, seed)


@dataclass(frozen=True)
class BinnedError:
    """An error of bins in some norm, as a function of their gaps; `offset` is taken off each gap.

    A debiased one is squared, less the noise of each bin; its root is shown, if not below 0.
    """

    cells: ProbabilityCells
    norm: float
    offset: Floats | None = None
    root: bool = True
    debiased: bool = False

    def part(self, used: slice) -> Statistic:
        """What some bins add to the error."""
        c, norm, total = self.cells.part(used), self.norm, self.cells.total
        mass = c.weight / total
        if self.debiased:
            several = c.rows > 1 + 1e-9
            free, known = np.where(several, c.rows - 1, np.inf), np.where(several, mass, 0.0)

            def squared(gaps: Floats) -> Floats:
                rate = gaps / mass
                share = np.clip(c.p + rate, 0.0, 1.0)
                return np.asarray((known * (rate * rate - share * (1 - share) / free)).sum(-1))

            return squared
        offset = 0.0 if self.offset is None else self.offset[used]

        def added(gaps: Floats) -> Floats:
            size = np.abs(gaps - offset)
            if norm == 1:
                return np.asarray(size.sum(-1))
            rate = size / mass
            return np.asarray(rate.max(-1) if math.isinf(norm) else (mass * rate**norm).sum(-1))

        return added

    def of_parts(self, added: Floats) -> Floats:
        """The error, of what all parts (the last axis) add."""
        if math.isinf(self.norm):
            return np.asarray(added.max(-1))
        total: Floats = added.sum(-1)
        rooted = self.root and self.norm != 1 and not self.debiased
        return total ** (1 / self.norm) if rooted else total

    @cached_property
    def of_gaps(self) -> Statistic:
        """The error as a function of the gaps of all bins."""
        of_all = self.part(slice(None))
        return lambda gaps: self.of_parts(of_all(gaps)[..., None])

    def shown(self, error: Floats) -> Floats:
        """What is shown of it."""
        return np.sqrt(np.maximum(error, 0.0)) if self.debiased and self.root else error


def _estimate(error: BinnedError, limits: tuple[float, float], level: float, seed: int) -> Estimate:
    """The error of the gaps seen; `limits` are the least and the largest that a coarse tally allows."""
    c = error.cells
    value = float(error.shown(error.of_gaps((c.gap / c.total)[None]))[0])
    least, most = error.shown(np.array(limits)).tolist()
    bound = max(0.0, value - least, most - value)
    if len(c) > inversion.DRAWN:
        method = f"none: {len(c):,} bins are too many to draw labels for"
        return Estimate(value, level=level, method=method, bound=bound)
    size = replace(error, debiased=False)  # of gaps without noise
    noise: Gaps
    statistic: Statistic
    free: Statistic
    if len(c) > inversion.CELLS:
        noise = ManyCells(c, error.part, size.part, REPLICATES, seed)
        statistic, free, method = (
            error.of_parts,
            size.of_parts,
            f"{METHOD}, {len(c):,} bins in blocks",
        )
    else:
        noise = noise_of(c, seed)
        statistic, free, method = error.of_gaps, size.of_gaps, METHOD
    expected = float(error.shown(statistic(noise.null)).mean())
    found = invert_test(noise, statistic, level, size=free, value=value, expected=expected)
    bounds = (-1.0, 1.0) if error.debiased else (0.0, 1.0)
    return found.estimate(level, bound=bound, bounds=bounds, method=method)


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
    c = probability_cells(t)
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
    t: Tally,
    c: ProbabilityCells,
    bins: int,
    binning: Binning,
    convention: Convention | None,
    norm: float,
) -> tuple[float, float]:
    """The least and the largest error that the cells allow; from inf to -inf where it is exact."""
    parts = _open(t, bins, binning, convention)
    if parts is not None:
        low, high = parts.rates()
        sides = (parts.weight, low), (parts.weight + parts.more, high)
    elif binning == "value" and t.coarse is not None and not (tied := tied_within(t)).all():
        # all rows of a cell may lie on one score, or each on its own
        together, ends = np.abs(c.gap) / c.weight, t.coarse.ends(t.kind)
        apart = np.where(tied, together, np.stack((1 - ends[0], ends[1])))
        mass = np.stack((t.pos, t.neg)).astype(float)
        sides = (c.weight, together), (mass, np.where(mass > 0, apart, 0.0))
    else:
        return math.inf, -math.inf
    least, most = (
        rate.max() if math.isinf(norm) else (mass / c.total * rate**norm).sum() ** (1 / norm)
        for mass, rate in sides
    )
    return float(least), float(min(1.0, most))


def _debiased_limits(
    t: Tally, c: ProbabilityCells, bins: int, binning: Binning
) -> tuple[float, float]:
    """The same of the debiased squared error."""
    parts = _open(t, bins, binning, None)
    if parts is None:
        return math.inf, -math.inf
    low, high = parts.rates()
    share = parts.weight / c.total, (parts.weight + parts.more) / c.total
    some = np.where(parts.weight > 0, parts.weight, 1.0)
    rows = effective_size(parts.weight, parts.squares)
    noise = np.where(parts.more > 0, 0.25 / np.maximum(rows - 1, 0.25), 0.0)
    # a bin that has one row, or may have, counts as 0
    least = share[0] * np.where((parts.more > 0) & (rows < 2), 0.0, low**2) - share[1] * noise
    # the squared gap less its noise, of bins that no cell may join
    cells, rate, several = probability_cells(t), parts.gap / some, rows > 1 + 1e-9
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
    t = top_label(t)
    undefined_if(why_not_probabilities(t))
    c = probability_cells(t)
    value = cached(t, "sweep", lambda: float(_swept(c, (c.gap / c.total)[None])[0]))
    noise = pooled_noise(t, seed)
    found = invert_test(noise, lambda gaps: _swept(noise.cells, gaps), level, value=value)
    return found.estimate(level, method=method_on_cells(t))


def method_on_cells(t: Tally) -> str:
    """The method of the interval of a value that is that of the cells themselves."""
    return f"{METHOD}, on coarse cells" if displacement(t) else METHOD


def _swept(c: ProbabilityCells, gaps: Floats) -> Floats:
    """The error of each row of gaps, over the most bins before the first number that does not rise."""
    error: Floats = np.abs(gaps).sum(1)
    # cell by cell, since bins are sums of neighbours
    gap, base = np.ascontiguousarray(gaps.T), (c.sum / c.total)[:, None]
    falls = ~_rising((gap + base) * _per_row(c.weight, c.total)).all(0)
    if not falls.any():
        return error
    gap = _upto(gap if falls.all() else gap[:, falls])
    pos, who = gap + _upto(base), np.arange(gap.shape[1])
    bins = np.ones(len(who), np.int64)
    for n in range(2, min(MAX_BINS, len(c)) + 1):
        edges, per_row = _edges(c, n)
        at = pos[edges]
        share = at[1:] - at[:-1]
        share *= per_row
        rises = _rising(share).all(0)
        if not rises.all():
            who, pos = who[rises], pos[:, rises]
            if not len(who):
                break
        bins[who] = n
    used, which = np.unique(bins, return_inverse=True)
    edges_of = [_edges(c, n)[0] for n in used.tolist()]
    # bins beyond those of a number have no cells, and so no gap
    padded = np.full((max(map(len, edges_of)), len(used)), len(c))
    for column, edges in enumerate(edges_of):
        padded[: len(edges), column] = edges
    at = gap[padded[:, which], np.arange(gap.shape[1])]
    error[falls] = np.abs(at[1:] - at[:-1]).sum(0)
    return error


def _edges(c: ProbabilityCells, bins: int) -> tuple[Ints, Floats]:
    """The edges of bins of equal mass, and what turns the shares of all rows in them into their own."""

    def make() -> tuple[Ints, Floats]:
        middle, total = c.middles
        edges = np.searchsorted(middle, (np.arange(bins) - 1e-9) * (total / bins))
        edges = np.append(edges, len(c))
        edges = edges[first_of_runs(edges)]
        return edges, _per_row(add_runs(c.weight, edges[:-1]), c.total)

    return cached(c, ("edges", bins), make)


def _per_row(weight: Floats, total: float) -> Floats:
    """What turns shares of all rows into those of their bins; a weight that vanishes has none."""
    return np.divide(total, weight, out=np.zeros(len(weight)), where=weight > 0)[:, None]


def _rising(share: Floats) -> Bools:
    """Whether each share is no lower than the one before."""
    return np.asarray(share[1:] - share[:-1] >= -1e-12)


def _upto(x: Floats) -> Floats:
    """Sums from the lowest cell up, beginning with none."""
    return np.concatenate((np.zeros((1, x.shape[1])), x.cumsum(0)))
