"""Intervals of agreement coefficients: by inverting a test, by standard error, or by resampling items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.inference.agreement import (
    BY_RATER,
    TWO_RATERS,
    Coefficient,
    RatedItems,
    coefficient,
    decompose,
    rated_items,
)
from scorewise.inference.agreement_weights import MidRanks, Weights
from scorewise.inference.rater_pairs import each_pair
from scorewise.inference.scales import bootstrap_tail, normal_quantile, t_quantile
from scorewise.inference.shares import wilson_limits
from scorewise.tallies.rating_patterns import sequence_ranks, sums_at, take_patterns
from scorewise.tallies.ratings import Ratings

_DRAWN = 1 << 20  # weights drawn at a time
_TOGETHER = 1 << 15  # patterns x raters x categories that all replicates are summed over at once
_NEAR_NORMAL = (
    30.0  # items from which on a gamma distribution is that of the cube of a normal number
)
Interval = Literal["formula", "bootstrap", "published"]
Limits = tuple[float, float]
Quadratic = tuple[float, float, float]  # a polynomial, from the constant up


def by_wilson(c: Coefficient, level: float) -> Limits:
    """Wilson's interval of the disagreement, divided by that of chance, of coefficients without a test.

    It is that of as many items as would be as uncertain.
    """
    reach, chance, ratio = normal_quantile(level), 1 - c.expected, 1 - c.value
    apart = min(max(1 - c.observed, 0.0), 1.0)
    variance = c.variance(ratio) * chance**2
    # what rounding leaves of terms that cancel is no variance
    least = 1e-24 + 1e-14 * (ratio * ratio * c.chance2 + c.observed2) * chance**2
    of_one = apart * (1 - apart)
    trials = of_one / variance if variance > least and of_one > 1e-14 else 0.0
    if c.binary:  # with weights, items that differ may be light by chance
        trials = min(trials, c.items)
    else:
        trials *= (c.items - 1) / c.items * (reach / t_quantile(level, c.items - 1)) ** 2
    # how far the skewness of the observed disagreement moves an end (Cornish and Fisher 1937)
    skewed = max(reach * reach - 1, 0.0) / 6 * c.skew * chance
    return _wilson_by_chance(c, max(trials or c.items, 1e-9), reach, skewed)


def _wilson_by_chance(c: Coefficient, trials: float, reach: float, skewed: float = 0.0) -> Limits:
    """Wilson's interval of the observed disagreement, divided by that of chance."""
    chance, apart = 1 - c.expected, min(max(1 - c.observed, 0.0), 1.0)
    ends = (wilson_limits(x, 1 - x, trials, reach) for x in (max(apart - skewed, 0.0), apart))
    (low, _), (_, high) = ends
    return 1 - high / chance, 1 - low / chance


def by_score(c: Coefficient, reach: float) -> Limits:
    """The score interval: the values that a test does not reject, so many standard errors away.

    The test has the variance at the value tested. For a lower value the items are mixed with items that are
    rated independently; for a higher value, with items that all raters agree on. The shares of the
    categories stay the same (of two raters and two categories: Lee and Tu 1994). So 0 is in the interval
    exactly where the test of independence does not reject it. Near full agreement few items decide, and the
    upper end allows for their skewness (as Laud 2017).
    """
    k, r, null = c.value, 1 - c.value, c.null**2
    # the variance of the items as they are, at r + step * t of observed to chance disagreement
    seen, slope = c.variance(r), 2 * (r * c.chance2 - c.product)
    if abs(k) > reach * c.null:
        # the value at which the items are mixed with so many independent ones that the test rejects
        at_k = k * k * c.independent
        independent = null + at_k, -2 * at_k, at_k
        as_seen = seen, k * slope, k * k * c.chance2
        to_chance = k * (1 - _first_rejected((0.0, k), as_seen, independent, reach))
    more = k + max(reach * reach - 1, 0.0) / 6 * c.skew  # as of Cornish and Fisher (1937)
    agreed = c.agreed if k < 0 else r * r * c.agreed
    all_agree = agreed, -2 * agreed, agreed
    if k < -reach * c.null:
        high = to_chance
    elif more >= 1:
        high = 1.0
    elif k < 0:  # from independence, where the value is 0, to agreement
        by_chance = null, 0.0, c.independent
        high = _first_rejected((-more, 1.0), by_chance, all_agree, reach, max(more, 0.0))
    else:
        as_seen = seen, -r * slope, r * r * c.chance2
        high = k + r * _first_rejected((k - more, r), as_seen, all_agree, reach, (more - k) / r)
    if not c.null > 1e-12:  # a rater who always says the same
        low, other = _wilson_by_chance(c, c.items, reach)
        return low, max(other, high)
    if k > reach * c.null:
        return to_chance, high
    error = math.sqrt(max(seen, 0.0)) if k < 0 else 0.0
    return k - reach * max(c.null, error), high


