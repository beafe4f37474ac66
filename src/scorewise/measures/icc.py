"""How much of the variance of ratings lies between items? Intraclass correlations.

The first number is the design (Shrout and Fleiss 1979): 1, each item has raters of its own; 2, the same
raters, drawn from many, rate all items; 3, these raters are all there are. The second is what is
judged: one rating, or the mean of k. Intervals are by F (McGraw and Wong 1996), which is that of normal
items and ratings, and further apart where the means of items have heavier tails (Bonett 2006);
interval="published" leaves F as it is. `p` is of the one-sided test that items do not differ: the ratio
of mean squares that the design compares items with, in all of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple, get_args

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.checks import one_of
from scorewise.columns.rating_codes import Codes
from scorewise.estimate import Estimate, Undefined, undefined_if
from scorewise.inference.agreement_intervals import Interval
from scorewise.inference.scales import single_row
from scorewise.registry import measure
from scorewise.tallies.ratings import UNNAMED, Ratings

# items whose means show
TAILS = 8  # how heavy the tails are
NOT_SKEWED = 50  # that they may not be skewed
SKEWED = 100  # that they are skewed, if they are
LARGE = 40  # slight skewness well: so many times the kurtosis of the means
NOMINAL = "the scale is nominal; the scale interval gives them"
ALL_SAME = "all ratings are the same"
NO_VARIANCE = "items differ no more than by chance, so that the variances add up to nothing"
BOUNDS = (-math.inf, 1.0)
ROUNDING = 1e-24  # of a variance, in that of the rest: less is none
Limits = tuple[float, float]
Correlation = Callable[[float, float], float]


class Squares(NamedTuple):
    """Mean squares between items, between raters, and of the rest, with its degrees of freedom.

    One-way, there are none of raters, and the rest is all within items. `items` is their effective number,
    `ratings` how many each has, `left_out` the items that not all raters rated. The ends of an interval
    lie `further` away than those of normal ratings, at least 1 times; `caution` says why not even that can
    be relied on.
    """

    between: float
    raters: float
    rest: float
    df: float
    items: float
    ratings: float
    left_out: float
    further: float
    caution: str


def one_way(r: Ratings) -> Squares:
    """The mean squares when it does not matter who rated what.

    The ratings of an item may be of any number: n0 = (N - sum k_i^2 / N) / (n - 1).
    """
    counted, rated = r.counted, r.rated
    weight, values = _numbers(r, np.ones(len(r), np.bool_), counted.code)
    items, ratings = float(weight.sum()), float((weight * rated).sum())
    undefined_if("one item" if single_row(items) else "")
    undefined_if("no item has two ratings" if ratings - items < 1e-9 else "")
    mean = counted.total(counted.times * values) / rated
    grand = float((weight * rated * mean).sum()) / ratings
    between = float((weight * rated * _real((mean - grand) ** 2)).sum())
    rest = _real(counted.total(counted.times * (values - mean[counted.at]) ** 2))
    within = float((weight * rest).sum())
    undefined_if("" if between + within else ALL_SAME)
    df = ratings - items
    usual = (ratings - float((weight * rated**2).sum()) / ratings) / (items - 1)
    # very uneven weights could leave less than one rating of an item
    return Squares(
        between / (items - 1), math.nan, within / df, df, items, max(usual, 1.0), 0.0,
        *_tails(weight, mean, rest, df),
    )  # fmt: skip


def two_way(r: Ratings) -> Squares:
    """The mean squares over the items that all rated."""
    if r.raters is None:
        raise Undefined(UNNAMED)
    k = len(r.raters)
    complete = r.rated == k
    undefined_if("one rater" if k < 2 else "")
    undefined_if("" if complete.any() else "no item is rated by all raters")
    left_out = float(r.weight[~complete].sum() / r.weight.sum()) * r.effective
    codes = r.listed.code[complete[r.listed.item]].reshape(-1, k)
    weight, values = _numbers(r, complete, codes)
    items = float(weight.sum())
    if single_row(items):
        raise Undefined("only one item is rated by all raters" if left_out else "one item")
    mean = values.mean(1)
    column = (weight[:, None] * values).sum(0) / items
    grand = float(column.mean())
    between = k * float((weight * _real((mean - grand) ** 2)).sum())
    raters = items * float(((column - grand) ** 2).sum())
    rest = _real(((values - mean[:, None] - column + grand) ** 2).sum(1))
    error = float((weight * rest).sum())
    undefined_if("" if between + error or raters > 1e-26 else ALL_SAME)
    df = (items - 1) * (k - 1)
    return Squares(
        between / (items - 1), raters / (k - 1), error / df, df, items, k, left_out,
        *_tails(weight, mean, rest, df),
    )  # fmt: skip


def _real(squares: Floats) -> Floats:
    """Squares of numbers on [-1, 1], of which what rounding leaves is nothing."""
    return np.where(squares > 1e-26, squares, 0.0)


def _tails(weight: Floats, mean: Floats, rest: Floats, df: float) -> tuple[float, str]:
    """How much further away the ends of an interval lie, and why that may not be relied on.

    By the kurtosis of the items' means (Bonett 2006), and by how their sums of squares vary.

    F is of normal ratings. The variance of log F has 2 / (n - 1) from the means of n items, and more
    where these have heavy tails. Of a skewed distribution few items do not show the long tail, and so
    too little variance: in samples of 20 skewed items that looked normal, F held least of all. The third
    moment of such samples is small too, so that what lies in the middle has to be even as well, by the
    L-skewness (Hosking 1990), and more so of few items.
    """
    n = float(weight.sum())
    n = round(n) if abs(n - round(n)) < 1e-9 * n else n  # bounds are not left to rounding
    few = f"{round(n)} items are too few to show whether they are skewed" if n < SKEWED else ""
    off = mean - (weight * mean).sum() / n
    variance = float((weight * off * off).sum()) / n
    if n < TAILS or variance < 1e-26:
        return 1.0, few if n < NOT_SKEWED else ""
    # without so large a share of the items at each end
    share, order = 0.5 / math.sqrt(n - 4), np.argsort(mean, kind="stable")
    ends = np.clip(weight[order].cumsum() / weight.sum(), share, 1 - share)
    kept = np.diff(ends, prepend=share)
    about = mean - float((kept * mean[order]).sum() / kept.sum())
    kurtosis = float((weight * about**4).sum()) / n / variance**2
    within = float((weight * rest).sum()) / n
    usual = 2 / df
    more = float((weight * (rest - within) ** 2).sum()) / n**2 / within**2 if within > 1e-26 else 0
    seen = max(kurtosis - (n - 3) / n, 0.0) / (n - 1) + max(more, usual)
    further = math.sqrt(max(seen / (2 / (n - 1) + usual), 1.0))
    skewness = float((weight * off**3).sum()) / n / variance**1.5
    slight = abs(skewness) < 0.5 or (n > LARGE * kurtosis and abs(skewness) < 2)
    even = abs(_l_skewness(weight[order], off[order])) < min(0.04 + n / 2000, 0.1)
    skewed = f"the means of {round(n)} items are skewed (skewness {skewness:.1f})"
    if n >= NOT_SKEWED and slight and even:
        return further, ""
    return further, few if few and abs(skewness) < 1 else skewed


def _l_skewness(weight: Floats, x: Floats) -> float:
    """The third L-moment of increasing numbers about their mean, in units of the second.

    >>> x = np.array([-4.0, -3.0, 7.0])
    >>> round(_l_skewness(np.ones(3), x), 2), round(_l_skewness(np.ones(3), -x[::-1]), 2)
    (0.27, -0.27)
    """
    share = weight / weight.sum()
    at = 2 * (share.cumsum() - share / 2) - 1  # from -1 to 1
    return float((share * (3 * at**2 - 1) / 2 * x).sum() / (share * at * x).sum())


def _numbers(r: Ratings, which: Bools, codes: Codes) -> tuple[Floats, Floats]:
    """Weights of some patterns that add up to the effective items, and their ratings on [-1, 1]."""
    weight = r.weight[which].astype(np.float64)
    weight = weight / weight.max()
    squares = (r.weight2[which] / float(r.weight[which].max()) ** 2).sum()
    # halves, because the range of numbers can be beyond floats
    values = r.values[codes] / 2
    low, high = values.min(), values.max()
    values = (values - (low + high) / 2) / ((high - low) / 2 or 1.0)
    return weight * (weight.sum() / squares), values


@measure(group="agreement", of="raters", bounds=BOUNDS, title="ICC(1,1)")
def icc_1_1(r: Ratings, *, interval: Interval = "formula", level: float = 0.95) -> Estimate:
    """Correlation of two ratings of the same item by any two raters.

    (MSB - MSW) / (MSB + (k - 1) MSW), one-way. Items may have different numbers of ratings; k is then
    the usual weighted mean of them, and the interval, exact for equal numbers, approximate.

    >>> icc_1_1(Ratings.of({"a": [9, 6, 8, 7, 10, 6], "b": [2, 1, 4, 1, 5, 2],
    ...     "c": [5, 3, 6, 2, 6, 4], "d": [8, 2, 8, 6, 9, 7]}, scale="interval"))
    0.166 [-0.133, 0.723] (interval unreliable: 6 items are too few to show whether they are skewed)
    """
    return _by_ratio(r, one_way, interval, level, _single)


@measure(group="agreement", of="raters", bounds=BOUNDS, title="ICC(1,k)")
def icc_1_k(r: Ratings, *, interval: Interval = "formula", level: float = 0.95) -> Estimate:
    """Correlation of two means of k ratings of the same item, all by different raters.

    (MSB - MSW) / MSB, one-way; k is the (usual weighted) mean number of ratings of an item.

    >>> icc_1_k(Ratings.of({"a": [1, 2, 4, 5], "b": [1, 3, 4, 4]}, scale="interval"))
    0.950 [0.501, 0.997] (interval unreliable: 4 items are too few to show whether they are skewed)
    """
    return _by_ratio(r, one_way, interval, level, _mean)


@measure(group="agreement", of="raters", bounds=BOUNDS, title="ICC(2,1)")
def icc_2_1(r: Ratings, *, interval: Interval = "formula", level: float = 0.95) -> Estimate:
    """Absolute agreement of two raters drawn from those who could have rated.

    (MSR - MSE) / (MSR + (k - 1) MSE + k (MSC - MSE) / n), of the items that all rated.

    >>> icc_2_1(Ratings.of({"a": [9, 6, 8, 7, 10, 6], "b": [2, 1, 4, 1, 5, 2],
    ...     "c": [5, 3, 6, 2, 6, 4], "d": [8, 2, 8, 6, 9, 7]}, scale="interval"))
    0.290 [0.019, 0.761] (interval unreliable: 6 items are too few to show whether they are skewed)
    """
    return _of_drawn_raters(r, interval, level, lambda x, k: x)


@measure(group="agreement", of="raters", bounds=BOUNDS, title="ICC(2,k)")
def icc_2_k(r: Ratings, *, interval: Interval = "formula", level: float = 0.95) -> Estimate:
    """Absolute agreement of the means of k raters drawn from those who could have rated.

    (MSR - MSE) / (MSR + (MSC - MSE) / n), of the items that all rated.

    >>> icc_2_k(Ratings.of({"a": [1, 2, 4, 5], "b": [1, 3, 4, 4]}, scale="interval"))
    0.949 [-0.039, 0.997] (interval unreliable: 4 items are too few to show whether they are skewed)
    """

    def stepped_up(single: float, k: float) -> float:  # Spearman-Brown
        below = 1 + single * (k - 1)
        # just above the pole is rounding
        return single * k / below if below > 1e-12 else -math.inf

    return _of_drawn_raters(r, interval, level, stepped_up)


@measure(group="agreement", of="raters", bounds=(-1.0, 1.0), title="ICC(3,1)")
def icc_3_1(r: Ratings, *, interval: Interval = "formula", level: float = 0.95) -> Estimate:
    """Consistency of two of these raters, up to a constant between them.

    (MSR - MSE) / (MSR + (k - 1) MSE), of the items that all rated.

    >>> icc_3_1(Ratings.of({"a": [9, 6, 8, 7, 10, 6], "b": [2, 1, 4, 1, 5, 2],
    ...     "c": [5, 3, 6, 2, 6, 4], "d": [8, 2, 8, 6, 9, 7]}, scale="interval"))
    0.715 [0.342, 0.946] (interval unreliable: 6 items are too few to show whether they are skewed)
    """
    return _by_ratio(r, two_way, interval, level, _single)


@measure(group="agreement", of="raters", bounds=BOUNDS, title="ICC(3,k)")
def icc_3_k(r: Ratings, *, interval: Interval = "formula", level: float = 0.95) -> Estimate:
    """Consistency of the mean of these raters (Cronbach's alpha of the raters).

    (MSR - MSE) / MSR, of the items that all rated.

    >>> icc_3_k(Ratings.of({"a": [1, 2, 4, 5], "b": [1, 3, 4, 4]}, scale="interval"))
    0.933 [-0.029, 0.996] (interval unreliable: 4 items are too few to show whether they are skewed)
    """
    return _by_ratio(r, two_way, interval, level, _mean)


def _single(f: float, k: float) -> float:
    """The correlation of single ratings when the mean squares have the ratio f."""
    below = f + (k - 1)
    return 1.0 if f == math.inf else (f - 1) / below if below > 0 else -math.inf


def _mean(f: float, k: float) -> float:
    """The same of means of k ratings."""
    return 1 - 1 / f if f > 0 else -math.inf


def _by_ratio(
    r: Ratings,
    squares: Callable[[Ratings], Squares],
    interval: Interval,
    level: float,
    correlation: Correlation,
) -> Estimate:
    """A correlation that depends on the ratio of two mean squares alone."""
    from scipy.special import fdtrc

    m = _mean_squares(r, squares, interval)
    between = _more_than_rounding(m.between, m.rest)
    f = between / m.rest if m.rest > 0 else math.inf if between else math.nan
    value = min(correlation(f, m.ratings), 1.0)
    undefined_if("" if math.isfinite(value) else "the items do not differ")
    ends = [
        (correlation(f / down, m.ratings), correlation(f * up, m.ratings))
        for down, up in _quantiles(m, m.df, level)
    ]
    p = float(fdtrc(m.items - 1, m.df, f)) if f < math.inf else 0.0
    return _estimate(m, value, ends, level, p)


def _mean_squares(r: Ratings, squares: Callable[[Ratings], Squares], interval: Interval) -> Squares:
    """The mean squares; as if ratings were normal, where the published interval is asked for."""
    one_of("interval", interval, get_args(Interval))
    undefined_if("" if len(r) else "no items")
    undefined_if(NOMINAL if r.scale == "nominal" else "")
    m = squares(r)
    return m._replace(further=1.0) if interval == "published" else m


def _of_drawn_raters(
    r: Ratings, interval: Interval, level: float, correlation: Correlation
) -> Estimate:
    """A correlation of raters drawn from many: Satterthwaite's degrees of freedom for two variances."""
    from scipy.special import fdtrc

    m = _mean_squares(r, two_way, interval)
    n, k, between = m.items, m.ratings, m.between
    error, raters = (_more_than_rounding(x, between) for x in (m.rest, m.raters))
    total = between + (k - 1) * error + k * (raters - error) / n
    undefined_if(NO_VARIANCE if total <= 1e-13 * (between + error + raters) else "")
    single = (between - error) / total
    value = min(correlation(single, k), 1.0)  # whatever the rounding
    undefined_if(NO_VARIANCE if value == -math.inf else "")
    p = float(fdtrc(n - 1, m.df, between / error)) if error else 0.0
    # degrees of freedom of the variance between raters and of what is left, together
    a, b = k * single * raters, (n * (1 + (k - 1) * single) - k * single) * error
    # terms that cancel leave no more than rounding
    known = abs(a + b) > 1e-9 * (abs(a) + abs(b))
    df = m.df * (a + b) ** 2 / ((n - 1) * a**2 + b**2) if known else math.nan
    # of weights that are worth less than two items the limits may have a pole
    sides = ((n - 1, df), (df, n - 1))
    if not (df > 0 and n > 2 - 1e-9 and max(_upper(*s, level) for s in sides) < math.inf):
        return Estimate(value, level=level, method="none: the variances are not known", p=p)
    rest = k * raters + (k * n - k - n) * error
    ends = []
    for f_low, f_high in _quantiles(m, df, level):
        low = n * (between - f_low * error) / (f_low * rest + n * between)
        high = n * (f_high * between - error) / (rest + n * f_high * between)
        ends.append((correlation(low, k), correlation(high, k)))
    return _estimate(m, value, ends, level, p)


def _more_than_rounding(variance: float, rest: float) -> float:
    return variance if variance > ROUNDING * rest else 0.0


def _quantiles(m: Squares, df: float, level: float) -> list[Limits]:
    """Of the ratio of mean squares, downwards and upwards: those of F, and those further apart."""
    found = _upper(m.items - 1, df, level), _upper(df, m.items - 1, level)
    most = 1e300 ** (1 / max(3.0, m.further))  # of next to no items it is 0 or infinite
    down, up = (min(max(f, 1 / most), most) for f in found)
    return [(down**by, up**by) for by in (1.0, m.further)]


def _upper(first: float, second: float, level: float) -> float:
    """The upper quantile of F for an interval of that level."""
    from scipy.special import fdtri

    return float(fdtri(first, second, 0.5 + level / 2))


def _estimate(m: Squares, value: float, ends: list[Limits], level: float, p: float) -> Estimate:
    """The ends of F and those further apart, which stay on the side of 0 where those of F are.

    If items do not differ, tails change the two mean squares alike, and F holds.
    """
    (low, high), (lower, higher) = ends
    lower, higher = max(lower, 0.0) if low > 0 else lower, min(higher, 0.0) if high < 0 else higher
    method = "F"
    if m.left_out:
        near = round(m.left_out)
        many = f"{near:,}" if abs(m.left_out - near) < 1e-6 * near else f"{m.left_out:.3g}"
        method += f"; {many} {'item' if many == '1' else 'items'} left out, not rated by all"
    method += "; heavy tails" if m.further > 1 + 1e-9 else ""
    return Estimate.within(BOUNDS, value, lower, higher, level, method, p=p, caution=m.caution)
