"""Recalibration of extreme scores and weights: a finite map that can be saved, or a sentence."""

import numpy as np
import pytest

import scorewise as sw
from scorewise.recalibrating import METHODS

RNG = np.random.default_rng(0)
P = RNG.random(600)
Y = (RNG.random(600) < P).astype(int)
ANY_SCORE = [m.name for m in METHODS.values() if "score" in m.kinds]


@pytest.mark.parametrize("method", ANY_SCORE)
@pytest.mark.parametrize("unit", [1e-300, 1e-155, 1e90])
def test_scores_of_any_unit_give_the_same_map(method, unit, tmp_path):
    plain = sw.Recalibrator(method, kind="score").fit(P - 0.5, Y)
    r = sw.Recalibrator(method, kind="score").fit((P - 0.5) * unit, Y)
    q = r.transform((P - 0.5) * unit)
    np.testing.assert_allclose(q, plain.transform(P - 0.5), rtol=1e-6, atol=1e-9)
    r.save(tmp_path / "map.json")
    again = sw.Recalibrator.load(tmp_path / "map.json")
    np.testing.assert_array_equal(again.transform((P - 0.5) * unit), q)


@pytest.mark.parametrize("kind", ["score", "logit"])
@pytest.mark.parametrize("method", ["auto", *ANY_SCORE])
def test_scores_beyond_what_can_be_cubed_are_refused(method, kind):
    with pytest.raises(sw.BadInput, match=r"reaches 5e\+154.*divide all scores"):
        sw.Recalibrator(method, kind=kind).fit((P - 0.5) * 1e155, Y)


def test_far_scores_get_the_ends_of_the_map():
    r = sw.Recalibrator("quadratic", kind="score").fit(P, Y)
    np.testing.assert_array_equal(r.transform([-1e155, 1e155]), [0.0, 1.0])


@pytest.mark.parametrize("method", ["auto", *METHODS])
def test_weights_far_apart_give_a_finite_map_or_a_sentence(method):
    for seed in (6, 9, 14):
        rng = np.random.default_rng(seed)
        p, y = P[:100].round(2), Y[:100]
        for w in (
            10.0 ** rng.choice([-80, 0, 80], 100),
            10.0 ** rng.uniform(-120, 120, 100),
            np.where(y == 1, 1e80, 1e-80),
        ):
            try:
                q = sw.Recalibrator(method).fit(p, y, sample_weight=w).transform(p)
            except sw.BadInput as e:
                assert "no map can be learned: " in str(e)  # noqa: PT017
            else:
                assert np.isfinite(q).all()


def test_a_class_of_next_to_no_weight_is_refused():
    with pytest.raises(sw.BadInput, match=r"a class has .* of the weight, below 1e-12"):
        sw.Recalibrator("platt").fit(P, Y, sample_weight=np.where(Y == 1, 1e80, 1e-80))


def test_a_matrix_of_many_classes_by_short_products_is_the_likeliest():
    """The steps of conjugate gradients have 32 bits; where they end, the gradient is 0."""
    rng = np.random.default_rng(1)
    n, k = 600, 40
    y = rng.integers(0, k, n)
    z = 2 * rng.normal(size=(n, k))
    z[np.arange(n), y] += 3
    r = sw.Recalibrator("dirichlet", kind="logit").fit(z, y)
    x = z - np.log(np.exp(z).sum(1, keepdims=True))
    found = r.map_.parameters
    weights, intercepts = (np.asarray(found[name]) for name in ("weights", "intercepts"))
    q = np.exp(x @ weights.T + intercepts)
    q /= q.sum(1, keepdims=True)
    residual = q - np.eye(k)[y]
    strength = r.map_.strength
    slopes = residual.T @ x + strength * k * np.where(np.eye(k), 0, weights)
    slopes[np.diag_indices(k)] += np.diag(weights) - 1
    assert np.abs(slopes).max() < 1e-4
    assert np.abs(residual.sum(0) + strength * intercepts).max() < 1e-5
