"""What coefficients of agreement share: the interval by formula or by resampled items."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np

from scorewise.door.columns import one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.agreement import SHARES, Coefficient, coefficient
from scorewise.intervals.agreement_limits import (
    Interval,
    by_bootstrap,
    by_error,
    by_formula,
    chance_of,
)
from scorewise.intervals.agreement_weights import Weights, named
from scorewise.intervals.scales import z
from scorewise.tallies.ratings import Ratings

RARER = (
    15  # items outside the commonest category: fewer make a bootstrap and published intervals fail
)
APART = 10  # items on which raters differ: fewer make published intervals fail
BELOW_ONE = (-math.inf, 1.0)
SIGNED = (-1.0, 1.0)


def judged(
    r: Ratings,
    name: str,
    published: str,
    *,
    weights: Weights,
    interval: Interval,
    replicates: int,
    level: float,
    seed: int,
    bounds: tuple[float, float] = BELOW_ONE,
    told: str | None = None,
) -> Estimate:
    """The coefficient of that name with its interval; `told` says which weights, unless it is plain.

    interval="published" is what other packages give, and is called as in `published`.
    """
    z(level)  # refuses a level that means nothing
    one_of("interval", interval, get_args(Interval))
    words = weighted(r, weights) if told is None else told
    bounds = bounds if isinstance(weights, str | None) else BELOW_ONE  # a table of one's own
    c = coefficient(r, name, weights)
    if c.why:
        return Estimate.undefined(c.why, level)
    caution = c.caution if interval == "formula" else _few(r, c, interval)
    if interval == "bootstrap":
        if replicates < 20:
            raise BadInput(f"replicates is {replicates}; an interval needs 20 or more")
        limits = by_bootstrap(r, name, weights, level, replicates, seed)
        method = f"bootstrap of items, {replicates:,} replicates"
    elif interval == "published":
        limits, method = by_error(c, level), published
    else:
        limits, method = by_formula(c, level), _method(c, name)
    return _estimate(c, limits, level, method + words, bounds, caution)


def _method(c: Coefficient, name: str) -> str:
    if not math.isnan(c.null):
        return "score"
    assert c.moments is not None
    return "Wilson" if name in SHARES and c.moments.whole else "Wilson, delta over items"


def _few(r: Ratings, c: Coefficient, interval: Interval) -> str:
    """Why the published interval or the bootstrap is unreliable: too few items decide."""
    there = r.codes >= 0
    weight = np.broadcast_to(r.weight[:, None], r.codes.shape)[there]
    said = np.bincount(r.codes[there], weight / weight.max())
    rarer = c.items * float(1 - said.max() / said.sum())
    if rarer < RARER and not math.isnan(c.null):
        return f"about {round(rarer)} of {round(c.items)} items outside the commonest category"
    apart = c.items * min(1 - c.observed, c.observed)
    if apart < APART and interval == "published":
        return f"raters differ on about {round(apart)} of {round(c.items)} items"
    return ""


def _estimate(
    c: Coefficient,
    limits: tuple[float, float],
    level: float,
    method: str,
    bounds: tuple[float, float],
    caution: str,
) -> Estimate:
    value = min(max(c.value, bounds[0]), bounds[1])  # rounding may lead a hair beyond
    # two ratings that always differ get -1; gaps and weights of one's own may lead below
    low = max(bounds[0], min(limits[0], value), min(-1.0, value))
    high = min(bounds[1], max(limits[1], value))
    p = chance_of(c)
    return Estimate(
        value, low, high, level, method, p=None if math.isnan(p) else p, caution=caution
    )


def weighted(r: Ratings, weights: Any) -> str:
    """Which weights, in words; nothing where only the same category agrees.

    >>> weighted(Ratings.of_table([[2, 1], [1, 3]]), "linear")
    '; linear weights'
    """
    name = named(r, weights)
    words = {"identity": "", "own": "; weights of one's own"}
    return words.get(name, f"; {name} weights")
