"""Is each class right as often as its probability says? Class by class, on bins of its probability."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.class_consistency import (
    class_replicates,
    drawn_class_gaps,
    enough_rows,
    resampled_class_gaps,
)
from scorewise.intervals.inversion import Noise, Statistic, inverted
from scorewise.intervals.monotone import largest_gap
from scorewise.intervals.scales import z
from scorewise.measures._calibrated import METHOD, calibrated
from scorewise.registry import measure
from scorewise.tallies import ClassTally
from scorewise.tallies.bins import Binning, Convention, binned, check_bins
from scorewise.tallies.chances import Chances
from scorewise.tallies.class_sample import why_no_rows

_MOST = 1 << 23  # gaps that are drawn at a step


@measure(group="calibration", better="low", title="Class-wise ECE", of="several classes")
def classwise_ece(
    t: ClassTally,
    *,
    bins: int = 15,
    norm: float = 1,
    binning: Binning = "width",
    convention: Convention | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Mean over the classes of how far the share of a class lies from its probability, bin by bin.

    (1/K sum_k sum_b n_kb/n |ybar_kb - pbar_kb|^norm)^(1/norm), on `bins` of equal width or mass of the
    probabilities of each class (Kull et al. 2019; norm=2: Kumar, Liang and Ma 2019). norm=inf is the
    largest gap of all; `convention` cuts bins as other packages do, see `ece`. The interval inverts
    consistency tests along the gaps seen; labels drawn from each row's own probabilities give
    `expected` and `p`.

    >>> p = np.random.default_rng(1).dirichlet([1, 1, 1], 100)
    >>> e = classwise_ece(ClassTally.of(p.argmax(1), p))
    >>> e, round(e.expected, 3), e.p
    (0.209 [0.172, 0.218], 0.113, 0.001)
    """
    check_bins(bins, binning, convention)
    if not norm >= 1:
        raise BadInput(f"norm={norm:g} is below 1; 1 is usual, 2 weighs large gaps, inf takes one")
    z(level)
    if why := why_no_rows(t):
        return Estimate.undefined(why, level)
    parts = [binned(t.one(c), bins, binning, convention) for c in t.classes]
    cells = _stacked(parts)
    size = _size(cells, norm)
    s = enough_rows(t)
    many = class_replicates(s, len(cells), _MOST)
    if not many:
        how = f"none: {len(cells):,} bins are too many to draw labels for"
        return Estimate(float(size((cells.gap / cells.total)[None])[0]), level=level, method=how)
    first = np.concatenate(([0], np.cumsum([len(c) for c in parts])))
    cell = np.stack([first[k] + _place(c, s.p[:, k]) for k, c in enumerate(parts)], axis=1)
    rng = np.random.default_rng(seed)
    drawn = drawn_class_gaps(s, cell, cells, many, rng)
    seen = resampled_class_gaps(s, cell, len(cells), many, rng)
    found = inverted(Noise(cells, many, seed, drawn=drawn, seen=seen), size, level)
    how = f"{METHOD}, {many} draws of labels of {len(s):,} rows"
    if math.isinf(norm):
        far = largest_gap(cells, np.zeros(len(cells)), level)
        found, how = found._replace(high=max(found.high, far)), f"{how}, exact in each bin"
    return calibrated(found, level, how=how)


def _size(cells: Chances, norm: float) -> Statistic:
    """The error as a function of gaps that are shares of the whole."""
    share = cells.weight / cells.total
    if norm == 1:
        return lambda gaps: np.abs(gaps).sum(1)
    if math.isinf(norm):
        return lambda gaps: np.abs(gaps / share).max(1)
    return lambda gaps: (share * np.abs(gaps / share) ** norm).sum(1) ** (1 / norm)


def _place(c: Chances, p: Floats) -> NDArray[np.int64]:
    """In which of the bins each probability lies."""
    return np.maximum(np.searchsorted(c.low, p, side="right") - 1, 0)


def _stacked(parts: list[Chances]) -> Chances:
    names = ("low", "weight", "squares", "pos", "sum", "noise")
    low, weight, squares, pos, total, noise = (
        np.concatenate([getattr(c, name) for c in parts]) for name in names
    )
    return Chances(low, weight, squares, pos, total, noise, parts[0].weighted)
