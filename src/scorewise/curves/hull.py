"""The convex hull of the ROC curve, which is isotonic regression, and what a mean loss is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.checks import check
from scorewise.columns.rows import one_of
from scorewise.errors import BadInput
from scorewise.inference.resampling import dealt, others
from scorewise.inference.scales import effective
from scorewise.tallies import Tally
from scorewise.tallies.extremes import certified
from scorewise.tallies.losses import Loss, uncertainty
from scorewise.tallies.probabilities import (
    Chances,
    chances,
    mean_loss,
    why_not_probable,
)
from scorewise.tallies.sorting import Numbers, add_runs, once, runs

_PART = 1 << 16
Score = Literal["brier", "log", "spherical"]


@once
def pooled(t: Tally) -> NDArray[np.int64]:
    """The first cell of each run of cells that the hull joins, from the lowest score up.

    Within a run the isotonic fit (pool adjacent violators) is constant: pos / (pos + neg), the slope of
    the hull read as a posterior. Parts are pooled first and then their runs, which is the same and
    keeps memory small.

    >>> t = Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    >>> pooled(t)
    array([0, 1, 3])
    """
    starts = [
        i + pool(t.neg[i : i + _PART], t.pos[i : i + _PART]) for i in range(0, len(t.score), _PART)
    ]
    if not starts:
        return np.empty(0, np.int64)
    start = np.concatenate(starts)
    if len(starts) == 1:
        return start
    return start[pool(add_runs(t.neg, start), add_runs(t.pos, start))]


def calibrated(t: Tally) -> NDArray[np.float64]:
    """The calibrated score of each cell: the slope of the hull there, read as the share of positives.

    This is the isotonic regression of the labels on the scores.

    >>> calibrated(Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]))
    array([0. , 0.5, 0.5, 1. ])
    """
    start = pooled(t)
    neg, pos = (add_runs(w, start) for w in (t.neg, t.pos))
    return np.repeat(pos / (neg + pos), np.diff(start, append=len(t.score)))


def pool(neg: Numbers, pos: Numbers) -> NDArray[np.int64]:
    """The same for arrays of weights that lie in memory."""
    from scipy.optimize import isotonic_regression

    weight = (neg + pos).astype(np.float64)
    runs = isotonic_regression(pos / weight, weights=weight).blocks
    return np.asarray(runs[:-1], np.int64)


def fitted_losses(neg: Floats, pos: Floats, loss: Loss) -> Floats:
    """The mean loss of the isotonic fit to each row of cells (replicates by cells).

    >>> fitted_losses(np.array([[1.0, 0.0, 1.0, 0.0]]), np.array([[0.0, 1.0, 0.0, 1.0]]), "brier")
    array([0.125])
    """
    rows, cells = neg.shape
    several = max(1, _PART // max(cells, 1))
    parts = [_fitted(neg[i : i + several], pos[i : i + several], loss)
             for i in range(0, rows, several)]  # fmt: skip
    return np.concatenate(parts) if parts else np.empty(0)


def _fitted(neg: Floats, pos: Floats, loss: Loss) -> Floats:
    start, row = pool_rows(neg, pos)
    n, p = (add_runs(w.ravel(), start) for w in (neg, pos))
    charge = (n + p) * uncertainty(p / (n + p), loss)
    total: Floats = np.bincount(row, charge, len(neg)) / (neg + pos).sum(1)
    return total


def fits(neg: Floats, pos: Floats) -> Floats:
    """The isotonic fit to each row of cells (replicates by cells).

    >>> fits(np.array([[1.0, 0.0, 1.0, 0.0]]), np.array([[0.0, 1.0, 0.0, 1.0]]))
    array([[0. , 0.5, 0.5, 1. ]])
    """
    several = max(1, _PART // max(neg.shape[1], 1))
    made = np.empty(neg.shape)
    for i in range(0, len(neg), several):
        some = slice(i, i + several)
        start, _ = pool_rows(neg[some], pos[some])
        n, p = (add_runs(w[some].ravel(), start) for w in (neg, pos))
        length = np.diff(start, append=neg[some].size)
        made[some] = np.repeat(p / (n + p), length).reshape(neg[some].shape)
    return made


def pool_rows(neg: Floats, pos: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first cells of the runs of all rows, counted through, and the row of each run."""
    from scipy.optimize import isotonic_regression

    weight = neg + pos
    # each row two higher than the last: no run crosses from one row to the next
    lifted = pos / weight + 2.0 * np.arange(len(neg))[:, None]
    runs = isotonic_regression(lifted.ravel(), weights=weight.ravel()).blocks
    start = np.asarray(runs[:-1], np.int64)
    return start, start // neg.shape[1]


