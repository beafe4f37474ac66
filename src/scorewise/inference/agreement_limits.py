"""Intervals of agreement coefficients: by inverting a test, by standard error, or by resampling items."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.inference.agreement import TWO_RATERS, Coefficient, coefficient, rated
from scorewise.inference.agreement_weights import MidRanks, Weights
from scorewise.inference.disagreement import BY_RATER, Rated, each_pair, parts
from scorewise.inference.scales import bootstrap_tail, halved, student, z
from scorewise.inference.shares import wilson_limits
from scorewise.tallies.rating_patterns import picked, ranked, summed
from scorewise.tallies.ratings import Ratings

_DRAWN = 1 << 20  # weights drawn at a time
_FEW = 1 << 15  # patterns x raters x categories that all replicates are summed over at once
_MANY = 30.0  # items from which on a gamma distribution is that of the cube of a normal number
Interval = Literal["formula", "bootstrap", "published"]
Limits = tuple[float, float]
Quadratic = tuple[float, float, float]  # a polynomial, from the constant up


def by_formula(c: Coefficient, level: float) -> Limits:
    """The score interval: the values that a test with the variance at that value does not reject.

    For a lower value of a coefficient that is tested against independent raters, the items are mixed with
    items that are rated independently; for a higher value, with items that all raters agree on. The
    shares of the categories stay the same (of two raters and two categories: Lee and Tu 1994). So 0 is in
    the interval exactly where the test of independence does not reject it. Near full agreement few items
    decide, and the upper end allows for their skewness (as Laud 2017). Of the other coefficients it is
    Wilson's interval of the disagreement, divided by that of chance, for as many items as would be as
    uncertain.
    """
    reach = z(level)  # refuses an invalid level
    if not math.isnan(c.null):
        return by_score(c, reach)
    assert c.moments is not None
    m, chance, ratio = c.moments, 1 - c.expected, 1 - c.value
    apart = min(max(1 - c.observed, 0.0), 1.0)
    variance = (ratio * ratio * m.lean2 - 2 * ratio * m.both + m.own2) * chance**2
    # what rounding leaves of terms that cancel is no variance
    least = 1e-24 + 1e-14 * (ratio * ratio * m.lean2 + m.own2) * chance**2
    spread = apart * (1 - apart)
    trials = spread / variance if variance > least and spread > 1e-14 else 0.0
    if m.whole:  # with weights, items that differ may be light by chance
        trials = min(trials, c.items)
    else:
        trials *= (c.items - 1) / c.items * (reach / student(level, c.items - 1)) ** 2
    trials = max(trials or c.items, 1e-9)
    # how far the skewness of the observed disagreement moves an end (Cornish and Fisher 1937)
    less = max(apart - max(reach * reach - 1, 0.0) / 6 * m.skew * chance, 0.0)
    low, high = (wilson_limits(x, 1 - x, trials, reach) for x in (less, apart))
    return 1 - high[1] / chance, 1 - low[0] / chance


def by_score(c: Coefficient, reach: float) -> Limits:
    """The same of a tested coefficient, so many standard errors away."""
    assert c.moments is not None
    m, k, r, null = c.moments, c.value, 1 - c.value, c.null**2

    def seen(step: float) -> Quadratic:
        """The variance of the items as they are, at r + step * t of observed to chance disagreement."""
        slope = 2 * step * (r * m.lean2 - m.both)
        return r * r * m.lean2 - 2 * r * m.both + m.own2, slope, step * step * m.lean2

    if abs(k) > reach * c.null:
        # the value at which the items are mixed with so many independent ones that the test rejects
        guessed = k * k * m.guessed
        independent = null + guessed, -2 * guessed, guessed
        to_chance = k * (1 - _rejected((0.0, k), seen(k), independent, reach))
    more = k + max(reach * reach - 1, 0.0) / 6 * m.skew  # as of Cornish and Fisher (1937)
    agreed = m.agreed if k < 0 else r * r * m.agreed
    all_agree = agreed, -2 * agreed, agreed
    if k < -reach * c.null:
        high = to_chance
    elif more >= 1:
        high = 1.0
    elif k < 0:  # from independence, where the value is 0, to agreement
        high = _rejected((-more, 1.0), (null, 0.0, m.guessed), all_agree, reach, max(more, 0.0))
    else:
        high = k + r * _rejected((k - more, r), seen(-r), all_agree, reach, (more - k) / r)
    if not c.null > 1e-12:  # a rater who always says the same
        low, other = _alike(c, reach)
        return low, max(other, high)
    if k > reach * c.null:
        return to_chance, high
    error = math.sqrt(max(seen(0.0)[0], 0.0)) if k < 0 else 0.0
    return k - reach * max(c.null, error), high


def _rejected(
    apart: Limits, first: Quadratic, second: Quadratic, reach: float, start: float = 0.0
) -> float:
    """The least share t, from the start to 1, at which a test of mixed items rejects; 1 where none does.

    It rejects where (a + b t)**2 exceeds reach**2 times the variance (1 - t) * first + t * second. That is
    a cubic polynomial which is not positive at the start.
    """
    (a, b), (p, q, r), (u, v, w), square = apart, first, second, reach * reach
    f = (
        a * a - square * p,
        2 * a * b - square * (q - p + u),
        b * b - square * (r - q + v),
        -square * (w - r),
    )

    def rejects(t: float) -> bool:
        return f[0] + t * (f[1] + t * (f[2] + t * f[3])) > 0

    # where its slope is 0
    slope, bend, twist = f[1], 2 * f[2], 3 * f[3]
    inside, turns = bend * bend - 4 * slope * twist, []
    if inside >= 0 and (bend or twist):
        far = -(bend + math.copysign(math.sqrt(inside), bend)) / 2
        turns = [t for n, d in ((far, twist), (slope, far)) if d and start < (t := n / d) < 1]
    low = start
    for high in (*sorted(turns), 1.0):
        if rejects(high):
            high, _ = halved(rejects, high, low)
            return high if high < 1 - 1e-4 else 1.0  # closer to the end, rounding decides
        low = high
    return 1.0


def by_error(c: Coefficient, level: float) -> Limits:
    """The value and its standard error with the t distribution (normal where df is infinite).

    Where all items agree alike the error says nothing; then it is Wilson's interval of the observed
    disagreement, divided by that of chance.
    """
    reach = student(level, c.df) * c.se
    alike = c.se < 1e-12
    limits = _alike(c, z(level)) if alike else (c.value - reach, c.value + reach)
    return _with_chance(c, limits, level)


def _with_chance(c: Coefficient, limits: Limits, level: float) -> Limits:
    """The limits; where the test of chance allows 0, no narrower than the error under chance makes them.

    Where a category is rare and agreement near that of chance, the error at the value is far too small
    and that under chance is not. The limits then contain 0.
    """
    if not chance_of(c) > 1 - level:
        return limits
    reach = z(level) * c.null
    return min(limits[0], c.value - reach), max(limits[1], c.value + reach)


def _alike(c: Coefficient, reach: float) -> Limits:
    """Wilson's interval of the observed disagreement, divided by that of chance."""
    apart = min(max(1 - c.observed, 0.0), 1.0)
    low, high = wilson_limits(apart, 1 - apart, c.items, reach)
    chance = 1 - c.expected
    return 1 - high / chance, 1 - low / chance