def _first_rejected(
    apart: Limits, first: Quadratic, second: Quadratic, reach: float, start: float = 0.0
) -> float:
    """The least share t, from the start to 1, at which a test of mixed items rejects; 1 where none does.

    It rejects where (a + b t)**2 exceeds reach**2 times the variance (1 - t) * first + t * second. That is
    a cubic polynomial which is not positive at the start.
    """
    (a, b), (p, q, r), (u, v, w) = apart, first, second
    square = reach * reach
    f0, f1 = a * a - square * p, 2 * a * b - square * (q - p + u)
    f2, f3 = b * b - square * (r - q + v), -square * (w - r)
    turns = [x.real for x in np.roots((f3, f2, f1, f0)).tolist() if not x.imag]
    for low, high in pairwise((start, *sorted(x for x in turns if start < x < 1), 1.0)):
        t = (low + high) / 2
        if f0 + t * (f1 + t * (f2 + t * f3)) > 0:
            return low if low < 1 - 1e-4 else 1.0  # closer to the end, rounding decides
    return 1.0


def by_error(c: Coefficient, level: float) -> Limits:
    """The value and its standard error with the t distribution (normal where df is infinite).

    Where all items agree alike the error says nothing; then it is Wilson's interval of the observed
    disagreement, divided by that of chance.
    """
    reach = t_quantile(level, c.df) * c.se
    limits = c.value - reach, c.value + reach
    if c.se < 1e-12:
        limits = _wilson_by_chance(c, c.items, normal_quantile(level))
    return _with_chance(c, limits, level)


def _with_chance(c: Coefficient, limits: Limits, level: float) -> Limits:
    """The limits; where the test of chance allows 0, no narrower than the error under chance makes them.

    Where a category is rare and agreement near that of chance, the error at the value is far too small
    and that under chance is not. The limits then contain 0.
    """
    if not c.p > 1 - level:
        return limits
    reach = normal_quantile(level) * c.null
    return min(limits[0], c.value - reach), max(limits[1], c.value + reach)


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
    if not len(drawn) or np.ptp(drawn) < 1e-12:  # all items agree alike
        return by_wilson(c, level) if math.isnan(c.null) else by_score(c, normal_quantile(level))
    tail = bootstrap_tail(level, c.items)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return _with_chance(c, (min(float(low), c.value), max(float(high), c.value)), level)


def replicates_of(
    r: Ratings, name: str, weights: Weights = None, *, replicates: int = 1000, seed: int = 0
) -> Floats:
    """Replicates of a coefficient over resampled items; NaN where chance leaves no room.

    The weight of a pattern is drawn from the gamma distribution that has the mean and the variance of
    its resampled items, as in `resampling.resampled`.
    """
    rng = np.random.default_rng(seed)
    x = rated_items(r, name, weights)
    if name != "light_kappa":
        x = x if name in (*BY_RATER, *TWO_RATERS) else _without_raters(x)
        return _values(x, name, _draws(x.weight, x.weight2, replicates, rng))
    total = np.zeros(replicates)
    drawn = list(_draws(r.weight, r.weight2, replicates, rng))
    for both, place, pair in each_pair(r):
        of_pair = rated_items(pair, "cohen_kappa", weights)
        cells = (np.stack([np.bincount(place, w) for w in rows[:, both]]) for rows in drawn)
        total += _values(of_pair, "cohen_kappa", cells)
    return total / math.comb(r.listed.shape[1], 2)


def _values(x: RatedItems, name: str, draws: Iterator[Any]) -> Floats:
    """The coefficient for each row of drawn weights; all rows at once where patterns are few."""
    cells = math.prod(x.listed.shape) * x.kernel.categories
    together = cells <= _TOGETHER and not isinstance(x.kernel, MidRanks)
    values = []
    for rows in draws:
        for w in [rows] if together else rows:
            drawn = replace(x, weight=w / w.sum(-1, keepdims=True))
            observed, chance, *_ = decompose(drawn, name, influence=False)
            values.append(np.atleast_1d(1 - observed / np.where(chance > 0, chance, np.nan)))
    return np.concatenate(values)


def _without_raters(x: RatedItems) -> RatedItems:
    """Patterns with the same ratings as one, whoever said what."""
    counts, largest = x.counts, int(x.counts.times.max(initial=0))
    # of two patterns with as many ratings, more of a low category come first
    word = counts.code.astype(np.int64) * (largest + 1) + largest - counts.times
    key = counts.rated * len(counts.rated) + sequence_ranks(word, counts.start, counts.length)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    weight, weight2 = (sums_at(place, w, len(first)) for w in (x.weight, x.weight2))
    return replace(
        x, listed=take_patterns(x.listed, first), counts=counts.pick(first), apart=x.apart[first],
        weight=weight, weight2=weight2,
    )  # fmt: skip


def _draws(
    weight: Any, weight2: Any, replicates: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Replicates (rows) of the weights of patterns, some at a time."""
    largest = float(weight.max(initial=0)) or 1.0
    w, w2 = weight / largest, weight2 / largest / largest
    # items of the same weight; rounded, so that no last digit decides how numbers are drawn
    items = np.divide(w * w, w2, out=np.ones(len(w)), where=w2 > 0).round(9)
    normal = items >= _NEAR_NORMAL
    few, many = items[~normal], items[normal]
    step = max(1, _DRAWN // max(len(w), 1))
    for first in range(0, replicates, step):
        rows = min(step, replicates - first)
        drawn = np.empty((rows, len(w)))
        drawn[:, ~normal] = rng.standard_gamma(few, (rows, len(few)))
        # of a large shape, by cubes of normal numbers (Wilson and Hilferty 1931)
        steps = rng.standard_normal((rows, len(many)))
        drawn[:, normal] = many * (1 - 1 / (9 * many) + steps / (3 * np.sqrt(many))) ** 3
        yield drawn * (w / items)
