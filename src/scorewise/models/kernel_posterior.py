"""From weights of training rows to posteriors that fall back to the prior far from all of them.

A forest or a network says how near each training row i is to a row x: w(x, i) >= 0, a sparse
matrix with a row for each x. What follows from it, here and in tuning.py and neighbourhood.py:

    sums = class_sums(w, classes, exponent)            # of w^exponent, for each class
    tuned = tune({1.0: sums, 2.0: ...}, y, prior)      # on rows that the weights do not know
    inside = smoothed(sums, prior, tuned.smoothing, tuned.sharpness)  # the posterior near the data
    nearness = Neighbourhood.of(X).nearness(X_new, *nearest(w, 10))
    novelty = far(nearness, background(nearness_of_unknown_rows))
    posterior = mixed(inside, prior, novelty)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scorewise.arrays import Floats

_FEW = 8  # classes; more are mostly zeros


def prior_of(codes: NDArray[np.int64], weight: Floats, classes: int) -> Floats:
    """Share of each class in the weight of all rows; above 0 also for those without weight."""
    total = np.maximum(np.bincount(codes, weight, classes), 1e-12 * weight.sum())
    return np.asarray(total / total.sum())


def indicator(codes: NDArray[np.int64], classes: int) -> Any:
    """Whether each row is of each class, 0 or 1; sparse where classes are many."""
    one = sparse.csr_array(
        (np.ones(len(codes)), (np.arange(len(codes)), codes)), (len(codes), classes)
    )
    return one if classes > _FEW else one.toarray()


def class_sums(w: Any, classes: Any, exponent: float) -> Floats:
    """Sum of w^exponent over the training rows of each class, divided by its total.

    `w` is a sparse matrix in rows (CSR) and `classes` a sparse or dense indicator (training rows
    by classes, its entries their weights). A row without any weight gives zeros.
    """
    powered = w
    if exponent != 1.0:
        powered = type(w)((_powered(w.data, exponent), w.indices, w.indptr), shape=w.shape)
    sums = powered @ classes
    sums = np.asarray(sums.todense() if hasattr(sums, "todense") else sums, dtype=float)
    return shares(sums)


def _powered(x: Floats, exponent: float) -> Floats:
    """x^exponent; quarters by square roots, which are quicker."""
    if exponent * 4 != int(exponent * 4) or exponent > 4:
        return np.asarray(x**exponent)
    whole, half, quarter = int(exponent), int(exponent * 2) % 2, int(exponent * 4) % 2
    factors = [x] * whole
    if half or quarter:
        root = np.sqrt(x)
        factors += [root] * half + ([np.sqrt(root)] if quarter else [])
    product = factors[0]
    for factor in factors[1:]:
        product = product * factor
    return product


def shares(sums: Floats) -> Floats:
    """Each row divided by its total; zeros where there is none."""
    total = sums.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(sums, total, out=np.zeros_like(sums), where=total > 0))


def smoothed(sums: Floats, prior: Floats, smoothing: float, sharpness: float) -> Floats:
    """Shares of the classes drawn towards the prior, then made sharper or flatter.

    p = (q + a prior) / (1 + a), then proportional to p^sharpness; smoothing a = 0 and sharpness 1
    (the inverse of a temperature) change nothing. Rows that know nothing have the prior.
    """
    empty = sums.sum(axis=1, keepdims=True) == 0
    p = np.where(empty, prior, (sums + smoothing * prior) / (1 + smoothing))
    if sharpness == 1.0:
        return np.asarray(p)
    with np.errstate(divide="ignore"):
        return np.where(empty, prior, softmax(sharpness * np.log(p)))


def softmax(logit: Floats) -> Floats:
    """Shares whose logs are these, up to a constant in each row."""
    p = np.exp(logit - logit.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def mixed(inside: Floats, prior: Floats, novelty: Floats) -> Floats:
    """Posterior (1 - novelty) inside + novelty prior.

    It equals the posterior of class densities q f + b with the background density b.
    """
    return inside + novelty[:, None] * (prior - inside)
