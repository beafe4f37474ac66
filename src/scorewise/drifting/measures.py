"""How far scores, curves and outcomes have moved from one sample to the other; replicates lead."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.smroc import rotation
from scorewise.curves.thresholds import Curve, distance
from scorewise.drifting.split import Classes, Split, pool
from scorewise.tallies import formulas
from scorewise.tallies.smroc import HAIR, climbs
from scorewise.tallies.sorting import add_runs

BINS = 10
LEAST = 1e-4  # what PSI takes an emptier bin for
PIECES = 1 << 16  # of a curve whose distance from another is measured
_GRID = np.linspace(0.0, 1.0, 257)  # where the curves of replicates are compared
STRATA = 64  # classes of rows with about the same score
SHIFT_BINS = 4  # of the reliability curves
_ROWS = 20  # in a stratum, at least


def ks(x: Split) -> Floats:
    """Largest gap between the two shares of rows at or below a score (Kolmogorov-Smirnov)."""
    return np.asarray(formulas.ks(*x.rows))


def wasserstein(x: Split) -> Floats:
    """How far scores have to be moved on average to turn one sample into the other."""
    with np.errstate(over="ignore", invalid="ignore"):
        a, b = x.shares
        gaps = np.abs((b - a)[..., :-1].cumsum(-1))
        return np.asarray((gaps * np.diff(x.score)).sum(-1))


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
    of_class = _mean if x.midpoint == "balanced" else formulas.median
    return np.asarray((of_class(x.unit, side.neg) + of_class(x.unit, side.pos)) / 2)


def _mean(s: Floats, w: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((w * s).sum(-1) / w.sum(-1))


class Steps(NamedTuple):
    """The climbs and the runs of an smROC curve as shares of their totals, from the highest score down."""

    climb: Floats
    run: Floats


def auroc_change(x: Split) -> Floats:
    """AUROC of the current sample minus that of the reference."""
    a, b = (formulas.auroc(*side) for side in x.sides)
    return np.asarray(b - a)


def smroc(x: Split) -> tuple[Steps, Steps]:
    """The normalised smROC curve of each sample, each with its own midpoint."""
    if "smroc" not in x.known:
        x.known["smroc"] = tuple(
            _steps(x, w, m) for w, m in zip(x.sides, midpoints(x), strict=True)
        )
    first, second = x.known["smroc"]
    return first, second


def _steps(x: Split, w: Classes, midpoint: Floats) -> Steps:
    assert x.unit is not None
    with np.errstate(divide="ignore", invalid="ignore"):
        return Steps(
            *(
                part[..., ::-1] / part.sum(-1, keepdims=True)
                for part in climbs(x.unit, *w, midpoint)
            )
        )


def smauc_change(x: Split) -> Floats:
    """Area under the smROC curve of the current sample minus that of the reference."""
    a, b = (formulas.auroc(run[..., ::-1], climb[..., ::-1]) for climb, run in smroc(x))
    return np.asarray(b - a)


def smroc_distance(x: Split) -> Floats:
    """Area between the normalised smROC curves of the two samples.

    Of one pair of samples it is exact up to 65,536 distinct scores, and beyond that for curves through as
    many of their points. Replicates are compared at 257 places along the axis.
    """
    first, second = smroc(x)
    if first.run.ndim > 1:
        at_grid = [_heights(steps) for steps in (first, second)]
        return np.asarray(np.abs(at_grid[0] - at_grid[1])[:, 1:-1].mean(-1))
    if not all(np.isfinite(part).all() for steps in (first, second) for part in steps):
        return np.asarray(np.nan)
    return np.asarray(distance(_curve(first), _curve(second)))


def _curve(steps: Steps) -> Curve:
    """The points of a curve, (0, 0) first."""
    n = len(steps.run)
    if n > PIECES:
        start = np.unique(np.linspace(0, n, PIECES, endpoint=False).astype(np.int64))
        steps = Steps(*(add_runs(part, start) for part in steps))
    y, x = (np.concatenate(([0.0], part.cumsum())) for part in steps)
    return Curve(np.minimum(x, 1.0), np.minimum(y, 1.0), x)


def _heights(steps: Steps) -> Floats:
    x, y = (np.minimum(part.cumsum(-1), 1.0) for part in (steps.run, steps.climb))
    zero = np.zeros((len(x), 1))
    x, y = np.hstack((zero, x)), np.hstack((zero, y))
    return np.array([np.interp(_GRID, *pair) for pair in zip(x, y, strict=True)])


def rotation_change(x: Split) -> Floats:
    """Rotation of the current sample minus that of the reference, in degrees."""
    assert x.unit is not None
    found = []
    for w, rows, m in zip(x.sides, x.rows, midpoints(x), strict=True):
        high = (rows * (x.unit >= m[..., None] - HAIR)).sum(-1)
        found.append(rotation(high, rows.sum(-1) - high, w.pos.sum(-1), w.neg.sum(-1)))
    return np.asarray(found[1] - found[0])


def prevalence_change(x: Split) -> Floats:
    """Share of positives in the current sample minus that in the reference."""
    a, b = (w.pos.sum(-1) / (w.pos.sum(-1) + w.neg.sum(-1)) for w in x.sides)
    return np.asarray(b - a)


def strata(x: Split) -> Split:
    """Rows with about the same score together: at most 64 strata of equal mass, of 20 rows or more."""
    rows = x.mass.sum()
    return pool(x, int(np.clip(rows // _ROWS, 1, STRATA)))


def calibration_shift(x: Split) -> Floats:
    """How much more often rows of the same score are positive in the current sample.

    Mean difference over strata of about the same score, each weighted by n m / (n + m) where n and m are
    its rows in the samples (Mantel and Haenszel): calibration in the large, whatever the scores.
    """
    gap, size = _strata_gaps(x)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(gap.sum(-1) / size.sum(-1))


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


def calibration_distance(x: Split) -> Floats:
    """How far the two reliability curves are apart: root mean square over four bins of equal mass.

    In each bin the difference is that of `calibration_shift` over its strata; bins weigh as there.
    """
    gap, size = _strata_gaps(x)
    bins = np.arange(len(x.score)) * min(SHIFT_BINS, len(x.score)) // len(x.score)
    start = np.flatnonzero(np.diff(bins, prepend=-1))
    gap, size = (np.add.reduceat(part, start, axis=-1) for part in (gap, size))
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.where(size > 0, gap * gap / size, 0.0)
        return np.asarray(np.sqrt(squares.sum(-1) / size.sum(-1)))


def _strata_gaps(x: Split) -> tuple[Any, Any]:
    """Difference of the shares of positives times its weight, and the weight, in each stratum."""
    (n, m), (p, q), total = x.rows, (w.pos for w in x.sides), x.mass
    with np.errstate(divide="ignore", invalid="ignore"):
        gap, size = (q * n - p * m) / total, n * m / total
    return np.where(total > 0, gap, 0.0), np.where(total > 0, size, 0.0)


def class_distance(x: Split) -> Floats:
    """How far the scores have moved within the classes: root mean square of the two KS distances.

    A class weighs n m / (n + m), with n and m its rows in the samples. A change in prevalence alone
    leaves it at 0.
    """
    squares: Any = 0.0
    sizes: Any = 0.0
    for a, b in zip(*x.sides, strict=True):
        n, m = a.sum(-1), b.sum(-1)
        with np.errstate(divide="ignore", invalid="ignore"):
            size = n * m / (n + m)
        squares, sizes = squares + size * formulas.ks(a, b) ** 2, sizes + size
    return np.asarray(np.sqrt(squares / sizes))


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
