"""What coefficients of agreement share: the interval by formula or by resampled items."""

from __future__ import annotations

import math
from typing import Any, Literal

from scorewise.door.columns import one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.agreement import Coefficient, coefficient
from scorewise.intervals.agreement_limits import by_bootstrap, by_formula, chance_of
from scorewise.intervals.agreement_weights import Weights, named
from scorewise.intervals.scales import z
from scorewise.tallies.ratings import Ratings

Interval = Literal["formula", "bootstrap"]
BELOW_ONE = (-math.inf, 1.0)
SIGNED = (-1.0, 1.0)


def judged(
    r: Ratings,
    name: str,
    formula: str,
    *,
    weights: Weights,
    interval: Interval,
    replicates: int,
    level: float,
    seed: int,
    bounds: tuple[float, float] = BELOW_ONE,
    told: str | None = None,
) -> Estimate:
    """The coefficient of that name with its interval; `told` says which weights, unless it is plain."""
    z(level)  # refuses a level that means nothing
    one_of("interval", interval, ("formula", "bootstrap"))
    words = weighted(r, weights) if told is None else told
    bounds = bounds if isinstance(weights, str | None) else BELOW_ONE  # a table of one's own
    c = coefficient(r, name, weights)
    if c.why:
        return Estimate.undefined(c.why, level)
    if interval == "bootstrap":
        if replicates < 20:
            raise BadInput(f"replicates is {replicates}; an interval needs 20 or more")
        limits = by_bootstrap(r, name, weights, level, replicates, seed)
        formula = f"bootstrap of items, {replicates:,} replicates"
    else:
        limits = by_formula(c, level)
    return _estimate(c, limits, level, formula + words, bounds)


def _estimate(
    c: Coefficient,
    limits: tuple[float, float],
    level: float,
    method: str,
    bounds: tuple[float, float],
) -> Estimate:
    value = min(max(c.value, bounds[0]), bounds[1])  # rounding may lead a hair beyond
    # two ratings that always differ get -1; gaps and weights of one's own may lead below
    low = max(bounds[0], min(limits[0], value), min(-1.0, value))
    high = min(bounds[1], max(limits[1], value))
    p = chance_of(c)
    return Estimate(value, low, high, level, method, p=None if math.isnan(p) else p)


def weighted(r: Ratings, weights: Any) -> str:
    """Which weights, in words; nothing where only the same category agrees.

    >>> weighted(Ratings.of_table([[2, 1], [1, 3]]), "linear")
    '; linear weights'
    """
    name = named(r, weights)
    words = {"identity": "", "own": "; weights of one's own"}
    return words.get(name, f"; {name} weights")
