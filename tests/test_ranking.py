"""Ranks of methods over data sets against Demsar's published example, scipy and all subsets."""

import doctest
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments import ranking

# Demsar 2006, table 6: AUC of C4.5, with m, with cf, with both; his ranks part the tie of the 13th set
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],
        [0.599, 0.591, 0.590, 0.569],
        [0.954, 0.971, 0.968, 0.967],
        [0.628, 0.661, 0.654, 0.657],
        [0.882, 0.888, 0.886, 0.898],
        [0.936, 0.931, 0.916, 0.931],
        [0.661, 0.668, 0.609, 0.685],
        [0.583, 0.583, 0.563, 0.625],
        [0.775, 0.838, 0.866, 0.875],
        [1.000, 1.000, 1.000, 1.000],
        [0.940, 0.962, 0.965, 0.962],
        [0.619, 0.666, 0.614, 0.669],
        [0.972, 0.981, 0.9751, 0.975],
        [0.957, 0.978, 0.946, 0.970],
    ]
)


def test_mean_ranks_and_groups_are_those_of_the_published_example():
    found = ranking.ranking(-DEMSAR)
    assert found.mean.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    chi = 12 * 14 / (4 * 5) * ((found.mean**2).sum() - 4 * 5**2 / 4)
    assert chi == pytest.approx(9.28, abs=0.005)  # as published, without a correction for ties
    assert chi < found.statistic < chi + 1
    assert found.critical == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=0.001)
    assert found.joined == ((3, 1, 2, 0),)  # at 5 % no two differ
    # at 10 % C4.5 is worse than the two with m, and of cf alone nothing can be said
    assert ranking.ranking(-DEMSAR, 0.9).joined == ((3, 1, 2), (2, 0))


def test_friedman_is_that_of_scipy():
    values = np.random.default_rng(0).normal(size=(15, 5)) + np.arange(5) / 2
    found, theirs = ranking.ranking(values), stats.friedmanchisquare(*values.T)
    assert (found.statistic, found.p) == pytest.approx((theirs.statistic, theirs.pvalue))


@pytest.mark.parametrize(
    ("methods", "five", "ten"),
    [(2, 1.960, 1.645), (3, 2.343, 2.052), (4, 2.569, 2.291), (5, 2.728, 2.459), (6, 2.850, 2.589),
     (7, 2.949, 2.693), (8, 3.031, 2.780), (9, 3.102, 2.855), (10, 3.164, 2.920)],
)  # fmt: skip
def test_critical_values_are_those_of_the_published_table(methods, five, ten):
    assert ranking.critical_value(methods) == pytest.approx(five, abs=0.0015)
    assert ranking.critical_value(methods, 0.9) == pytest.approx(ten, abs=0.0015)


@pytest.mark.parametrize("seed", range(20))
def test_bars_join_the_largest_groups_within_the_critical_difference(seed):
    rng = np.random.default_rng(seed)
    mean, critical = rng.integers(2, 16, 6) / 2, rng.choice([0.4, 1.0, 2.0, 9.0])
    fit = [
        set(some)
        for size in range(2, 7)
        for some in combinations(range(6), size)
        if np.ptp(mean[list(some)]) <= critical
    ]
    largest = [some for some in fit if not any(some < other for other in fit)]
    found = [set(group) for group in ranking.joined(mean, critical)]
    assert len(found) == len(largest)
    assert all(group in found for group in largest)


def test_methods_that_are_equal_everywhere_do_not_differ():
    found = ranking.ranking(np.ones((4, 3)))
    assert found.mean.tolist() == [2, 2, 2]
    assert found.p == 1
    assert len(found.joined[0]) == 3


def test_rows_without_numbers_are_left_out():
    values = np.random.default_rng(0).normal(size=(8, 4))
    holes = np.vstack([values, [1, np.nan, 2, 3]])
    found, expected = ranking.ranking(holes), ranking.ranking(values)
    assert found.mean.tolist() == expected.mean.tolist()
    assert found[1:] == expected[1:]
    none = ranking.ranking(np.full((3, 4), np.nan))
    assert np.isnan([*none.mean, none.p, none.critical]).all()
    assert none.joined == ()


def test_one_row_and_two_methods_have_ranks():
    assert ranking.ranking(np.array([[3.0, 1.0, 2.0]])).mean.tolist() == [3, 1, 2]
    two = ranking.ranking(np.array([[1.0, 2.0], [1.0, 3.0]]))
    assert two.mean.tolist() == [1, 2]
    assert np.isnan(two.p)


def test_examples_run():
    assert doctest.testmod(ranking) == (0, 5)
