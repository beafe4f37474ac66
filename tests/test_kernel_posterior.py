"""The parts of kernel posteriors against loops, scipy and scikit-learn."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import log_loss

from scorewise.models import KernelDensityForest
from scorewise.models.forest_kernel import class_sums, indicator, smoothed, tune
from scorewise.models.kernel_density import (
    Neighbourhood,
    background,
    background_share,
    log_density,
    mix_with_prior,
    nearest,
)


@pytest.mark.parametrize("exponent", [0.25, 0.3, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.5])
def test_class_sums_are_those_of_powers(exponent):
    rng = np.random.default_rng(0)
    w = rng.random((5, 8)) * (rng.random((5, 8)) < 0.6)
    w[2] = 0
    y = rng.integers(0, 3, 8)
    sums = class_sums(sparse.csr_array(w), sparse.csr_array(np.eye(3)[y]), exponent)
    for row, got in zip(w, sums, strict=True):
        expected = np.array([(row[(y == c) & (row > 0)] ** exponent).sum() for c in range(3)])
        np.testing.assert_allclose(got, expected / max(expected.sum(), 1e-300))


def test_the_mixture_is_the_posterior_of_densities_over_a_background():
    rng = np.random.default_rng(0)
    q = rng.dirichlet([1, 2, 3], 6)
    prior = np.array([0.5, 0.3, 0.2])
    density, b = rng.random(6), 0.2
    direct = q * density[:, None] + prior * b
    direct /= direct.sum(axis=1, keepdims=True)
    near = np.column_stack([np.log(density), np.zeros(6)])
    np.testing.assert_allclose(
        mix_with_prior(q, prior, background_share(near, np.log([b, 1e-9]))), direct
    )
    deep = mix_with_prior(
        q, prior, background_share(np.full((6, 2), -1e6), np.full(2, -50.0))
    )  # where densities underflow
    np.testing.assert_allclose(deep, np.tile(prior, (6, 1)))


def _told(rng, n=300):
    """Shares of two exponents, of which 2 tells the truth."""
    q = {k: rng.dirichlet([k, 1], n) for k in (1.0, 2.0)}
    return q, (rng.random(n) < 0.05 + 0.9 * q[2.0][:, 1]).astype(int)


def test_tuning_finds_the_least_log_loss_of_a_fine_grid():
    rng = np.random.default_rng(0)
    prior = np.array([0.6, 0.4])
    q, y = _told(rng)
    weight = rng.random(300) + 0.5
    found = tune(q, y, prior, weight, smoothings=(0.01, 0.1))
    grid = [
        (log_loss(y, smoothed(q[k], prior, a, s), sample_weight=weight), k, a, s)
        for k in q
        for a in (0.01, 0.1)
        for s in np.geomspace(0.125, 8, 400)
    ]
    best = min(grid)
    assert (found.exponent, found.smoothing) == best[1:3]
    assert found.loss == pytest.approx(best[0], abs=1e-5)
    assert found.sharpness == pytest.approx(best[3], rel=0.02)


def test_another_exponent_than_the_forests_must_be_worth_a_standard_error():
    rng = np.random.default_rng(0)
    prior = np.array([0.6, 0.4])
    q, y = _told(rng)
    worse = q[2.0] * 0.85 + 0.15 * rng.dirichlet([1, 1], 300)
    for other in (0.5, 3.0):
        alone = {k: tune({k: s}, y, prior) for k, s in {other: q[2.0], 1.0: worse}.items()}
        gap = alone[1.0].losses - alone[other].losses
        assert 0 < gap.mean() < gap.std() / np.sqrt(300)
        assert tune({other: q[2.0], 1.0: worse}, y, prior).exponent == 1.0
        assert tune({other: q[2.0], 1.0: q[1.0]}, y, prior).exponent == other


def test_a_temperature_keeps_the_order_of_the_classes_and_the_prior_of_rows_that_know_nothing():
    q = np.array([[0.5, 0.3, 0.2], [0.0, 0.0, 0.0]])
    prior = np.array([0.1, 0.2, 0.7])
    for sharpness in (0.2, 1.0, 5.0):
        p = smoothed(q, prior, 0.01, sharpness)
        assert p[0].argmax() == 0
        np.testing.assert_allclose(p[1], prior)


@pytest.mark.parametrize("classes", [2, 8, 9, 30])
def test_sums_over_few_or_many_classes_are_those_of_a_loop(classes):
    rng = np.random.default_rng(classes)
    codes = rng.integers(0, classes, 50)
    w = sparse.csr_array(rng.random((7, 50)) * (rng.random((7, 50)) < 0.3))
    sums = class_sums(w, indicator(codes, classes), 2.0)
    for row, found in zip(w.toarray(), sums, strict=True):
        own = [sum(row[i] ** 2 for i in range(50) if codes[i] == k) for k in range(classes)]
        np.testing.assert_allclose(found, np.array(own) / sum(own))


def test_the_nearest_are_those_of_a_sort():
    rng = np.random.default_rng(0)
    w = sparse.csr_array(rng.random((30, 50)) * (rng.random((30, 50)) < 0.3))
    places, values = nearest(w, 4)
    np.testing.assert_allclose(np.sort(values), np.sort(w.toarray())[:, -4:])
    np.testing.assert_allclose(w.toarray()[np.arange(30)[:, None], places], values)
    few, none = nearest(sparse.csr_array((2, 3)), 4)
    assert few.shape == (2, 4)
    assert (none == 0).all()


def test_of_equally_near_rows_the_same_are_taken_whatever_else_is_asked():
    rng = np.random.default_rng(0)
    w = sparse.csr_array(rng.integers(0, 3, (40, 60)) / 4 * (rng.random((40, 60)) < 0.5))
    places, _ = nearest(w, 5)
    for row in range(40):
        alone = nearest(w[[row]], 5)
        assert set(alone[0][0]) == set(places[row])
        best = np.lexsort((np.arange(60), -w.toarray()[row]))[:5]
        assert set(best) == set(places[row])


def test_the_density_is_that_of_student_kernels():
    from scipy import stats

    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3)) * [1, 10, 1e6] + [0, 5, -1e6]
    places, weights = rng.integers(0, 60, (4, 12)), rng.random((4, 12))
    x = rng.normal(size=(4, 3)) * [1, 10, 1e6]
    got, gap = Neighbourhood.of(rows, floor=0.0).nearness(x, places, weights).T
    for a in range(4):
        apart = np.abs(rows[places[a]] - x[a]).min(axis=0) / rows.std(axis=0)
        assert gap[a] == pytest.approx(-(30 * np.log1p(apart.max() ** 2 / 59)))
        mean = np.average(rows[places[a]], axis=0, weights=weights[a])
        variance = np.average((rows[places[a]] - mean) ** 2, axis=0, weights=weights[a])
        expected = stats.t.logpdf(x[a], 59, mean, np.sqrt(variance)).sum()
        assert got[a] == pytest.approx(expected, rel=1e-6)


def test_neighbours_without_weight_have_no_part_in_the_gap():
    rows = np.array([[0.0, 0.0], [1.0, np.nan], [5.0, 5.0]])
    near = Neighbourhood.of(rows)
    spread = np.sqrt([np.var([0, 1, 5]), np.var([0, 5])])
    x = np.array([[5.0, 5.0], [np.nan, 5.0], [3.0, 2.0]])
    places, weights = np.array([[0, 1, 2]] * 3), np.array([[1.0, 1.0, 0.0]] * 3)
    gap = near.nearness(x, places, weights)[:, 1]
    expected = np.array([max(4 / spread[0], 5 / spread[1]), 5 / spread[1], 2 / spread[0]])
    freedom = np.array([1, 1, 2])  # the second column has two values, the first three
    np.testing.assert_allclose(gap, -(freedom + 1) / 2 * np.log1p(expected**2 / freedom))
    none = near.nearness(x, places, 0 * weights)
    assert np.isfinite(none).all()
    assert (none[:, 1] == 0).all()


def test_blocks_of_rows_change_nothing(monkeypatch):
    from scorewise.models import kernel_density

    rng = np.random.default_rng(0)
    near = Neighbourhood.of(rng.normal(size=(30, 4)))
    asked = rng.normal(size=(9, 4)), rng.integers(0, 30, (9, 5)), rng.random((9, 5))
    whole = near.nearness(*asked)
    monkeypatch.setattr(kernel_density, "_AT_ONCE", 45)
    np.testing.assert_array_equal(near.nearness(*asked), whole)


def test_the_background_lies_below_almost_all_rows():
    d = np.random.default_rng(0).normal(size=10_000)
    narrow, wide = background(np.column_stack([d, 100 * d]))
    assert narrow == pytest.approx(-2.576 - 5, abs=0.15)
    assert wide == pytest.approx(-2 * 257.6, abs=25)
    many = np.where(d > 0, 3.0, 1.0)  # rows above 0 stand for three
    heavy = np.repeat(d, many.astype(int))
    pair = np.column_stack([d, d])
    expected = background(np.column_stack([heavy, heavy]))
    np.testing.assert_allclose(background(pair, many), expected)


def test_one_far_feature_makes_a_row_new_whatever_the_density():
    b = np.array([-30.0, -8.0])
    near = np.array([[-10.0, -1.0], [-10.0, -50.0], [-90.0, -1.0]])
    assert (background_share(near, b) > 0.5).tolist() == [False, True, True]
    assert (log_density(near, b) < -30).tolist() == [False, True, True]
    assert log_density(near, b)[0] == pytest.approx(-23)


def test_the_prior_counts_weights():
    x, y = np.random.default_rng(0).normal(size=(90, 2)), np.repeat([0, 1, 2], 30)
    weight = np.where(np.arange(90) % 3, 1.0, 2.0)  # the rows of a class weigh 40
    forest = ExtraTreesClassifier(5, class_weight={0: 3, 1: 1, 2: 0})
    prior = KernelDensityForest(forest, random_state=0).fit(x, y, sample_weight=weight).prior_
    np.testing.assert_allclose(prior, [0.75, 0.25, 0], atol=1e-9)
    assert prior[2] > 0
