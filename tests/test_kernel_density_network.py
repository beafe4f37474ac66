"""The kernel density network: posteriors against what they promise, networks of torch, weights."""

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.utils.validation import has_fit_parameter

import scorewise as sw
from network_cases import clouds, one_thread, quietly, small  # noqa: F401
from scorewise.models import KernelDensityNetwork, at_radius, kernel_density_network
from scorewise.models.kernel_density import background
from scorewise.models.network_kernel import EXPONENTS
from scorewise.models.relu_networks import ReluNetwork


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    split = train_test_split(
        data.data / 16, data.target, test_size=0.4, stratify=data.target, random_state=0
    )
    X, Xt, y, yt = split
    return quietly(KernelDensityNetwork(random_state=0), X, y), X, y, Xt, yt


def test_ten_classes_are_calibrated_and_as_accurate(digits):
    model, X, y, Xt, yt = digits
    tally = sw.ClassTally.of(yt, model.predict_proba(Xt))
    network = quietly(MLPClassifier((64, 64), max_iter=300, random_state=0), model._scaled(X), y)
    network = sw.ClassTally.of(yt, network.predict_proba(model._scaled(Xt)))
    measures = sw.measures
    assert measures.ece(tally).value < 0.03
    assert measures.log_loss(tally).value < measures.log_loss(network).value
    accuracies = [measures.accuracy(t).value for t in (tally, network)]
    assert accuracies[0] > accuracies[1] - 0.005 > 0.93
    assert model.tuned_on_ == "5 folds, each by the network that was not fitted to it"
    assert len(model.networks_) == 5
    assert model.pool_.exponent in EXPONENTS[1:-1]


def test_far_points_get_the_prior(digits):
    model, X, *_, Xt, _ = digits
    for radius in (2, 5, 1e6, 1e200):
        far = at_radius(X, radius, 50)
        np.testing.assert_allclose(
            model.predict_proba(far), np.tile(model.prior_, (50, 1)), atol=1e-9
        )
        assert (model.novelty(far) > 0.999).all()
    assert model.novelty(Xt).mean() < 0.05
    assert (model.score_samples(Xt) > model.background_[0]).mean() > 0.95


def test_novelty_tells_inverted_digits(digits):
    model, *_, Xt, yt = digits
    r = sw.models.in_and_out(model, Xt, yt, 1 - Xt, points=20)
    assert r.auroc_novelty.value > 0.99
    assert r.confidence_out.value == pytest.approx(model.prior_.max(), abs=0.01)


def module_of(network):
    """The same network in torch."""
    parts = []
    for w, b in zip(network.coefs_, network.intercepts_, strict=True):
        layer = torch.nn.Linear(*w.shape, dtype=torch.float64)
        layer.weight.data, layer.bias.data = torch.tensor(w.T), torch.tensor(b)
        parts += [layer, torch.nn.ReLU(inplace=True)]
    return torch.nn.Sequential(*parts[:-1])


