"""Do two raters say each category equally often? Tests, and the indices of bias and prevalence."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.estimate import Estimate, Undefined, undefined_if
from scorewise.inference.scales import effective_size, normal_quantile
from scorewise.registry import measure
from scorewise.tallies.rating_patterns import sums_at
from scorewise.tallies.ratings import UNNAMED, Ratings

MAX_CATEGORIES = 4096
MAX_DENSE = 256  # categories up to which a dense covariance is no larger than a sparse one
POSITIVE, SIGNED = (0.0, math.inf), (-1.0, 1.0)


@measure(group="agreement", of="raters", better="low", bounds=POSITIVE, title="Stuart-Maxwell")
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
    return _chi_squared(r, level, _margin_statistic)


@measure(group="agreement", of="raters", better="low", bounds=POSITIVE, title="Bowker")
def bowker(r: Ratings, *, level: float = 0.95) -> Estimate:
    """How unlike the two ways are to disagree about each two categories, in units of chance.

    sum over pairs of categories of (n_ij - n_ji)^2 / (n_ij + n_ji) (Bowker 1948): chi-squared, with a
    degree of freedom for each pair that is disagreed about. That number is `expected`, and gives `p`.
    McNemar's test for two categories. With weights, the sums below are of their squares. No interval.

    >>> e = bowker(Ratings.of_table([[20, 10, 5], [3, 30, 15], [0, 5, 40]]))
    >>> e, e.expected, round(e.p, 5)
    (13.769, 3.0, 0.00324)
    """
    return _chi_squared(r, level, lambda c, _: (float((c.gap**2 / c.both).sum()), len(c.gap)))


@measure(
    group="agreement", of="raters", better="near", target=0.0, bounds=SIGNED, title="Bias index"
)
def bias_index(r: Ratings, *, level: float = 0.95) -> Estimate:
    """How much more often the first rater chooses the first of two categories than the second rater does.

    (b - c) / n, with b the items that only the first rater puts in the first category and c those that
    only the second does (Byrt, Bishop and Carlin 1993). Interval of Bonett and Price (2012).

    >>> bias_index(Ratings.of_table([[25, 35], [5, 35]]))
    0.300 [0.183, 0.405]
    """
    return _index(r, (0, 1), (1, 0), level, expected=0.0)


@measure(group="agreement", of="raters", better="neither", bounds=SIGNED, title="Prevalence index")
def prevalence_index(r: Ratings, *, level: float = 0.95) -> Estimate:
    """How much more often both raters choose the first than both choose the second of two categories.

    (a - d) / n, with a the items that both put in the first category and d those that both put in the
    second (Byrt, Bishop and Carlin 1993): also the share of ratings in the first minus that in the
    second. Interval of Bonett and Price (2012).

    >>> prevalence_index(Ratings.of_table([[80, 10], [5, 5]]))
    0.750 [0.627, 0.844]
    """
    return _index(r, (0, 0), (1, 1), level)


def why_no_table(r: Ratings) -> str:
    """Why there is no table of two raters, or nothing."""
    if r.raters is None:
        return UNNAMED
    if len(r.raters) != 2:
        return f"there are {len(r.raters)} raters; this is of two"
    if len(r.categories) > MAX_CATEGORIES:
        return f"more than {MAX_CATEGORIES:,} categories"
    if not (r.rated == 2).any():
        return "no item is rated by both" if len(r) else "no items"
    return ""


class _Discordant(NamedTuple):
    """Pairs of categories that the raters disagree about.

    `gap` is n_ij - n_ji, with the first rater in rows; `both` the sum of the squared weights of both cells.
    """

    first: Ints
    second: Ints
    gap: Floats
    both: Floats


def _discordant(r: Ratings) -> _Discordant:
    """The cells of the table off its diagonal, with weights near 1."""
    a, b = r.codes[r.rated == 2].T.astype(np.int64)
    w, w2 = (x[r.rated == 2].astype(np.float64) for x in (r.weight, r.weight2))
    unit = 2.0 ** -math.frexp(float(w.sum()))[1]
    off, k = a != b, len(r.categories)
    a, b, w, w2 = a[off], b[off], w[off] * unit, w2[off] * unit * unit
    pair, place = np.unique(np.minimum(a, b) * k + np.maximum(a, b), return_inverse=True)
    gap, both = (sums_at(place, x, len(pair)) for x in (np.where(a < b, w, -w), w2))
    used = both > 0
    return _Discordant(*np.divmod(pair[used], k), gap[used], both[used])


def _chi_squared(
    r: Ratings, level: float, statistic: Callable[[_Discordant, int], tuple[float, int]]
) -> Estimate:
    """A statistic of the discordant pairs of so many categories, with its degrees of freedom."""
    from scipy.special import chdtrc

    undefined_if(why_no_table(r))
    value, df = statistic(_discordant(r), len(r.categories))
    p = float(chdtrc(df, value)) if df else 1.0
    return Estimate(value, level=level, expected=float(df), p=p)


def _margin_statistic(c: _Discordant, categories: int) -> tuple[float, int]:
    """The squared distance of the margins by its covariance, and the number of independent categories."""
    if not len(c.gap):
        return 0.0, 0
    uneven = Undefined("the weights are too uneven for floating point")
    if c.both.max() > 1e14 * c.both.min():  # of which a sum knows only the larger
        raise uneven
    used = _independent_categories(c)
    first, second = (sums_at(x, c.gap, categories) for x in (c.first, c.second))
    difference = (first - second)[used]
    try:
        solved = _solved(c, used, difference)
    except (np.linalg.LinAlgError, RuntimeError):  # singular, dense or sparse
        raise uneven from None
    return max(0.0, float((difference * solved).sum())), len(used)


def _independent_categories(c: _Discordant) -> Ints:
    """All discordant categories but the first of each group that disagreements link."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    found, place = np.unique((c.first, c.second), return_inverse=True)
    first, second = place.reshape(2, -1)
    links = coo_array((np.ones(len(first)), (first, second)), shape=(len(found), len(found)))
    _, group = connected_components(links, directed=False)
    _, lowest = np.unique(group, return_index=True)
    return np.delete(found, lowest)


