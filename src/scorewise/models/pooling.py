"""The posterior near the data: that of networks and that of their patterns, pooled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from scorewise.arrays import Floats

EXPONENTS = (2.0, 8.0, 32.0, 128.0, 512.0, 2048.0)
SMOOTHINGS = (0.01, 1.0)
DOUBTS = (0.001, 0.01, 0.1)
MOST = 10.0  # of each share of a pool
BOUNDS = [(0.0, MOST), (0.0, MOST), (-MOST, MOST)]
ALONE = np.array([1.0, 0.0, 0.0])  # the shares of a network as it is
TRUST = 1.0  # how firmly the shares are held there: as by one standard deviation each


@dataclass(frozen=True)
class Pool:
    """How network, kernel and prior make a posterior: ∝ p^network (q / prior)^kernel prior^prior.

    p is the network's posterior with `doubt` of the prior added, so that no class is impossible; q that
    of the kernel sums of the `exponent` with `smoothing` rows of the prior added, as near as the nearest
    row. `loss` is the log loss on the rows that it was tuned on.
    """

    exponent: float = 32.0
    smoothing: float = 1.0
    doubt: float = 0.01
    network: float = 0.5
    kernel: float = 0.5
    prior: float = 0.5
    loss: float = float("nan")

    def posterior(self, log_network: Floats, sums: Floats, prior: Floats) -> Floats:
        """The pooled posterior; of several networks (a first axis), the logs are averaged."""
        p, q, base = _logs(log_network, sums, prior, self.smoothing, self.doubt)
        return np.exp(_normed(_averaged(self.network * p + self.kernel * q) + self.prior * base))


def tune_pool(
    log_network: Floats,
    sums: Floats,
    y: NDArray[np.int64],
    prior: Floats,
    weight: Floats,
    exponents: Sequence[float] = EXPONENTS,
) -> Pool:
    """The pool with the least log loss on rows that neither network nor kernel knows.

    `sums` has the kernel sums by exponent, row and class. For each exponent, smoothing and doubt the
    loss is convex in the three shares; they are drawn towards the network alone.
    """
    tried = []
    for (place, exponent), smoothing, doubt in product(enumerate(exponents), SMOOTHINGS, DOUBTS):
        logs = _logs(log_network, sums[place], prior, smoothing, doubt)
        (network, kernel, rest), loss = _shares(logs, y, weight)
        tried.append(Pool(exponent, smoothing, doubt, network, kernel, rest, loss))
    return min(tried, key=lambda pool: pool.loss)


def _logs(
    log_network: Floats, sums: Floats, prior: Floats, smoothing: float, doubt: float
) -> tuple[Floats, Floats, Floats]:
    """Logs of the network's posterior, of the kernel's against the prior, and of the prior."""
    base = np.log(prior)
    p = np.log(np.exp(log_network) + doubt * prior)
    total = sums.sum(axis=-1, keepdims=True) + smoothing
    return p, np.log((sums + smoothing * prior) / total) - base, np.broadcast_to(base, p.shape[-2:])


def _shares(
    logs: tuple[Floats, Floats, Floats], y: NDArray[np.int64], weight: Floats
) -> tuple[list[float], float]:
    """The best shares of the three, and their loss."""
    rows, total = np.arange(len(y)), weight.sum()
    said = [r[rows, y] for r in logs]

    def loss(shares: Floats) -> tuple[float, Floats]:
        log = _normed(sum(s * r for s, r in zip(shares, logs, strict=True)))
        post = np.exp(log)
        slopes = [
            (weight * ((post * r).sum(axis=1) - own)).sum()
            for r, own in zip(logs, said, strict=True)
        ]
        drawn = TRUST * (shares - ALONE)
        value = -(weight * log[rows, y]).sum() + 0.5 * (drawn * (shares - ALONE)).sum()
        return value / total, (np.array(slopes) + drawn) / total

    found = minimize(loss, ALONE, jac=True, method="L-BFGS-B", bounds=BOUNDS)
    return found.x.tolist(), float(found.fun)


def _averaged(logs: Floats) -> Floats:
    return logs if logs.ndim == 2 else np.asarray(logs.mean(axis=0))


def _normed(logs: Floats) -> Floats:
    """Logs of shares that add up to 1."""
    high = logs.max(axis=1, keepdims=True)
    return np.asarray(logs - high - np.log(np.exp(logs - high).sum(axis=1, keepdims=True)))
