"""The posterior near the data: the network's own and that of its patterns, pooled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from scorewise.models.kernel_posterior import Array

EXPONENTS = tuple(2.0**power for power in range(13))
SMOOTHINGS = (0.01, 0.1, 1.0, 10.0)
MOST = 10.0  # of each share of a pool
ALONE = np.array([1.0, 0.0])  # the shares of a network as it is, without the kernel
TRUST = 10.0  # how firmly the shares are held there


@dataclass(frozen=True)
class Pool:
    """Exponent of the kernel, its smoothing, and the shares of network and kernel in the posterior.

    posterior ∝ prior (p / prior)^network (q / prior)^kernel, where p is the network's and q that of the
    kernel sums with `smoothing` rows of the prior added, as near as the nearest row. `loss` is the log
    loss on the rows that it was tuned on.
    """

    exponent: float = 16.0
    smoothing: float = 1.0
    network: float = 0.5
    kernel: float = 0.5
    loss: float = float("nan")

    def posterior(self, log_network: Array, sums: Array, prior: Array) -> Array:
        """The pooled posterior; `sums` are the kernel sums of the exponent."""
        base = np.log(prior)
        p, q = log_network - base, log_kernel(sums, prior, self.smoothing) - base
        return np.exp(_normed(base + self.network * p + self.kernel * q))


def log_kernel(sums: Array, prior: Array, smoothing: float) -> Array:
    """Log of the posterior of kernel sums alone."""
    total = sums.sum(axis=1, keepdims=True) + smoothing
    return np.asarray(np.log((sums + smoothing * prior) / total))


def tune_pool(
    log_network: Array,
    sums: Array,
    y: NDArray[np.int64],
    prior: Array,
    weight: Array,
    exponents: Sequence[float] = EXPONENTS,
) -> Pool:
    """The pool with the least log loss on rows that neither network nor kernel knows.

    `sums` has the kernel sums by exponent, row and class. For each exponent and smoothing the loss is
    convex in the two shares; they are drawn towards the network alone.
    """
    base = np.log(prior)
    p = log_network - base
    tried = [
        _shared(
            p,
            log_kernel(sums[place], prior, smoothing) - base,
            base,
            y,
            weight,
            exponent,
            smoothing,
        )
        for place, exponent in enumerate(exponents)
        for smoothing in SMOOTHINGS
    ]
    return min(tried, key=lambda pool: pool.loss)


def _shared(
    p: Array, q: Array, base: Array, y: NDArray[np.int64], weight: Array,
    exponent: float, smoothing: float,
) -> Pool:  # fmt: skip
    """The best shares for an exponent and a smoothing."""
    rows, total = np.arange(len(y)), weight.sum()

    def loss(shares: Array) -> tuple[float, Array]:
        log = _normed(base + shares[0] * p + shares[1] * q)
        post = np.exp(log)
        slopes = [(weight * ((post * r).sum(axis=1) - r[rows, y])).sum() for r in (p, q)]
        drawn = TRUST * (shares - ALONE)
        value = -(weight * log[rows, y]).sum() + 0.5 * (drawn * (shares - ALONE)).sum()
        return value / total, (np.array(slopes) + drawn) / total

    found = minimize(loss, [0.5, 0.5], jac=True, method="L-BFGS-B", bounds=[(0.0, MOST)] * 2)
    network, kernel = found.x
    return Pool(exponent, smoothing, float(network), float(kernel), float(found.fun))


def _normed(logs: Array) -> Array:
    """Logs of shares that add up to 1."""
    high = logs.max(axis=1, keepdims=True)
    return np.asarray(logs - high - np.log(np.exp(logs - high).sum(axis=1, keepdims=True)))
