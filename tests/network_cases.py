"""Small networks that are quick to fit, and rows for them."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Networks as small as these lose more by waiting for threads than they gain."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module", name="blobs")
def clouds():
    """Four clouds of points, named a to d."""
    X, y = make_blobs(400, centers=4, cluster_std=1.2, random_state=0)
    return StandardScaler().fit_transform(X), np.array(list("abcd"))[y]


def small(layers=(16,), **options):
    given = {"max_iter": 60, "tol": 1e-3, "learning_rate_init": 0.01, "random_state": 0}
    return MLPClassifier(layers, **{**given, **options})


def quietly(model, X, y, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **options)
