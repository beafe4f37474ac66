"""Measures of drift: differences and distances between two samples, of scores, curves and outcomes.

Replicates lead, so that one function gives the value, its replicates by chance and its bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.smroc import rotation
from scorewise.curves.thresholds import Roc, distance
from scorewise.drifting.split import Held, Split, pool
from scorewise.statistics import formulas
from scorewise.statistics.smroc import TOLERANCE
from scorewise.tallies.runs import add_runs

PSI_BINS = 10
LEAST_SHARE = 1e-4  # what PSI takes an emptier bin for
MAX_POINTS = 1 << 16  # of a curve whose distance from another is measured
_GRID = np.linspace(0.0, 1.0, 257)  # where the curves of replicates are compared
STRATA = 64  # classes of rows with about the same score
_STRATUM_ROWS = 20  # at least
RELIABILITY_BINS = 4

Need = Literal["labels", "classes", "unit", "probability", "moving midpoint", "no labels"]


@dataclass(frozen=True)
class Statistic:
    """A measure of drift: what it needs, and what is held fixed when rows are permuted.

    `signed` changes have a direction, 0 when nothing has changed, and an interval; the others are
    distances, which chance alone makes larger than 0. `otherwise` is why there may still be no value.
    """

    name: str
    title: str
    of: Callable[[Split], Floats]
    needs: frozenset[Need]
    meaning: str
    held: Held = "nothing"
    signed: bool = False
    otherwise: str = "the scores are too large"


STATISTICS: list[Statistic] = []  # in the order in which they are shown
CERTAIN = "all scores of a sample are 0 or 1, and all right or all wrong"
APART = "no score has rows of both samples nearby"
ONE_SCORE = "both samples have rows near a single score only"
CONSTANT = "all scores of the reference are 0, or all are 1"
Function = Callable[[Split], Floats]


def statistic(name: str, title: str, *needs: Need, **traits: Any) -> Callable[[Function], Function]:
    """Record a function of a split as a measure of drift: what cannot be divided has no value."""

    def record(function: Function) -> Function:
        quiet = np.errstate(divide="ignore", invalid="ignore", over="ignore")(function)
        meaning = (function.__doc__ or "").split("\n")[0]
        STATISTICS.append(Statistic(name, title, quiet, frozenset(needs), meaning, **traits))
        return quiet

    return record


def _change(of_samples: Any) -> Floats:
    """Current minus reference."""
    reference, current = of_samples
    return np.asarray(current - reference)


@statistic("midpoint", "Midpoint", "unit", "moving midpoint", signed=True)
def midpoint_shift(x: Split) -> Floats:
    """Midpoint of the current sample minus that of the reference."""
    return _change(x.midpoints)


@statistic("smroc_distance", "smROC distance", "classes", "unit", otherwise=CERTAIN)
def smroc_distance(x: Split) -> Floats:
    """Area between the normalised smROC curves of the two samples.

    Of one pair of samples it is exact up to 65,536 distinct scores, and beyond that for curves through as
    many of their points. Replicates are compared at 257 places along the axis.
    """
    if x.steps.ndim == 3:
        if not x.steps.sum(-1).all():
            return np.asarray(np.nan)
        n = len(x.score)
        start = np.linspace(0, n, min(n, MAX_POINTS), endpoint=False).astype(np.int64)
        points = add_runs(x.steps, start)
        first, second = (Roc.walk(points[0, k], points[1, k], x.score[start]) for k in (0, 1))
        return np.asarray(distance(first, second))
    upto = np.pad(x.steps.cumsum(-1), [(0, 0)] * 3 + [(1, 0)])
    climb, run = (upto / upto[..., -1:]).reshape(2, -1, upto.shape[-1])
    heights = np.array([np.interp(_GRID, *curve) for curve in zip(run, climb, strict=True)])
    gaps = np.abs(_change(heights.reshape(2, -1, len(_GRID))))
    return np.asarray(gaps[:, 1:-1].mean(-1))


@statistic("smauc", "smAUC", "classes", "unit", signed=True, otherwise=CERTAIN)
def smauc_change(x: Split) -> Floats:
    """Area under the smROC curve of the current sample minus that of the reference."""
    climb, run = x.steps
    return _change(formulas.auroc(run, climb))


@statistic("auroc", "AUROC", "classes", signed=True)
def auroc_change(x: Split) -> Floats:
    """AUROC of the current sample minus that of the reference."""
    return _change(formulas.auroc(*x.by_class))


@statistic("rotation", "Rotation (degrees)", "labels", "unit", signed=True)
def rotation_change(x: Split) -> Floats:
    """Rotation of the current sample minus that of the reference, in degrees."""
    assert x.unit is not None
    high = (x.rows * (x.unit >= x.midpoints[..., None] - TOLERANCE)).sum(-1)
    neg, pos = (w.sum(-1) for w in x.by_class)
    return _change(rotation(high, x.rows.sum(-1) - high, pos, neg))


@statistic("prevalence", "Prevalence", "labels", signed=True)
def prevalence_change(x: Split) -> Floats:
    """Share of positives in the current sample minus that in the reference."""
    neg, pos = (w.sum(-1) for w in x.by_class)
    return _change(pos / (pos + neg))


@statistic(
    "estimated_prevalence",
    "Prevalence (EM)",
    "no labels",
    "probability",
    signed=True,
    otherwise=CONSTANT,
)
def estimated_prevalence_change(x: Split) -> Floats:
    """Share of positives that the scores of the current sample suggest, minus that of the reference.

    Maximum likelihood if nothing but the prevalence has changed and scores are probabilities (Saerens,
    Latinne and Decaestecker 2002, whose EM iterations end there). The reference is taken at its mean
    score, at which the same method would leave it.
    """
    assert x.unit is not None
    a, b = x.rows
    prior = (a * x.unit).sum(-1) / a.sum(-1)
    prior = np.where((prior > 0) & (prior < 1), prior, np.nan)
    return np.asarray(likeliest_share(x.unit, b, prior) - prior)


def likeliest_share(p: Floats, w: Floats, prior: Floats) -> Floats:
    """Maximum-likelihood share of positives, given probabilities made for a prior share.

    The likelihood is concave: Newton's steps, halved into the bracket where they leave it.
    """
    prior = np.asarray(prior)[..., None]
    at_none = (1 - p) / (1 - prior)
    rise = p / prior - at_none
    low, high = np.zeros_like(prior), np.ones_like(prior)
    share, defined = prior, ~np.isnan(prior)
    for _ in range(60):
        ratio = rise / (at_none + share * rise)
        slope = (w * ratio).sum(-1, keepdims=True)
        low, high = np.where(slope > 0, share, low), np.where(slope > 0, high, share)
        step = share + slope / (w * ratio * ratio).sum(-1, keepdims=True)
        inside = (step > low) & (step < high)
        before, share = share, np.where(inside, step, (low + high) / 2)
        if np.abs(share - before).max(initial=0.0, where=defined) < 1e-12:
            break
    return np.where(defined, share, np.nan)[..., 0]


@statistic("psi", "PSI")
def psi(x: Split) -> Floats:
    """Population stability index: sum of (q - p) ln(q / p) over ten bins.

    p and q are the shares of reference and current sample in bins of equal mass of the reference: a
    score is in bin i when at least i tenths of the reference lie below it. Tied scores are never split.
    Shares below 0.0001 count as 0.0001.
    """
    below = x.shares[0].cumsum(-1) - x.shares[0]
    # a little more, because shares are rounded: 0.1 + 0.2 is past three tenths
    bins = np.fmin((below + 1e-10) * PSI_BINS, PSI_BINS - 1).astype(np.int64)
    # the bins of all replicates, one behind the other
    many = PSI_BINS * (below.size // below.shape[-1])
    at = (bins + np.arange(0, many, PSI_BINS).reshape(*below.shape[:-1], 1)).ravel()
    p, q = (
        np.maximum(np.bincount(at, share.ravel(), many).reshape(*below.shape[:-1], -1), LEAST_SHARE)
        for share in x.shares
    )
    return np.asarray(((q - p) * np.log(q / p)).sum(-1))


@statistic("ks", "KS distance")
def ks(x: Split) -> Floats:
    """Largest difference of the two distribution functions of the scores (Kolmogorov-Smirnov)."""
    return np.asarray(formulas.ks(*x.rows))


@statistic("wasserstein", "Wasserstein")
def wasserstein(x: Split) -> Floats:
    """Mean distance by which scores have to move to turn one sample into the other."""
    gaps = np.abs(_change(x.shares)[..., :-1].cumsum(-1))
    return np.asarray((gaps * np.diff(x.score)).sum(-1))


@statistic("class_distance", "KS within classes", "classes", held="class")
def class_distance(x: Split) -> Floats:
    """KS distances within the two classes, as a root mean square.

    A class weighs n m / (n + m), with n and m its rows in the samples. A change in prevalence alone
    leaves it at 0.
    """
    n, m = x.weight.sum(-1)
    size = n * m / (n + m)
    squares = size * formulas.ks(*x.weight) ** 2
    return np.asarray(np.sqrt((squares[0] + squares[1]) / (size[0] + size[1])))


def strata(x: Split) -> Split:
    """Rows with about the same score together: at most 64 strata of equal mass, of 20 rows or more."""
    return pool(x, int(np.clip(x.mass.sum() // _STRATUM_ROWS, 1, STRATA)))


@statistic("calibration", "Calibration", "labels", held="score", signed=True, otherwise=APART)
def calibration_shift(x: Split) -> Floats:
    """Share of positives at the same score, in the current sample minus that in the reference.

    Mean difference over strata of about the same score, each weighted by n m / (n + m) where n and m are
    its rows in the samples (Mantel and Haenszel): calibration in the large, whatever the scores.
    """
    gap, size = _strata_gaps(x)
    return np.asarray(gap.sum(-1) / size.sum(-1))


@statistic(
    "calibration_slope",
    "Calibration slope",
    "labels",
    held="score",
    signed=True,
    otherwise=ONE_SCORE,
)
def calibration_slope(x: Split) -> Floats:
    """How much more steeply the share of positives rises with the score in the current sample.

    Slope of a straight line through the differences of `calibration_shift`, stratum by stratum, against
    the score: the change in slope of the reliability curve. Overconfident scores and wrong labels lower it.
    """
    gap, size = _strata_gaps(x)
    s = x.score if x.unit is None else x.unit
    off = s - ((size * s).sum(-1) / size.sum(-1))[..., None]
    variance = (size * off * off).sum(-1)
    # what rounding leaves where one stratum alone holds rows of both samples is no variance
    known = variance > 1e-20 * (size * s * s).sum(-1)
    return np.where(known, (gap * off).sum(-1) / variance, np.nan)


@statistic("calibration_distance", "Reliability curves", "labels", held="score", otherwise=APART)
def calibration_distance(x: Split) -> Floats:
    """Distance of the two reliability curves: root mean square over four bins of equal mass.

    In each bin the difference is that of `calibration_shift` over its strata; bins weigh as there.
    """
    n = len(x.score)
    bins = np.arange(n) * min(RELIABILITY_BINS, n) // n
    gap, size = add_runs(_strata_gaps(x), np.flatnonzero(np.diff(bins, prepend=-1)))
    squares = np.where(size > 0, gap * gap / size, 0.0)
    return np.asarray(np.sqrt(squares.sum(-1) / size.sum(-1)))


def _strata_gaps(x: Split) -> Floats:
    """Difference of the shares of positives times its weight, and the weight, in each stratum."""
    (n, m), (p, q), total = x.rows, x.weight[:, 1], x.mass
    return np.where(total > 0, np.array([q * n - p * m, n * m]) / total, 0.0)
