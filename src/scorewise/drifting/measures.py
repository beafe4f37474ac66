"""Measures of drift: how far scores, curves and outcomes have moved from one sample to the other.

Replicates lead, so that one function gives the value, its replicates by chance and its bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.smroc import rotation
from scorewise.curves.thresholds import Curve, distance
from scorewise.drifting.split import Split, pool
from scorewise.tallies import formulas
from scorewise.tallies.smroc import HAIR
from scorewise.tallies.sorting import add_runs

BINS = 10
LEAST = 1e-4  # what PSI takes an emptier bin for
PIECES = 1 << 16  # of a curve whose distance from another is measured
_GRID = np.linspace(0.0, 1.0, 257)  # where the curves of replicates are compared
STRATA = 64  # classes of rows with about the same score
SHIFT_BINS = 4  # of the reliability curves
_ROWS = 20  # in a stratum, at least

Held = Literal["nothing", "class", "score"]
Need = Literal["labels", "classes", "unit", "probability", "moving midpoint", "no labels"]


@dataclass(frozen=True)
class Statistic:
    """A measure of drift: what it needs, and what is held when rows are dealt out by chance.

    `signed` changes have a direction, 0 when nothing has changed, and an interval; the others are
    distances, which chance alone makes larger than 0. `otherwise` is why there may still be no value.
    """

    name: str
    title: str
    of: Callable[[Split], Floats]
    needs: frozenset[Need]
    held: Held = "nothing"
    signed: bool = False
    otherwise: str = "the scores are too large"

    @property
    def meaning(self) -> str:
        """What the value says, in a sentence."""
        return (self.of.__doc__ or "").split("\n")[0]


STATISTICS: list[Statistic] = []  # in the order in which they are shown
CERTAIN = "all scores of a sample are 0 or 1, and all right or all wrong"
APART = "no score has rows of both samples near it"
Function = Callable[[Split], Floats]


def statistic(name: str, title: str, *needs: Need, **traits: Any) -> Callable[[Function], Function]:
    """Record a function of a split as a measure of drift, and return it unchanged."""

    def record(function: Function) -> Function:
        STATISTICS.append(Statistic(name, title, function, frozenset(needs), **traits))
        return function

    return record


@statistic("midpoint", "Midpoint", "unit", "moving midpoint", signed=True)
def midpoint_shift(x: Split) -> Floats:
    """How much higher the midpoint of the current sample is."""
    a, b = x.midpoints
    return np.asarray(b - a)


@statistic("smroc_distance", "smROC distance", "classes", "unit", otherwise=CERTAIN)
def smroc_distance(x: Split) -> Floats:
    """Area between the normalised smROC curves of the two samples.

    Of one pair of samples it is exact up to 65,536 distinct scores, and beyond that for curves through as
    many of their points. Replicates are compared at 257 places along the axis.
    """
    if x.steps.ndim > 3:
        first, second = (_heights(*steps) for steps in x.steps)
        return np.asarray(np.abs(first - second)[:, 1:-1].mean(-1))
    if not np.isfinite(x.steps).all():
        return np.asarray(np.nan)
    return np.asarray(distance(*(_curve(steps) for steps in x.steps)))


def _curve(steps: Floats) -> Curve:
    """The points of a curve, (0, 0) first."""
    n = steps.shape[-1]
    if n > PIECES:
        start = np.unique(np.linspace(0, n, PIECES, endpoint=False).astype(np.int64))
        steps = add_runs(steps, start)
    y, x = (np.concatenate(([0.0], part.cumsum())) for part in steps)
    return Curve(np.minimum(x, 1.0), np.minimum(y, 1.0), x)


def _heights(climb: Floats, run: Floats) -> Floats:
    """The heights of the curves of replicates, on the grid."""
    x, y = (np.pad(np.minimum(part.cumsum(-1), 1.0), ((0, 0), (1, 0))) for part in (run, climb))
    return np.array([np.interp(_GRID, *pair) for pair in zip(x, y, strict=True)])


@statistic("smauc", "smAUC", "classes", "unit", signed=True, otherwise=CERTAIN)
def smauc_change(x: Split) -> Floats:
    """Area under the smROC curve of the current sample minus that of the reference."""
    a, b = (formulas.auroc(run[..., ::-1], climb[..., ::-1]) for climb, run in x.steps)
    return np.asarray(b - a)


@statistic("auroc", "AUROC", "classes", signed=True)
def auroc_change(x: Split) -> Floats:
    """AUROC of the current sample minus that of the reference."""
    a, b = (formulas.auroc(*side) for side in x.weight)
    return np.asarray(b - a)


@statistic("rotation", "Rotation (degrees)", "labels", "unit", signed=True)
def rotation_change(x: Split) -> Floats:
    """Rotation of the current sample minus that of the reference, in degrees."""
    assert x.unit is not None
    high = (x.rows * (x.unit >= x.midpoints[..., None] - HAIR)).sum(-1)
    neg, pos = np.moveaxis(x.weight.sum(-1), 1, 0)
    a, b = rotation(high, x.rows.sum(-1) - high, pos, neg)
    return np.asarray(b - a)


@statistic("prevalence", "Prevalence", "labels", signed=True)
def prevalence_change(x: Split) -> Floats:
    """Share of positives in the current sample minus that in the reference."""
    neg, pos = np.moveaxis(x.weight.sum(-1), 1, 0)
    a, b = pos / (pos + neg)
    return np.asarray(b - a)


@statistic(
    "estimated_prevalence",
    "Prevalence (EM)",
    *("no labels", "unit", "probability"),
    signed=True,
    otherwise="all scores of the reference are 0, or all are 1",
)
def estimated_prevalence_change(x: Split) -> Floats:
    """Share of positives that the scores of the current sample suggest, minus that of the reference.

    Maximum likelihood if nothing but the prevalence has changed and scores are probabilities (Saerens,
    Latinne and Decaestecker 2002, whose EM iterations end there). The reference is taken at its mean
    score, at which the same method would leave it.
    """
    assert x.unit is not None
    a, b = x.rows
    with np.errstate(divide="ignore", invalid="ignore"):
        prior = (a * x.unit).sum(-1) / a.sum(-1)
        prior = np.where((prior > 0) & (prior < 1), prior, np.nan)
        return np.asarray(likeliest_share(x.unit, b, prior) - prior)


def likeliest_share(p: Floats, w: Floats, prior: Floats) -> Floats:
    """The share of positives under which probabilities made for a prior share are likeliest.

    The likelihood is concave: Newton's steps, halved into the bracket where they leave it.
    """
    prior = np.asarray(prior)[..., None]
    rest = (1 - p) / (1 - prior)
    rise = p / prior - rest
    low, high = np.zeros_like(prior), np.ones_like(prior)
    share = prior.copy()
    for _ in range(60):
        ratio = rise / (rest + share * rise)
        slope = (w * ratio).sum(-1, keepdims=True)
        low, high = np.where(slope > 0, share, low), np.where(slope > 0, high, share)
        step = share + slope / (w * ratio * ratio).sum(-1, keepdims=True)
        inside = (step > low) & (step < high)
        after = np.where(inside, step, (low + high) / 2)
        moved = np.abs(after - share).max(initial=0.0, where=~np.isnan(prior))
        share = np.where(np.isnan(prior), np.nan, after)
        if moved < 1e-12:
            break
    return np.asarray(share[..., 0])


@statistic("psi", "PSI")
def psi(x: Split) -> Floats:
    """Population stability index: sum of (q - p) ln(q / p) over ten bins.

    p and q are the shares of reference and current sample in bins of equal mass of the reference: a
    score is in bin i when at least i tenths of the reference lie below it. Tied scores are never split.
    Shares below 0.0001 count as 0.0001.
    """
    below = x.shares[0].cumsum(-1) - x.shares[0]
    below += 1e-10  # because shares are rounded: 0.1 + 0.2 is past three tenths
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


@statistic("ks", "KS distance")
def ks(x: Split) -> Floats:
    """Largest gap between the two shares of rows at or below a score (Kolmogorov-Smirnov)."""
    return np.asarray(formulas.ks(*x.rows))


@statistic("wasserstein", "Wasserstein")
def wasserstein(x: Split) -> Floats:
    """How far scores have to be moved on average to turn one sample into the other."""
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = x.shares
        gaps = np.abs((b - a)[..., :-1].cumsum(-1))
        return np.asarray((gaps * np.diff(x.score)).sum(-1))


@statistic("class_distance", "KS within classes", "classes", held="class")
def class_distance(x: Split) -> Floats:
    """How far the scores have moved within the classes: root mean square of the two KS distances.

    A class weighs n m / (n + m), with n and m its rows in the samples. A change in prevalence alone
    leaves it at 0.
    """
    n, m = x.weight.sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = n * m / (n + m)
    squares = size * np.square([formulas.ks(*x.weight[:, k]) for k in (0, 1)])
    return np.asarray(np.sqrt((squares[0] + squares[1]) / (size[0] + size[1])))


def strata(x: Split) -> Split:
    """Rows with about the same score together: at most 64 strata of equal mass, of 20 rows or more."""
    return pool(x, int(np.clip(x.mass.sum() // _ROWS, 1, STRATA)))


@statistic("calibration", "Calibration", "labels", held="score", signed=True, otherwise=APART)
def calibration_shift(x: Split) -> Floats:
    """How much more often rows of the same score are positive in the current sample.

    Mean difference over strata of about the same score, each weighted by n m / (n + m) where n and m are
    its rows in the samples (Mantel and Haenszel): calibration in the large, whatever the scores.
    """
    gap, size = _strata_gaps(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(gap.sum(-1) / size.sum(-1))


@statistic(
    "calibration_slope",
    "Calibration slope",
    "labels",
    held="score",
    signed=True,
    otherwise="all scores near which both samples have rows are the same",
)
def calibration_slope(x: Split) -> Floats:
    """How much steeper outcomes rise with the score in the current sample.

    Slope of a straight line through the differences of `calibration_shift`, stratum by stratum, against
    the score: the change in slope of the reliability curve. Overconfident scores and wrong labels lower it.
    """
    gap, size = _strata_gaps(x)
    s = x.score if x.unit is None else x.unit
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        whole = size.sum(-1, keepdims=True)
        off = s - (size * s).sum(-1, keepdims=True) / whole
        spread = (size * off * off).sum(-1)
        # what rounding leaves where one stratum alone holds rows of both samples is no spread
        known = spread > 1e-20 * (size * s * s).sum(-1)
        return np.where(known, (gap * off).sum(-1) / spread, np.nan)


@statistic("calibration_distance", "Reliability curves", "labels", held="score", otherwise=APART)
def calibration_distance(x: Split) -> Floats:
    """How far the two reliability curves are apart: root mean square over four bins of equal mass.

    In each bin the difference is that of `calibration_shift` over its strata; bins weigh as there.
    """
    bins = np.arange(len(x.score)) * min(SHIFT_BINS, len(x.score)) // len(x.score)
    start = np.flatnonzero(np.diff(bins, prepend=-1))
    gap, size = (np.add.reduceat(part, start, axis=-1) for part in _strata_gaps(x))
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.where(size > 0, gap * gap / size, 0.0)
        return np.asarray(np.sqrt(squares.sum(-1) / size.sum(-1)))


def _strata_gaps(x: Split) -> tuple[Floats, Floats]:
    """Difference of the shares of positives times its weight, and the weight, in each stratum."""
    (n, m), (p, q), total = x.rows, x.weight[:, 1], x.mass
    with np.errstate(divide="ignore", invalid="ignore"):
        gap, size = (q * n - p * m) / total, n * m / total
    return np.where(total > 0, gap, 0.0), np.where(total > 0, size, 0.0)
