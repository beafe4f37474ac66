"""The kernel density network: patterns against plain loops, posteriors against what they promise."""

import pickle
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_blobs
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

import scorewise as sw
from scorewise.models import KernelDensityNetwork, at_radius
from scorewise.models.held_out import splits
from scorewise.models.pattern_kernel import KnownRows, largest, thinned
from scorewise.models.patterns import Comparison, Patterns, likenesses
from scorewise.models.pooling import EXPONENTS, Pool, tune_pool
from scorewise.models.relu_layers import mlp_pass, see


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Networks as small as these lose more by waiting for threads than they gain."""
    with threadpool_limits(1):
        yield


def small(layers=(16,), **options):
    given = {"max_iter": 60, "tol": 1e-3, "learning_rate_init": 0.01, "random_state": 0}
    return MLPClassifier(layers, **{**given, **options})


def quietly(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **options)


@pytest.fixture(scope="module")
def digits():
    data = load_digits()
    split = train_test_split(
        data.data / 16, data.target, test_size=0.4, stratify=data.target, random_state=0
    )
    X, Xt, y, yt = split
    return quietly(KernelDensityNetwork(random_state=0), X, y), X, y, Xt, yt


def looped(network, x):
    """Whether each hidden unit is on, one unit at a time."""
    values, on = list(x), []
    for w, b in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        sums = [sum(v * w[i, j] for i, v in enumerate(values)) + b[j] for j in range(len(b))]
        on.append([s > 0 for s in sums])
        values = [max(s, 0.0) for s in sums]
    return on


def test_patterns_equal_a_plain_forward_pass():
    X, y = load_iris(return_X_y=True)
    network = quietly(small((7, 70)), X, y)
    seen = see(mlp_pass(network), X[:20], None, None)
    for row in range(20):
        on = looped(network, X[row])
        for words, want in zip(seen.patterns.layers, on, strict=True):
            bits = np.unpackbits(words[row : row + 1].view(np.uint8))[: len(want)]
            assert bits.astype(bool).tolist() == want
    np.testing.assert_allclose(np.exp(seen.log_posterior), network.predict_proba(X[:20]))
    assert (seen.points == X[:20]).all()


@given(st.integers(1, 300), st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_hamming_equals_a_loop(width, rows, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random((rows, width)) < 0.5, rng.random((4, width)) < 0.3
    packed = Patterns.of([a]), Patterns.of([b])
    found = Comparison(rows, packed[1]).differing(packed[0].layers[0], packed[1].layers[0])
    want = [[sum(u != v for u, v in zip(x, z, strict=True)) for z in b] for x in a]
    assert found.tolist() == want


def test_likeness_is_the_product_over_layers():
    rng = np.random.default_rng(0)
    one, two = rng.random((5, 9)) < 0.5, rng.random((5, 300)) < 0.5
    p = Patterns.of([one, two])
    found = p.likeness(p)
    for i in range(5):
        for j in range(5):
            want = 1 - np.sum(one[i] != one[j]) / 9.5
            want *= 1 - np.sum(two[i] != two[j]) / 300.5
            assert found[i, j] == pytest.approx(want, rel=1e-5)


def test_rows_with_nothing_in_common_are_a_little_alike():
    p = Patterns.of([np.array([[True] * 4, [False] * 4])])
    assert p.likeness(p)[0, 1] == pytest.approx(1 / 9)


@pytest.mark.parametrize("cells", [1, 7, 35, 10_000])
def test_blocks_of_any_size_give_the_same(monkeypatch, cells):
    rng = np.random.default_rng(0)
    a, b = (Patterns.of([rng.random((n, 20)) < 0.5, rng.random((n, 70)) < 0.5]) for n in (11, 7))
    monkeypatch.setattr("scorewise.models.patterns.CELLS", cells)
    parts = [(rows, part.copy()) for rows, part in likenesses(a, b)]
    assert [row for rows, _ in parts for row in range(11)[rows]] == list(range(11))
    assert (np.concatenate([part for _, part in parts]) == a.likeness(b)).all()
    assert max(part.size for _, part in parts) <= max(cells, 7)


@given(st.lists(st.integers(0, 4), min_size=4, max_size=30), st.integers(1, 4))
def test_the_largest_are_those_of_a_sort(values, count):
    given_ = np.array([values], np.float32)
    before = given_.copy()
    places, found = largest(given_, count)
    assert found[0].tolist() == sorted(values, reverse=True)[:count]
    assert given_[0, places[0]].tolist() == found[0].tolist()
    assert len(set(places[0].tolist())) == count
    assert (given_ == before).all()


def alike(network, X):
    """Likeness of all pairs of rows, one pair and one layer at a time."""
    on = [looped(network, x) for x in X]
    return np.array(
        [
            [
                np.prod(
                    [
                        1 - np.sum(np.array(u) != v) / (len(u) + 0.5)
                        for u, v in zip(a, b, strict=True)
                    ]
                )
                for b in on
            ]
            for a in on
        ]
    )


@pytest.mark.parametrize("left_out", [False, True])
def test_kernel_sums_equal_a_loop(left_out):
    X, y = load_iris(return_X_y=True)
    network = quietly(small(), X, y)
    X, y = X[::4], y[::4]
    patterns = see(mlp_pass(network), X, None, None).patterns
    weight = np.random.default_rng(0).random(len(y)) + 0.5
    w = alike(network, X)
    if left_out:
        np.fill_diagonal(w, 0)
    known = KnownRows.of(patterns, y, weight, 4)
    own = np.arange(len(y)) if left_out else None
    found = known.around(patterns, (2.0, 8.0, 512.0), 3, own)
    for place, exponent in enumerate((2, 8, 512)):
        powered = (w / w.max(axis=1, keepdims=True)) ** exponent * weight
        want = [powered[:, y == c].sum(axis=1) for c in range(4)]
        np.testing.assert_allclose(found.sums[place], np.transpose(want), rtol=1e-3, atol=1e-30)
    np.testing.assert_allclose(found.likeness, -np.sort(-w, axis=1)[:, :3], rtol=1e-5)
    np.testing.assert_allclose(
        np.take_along_axis(w, found.places, axis=1), found.likeness, rtol=1e-5
    )


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(2, 6))
def test_folds_hold_rows_out_once_and_leave_some_of_each_class(codes, folds):
    codes = np.array(codes)
    seen = []
    for inside, held in splits(codes, folds, np.random.default_rng(0)):
        assert sorted([*inside, *held]) == list(range(len(codes)))
        assert set(codes[inside]) == set(codes)
        assert len(held) <= -(-len(codes) // folds)
        seen += held.tolist()
    assert len(seen) == len(set(seen)) == sum(n for n in np.bincount(codes) if n > 1)


def test_thinning_keeps_the_shares_of_classes():
    codes = np.repeat([0, 1, 3], [900, 99, 1])
    places, stand_for = thinned(codes, 100, np.random.default_rng(0))
    assert len(places) == 100
    kept = np.bincount(codes[places], stand_for)
    np.testing.assert_allclose(kept, [900, 99, 0, 1])


def test_a_pool_is_found_that_made_the_labels():
    rng = np.random.default_rng(0)
    prior = np.array([0.2, 0.3, 0.5])
    network = np.log(rng.dirichlet([1, 1, 1], 20_000))
    sums = rng.gamma(0.3, 1, (1, 20_000, 3))
    made = Pool(8.0, 1.0, 0.1, 0.8, 0.3, -0.4).posterior(network, sums[0], prior)
    y = (made.cumsum(1) < rng.random((20_000, 1))).sum(1)
    found = tune_pool(network, sums, y, prior, np.ones(20_000), (8.0,))
    assert (found.exponent, found.smoothing, found.doubt) == (8.0, 1.0, 0.1)
    assert (found.network, found.kernel, found.prior) == pytest.approx((0.8, 0.3, -0.4), abs=0.08)
    posterior = found.posterior(network, sums[0], prior)
    assert log_loss(y, posterior) == pytest.approx(found.loss, abs=1e-3)


def test_shares_are_those_of_a_multinomial_regression():
    rng = np.random.default_rng(1)
    prior = np.array([0.3, 0.7])
    network, sums = np.log(rng.dirichlet([1, 1], 3_000)), rng.gamma(0.5, 1, (1, 3_000, 2))
    y = (rng.random(3_000) < np.exp(network[:, 1])).astype(int)
    found = tune_pool(network, sums, y, prior, np.ones(3_000), (8.0,))
    p = np.log(np.exp(network) + found.doubt * prior)
    q = np.log((sums[0] + found.smoothing * prior)) - np.log(prior)
    columns = np.column_stack([part[:, 1] - part[:, 0] for part in (p, q)])
    other = LogisticRegression(C=1e6).fit(columns, y)
    assert other.coef_[0].tolist() == pytest.approx([found.network, found.kernel], abs=0.05)
    shift = found.prior * np.log(prior[1] / prior[0])
    assert other.intercept_[0] == pytest.approx(shift, abs=0.05)


def test_networks_are_pooled_by_the_mean_of_their_logs():
    rng = np.random.default_rng(0)
    prior = np.array([0.2, 0.8])
    network, sums = np.log(rng.dirichlet([1, 1], (3, 5))), rng.gamma(1, 1, (3, 5, 2))
    pool = Pool(8.0, 0.01, 0.01, 0.7, 0.2, 0.1)
    each = [pool.posterior(n, s, prior) for n, s in zip(network, sums, strict=True)]
    mean = np.exp(np.log(each).mean(axis=0))
    want = mean / mean.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(pool.posterior(network, sums, prior), want)


def test_ten_classes_are_calibrated_and_as_accurate(digits):
    model, X, y, Xt, yt = digits
    tally = sw.ClassTally.of(yt, model.predict_proba(Xt))
    network = quietly(MLPClassifier((64, 64), max_iter=300, random_state=0), model._scaled(X), y)
    network = sw.ClassTally.of(yt, network.predict_proba(model._scaled(Xt)))
    measures = sw.measures.classes
    assert measures.calibration_top.ece(tally).value < 0.03
    assert measures.probability.log_loss(tally).value < measures.probability.log_loss(network).value
    accuracies = [measures.decisions.accuracy(t).value for t in (tally, network)]
    assert accuracies[0] > accuracies[1] - 0.01 > 0.93
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
    assert (model.score_samples(Xt) > model.log_background_).mean() > 0.95


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


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(400, centers=4, cluster_std=1.2, random_state=0)
    return StandardScaler().fit_transform(X), np.array(list("abcd"))[y]


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
    assert model.committee_.near.used.shape == (108,)
    assert model.committee_.known[0].patterns.widths == (108,)
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


def test_rows_beyond_the_limit_are_thinned(blobs):
    X, y = blobs
    model = quietly(KernelDensityNetwork(small(), max_patterns=40, random_state=0), X, y)
    assert sum(len(known) for known in model.committee_.known) == 40
    assert sum(known.weight.sum() for known in model.committee_.known) == pytest.approx(400)
    assert model.score(X, y) > 0.75


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


@pytest.mark.parametrize("rows", [[0, 50], [0, 50, 100], [0, 1, 50, 51, 100], [0, 1, 2, 3, 50]])
def test_a_few_rows_are_enough(rows):
    X, y = load_iris(return_X_y=True)
    model = quietly(KernelDensityNetwork(small(), random_state=0), X[rows], y[rows])
    assert model.tuned_on_ == "nothing: too few rows to hold any out"
    p = model.predict_proba(np.vstack([X, X + 1e6]))
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(1), 1)
    np.testing.assert_allclose(p[-1], model.prior_, atol=1e-9)


@pytest.mark.parametrize("awkward", ["constant", "twin", "huge", "many"])
def test_awkward_columns(blobs, awkward):
    X, y = blobs
    rng = np.random.default_rng(0)
    Z = {
        "constant": np.hstack([X, np.full((400, 1), 0.1)]),
        "twin": np.hstack([X, X[:, :1]]),
        "huge": X * [1e12, 1],
        "many": np.hstack([X, rng.normal(size=(400, 998))]),
    }[awkward]
    model = quietly(KernelDensityNetwork(small(), random_state=0), Z[::2], y[::2])
    p = model.predict_proba(Z[1::2])
    assert np.isfinite(p).all()
    if awkward != "many":
        assert (model.predict(Z[1::2]) == y[1::2]).mean() > 0.8
    assert model.novelty(Z[1::2]).mean() < 0.2
    far = at_radius(Z, 5, 20)
    np.testing.assert_allclose(model.predict_proba(far), np.tile(model.prior_, (20, 1)), atol=0.01)


def test_layers_may_be_chosen(blobs):
    X, y = blobs
    model = KernelDensityNetwork(small((8, 12)), layers=[-1], features=0, random_state=0)
    quietly(model, X, y)
    assert all(known.patterns.widths == (12,) for known in model.committee_.known)
    assert model.committee_.near.used.shape == (40,)  # 8 of each of 5 networks
    assert model.score(X, y) > 0.8


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
        (small(), {"folds": 1}, "folds is 1"),
        (small(), {"folds": 0.2}, "folds is 0.2"),
        (small(), {"max_patterns": 0}, "max_patterns is 0"),
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