def _solved(c: _Discordant, used: Ints, difference: Floats) -> Floats:
    """The covariance of the margins of some categories divided into their differences."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import splu

    k = len(used)
    place = np.full(int(max(c.first.max(), c.second.max())) + 1, -1)
    place[used] = np.arange(k)
    i, j = place[c.first], place[c.second]
    own = (sums_at(c.first, c.both, len(place)) + sums_at(c.second, c.both, len(place)))[used]
    inside = (i >= 0) & (j >= 0)
    i, j, both = i[inside], j[inside], -c.both[inside]
    at = np.arange(k)
    values = np.concatenate((own, both, both)), (np.r_[at, i, j], np.r_[at, j, i])
    covariance = coo_array(values, shape=(k, k))
    solved: Floats
    if k <= MAX_DENSE or len(i) > 4 * k:
        solved = np.linalg.solve(covariance.toarray(), difference)
    else:
        how: Any = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0}
        solved = splu(covariance.tocsc(), **how, options={"SymmetricMode": True}).solve(difference)
    return solved


def _index(
    r: Ratings,
    plus: tuple[int, int],
    minus: tuple[int, int],
    level: float,
    expected: float | None = None,
) -> Estimate:
    """The difference of two cells of the table of two categories, as shares of all items.

    For the interval, one item is added to each of the two cells.
    """
    undefined_if(why_no_table(r))
    if (k := len(r.categories)) != 2:
        there = "there is one category" if k == 1 else f"there are {k} categories"
        raise Undefined(f"{there}; this is of two")
    c = r.pair(0, 1)
    weight = np.asarray(c.weight, np.float64) * c.scale
    total = float(weight.sum())
    n = effective_size(total, float((c.weight2 * c.scale * c.scale).sum()))
    first, second = weight[plus] / total, weight[minus] / total
    value = float(first - second)
    p, q = (first * n + 1) / (n + 2), (second * n + 1) / (n + 2)
    reach = normal_quantile(level) * math.sqrt((p + q - (p - q) ** 2) / (n + 2))
    return Estimate.within(
        SIGNED, value, p - q - reach, p - q + reach, level, "Bonett-Price", expected=expected
    )
