"""Intervals for shares (proportions), and for what is made of two independent shares."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from scorewise.intervals.scales import z


class Share(NamedTuple):
    """A share and its interval."""

    value: float
    low: float
    high: float


def wilson(hit: float, miss: float, hit2: float, miss2: float, level: float) -> Share:
    """The share of `hit` in `hit + miss` with its Wilson interval.

    `hit2` and `miss2` are the sums of squared weights; they give the number of equally weighted rows
    that would be as uncertain, which for counts is the count itself.

    >>> [round(x, 4) for x in wilson(9, 1, 9, 1, 0.95)]
    [0.9, 0.5958, 0.9821]
    """
    # the rest is not 1 - p, which loses its digits when p is close to 1
    p, rest, n = _rows(hit, miss, hit2, miss2)
    q = z(level) ** 2 / n
    centre = (p + q / 2) / (1 + q)
    reach = math.sqrt(q * (p * rest + q / 4)) / (1 + q)
    # the formula gives the ends, and limits beside the share, up to rounding
    low = 0.0 if hit == 0 else max(min(centre - reach, p), 0.0)
    return Share(p, low, 1.0 if miss == 0 else min(max(centre + reach, p), 1.0))


def _rows(hit: float, miss: float, hit2: float, miss2: float) -> tuple[float, float, float]:
    """The share, the rest, and how many equally weighted rows would be as uncertain."""
    total = hit + miss
    p, rest = hit / total, miss / total
    variance = hit2 * (rest / total) ** 2 + miss2 * (p / total) ** 2
    n = p * rest / variance if p * rest and variance else total * (total / (hit2 + miss2))
    return p, rest, n


def exact(hit: float, miss: float, hit2: float, miss2: float, level: float) -> Share:
    """The same share with the interval of Clopper and Pearson (1934), which holds of any few rows.

    >>> [round(x, 4) for x in exact(1, 0, 1, 0, 0.95)]
    [1.0, 0.025, 1.0]
    """
    from scipy.special import betaincinv

    p, rest, n = _rows(hit, miss, hit2, miss2)
    tail = (1 - level) / 2
    low = float(betaincinv(p * n, rest * n + 1, tail)) if hit else 0.0
    high = float(betaincinv(p * n + 1, rest * n, 1 - tail)) if miss else 1.0
    return Share(p, low, high)


def combine(f: Callable[[float, float], float], a: Share, b: Share) -> tuple[float, float]:
    """Interval of an increasing function of two independent shares.

    The distances to the limits of each share, moved one at a time, are added in quadrature ("MOVER",
    Zou and Donner 2008; for a sum of shares it is Newcombe's 1998 score interval).

    >>> [round(x, 4) for x in combine(lambda p, q: p + q - 1, Share(0.9, 0.6, 0.98), Share(0.5, 0.3, 0.7))]
    [0.0394, 0.6154]
    """
    value = f(a.value, b.value)
    down = math.hypot(value - f(a.low, b.value), value - f(a.value, b.low))
    up = math.hypot(f(a.high, b.value) - value, f(a.value, b.high) - value)
    return value - down, value + up


def ratio(a: Share, b: Share) -> tuple[float, float]:
    """Interval of a / b for independent shares, by the same idea on the log scale; b is not 0."""
    if a.value == 0 or b.low <= 0:  # or so close to 0 that no digit is left
        return 0.0, a.high / b.low if b.low > 0 else math.inf
    down = (
        math.hypot(math.log(a.value / a.low), math.log(b.high / b.value)) if a.low > 0 else math.inf
    )
    up = math.hypot(math.log(a.high / a.value), math.log(b.value / b.low))
    return a.value / b.value * math.exp(-down), a.value / b.value * math.exp(up)
