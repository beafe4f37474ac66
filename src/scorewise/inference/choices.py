"""Intervals by name, where a referee asks for one: DeLong's, on the logit scale, exact, or bootstrapped.

Each belongs to some measures; others keep the interval that they have, and its method says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.inference.logistic import as_log_odds, logistic, newton_lines
from scorewise.inference.ranking import auroc_variance, average_precisions
from scorewise.inference.resampling import resampled_weights
from scorewise.inference.scales import wald
from scorewise.inference.shares import clopper_pearson, share_of_cells, wilson
from scorewise.registry import Measure
from scorewise.statistics.formulas import DECISIONS, SHARES, auroc
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.coarse import pool
from scorewise.tallies.losses import Loss, score_losses

Interval = Literal["delong", "logit", "bootstrap", "wilson", "exact"]
LOSSES: dict[str, Loss] = {"brier": "brier", "log_loss": "log", "spherical": "spherical"}
CELLS = 1 << 14  # distinct scores that are resampled; more are joined
AT_ONCE = 1 << 22  # numbers of a block of replicates
Statistic = Callable[[Floats, Floats], Floats]  # of replicates by cells: negatives, positives


def interval_by_name(
    e: Estimate,
    m: Measure,
    t: Tally,
    c: Confusion,
    interval: Interval,
    *,
    replicates: int = 2000,
    seed: int = 0,
    clip: float | None = None,
) -> Estimate:
    """The estimate with the interval of that name, or with its own where that is none for the measure."""
    if not e.defined:
        return e
    limits: tuple[float, float] | None = None
    method = ""
    if interval in ("delong", "logit") and m.name == "auroc":
        # DeLong's variance with the normal quantile, as pROC's `ci.auc` has it
        error = math.sqrt(max(auroc_variance(t, e.value).variance, 0.0))
        if interval == "delong":
            limits, method = wald(e.value, error, e.level, "identity"), "DeLong, Wald"
        elif 0 < e.value < 1:
            limits = wald(e.value, error, e.level, "logit")
            method = "DeLong, Wald on the logit scale"
    elif interval in ("wilson", "exact") and m.name in SHARES:
        hit, miss = map(list, SHARES[m.name])
        of, method = (
            (wilson, "Wilson") if interval == "wilson" else (clopper_pearson, "Clopper-Pearson")
        )
        limits = share_of_cells(c.table, c.squares, hit, miss, e.level, of)[1:]
    elif interval == "bootstrap":
        limits = _bootstrapped(e, m.name, t, c, clip, replicates, seed)
        method = f"stratified bootstrap, percentile, {replicates:,} resamples"
    if limits is None:
        return replace(e, method=f"{e.method} (no {interval})") if e.method else e
    low, high = (min(max(x, m.bounds[0]), m.bounds[1]) for x in limits)
    return replace(e, low=low, high=high, method=method, caution="")


def _bootstrapped(
    e: Estimate,
    name: str,
    t: Tally,
    c: Confusion,
    clip: float | None,
    replicates: int,
    seed: int,
) -> tuple[float, float] | None:
    """Percentiles of the measure over resampled rows, those of each class by themselves.

    Counts are drawn from the multinomial, which is what drawing rows with replacement comes to; of weights
    each row is multiplied by an exponential number of mean 1 (Rubin 1981). None where the measure is not
    among those that are resampled: ECE is not, because resampled gaps are larger than those seen, nor the
    intercept, which is about the very prevalence that such resamples keep.
    """
    cells = pool(t.pooled, CELLS) if len(t.score) > CELLS else t.pooled
    sides = (cells.neg, cells.neg2), (cells.pos, cells.pos2)
    if name in DECISIONS:  # of two cells: those below the threshold and those above
        sides = (c.weight[0], c.weight2[0]), (c.weight[1], c.weight2[1])
    statistic = _statistic(name, cells, clip)
    if statistic is None or not all(w.sum() for w, _ in sides):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        seen = float(statistic(*(w[None].astype(np.float64) for w, _ in sides))[0])
        if not math.isclose(seen, e.value, rel_tol=1e-3, abs_tol=1e-3):
            return None  # another convention than that of the measure
        drawn = np.concatenate(
            [statistic(*both) for both in _drawn(sides, t.weighted, replicates, seed)]
        )
    drawn = drawn[~np.isnan(drawn)]
    if len(drawn) < replicates / 2:
        return None
    how: Any = "linear" if np.isfinite(drawn).all() else "inverted_cdf"
    low, high = np.quantile(drawn, [(1 - e.level) / 2, (1 + e.level) / 2], method=how)
    return float(low + e.value - seen), float(high + e.value - seen)


def _drawn(
    sides: Any, weighted: bool, replicates: int, seed: int
) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of resampled weights of the cells, of negatives and of positives."""
    rng = np.random.default_rng(seed)
    block = max(1, AT_ONCE // len(sides[0][0]))
    for start in range(0, replicates, block):
        draws = min(block, replicates - start)
        weights = []
        for w, w2 in sides:
            if weighted or not np.array_equal(w, np.rint(w)):
                weights.append(resampled_weights(w, w2, draws, rng))
            else:
                total = int(w.sum())
                weights.append(rng.multinomial(total, w / total, draws).astype(np.float64))
        yield weights[0], weights[1]


def _statistic(name: str, cells: Tally, clip: float | None) -> Statistic | None:
    """The measure as a function of weights of the cells; None where there is none."""
    if name in DECISIONS:
        formula = DECISIONS[name]
        return lambda neg, pos: np.asarray(formula(pos[:, 1], neg[:, 1], pos[:, 0], neg[:, 0]))
    if name in ("auroc", "average_precision"):
        return auroc if name == "auroc" else average_precisions
    if cells.kind == "score":
        return None
    if name in LOSSES:
        on_neg, on_pos = score_losses(cells.score, cells.kind, LOSSES[name], clip)
        return lambda neg, pos: (neg @ on_neg + pos @ on_pos) / (neg.sum(1) + pos.sum(1))
    if name == "calibration_slope":
        x = as_log_odds(cells.score, cells.kind, clip)
        if not np.isfinite(x).all():
            return None
        x = x - x.mean()  # which leaves slopes as they are
        weights = (w.astype(np.float64) for w in (cells.neg, cells.pos))
        near = logistic([np.ones(len(x)), x], *weights).coef

        def slope(neg: Floats, pos: Floats) -> Floats:
            start = (np.full(len(neg), c) for c in near)
            return newton_lines(x, neg + pos, pos, *start).slope

        return slope
    return None
