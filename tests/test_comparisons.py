"""Tests of paired values and ranks of methods agree with scipy, enumerations and published examples."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats
from studies._comparisons import (
    corrected_t,
    critical_value,
    joined,
    ranking,
    shift,
    signed_rank_tail,
    spearman,
)

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


@pytest.mark.parametrize("n", range(6, 13))
def test_the_signed_rank_sum_is_that_of_all_signs(n):
    signs = np.array(list(itertools.product((0, 1), repeat=n)))
    sums = (signs * np.arange(1, n + 1)).sum(axis=1)
    every = [(sums <= t).mean() for t in range(n * (n + 1) // 2 + 1)]
    assert signed_rank_tail(n) == pytest.approx(every)


@pytest.mark.parametrize("n", range(6, 13))
def test_the_interval_covers_what_it_claims_under_all_signs(n):
    """All signs of the same sizes are as likely if the middle is 0: the share of intervals that hold it."""
    sizes = np.random.default_rng(n).permutation(n) + 1 + np.random.default_rng(n).random(n) / 9
    signs = np.array(list(itertools.product((-1, 1), repeat=n)))[:: max(1, 2**n // 512)]
    found = [shift(sizes * sign) for sign in signs]
    for s in found:
        assert (s.p < 0.05) == (s.low > 0 or s.high < 0)
    if n <= 9:  # all signs were tried
        inside = np.mean([s.low <= 0 <= s.high for s in found])
        wider = 2 * signed_rank_tail(n)
        assert inside == pytest.approx(1 - wider[wider < 0.05].max())


@pytest.mark.parametrize("n", [6, 8, 12, 16, 17, 21, 22, 26, 50, 51, 80])
def test_p_is_scipy_s_and_agrees_with_the_interval(n):
    rng = np.random.default_rng(n)
    clear = 0
    for _ in range(60):
        d = rng.normal(1.1 / math.sqrt(n / 4), 1, n)
        s = shift(d)
        if n <= 50:
            theirs = stats.wilcoxon(d, method="exact").pvalue
        else:
            theirs = stats.wilcoxon(d, method="approx", correction=False).pvalue
        assert s.p == pytest.approx(theirs)
        assert (s.p < 0.05) == (s.low > 0 or s.high < 0)
        clear += s.p < 0.05
    assert 0 < clear < 60


def test_with_ties_p_errs_on_the_side_of_doubt_and_agrees_with_the_interval():
    rng = np.random.default_rng(0)
    clear = 0
    for _ in range(300):
        d = rng.integers(-3, 7, 14).astype(float)
        s, kept = shift(d), d[d != 0]
        assert (s.p < 0.05) == (s.low > 0 or s.high < 0)
        assert (s.ties, s.count) == ((d == 0).sum(), len(kept))
        ranks = stats.rankdata(np.abs(kept))
        signs = rng.choice((0, 1), size=(2000, len(kept)))
        least = min(ranks[kept > 0].sum(), ranks[kept < 0].sum())
        drawn = min(1, 2 * ((signs * ranks).sum(axis=1) <= least).mean())
        assert s.p > drawn - 0.04
        clear += s.p < 0.05
    assert 0 < clear < 300


def test_infinite_differences_count_by_rank():
    s = shift(np.array([1.0, 2, 3, -0.5, 4, 5, 6, np.inf]))
    assert s.high == np.inf
    assert np.isfinite([s.middle, s.low]).all()
    assert shift(np.full(8, -np.inf))[:3] == (-np.inf,) * 3
    assert shift(np.array([np.inf, -np.inf] * 5)).p == 1
    many = shift(np.append(np.full(20, np.inf), [1.0, 2, -1]))
    assert many.middle == np.inf


@pytest.mark.parametrize("d", [[], [1.0], [np.nan] * 9, [0.0] * 9])
def test_there_is_no_shift_of_too_few(d):
    s = shift(np.array(d))
    assert np.isnan(s[:5]).all()
    assert s.count + s.ties + s.undefined == len(d)


def test_few_pairs_have_no_correlation_or_a_wide_one():
    for n in (0, 1):
        assert np.isnan(spearman(np.arange(n) / 1, np.arange(n) / 1)[:4]).all()
    for n in (2, 3):
        found = spearman(np.arange(n) / 1, np.arange(n) / 1)
        assert found.value == pytest.approx(1)
        assert np.isnan([found.low, found.high, found.p]).all()
    x = np.arange(20.0)
    for n in (4, 5, 6, 20):
        up, down = spearman(x[:n], x[:n]), spearman(x[:n], -x[:n])
        assert (up.low > 0) == (down.high < 0) == (up.p < 0.05) == (n > 5)
        assert (up.high, down.low) == (1, -1)
    assert np.isnan(spearman(x, np.ones(20)).value)
    held = spearman(np.append(x, np.nan), np.append(x**2, 3.0))
    assert (held.value, held.count) == (pytest.approx(1), 20)


def test_the_p_of_a_correlation_agrees_with_its_interval():
    rng = np.random.default_rng(0)
    for _ in range(200):
        x = rng.normal(size=12)
        found = spearman(x, x + 2 * rng.normal(size=12))
        assert (found.p < 0.05) == (found.low > 0 or found.high < 0)


def test_one_run_is_no_test():
    assert corrected_t(np.array([0.1]), 90, 10).mean == 0.1
    assert np.isnan(corrected_t(np.array([0.1, np.nan]), 90, 10).p)
    assert np.isnan(corrected_t(np.array([np.nan]), 90, 10)).all()


def test_the_interval_of_a_shift_is_what_wilcoxon_does_not_refuse():
    d = np.random.default_rng(0).normal(0.3, 1, 40)
    s = shift(d)
    assert s.p == pytest.approx(stats.wilcoxon(d).pvalue)
    assert s.low < s.middle < s.high
    for end, inside in ((s.low, s.low + 0.05), (s.high, s.high - 0.05)):
        assert stats.wilcoxon(d - inside).pvalue > 0.05
        assert stats.wilcoxon(d - end).pvalue == pytest.approx(0.05, abs=0.02)
    assert shift(d[:5]).high == np.inf
    assert np.isfinite(shift(d[:6]).high)
    assert shift(-d).middle == pytest.approx(-s.middle)
    assert shift(np.append(d, np.inf)).middle == pytest.approx(s.middle, abs=0.2)


def test_the_corrected_t_is_student_s_without_overlap():
    d = np.random.default_rng(0).normal(0.1, 1, 30)
    plain = stats.ttest_1samp(d, 0)
    ours = corrected_t(d, 1, 0)
    assert (ours.t, ours.p) == pytest.approx((plain.statistic, plain.pvalue))
    assert (ours.low, ours.high) == pytest.approx(tuple(plain.confidence_interval()))
    wider = corrected_t(d, 90, 10)
    assert wider.t == pytest.approx(plain.statistic / np.sqrt(1 + 30 * 10 / 90))


def test_the_corrected_t_keeps_its_level_where_student_s_does_not():
    """Two learners of the same worth, whose runs share rows: how often is there said to be a difference?"""
    rng = np.random.default_rng(0)
    said = {"plain": 0, "corrected": 0}
    for _ in range(200):
        shared = rng.normal(size=300)  # the difference of two models on each row
        runs_ = [rng.permutation(300)[:30] for _ in range(40)]
        d = np.array([shared[rows].mean() for rows in runs_])
        said["plain"] += corrected_t(d, 1, 0).p < 0.05
        said["corrected"] += corrected_t(d, 270, 30).p < 0.05
    assert said["corrected"] <= 0.08 * 200 < said["plain"]


def test_spearman_covers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    found = spearman(x, x + rng.normal(size=500))
    assert found.value == pytest.approx(stats.spearmanr(x, x).statistic * 0.69, abs=0.08)
    assert found.low < 0.69 < found.high


def test_mean_ranks_and_groups_are_those_of_the_published_example():
    found = ranking(-DEMSAR)
    assert found.mean.round(3).tolist() == [3.143, 2.0, 2.893, 1.964]
    chi = 12 * 14 / (4 * 5) * ((found.mean**2).sum() - 4 * 5**2 / 4)
    assert chi == pytest.approx(9.28, abs=0.005)  # as published, without a correction for ties
    assert chi < found.statistic < chi + 1
    assert found.critical == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=0.001)
    assert found.joined == ((3, 1, 2, 0),)  # at 5 % no two differ
    # at 10 % C4.5 is worse than the two with m, and of cf alone nothing can be said
    assert ranking(-DEMSAR, 0.9).joined == ((3, 1, 2), (2, 0))


def test_friedman_is_that_of_scipy():
    values = np.random.default_rng(0).normal(size=(15, 5)) + np.arange(5) / 2
    found, theirs = ranking(values), stats.friedmanchisquare(*values.T)
    assert (found.statistic, found.p) == pytest.approx((theirs.statistic, theirs.pvalue))


@pytest.mark.parametrize(
    ("methods", "five", "ten"),
    [(2, 1.960, 1.645), (3, 2.343, 2.052), (4, 2.569, 2.291), (5, 2.728, 2.459), (6, 2.850, 2.589),
     (7, 2.949, 2.693), (8, 3.031, 2.780), (9, 3.102, 2.855), (10, 3.164, 2.920)],
)  # fmt: skip
def test_critical_values_are_those_of_the_published_table(methods, five, ten):
    assert critical_value(methods) == pytest.approx(five, abs=0.0015)
    assert critical_value(methods, 0.9) == pytest.approx(ten, abs=0.0015)


@pytest.mark.parametrize("seed", range(20))
def test_bars_join_the_largest_groups_within_the_critical_difference(seed):
    rng = np.random.default_rng(seed)
    mean, critical = rng.integers(2, 16, 6) / 2, rng.choice([0.4, 1.0, 2.0, 9.0])
    fit = [
        set(some)
        for size in range(2, 7)
        for some in itertools.combinations(range(6), size)
        if np.ptp(mean[list(some)]) <= critical
    ]
    largest = [some for some in fit if not any(some < other for other in fit)]
    found = [set(group) for group in joined(mean, critical)]
    assert len(found) == len(largest)
    assert all(group in found for group in largest)


def test_methods_that_are_equal_everywhere_do_not_differ():
    found = ranking(np.ones((4, 3)))
    assert found.mean.tolist() == [2, 2, 2]
    assert found.p == 1
    assert len(found.joined[0]) == 3


def test_rows_without_numbers_are_left_out():
    values = np.random.default_rng(0).normal(size=(8, 4))
    holes = np.vstack([values, [1, np.nan, 2, 3]])
    found, expected = ranking(holes), ranking(values)
    assert found.mean.tolist() == expected.mean.tolist()
    assert found[1:] == expected[1:]
    none = ranking(np.full((3, 4), np.nan))
    assert np.isnan([*none.mean, none.p, none.critical]).all()
    assert none.joined == ()


def test_one_row_and_two_methods_have_ranks():
    assert ranking(np.array([[3.0, 1.0, 2.0]])).mean.tolist() == [3, 1, 2]
    two = ranking(np.array([[1.0, 2.0], [1.0, 3.0]]))
    assert two.mean.tolist() == [1, 2]
    assert np.isnan(two.p)
