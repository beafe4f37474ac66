"""How much of the variance of ratings lies between items? Intraclass correlations.

The first number is the design (Shrout and Fleiss 1979): 1, each item has raters of its own; 2, the same
raters, drawn from many, rate all items; 3, these raters are all there are. The second is what is judged:
one rating, or the mean of k. Intervals are by F (McGraw and Wong 1996). `p` is of the one-sided test that
items do not differ: the ratio of mean squares that the design compares items with, in all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scorewise.estimate import Estimate
from scorewise.intervals.mean_squares import OneWay, TwoWay, one_way, two_way
from scorewise.intervals.scales import z
from scorewise.registry import measure
from scorewise.tallies import Ratings

LOW = "items differ no more than by chance, so that the variances add up to nothing"
BOUNDS = (-math.inf, 1.0)
ROUNDING = 1e-24  # of a variance, in that of the rest: less is none


@measure(group="agreement", of="raters", bounds=BOUNDS, title="ICC(1,1)")
def icc_1_1(r: Ratings, *, level: float = 0.95) -> Estimate:
    """Correlation of two ratings of the same item by any two raters.

    (MSB - MSW) / (MSB + (k - 1) MSW), one-way. Items may have different numbers of ratings; k is then
    the usual weighted mean of them, and the interval, exact for equal numbers, approximate.

    >>> icc_1_1(Ratings.of({"a": [9, 6, 8, 7, 10, 6], "b": [2, 1, 4, 1, 5, 2],
    ...     "c": [5, 3, 6, 2, 6, 4], "d": [8, 2, 8, 6, 9, 7]}, scale="interval"))
    0.166 [-0.133, 0.723]
    """
    return _one_way(r, level, _single)


@measure(group="agreement", of="raters", bounds=BOUNDS, title="ICC(1,k)")
def icc_1_k(r: Ratings, *, level: float = 0.95) -> Estimate:
    """Correlation of two means of k ratings of the same item, all by different raters.

    (MSB - MSW) / MSB, one-way; k is the (usual weighted) mean number of ratings of an item.

    >>> icc_1_k(Ratings.of({"a": [1, 2, 4, 5], "b": [1, 3, 4, 4]}, scale="interval"))
    0.950 [0.501, 0.997]
    """
    return _one_way(r, level, _mean)


@measure(group="agreement", of="raters", bounds=BOUNDS, title="ICC(2,1)")
def icc_2_1(r: Ratings, *, level: float = 0.95) -> Estimate:
    """Absolute agreement of two raters drawn from those who could have rated.

    (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n), of the items that all rated.

    >>> icc_2_1(Ratings.of({"a": [9, 6, 8, 7, 10, 6], "b": [2, 1, 4, 1, 5, 2],
    ...     "c": [5, 3, 6, 2, 6, 4], "d": [8, 2, 8, 6, 9, 7]}, scale="interval"))
    0.290 [0.019, 0.761]
    """
    return _drawn(r, level, lambda x, k: x)


@measure(group="agreement", of="raters", bounds=BOUNDS, title="ICC(2,k)")
def icc_2_k(r: Ratings, *, level: float = 0.95) -> Estimate:
    """Absolute agreement of the means of k raters drawn from those who could have rated.

    (MSR - MSE) / (MSR + (MSC - MSE) / n), of the items that all rated.

    >>> icc_2_k(Ratings.of({"a": [1, 2, 4, 5], "b": [1, 3, 4, 4]}, scale="interval"))
    0.949 [-0.039, 0.997]
    """
    return _drawn(r, level, _stepped_up)


@measure(group="agreement", of="raters", bounds=(-1.0, 1.0), title="ICC(3,1)")
def icc_3_1(r: Ratings, *, level: float = 0.95) -> Estimate:
    """Consistency of two of these raters, up to a constant between them.

    (MSR - MSE) / (MSR + (k - 1) MSE), of the items that all rated.

    >>> icc_3_1(Ratings.of({"a": [9, 6, 8, 7, 10, 6], "b": [2, 1, 4, 1, 5, 2],
    ...     "c": [5, 3, 6, 2, 6, 4], "d": [8, 2, 8, 6, 9, 7]}, scale="interval"))
    0.715 [0.342, 0.946]
    """
    return _fixed(r, level, _single)


@measure(group="agreement", of="raters", bounds=BOUNDS, title="ICC(3,k)")
def icc_3_k(r: Ratings, *, level: float = 0.95) -> Estimate:
    """Consistency of the mean of these raters (Cronbach's alpha of the raters).

    (MSR - MSE) / MSR, of the items that all rated.

    >>> icc_3_k(Ratings.of({"a": [1, 2, 4, 5], "b": [1, 3, 4, 4]}, scale="interval"))
    0.933 [-0.029, 0.996]
    """
    return _fixed(r, level, _mean)


def _single(f: float, k: float) -> float:
    """The correlation of single ratings when the mean squares have the ratio f."""
    below = f + (k - 1)
    return 1.0 if f == math.inf else (f - 1) / below if below > 0 else -math.inf


def _mean(f: float, k: float) -> float:
    """The same of means of k ratings."""
    return 1 - 1 / f if f > 0 else -math.inf


def _stepped_up(single: float, k: int) -> float:
    """The correlation of means of k ratings, by that of single ones (Spearman-Brown)."""
    whole = 1 + single * (k - 1)
    # a hair above the pole is rounding
    return single * k / whole if whole > 1e-12 else -math.inf


def _one_way(r: Ratings, level: float, of: Callable[[float, float], float]) -> Estimate:
    z(level)
    found = one_way(r)
    if isinstance(found, str):
        return Estimate.undefined(found, level)
    m: OneWay = found
    # very uneven weights could leave less than one rating of an item
    k = max(m.ratings, 1.0)
    return _by_ratio(m.between, m.within, (m.df_between, m.df_within), k, of, level, "F")


def _fixed(r: Ratings, level: float, of: Callable[[float, float], float]) -> Estimate:
    z(level)
    found = two_way(r)
    if isinstance(found, str):
        return Estimate.undefined(found, level)
    free = found.items - 1, (found.items - 1) * (found.many - 1)
    return _by_ratio(found.between, found.error, free, found.many, of, level, _method(found))


def _by_ratio(
    between: float,
    rest: float,
    free: tuple[float, float],
    k: float,
    of: Callable[[float, float], float],
    level: float,
    method: str,
) -> Estimate:
    """A correlation that depends on the ratio of two mean squares alone."""
    from scipy.special import fdtrc, fdtri

    between = between if between > ROUNDING * rest else 0.0
    f = between / rest if rest > 0 else math.inf if between else math.nan
    value = of(f, k)
    if not math.isfinite(value):
        return Estimate.undefined("the items do not differ", level)
    upper = 0.5 + level / 2
    low = of(f / float(fdtri(*free, upper)), k)
    high = of(f * float(fdtri(*free[::-1], upper)), k)
    p = float(fdtrc(*free, f)) if f < math.inf else 0.0
    return _estimate(value, low, high, level, method, p)


def _drawn(r: Ratings, level: float, of: Callable[[float, int], float]) -> Estimate:
    """A correlation of raters drawn from many: Satterthwaite's degrees of freedom for two variances."""
    from scipy.special import fdtrc, fdtri

    z(level)
    found = two_way(r)
    if isinstance(found, str):
        return Estimate.undefined(found, level)
    m: TwoWay = found
    n, k = m.items, m.many
    total = m.between + (k - 1) * m.error + k * (m.raters - m.error) / n
    if total <= 1e-13 * (m.between + m.error + m.raters):
        return Estimate.undefined(LOW, level)
    single = (m.between - m.error) / total
    value = of(single, k)
    if value == -math.inf:
        return Estimate.undefined(LOW, level)
    p = float(fdtrc(n - 1, (n - 1) * (k - 1), m.between / m.error)) if m.error else 0.0
    df, upper = _freedom(m, single), 0.5 + level / 2
    f_low, f_high = float(fdtri(n - 1, df, upper)), float(fdtri(df, n - 1, upper))
    if not (f_low < math.inf and f_high < math.inf):
        return Estimate(value, level=level, method="none: the variances are not known", p=p)
    rest = k * m.raters + (k * n - k - n) * m.error
    low = n * (m.between - f_low * m.error) / (f_low * rest + n * m.between)
    high = n * (f_high * m.between - m.error) / (rest + n * f_high * m.between)
    return _estimate(value, of(low, k), of(high, k), level, _method(m), p)


def _freedom(m: TwoWay, single: float) -> float:
    """Degrees of freedom of the variance between raters and of what is left, together."""
    n, k = m.items, m.many
    a = k * single * m.raters
    b = (n * (1 + (k - 1) * single) - k * single) * m.error
    both = (n - 1) * a**2 + b**2
    return (n - 1) * (k - 1) * (a + b) ** 2 / both if both else math.nan


def _estimate(
    value: float, low: float, high: float, level: float, method: str, p: float
) -> Estimate:
    """Narrow intervals hold their value too, and end at 1 whatever the rounding."""
    value = min(value, 1.0)
    return Estimate(value, min(low, value), min(max(high, value), 1.0), level, method, p=p)


def _method(m: TwoWay) -> str:
    """How the interval was made, and of how many items."""
    if not m.left_out:
        return "F"
    near = round(m.left_out)
    many = f"{near:,}" if abs(m.left_out - near) < 1e-6 * near else f"{m.left_out:.3g}"
    return f"F; {many} {'item' if many == '1' else 'items'} left out, not rated by all"
