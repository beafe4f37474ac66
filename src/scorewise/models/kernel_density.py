"""What kernel density models share: the density of a row amid its neighbours, and how far it is from all.

From the weights w of training rows for new ones, and the posterior near the data (`inside`), follow

    nearness = Neighbourhood.of(X).nearness(X_new, *nearest(w, 10))
    novelty = background_share(nearness, background(nearness_of_rows_left_out))
    posterior = mix_with_prior(inside, prior, novelty)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import gammaln

from scorewise.arrays import Bools, Floats, Ints
from scorewise.inference.folds import deal_classes
from scorewise.models.validation import Classifier
from scorewise.tallies.losses import expit

_AT_ONCE = 50_000  # features of neighbours
_LOWEST, _MARGIN = 0.005, 5.0  # of the background: a quantile of training rows, and how far below


class KernelDensityClassifier(Classifier):
    """A classifier whose posterior falls to the prior far from its training data."""

    prior_: Floats
    background_: Floats

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The posterior of each class, in the order of `classes_`; the prior far from the data."""
        inside, nearness = self._posterior_and_nearness(X)
        novelty = background_share(nearness, self.background_)
        return mix_with_prior(inside, self.prior_, novelty)

    def score_samples(self, X: Any) -> Floats:  # noqa: N803
        """Log density of each row amid its nearest training rows; lower if one feature is far from them."""
        return log_density(self._posterior_and_nearness(X)[1], self.background_)

    def novelty(self, X: Any) -> Floats:  # noqa: N803
        """How far each row is from all training data: 0 amid it, 1 where only the prior is left."""
        return background_share(self._posterior_and_nearness(X)[1], self.background_)

    def _posterior_and_nearness(self, X: Any) -> tuple[Floats, Floats]:  # noqa: N803
        """The posterior near the data, and how near that is, of each row."""
        raise NotImplementedError


