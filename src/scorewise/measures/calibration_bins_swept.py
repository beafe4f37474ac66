"""How far are the scores from being probabilities? As many bins as keep the shares rising."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.estimate import Estimate
from scorewise.intervals.inversion import inverted
from scorewise.measures._calibrated import METHOD, calibrated, lacking, path_noise
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.chances import Chances, chances
from scorewise.tallies.displacement import displacement
from scorewise.tallies.once import kept
from scorewise.tallies.sorting import first_of_runs

MOST_BINS = 1000


@measure(group="calibration", better="low", title="ECE, sweep")
def ece_sweep(t: Tally, *, level: float = 0.95, seed: int = 0) -> Estimate:
    """Mean distance of shares from probabilities over as many bins as keep the shares rising.

    Bins of equal mass, that never split a score, are made more until the share of positives falls from
    one bin to the next for the first time; the number before that is used (Roelofs et al. 2022), at most
    1,000, or all distinct scores if the shares rise throughout. Less biased than `ece`. Beyond 65,536
    distinct scores, and for a coarse tally, bins do not split cells. The interval inverts
    consistency tests along the gaps seen, on a hundred cells.

    >>> ece_sweep(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]))
    0.290 [0.000, 0.427]
    """
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
    found: Floats = np.abs(gaps.sum(-1))
    # cell by cell, since bins are sums of neighbours
    gap = np.ascontiguousarray(gaps.T)
    pos = gap + (c.sum / c.total)[:, None]
    all_rise = _rising(pos, c.weight)
    found[all_rise] = np.abs(gap[:, all_rise]).sum(0)
    who, going = np.arange(len(gaps)), ~all_rise
    pos, gap = _upto(pos), _upto(gap)
    mass = np.append(0.0, c.weight.cumsum())
    for bins in range(2, min(MOST_BINS, len(c)) + 1):
        if not going.any():
            return found
        if 2 * np.count_nonzero(going) < len(going):
            who, pos, gap, going = who[going], pos[:, going], gap[:, going], going[going]
        edges = _edges(c, bins)
        rises = _rising(np.diff(pos[edges], axis=0), np.diff(mass[edges]))
        over = np.flatnonzero(going & ~rises)
        if bins > 2 and len(over):
            found[who[over]] = _total(gap[:, over], _edges(c, bins - 1))
        going &= rises
    if len(c) > 1:
        found[who[going]] = _total(gap[:, going], edges)
    return found


def _total(upto: Floats, edges: Ints) -> Floats:
    total: Floats = np.abs(np.diff(upto[edges], axis=0)).sum(0)
    return total


def _upto(x: Floats) -> Floats:
    """Sums from the lowest cell up, beginning with none."""
    sums = np.zeros((len(x) + 1, x.shape[1]))
    np.cumsum(x, axis=0, out=sums[1:])
    return sums


def _edges(c: Chances, bins: int) -> Ints:
    """Where bins of equal mass begin, as `equal_mass` says, and the end."""
    return kept(c, ("edges", bins), lambda: _made_edges(c, bins))


def _made_edges(c: Chances, bins: int) -> Ints:
    middle = kept(c, "middle", lambda: (c.weight.cumsum() - c.weight / 2) / c.total)
    start = np.append(np.searchsorted(middle, (np.arange(bins) - 1e-9) / bins), len(c))
    return start[first_of_runs(start)]


def _rising(pos: Floats, weight: Floats) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    # a weight that vanishes beside the others has no share
    unit = np.divide(weight.sum(), weight, out=np.zeros(len(weight)), where=weight > 0)
    share = pos * unit[:, None]
    rises: np.ndarray[tuple[int], np.dtype[np.bool_]] = (share[1:] - share[:-1] >= -1e-12).all(0)
    return rises
