"""The variance of ratings in parts: between items, between raters, and what is left."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.door.rating_codes import Codes
from scorewise.intervals.scales import one_row
from scorewise.tallies.ratings import Ratings

Floats = NDArray[np.float64]
LEAST = 8  # items whose means show how heavy the tails are
SHOWN = 50  # items whose means show that they are skewed, if they are
MANY = 40  # times the kurtosis of the means: items that show it well
NOMINAL = 'the scale is nominal; scale="interval" gives them'


class Tails(NamedTuple):
    """How much further than those of normal ratings the ends of an interval lie, at least 1.

    `caution` says why not even that can be relied on.
    """

    further: float = 1.0
    caution: str = ""


class OneWay(NamedTuple):
    """Mean squares between and within items, their degrees of freedom, and the ratings of an item.

    `ratings` is a number for each item where all have the same, else the usual weighted mean.
    """

    between: float
    within: float
    df_between: float
    df_within: float
    ratings: float
    tails: Tails


class TwoWay(NamedTuple):
    """Mean squares of items, raters and what is left; how many of each, and items left out."""

    between: float
    raters: float
    error: float
    items: float
    many: int
    left_out: float
    tails: Tails


def one_way(r: Ratings) -> OneWay | str:
    """The parts when it does not matter who rated what, or why there are none.

    The ratings of an item may be of any number: n0 = (N - sum k_i^2 / N) / (n - 1).
    """
    if why := _lacking(r):
        return why
    said, rated = r.counted, r.rated
    weight, values = _numbers(r, np.ones(len(r), np.bool_), said.code)
    items, ratings = float(weight.sum()), float((weight * rated).sum())
    if one_row(items):
        return "one item"
    if ratings - items < 1e-9:
        return "no item has two ratings"
    mean = said.total(said.times * values) / rated
    grand = float((weight * rated * mean).sum()) / ratings
    between = float((weight * rated * (mean - grand) ** 2).sum())
    rest = said.total(said.times * (values - mean[said.at]) ** 2)
    within = float((weight * rest).sum())
    if between + within <= 1e-26:
        return "all ratings are the same"
    usual = (ratings - float((weight * rated**2).sum()) / ratings) / (items - 1)
    free = items - 1, ratings - items
    return OneWay(
        between / free[0], within / free[1], *free, usual, _tails(weight, mean, rest, free[1])
    )


def two_way(r: Ratings) -> TwoWay | str:
    """The parts over the items that all rated, or why there are none."""
    if why := _lacking(r):
        return why
    if r.raters is None:
        return "it is not known which rater said what"
    many = len(r.raters)
    whole = r.rated == many
    if many < 2 or not whole.any():
        return "no item is rated by all raters" if many > 1 else "one rater"
    left_out = float(r.weight[~whole].sum() / r.weight.sum()) * r.effective
    codes = r.listed.code[whole[r.listed.item]].reshape(-1, many)
    weight, values = _numbers(r, whole, codes)
    items = float(weight.sum())
    if one_row(items):
        return "one item" if not left_out else "only one item is rated by all raters"
    mean = values.mean(1)
    column = (weight[:, None] * values).sum(0) / items
    grand = float(column.mean())
    between = many * float((weight * (mean - grand) ** 2).sum())
    raters = items * float(((column - grand) ** 2).sum())
    rest = ((values - mean[:, None] - column + grand) ** 2).sum(1)
    error = float((weight * rest).sum())
    if between + raters + error <= 1e-26:
        return "all ratings are the same"
    # what is left over rounding is nothing
    between, error = (x if x > 1e-26 else 0.0 for x in (between, error))
    free = items - 1, many - 1, (items - 1) * (many - 1)
    return TwoWay(
        between / free[0], raters / free[1], error / free[2], items, many, left_out,
        _tails(weight, mean, rest, free[2]),
    )  # fmt: skip


def _tails(weight: Floats, mean: Floats, rest: Floats, free: float) -> Tails:
    """By the kurtosis of the items' means (Bonett 2006), and by how their sums of squares vary.

    F is of normal ratings. The variance of log F has 2 / (n - 1) from the means of n items, and more
    where these have heavy tails. Of a skewed distribution few items do not show the long tail, and so
    too little variance: in samples of 20 skewed items that looked normal, F held least of all.
    """
    n = float(weight.sum())
    n = round(n) if abs(n - round(n)) < 1e-9 * n else n  # bounds are not left to rounding
    few = f"{round(n)} items are too few to show whether they are skewed" if n < SHOWN else ""
    off = mean - (weight * mean).sum() / n
    spread = float((weight * off * off).sum()) / n
    if n < LEAST or spread < 1e-26:
        return Tails(1.0, few)
    about = mean - _trimmed(weight, mean, 0.5 / math.sqrt(n - 4))
    kurtosis = float((weight * about**4).sum()) / n / spread**2
    within = float((weight * rest).sum()) / n
    usual = 2 / free
    more = float((weight * (rest - within) ** 2).sum()) / n**2 / within**2 if within > 1e-26 else 0
    seen = max(kurtosis - (n - 3) / n, 0.0) / (n - 1) + max(more, usual)
    further = math.sqrt(max(seen / (2 / (n - 1) + usual), 1.0))
    skewness = float((weight * off**3).sum()) / n / spread**1.5
    plain = abs(skewness) < 0.5 or (n > MANY * kurtosis and abs(skewness) < 2)
    skewed = f"the means of {round(n)} items are skewed (skewness {skewness:.1f})"
    return Tails(further, few if abs(skewness) < 1 and few else "" if plain else skewed)


def _trimmed(weight: Floats, values: Floats, share: float) -> float:
    """The mean without that share of the items at each end."""
    order = np.argsort(values, kind="stable")
    ends = np.clip(weight[order].cumsum() / weight.sum(), share, 1 - share)
    kept = np.diff(ends, prepend=share)
    return float((kept * values[order]).sum() / kept.sum())


def _lacking(r: Ratings) -> str:
    if not len(r):
        return "no items"
    return NOMINAL if r.scale == "nominal" else ""


def _numbers(r: Ratings, which: NDArray[np.bool_], codes: Codes) -> tuple[Floats, Floats]:
    """Weights of some patterns that add up to the effective items, and their ratings on [-1, 1]."""
    weight = r.weight[which].astype(np.float64)
    weight = weight / weight.max()
    squares = (r.weight2[which] / float(r.weight[which].max()) ** 2).sum()
    # halves, because the range of numbers can be beyond floats
    values = r.values[codes] / 2
    low, high = values.min(), values.max()
    values = (values - (low + high) / 2) / ((high - low) / 2 or 1.0)
    return weight * (weight.sum() / squares), values
