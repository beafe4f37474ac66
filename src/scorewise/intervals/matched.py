"""Two shares of the same items: their difference, and whether there is any."""

from __future__ import annotations

import math
from collections.abc import Callable

from scorewise.intervals.scales import z


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
    if _alike(first2, first * unit) and all(_alike(x, round(x)) for x in (one, two)):
        from scipy.special import bdtr

        few, n = round(min(one, two)), round(one) + round(two)
        return 1.0 if 2 * few == n else min(1.0, 2 * float(bdtr(few, n, 0.5)))
    score = abs(first - second) / math.sqrt(first2 + second2)
    return math.erfc(score / math.sqrt(2))


def _alike(x: float, y: float) -> bool:
    return abs(x - y) <= 1e-9 * max(abs(x), abs(y))


def matched_difference(
    first: float, second: float, items: float, level: float
) -> tuple[float, float]:
    """Interval of (first - second) / items, of items for which only one of two things holds.

    Tango's score interval (1998): the differences that a score test does not refuse.

    >>> [round(x, 4) for x in matched_difference(150, 86, 1600, 0.95)]
    [0.0214, 0.059]
    """
    reach, middle = z(level), (first - second) / items

    def score(gap: float) -> float:
        return _score(first, second, items, gap)

    low = -1.0 if middle == -1 else _crossing(score, reach, -1.0, middle)
    high = 1.0 if middle == 1 else _crossing(score, -reach, middle, 1.0)
    return low, high


def _score(first: float, second: float, n: float, gap: float) -> float:
    """The distance of the difference from `gap`, in standard errors where `gap` is the truth."""
    a, b = 2 * n, -first - second + (2 * n - first + second) * gap
    c = -second * gap * (1 - gap)
    less = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
    variance = n * (2 * less + gap * (1 - gap))
    away = first - second - n * gap
    if variance <= 0:
        return math.copysign(math.inf, away) if away else 0.0
    return away / math.sqrt(variance)


def _crossing(score: Callable[[float], float], reach: float, low: float, high: float) -> float:
    """Where the falling score passes a value."""
    for _ in range(80):
        middle = (low + high) / 2
        if score(middle) > reach:
            low = middle
        else:
            high = middle
    return (low + high) / 2
