"""Judges that grade, against scipy."""

import numpy as np
import pytest
from scipy.stats import binomtest, spearmanr, t

import scorewise as sw
from scorewise.show.terminal import text

FEW = {"replicates": 100}


def grades(seed, n=120, shift=0.4, top=5):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, top + 1, n)
    said = np.clip(np.round(truth + shift + rng.normal(0, 0.9, n)), 1, top).astype(int)
    return truth, said


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("scale", ["ordinal", "interval", "ratio"])
def test_grades_by_scipy(seed, scale):
    truth, said = grades(seed)
    found = sw.judge(truth, said, scale=scale, **FEW).judges["judge"].grades
    off = said - truth
    reach = t.ppf(0.975, 119) * off.std(ddof=1) / np.sqrt(120)
    assert found.difference.value == pytest.approx(off.mean())
    assert (found.difference.low, found.difference.high) == pytest.approx(
        (off.mean() - reach, off.mean() + reach)
    )
    more, less = int((off > 0).sum()), int((off < 0).sum())
    assert (found.higher, found.same, found.lower) == pytest.approx(
        (more / 120, (off == 0).mean(), less / 120)
    )
    assert found.p == pytest.approx(binomtest(more, more + less).pvalue)
    assert found.near.value == pytest.approx((abs(off) <= 1).mean())
    assert found.ranks.value == pytest.approx(spearmanr(truth, said).statistic)


def test_places_count_on_an_ordinal_scale_and_values_on_an_interval_scale():
    truth, said = [0, 10, 100, 10, 0], [10, 100, 100, 10, 0]
    places, values = (
        sw.judge(truth, said, scale=s, **FEW).judges["judge"].grades
        for s in ("ordinal", "interval")
    )
    assert places.difference.value == pytest.approx(2 / 5)
    assert values.difference.value == pytest.approx(100 / 5)
    assert (places.step, values.step) == (1, 10)
    assert (places.near.value, values.near.value) == (1.0, 0.8)


def test_words_with_an_order_have_places():
    words = ["bad", "fair", "good"]
    truth, said = ["bad", "fair", "good", "bad"], ["fair", "good", "good", "bad"]
    found = sw.judge(truth, said, scale="ordinal", categories=words, **FEW)
    assert found.judges["judge"].grades.difference.value == 0.5
    assert sw.judge(truth, said, **FEW).judges["judge"].grades is None


def test_silence_is_no_grade():
    truth, said = [1, 2, 3, 2, 1, 3], [1, 2, -1, 3, 2, 3]
    for how in ("drop", "wrong"):
        found = sw.judge(truth, said, scale="ordinal", ignore=[-1], no_answer=how, **FEW)
        g = found.judges["judge"].grades
        assert (g.items, g.difference.value) == (5, pytest.approx(2 / 5))


def test_intervals_of_rank_correlations_hold():
    held = 0
    big = [grades(s, n=40_000) for s in range(3)]
    known = np.mean([spearmanr(*pair).statistic for pair in big])
    for seed in range(300):
        e = sw.judge(*grades(seed + 10, n=60), scale="ordinal", **FEW).judges["judge"].grades.ranks
        held += e.low <= known <= e.high
    assert 0.91 < held / 300 < 0.99


def test_what_has_no_spread_says_so():
    one = sw.judge([1, 2, 3, 1, 2], [1, 1, 1, 1, 1], scale="ordinal", **FEW).judges["judge"].grades
    assert one.ranks.why == "the judge or the truth always has the same rank"
    same = sw.judge([1, 2, 3, 1, 2], [1, 2, 3, 1, 2], scale="ordinal", **FEW).judges["judge"].grades
    assert (same.ranks.value, same.difference.value, same.p) == (1.0, 0.0, 1.0)
    assert same.difference.method == "none: every difference is the same"


@pytest.mark.parametrize("scale", ["ordinal", "interval"])
def test_the_page_tells_grades(scale):
    truth, said = grades(1)
    shown = text(sw.judge(truth, {"a judge with a name": said}, scale=scale, **FEW).to_dict())
    assert "── Grades ─" in shown
    assert "rank correlation" in shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "always saying '" not in shown  # which is no rival on a scale
