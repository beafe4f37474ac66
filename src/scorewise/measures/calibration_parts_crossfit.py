"""Would recalibration help on rows not seen? Miscalibration, cross-fitted."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.decomposition import Score
from scorewise.curves.hull import fits_to_others
from scorewise.door.columns import one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.folds import dealt, mean_gap
from scorewise.intervals.scales import effective
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.chances import Chances, chances, why_not_probable
from scorewise.tallies.extremes import why_open
from scorewise.tallies.losses import charges
from scorewise.tallies.mean_loss import check_clip, why_infinite
from scorewise.tallies.sorting import runs

CELLS = 1 << 12


@measure(
    group="calibration",
    better="low",
    bounds=(-math.inf, math.inf),
    title="MCB, cross-fitted",
)
def mcb_crossfit(
    t: Tally,
    *,
    loss: Score = "brier",
    folds: int = 10,
    clip: float | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """What isotonic recalibration saves of the loss of rows that it was not fitted to.

    The loss of the scores less that of the isotonic fit to the other folds, row by row, so that nothing
    is flattered: for calibrated scores it is a little below 0. Paired normal interval. Beyond 4,096
    distinct scores neighbours are joined first. For log loss the score itself counts as one more row of
    the fit, which is then never 0 or 1.

    >>> p = np.repeat(np.arange(1, 10) / 10, 20)
    >>> mcb_crossfit(Tally.of(np.tile([0, 0, 0, 1], 45), p))
    0.125 [0.075, 0.174]
    """
    one_of("loss", loss, ("brier", "log", "spherical"))
    check_clip(clip)
    if isinstance(folds, bool) or not isinstance(folds, int | np.integer) or folds < 2:
        raise BadInput(f"folds={folds!r} is no number of folds; 10 is usual, 2 the least")
    if why := why_not_probable(t) or why_open(t):
        return Estimate.undefined(why, level)
    if effective(t.negatives + t.positives, sum(t.squares)) < 2 * folds - 1e-6:
        return Estimate.undefined(f"fewer than {2 * folds} rows, for {folds} folds", level)
    if loss == "log" and clip is None and (why := why_infinite(t)):
        return Estimate(math.inf, level=level, why=why)
    rows = _deal(t, folds, seed)
    at = rows.p if clip is None or loss != "log" else np.clip(rows.p, clip, 1 - clip)
    with np.errstate(invalid="ignore"):  # infinite losses of a class that no row of the cell has
        gap = np.stack(charges(at, "probability", loss))[:, None] - np.stack(
            charges(_out_of_fold(rows, loss), "probability", loss)
        )
    weight = np.stack((rows.neg, rows.pos))
    e = mean_gap(np.where(weight > 0, gap, 0.0), weight, np.stack((rows.neg2, rows.pos2)), level)
    if not e.high > e.low:
        return replace(e, baseline=None, low=math.nan, high=math.nan)
    return replace(e, baseline=None)


class _Rows(NamedTuple):
    """The probability of each cell, and the weights of both classes and their squares, fold by cell."""

    p: Floats
    neg: Floats
    pos: Floats
    neg2: Floats
    pos2: Floats


def _deal(t: Tally, folds: int, seed: int) -> _Rows:
    rng = np.random.default_rng(seed)
    c: Chances = chances(t)
    few = c.joined(runs(c.weight, CELLS))
    share = few.pos / few.weight
    neg, neg2 = dealt(few.weight - few.pos, few.squares * (1 - share), folds, rng)
    pos, pos2 = dealt(few.pos, few.squares * share, folds, rng)
    return _Rows(np.clip(few.p, 0.0, 1.0), neg, pos, neg2, pos2)


def _out_of_fold(rows: _Rows, loss: Score) -> Floats:
    """The isotonic fit to all other folds, straight between the cells that they have."""
    # at a scale on which the slope between the smallest numbers is one
    made = fits_to_others(rows.neg, rows.pos, rows.p * 2.0**600)
    if loss != "log":
        return made
    n = effective(float((rows.neg + rows.pos).sum()), float((rows.neg2 + rows.pos2).sum()))
    fit = (n * made + rows.p) / (n + 1)
    # which rounding may not make certain
    fit = np.where(rows.p < 1, np.minimum(fit, np.nextafter(1.0, 0.0)), fit)
    return np.where(rows.p > 0, np.maximum(fit, np.nextafter(0.0, 1.0)), fit)
