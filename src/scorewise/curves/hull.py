"""The hull of the ROC curve is isotonic regression: fits to cells, and what a mean loss is made of."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.checks import check, one_of
from scorewise.computing import inner, once
from scorewise.errors import BadInput
from scorewise.inference.folds import deal_rows, other_folds
from scorewise.inference.scales import effective_size
from scorewise.inference.shares import isotonic_runs, run_shares
from scorewise.statistics.probabilities import (
    moments,
    probability_cells,
    why_infinite,
    why_not_probabilities,
)
from scorewise.tallies import Tally
from scorewise.tallies.coarse import certified
from scorewise.tallies.losses import Loss, uncertainty
from scorewise.tallies.runs import add_runs
from scorewise.tallies.sorting import Numbers

_BLOCK_CELLS = 1 << 16
ProperLoss = Literal["brier", "log", "spherical"]
# of shares of positives: what a negative and what a positive is charged
Charges = Callable[[Floats], tuple[Floats, Floats]]
FOLDS, DEALS = 5, 2  # of cross-fits


@once
def pav_blocks_of(t: Tally) -> Ints:
    """The first cell of each block of cells that the hull joins, from the lowest score up.

    Within a block the isotonic fit (pool adjacent violators) is constant: pos / (pos + neg), the slope of
    the hull read as a posterior.

    >>> t = Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    >>> pav_blocks_of(t)
    array([0, 1, 3])
    """
    if not t.distinct or not t.positives:
        return pav_blocks(t.neg, t.pos)
    # a run of positives and the negatives that follow it are joined in any case
    at = np.flatnonzero(t.pos > 0)
    first = np.flatnonzero(np.diff(at, prepend=-2) > 1)
    start, pos = at[first], np.diff(first, append=len(at))
    if start[0]:
        start, pos = np.append(0, start), np.append(0, pos)
    return start[pav_blocks(np.diff(start, append=len(t.pos)) - pos, pos)]


def pav_blocks(neg: Numbers, pos: Numbers) -> Ints:
    """The same for weights on cells: parts first, then their blocks, which keeps memory small."""
    if len(neg) <= _BLOCK_CELLS:
        return isotonic_runs(neg, pos)
    start = np.concatenate(
        [
            i + pav_blocks(neg[i : i + _BLOCK_CELLS], pos[i : i + _BLOCK_CELLS])
            for i in range(0, len(neg), _BLOCK_CELLS)
        ]
    )
    return start[isotonic_runs(*(add_runs(w, start) for w in (neg, pos)))]


def calibrated(t: Tally) -> Floats:
    """The calibrated score of each cell: the slope of the hull there, read as the share of positives.

    This is the isotonic regression of the labels on the scores.

    >>> calibrated(Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4]))
    array([0. , 0.5, 0.5, 1. ])
    """
    return run_shares(t.neg, t.pos, pav_blocks_of(t))


def losses_of_fits(neg: Floats, pos: Floats, loss: Loss) -> Floats:
    """The mean loss of the isotonic fit to each row of cells (replicates by cells).

    >>> losses_of_fits(np.array([[1.0, 0.0, 1.0, 0.0]]), np.array([[0.0, 1.0, 0.0, 1.0]]), "brier")
    array([0.125])
    """
    start, row = pav_blocks_of_rows(neg, pos)
    n, p = (add_runs(w.ravel(), start) for w in (neg, pos))
    charge = np.bincount(row, (n + p) * uncertainty(p / (n + p), loss))
    return np.asarray(charge / (neg + pos).sum(1))


def isotonic_fits(neg: Floats, pos: Floats) -> Floats:
    """The isotonic fit to each row of cells (replicates by cells).

    >>> isotonic_fits(np.array([[1.0, 0.0, 1.0, 0.0]]), np.array([[0.0, 1.0, 0.0, 1.0]]))
    array([[0. , 0.5, 0.5, 1. ]])
    """
    start, _ = pav_blocks_of_rows(neg, pos)
    return run_shares(neg.ravel(), pos.ravel(), start).reshape(neg.shape)


def pav_blocks_of_rows(neg: Any, pos: Any) -> tuple[Ints, Ints]:
    """The first cells of the blocks of all rows, counted through, and the row of each block."""
    row = np.repeat(np.arange(len(neg)), neg.shape[1])
    start = isotonic_runs(neg.ravel(), pos.ravel(), row)
    return start, row[start]


def crossfitted_loss(few: Tally, charges: Charges, seed: int) -> float:
    """What rows are charged in all by the isotonic fits to the folds that they are not in.

    Rows are dealt out several times, and weights shared among the deals; fits are straight between the
    scores that the others have.

    >>> few = Tally.of([0, 1] * 10, [0.1, 0.4] * 10)
    >>> crossfitted_loss(few, lambda fit: (np.ones(len(fit)), np.zeros(len(fit))), 0)
    10.0
    """
    rng, place = np.random.default_rng(seed), np.arange(len(few.score), dtype=np.float64)
    sides = [
        [x.astype(np.float64) for x in both] for both in ((few.neg, few.neg2), (few.pos, few.pos2))
    ]
    loss = 0.0
    for _ in range(DEALS):
        neg, pos = (deal_rows(w, w2, FOLDS, rng)[0] for w, w2 in sides)
        for n, p, fit in zip(neg, pos, fits_to_other_folds(neg, pos, place), strict=True):
            on_neg, on_pos = charges(fit)
            loss += inner(n, on_neg) + inner(p, on_pos)
    return loss / DEALS


def fits_to_other_folds(neg: Floats, pos: Floats, place: Floats) -> Floats:
    """For each fold (rows), the isotonic fit to all others, interpolated between the places of these.

    Where there are no others the share of positives of all serves, which nothing was learned from.

    >>> fits_to_other_folds(np.eye(2), np.zeros((2, 2)), np.arange(2.0))
    array([[0., 0.],
           [0., 0.]])
    """
    made = np.full(neg.shape, pos.sum() / (neg.sum() + pos.sum()))
    n, p = other_folds(neg), other_folds(pos)
    seen = n + p > 0
    n, p, row = n[seen], p[seen], np.nonzero(seen)[0]
    fit = np.split(run_shares(n, p, isotonic_runs(n, p, row)), seen.sum(1).cumsum()[:-1])
    for k in np.flatnonzero(seen.any(1)):
        made[k] = np.interp(place, place[seen[k]], fit[k])
    return made


# The parts of a mean loss.


class Decomposition(NamedTuple):
    """A mean loss, which is mcb - dsc + unc; `bound` is what coarsening leaves open of mcb and dsc."""

    score: float
    mcb: float
    dsc: float
    unc: float
    bound: float = 0.0


def decompose(t: Tally, *, loss: ProperLoss = "brier", clip: float | None = None) -> Decomposition:
    """The mean loss and its parts, by isotonic regression (CORP).

    Miscalibration is what the best increasing recalibration would save, discrimination what that is
    better than the best constant, and uncertainty the loss of the best constant (Dimitriadis, Gneiting
    and Jordan 2021). `clip` is that of log loss.

    >>> parts = decompose(Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.9]))
    >>> [round(x, 4) for x in parts]
    [0.1875, 0.0625, 0.125, 0.25, 0.0]
    """
    one_of("loss", loss, get_args(ProperLoss))
    check(clip=clip)
    if why := why_not_probabilities(t):
        raise BadInput(f"nothing to decompose: {why}")
    score = math.inf
    if loss != "log" or clip is not None or not why_infinite(t):
        score = sum(m.first for m in moments(t, loss, clip)) / (t.negatives + t.positives)
    fit, bound = loss_of_fit(t, loss)
    unc = constant_loss(t, loss)
    # what rounding leaves below 0 is nothing
    return Decomposition(score, max(score - fit, 0.0), max(unc - fit, 0.0), unc, bound)


def loss_of_fit(t: Tally, loss: ProperLoss) -> tuple[float, float]:
    """The mean loss of the isotonic fit, and what coarsening leaves open of it."""

    def mean(x: Tally) -> float:
        neg, pos = (1.0 * add_runs(w, pav_blocks_of(x)) for w in (x.neg, x.pos))
        mass = neg + pos
        return float((mass * uncertainty(pos / mass, loss)).sum() / mass.sum())

    value, half = certified(t, mean)
    return value, abs(half)  # it falls as the ROC curve rises


def constant_loss(t: Tally, loss: ProperLoss) -> float:
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
    if why := why_not_probabilities(t):
        raise BadInput(f"nothing to decompose: {why}")
    c = probability_cells(t)
    b = c if bins is None else c.at_most(bins)
    share, total = b.pos / b.weight, b.total
    prevalence = float(b.pos.sum() / total)
    unc = prevalence * (1 - prevalence)
    rel = float((b.weight * (share - b.p) ** 2).sum() / total)
    res = float((b.weight * (share - prevalence) ** 2).sum() / total)
    if not debias:
        return Murphy(rel, res, unc)
    # what the noise of the shares adds; a bin of one row says nothing of it
    less = np.where(b.rows > 1 + 1e-9, b.rows - 1, np.inf)
    excess = float((b.weight * share * (1 - share) / less).sum() / total)
    all_rows = effective_size(total, float(b.squares.sum()))
    missing = unc / (all_rows - 1) if all_rows > 1 + 1e-9 else 0.0
    return Murphy(rel - excess, res - excess + missing, unc + missing)