@dataclass(frozen=True)
class Neighbourhood:
    """Training rows, and how near other rows are to those that are nearest to them.

    Features are independent, each with a normal kernel. One that seldom leaves its usual value
    is known from few rows: its kernel has the tails of Student's t with that many degrees of freedom.
    Features that never do say nothing and are left out.
    """

    rows: Floats
    mean: Floats
    spread: Floats
    freedom: Floats
    used: Bools
    gaps: bool
    floor: float

    @classmethod
    def of(cls, rows: Any, *, floor: float = 0.05) -> Neighbourhood:
        """Of training rows (NaN where missing); variances fall to `floor` of a feature's at least."""
        rows = np.ascontiguousarray(rows, dtype=float)
        there = ~np.isnan(rows)
        count = np.maximum(there.sum(axis=0), 1)
        mean = np.where(there, rows, 0).sum(axis=0) / count
        spread = np.sqrt((np.where(there, rows - mean, 0) ** 2).sum(axis=0) / count)
        usual = np.sort(rows, axis=0)[(count - 1) // 2, np.arange(rows.shape[1])]
        freedom = (there & (rows != usual)).sum(axis=0)
        used = (freedom > 0) & (spread > 0)
        scaled = ((rows - mean) / np.where(used, spread, 1))[:, used]
        of_used = mean[used], spread[used], freedom[used].astype(float)
        return cls(scaled, *of_used, used, not there.all(), floor)

    def nearness(self, x: Any, places: Ints, weights: Floats) -> Floats:
        """How near each row of `x` is to its neighbours, the training rows at `places`; two columns.

        The log density, of all features together; and what the kernel of the one feature loses in
        which the nearest neighbour is farthest, in units of its spread, since amid many features one
        alone moves the density little. A missing value counts as one at the usual distance.
        """
        x = np.asarray(x, dtype=float)[:, self.used]
        z = np.ascontiguousarray((x - self.mean) / self.spread)
        near = np.empty((len(z), 2))
        step = max(1, _AT_ONCE // max(places.shape[1] * len(self.mean), 1))
        for at in range(0, len(z), step):
            part = slice(at, at + step)
            near[part] = self._nearness(z[part], self.rows[places[part].T], weights[part].T)
        return near

    def _nearness(self, z: Floats, neighbours: Floats, weights: Floats) -> Floats:
        """The same for standardised rows and neighbours (neighbours by rows by features)."""
        share, pairs = weights, "nr,nrf->rf"
        if self.gaps:
            share, pairs = weights[:, :, None] * ~np.isnan(neighbours), "nrf,nrf->rf"
            neighbours = np.nan_to_num(neighbours)
        total = share.sum(axis=0).reshape(len(z), -1)
        none = total == 0  # no neighbour has a value: mean and variance of all rows
        total[none] = 1.0
        centre = np.einsum(pairs, share, neighbours) / total
        apart = neighbours - centre
        variance = np.einsum(pairs, share, np.square(apart, out=apart)) / total
        variance = np.where(none, 1.0, np.maximum(variance, self.floor))
        away = np.subtract(neighbours, z, out=apart)
        np.square(away, out=away)
        if not share.all():
            away[share == 0] = np.inf
        gap = np.where(none | np.isnan(z), 0.0, away.min(axis=0))
        tail = self._tail(np.where(np.isnan(z), 1.0, (z - centre) ** 2 / variance))
        height = gammaln((self.freedom + 1) / 2) - gammaln(self.freedom / 2)
        height = height - 0.5 * np.log(np.pi * self.freedom) - np.log(self.spread)
        density = height.sum() - (tail + 0.5 * np.log(variance)).sum(axis=1)
        return np.column_stack([density, -self._tail(gap).max(axis=1, initial=0.0)])

    def _tail(self, squared: Floats) -> Floats:
        """How much lower the log of each kernel is so far from its top, in units of its width."""
        return np.asarray((self.freedom + 1) / 2 * np.log1p(squared / self.freedom))


def nearest(w: Any, count: int) -> tuple[Ints, Floats]:
    """Places and weights of the training rows with the largest weights in each row of `w`.

    Two arrays, rows by `count`; where a row has fewer, the rest have weight 0 and place 0. Of equal
    weights those of the first places count, whatever other rows are asked for: a place is written
    into the last bits of its weight, which are none that matter, so that one number tells both.
    """
    last = (1 << max(w.shape[1] - 1, 1).bit_length()) - 1
    sizes = np.diff(w.indptr)
    width = max(int(sizes.max(initial=0)), count)
    keys = np.zeros((len(sizes), width), dtype=np.int64)
    keys[np.arange(width) < sizes[:, None]] = (w.data.view(np.int64) & ~last) | (last - w.indices)
    keys.partition(width - count, axis=1)
    top = np.sort(keys[:, width - count :], axis=1)[:, ::-1]
    return np.where(top > 0, last - (top & last), 0), (top & ~last).view(float)


def background(nearness: Floats, stand_for: Floats | None = None) -> Floats:
    """Nearness below which a row counts as far from the data, for each column.

    As far below the lowest training rows (a quantile of them) as those are below the median, and
    by a margin at least: in many dimensions log densities spread widely. Each row may stand for several.
    """
    low, middle = np.quantile(
        nearness, [_LOWEST, 0.5], axis=0, weights=stand_for, method="inverted_cdf"
    )
    return np.asarray(low - np.maximum(_MARGIN, middle - low))


def background_share(nearness: Floats, background: Floats) -> Floats:
    """Share of the background in a row's density: 0 amid the training data, 1 far from it."""
    return expit((background - nearness).max(axis=1))


def log_density(nearness: Floats, background: Floats) -> Floats:
    """The log density, or what it would be for a row as far in all features as this is in one."""
    return np.asarray(background[0] + (nearness - background).min(axis=1))


def mix_with_prior(inside: Floats, prior: Floats, novelty: Floats) -> Floats:
    """Posterior (1 - novelty) inside + novelty prior.

    It equals the posterior of class densities q f + b with the background density b.
    """
    return inside + novelty[:, None] * (prior - inside)


def stratified_folds(
    codes: Ints, folds: int, random: np.random.Generator
) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of places, fitted to and held out, for each of several folds.

    Classes are dealt out alike, and one row of each class at least stays on the side that is fitted to;
    a class of one row is never held out. There are no pairs where nothing can be held out.

    >>> for fitted, held in stratified_folds(np.array([0, 0, 0, 1, 1, 2]), 2, np.random.default_rng(0)):
    ...     print(fitted, held)
    [0 4 5] [1 2 3]
    [1 2 3 5] [0 4]
    """
    fold, repeated = np.full(len(codes), -1), np.bincount(codes)[codes] > 1
    fold[repeated] = deal_classes(codes[repeated], folds, random)
    for number in range(fold.max(initial=-1) + 1):
        held = fold == number
        yield np.flatnonzero(~held), np.flatnonzero(held)


def stratified_sample(
    y: Any, most: int, random: np.random.Generator, among: Ints | None = None
) -> tuple[Ints, Floats]:
    """Places of at most `most` rows (of those `among`), or one of each class, and how many each stands for.

    Rare classes stay whole, since little is known of them; common ones give the rows that are left out.

    >>> y = np.repeat([0, 1], [90, 4])
    >>> places, stand_for = stratified_sample(y, 10, np.random.default_rng(0))
    >>> stand_for
    array([15., 15., 15., 15., 15., 15.,  1.,  1.,  1.,  1.])
    """
    among = np.arange(len(y)) if among is None else among
    classes, codes, counts = np.unique(y[among], return_inverse=True, return_counts=True)
    kept = np.zeros_like(counts)
    left, open_classes = most, len(classes)
    for code in np.argsort(counts, kind="stable"):
        kept[code] = min(counts[code], max(left // open_classes, 1))
        left, open_classes = left - kept[code], open_classes - 1
    drawn = []
    for code, size in enumerate(kept):
        own = np.flatnonzero(codes == code)
        drawn.append(random.choice(own, size, replace=False) if size < len(own) else own)
    places = np.sort(np.concatenate(drawn))
    return among[places], (counts / kept)[codes[places]]
