"""The kernel density network on hard inputs: sane posteriors, or a refusal that says what to do."""

import numpy as np
import pytest
import torch
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier

import scorewise as sw
from network_cases import clouds, one_thread, quietly, small  # noqa: F401
from scorewise.models import KernelDensityNetwork, at_radius


@pytest.mark.parametrize("rows", [[0, 50], [0, 50, 100], [0, 1, 50, 51, 100], [0, 1, 2, 3, 50]])
def test_a_few_rows_are_enough(rows):
    X, y = load_iris(return_X_y=True)
    model = quietly(KernelDensityNetwork(small(), random_state=0), X[rows], y[rows])
    assert model.tuned_on_ == "nothing: too few rows to hold any out"
    p = model.predict_proba(np.vstack([X, X + 1e6]))
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(1), 1)
    np.testing.assert_allclose(p[-1], model.prior_, atol=1e-9)


def sane(model, X, radius=5):
    """Posteriors that are shares, and the prior at so many radii."""
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(1), 1)
    far = at_radius(X, radius, 20)
    np.testing.assert_allclose(model.predict_proba(far), np.tile(model.prior_, (20, 1)), atol=0.01)
    assert np.isfinite(model.novelty(X)).all()


AWKWARD = {
    "constant": lambda X: np.hstack([X, np.full((400, 1), 0.1)]),
    "constant and large": lambda X: np.hstack([X, np.full((400, 1), 1e300)]),
    "twin": lambda X: np.hstack([X, X[:, :1]]),
    "huge": lambda X: X * [1e12, 1],
    "tiny": lambda X: X * [1e-12, 1],
    "huge and tiny": lambda X: X * [1e150, 1e-150],
    "off centre": lambda X: X + np.array([1e6, 0]),
    "many": lambda X: np.hstack([X, np.random.default_rng(0).normal(size=(400, 998))]),
}


@pytest.mark.parametrize("awkward", AWKWARD)
def test_awkward_columns(blobs, awkward):
    X, y = blobs
    Z = AWKWARD[awkward](X)
    model = quietly(KernelDensityNetwork(small(), random_state=0), Z[::2], y[::2])
    sane(model, Z[1::2])
    assert model.novelty(Z[1::2]).mean() < 0.2
    if awkward != "many":
        assert (model.predict(Z[1::2]) == y[1::2]).mean() > 0.8


def test_a_column_counts_alike_in_any_unit(blobs):
    X, y = blobs
    found = [
        quietly(KernelDensityNetwork(small(), random_state=0), X * unit, y).predict_proba(X * unit)
        for unit in ([1, 1], [2.0**40, 2.0**-40])
    ]
    np.testing.assert_allclose(*found, atol=1e-6)


def test_a_class_of_one_row_keeps_its_share(blobs):
    X, y = blobs
    X, y = np.vstack([X, [[9.0, 9.0]]]), np.append(y, "z")
    model = quietly(KernelDensityNetwork(small(), random_state=0), X, y)
    assert model.classes_.tolist() == ["a", "b", "c", "d", "z"]
    assert model.prior_[4] == pytest.approx(1 / 401)
    sane(model, X)
    assert (model.predict(X) == y).mean() > 0.8


def test_one_row_of_each_of_many_classes():
    X = np.random.default_rng(0).normal(size=(18, 3))
    model = quietly(KernelDensityNetwork(small(), random_state=0), X, np.arange(18).astype(str))
    assert model.tuned_on_ == "nothing: too few rows to hold any out"
    sane(model, X, 1e4)


def test_rows_that_are_all_alike(blobs):
    y = blobs[1]
    model = quietly(KernelDensityNetwork(small(), random_state=0), np.ones((400, 2)), y)
    p = model.predict_proba(np.ones((3, 2)))
    np.testing.assert_allclose(p, np.tile(model.prior_, (3, 1)), atol=0.05)


def test_a_fitted_network_with_few_rows_is_not_tuned(blobs):
    X, y = blobs
    network = quietly(small(), X, y)
    rows = [np.flatnonzero(y == name)[0] for name in "abcd"]
    model = KernelDensityNetwork(network, random_state=0).fit(X[rows], y[rows])
    assert model.tuned_on_ == "nothing: too few rows"
    sane(model, X, 1e4)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_missing_values_are_refused_with_a_way_out(blobs, value):
    X, y = blobs
    model = quietly(KernelDensityNetwork(small(), random_state=0), X, y)
    X = X.copy()
    X[[7, 9], 1] = value
    said = "X has NaN .missing. or inf in 2 rows, first at row 7, .*SimpleImputer"
    with pytest.raises(sw.BadInput, match=said):
        KernelDensityNetwork().fit(X, y)
    with pytest.raises(sw.BadInput, match=said):
        model.predict_proba(X)


class Plain(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.one = torch.nn.Linear(2, 4)

    def forward(self, x):
        return torch.relu(self.one(x))


@pytest.mark.parametrize(
    ("network", "options", "said"),
    [
        (small(activation="tanh"), {}, "activation is tanh"),
        (RandomForestClassifier(), {}, "type RandomForestClassifier; give an MLPClassifier"),
        (Plain(), {}, "no ReLU layer"),
        (torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.GELU()), {}, "has a GELU layer"),
        (torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU()), {}, "tells 3 classes apart"),
        (small(), {"layers": [3]}, "network has 1 ReLU layers"),
        (small(), {"features": "relu"}, "layers of an MLPClassifier have numbers"),
        (
            torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU()),
            {"features": "relu"},
            "the module has 0, 1",
        ),
        (small(), {"folds": 1}, "folds must be an integer from 2 up, such as 5; got 1"),
        (small(), {"folds": 0.2}, "folds must be an integer from 2 up, such as 5; got 0.2"),
        (
            small(),
            {"max_patterns": 0},
            "max_patterns must be an integer from 1 up, such as 5000; got 0",
        ),
    ],
)
def test_what_cannot_be_used_is_refused(blobs, network, options, said):
    with pytest.raises(sw.BadInput, match=said):
        quietly(KernelDensityNetwork(network, **options), *blobs)


def test_rows_of_other_classes_and_negative_weights_are_refused(blobs):
    X, y = blobs
    network = quietly(small(), X, y)
    with pytest.raises(sw.BadInput, match="network was fitted to 'a', 'b', 'c', 'd'"):
        KernelDensityNetwork(network).fit(X[y != "d"], y[y != "d"])
    with pytest.raises(sw.BadInput, match="negative in 400 rows, first at row 0"):
        KernelDensityNetwork().fit(X, y, sample_weight=-np.ones(400))
    with pytest.raises(sw.BadInput, match="one class only"):
        KernelDensityNetwork().fit(X, np.ones(400))