def chance_of(c: Coefficient) -> float:
    """Two-sided p of the test that raters are independent; NaN for coefficients with another chance."""
    return math.erfc(abs(c.value / c.null) / math.sqrt(2)) if c.null > 1e-12 else math.nan


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
        return by_formula(c, level)
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
    x = rated(r, name, weights)
    if isinstance(x, str) or (name == "light_kappa" and coefficient(r, name, weights).why):
        return np.empty(0)
    if name != "light_kappa":
        x = x if name in (*BY_RATER, *TWO_RATERS) else _folded(x)
        return _values(x, name, _draws(x.weight, x.weight2, replicates, rng))
    total = np.zeros(replicates)
    drawn = list(_draws(r.weight, r.weight2, replicates, rng))
    for both, place, two in each_pair(r):
        one = rated(two, "cohen_kappa", weights)
        assert isinstance(one, Rated)
        cells = (np.stack([np.bincount(place, w) for w in rows[:, both]]) for rows in drawn)
        total += _values(one, "cohen_kappa", cells)
    return total / math.comb(r.given.shape[1], 2)


def _values(x: Rated, name: str, draws: Iterator[Any]) -> Floats:
    """The coefficient for each row of drawn weights; all rows at once where patterns are few."""
    cells = math.prod(x.listed.shape) * x.kernel.categories
    together = cells <= _FEW and not isinstance(x.kernel, MidRanks)
    values = []
    for rows in draws:
        for w in [rows] if together else rows:
            drawn = replace(x, weight=w / w.sum(-1, keepdims=True))
            values.append(np.atleast_1d(parts(drawn, name, slopes=False).value))
    return np.concatenate(values)


def _folded(x: Rated) -> Rated:
    """Patterns with the same ratings as one, whoever said what."""
    said, most = x.said, int(x.said.times.max(initial=0))
    # of two patterns with as many ratings, more of a low category come first
    word = said.code.astype(np.int64) * (most + 1) + most - said.times
    key = said.rated * len(said.rated) + ranked(word, said.start, said.length)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    weight, weight2 = (summed(place, w, len(first)) for w in (x.weight, x.weight2))
    return replace(
        x, listed=picked(x.listed, first), said=said.pick(first), apart=x.apart[first],
        weight=weight, weight2=weight2,
    )  # fmt: skip


def _draws(
    weight: Any, weight2: Any, replicates: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Replicates (rows) of the weights of patterns, some at a time."""
    largest = float(weight.max(initial=0)) or 1.0
    w, w2 = weight / largest, weight2 / largest / largest
    # items of the same weight; rounded, so that no last digit decides how numbers are drawn
    worth = np.divide(w * w, w2, out=np.ones(len(w)), where=w2 > 0).round(9)
    heavy = worth >= _MANY
    few, many = worth[~heavy], worth[heavy]
    step = max(1, _DRAWN // max(len(w), 1))
    for first in range(0, replicates, step):
        rows = min(step, replicates - first)
        drawn = np.empty((rows, len(w)))
        drawn[:, ~heavy] = rng.standard_gamma(few, (rows, len(few)))
        # of a large shape, by cubes of normal numbers (Wilson and Hilferty 1931)
        normal = rng.standard_normal((rows, len(many)))
        drawn[:, heavy] = many * (1 - 1 / (9 * many) + normal / (3 * np.sqrt(many))) ** 3
        yield drawn * (w / worth)
