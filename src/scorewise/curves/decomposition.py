"""What a mean loss is made of: miscalibration, discrimination and uncertainty."""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from scorewise.curves.hull import pooled
from scorewise.door.columns import one_of
from scorewise.errors import BadInput
from scorewise.intervals.scales import effective
from scorewise.tallies import Tally
from scorewise.tallies.chances import Chances, chances, why_not_probable
from scorewise.tallies.extremes import certified
from scorewise.tallies.losses import Loss, uncertainty
from scorewise.tallies.mean_loss import check_clip, mean_loss
from scorewise.tallies.sorting import add_runs, runs

Score = Literal["brier", "log", "spherical"]


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
    check_clip(clip)
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
