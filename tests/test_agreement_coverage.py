"""Intervals of agreement contain the truth as often as they say, and agree with their tests."""

import math
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln
from statsmodels.stats.proportion import proportion_confint

import scorewise as sw
from rater_cases import rater_case
from scorewise import Ratings
from scorewise.inference.agreement import coefficient
from scorewise.registry import RATER_MEASURES

m = sw.measures
Z = 1.959963984540054
SHARES = ("percent_agreement", "brennan_prediger")
TWO = (*SHARES, "gwet_ac", "cohen_kappa", "scott_pi", "krippendorff_alpha")
MANY = ("gwet_ac", "fleiss_kappa", "conger_kappa", "light_kappa", "krippendorff_alpha")
TESTED = (*MANY[1:], "cohen_kappa", "scott_pi")


# two raters of two categories: every table that may well occur, with its probability


@cache
def tables(n):
    every = [t for t in product(range(n + 1), repeat=3) if sum(t) <= n]
    return np.array([(*t, n - sum(t)) for t in every])


@cache
def ends(name, cells):
    e = RATER_MEASURES[name](Ratings.of_table(np.reshape(cells, (2, 2)), categories=[1, 0]))
    return e.low, e.high


def exact_coverage(name, n, prevalence, right):
    """The probability of an interval with the truth in it, where both raters are right as often."""
    wrong = 1 - right
    shares = np.array([
        prevalence * right**2 + (1 - prevalence) * wrong**2, right * wrong, right * wrong,
        prevalence * wrong**2 + (1 - prevalence) * right**2,
    ])  # fmt: skip
    t = tables(n)
    p = np.exp(gammaln(n + 1) - gammaln(t + 1).sum(1) + (t * np.log(shares)).sum(1))
    t, p = t[p > 1e-5], p[p > 1e-5]
    low, high = np.array([ends(name, tuple(map(int, cells))) for cells in t]).T
    large = Ratings.of_table((shares.reshape(2, 2) * 1e9).round().astype(int), categories=[1, 0])
    truth = RATER_MEASURES[name](large).value
    there = ~np.isnan(low)
    return float(p[there & (low <= truth) & (truth <= high)].sum() / p[there].sum())


@pytest.mark.parametrize("name", TWO)
def test_two_raters_with_a_rare_category(name):
    found = [
        exact_coverage(name, 30, *x) for x in ((0.9, 0.95), (0.9, 0.9), (0.9, 0.85), (0.5, 0.9))
    ]
    assert min(found) > 0.93, found
    assert max(found) < 0.98, found


@pytest.mark.parametrize("name", TWO)
def test_two_raters_who_nearly_always_agree(name):
    found = [exact_coverage(name, 30, *x) for x in ((0.9, 0.97), (0.5, 0.98), (0.5, 0.99))]
    assert min(found) > 0.93, found
    assert max(found) < 0.985, found


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_shares_of_two_raters_have_wilsons_interval(level):
    for cells in ([[20, 5], [10, 15]], [[45, 2], [1, 2]], [[30, 0], [0, 20]], [[0, 3], [2, 0]]):
        r = Ratings.of_table(cells)
        same, n = int(np.trace(cells)), int(np.sum(cells))
        known = np.array(proportion_confint(same, n, alpha=1 - level, method="wilson"))
        e, carried = (RATER_MEASURES[name](r, level=level) for name in SHARES)
        assert (e.low, e.high) == pytest.approx(tuple(known), abs=1e-12)
        assert (carried.low, carried.high) == pytest.approx(tuple(2 * known - 1), abs=1e-12)
        assert e.method == carried.method == "Wilson"


def test_the_ends_are_z_errors_away_by_the_error_at_the_end():
    """Of equal margins, which are held (Lee and Tu 1994); the upper end allows for skewness."""
    n, p = 60, 0.6
    e = m.cohen_kappa(Ratings.of_table([[30, 6], [6, 18]]))
    skewed = (Z**2 - 1) / 6 / n / (2 * p * (1 - p))
    for end, moved in ((e.low, 0.0), (e.high, skewed)):
        same = p * p + end * p * (1 - p)
        cells = n * np.array([[same, p - same], [p - same, 1 - 2 * p + same]])
        there = coefficient(Ratings.of_table(cells), "cohen_kappa")
        assert there.value == pytest.approx(end)
        assert abs(end - e.value) - moved == pytest.approx(Z * there.se)


# more raters, more categories, gaps and weights


def held(draw, name, n, runs, seed=0, **options):
    """The share of simulated intervals with the truth in it, which is that of 200,000 items."""
    rng = np.random.default_rng(seed)

    def estimate(n, **more):
        x = draw(rng, n)
        columns = {f"r{k}": x[:, k] for k in range(x.shape[1])}
        return RATER_MEASURES[name](Ratings.of(columns, **options), **more)

    truth = estimate(200_000).value
    found = [e for e in (estimate(n) for _ in range(runs)) if e.defined]
    return np.mean([e.low <= truth <= e.high for e in found])


