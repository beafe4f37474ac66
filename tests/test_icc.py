"""Intraclass correlations against pingouin, scipy's analysis of variance, and published values."""

import math
import warnings

import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy import stats

import scorewise as sw
from scorewise import Ratings, measures

NAMES = {
    "ICC(1,1)": "icc_1_1",
    "ICC(A,1)": "icc_2_1",
    "ICC(C,1)": "icc_3_1",
    "ICC(1,k)": "icc_1_k",
    "ICC(A,k)": "icc_2_k",
    "ICC(C,k)": "icc_3_k",
}
SHROUT_FLEISS = {
    "a": [9, 6, 8, 7, 10, 6],
    "b": [2, 1, 4, 1, 5, 2],
    "c": [5, 3, 6, 2, 6, 4],
    "d": [8, 2, 8, 6, 9, 7],
}
pingouin.options["round.column.CI95"] = None  # else to two digits
every = pytest.mark.parametrize("name", NAMES.values())


def table(rng, missing=0.0):
    n, k = int(rng.integers(5, 30)), int(rng.integers(2, 6))
    x = rng.normal(0, rng.uniform(0.1, 2), (n, 1)) + rng.normal(0, 1, (n, k))
    x = (x + rng.normal(0, rng.uniform(0, 1), k)).round(1)
    return np.where(rng.random((n, k)) < missing, np.nan, x)


def ratings(x, **more):
    return Ratings.of({f"r{j}": x[:, j] for j in range(x.shape[1])}, scale="interval", **more)


def outside(x):
    long = pd.DataFrame(x).reset_index().melt("index", var_name="rater", value_name="rating")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pingouin.intraclass_corr(
            long, "index", "rater", "rating", nan_policy="omit"
        ).set_index("Type")


def two_way_names():
    return [n for n in NAMES.items() if "1_" not in n[1][:6]]


def test_shrout_and_fleiss_1979():
    r = Ratings.of(SHROUT_FLEISS, scale="interval")
    found = [round(getattr(measures, n)(r).value, 2) for n in NAMES.values()]
    assert found == [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]


def test_pingouin_on_many_tables():
    rng = np.random.default_rng(1)
    for _ in range(60):
        x = table(rng)
        theirs = outside(x)
        for theirs_name, name in NAMES.items():
            e = getattr(measures, name)(ratings(x), interval="published")
            row = theirs.loc[theirs_name]
            np.testing.assert_allclose(e.value, row["ICC"], rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(e.p, row["pval"], rtol=1e-6, atol=1e-12)
            _same_interval(e, row["CI95"], name)


def _same_interval(e, theirs, name):
    low, high = np.asarray(theirs, float)
    if name == "icc_2_k" and e.low == -math.inf:
        low = -math.inf  # beyond the pole of the step-up formula theirs comes back from above
    np.testing.assert_allclose([e.low, e.high], [low, high], atol=1e-8, rtol=1e-8)


def test_items_with_a_missing_rating_are_left_out():
    rng = np.random.default_rng(2)
    for _ in range(20):
        x = table(rng, missing=0.1)
        whole = ~np.isnan(x).any(1)
        if whole.sum() < 4 or whole.all():
            continue
        theirs = outside(x)
        for theirs_name, name in two_way_names():
            e = getattr(measures, name)(ratings(x), interval="published")
            np.testing.assert_allclose(e.value, theirs.loc[theirs_name, "ICC"], rtol=1e-8)
            used = (~np.isnan(x)).any(1)
            left = np.count_nonzero(used & ~whole)
            assert e.method == f"F; {left} item{'s' * int(left > 1)} left out, not rated by all"


def test_unbalanced_one_way_is_that_of_scipy():
    rng = np.random.default_rng(3)
    x = table(rng, missing=0.3)
    groups = [row[~np.isnan(row)] for row in x if (~np.isnan(row)).any()]
    f, p = stats.f_oneway(*groups)
    sizes = np.array([len(g) for g in groups])
    k = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(groups) - 1)
    e = sw.measures.icc_1_1(ratings(x))
    assert e.value == pytest.approx((f - 1) / (f + k - 1), rel=1e-10)
    assert e.p == pytest.approx(p, rel=1e-8)
    assert sw.measures.icc_1_k(ratings(x)).value == pytest.approx(1 - 1 / f, rel=1e-10)


def test_one_way_needs_no_raters():
    counts = {"1": [2, 0, 1], "2": [1, 1, 0], "3": [0, 2, 3]}
    known = Ratings.of({"a": [1, 2, 1], "b": [1, 3, 3], "c": [2, 3, 3], "d": [None, None, 3]},
        scale="interval")  # fmt: skip
    unknown = Ratings.of_counts(counts, scale="interval")
    assert measures.icc_1_1(unknown).value == pytest.approx(measures.icc_1_1(known).value)
    e = measures.icc_2_1(unknown)
    assert e.why == "it is not known which rater gave which rating"


@every
def test_weights_and_counts(name):
    x = table(np.random.default_rng(4))
    measured = getattr(measures, name)
    times = np.random.default_rng(5).integers(1, 4, len(x))
    repeated, counted = measured(ratings(x.repeat(times, 0))), measured(ratings(x, count=times))
    scaled = [measured(ratings(x, weight=c * times)) for c in (1.0, 1e-100, 1e100)]
    for key in ("value", "low", "high", "p"):
        assert getattr(counted, key) == pytest.approx(getattr(repeated, key), rel=1e-9)
        for e in scaled[1:]:
            assert getattr(e, key) == pytest.approx(getattr(scaled[0], key), rel=1e-9)
    assert measured(ratings(x * 1e200 + 0)).value == pytest.approx(measured(ratings(x)).value)


@every
@pytest.mark.parametrize(
    ("columns", "scale", "why"),
    [
        ({"a": [1, 2], "b": [1, 2]}, "nominal", "the scale is nominal"),
        ({"a": [3, 3], "b": [3, 3]}, "interval", "all ratings are the same"),
        ({"a": [3], "b": [4]}, "interval", "one item"),
        ({"a": [None, None], "b": [None, None]}, "interval", "no items"),
    ],
)
def test_undefined_says_why(name, columns, scale, why):
    e = getattr(measures, name)(Ratings.of(columns, scale=scale))
    assert not e.defined
    assert why in e.why


def test_no_item_rated_by_all():
    r = Ratings.of({"a": [1, None, 3], "b": [None, 2, 4], "c": [2, 3, None]}, scale="interval")
    for _, name in two_way_names():
        assert getattr(measures, name)(r).why == "no item is rated by all raters"
    alone = Ratings.of({"a": [1, None, 3], "b": [None, 2, None]}, scale="interval")
    assert measures.icc_1_1(alone).why == "no item has two ratings"


def test_items_that_do_not_differ():
    r = Ratings.of({"a": [1, 1, 1], "b": [2, 2, 2]}, scale="interval")
    assert measures.icc_3_1(r).why == "the items do not differ"
    assert measures.icc_1_1(r).value == pytest.approx(-1)
    assert not measures.icc_1_k(r).defined
    assert measures.icc_2_1(r).value == pytest.approx(0)


@every
def test_perfect_agreement(name):
    e = getattr(measures, name)(Ratings.of({"a": [1, 2, 3], "b": [1, 2, 3]}, scale="interval"))
    assert e.value == pytest.approx(1)
    assert e.p == pytest.approx(0)
