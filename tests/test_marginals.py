"""Tests and indices of the margins of two raters, against statsmodels, loops and published values."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import SquareTable, mcnemar

from scorewise import Ratings, measures

ALL = "stuart_maxwell", "bowker", "bias_index", "prevalence_index"
every = pytest.mark.parametrize("name", ALL)


def tables(least, number=60, seed=0):
    rng = np.random.default_rng(seed)
    for _ in range(number):
        many = int(rng.integers(2, 6))
        yield rng.integers(least, 12, (many, many))


def test_statsmodels_on_full_tables():
    for table in tables(least=1):
        r, theirs = Ratings.of_table(table), SquareTable(table, shift_zeros=False)
        for e, t in (
            (measures.stuart_maxwell(r), theirs.homogeneity()),
            (measures.bowker(r), theirs.symmetry()),
        ):
            assert e.value == pytest.approx(t.statistic, rel=1e-9, abs=1e-12)
            assert e.p == pytest.approx(t.pvalue, rel=1e-7, abs=1e-12)
            assert e.expected == t.df


def test_unused_categories_change_nothing():
    for table in tables(least=1, number=10):
        wider = np.insert(np.insert(table, 1, 0, axis=0), 1, 0, axis=1)
        for name in ("stuart_maxwell", "bowker"):
            one, other = (getattr(measures, name)(Ratings.of_table(t)) for t in (table, wider))
            assert (one.p, one.expected) == (pytest.approx(other.p), other.expected)


def test_groups_that_nobody_mixes_up_add():
    first, second = (list(tables(least=1, number=9, seed=s))[-1] for s in (1, 2))
    many = len(first) + len(second)
    joined = np.zeros((many, many), int)
    joined[: len(first), : len(first)], joined[len(first) :, len(first) :] = first, second
    for name in ("stuart_maxwell", "bowker"):
        measured = getattr(measures, name)
        parts = [measured(Ratings.of_table(t)) for t in (first, second)]
        whole = measured(Ratings.of_table(joined))
        assert whole.value == pytest.approx(sum(e.value for e in parts))
        assert whole.expected == sum(e.expected for e in parts)


def test_two_categories_are_mcnemar():
    table = [[25, 35], [5, 35]]
    t = mcnemar(table, exact=False, correction=False)
    for name in ("stuart_maxwell", "bowker"):
        e = getattr(measures, name)(Ratings.of_table(table))
        assert (e.value, e.p) == (pytest.approx(t.statistic), pytest.approx(t.pvalue))


def test_tests_hold_their_level():
    rng = np.random.default_rng(3)
    shares = np.array([[0.3, 0.05, 0.05], [0.05, 0.3, 0.05], [0.05, 0.05, 0.1]])
    drawn = rng.multinomial(200, shares.ravel(), 400).reshape(-1, 3, 3)
    for name in ("stuart_maxwell", "bowker"):
        p = [getattr(measures, name)(Ratings.of_table(t)).p for t in drawn]
        assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_byrt_bishop_and_carlin():
    r = Ratings.of_table([[80, 10], [5, 5]])
    assert measures.prevalence_index(r).value == pytest.approx(0.75)
    assert measures.bias_index(r).value == pytest.approx(0.05)
    assert measures.bias_index(r).expected == 0


@pytest.mark.parametrize("shares", [(0.45, 0.15, 0.05, 0.35), (0.85, 0.02, 0.06, 0.07)])
@pytest.mark.parametrize("n", [20, 100])
def test_indices_are_covered(shares, n):
    rng = np.random.default_rng(4)
    for name, truth in (
        ("bias_index", shares[1] - shares[2]),
        ("prevalence_index", shares[0] - shares[3]),
    ):
        measured = getattr(measures, name)
        drawn = rng.multinomial(n, shares, 1000).reshape(-1, 2, 2)
        found = [measured(Ratings.of_table(t)) for t in drawn]
        held = np.mean([e.low <= truth <= e.high for e in found])
        assert 0.925 < held < (0.99 if n > 20 else 1.01)  # few items: on the safe side


@every
def test_weights_and_counts(name):
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 2, (2, 40))
    times = rng.integers(1, 4, 40)
    measured = getattr(measures, name)
    both = {"a": a, "b": b}
    repeated = measured(Ratings.of({"a": a.repeat(times), "b": b.repeat(times)}))
    counted = measured(Ratings.of(both, count=times))
    equal = [measured(Ratings.of(both, weight=np.full(40, c))) for c in (1.0, 1e-100, 1e100)]
    plain = measured(Ratings.of(both))
    for key in ("value", "low", "high", "p"):
        of = [getattr(e, key) for e in (repeated, counted, plain, *equal)]
        if of[0] is None:
            continue
        assert of[1] == pytest.approx(of[0], nan_ok=True)
        assert of[3:] == pytest.approx([of[2]] * 3, nan_ok=True)


def test_weighted_variance_is_that_of_repeated_weighting():
    """The sum of signed weights over the root of their squares is standard normal if nothing differs."""
    rng = np.random.default_rng(6)
    z = []
    for _ in range(500):
        a, b = rng.integers(0, 2, (2, 60))
        e = measures.bowker(Ratings.of({"a": a, "b": b}, weight=rng.exponential(1, 60)))
        z.append(e.p)
    assert stats.kstest(z, "uniform").pvalue > 1e-3


@every
@pytest.mark.parametrize(
    ("r", "why"),
    [
        (Ratings.of({"a": [1, 2], "b": [1, 2], "c": [1, 2]}), "there are 3 raters; this is of two"),
        (Ratings.of_counts({"no": [1, 2], "yes": [1, 0]}), "it is not known which rater"),
        (Ratings.of({"a": [None, 1], "b": [2, None]}), "no item is rated by both"),
        (Ratings.of({"a": [None], "b": [None]}), "no items"),
    ],
)
def test_undefined_says_why(name, r, why):
    e = getattr(measures, name)(r)
    assert math.isnan(e.value)
    assert why in e.why


def test_no_disagreement_and_other_categories():
    agree = Ratings.of({"a": [1, 2, 3], "b": [1, 2, 3]})
    for name in ("stuart_maxwell", "bowker"):
        e = getattr(measures, name)(agree)
        assert (e.value, e.p) == (0, 1)
    for name in ("bias_index", "prevalence_index"):
        assert getattr(measures, name)(agree).why == "there are 3 categories; this is of two"
        one = Ratings.of({"a": [1, 1], "b": [1, 1]})
        assert getattr(measures, name)(one).why == "there is one category; this is of two"
    many = Ratings.of({"a": np.arange(5000), "b": np.arange(5000)})
    assert measures.bowker(many).why == "more than 4,096 categories"
