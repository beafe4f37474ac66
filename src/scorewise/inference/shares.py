"""Intervals for shares (proportions), for what is made of two shares, and for rising curves of shares."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.estimate import Estimate
from scorewise.inference.scales import (
    bisection,
    effective_size,
    normal_quantile,
    number,
    single_row,
    t_quantile,
)
from scorewise.statistics.probabilities import ProbabilityCells
from scorewise.tallies.runs import add_runs, first_of_runs


class Share(NamedTuple):
    """A share and its interval; or many."""

    value: Any
    low: Any
    high: Any


def wilson(hit: Any, miss: Any, hit2: Any, miss2: Any, level: float) -> Share:
    """The share of `hit` in `hit + miss` with its Wilson interval; or many shares.

    `hit2` and `miss2` are the sums of squared weights; they give the number of equally weighted rows
    that would be as uncertain, which for counts is the count itself.

    >>> [round(x, 4) for x in wilson(9, 1, 9, 1, 0.95)]
    [0.9, 0.5958, 0.9821]
    """
    # the rest is not 1 - p, which loses its digits when p is close to 1
    p, rest, n = _rows(hit, miss, hit2, miss2)
    return Share(p, *wilson_limits(p, rest, n, normal_quantile(level)))


def wilson_of(p: float, n: float, level: float) -> Share:
    """A share of n equally weighted rows with its Wilson interval."""
    return Share(p, *wilson_limits(p, 1 - p, n, normal_quantile(level)))


def share_of_cells(
    weight: Any, squares: Any, hit: Any, miss: Any, level: float,
    interval: Callable[..., Share] = wilson,
) -> Share:  # fmt: skip
    """The share of some cells of a table among these and others, with its interval."""
    sums = (float(x[at].sum()) for x in (weight, squares) for at in (hit, miss))
    return interval(*sums, level)


def wilson_limits(p: Any, rest: Any, n: Any, reach: float) -> tuple[Any, Any]:
    """Between which shares that of n rows is, so many standard errors away (Wilson 1927); or many shares.

    >>> low, high = wilson_limits(np.array([0.9, 0.0]), np.array([0.1, 1.0]), 10, normal_quantile(0.95))
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.5958, 0.0], [0.9821, 0.2775])
    """
    q = reach * reach / n
    centre, half = (p + q / 2) / (1 + q), (q * (p * rest + q / 4)) ** 0.5 / (1 + q)
    # the formula gives the ends, and limits beside the share, up to rounding
    low = np.where(p == 0, 0.0, np.maximum(np.minimum(centre - half, p), 0.0))
    high = np.where(rest == 0, 1.0, np.minimum(np.maximum(centre + half, p), 1.0))
    return number(low), number(high)


def _rows(hit: Any, miss: Any, hit2: Any, miss2: Any) -> tuple[Any, Any, Any]:
    """The share, the rest, and how many equally weighted rows would be as uncertain."""
    total = hit + miss
    p, rest = hit / total, miss / total
    variance = hit2 * (rest / total) ** 2 + miss2 * (p / total) ** 2
    varies = (p * rest > 0) & (variance > 0)
    n = p * rest / np.where(varies, variance, 1.0)
    return p, rest, number(np.where(varies, n, total * (total / (hit2 + miss2))))


def clopper_pearson(hit: float, miss: float, hit2: float, miss2: float, level: float) -> Share:
    """The same share with the interval of Clopper and Pearson (1934), which holds of any few rows.

    >>> [round(x, 4) for x in clopper_pearson(1, 0, 1, 0, 0.95)]
    [1.0, 0.025, 1.0]
    """
    from scipy.special import betaincinv

    p, rest, n = _rows(hit, miss, hit2, miss2)
    tail = (1 - level) / 2
    low = float(betaincinv(p * n, rest * n + 1, tail)) if hit else 0.0
    high = float(betaincinv(p * n + 1, rest * n, 1 - tail)) if miss else 1.0
    return Share(p, low, high)


@np.errstate(all="ignore")
def combined_limits(f: Callable[..., Any], *shares: Share) -> tuple[float, float]:
    """Interval of a function of independent shares.

    The distances to the limits of each share, moved one at a time, are added in quadrature ("MOVER",
    Zou and Donner 2008; for a sum of shares it is Newcombe's 1998 score interval). A share does not move
    the function to where that is undefined.

    >>> first, second = Share(0.9, 0.6, 0.98), Share(0.5, 0.3, 0.7)
    >>> [round(x, 4) for x in combined_limits(lambda p, q: p + q - 1, first, second)]
    [0.0394, 0.6154]
    """
    seen = np.array([s.value for s in shares], np.float64)
    value, down, up = float(f(*seen)), 0.0, 0.0
    for k, (_, *ends) in enumerate(shares):
        moved = (f(*np.where(np.arange(len(seen)) == k, end, seen)) - value for end in ends)
        steps = [0.0, *(float(step) for step in moved if not np.isnan(step))]
        down, up = math.hypot(down, min(steps)), math.hypot(up, max(steps))
    return value - down, value + up


def ratio_limits(a: Share, b: Share) -> tuple[float, float]:
    """Interval of a / b for independent shares, by the same idea on the log scale; b is not 0."""
    if a.value == 0 or b.low <= 0:  # or so close to 0 that no digit is left
        return 0.0, a.high / b.low if b.low > 0 else math.inf
    with np.errstate(over="ignore"):
        low, high = np.exp(combined_limits(lambda p, q: np.log(p / q), a, b)).tolist()
    return low, high


def sign_test(first: float, second: float, first2: float, second2: float) -> float:
    """The chance of so uneven a split of items of which each goes either way, two-sided.

    Exact binomial for items of equal weight (of discordant ones, McNemar's exact test); else the normal
    score, from the sums of squared weights.

    >>> round(sign_test(12, 4, 12, 4), 4)
    0.0768
    """
    if first + second == 0 or first2 + second2 == 0:  # or too light for their squares to be seen
        return 1.0
    unit = (first2 + second2) / (first + second)
    one, two = first / unit, second / unit
    equal = (first2, first * unit), (one, round(one)), (two, round(two))
    if all(math.isclose(*pair) for pair in equal):
        from scipy.special import bdtr

        few, n = round(min(one, two)), round(one) + round(two)
        return 1.0 if 2 * few == n else min(1.0, 2 * float(bdtr(few, n, 0.5)))
    score = abs(first - second) / math.sqrt(first2 + second2)
    return math.erfc(score / math.sqrt(2))


def tango_limits(first: float, second: float, items: float, level: float) -> tuple[float, float]:
    """Interval of (first - second) / items, of items for which only one of two things holds.

    Tango's score interval (1998): the differences that a score test does not refuse.

    >>> [round(x, 4) for x in tango_limits(150, 86, 1600, 0.95)]
    [0.0214, 0.059]
    """
    reach, middle, n = normal_quantile(level), (first - second) / items, items

    def score(gap: float) -> float:
        """The distance of the difference from `gap`, in standard errors where `gap` is the truth."""
        b = -first - second + (2 * n - first + second) * gap
        root = math.sqrt(max(b * b + 8 * n * second * gap * (1 - gap), 0.0))
        variance = n * ((root - b) / (2 * n) + gap * (1 - gap))
        away = first - second - n * gap
        if variance <= 0:
            return math.copysign(math.inf, away) if away else 0.0
        return away / math.sqrt(variance)

    low, high = -1.0, 1.0
    if middle > -1:
        low = sum(bisection(lambda gap: score(gap) > reach, -1.0, middle, 80)) / 2
    if middle < 1:
        high = sum(bisection(lambda gap: score(gap) > -reach, middle, 1.0, 80)) / 2
    return low, high


def monotone_limits(
    c: ProbabilityCells, level: float, *, simultaneous: bool, single: bool
) -> tuple[Floats, Floats]:
    """The lower and upper limits of the curve on each cell; `single` if each holds one probability.

    A rising curve is at most its mean over any stretch to the right, and at least that over any stretch to
    the left. So the Clopper-Pearson intervals of many stretches, each of a level raised for their number,
    bound it without any resampling (Dimitriadis, Dümbgen, Henzi, Puke and Ziegel 2023).

    At each cell by itself the lengths of stretches share the level, at all cells at once all stretches
    do. Lengths are the powers of two.

    >>> sums = [[0.2, 0.7], [10, 10], [10, 10], [1, 8], [2, 7], [1.6, 2.1]]
    >>> c = ProbabilityCells(*np.array(sums, float))
    >>> [x.round(2) for x in monotone_limits(c, 0.95, simultaneous=False, single=True)]
    [array([0. , 0.4]), array([0.49, 0.98])]
    """
    cells = len(c)
    lengths = [2**k for k in range(int(np.log2(cells)) + 1)]
    tail = (1 - level) / 2 / len(lengths) / (cells if simultaneous else 1)

    def least_above(*columns: Floats) -> Floats:
        """The least upper limit of the stretches that begin at each cell."""
        sums = [np.concatenate(([0.0], w.cumsum())) for w in columns]
        start, least = np.arange(cells), np.ones(cells)
        for length in lengths:
            end = np.minimum(start + length, cells)
            pos, weight, square = (s[end] - s[start] for s in sums)
            least = np.minimum(least, clopper_pearson_upper(pos, weight, square, tail))
        return least

    above = least_above(c.pos, c.weight, c.squares)
    below = 1 - least_above((c.weight - c.pos)[::-1], c.weight[::-1], c.squares[::-1])[::-1]
    if not single:  # a cell of several probabilities says nothing of its own ends
        above, below = np.append(above[1:], 1.0), np.concatenate(([0.0], below[:-1]))
    if simultaneous:
        return np.maximum.accumulate(below), np.minimum.accumulate(above[::-1])[::-1]
    return np.minimum.accumulate(below[::-1])[::-1], np.maximum.accumulate(above)


def clopper_pearson_upper(pos: Floats, weight: Floats, square: Floats, tail: float) -> Floats:
    """The upper limit of the share of positives in each cell (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv

    rows = weight * weight / square
    hits = np.clip(pos / weight, 0.0, 1.0) * rows
    misses = rows - hits
    some = misses > 1e-9
    limit = np.ones(len(pos))
    limit[some] = betaincinv(hits[some] + 1, misses[some], 1 - tail)
    return limit


def largest_gap(c: ProbabilityCells, off: Floats, level: float) -> float:
    """How far the share of positives in any one cell may be from its probability plus `off`.

    That of the cell in which it is farthest is within its own exact limits, so it is at most this, in
    all but (1 - level) / 2 of samples.

    >>> sums = [[0.2, 0.7], [100, 10], [100, 10], [20, 8], [20, 7], [16, 2.1]]
    >>> c = ProbabilityCells(*np.array(sums, float))
    >>> round(largest_gap(c, np.zeros(2), 0.95), 3)
    0.275
    """
    tail = (1 - level) / 2
    above = clopper_pearson_upper(c.pos, c.weight, c.squares, tail)
    below = 1 - clopper_pearson_upper(c.weight - c.pos, c.weight, c.squares, tail)
    at = c.p + off
    return float(np.maximum(above - at, at - below).max())


def share_of_items(hit: Any, of: Any, weight: Any, weight2: Any, *, level: float) -> Estimate:
    """The sum of `hit` over the sum of `of`, both of items (or patterns of them), with its interval.

    Wilson's interval. Where items are hit wholly or not at all and count the same, for the items; else for
    as many independent trials as would vary as much as a ratio of means over items (delta method, with
    Student's quantile), or for the items where none differ.

    >>> share_of_items([2, 1, 0], [2, 2, 2], np.ones(3), np.ones(3), level=0.95)
    0.500 [0.036, 0.964]
    """
    normal_quantile(level)
    hit, of = np.asarray(hit, np.float64), np.asarray(of, np.float64)
    weight, weight2 = np.asarray(weight, np.float64), np.asarray(weight2, np.float64)
    used = of > 0
    if not used.any():
        return Estimate.undefined("nothing to count", level)
    hit, of, weight, weight2 = hit[used], of[used], weight[used], weight2[used]
    unit = float(weight.max())
    weight, weight2 = weight / unit, weight2 / unit / unit
    total = float((weight * of).sum())
    p = min(1.0, max(0.0, float((weight * hit).sum()) / total))
    items = effective_size(float(weight.sum()), float(weight2.sum()))
    variance = float((weight2 * (hit - p * of) ** 2).sum()) / total**2
    plain = bool((of == of[0]).all() and ((hit == 0) | (hit == of)).all())
    if single_row(items) and not plain:
        return Estimate(p, level=level, method="none: one item")
    trials = p * (1 - p) / variance if variance > 1e-26 else items
    if not plain and variance > 1e-26:
        trials *= (items - 1) / items * (normal_quantile(level) / t_quantile(level, items - 1)) ** 2
    trials = max(trials, 1e-9)  # next to one item says next to nothing
    share = wilson_of(p, trials, level)
    return Estimate(*share, level, "Wilson" if plain else "Wilson, delta over items")


# Isotonic regression of shares: pool adjacent violators, all of them at once. scipy has it too, but its
# module takes longer to import than a million rows to pool.


_PASSES = 64  # of which data take about 20; what still needs more is left to scipy


def isotonic_runs(neg: Any, pos: Any, row: Ints | None = None) -> Ints:
    """The first cell of each run that the isotonic fit of pos / (neg + pos) gives one value.

    Runs do not cross from one `row`, an ascending number of each cell, to the next.

    >>> isotonic_runs(np.array([1, 0, 1, 0]), np.array([0, 1, 0, 1]))
    array([0, 1, 3])
    """
    weight, up = (np.asarray(x, np.float64) for x in (neg + pos, pos))
    start, first = np.arange(len(weight)), first_of_runs(weight[:1] if row is None else row)
    for _ in range(_PASSES):
        share = up / weight
        begins = np.empty(len(share), np.bool_)
        # neighbours that do not ascend have one value in the fit, and so have whole descents
        np.less(share[:-1], share[1:], out=begins[1:])
        begins[first] = True
        if begins.all():
            return start
        at = np.flatnonzero(begins)
        start, first = start[at], np.searchsorted(at, first)
        weight, up = np.add.reduceat(weight, at), np.add.reduceat(up, at)
    from scipy.optimize import isotonic_regression

    # each row two higher than the last: no run crosses from one row to the next
    lifted = up / weight + (0.0 if row is None else 2.0 * row[start])
    return start[np.asarray(isotonic_regression(lifted, weights=weight).blocks[:-1], np.int64)]


def run_shares(neg: Any, pos: Any, start: Ints) -> Floats:
    """The share of positives of each run, for each of its cells."""
    n, p = (add_runs(w, start) for w in (neg, pos))
    return np.repeat(p / (n + p), np.diff(start, append=len(neg)))
