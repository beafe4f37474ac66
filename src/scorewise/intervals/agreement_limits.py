"""Intervals of agreement coefficients: by formula, or by resampling items."""

from __future__ import annotations

import math

import numpy as np

from scorewise.intervals.agreement import Coefficient, coefficient
from scorewise.intervals.agreement_draws import replicates_of
from scorewise.intervals.agreement_weights import Weights
from scorewise.intervals.scales import bootstrap_tail, student, z
from scorewise.intervals.shares import wilson
from scorewise.tallies.ratings import Ratings

Limits = tuple[float, float]


def by_formula(c: Coefficient, level: float) -> Limits:
    """The value and its standard error with the t distribution (normal where df is infinite).

    Where all items agree alike the error says nothing; then it is Wilson's interval of the observed
    disagreement, divided by that of chance.
    """
    z(level)  # refuses a level that means nothing
    if c.se < 1e-12:
        return _with_chance(c, _alike(c, level), level)
    reach = student(level, c.df) * c.se
    return _with_chance(c, (c.value - reach, c.value + reach), level)


def _with_chance(c: Coefficient, limits: Limits, level: float) -> Limits:
    """The limits; where the test of chance allows 0, no narrower than the error under chance makes them.

    Where a category is rare and agreement near that of chance, the error at the value is far too small
    and that under chance is not. The limits then contain 0.
    """
    if not chance_of(c) > 1 - level:
        return limits
    reach = z(level) * c.null
    return min(limits[0], c.value - reach), max(limits[1], c.value + reach)


def _alike(c: Coefficient, level: float) -> Limits:
    hit, miss = (max(x, 0.0) * c.items for x in (1 - c.observed, c.observed))
    share = wilson(hit, miss, hit, miss, level)
    chance = 1 - c.expected
    return 1 - share.high / chance, 1 - share.low / chance


def chance_of(c: Coefficient) -> float:
    """Two-sided p of the test that raters are independent; NaN for coefficients with another chance."""
    from scipy.special import ndtr

    if not c.null > 1e-12:
        return math.nan
    return float(2 * ndtr(-abs(c.value / c.null)))


def by_bootstrap(
    r: Ratings, name: str, weights: Weights, level: float, replicates: int, seed: int
) -> Limits:
    """Quantiles of the coefficient over resampled items, a little further out for a small sample.

    The quantiles are those of Hesterberg (2015): with n items, of the normal distribution's chance
    beyond sqrt(n / (n - 1)) times the quantile of t.
    """
    c = coefficient(r, name, weights)
    drawn = replicates_of(r, name, weights, replicates=replicates, seed=seed)
    drawn = drawn[np.isfinite(drawn)]
    if not len(drawn) or np.ptp(drawn) < 1e-12:
        return _with_chance(c, _alike(c, level), level)
    tail = bootstrap_tail(level, c.items)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return _with_chance(c, (min(float(low), c.value), max(float(high), c.value)), level)