def right(share, prevalence, raters):
    """Raters who name the true category of so many items, else the other."""

    def draw(rng, n):
        truth = rng.random((n, 1)) < prevalence
        return np.where(rng.random((n, raters)) < share, truth, ~truth).astype(int)

    return draw


def knowing(share, prevalence, raters):
    """Raters who all know so many items, and guess the others each for themselves."""

    def draw(rng, n):
        said = rng.random((n, raters)) < prevalence
        return np.where(rng.random((n, 1)) < share, said[:, :1], said).astype(int)

    return draw


@pytest.mark.parametrize("name", MANY)
def test_five_raters_of_a_rare_category(name):
    assert 0.92 < held(knowing(0.6, 0.05, 5), name, 60, 400, categories=[0, 1]) < 0.995


@pytest.mark.parametrize("name", MANY)
def test_four_raters_of_twenty_items(name):
    assert 0.92 < held(right(0.85, 0.9, 4), name, 20, 400, categories=[0, 1]) < 0.995


@pytest.mark.parametrize("name", ["fleiss_kappa", "conger_kappa", "krippendorff_alpha"])
def test_several_categories_gaps_and_weights(name):
    shares = [0.8, 0.15, 0.05]

    def draw(rng, n):
        said = rng.choice(3, (n, 4), p=shares)
        said = np.where(rng.random((n, 4)) < 0.7, rng.choice(3, (n, 1), p=shares), said)
        return np.where(rng.random((n, 4)) < 0.2, np.nan, said)

    assert 0.92 < held(draw, name, 50, 400, categories=[0, 1, 2]) < 0.995


# tests and intervals agree


@pytest.mark.parametrize("name", TESTED)
@pytest.mark.parametrize("interval", ["formula", "published"])
def test_an_interval_contains_0_exactly_where_the_test_allows_it(name, interval):
    """`p` is above 1 - level exactly where the interval contains 0."""
    seen = set()
    for seed, level in product(range(60), (0.5, 0.8, 0.95, 0.99)):
        raters = 2 if name in ("cohen_kappa", "scott_pi") else 3
        r = rater_case(seed, 5 + seed % 20, raters, 2 + seed % 3, 0.1).ratings
        e = RATER_MEASURES[name](r, level=level, interval=interval)
        if not e.defined or e.p is None:
            continue
        if interval == "formula":
            assert (e.low <= 0 <= e.high) == (e.p > 1 - level), (seed, level, e, e.p)
        elif e.p > 1 - level:
            assert e.low <= 0 <= e.high
        seen.add(e.p > 1 - level)
    assert seen == {True, False}


# where it does not hold, it says so


def test_caution_where_few_items_with_weights_decide_chance():
    """Of squared distances, one item far away outweighs the others."""
    near = {"a": [1] * 30 + [2] * 8 + [9, 9], "b": [1] * 28 + [2] * 10 + [9, 8]}
    e = m.krippendorff_alpha(Ratings.of(near, scale="interval"))
    assert e.caution == "chance rests on about 2 of 40 items"
    assert not m.krippendorff_alpha(Ratings.of(near)).caution
    even = {"a": list(range(1, 11)) * 4, "b": list(range(1, 11)) * 3 + [10, *range(1, 10)]}
    assert not m.krippendorff_alpha(Ratings.of(even, scale="interval")).caution


@pytest.mark.parametrize("interval", ["bootstrap", "published"])
def test_caution_of_other_intervals_with_a_rare_category(interval):
    rare = m.cohen_kappa(Ratings.of_table([[54, 2], [2, 2]]), interval=interval)
    assert rare.caution == "about 4 of 60 items outside the commonest category"
    assert not m.cohen_kappa(Ratings.of_table([[54, 2], [2, 2]])).caution
    assert not m.cohen_kappa(Ratings.of_table([[40, 20], [20, 40]]), interval=interval).caution


def test_caution_of_the_published_interval_of_a_share():
    e = m.percent_agreement(Ratings.of_table([[30, 1], [2, 27]]), interval="published")
    assert e.caution == "raters differ on about 3 of 60 items"
    assert not m.percent_agreement(Ratings.of_table([[30, 1], [2, 27]])).caution


# judges on the same items


def judged(rng, n, prevalence, rates):
    """A truth, and judges with a sensitivity and a specificity each."""
    truth = rng.random(n) < prevalence
    said = [np.where(truth, rng.random(n) < a, rng.random(n) > b).astype(int) for a, b in rates]
    return truth.astype(int), {f"j{k}": column for k, column in enumerate(said)}


@pytest.mark.parametrize(("n", "prevalence"), [(30, 0.1), (50, 0.05)])
def test_differences_of_judges_with_a_rare_category(n, prevalence):
    rng, rates = np.random.default_rng(1), ((0.9, 0.97), (0.7, 0.9))
    large = sw.judge(*judged(rng, 500_000, prevalence, rates)).differences[0].kappa.value
    found = [sw.judge(*judged(rng, n, prevalence, rates)).differences[0].kappa for _ in range(150)]
    found = [e for e in found if e.defined and not np.isnan(e.low)]
    assert 0.9 < np.mean([e.low <= large <= e.high for e in found]) < 0.995
    assert all((e.low <= 0 <= e.high) == (e.p > 0.05) for e in found)
    assert len({e.p > 0.05 for e in found}) == 2


