"""What a kernel density network cannot use, and the sentence that says so."""

from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.datasets import make_blobs
from sklearn.neural_network import MLPClassifier
from torch import nn

import scorewise as sw
from network_cases import one_thread  # noqa: F401
from scorewise.models import KernelDensityNetwork

X, Y = make_blobs(60, centers=2, random_state=0)


def small(layers=(8,)):
    return MLPClassifier(layers, max_iter=200, tol=1e-2, learning_rate_init=0.05, random_state=0)


def module(*first, wide=2, classes=2):
    torch.manual_seed(0)
    return nn.Sequential(*first, nn.Linear(wide, 8), nn.ReLU(), nn.Linear(8, classes))


class Returning(nn.Module):
    """A module whose output is whatever is made of the logits."""

    def __init__(self, make):
        super().__init__()
        self.inner, self.make = module(), make

    def forward(self, x):
        return self.make(self.inner(x))


class Unused(nn.Module):
    """A module with a layer of ReLU that it does not call, and another that it does, or not."""

    def __init__(self, calls):
        super().__init__()
        self.one, self.two = nn.Linear(2, 8), nn.Linear(8, 2)
        self.relu, self.spare = nn.ReLU(), nn.ReLU()
        self.calls = calls

    def forward(self, x):
        act = self.relu if self.calls else torch.relu
        return self.two(act(self.one(x)))


def with_nan():
    made = module()
    with torch.no_grad():
        made[0].weight[3, 1] = torch.nan
    return made


def mlp_with_nan():
    made = small().fit(X, Y)
    made.coefs_[0][0, 0] = np.nan
    return made


NETWORKS = {
    "no hidden layer": (small(()), "no hidden layer"),
    "no hidden layer, fitted": (small(()).fit(X, Y), "no hidden layer"),
    "ReLU not called": (Unused(calls=False), "calls none of them"),
    "MLP of another width": (small().fit(np.hstack([X, X]), Y), "fitted to 4 columns and X has 2"),
    "module of another width": (
        module(wide=3),
        r"cannot take rows of shape \(2,\) \(mat1 and mat2",
    ),
    "tuple": (Returning(lambda z: (z, z)), "the module returns a tuple"),
    "dict": (Returning(lambda z: {"logits": z}), "the module returns a dict"),
    "NaN in a module": (with_nan(), "says NaN of row 0"),
    "NaN in an MLP": (mlp_with_nan(), "says NaN of row 0"),
}


@pytest.mark.parametrize("case", NETWORKS)
def test_networks(case):
    network, said = NETWORKS[case]
    with pytest.raises(sw.BadInput, match=said):
        KernelDensityNetwork(network).fit(X, Y)


def test_a_layer_that_is_not_called_is_no_feature():
    KernelDensityNetwork(Unused(calls=True), features="relu").fit(X, Y)
    with pytest.raises(sw.BadInput, match="features is 'spare', which the module does not call"):
        KernelDensityNetwork(Unused(calls=True), features="spare").fit(X, Y)


def test_images_of_another_size():
    images = np.random.default_rng(0).normal(size=(60, 1, 4, 4))
    model = KernelDensityNetwork(module(nn.Flatten(), wide=16)).fit(images, Y)
    with pytest.raises(sw.BadInput, match=r"shape \(1, 5, 5\), in fitting it had \(1, 4, 4\)"):
        model.predict_proba(np.zeros((3, 1, 5, 5)))
    with pytest.raises(sw.BadInput, match=r"cannot take rows of shape \(1, 4, 4\)"):
        KernelDensityNetwork(module(nn.Flatten(), wide=25)).fit(images, Y)


def test_half_precision_says_nearly_what_single_does():
    found = [
        KernelDensityNetwork(module().to(kind), random_state=0).fit(X, Y).predict_proba(X)
        for kind in (torch.float32, torch.bfloat16)
    ]
    np.testing.assert_allclose(*found, atol=0.1)


