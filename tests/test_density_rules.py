"""Bandwidths against other packages, their definitions over all pairs, and known densities."""

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.nonparametric.kde import KDEUnivariate

import scorewise as sw
from density_cases import normals, two_peaks, two_peaks_pdf


@pytest.mark.parametrize("draw", [normals, two_peaks])
def test_isj_is_that_of_kdepy(draw):
    from KDEpy.bw_selection import improved_sheather_jones

    x = draw(5000)
    reach = max(6.0, 0.5 * np.ptp(x))
    # KDEpy finds t on a mesh that reaches beyond the values and scales it by the values alone
    theirs = improved_sheather_jones(x[:, None]) * (np.ptp(x) + 2 * reach) / np.ptp(x)
    assert sw.density(x).bandwidth == pytest.approx(theirs, rel=0.03)


def test_isj_is_near_the_best_bandwidth_of_a_normal_density():
    found = np.mean([sw.density(normals(50_000, seed)).bandwidth for seed in range(10)])
    best = (4 / 3 / 50_000) ** 0.2 * 2.0
    assert found == pytest.approx(best, rel=0.03)


def test_rules_of_thumb_are_those_of_other_packages():
    x = normals(500)
    fit = KDEUnivariate(x)
    fit.fit(bw="silverman")
    # quartiles between values, and 1.349 for 1.34, make statsmodels differ a little
    assert sw.density(x, bandwidth="silverman").bandwidth == pytest.approx(fit.bw, rel=0.02)
    by_hand = 0.9 * min(x.std(), stats.iqr(x, interpolation="inverted_cdf") / 1.34) * 500**-0.2
    assert sw.density(x, bandwidth="silverman").bandwidth == pytest.approx(by_hand)
    scott = stats.gaussian_kde(x, "silverman").factor * x.std()  # scipy's name for it
    assert sw.density(x, bandwidth="scott").bandwidth == pytest.approx(scott)


def left_out(x, h):
    """Least-squares cross-validation by its definition, over all pairs."""
    n = len(x)
    apart = x[:, None] - x
    square = stats.norm.pdf(apart, scale=math.sqrt(2) * h).mean()
    others = stats.norm.pdf(apart, scale=h)
    np.fill_diagonal(others, 0)
    return square - 2 * others.sum() / (n * (n - 1))


@pytest.mark.parametrize("draw", [normals, two_peaks])
@pytest.mark.parametrize("seed", range(3))
def test_cross_validation_minimises_its_loss(draw, seed):
    x = draw(400, seed)
    found = sw.density(x, bandwidth="cv")
    assert (found.rule, found.cautions) == ("cv", ())
    tried = found.bandwidth * np.exp(np.linspace(-2.5, 0.7, 60))
    assert left_out(x, found.bandwidth) <= min(left_out(x, h) for h in tried) + 1e-7


def test_cross_validation_on_a_support_leaves_out_the_mirrored_value_too():
    x = np.random.default_rng(0).beta(1, 3, 300)

    def loss(h):
        at = np.linspace(0, 1, 2001)
        square = np.trapezoid(sw.density(x, bandwidth=h, support=(0, 1))(at) ** 2, at)
        one_by_one = [
            sw.density(np.delete(x, i), bandwidth=h, support=(0, 1), points=2)(x[i])
            for i in range(300)
        ]
        return square - 2 * np.mean(one_by_one)

    best = sw.density(x, bandwidth="cv", support=(0, 1)).bandwidth
    here = loss(best)
    assert here < loss(0.9 * best) + 1e-5
    assert here < loss(1.1 * best) + 1e-5
    assert here < min(loss(0.6 * best), loss(1.6 * best))


def test_isj_beats_silverman_on_two_peaks():
    at = np.linspace(-5, 9, 2001)
    truth = two_peaks_pdf(at)
    lost = {rule: [] for rule in ("isj", "cv", "silverman", "scott")}
    for n in (200, 1000, 5000):
        for seed in range(8):
            x = two_peaks(n, seed)
            for rule, losses in lost.items():
                losses.append(np.trapezoid((sw.density(x, bandwidth=rule)(at) - truth) ** 2, at))
    table = {rule: np.reshape(losses, (3, 8)).mean(1) for rule, losses in lost.items()}
    for rule in ("isj", "cv"):
        assert (table[rule] < table["silverman"] / 3).all()
    assert (table["isj"] <= 1.1 * table["cv"]).all()
    assert (table["silverman"] < table["scott"]).all()


def test_isj_is_no_worse_on_a_normal_density():
    at = np.linspace(-8, 10, 2001)
    truth = stats.norm.pdf(at, 1, 2)
    lost = {
        rule: np.mean(
            [
                np.trapezoid((sw.density(normals(1000, k), bandwidth=rule)(at) - truth) ** 2, at)
                for k in range(20)
            ]
        )
        for rule in ("isj", "silverman")
    }
    assert lost["isj"] < 1.2 * lost["silverman"]


@pytest.mark.parametrize("rule", ["isj", "cv", "silverman", "scott"])
@pytest.mark.parametrize("n", [300, 6000])
def test_rules_know_how_many_rows_weights_are_worth(rule, n):
    x, w = two_peaks(n), np.random.default_rng(1).uniform(0.5, 2, n)
    found = sw.density(x, weight=w, bandwidth=rule)
    assert found.rows == pytest.approx(w.sum() ** 2 / (w**2).sum())
    tenfold = sw.density(x, weight=10 * w, bandwidth=rule)
    assert tenfold.bandwidth == pytest.approx(found.bandwidth, rel=1e-6)
    equal = sw.density(x, weight=np.full(n, 3.0), bandwidth=rule)
    plain = sw.density(x, bandwidth=rule)
    assert equal.bandwidth == pytest.approx(plain.bandwidth, rel=1e-6)
    shuffled = sw.density(np.random.default_rng(2).permutation(x), bandwidth=rule)
    assert shuffled.bandwidth == pytest.approx(plain.bandwidth, rel=1e-6)
    scaled = sw.density(1000 * x - 7, bandwidth=rule)
    assert scaled.bandwidth == pytest.approx(1000 * plain.bandwidth, rel=1e-4)


def test_a_value_far_away_does_not_blur_the_rest():
    x = np.append(normals(20_000), 5000.0)
    found, without = sw.density(x), sw.density(x[:-1])
    assert found.bandwidth == pytest.approx(without.bandwidth, rel=0.05)
    assert found(1.0) == pytest.approx(without(1.0), rel=0.02)


def test_rules_that_find_nothing_say_so():
    found = sw.density([0.0, 1.0], bandwidth="cv")
    assert found.rule == "silverman"
    assert "no bandwidth by the rule cv" in found.cautions[0]


@pytest.mark.parametrize("n", [2, 3, 5, 10, 30])
def test_small_samples_have_a_density(n):
    for rule in ("isj", "cv", "scott", "silverman"):
        found = sw.density(normals(n), bandwidth=rule)
        assert np.trapezoid(found.y, found.x) == pytest.approx(1, abs=1e-5)
