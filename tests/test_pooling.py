"""The pool of network, kernel and prior, against what made the labels and a logistic regression."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from scorewise.models.network_kernel import Pool, tune_pool


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
    made = Pool(8.0, 0.01, 0.01, 0.6, 0.3, 0.5).posterior(network, sums[0], prior)
    y = (rng.random(3_000) < made[:, 1]).astype(int)
    found = tune_pool(network, sums, y, prior, np.ones(3_000), (8.0,))
    p = np.log(np.exp(network) + found.doubt * prior)
    q = np.log(sums[0] + found.smoothing * prior) - np.log(prior)
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
