"""Intervals of agreement coefficients: by inverting a test, by standard error, or by resampling items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.inference.agreement import (
    BY_RATER,
    Coefficient,
    Formula,
    Moments,
    Subject,
    coefficient,
    cohen_pairs,
    subject,
)
from scorewise.inference.agreement_parts import Rated, alpha_of_ranks
from scorewise.inference.agreement_weights import Weights
from scorewise.inference.scales import bootstrap_tail, student, z
from scorewise.inference.shares import wilson_limits
from scorewise.tallies.rating_patterns import Counted, list_keys, ranked, summed
from scorewise.tallies.ratings import Ratings
from scorewise.tallies.sorting import Numbers

_DRAWN = 1 << 20  # weights drawn at a time
_FEW = 1 << 15  # patterns x raters x categories that all replicates are summed over at once
_MANY = 30.0  # items from which on a gamma distribution is that of the cube of a normal number
Interval = Literal["formula", "bootstrap", "published"]
Limits = tuple[float, float]
Polynomial = Sequence[float]  # from the constant up


def replicates_of(
    r: Ratings, name: str, weights: Weights = None, *, replicates: int = 1000, seed: int = 0
) -> Floats:
    """Replicates of a coefficient over resampled items; NaN where chance leaves no room.

    The weight of a pattern is drawn from the gamma distribution that has the mean and the variance of
    its resampled items, as in `bootstrap.resampled`.
    """
    rng = np.random.default_rng(seed)
    if name == "light_kappa":
        return _light(r, weights, replicates, rng)
    found = subject(r, name, weights)
    if isinstance(found, str):
        return np.empty(0)
    x = found.rated if name in BY_RATER else folded(found.rated)[0]
    return _values(found.formula, x, _draws(x.weight, x.weight2, replicates, rng))


def _values(formula: Formula, x: Rated, draws: Iterator[Floats]) -> Floats:
    """The formula's value for each row of drawn weights; all rows at once where patterns are few."""
    together = math.prod(x.listed.shape) * x.many <= _FEW and formula is not alpha_of_ranks
    values = (
        [formula(x.drawn(rows)).value] if together else [formula(x.drawn(w)).value for w in rows]
        for rows in draws
    )
    return np.concatenate([np.atleast_1d(v) for part in values for v in part])


def folded(x: Rated, *, order: bool = False) -> tuple[Rated, NDArray[np.int64]]:
    """Equal patterns as one, and the place of each; who said what is dropped unless in `order`."""
    key = list_keys(x.listed, x.many) if order else _said_keys(x.said)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    weight, weight2 = (summed(place, w, len(first)) for w in (x.weight, x.weight2))
    return replace(x.pick(first), weight=weight, weight2=weight2), place


def _said_keys(said: Counted) -> NDArray[np.int64]:
    """Keys of patterns by how many ratings they have and what was said, lowest categories first."""
    most = int(said.times.max(initial=0))
    # of two patterns with as many ratings, more of a low category come first
    word = said.code.astype(np.int64) * (most + 1) + most - said.times
    return said.rated * len(said.rated) + ranked(word, said.start, said.length)


def _light(r: Ratings, weights: Weights, replicates: int, rng: np.random.Generator) -> Floats:
    if coefficient(r, "light_kappa", weights).why:
        return np.empty(0)
    total = np.zeros(replicates)
    drawn = list(_draws(r.weight, r.weight2, replicates, rng))
    for s in cohen_pairs(r, weights):
        x, place = folded(s.rated, order=True)
        total += _values(s.formula, x, _gathered(drawn, s, place, len(x)))
    return total / math.comb(r.given.shape[1], 2)


def _gathered(
    drawn: list[Floats], s: Subject, place: NDArray[np.int64], cells: int
) -> Iterator[Floats]:
    """Drawn weights of all patterns, as those of the cells of a pair of raters."""
    for rows in drawn:
        yield np.stack([np.bincount(place, w, cells) for w in rows[:, s.used]])


