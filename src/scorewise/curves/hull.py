"""The hull of the ROC curve is isotonic regression: the reliability curve, and what a loss is made of."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.checks import check, one_of
from scorewise.errors import BadInput
from scorewise.inference.resampling import dealt, drawn_gaps, others
from scorewise.inference.scales import effective, z
from scorewise.inference.shares import pooled_runs, rising_limits, run_shares
from scorewise.tallies import Tally
from scorewise.tallies.coarse import certified
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
Bands = Literal["consistency", "confidence"]
CELLS, REPLICATES, STRETCHES = 512, 500, 256
FOLDS, DEALS = 5, 2  # of cross-fits


@once
def pooled(t: Tally) -> Ints:
    """The first cell of each run of cells that the hull joins, from the lowest score up.

    Within a run the isotonic fit (pool adjacent violators) is constant: pos / (pos + neg), the slope of
    the hull read as a posterior.

    >>> t = Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    >>> pooled(t)
    array([0, 1, 3])
    """
    if not t.distinct or not t.positives:
        return pool(t.neg, t.pos)
    # a run of positives and the negatives that follow it are joined in any case
    at = np.flatnonzero(t.pos > 0)
    first = np.flatnonzero(np.diff(at, prepend=-2) > 1)
    start, pos = at[first], np.diff(first, append=len(at))
    if start[0]:
        start, pos = np.append(0, start), np.append(0, pos)
    return start[pool(np.diff(start, append=len(t.pos)) - pos, pos)]


def pool(neg: Numbers, pos: Numbers) -> Ints:
    """The same for weights on cells; parts first and then their runs, which keeps memory small."""
    if len(neg) <= _PART:
        return pooled_runs(neg, pos)
    start = np.concatenate(
        [i + pool(neg[i : i + _PART], pos[i : i + _PART]) for i in range(0, len(neg), _PART)]
    )
    return start[pooled_runs(*(add_runs(w, start) for w in (neg, pos)))]


def calibrated(t: Tally) -> Floats:
    """The calibrated score of each cell: the slope of the hull there, read as the share of positives.

    This is the isotonic regression of the labels on the scores.

    >>> calibrated(Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]))
    array([0. , 0.5, 0.5, 1. ])
    """
    return run_shares(t.neg, t.pos, pooled(t))


def fitted_losses(neg: Floats, pos: Floats, loss: Loss) -> Floats:
    """The mean loss of the isotonic fit to each row of cells (replicates by cells).

    >>> fitted_losses(np.array([[1.0, 0.0, 1.0, 0.0]]), np.array([[0.0, 1.0, 0.0, 1.0]]), "brier")
    array([0.125])
    """
    made = np.empty(len(neg))
    for some in _parts(neg):
        start, row = pool_rows(neg[some], pos[some])
        _, charge = _charged(neg[some].ravel(), pos[some].ravel(), start, loss)
        made[some] = np.bincount(row, charge) / (neg[some] + pos[some]).sum(1)
    return made


def _parts(rows: Floats) -> list[slice]:
    """A few rows at a time, so that memory stays small."""
    several = max(1, _PART // max(rows.shape[1], 1))
    return [slice(i, i + several) for i in range(0, len(rows), several)]


def _charged(neg: Any, pos: Any, start: Ints, loss: Loss) -> tuple[Floats, Floats]:
    """The weight of each run, and what the isotonic fit is charged there."""
    n, p = (np.asarray(add_runs(w, start), np.float64) for w in (neg, pos))
    return n + p, (n + p) * uncertainty(p / (n + p), loss)


def fits(neg: Floats, pos: Floats) -> Floats:
    """The isotonic fit to each row of cells (replicates by cells).

    >>> fits(np.array([[1.0, 0.0, 1.0, 0.0]]), np.array([[0.0, 1.0, 0.0, 1.0]]))
    array([[0. , 0.5, 0.5, 1. ]])
    """
    made = np.empty(neg.shape)
    for some in _parts(neg):
        start, _ = pool_rows(neg[some], pos[some])
        fit = run_shares(neg[some].ravel(), pos[some].ravel(), start)
        made[some] = fit.reshape(made[some].shape)
    return made


def pool_rows(neg: Any, pos: Any) -> tuple[Ints, Ints]:
    """The first cells of the runs of all rows, counted through, and the row of each run."""
    row = np.repeat(np.arange(len(neg)), neg.shape[1])
    start = pooled_runs(neg.ravel(), pos.ravel(), row)
    return start, row[start]


def fits_elsewhere(few: Tally, seed: int) -> Iterator[tuple[Floats, Floats, Floats]]:
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
    for _ in range(DEALS):
        neg, pos = (dealt(w, w2, FOLDS, rng)[0] for w, w2 in sides)
        yield from zip(neg / DEALS, pos / DEALS, fits_to_others(neg, pos, place), strict=True)


def fits_to_others(neg: Floats, pos: Floats, place: Floats) -> Floats:
    """For each fold (rows), the isotonic fit to all others, straight between the places that they have.

    Where there are no others the share of positives of all serves, which nothing was learned from.

    >>> fits_to_others(np.eye(2), np.zeros((2, 2)), np.arange(2.0))
    array([[0., 0.],
           [0., 0.]])
    """
    made = np.full(neg.shape, pos.sum() / (neg.sum() + pos.sum()))
    n, p = others(neg), others(pos)
    seen = n + p > 0
    n, p, row = n[seen], p[seen], np.nonzero(seen)[0]
    fit = np.split(run_shares(n, p, pooled_runs(n, p, row)), seen.sum(1).cumsum()[:-1])
    for k in np.flatnonzero(seen.any(1)):
        made[k] = np.interp(place, place[seen[k]], fit[k])
    return made


# The reliability curve: what happened, as a function of the probability that was given.


@dataclass(frozen=True, eq=False)
class Reliability:
    """Probabilities (x) with the isotonic share of positives (y) and the weight (mass) on each.

    `low` and `high` are the band: around the diagonal, where curves of calibrated scores lie
    ("consistency"), or around the curve, where the true one may lie ("confidence").
    """

    x: Floats
    y: Floats
    mass: Floats
    low: Floats
    high: Floats
    bands: Bands
    level: float
    simultaneous: bool

    @property
    def outside(self) -> float:
        """The share of rows at which the curve lies outside the band."""
        out = (self.y < self.low - 1e-12) | (self.y > self.high + 1e-12)
        return float(self.mass[out].sum() / self.mass.sum())


def reliability(
    t: Tally,
    *,
    level: float = 0.95,
    bands: Bands = "consistency",
    simultaneous: bool = False,
    seed: int = 0,
) -> Reliability:
    """The isotonic regression of the labels on the probabilities, with a band.

    Of all rising curves it is the likeliest (CORP; Dimitriadis, Gneiting and Jordan 2021): no bins have
    to be chosen. Up to 65,536 distinct probabilities are a point each, more are joined on a fixed grid.
    It holds at each probability by itself, or with simultaneous=True along the whole curve at once.

    The consistency band is drawn by labels that calibrated scores would get, refitted on at most 512
    joined cells. The confidence band is exact, and wide: the bootstrap fails for isotonic fits (see
    `scorewise.inference.shares`).

    >>> curve = reliability(Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.9]))
    >>> curve.x, curve.y
    (array([0.1, 0.2, 0.3, 0.9]), array([0. , 0.5, 0.5, 1. ]))
    """
    one_of("bands", bands, get_args(Bands))
    z(level)  # which refuses an invalid level
    if why := why_not_probable(t):
        raise BadInput(f"no reliability curve: {why}")
    c = chances(t)
    curve = fits((c.weight - c.pos)[None], c.pos[None])[0]
    low, high = (_consistent if bands == "consistency" else _confident)(
        c, level, simultaneous=simultaneous, seed=seed
    )
    if bands == "confidence":
        low, high = np.minimum(low, curve), np.maximum(high, curve)
    x = np.clip(c.p, 0.0, 1.0)
    return Reliability(x, curve, c.weight, low, high, bands, level, simultaneous)


def _consistent(
    c: Chances, level: float, *, simultaneous: bool, seed: int
) -> tuple[Floats, Floats]:
    """Around the diagonal: refitted to labels that calibrated scores would get."""
    few = c.joined(runs(c.weight, CELLS))
    at, x = (np.clip(cells.p, 0.0, 1.0) for cells in (few, c))
    gaps = drawn_gaps(few, REPLICATES, np.random.default_rng(seed))
    pos = np.clip(gaps + few.sum, 0.0, few.weight)
    off = fits(few.weight - pos, pos) - at
    least = float(0.1 * np.sqrt(few.squares.sum()) / few.total)
    if simultaneous:
        down, up = whole_curve(off, level, least)
    else:
        ends = np.quantile(off, [(1 - level) / 2, (1 + level) / 2], axis=0)
        down, up = np.minimum(ends[0], 0.0), np.maximum(ends[1], 0.0)
    low, high = (np.clip(x + np.interp(x, at, way), 0.0, 1.0) for way in (down, up))
    return np.maximum.accumulate(low), np.maximum.accumulate(high)


def _confident(c: Chances, level: float, *, simultaneous: bool, seed: int) -> tuple[Floats, Floats]:
    """Around the curve: what exact intervals of shares of neighbours leave for a rising curve."""
    start = runs(c.weight, STRETCHES)
    few = c.joined(start)
    single = len(few) == len(c)
    ends = rising_limits(few, level, simultaneous=simultaneous, single=single)
    length = np.diff(start, append=len(c))
    return np.repeat(ends[0], length), np.repeat(ends[1], length)


def whole_curve(off: Floats, level: float, least: float) -> tuple[Floats, Floats]:
    """How far below and above a curve such a share of all replicates of it stay (sup-t).

    Each side is so many times its own spread, or the least: near the ends a curve can err to one side
    only, and a side on which next to no replicate lies would else decide it all.
    """
    up, down = (np.sqrt((np.maximum(side, 0.0) ** 2).mean(0)) for side in (off, -off))
    up, down = np.maximum(up, least), np.maximum(down, least)
    reach = float(np.quantile(np.where(off > 0, off / up, -off / down).max(1), level))
    return -reach * down, reach * up


# The parts of a mean loss.


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

    def mean(x: Tally) -> float:
        mass, charge = _charged(x.neg, x.pos, pooled(x), loss)
        return float(charge.sum() / mass.sum())

    value, half = certified(t, mean)
    return value, abs(half)  # it falls as the ROC curve rises


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
    if bins is not None:
        check(bins=bins)
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
    # what the noise of the shares adds; a bin of one row says nothing of it
    rows = b.weight**2 / b.squares
    less = np.where(rows > 1 + 1e-9, rows - 1, np.inf)
    excess = float((b.weight * share * (1 - share) / less).sum() / total)
    all_rows = effective(total, float(b.squares.sum()))
    missing = unc / (all_rows - 1) if all_rows > 1 + 1e-9 else 0.0
    return Murphy(rel - excess, res - excess + missing, unc + missing)