@pytest.mark.parametrize("features", [None, 1])
@pytest.mark.parametrize("classes", [2, 4])
def test_a_torch_module_gives_the_same(blobs, features, classes):
    X, y = blobs
    kept = y < "e" if classes == 4 else y < "c"
    X, y = X[kept], y[kept]
    network = quietly(small((12, 20)), X[::2], y[::2])
    options = {"features": features, "random_state": 1}
    a = KernelDensityNetwork(network, **options).fit(X[1::2], y[1::2])
    module = module_of(network).train()
    b = KernelDensityNetwork(module, **options).fit(X[1::2], y[1::2])
    np.testing.assert_allclose(a.predict_proba(X), b.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(a.score_samples(X), b.score_samples(X))
    assert module.training
    assert not module[1]._forward_hooks


def test_a_convolution_with_a_named_feature_layer():
    torch.manual_seed(0)
    data = load_digits()
    X, y = data.images[:300, None] / 16, data.target[:300]
    module = torch.nn.Sequential(
        torch.nn.Conv2d(1, 3, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(108, 10)
    )
    model = KernelDensityNetwork(module, features="2", random_state=0).fit(X, y)
    assert model.committee_.neighbourhood.used.shape == (108,)
    assert model.committee_.references[0].patterns.widths == (108,)
    assert model.predict_proba(X[:5]).shape == (5, 10)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(X[:5]) == model.predict_proba(X[:5])).all()
    # a network that never learned: the kernel of its patterns still tells digits apart
    assert model.score(data.images[300:600, None] / 16, data.target[300:600]) > 0.6


def test_a_fitted_network_stays_as_it_is(blobs):
    X, y = blobs
    network = quietly(small(), X[::2], y[::2])
    before = [w.copy() for w in network.coefs_]
    model = KernelDensityNetwork(network, random_state=0).fit(X[1::2], y[1::2])
    assert model.networks_ == [network]
    assert model.tuned_on_ == "each row given, left out in turn"
    assert all((a == b).all() for a, b in zip(before, network.coefs_, strict=True))
    again = clone(model)  # as clones do, it forgets what the network has learned
    assert network not in quietly(again, X, y).networks_


def test_a_frozen_network_survives_cloning(blobs):
    frozen = pytest.importorskip("sklearn.frozen")
    X, y = blobs
    network = quietly(small(), X[::2], y[::2])
    model = clone(KernelDensityNetwork(frozen.FrozenEstimator(network))).fit(X[1::2], y[1::2])
    assert model.networks_ == [network]


def test_results_are_those_of_the_seed_and_survive_pickling(blobs):
    X, y = blobs
    network = small(random_state=None)
    a, b, c = (quietly(KernelDensityNetwork(network, random_state=s), X, y) for s in (3, 3, 4))
    p = a.predict_proba(X)
    assert (p == b.predict_proba(X)).all()
    assert (p != c.predict_proba(X)).any()
    assert (pickle.loads(pickle.dumps(a)).predict_proba(X) == p).all()
    assert (a.predict(X) == a.classes_[p.argmax(1)]).all()


def test_networks_start_from_seeds_of_their_own(blobs):
    X, y = blobs
    a, b = (quietly(KernelDensityNetwork(small(random_state=s)), X, y) for s in (0, 0))
    starts = [network.random_state for network in a.networks_]
    assert len(set(starts)) == 5
    assert starts == [network.random_state for network in b.networks_]
    other = quietly(KernelDensityNetwork(small(random_state=1)), X, y)
    assert not set(starts) & {network.random_state for network in other.networks_}


def test_each_network_knows_the_rows_it_was_not_fitted_to(blobs, monkeypatch):
    X, y = blobs
    learned, fitted = [], ReluNetwork.fitted
    monkeypatch.setattr(
        ReluNetwork,
        "fitted",
        lambda network, X, *more: learned.append(X) or fitted(network, X, *more),
    )
    model = quietly(KernelDensityNetwork(small(), scale=False, folds=3, random_state=0), X, y)
    near = model.committee_.neighbourhood
    points = near.rows * near.spread + near.mean
    start = 0
    for known, inside in zip(model.committee_.references, learned, strict=True):
        mine = points[start : start + len(known)]
        start += len(known)
        together = np.vstack([mine, inside])
        order = np.lexsort(together.T), np.lexsort(X.T)
        np.testing.assert_allclose(together[order[0]], X[order[1]], atol=1e-12)
    assert start == 400


@pytest.mark.parametrize("most", [1, 7])
def test_a_handful_of_known_rows_will_do(blobs, most):
    X, y = blobs
    model = quietly(KernelDensityNetwork(small(), max_patterns=most, random_state=0), X, y)
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    assert (model.predict(X) == y).mean() > 0.7


def test_rows_beyond_the_limit_are_thinned(blobs):
    X, y = blobs
    model = quietly(KernelDensityNetwork(small(), max_patterns=40, random_state=0), X, y)
    assert sum(len(known) for known in model.committee_.references) == 40
    assert sum(known.weight.sum() for known in model.committee_.references) == pytest.approx(400)
    assert model.score(X, y) > 0.75


@pytest.mark.skipif(
    not has_fit_parameter(MLPClassifier(), "sample_weight"), reason="scikit-learn 1.7 brought them"
)
def test_weights_scale_alike_and_those_of_zero_are_absent(blobs):
    X, y = blobs
    weight = np.tile([0.0, 1.0], 200)
    a = quietly(KernelDensityNetwork(small(), random_state=0), X, y, sample_weight=weight)
    b = quietly(
        KernelDensityNetwork(small(), random_state=0), X[1::2], y[1::2], sample_weight=np.ones(200)
    )
    assert (a.predict_proba(X) == b.predict_proba(X)).all()
    heavy = np.where(y == "a", 5.0, 1.0)
    c = quietly(KernelDensityNetwork(small(), random_state=0), X, y, sample_weight=heavy)
    assert c.prior_[0] == pytest.approx(5 * (y == "a").mean() / heavy.mean())
    assert c.predict_proba(X)[:, 0].mean() > b.predict_proba(X)[:, 0].mean() + 0.1


def test_layers_may_be_chosen(blobs):
    X, y = blobs
    model = KernelDensityNetwork(small((8, 12)), layers=[-1], features=0, random_state=0)
    quietly(model, X, y)
    assert all(known.patterns.widths == (12,) for known in model.committee_.references)
    assert model.committee_.neighbourhood.used.shape == (40,)  # 8 of each of 5 networks
    assert model.score(X, y) > 0.8


def test_the_background_counts_rows_for_those_that_they_stand_for(blobs, monkeypatch):
    X, y = blobs
    kept = np.concatenate([np.flatnonzero(y != "d"), np.flatnonzero(y == "d")[:10]])
    given = []

    def noted(near, stand_for):
        given.append(stand_for)
        return background(near, stand_for)

    monkeypatch.setattr(kernel_density_network, "MAX_TUNING_ROWS", 100)
    monkeypatch.setattr(kernel_density_network, "background", noted)
    quietly(KernelDensityNetwork(small(), random_state=0), X[kept], y[kept])
    assert len(given[0]) == 100
    assert given[0].sum() == pytest.approx(len(kept))
    assert given[0].min() == 1 < given[0].max()  # the rare class is there as a whole