@pytest.mark.parametrize("kind", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("features", [None, 0, "0"])
def test_rows_that_are_no_floats_of_the_module_have_posteriors(kind, features):
    model = KernelDensityNetwork(module().to(kind), features=features, random_state=0).fit(X, Y)
    far = [[1e30, 1e30], [-1e38, 1e38], [1e300, -1e300], [-1e300, -1e300]]
    p = model.predict_proba(far)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    if features is None:  # there are far rows of which no unit of a layer is on
        np.testing.assert_allclose(p, np.tile(model.prior_, (4, 1)))
        assert model.novelty(far).tolist() == [1, 1, 1, 1]


WORDS = {"x": [1.0, 2.0, 3.0, 4.0], "hue": ["red", "red", "blue", "blue"]}
DAYS = {"x": [1.0, 2.0, 3.0, 4.0], "day": [date(2020, 1, i) for i in (1, 2, 3, 4)]}
FRAMES = {
    "pandas": (pd.DataFrame(WORDS), "hue holds 'red'.*encode words.*KernelDensityForest"),
    "categories": (pd.DataFrame(WORDS).astype({"hue": "category"}), "hue holds 'red'"),
    "polars": (pl.DataFrame(WORDS), "hue holds 'red'"),
    "lists": ([[1.0, "red"], [2.0, "red"], [3.0, "blue"], [4.0, "blue"]], "column 1 holds .*red"),
    "bytes": (np.array([[b"red"]] * 4), "column 0 holds .*red"),
    "a flat list": (["red", "red", "blue", "blue"], "column 0 holds .*red"),
    "objects": (pd.DataFrame(WORDS).to_numpy(dtype=object), "column 1 holds 'red'"),
    "lazy": (pl.DataFrame(WORDS).lazy(), "lazy frame, .*collect"),
    "pandas dates": (pd.DataFrame(DAYS), "day holds dates or times"),
    "pandas times": (pd.DataFrame(DAYS).astype({"day": "datetime64[s]"}), "day holds dates or"),
    "polars dates": (pl.DataFrame(DAYS), "day holds dates or times"),
    "numpy dates": (np.array([["2020-01-01"]] * 4, "datetime64[D]"), "column 0 holds dates"),
}


@pytest.mark.parametrize("case", FRAMES)
def test_features_that_are_no_numbers(case):
    rows, said = FRAMES[case]
    with pytest.raises(sw.BadInput, match=said):
        KernelDensityNetwork(small()).fit(rows, [0, 0, 1, 1])


def test_numbers_in_any_frame_are_taken():
    arrays = KernelDensityNetwork(small(), random_state=0).fit(X, Y).predict_proba(X)
    for frame in (pd.DataFrame(X, columns=["a", "b"]), pl.DataFrame(X, schema=["a", "b"])):
        found = KernelDensityNetwork(small(), random_state=0).fit(frame, Y).predict_proba(frame)
        np.testing.assert_allclose(found, arrays, rtol=1e-9)


@pytest.mark.parametrize("gap", [None, np.nan])
def test_labels_that_are_missing(gap):
    for kind in (int, str):
        y = np.array([kind(label) for label in Y], object)
        y[[5, 9]] = gap
        with pytest.raises(sw.BadInput, match=r"y is missing \(NaN\) in 2 rows, first at row 5"):
            KernelDensityNetwork(small()).fit(X, y)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"layers": 0}, "layers is 0; pass a list of numbers"),
        ({"layers": "0"}, "layers is '0'; pass a list"),
        ({"layers": [0.5]}, r"layers is \[0.5\]; pass a list"),
        ({"layers": []}, "layers is empty"),
        ({"features": 0.5}, "features is 0.5; pass the number or the name"),
        ({"features": 3}, "features is 3; the network has 1 ReLU layers"),
        ({"max_patterns": "a"}, "max_patterns must be an integer from 1 up"),
        ({"max_patterns": 0.5}, "max_patterns must be an integer from 1 up, such as 5000; got 0.5"),
        ({"folds": "a"}, "folds must be an integer from 2 up"),
    ],
)
def test_settings(options, said):
    with pytest.raises(sw.BadInput, match=said):
        KernelDensityNetwork(small(), **options).fit(X, Y)


def test_weights():
    with pytest.raises(sw.BadInput, match="negative in 60 rows"):
        KernelDensityNetwork(small()).fit(X, Y, sample_weight=-1)
    with pytest.raises(sw.BadInput, match="zero in every row"):
        KernelDensityNetwork(small()).fit(X, Y, sample_weight=np.zeros(60))
