"""From weights of training rows to posteriors that fall back to the prior far from all of them.

A forest or a network says how near each training row i is to a row x: w(x, i) >= 0, a sparse
matrix with a row for each x. What follows from it is the same for both:

    sums = class_sums(w, classes, exponent)            # of w^exponent, for each class
    tuned = tune({1.0: sums, 2.0: ...}, y, prior)      # on rows that the weights do not know
    inside = smoothed(sums, prior, tuned.smoothing, tuned.sharpness)  # the posterior near the data
    log_density = Neighbourhood.of(X).log_density(X_new, *nearest(w, 20))
    novelty = far(log_density, background(log_density_of_unknown_rows))
    posterior = mixed(inside, prior, novelty)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln

Array = NDArray[np.float64]


def prior_of(codes: NDArray[np.int64], weight: Array, classes: int) -> Array:
    """Share of each class in the weight of all rows; above 0 also for those without weight."""
    total = np.maximum(np.bincount(codes, weight, classes), 1e-12 * weight.sum())
    return np.asarray(total / total.sum())


def class_sums(w: Any, classes: Any, exponent: float) -> Array:
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


def _powered(x: Array, exponent: float) -> Array:
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


def shares(sums: Array) -> Array:
    """Each row divided by its total; zeros where there is none."""
    total = sums.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(sums, total, out=np.zeros_like(sums), where=total > 0))


def smoothed(sums: Array, prior: Array, smoothing: float, sharpness: float) -> Array:
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


def softmax(logit: Array) -> Array:
    """Shares whose logs are these, up to a constant in each row."""
    p = np.exp(logit - logit.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def nearest(w: Any, count: int) -> tuple[NDArray[np.int64], Array]:
    """Places and weights of the training rows with the largest weights in each row of `w`.

    Two arrays, rows by `count`; where a row has fewer, the rest have weight 0 and place 0.
    """
    starts, sizes = w.indptr[:-1], np.diff(w.indptr)
    width = max(int(sizes.max(initial=0)), count)
    inside = np.arange(width) < sizes[:, None]
    values = np.zeros(inside.shape)
    values[inside] = w.data
    top = np.argpartition(values, -count, axis=1)[:, -count:]
    found = np.take_along_axis(values, top, axis=1)
    place = np.minimum(starts[:, None] + top, max(len(w.indices) - 1, 0))
    rows = w.indices[place] if len(w.indices) else np.zeros_like(place)
    return np.where(found > 0, rows, 0).astype(np.int64), found


@dataclass(frozen=True)
class Neighbourhood:
    """Training rows, and the density around those that are nearest to a row.

    Features are independent, each with a normal kernel. One that seldom leaves its usual value
    is known from few rows: its kernel has the tails of Student's t with that many degrees of freedom.
    Features that never do say nothing and are left out.
    """

    rows: Array
    mean: Array
    spread: Array
    freedom: Array
    used: NDArray[np.bool_]
    gaps: bool
    floor: float

    @classmethod
    def of(cls, rows: Any, *, floor: float = 0.05) -> Neighbourhood:
        """Of training rows (NaN where missing); variances fall to `floor` of a feature's at least."""
        rows = np.asarray(rows, dtype=float)
        known = ~np.isnan(rows)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, rows, 0).sum(axis=0) / count
        spread = np.sqrt((np.where(known, rows - mean, 0) ** 2).sum(axis=0) / count)
        usual = np.sort(rows, axis=0)[(count - 1) // 2, np.arange(rows.shape[1])]
        freedom = (known & (rows != usual)).sum(axis=0)
        used = (freedom > 0) & (spread > 0)
        return cls(
            ((rows - mean) / np.where(used, spread, 1))[:, used],
            mean[used],
            spread[used],
            freedom[used].astype(float),
            used,
            not known.all(),
            floor,
        )

    def log_density(self, x: Any, places: NDArray[np.int64], weights: Array) -> Array:
        """Log density of each row of `x` amid its neighbours, the training rows at `places`.

        A missing value counts as one at the usual distance.
        """
        z = (np.asarray(x, dtype=float)[:, self.used] - self.mean) / self.spread
        centre, variance = self._moments(places, weights)
        distance = np.where(np.isnan(z), 1.0, (z - centre) ** 2 / variance)
        tail = (self.freedom + 1) / 2 * np.log1p(distance / self.freedom)
        height = gammaln((self.freedom + 1) / 2) - gammaln(self.freedom / 2)
        height = height - 0.5 * np.log(np.pi * self.freedom) - np.log(self.spread)
        return np.asarray(height.sum() - (tail + 0.5 * np.log(variance)).sum(axis=1))

    def _moments(self, places: NDArray[np.int64], weights: Array) -> tuple[Array, Array]:
        """Mean and variance of each feature amid the neighbours of each row, in units of its spread."""
        near = self.rows[places]
        if self.gaps:
            share = weights[:, :, None] * ~np.isnan(near)
            near = np.nan_to_num(near)
        else:
            share = np.broadcast_to(weights[:, :, None], near.shape)
        total = share.sum(axis=1)
        none = total == 0  # no neighbour tells: mean and variance of all rows
        total[none] = 1.0
        centre = np.einsum("rnf,rnf->rf", share, near) / total
        near -= centre[:, None]
        variance = np.einsum("rnf,rnf,rnf->rf", share, near, near) / total
        return centre, np.where(none, 1.0, np.maximum(variance, self.floor))


def background(
    log_density: Array,
    stand_for: Array | None = None,
    *,
    quantile: float = 0.005,
    margin: float = 5.0,
) -> float:
    """Log density below which a row counts as far from the data.

    As far below the lowest training rows (a quantile of them) as those are below the median, and
    by the margin at least: in many dimensions log densities spread widely. Each row may stand for several.
    """
    low, middle = np.quantile(
        log_density, [quantile, 0.5], weights=stand_for, method="inverted_cdf"
    )
    return float(low - max(margin, middle - low))


def far(log_density: Array, log_background: float) -> Array:
    """Share of the background in a row's density: 0 amid the training data, 1 far from it."""
    return np.asarray(expit(log_background - log_density))


def mixed(inside: Array, prior: Array, novelty: Array) -> Array:
    """Posterior (1 - novelty) inside + novelty prior.

    It equals the posterior of class densities q f + b with the background density b.
    """
    return inside + novelty[:, None] * (prior - inside)
