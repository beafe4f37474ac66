"""Do two raters say each category equally often? Tests, and the indices of bias and prevalence."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scorewise.estimate import Estimate
from scorewise.intervals.scales import effective, z
from scorewise.registry import measure
from scorewise.tallies import Ratings

Floats = NDArray[np.float64]
MOST = 4096  # categories of which a square table is made


@measure(
    group="agreement", of="raters", better="low", bounds=(0.0, math.inf), title="Stuart-Maxwell"
)
def stuart_maxwell(r: Ratings, *, level: float = 0.95) -> Estimate:
    """How far apart two raters' shares of all categories are, in units of chance.

    d' S^-1 d with d the differences of the margins and S their covariance if the margins are the same
    (Stuart 1955, Maxwell 1970): chi-squared, with a degree of freedom less than categories that are
    disagreed about, or one less in each group of them where nobody mixes the groups up. That number is
    `expected`, and gives `p`. McNemar's test for two categories. With weights, S has their squares. No
    interval.

    >>> e = stuart_maxwell(Ratings.of_table([[20, 10, 5], [3, 30, 15], [0, 5, 40]]))
    >>> e, e.expected, round(e.p, 5)
    (13.765, 2.0, 0.00103)
    """
    z(level)
    found = _table(r)
    if isinstance(found, str):
        return Estimate.undefined(found, level)
    weight, squares = found
    apart = squares + squares.T
    np.fill_diagonal(apart, 0.0)
    mixed = apart.sum(1) > 0
    apart, weight = apart[np.ix_(mixed, mixed)], weight[np.ix_(mixed, mixed)]
    if not len(apart):
        return Estimate(0.0, level=level, expected=0.0, p=1.0)
    kept = _all_but_one(apart)
    difference = (weight.sum(1) - weight.sum(0))[kept]
    spread = np.diag(apart.sum(1)) - apart
    try:
        solved = np.linalg.solve(spread[np.ix_(kept, kept)], difference)
    except np.linalg.LinAlgError:
        return Estimate.undefined("the weights of the items are too far apart", level)
    return _chi_squared(max(0.0, float((difference * solved).sum())), len(kept), level)


@measure(group="agreement", of="raters", better="low", bounds=(0.0, math.inf), title="Bowker")
def bowker(r: Ratings, *, level: float = 0.95) -> Estimate:
    """How unlike the two ways are to disagree about each two categories, in units of chance.

    sum over pairs of categories of (n_ij - n_ji)^2 / (n_ij + n_ji) (Bowker 1948): chi-squared, with a
    degree of freedom for each pair that is disagreed about. That number is `expected`, and gives `p`.
    McNemar's test for two categories. With weights, the sums below are of their squares. No interval.

    >>> e = bowker(Ratings.of_table([[20, 10, 5], [3, 30, 15], [0, 5, 40]]))
    >>> e, e.expected, round(e.p, 5)
    (13.769, 3.0, 0.00324)
    """
    z(level)
    found = _table(r)
    if isinstance(found, str):
        return Estimate.undefined(found, level)
    weight, squares = found
    upper = np.triu_indices(len(weight), 1)
    both = (squares + squares.T)[upper]
    mixed = both > 0
    gap = (weight - weight.T)[upper][mixed]
    return _chi_squared(float((gap**2 / both[mixed]).sum()), int(mixed.sum()), level)


@measure(
    group="agreement",
    of="raters",
    better="near",
    target=0.0,
    bounds=(-1.0, 1.0),
    title="Bias index",
)
def bias_index(r: Ratings, *, level: float = 0.95) -> Estimate:
    """How much more often the first rater says the first of two categories than the second rater does.

    (b - c) / n, with b the items that only the first rater puts in the first category and c those that
    only the second does (Byrt, Bishop and Carlin 1993). Interval of Bonett and Price (2012).

    >>> bias_index(Ratings.of_table([[25, 35], [5, 35]]))
    0.300 [0.183, 0.405]
    """
    found = _two_categories(r, level)
    if isinstance(found, Estimate):
        return found
    table, n = found
    return _difference(table[0, 1], table[1, 0], n, level, 0.0)


@measure(
    group="agreement", of="raters", better="neither", bounds=(-1.0, 1.0), title="Prevalence index"
)
def prevalence_index(r: Ratings, *, level: float = 0.95) -> Estimate:
    """How much more often both raters say the first than both say the second of two categories.

    (a - d) / n, with a the items that both put in the first category and d those that both put in the
    second (Byrt, Bishop and Carlin 1993): also the share of ratings in the first minus that in the
    second. Interval of Bonett and Price (2012).

    >>> prevalence_index(Ratings.of_table([[80, 10], [5, 5]]))
    0.750 [0.627, 0.844]
    """
    found = _two_categories(r, level)
    if isinstance(found, Estimate):
        return found
    table, n = found
    return _difference(table[0, 0], table[1, 1], n, level, None)


def _table(r: Ratings) -> tuple[Floats, Floats] | str:
    """The table of two raters near 1, with sums of squared weights, or why there is none."""
    if r.raters is None:
        return "it is not known which rater said what"
    if len(r.raters) != 2:
        return f"there are {len(r.raters)} raters; this is of two"
    if len(r.categories) > MOST:
        return f"more than {MOST:,} categories"
    c = r.pair(0, 1)
    if not c.weight.any():
        return "no item is rated by both" if len(r.codes) else "no items"
    weight, squares = (w.astype(np.float64) for w in (c.weight, c.weight2))
    return weight * c.scale, squares * c.scale * c.scale


def _all_but_one(apart: Floats) -> NDArray[np.int64]:
    """All categories but the first of each group that is linked by disagreements."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    _, group = connected_components(csr_array(apart > 0), directed=False)
    _, first = np.unique(group, return_index=True)
    return np.setdiff1d(np.arange(len(apart)), first)


def _chi_squared(value: float, df: int, level: float) -> Estimate:
    from scipy.special import chdtrc

    p = float(chdtrc(df, value)) if df else 1.0
    return Estimate(value, level=level, expected=float(df), p=p)


def _two_categories(r: Ratings, level: float) -> tuple[Floats, float] | Estimate:
    """The shares of the four cells and the effective number of items."""
    z(level)
    found = _table(r)
    if isinstance(found, str):
        return Estimate.undefined(found, level)
    if len(r.categories) != 2:
        many = len(r.categories)
        there = "there is one category" if many == 1 else f"there are {many} categories"
        return Estimate.undefined(f"{there}; this is of two", level)
    weight, squares = found
    total = float(weight.sum())
    return weight / total, effective(total, float(squares.sum()))


def _difference(
    first: float, second: float, n: float, level: float, expected: float | None
) -> Estimate:
    """The difference of two of the shares of n items, one item added to each for the interval."""
    value = float(first - second)
    p, q = (first * n + 1) / (n + 2), (second * n + 1) / (n + 2)
    reach = z(level) * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    low, high = max(-1.0, p - q - reach), min(1.0, p - q + reach)
    low, high = min(low, value), max(high, value)
    return Estimate(value, low, high, level, "Bonett-Price", expected=expected)
