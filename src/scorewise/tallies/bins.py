"""Bins of probabilities: of equal width, of equal mass, one for each value, or as other packages cut."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats, Ints
from scorewise.errors import BadInput
from scorewise.tallies.chances import MOST, Chances, cell_starts, chances, summed
from scorewise.tallies.grid import EQUAL_CELLS
from scorewise.tallies.losses import unit
from scorewise.tallies.once import kept
from scorewise.tallies.sorting import first_of_runs
from scorewise.tallies.tally import Tally

Binning = Literal["width", "mass", "value"]
Convention = Literal["sklearn", "netcal", "torchmetrics", "relplot", "jordyvl"]
Index = Callable[[NDArray[np.floating]], Ints]  # the bin of each probability; never decreasing


def check_bins(bins: int, binning: str, convention: str | None) -> None:
    """Refuse what names no bins."""
    if isinstance(bins, bool) or not isinstance(bins, (int, np.integer)) or not 0 < bins <= 10**6:
        raise BadInput(f"bins={bins!r} is no number of bins; 10, 15 and 20 are usual")
    if binning not in get_args(Binning):
        raise BadInput(f"unknown binning {binning!r}; known are {', '.join(get_args(Binning))}")
    if convention is not None and convention not in get_args(Convention):
        known = ", ".join(get_args(Convention))
        raise BadInput(f"unknown convention {convention!r}; known are {known}")
    if convention is not None and binning != "width":
        raise BadInput(f"convention={convention!r} has bins of equal width; leave out binning")


def binned(
    t: Tally, bins: int = 15, binning: Binning = "width", convention: Convention | None = None
) -> Chances:
    """The sums over each bin that is not empty, made once and kept with the tally.

    Bins of equal width are [i/B, (i + 1)/B), the last closed. Bins of equal mass never split a score,
    nor, beyond 65,536 distinct scores, a cell of the fixed grid. Bins of single values split every cell of
    an exact tally.

    >>> binned(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.5, 0.1]), bins=2).weight
    array([2., 2.])
    """
    check_bins(bins, binning, convention)
    name = "binned", int(bins), binning, convention
    return kept(t, name, lambda: _binned(t, int(bins), binning, convention))


def _binned(t: Tally, bins: int, binning: Binning, convention: Convention | None) -> Chances:
    c = chances(t)
    if binning == "value" and t.coarse is None and len(t.score) > MOST:
        return summed(t, np.arange(len(t.score)))
    if binning == "value" or not len(c):
        return c
    if binning == "mass":
        return c.joined(equal_mass(c, bins))
    index = bin_index(bins, convention, t.score.dtype)
    apart = t.coarse is not None or len(t.score) <= MOST
    # edges are rounded for logits and for scores of 32 bits, and cells then lie across those of bins
    exact = t.kind == "probability" and t.score.dtype == np.float64
    if apart or (exact and convention is None and EQUAL_CELLS % bins == 0):
        at = c.p if t.coarse is not None else c.low
        return c.joined(first_of_runs(index(at)))
    start = _starts(t, index)
    parts = np.union1d(start, cell_starts(t))
    return summed(t, parts).joined(np.searchsorted(parts, start))


def bin_index(bins: int, convention: Convention | None, dtype: np.dtype[np.floating]) -> Index:
    """Which bin of equal width a probability is in, as we cut or as another package does.

    >>> p = np.array([0.0, 0.1, 0.3, 1.0])
    >>> [bin_index(10, c, p.dtype)(p).tolist() for c in (None, "sklearn", "relplot")]
    [[0, 1, 3, 9], [0, 0, 2, 9], [0, 1, 2, 10]]
    """
    if convention is None:
        inner = np.arange(1, bins) / bins
        return lambda p: np.searchsorted(inner, p, side="right")
    if convention == "sklearn":
        inner = np.linspace(0.0, 1.0, bins + 1)[1:-1]
        return lambda p: np.searchsorted(inner, p, side="left")
    if convention in ("netcal", "jordyvl"):
        inner = np.linspace(0.0, 1.0, bins + 1)[1:-1]
        return lambda p: np.searchsorted(inner, p, side="right")
    if convention == "relplot":
        return lambda p: (p / (1.0 / bins)).astype(np.int64)
    edges = _torch_edges(bins, dtype)[1:]
    return lambda p: np.searchsorted(edges, p, side="right")


def beyond_mean(t: Tally, c: Chances, bins: int, convention: Convention | None) -> Floats:
    """What the convention takes off the gap of each bin: jordyvl compares with its upper edge."""
    if convention != "jordyvl":
        return np.zeros(len(c))
    at = c.p if t.coarse is not None else c.low
    upper = np.linspace(0.0, 1.0, bins + 1)[bin_index(bins, convention, t.score.dtype)(at) + 1]
    return upper * c.weight - c.sum


def _torch_edges(bins: int, dtype: np.dtype[np.floating]) -> NDArray[np.floating]:
    """torch.linspace(0, 1, bins + 1): from either end to the middle, in the precision of the scores."""
    step = dtype.type(1) / dtype.type(bins)
    near = [step * dtype.type(i) for i in range((bins + 1) // 2)]
    # torch multiplies and subtracts in one rounding
    left = range(bins - len(near), -1, -1)
    far = [float(1 - Fraction(float(step)) * i) for i in left]
    return np.array([*near, *far], dtype)


def equal_mass(c: Chances, bins: int) -> Ints:
    """Where bins of about equal mass begin; each cell is in the bin of the middle of its mass.

    >>> c = chances(Tally.of([1, 0, 1, 0, 1], [0.1, 0.2, 0.2, 0.2, 0.9]))
    >>> equal_mass(c, 2), equal_mass(c, 3)
    (array([0, 1]), array([0, 1, 2]))
    """
    return first_of_runs(mass_index(c.weight, bins))


def mass_index(weight: Floats, bins: int) -> Ints:
    """The bin of equal mass in which each cell has its middle."""
    upto = np.cumsum(weight)
    # sums of weights may fall a hair below an edge that they reach
    place = (2 * upto - weight) * bins / (2 * upto[-1]) + 1e-9
    index: Ints = np.minimum(place.astype(np.int64), bins - 1)
    return index


def _starts(t: Tally, index: Index) -> Ints:
    """The first score of each bin, found by halving: a pass over millions of scores is not needed."""
    n = len(t.score)
    ends = index(unit(t.score[[0, -1]], t.kind))
    wanted = np.arange(ends[0] + 1, ends[1] + 1)
    low, high = np.zeros(len(wanted), np.int64), np.full(len(wanted), n - 1)
    while (high - low > 1).any():
        middle = (low + high) // 2
        reached = index(unit(t.score[middle], t.kind)) >= wanted
        low, high = np.where(reached, low, middle), np.where(reached, middle, high)
    return np.unique(np.concatenate(([0], high)))
