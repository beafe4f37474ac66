"""Intervals by name, where a referee asks for one: DeLong's, on the logit scale, exact, or bootstrapped.

Each belongs to some measures; others keep the interval that they have, and its method says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.inference.logistic import odds_of
from scorewise.inference.ranking import spread
from scorewise.inference.resampling import resampled
from scorewise.inference.scales import Scale, wald
from scorewise.inference.shares import exact, share_of_cells, wilson
from scorewise.registry import Measure
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.coarse import pool
from scorewise.tallies.formulas import DECISIONS, SHARES, auroc
from scorewise.tallies.losses import charges, expit

Interval = Literal["delong", "logit", "bootstrap", "wilson", "exact"]
LOSSES: dict[str, Any] = {"brier": "brier", "log_loss": "log", "spherical": "spherical"}
CELLS = 1 << 14  # distinct scores that are resampled; more are joined
AT_ONCE = 1 << 22  # numbers of a block of replicates
STEPS = 30  # of Newton's method
Statistic = Callable[[Floats, Floats], Floats]  # of replicates by cells: negatives, positives


def by_name(
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
    found: tuple[float, float] | None = None
    method = ""
    if interval in ("delong", "logit") and m.name == "auroc":
        found = _area(e, t, "identity" if interval == "delong" else "logit")
        method = "DeLong, Wald" if interval == "delong" else "DeLong, Wald on the logit scale"
    elif interval in ("wilson", "exact") and m.name in SHARES:
        hit, miss = map(list, SHARES[m.name])
        of, method = (wilson, "Wilson") if interval == "wilson" else (exact, "Clopper-Pearson")
        found = share_of_cells(c.table, c.squares, hit, miss, e.level, of)[1:]
    elif interval == "bootstrap":
        found = _bootstrapped(e, m.name, t, c, clip, replicates, seed)
        method = f"stratified bootstrap, percentile, {replicates:,} resamples"
    if found is None:
        return replace(e, method=f"{e.method} (no {interval})") if e.method else e
    low, high = (min(max(x, m.bounds[0]), m.bounds[1]) for x in found)
    return replace(e, low=low, high=high, method=method, caution="")


def _area(e: Estimate, t: Tally, scale: Scale) -> tuple[float, float] | None:
    """DeLong's variance with the normal quantile, as pROC's `ci.auc` has it."""
    error = math.sqrt(max(spread(t, e.value).variance, 0.0))
    if scale == "logit" and not 0 < e.value < 1:
        return None
    return wald(e.value, error, e.level, scale)


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
    few = pool(t.pooled, CELLS) if len(t.score) > CELLS else t.pooled
    sides = (few.neg, few.neg2), (few.pos, few.pos2)
    if name in DECISIONS:  # of two cells: those below the threshold and those above
        sides = (c.weight[0], c.weight2[0]), (c.weight[1], c.weight2[1])
    statistic = _statistic(name, few, clip)
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
        many = min(block, replicates - start)
        made = []
        for w, w2 in sides:
            if weighted or not np.array_equal(w, np.rint(w)):
                made.append(resampled(w, w2, many, rng))
            else:
                total = int(w.sum())
                made.append(rng.multinomial(total, w / total, many).astype(np.float64))
        yield made[0], made[1]


def _statistic(name: str, few: Tally, clip: float | None) -> Statistic | None:
    """The measure as a function of weights of the cells; None where there is none."""
    if name in DECISIONS:
        formula = DECISIONS[name]
        return lambda neg, pos: np.asarray(formula(pos[:, 1], neg[:, 1], pos[:, 0], neg[:, 0]))
    if name in ("auroc", "average_precision"):
        return auroc if name == "auroc" else _average_precision
    if few.kind == "score":
        return None
    if name in LOSSES:
        clipped = name == "log_loss" and clip is not None
        kind: Any = "log clipped" if clipped else LOSSES[name]
        cost = charges(few.score, few.kind, kind, *([clip] if clip is not None else []))

        def loss(neg: Floats, pos: Floats) -> Floats:
            total = neg.sum(1) + pos.sum(1)
            return np.asarray((neg @ cost[0] + pos @ cost[1]) / total)

        return loss
    if name == "calibration_slope":
        x = odds_of(few.score, few.kind, clip)
        if not np.isfinite(x).all():
            return None
        return partial(_slope, x)
    return None


def _average_precision(neg: Floats, pos: Floats) -> Floats:
    tp, fp = pos[:, ::-1].cumsum(1), neg[:, ::-1].cumsum(1)
    called = tp + fp
    precision = np.divide(tp, called, out=np.zeros_like(tp), where=called > 0)
    return np.asarray((pos[:, ::-1] * precision).sum(1) / tp[:, -1])


def _slope(x: Floats, neg: Floats, pos: Floats) -> Floats:
    """The slope of labels on log-odds beside an intercept, by Newton's method."""
    w, a, b = neg + pos, np.zeros((len(neg), 1)), np.ones((len(neg), 1))
    for _ in range(STEPS):
        q = expit(a + b * x)
        off, bend = pos - w * q, w * q * (1 - q)
        g0, h0 = off.sum(1, keepdims=True), bend.sum(1, keepdims=True)
        g1, h1, h2 = ((y * x**k).sum(1, keepdims=True) for y, k in ((off, 1), (bend, 1), (bend, 2)))
        det = h0 * h2 - h1 * h1
        first, second = (h2 * g0 - h1 * g1) / det, (h0 * g1 - h1 * g0) / det
        a, b = a + np.clip(first, -4, 4), b + np.clip(second, -2, 2)
        if max(np.abs(np.nan_to_num(s)).max() for s in (first, second)) < 1e-10:
            break
    return np.asarray(b[:, 0])