def test_judges_beside_humans_with_few_items():
    """Means and gaps of several kappas, whose variance depends on their values."""
    rng, rates = np.random.default_rng(2), [(0.8, 0.96)] * 3 + [(0.85, 0.95)]

    def found(n):
        _, said = judged(rng, n, 0.3, rates)
        last = said.pop("j3")
        j = sw.judge(said, {"judge": last})
        beside = j.judges["judge"].ceiling
        return j.ceiling.kappa, beside.single_gap, beside.gap

    truth = [e.value for e in found(300_000)]
    held = [
        [not (e.low > t or e.high < t) for e, t in zip(found(40), truth, strict=True)]
        for _ in range(80)
    ]
    assert np.mean(held, axis=0).min() > 0.9


def test_a_bootstrap_of_judges_says_where_it_is_unreliable():
    truth, said = judged(np.random.default_rng(3), 60, 0.1, ((0.9, 0.97), (0.7, 0.9)))
    e = sw.judge(truth, said, interval="bootstrap", replicates=200).differences[0].kappa
    assert "outside the commonest category" in e.caution
    assert not sw.judge(truth, said).differences[0].kappa.caution
    assert any(e.caution in h for h in sw.judge(
        truth, said, interval="bootstrap", replicates=200).to_dict()["hints"])  # fmt: skip


# intraclass correlations


ICC = ("icc_1_1", "icc_2_1", "icc_3_1")


def missed(draw, name, runs=300, n=20):
    """Shares of intervals of a correlation of 0.7 that miss it, that miss it silently, and cautions."""
    rng, each = np.random.default_rng(4), []
    for _ in range(runs):
        x = draw(rng, n)[:, None] + rng.normal(0, math.sqrt(3 / 7), (n, 3))
        e = RATER_MEASURES[name](Ratings.of({str(k): x[:, k] for k in range(3)}, scale="interval"))
        out = not e.low <= 0.7 <= e.high
        each.append((out, out and not e.caution, bool(e.caution)))
    return np.mean(each, axis=0)


@pytest.mark.parametrize("name", ICC)
@pytest.mark.parametrize("n", [60, 100])
def test_correlations_of_skewed_items_hold_or_say_so(name, n):
    out, silent, caution = missed(lambda rng, n: rng.exponential(1, n), name, n=n)
    assert out < 0.13
    assert silent < 0.06
    assert 0.5 < caution < 1


@pytest.mark.parametrize("name", ICC)
def test_correlations_of_normal_items_hold(name):
    out, _, caution = missed(lambda rng, n: rng.normal(0, 1, n), name, n=60)
    assert out < 0.08
    assert caution < 0.2
    assert missed(lambda rng, n: rng.normal(0, 1, n), name)[0] < 0.08


@pytest.mark.parametrize("name", ICC)
def test_correlations_of_heavy_tails_hold(name):
    out, silent, _ = missed(lambda rng, n: rng.standard_t(5, n) / math.sqrt(5 / 3), name, n=60)
    assert out < 0.1
    assert silent < 0.08


def test_few_items_do_not_show_whether_they_are_skewed():
    r = Ratings.of({"a": [1, 2, 4, 5], "b": [1, 3, 4, 4]}, scale="interval")
    assert m.icc_1_1(r).caution == "4 items are too few to show whether they are skewed"


@pytest.mark.parametrize("n", [60, 200])
def test_skewed_items_whose_tail_the_sample_lacks_have_a_caution_and_normal_ones_need_none(n):
    rng = np.random.default_rng(n)

    def sure(draw):
        found = []
        for _ in range(120):
            x = draw((n, 1)) + 0.7 * rng.normal(size=(n, 3))
            r = Ratings.of({f"r{k}": x[:, k] for k in range(3)}, scale="interval")
            found.append(not m.icc_1_1(r).caution)
        return np.mean(found)

    assert sure(lambda shape: np.exp(0.8 * rng.normal(size=shape))) < 0.005
    assert sure(lambda shape: rng.normal(size=shape)) > (0.5 if n < 100 else 0.9)


def test_a_caution_of_skewed_items():
    grades = [1, 1, 2, 1, 1, 2, 1, 1, 1, 9, 1, 2]
    r = Ratings.of({"a": grades, "b": [*grades[1:], 1]}, scale="interval")
    e = m.icc_1_1(r)
    assert e.caution.startswith("the means of 12 items are skewed (skewness ")
    assert e.method == "F; heavy tails"
    f = m.icc_1_1(r, interval="published")
    assert f.method == "F"
    assert e.low <= f.low < f.value < f.high < e.high
