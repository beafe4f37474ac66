"""What is a loss made of? Miscalibration, discrimination and uncertainty (CORP), also on rows not seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import check, one_of
from scorewise.curves import hull
from scorewise.curves.hull import ProperLoss, constant_loss, losses_of_fits
from scorewise.estimate import Estimate, Undefined, undefined_if
from scorewise.inference import resampling
from scorewise.inference.folds import deal_rows
from scorewise.inference.means import mean_difference
from scorewise.inference.resampling import consistency_gaps, resampled_weights, resampling_p
from scorewise.inference.scales import effective_size, normal_quantile
from scorewise.inference.shares import wilson
from scorewise.registry import measure
from scorewise.statistics.probabilities import (
    ProbabilityCells,
    probability_cells,
    why_infinite,
    why_not_probabilities,
)
from scorewise.tallies import Tally
from scorewise.tallies.coarse import pool, why_undecided
from scorewise.tallies.losses import score_losses, uncertainty

REPLICATES, RESAMPLES, CELLS = 500, 200, 128
FINE, ENOUGH = 1 << 11, 30  # cells and replicates of the expected value, which finer cells raise
SCORES = get_args(ProperLoss)
CROSSFIT_CELLS = 1 << 12


@measure(group="calibration", better="low", title="Miscalibration (MCB)")
def mcb(
    t: Tally,
    *,
    loss: ProperLoss = "brier",
    clip: float | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """What the best increasing recalibration would save of the loss, on the same rows.

    MCB of loss = MCB - DSC + UNC (Dimitriadis, Gneiting and Jordan 2021), by isotonic regression; never
    0 on finite rows, so compare it with `expected`, its mean for calibrated scores by consistency
    resampling, which also gives `p`. The interval, by the bootstrap of cells, reaches down by twice the
    bias seen there, and to 0 unless `p` is small. Beyond 128 distinct scores replicates are drawn on as
    many joined cells, and those of `expected` on up to 2,048.

    >>> mcb(Tally.of([1, 0, 1, 0, 0, 0], [0.8, 0.3, 0.3, 0.1, 0.7, 0.9]))
    0.127 [0.000, 0.323]
    """
    one_of("loss", loss, SCORES)
    undefined_if(why_not_probabilities(t))
    if loss == "log" and clip is None and (why := why_infinite(t)):
        return Estimate(math.inf, level=level, why=why)
    parts = hull.decompose(t, loss=loss, clip=clip)
    if not math.isfinite(parts.mcb):
        why = "infinite: the losses add up beyond the largest number"
        return Estimate(math.inf, level=level, why=why)
    c = probability_cells(t).at_most(CELLS)
    saved = _miscalibration(c, loss, clip)
    null = saved(c.pos - c.gap + consistency_gaps(c, REPLICATES, np.random.default_rng(seed)))
    seen = float(saved(c.pos[None])[0])
    p = resampling_p(null, seen * (1 - 1e-9) - 1e-15)
    expected = float(null.mean())
    if len(probability_cells(t)) > CELLS:
        fine = probability_cells(t).at_most(FINE)
        # a mean needs no other draws than normal ones where a cell has a few rows of each class
        drawn = consistency_gaps(fine, ENOUGH, np.random.default_rng(seed), many=5)
        expected = float(_miscalibration(fine, loss, clip)(fine.pos - fine.gap + drawn).mean())
    e = Estimate(parts.mcb, level=level, bound=parts.bound, expected=expected, p=p)
    # down by twice the bias that resampling shows, and both ways by what it spreads
    rng, share = np.random.default_rng(seed), c.pos / c.weight
    neg = resampled_weights(c.weight - c.pos, c.squares * (1 - share), RESAMPLES, rng)
    again = saved(resampled_weights(c.pos, c.squares * share, RESAMPLES, rng), neg)
    bias, reach = float(again.mean() - seen), normal_quantile(level) * float(again.std())
    low, high = parts.mcb - 2 * max(bias, 0.0) - reach, parts.mcb + reach
    if not high - low > 1e-12:  # no more than rounding
        return replace(e, method="none: resampling does not move it")
    low = 0.0 if p > (1 - level) / 2 else max(low - parts.bound, 0.0)
    high = high + parts.bound if loss == "log" else min(high + parts.bound, 1.0)
    return replace(e, low=low, high=high, method="bootstrap, bias-widened")


def _miscalibration(
    c: ProbabilityCells, loss: ProperLoss, clip: float | None
) -> Callable[..., Floats]:
    """Miscalibration as a function of the weights of positives, replicates by cells.

    Those of negatives are what is left of the cells unless they are given.
    """
    losses = score_losses(np.clip(c.p, 0.0, 1.0), "probability", loss, clip)
    on_neg, on_pos = (np.minimum(x, 1e300) for x in losses)

    def saved(pos: Floats, neg: Floats | None = None) -> Floats:
        if neg is None:
            pos = np.clip(pos, 0.0, c.weight)
            neg = c.weight - pos
        score = (neg * on_neg + pos * on_pos).sum(1) / (neg + pos).sum(1)
        return np.asarray(np.maximum(score - losses_of_fits(neg, pos, loss), 0.0))

    return saved


@measure(group="calibration", bounds=(0.0, math.inf), title="Discrimination (DSC)")
def dsc(t: Tally, *, loss: ProperLoss = "brier", level: float = 0.95, seed: int = 0) -> Estimate:
    """What the scores, recalibrated as well as can be, save of the loss of the best constant.

    DSC of loss = MCB - DSC + UNC (Dimitriadis, Gneiting and Jordan 2021), by isotonic regression on the
    same rows: in small samples too high. The interval, with the error of the bootstrap of cells,
    therefore reaches down from what a fit to other rows saves, in five folds, dealt twice. The
    baseline, 0, is that of a constant.

    >>> dsc(Tally.of([1, 0, 1, 0, 0, 0], [0.8, 0.3, 0.3, 0.1, 0.7, 0.9]))
    0.028 [0.000, 0.109]
    """
    one_of("loss", loss, SCORES)
    undefined_if(t.why_not_ranked)
    fit, bound = hull.loss_of_fit(t, loss)
    value = max(constant_loss(t, loss) - fit, 0.0)
    few = pool(t.pooled, CELLS)

    def told_apart(neg: Floats, pos: Floats) -> Floats:
        share = pos.sum(1) / (neg.sum(1) + pos.sum(1))
        return np.maximum(uncertainty(share, loss) - losses_of_fits(neg, pos, loss), 0.0)

    drawn = resampling.bootstrap_cells(few, told_apart, replicates=RESAMPLES, seed=seed)
    reach = normal_quantile(level) * float(drawn.std())
    low = max(min(_crossfitted(few, loss, seed), value) - reach - bound, 0.0)
    method = "bootstrap, cross-fitted"
    return Estimate(value, low, value + reach + bound, level, method, "", bound, 0.0)


def _crossfitted(few: Tally, loss: ProperLoss, seed: int) -> float:
    """Discrimination of the isotonic fit to all folds but the one that it is judged on."""
    total = few.negatives + few.positives
    prevalence = few.positives / total
    rows = effective_size(total, sum(few.squares))

    def charges(fit: Floats) -> tuple[Floats, Floats]:
        # the prevalence counts as one more row, because a fit of 0 or 1 may lose without end
        careful = np.clip((rows * fit + prevalence) / (rows + 1), 1e-300, np.nextafter(1.0, 0.0))
        return score_losses(careful, "probability", loss)

    return constant_loss(few, loss) - hull.crossfitted_loss(few, charges, seed) / total


@measure(group="calibration", better="neither", bounds=(0.0, 0.25), title="Uncertainty (UNC)")
def unc(t: Tally, *, loss: ProperLoss = "brier", level: float = 0.95) -> Estimate:
    """The loss of the best constant, the prevalence: how hard the rows are without any model.

    UNC of loss = MCB - DSC + UNC (Dimitriadis, Gneiting and Jordan 2021); for the Brier score
    p (1 - p). What its formula makes of the Wilson interval of the prevalence.

    >>> unc(Tally.of([1, 0, 1, 0, 0, 0], [0.8, 0.3, 0.3, 0.1, 0.7, 0.9]))
    0.222 [0.087, 0.250]
    """
    one_of("loss", loss, SCORES)
    undefined_if("" if t.negatives or t.positives else "no rows")
    value = constant_loss(t, loss)
    share = wilson(t.positives, t.negatives, t.squares[1], t.squares[0], level)
    low, high = sorted(uncertainty(np.array([share.low, share.high]), loss).tolist())
    if share.low <= 0.5 <= share.high:
        high = float(uncertainty(np.array([0.5]), loss)[0])
    return Estimate(value, min(low, value), max(high, value), level, "Wilson")


@measure(group="calibration", better="low", bounds=(-math.inf, math.inf), title="MCB, cross-fitted")
def mcb_crossfit(
    t: Tally, *, loss: ProperLoss = "brier", folds: int = 10, clip: float | None = None,
    level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """What isotonic recalibration saves of the loss of rows that it was not fitted to.

    The loss of the scores less that of the isotonic fit to the other folds, row by row, so that nothing
    is flattered: for calibrated scores it is a little below 0. Paired normal interval. Beyond 4,096
    distinct scores neighbours are joined first. For log loss the score itself counts as one more row of
    the fit, which is then never 0 or 1.

    >>> p = np.repeat(np.arange(1, 10) / 10, 20)
    >>> mcb_crossfit(Tally.of(np.tile([0, 0, 0, 1], 45), p))
    0.125 [0.075, 0.174]
    """
    one_of("loss", loss, SCORES)
    check(clip=clip, folds=folds)
    undefined_if(why_not_probabilities(t) or why_undecided(t))
    if effective_size(t.negatives + t.positives, sum(t.squares)) < 2 * folds - 1e-6:
        raise Undefined(f"fewer than {2 * folds} rows, for {folds} folds")
    if loss == "log" and clip is None and (why := why_infinite(t)):
        return Estimate(math.inf, level=level, why=why)
    rng, c = np.random.default_rng(seed), probability_cells(t)
    few = c.at_most(CROSSFIT_CELLS)
    share = few.pos / few.weight
    neg, neg2 = deal_rows(few.weight - few.pos, few.squares * (1 - share), folds, rng)
    pos, pos2 = deal_rows(few.pos, few.squares * share, folds, rng)
    weight, squares = np.stack((neg, pos)), np.stack((neg2, pos2))
    gap = crossfit_gaps(few, weight, squares, loss, clip)
    e = replace(mean_difference(gap, weight, squares, level), baseline=None)
    return e if e.high > e.low else replace(e, low=math.nan, high=math.nan)


def crossfit_gaps(
    few: ProbabilityCells, weight: Floats, squares: Floats, loss: ProperLoss, clip: float | None
) -> Floats:
    """What the isotonic fit to the other folds saves, by class, fold and cell, as weights have them."""
    p = np.clip(few.p, 0.0, 1.0)
    # straight between the cells, at a scale on which the slope between the smallest numbers is one
    fit = hull.fits_to_other_folds(weight[0], weight[1], p * 2.0**600)
    if loss == "log":  # which neither rounding nor joined cells may make certain
        least = max(clip or 0.0, np.nextafter(0.0, 1.0))
        ends = least, min(1 - least, np.nextafter(1.0, 0.0))
        n, p = effective_size(float(weight.sum()), float(squares.sum())), np.clip(p, *ends)
        fit = np.clip((n * fit + p) / (n + 1), *ends)
    paid, fitted = (np.stack(score_losses(x, "probability", loss)) for x in (p, fit))
    gap: Floats = paid[:, None] - fitted
    return gap
