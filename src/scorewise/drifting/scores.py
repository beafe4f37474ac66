"""How far the scores have moved, whatever the labels: midpoint, KS, Wasserstein, PSI."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.drifting.split import Classes, Split

BINS = 10
LEAST = 1e-4  # what PSI takes an emptier bin for


def ks(x: Split) -> Floats:
    """Largest gap between the two shares of rows at or below a score (Kolmogorov-Smirnov)."""
    return np.asarray(np.abs(_gaps(x)).max(-1))


def wasserstein(x: Split) -> Floats:
    """How far scores have to be moved on average to turn one sample into the other."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray((np.abs(_gaps(x)[..., :-1]) * np.diff(x.score)).sum(-1))


def _gaps(x: Split) -> Floats:
    """The difference of the distribution functions on each cell."""
    a, b = x.shares
    return np.asarray((b - a).cumsum(-1))


def psi(x: Split) -> Floats:
    """Population stability index: sum of (q - p) ln(q / p) over ten bins.

    p and q are the shares of reference and current sample in bins of equal mass of the reference: a
    score is in bin i when at least i tenths of the reference lie below it. Tied scores are never split.
    Shares below 0.0001 count as 0.0001.
    """
    below = x.shares[0].cumsum(-1) - x.shares[0]
    below += 1e-10  # a hair, because shares are rounded: 0.1 + 0.2 is past three tenths
    below *= BINS
    bins = np.minimum(below, BINS - 1, out=below).astype(np.int8)
    p, q = (np.maximum(_binned(w, bins), LEAST) for w in x.shares)
    return np.asarray(((q - p) * np.log(q / p)).sum(-1))


def _binned(w: Floats, bins: Any) -> Floats:
    """Sums over bins, for each replicate."""
    if w.ndim == 1:  # of many cells: bins follow one another
        ends = np.searchsorted(bins, np.arange(BINS + 1))
        return np.array([w[i:j].sum() for i, j in pairwise(ends)])
    at = bins + BINS * np.arange(len(w))[:, None]
    sums = np.bincount(at.ravel(), w.ravel(), minlength=BINS * len(w))
    return np.asarray(sums.reshape(len(w), BINS))


def midpoints(x: Split) -> tuple[Floats, Floats]:
    """The midpoint of each sample by the rule of the split; see `scorewise.tallies.smroc`."""
    if "midpoints" not in x.known:
        x.known["midpoints"] = tuple(_midpoint(x, side) for side in x.sides)
    first, second = x.known["midpoints"]
    return first, second


def midpoint_shift(x: Split) -> Floats:
    """How much higher the midpoint of the current sample is."""
    a, b = midpoints(x)
    return b - a


def _midpoint(x: Split, side: Classes) -> Floats:
    assert x.unit is not None
    if not isinstance(x.midpoint, str):
        return np.full(side.neg.shape[:-1], float(x.midpoint))
    if x.midpoint == "mean":
        return _mean(x.unit, side.all)
    of_class = _mean if x.midpoint == "balanced" else _median
    return (of_class(x.unit, side.neg) + of_class(x.unit, side.pos)) / 2


def _mean(s: Floats, w: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((w * s).sum(-1) / w.sum(-1))


def _median(s: Floats, w: Floats) -> Floats:
    below, total = w.cumsum(-1), w.sum(-1, keepdims=True)
    hair = 1e-12 * total
    # the first score at which half of the weight is reached, and the first at which it is passed
    first = (below >= total / 2 - hair).argmax(-1)
    last = (below > total / 2 + hair).argmax(-1)
    return np.asarray(np.where(total[..., 0] > 0, (s[first] + s[last]) / 2, np.nan))
