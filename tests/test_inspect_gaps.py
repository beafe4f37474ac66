"""Gaps between scores: found where they are planted, and called stable only there."""

import re

import numpy as np
import pytest
from hypothesis import given

import scorewise as sw
from scorewise.inspection.suspects import MAX_SCORES, MIN_RATIO, ratios
from strategies import cases


def gaps(p, y=None, **options):
    y = np.arange(len(p)) % 2 if y is None else y
    return sw.inspect(y, p, top=0, positive=1, **options).gaps


def test_one_percent_apart_then_ten():
    p = [0.99, 0.98, 0.97, 0.96, 0.95, 0.85, 0.84, 0.83, 0.82, 0.81]
    best, *others = gaps(p, [1, 1, 1, 1, 0, 0, 1, 0, 0, 0])
    assert others == []
    assert (best.above, best.upto) == (0.85, 0.95)
    assert best.ratio == pytest.approx(10)
    assert best.width == pytest.approx(0.1)
    assert (best.rows, best.precision, best.recall) == (5, 0.8, 0.8)
    assert best.stability > 0.8


def test_the_page_shows_a_gap_with_few_digits():
    rng = np.random.default_rng(0)
    p = np.concatenate((rng.uniform(0, 0.4, 50), rng.uniform(0.6, 1, 50)))
    page = str(sw.inspect(np.arange(100) % 2, p, top=0, positive=1))
    best = gaps(p)[0]
    low, high = re.search(r"\((0\.\d+), (0\.\d+)\]  ", page).groups()
    assert best.above <= float(low) < float(high) <= best.upto
    assert max(len(low), len(high)) <= 6


@pytest.mark.parametrize("n", [3, 10, 100, 5000])
def test_even_spacing_has_no_gap(n):
    assert gaps(np.linspace(0, 1, n)) == []


@pytest.mark.parametrize("p", [[0.5] * 6, [0.2, 0.9, 0.2, 0.9]], ids=["one score", "two scores"])
def test_too_few_scores_for_a_gap(p):
    assert gaps(p) == []


@pytest.mark.parametrize("seed", range(5))
def test_a_planted_gap_is_stable_and_a_random_one_is_not(seed):
    p = np.random.default_rng(seed).random(200) * 0.8
    p[p > 0.5] += 0.2
    first, *others = gaps(p)
    assert first.above < 0.5 < first.upto
    assert first.upto > 0.7
    assert first.stability > 0.95
    assert all(other.stability < 0.8 for other in others)
    random = gaps(np.random.default_rng(seed).random(200))
    assert all(gap.stability < 0.8 for gap in random)


def test_saturated_scores_are_no_gaps():
    """Near 1, neighbours lie 1e-16 to 1e-4 apart: huge ratios that mean nothing."""
    p = 1 - 10.0 ** -np.linspace(4, 16, 40)
    assert gaps(np.concatenate((p, np.linspace(0, 0.99, 100)))) == []


def test_only_the_highest_scores_are_looked_at():
    p = np.concatenate((np.linspace(0.5, 1, MAX_SCORES), np.linspace(0, 0.1, 50)))
    assert gaps(p) == []
    (gap,) = gaps(p[1:])
    assert gap.above == 0.1


def test_seed_decides_the_resamples():
    p = np.random.default_rng(1).random(50)
    assert gaps(p, seed=3) == gaps(p, seed=3)
    assert [g.stability for g in gaps(p, seed=3)] != [g.stability for g in gaps(p, seed=4)]
    assert [g.above for g in gaps(p, seed=3)] == [g.above for g in gaps(p, seed=4)]


def test_ratio_is_to_the_median_of_the_nearest():
    width = np.random.default_rng(2).random(40)
    found = ratios(width, 0.3)
    for i, value in enumerate(found):
        first = min(max(i - 5, 0), 40 - 11)
        median = sorted(width[first : first + 11])[5]
        assert value == pytest.approx(width[i] / max(median, 0.3))


@given(cases(least=3, kind="probability"))
def test_gaps_tell_the_truth(case):
    found = gaps(case.s, case.y, weight=case.weight)
    w = np.ones(len(case)) if case.weight is None else case.weight
    used = w > 0
    for gap in found:
        inside = (case.s > gap.above) & (case.s < gap.upto) & used
        over = (case.s >= gap.upto) & used
        assert not inside.any()
        assert gap.ratio >= MIN_RATIO - 1e-9
        assert gap.precision == pytest.approx(w[over & case.y].sum() / w[over].sum())
        if (w * case.y).sum():
            assert gap.recall == pytest.approx(w[over & case.y].sum() / w[case.y].sum())
    assert [g.ratio for g in found] == sorted((g.ratio for g in found), reverse=True)