def _draws(
    weight: Numbers, weight2: Numbers, replicates: int, rng: np.random.Generator
) -> Iterator[Floats]:
    largest = float(weight.max(initial=0)) or 1.0
    w, w2 = weight / largest, weight2 / largest / largest
    # items of the same weight; rounded, so that no last digit decides how numbers are drawn
    worth = np.ones(len(w))
    np.divide(w * w, w2, out=worth, where=w2 > 0)
    worth = worth.round(9)
    unit = w / worth
    heavy = worth >= _MANY
    step = max(1, _DRAWN // max(len(w), 1))
    for first in range(0, replicates, step):
        rows = min(step, replicates - first)
        drawn = np.empty((rows, len(w)))
        drawn[:, ~heavy] = rng.standard_gamma(worth[~heavy], (rows, np.count_nonzero(~heavy)))
        drawn[:, heavy] = _cubes(worth[heavy], rng.standard_normal((rows, np.count_nonzero(heavy))))
        yield drawn * unit


def _cubes(worth: Floats, normal: Floats) -> Floats:
    """Gamma numbers of a large shape by cubes of normal ones (Wilson and Hilferty 1931)."""
    root = 1 - 1 / (9 * worth) + normal / (3 * np.sqrt(worth))
    found: Floats = worth * root * root * root
    return found


def by_formula(c: Coefficient, level: float) -> Limits:
    """The score interval: the values that a test with the variance at that value does not reject.

    For a lower value of a coefficient that is tested against independent raters, the items are mixed with
    items that are rated independently; for a higher value, with items that all raters agree on. The
    shares of the categories stay the same (of two raters and two categories: Lee and Tu 1994). So 0 is in
    the interval exactly where the test of independence does not reject it. Near full agreement few items
    decide, and the upper end allows for their skewness (as Laud 2017). Of the other coefficients it is
    Wilson's interval of the disagreement, divided by that of chance.
    """
    reach = z(level)  # refuses a level that means nothing
    return _as_share(c, level) if math.isnan(c.null) else by_score(c, reach)


def by_score(c: Coefficient, reach: float) -> Limits:
    """The same of a tested coefficient, so many standard errors away."""
    if not c.null > 1e-12:  # a rater who always says the same
        low, high = _alike(c, reach)
        return low, max(high, _upper(c, reach))
    return _lower(c, reach), _upper(c, reach)


def _as_share(c: Coefficient, level: float) -> Limits:
    """Wilson's interval for as many items as would be as uncertain."""
    assert c.moments is not None
    m, chance = c.moments, 1 - c.expected
    apart = min(max(1 - c.observed, 0.0), 1.0)
    ratio = 1 - c.value
    variance = _at(_seen(m, ratio, 0.0), 0.0) * chance**2
    # what rounding leaves of terms that cancel is no variance
    least = 1e-24 + 1e-14 * (ratio * ratio * m.lean2 + m.own2) * chance**2
    trials = apart * (1 - apart) / variance if variance > least else 0.0
    reach = z(level)
    if m.whole:  # with weights, items that differ may be light by chance
        trials = min(trials, c.items)
    else:
        trials *= (c.items - 1) / c.items * (reach / student(level, c.items - 1)) ** 2
    trials = max(trials or c.items, 1e-9)
    less = max(apart - _skewed(m, reach) * chance, 0.0)
    low, high = (wilson_limits(x, 1 - x, trials, reach) for x in (less, apart))
    return 1 - high[1] / chance, 1 - low[0] / chance


def _lower(c: Coefficient, reach: float) -> float:
    assert c.moments is not None
    m, k = c.moments, c.value
    if k > reach * c.null:
        return k * (1 - _to_chance(c, reach))
    seen = math.sqrt(max(_at(_seen(m, 1 - k, 0.0), 0.0), 0.0)) if k < 0 else 0.0
    return k - reach * max(c.null, seen)


def _upper(c: Coefficient, reach: float) -> float:
    assert c.moments is not None
    m, k, null = c.moments, c.value, c.null**2
    if k < -reach * c.null:
        return k * (1 - _to_chance(c, reach))
    more, r = k + _skewed(m, reach), 1 - k
    if more >= 1:
        return 1.0
    if k < 0:  # from independence, where the value is 0, to agreement
        spread = _mixed((null, 0.0, m.guessed), (m.agreed, -2 * m.agreed, m.agreed))
        return _first(_test((-more, 1.0), spread, reach), max(more, 0.0))
    agreed = r * r * m.agreed
    spread = _mixed(_seen(m, r, -r), (agreed, -2 * agreed, agreed))
    return k + r * _first(_test((k - more, r), spread, reach), (more - k) / r)


def _to_chance(c: Coefficient, reach: float) -> float:
    """The share of independent ratings that the items are mixed with where the test begins to reject."""
    assert c.moments is not None
    m, k = c.moments, c.value
    guessed = k * k * m.guessed
    independent = (c.null**2 + guessed, -2 * guessed, guessed)
    return _first(_test((0.0, k), _mixed(_seen(m, 1 - k, k), independent), reach))


def _seen(m: Moments, ratio: float, step: float) -> Polynomial:
    """The variance of the items as they are, at ratio + step * t of observed to chance disagreement."""
    return (
        ratio * ratio * m.lean2 - 2 * ratio * m.both + m.own2,
        2 * step * (ratio * m.lean2 - m.both),
        step * step * m.lean2,
    )


def _skewed(m: Moments, reach: float) -> float:
    """How far the skewness of the observed disagreement moves an end (Cornish and Fisher 1937)."""
    return max(reach * reach - 1, 0.0) / 6 * m.skew


def _mixed(first: Polynomial, second: Polynomial) -> Polynomial:
    """(1 - t) * first + t * second, of quadratic polynomials."""
    (a, b, c), (d, e, f) = first, second
    return a, b - a + d, c - b + e, f - c


def _test(apart: Polynomial, variance: Polynomial, reach: float) -> Polynomial:
    """The square of a linear polynomial minus that of the reach, which is positive where it is rejected."""
    a, b = apart
    square = (a * a, 2 * a * b, b * b, 0.0)
    return [s - reach * reach * v for s, v in zip(square, variance, strict=True)]


def _at(f: Polynomial, t: float) -> float:
    found = 0.0
    for x in reversed(f):
        found = found * t + x
    return found


def _first(f: Polynomial, start: float = 0.0) -> float:
    """Where a cubic polynomial that is not positive at the start first becomes so; at most 1."""
    _, b, c, d = f
    low = start
    for high in (*sorted(t for t in _turns(b, 2 * c, 3 * d) if start < t < 1), 1.0):
        if _at(f, high) > 0:
            for _ in range(200):
                middle = (low + high) / 2
                if not low < middle < high:
                    break
                low, high = (low, middle) if _at(f, middle) > 0 else (middle, high)
            return high if high < 1 - 1e-4 else 1.0  # closer to the end, rounding decides
        low = high
    return 1.0


def _turns(a: float, b: float, c: float) -> tuple[float, ...]:
    """The roots of a + b t + c t**2."""
    inside = b * b - 4 * a * c
    if inside < 0 or not (b or c):
        return ()
    far = -(b + math.copysign(math.sqrt(inside), b)) / 2
    return (*((far / c,) if c else ()), *((a / far,) if far else ()))


def by_error(c: Coefficient, level: float) -> Limits:
    """The value and its standard error with the t distribution (normal where df is infinite).

    Where all items agree alike the error says nothing; then it is Wilson's interval of the observed
    disagreement, divided by that of chance.
    """
    z(level)  # refuses a level that means nothing
    if c.se < 1e-12:
        return _with_chance(c, _alike(c, z(level)), level)
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


def _alike(c: Coefficient, reach: float) -> Limits:
    """Wilson's interval of the observed disagreement, divided by that of chance."""
    apart = min(max(1 - c.observed, 0.0), 1.0)
    low, high = wilson_limits(apart, 1 - apart, c.items, reach)
    chance = 1 - c.expected
    return 1 - high / chance, 1 - low / chance


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
    if not len(drawn) or np.ptp(drawn) < 1e-12:  # all items agree alike
        return by_formula(c, level)
    tail = bootstrap_tail(level, c.items)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return _with_chance(c, (min(float(low), c.value), max(float(high), c.value)), level)
