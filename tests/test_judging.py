"""Posteriors are judged as other packages judge them."""

import doctest
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")
sys.path.insert(0, str(Path(__file__).parents[1]))

from experiments import judging
from experiments.judging import ece, ece_by_chance, judged


def test_ece_is_that_of_other_packages():
    torch = pytest.importorskip("torch")
    theirs = pytest.importorskip("torchmetrics.functional.classification")
    netcal = pytest.importorskip("netcal.metrics")
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(4) / 2, 500)
    y = rng.integers(0, 4, 500)
    both = torch.from_numpy(p), torch.from_numpy(y)
    expected = theirs.multiclass_calibration_error(*both, num_classes=4, n_bins=15, norm="l1")
    assert ece(p, y) == pytest.approx(float(expected), abs=1e-6)
    assert ece(p, y) == pytest.approx(netcal.ECE(15).measure(p, y), abs=1e-9)


def test_measures_are_those_of_scikit_learn():
    from sklearn import metrics

    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    found = judged(p, y)
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, p))
    assert found["error"] == pytest.approx(1 - metrics.accuracy_score(y, p.argmax(axis=1)))
    assert found["brier"] == pytest.approx(3 * metrics.mean_squared_error(np.eye(3)[y], p))


def test_posteriors_of_0_cost_what_the_floor_lets_them():
    from sklearn import metrics

    rng = np.random.default_rng(0)
    p, y = rng.dirichlet(np.ones(3), 200), rng.integers(0, 3, 200)
    p[:4] = np.eye(3)[(y[:4] + 1) % 3]  # sure of another class
    p[4:9] = np.eye(3)[y[4:9]]  # zeros that cost nothing
    found = judged(p, y)
    floor = np.where(p < 0.001, 0.001, p)
    assert found["log_loss_floor"] == pytest.approx(
        metrics.log_loss(y, floor / floor.sum(axis=1, keepdims=True))
    )
    assert (found["zeros"], found["rows"]) == (4, 200)
    less = 4 * (-np.log(1e-15) + np.log(0.001)) / 200
    assert found["log_loss"] - found["log_loss_floor"] == pytest.approx(less, abs=0.005)
    assert judging.held(p).min() >= 0.001 / 1.002
    assert doctest.testmod(judging) == (0, 1)


def test_ece_by_chance_is_that_of_labels_drawn_from_the_posterior():
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(3), 300)
    drawn = [ece(p, [rng.choice(3, p=row) for row in p]) for _ in range(60)]
    error = np.std(drawn) / np.sqrt(60)
    assert ece_by_chance(p) == pytest.approx(np.mean(drawn), abs=4 * error)
