"""How the outcomes have changed: how often they are positive, and how they answer to the score."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.drifting.split import Split, pool

STRATA = 64  # classes of rows with about the same score
BINS = 4  # of the reliability curves
_ROWS = 20  # in a stratum, at least


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
    bins = np.arange(len(x.score)) * min(BINS, len(x.score)) // len(x.score)
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
            gaps = np.abs((b / m[..., None] - a / n[..., None]).cumsum(-1)).max(-1)
        squares, sizes = squares + size * gaps**2, sizes + size
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