def fits_elsewhere(
    few: Tally, seed: int, *, folds: int = 5, deals: int = 2
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """The weights of negatives and positives of each fold, and the isotonic fit to all others.

    Rows are dealt out several times, and weights shared among the deals; fits are straight between the
    scores that the others have.

    >>> few = Tally.of([0, 1] * 10, [0.1, 0.4] * 10)
    >>> sum(neg.sum() for neg, _, _ in fits_elsewhere(few, 0))
    np.float64(10.0)
    """
    rng, place = np.random.default_rng(seed), np.arange(len(few.score), dtype=np.float64)
    sides = [
        [x.astype(np.float64) for x in both] for both in ((few.neg, few.neg2), (few.pos, few.pos2))
    ]
    for _ in range(deals):
        neg, pos = (dealt(w, w2, folds, rng)[0] for w, w2 in sides)
        yield from zip(neg / deals, pos / deals, fits_to_others(neg, pos, place), strict=True)


def fits_to_others(neg: Floats, pos: Floats, place: Floats) -> Floats:
    """For each fold (rows), the isotonic fit to all others, straight between the places that they have.

    Where there are no others the share of positives of all serves, which nothing was learned from.

    >>> fits_to_others(np.eye(2), np.zeros((2, 2)), np.arange(2.0))
    array([[0., 0.],
           [0., 0.]])
    """
    made = np.full(neg.shape, pos.sum() / (neg.sum() + pos.sum()))
    for k, (n, p) in enumerate(zip(others(neg), others(pos), strict=True)):
        seen = n + p > 0
        if seen.any():
            made[k] = np.interp(place, place[seen], fits(n[seen][None], p[seen][None])[0])
    return made


class Parts(NamedTuple):
    """A mean loss, which is mcb - dsc + unc; `bound` is what coarsening leaves open of mcb and dsc."""

    score: float
    mcb: float
    dsc: float
    unc: float
    bound: float = 0.0


def decompose(t: Tally, *, loss: Score = "brier", clip: float | None = None) -> Parts:
    """The mean loss and its parts, by isotonic regression (CORP).

    Miscalibration is what the best increasing recalibration would save, discrimination what that is
    better than the best constant, and uncertainty the loss of the best constant (Dimitriadis, Gneiting
    and Jordan 2021). `clip` is that of log loss.

    >>> parts = decompose(Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.9]))
    >>> [round(x, 4) for x in parts]
    [0.1875, 0.0625, 0.125, 0.25, 0.0]
    """
    one_of("loss", loss, get_args(Score))
    check(clip=clip)
    if why := why_not_probable(t):
        raise BadInput(f"nothing to decompose: {why}")
    score = mean_loss(t, charged(loss, clip), clip if loss == "log" else None)
    fit, bound = fitted_loss(t, loss)
    unc = constant_loss(t, loss)
    # what rounding leaves below 0 is nothing
    return Parts(score, max(score - fit, 0.0), max(unc - fit, 0.0), unc, bound)


def charged(loss: Score, clip: float | None) -> Loss:
    """The loss as tallies know it."""
    return "log clipped" if loss == "log" and clip is not None else loss


def fitted_loss(t: Tally, loss: Score) -> tuple[float, float]:
    """The mean loss of the isotonic fit, and what coarsening leaves open of it."""
    value, half = certified(t, lambda x: _fitted_loss(x, loss))
    return value, abs(half)  # it falls as the ROC curve rises


def _fitted_loss(t: Tally, loss: Score) -> float:
    start = pooled(t)
    neg, pos = (add_runs(w, start).astype(np.float64) for w in (t.neg, t.pos))
    mass = neg + pos
    return float((mass * uncertainty(pos / mass, loss)).sum() / mass.sum())


def constant_loss(t: Tally, loss: Score) -> float:
    """The mean loss of the best constant, the prevalence."""
    share = t.positives / (t.positives + t.negatives)
    return float(uncertainty(np.array([share]), loss)[0])


class Murphy(NamedTuple):
    """The Brier score on bins: reliability - resolution + uncertainty."""

    rel: float
    res: float
    unc: float


def murphy(t: Tally, *, bins: int | None = 10, debias: bool = True) -> Murphy:
    """Reliability, resolution and uncertainty of the mean probabilities of bins (Murphy 1973).

    The bins have about equal mass and split no tied scores; with bins=None each distinct score is one.
    Few rows in a bin make reliability and resolution too large: debias takes off what is expected of
    that (Ferro and Fricker 2012), and then reliability may be negative.

    >>> t = Tally.of([0, 1, 0, 0, 1, 1, 1, 1, 0], [0.5] * 4 + [0.6] * 5)
    >>> [round(x, 4) for x in murphy(t, bins=None, debias=False)]
    [0.05, 0.0747, 0.2469]
    >>> [round(x + 0.0, 4) for x in murphy(t, bins=None)]
    [0.0, 0.0556, 0.2778]
    """
    if bins is not None and bins < 1:
        raise BadInput(f"bins={bins} is less than 1; 10 is usual")
    if why := why_not_probable(t):
        raise BadInput(f"nothing to decompose: {why}")
    c = chances(t)
    b = c if bins is None else c.joined(runs(c.weight, bins))
    share, total = b.pos / b.weight, b.total
    prevalence = float(b.pos.sum() / total)
    unc = prevalence * (1 - prevalence)
    rel = float((b.weight * (share - b.p) ** 2).sum() / total)
    res = float((b.weight * (share - prevalence) ** 2).sum() / total)
    if not debias:
        return Murphy(rel, res, unc)
    excess, missing = _excess(b, share), _missing(unc, total, float(b.squares.sum()))
    return Murphy(rel - excess, res - excess + missing, unc + missing)


def _excess(b: Chances, share: np.ndarray) -> float:
    """What the noise of the shares adds; a bin of one row says nothing of it."""
    rows = b.weight**2 / b.squares
    less = np.where(rows > 1 + 1e-9, rows - 1, np.inf)
    return float((b.weight * share * (1 - share) / less).sum() / b.total)


def _missing(unc: float, total: float, squares: float) -> float:
    rows = effective(total, squares)
    return unc / (rows - 1) if rows > 1 + 1e-9 else 0.0
