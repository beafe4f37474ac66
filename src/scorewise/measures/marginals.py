"""Do two raters say each category equally often? Tests, and the indices of bias and prevalence."""

from __future__ import annotations

import math
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
UNEVEN = "the weights are too uneven for floating point"
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
    from scipy.sparse.linalg import splu

    c = _discordant(r)
    if not len(c.gap):
        return _chi_squared(0.0, 0, level)
    if c.both.max() > 1e14 * c.both.min():  # of which a sum knows only the larger
        raise Undefined(UNEVEN)
    covariance, used = _margin_covariance(c)
    first, second = (sums_at(x, c.gap, covariance.shape[0]) for x in (c.first, c.second))
    difference, covariance = (first - second)[used], covariance[used][:, used]
    try:
        if len(used) <= MAX_DENSE or covariance.nnz > 9 * len(used):
            solved = np.linalg.solve(covariance.toarray(), difference)
        else:
            how: Any = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0}
            options = {"SymmetricMode": True}
            solved = splu(covariance.tocsc(), **how, options=options).solve(difference)
    except (np.linalg.LinAlgError, RuntimeError):  # singular, dense or sparse
        raise Undefined(UNEVEN) from None
    return _chi_squared(max(0.0, float((difference * solved).sum())), len(used), level)


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
    c = _discordant(r)
    return _chi_squared(float((c.gap**2 / c.both).sum()), len(c.gap), level)


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
    """Pairs of categories that the raters disagree about, as places among those of which they do.

    `gap` is n_ij - n_ji, with the first rater in rows; `both` the sum of the squared weights of both cells.
    """

    first: Ints
    second: Ints
    gap: Floats
    both: Floats


def _discordant(r: Ratings) -> _Discordant:
    """The cells of the table off its diagonal, with weights near 1."""
    undefined_if(why_no_table(r))
    a, b = r.codes[r.rated == 2].T.astype(np.int64)
    w, w2 = (x[r.rated == 2].astype(np.float64) for x in (r.weight, r.weight2))
    unit = 2.0 ** -math.frexp(float(w.sum()))[1]
    off, k = a != b, len(r.categories)
    a, b, w, w2 = a[off], b[off], w[off] * unit, w2[off] * unit * unit
    pair, place = np.unique(np.minimum(a, b) * k + np.maximum(a, b), return_inverse=True)
    gap, both = (sums_at(place, x, len(pair)) for x in (np.where(a < b, w, -w), w2))
    used = both > 0
    _, place = np.unique(np.divmod(pair[used], k), return_inverse=True)
    first, second = place.reshape(2, -1)
    return _Discordant(first, second, gap[used], both[used])


def _chi_squared(value: float, df: int, level: float) -> Estimate:
    from scipy.special import chdtrc

    p = float(chdtrc(df, value)) if df else 1.0
    return Estimate(value, level=level, expected=float(df), p=p)


def _margin_covariance(c: _Discordant) -> tuple[Any, Ints]:
    """The covariance of the margins, and all categories but the first of each linked group."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components, laplacian

    at = np.r_[c.first, c.second], np.r_[c.second, c.first]
    links = coo_array((np.r_[c.both, c.both], at)).tocsr()
    _, group = connected_components(links, directed=False)
    _, lowest = np.unique(group, return_index=True)
    return laplacian(links).tocsr(), np.delete(np.arange(len(group)), lowest)


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
