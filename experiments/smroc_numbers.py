"""Numbers of the smROC study as they are written: a middle, its interval, and of how many sets."""

from __future__ import annotations

import math
from collections.abc import Callable

from experiments.paired_tests import Correlation, Shift


def ratio(s: Shift) -> str:
    """A shift of logarithms as a ratio."""
    return _interval(s.middle, s.low, s.high, lambda x, n: f"{_exp(x):.{n}f}", 3)


def signed(s: Shift, digits: int = 3) -> str:
    return _interval(s.middle, s.low, s.high, lambda x, n: f"{x:+.{n}f}", digits)


def correlation(r: Correlation) -> str:
    return _interval(r.value, r.low, r.high, lambda x, n: f"{x:+.{n}f}", 2)


def p_value(p: float) -> str:
    return "undefined" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.3f}"


def equals(p: float) -> str:
    """A p-value after the letter p."""
    return p_value(p) if p < 0.001 else f"= {p_value(p)}"


def effect(s: Shift) -> str:
    return "undefined" if math.isnan(s.effect) else f"{s.effect:+.2f}"


def counted(s: Shift, at_chance: int = 0, unit: str = "") -> str:
    """On how many sets the difference is negative, and which were left out.

    >>> from experiments.paired_tests import shift
    >>> import numpy as np
    >>> counted(shift(np.array([-1, -2, 3, 0, np.nan, np.nan, np.nan])), 2)
    '2 of 3 (1 equal, 2 at chance, 1 undefined left out)'
    """
    kinds = {"equal": s.ties, "at chance": at_chance, "undefined": s.undefined - at_chance}
    out = ", ".join(f"{n} {why}" for why, n in kinds.items() if n)
    return f"{s.less} of {s.count}{unit}" + (f" ({out} left out)" if out else "")


def _interval(
    middle: float, low: float, high: float, write: Callable[[float, int], str], digits: int
) -> str:
    if math.isnan(middle):
        return "undefined"
    digits = max(_digits(end, write, digits) for end in (low, high))
    if math.isnan(low) or (low, high) == (-math.inf, math.inf):
        return f"{write(middle, digits)}, no interval".replace("inf", "infinite")
    ends = f"[{write(low, digits)}, {write(high, digits)}]"
    return f"{write(middle, digits)} {ends}".replace("inf", "infinite")


def _digits(end: float, write: Callable[[float, int], str], digits: int) -> int:
    """As many as tell an end of the interval from no difference, but six at most."""
    if not math.isfinite(end) or end == 0:
        return digits
    same = {n for n in range(digits, 6) if float(write(end, n)) == float(write(0.0, n))}
    return next(n for n in range(digits, 7) if n not in same)


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else math.inf
