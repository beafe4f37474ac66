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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scorewise.arrays import Floats, Ints
from scorewise.errors import BadInput
from scorewise.models.input import is_whole
from scorewise.tallies.losses import softmax

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


def mixed(inside: Floats, prior: Floats, novelty: Floats) -> Floats:
    """Posterior (1 - novelty) inside + novelty prior.

    It equals the posterior of class densities q f + b with the background density b.
    """
    return inside + novelty[:, None] * (prior - inside)


# Folds of rows, those that a model is fitted to and those that are held out; and some rows for all.


def splits(codes: Ints, folds: int, random: np.random.Generator) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of places, fitted to and held out, for each of several folds.

    Classes are dealt out alike, and one row of each class at least stays on the side that is fitted to;
    a class of one row is never held out. There are no pairs where nothing can be held out.

    >>> for fitted, held in splits(np.array([0, 0, 0, 1, 1, 2]), 2, np.random.default_rng(0)):
    ...     print(fitted, held)
    [0 4 5] [1 2 3]
    [1 2 3 5] [0 4]
    """
    fold = np.full(len(codes), -1)
    dealt = 0
    for code in np.unique(codes):
        places = random.permutation(np.flatnonzero(codes == code))
        if len(places) > 1:
            fold[places] = (dealt + np.arange(len(places))) % folds
            dealt += len(places)
    for number in range(fold.max(initial=-1) + 1):
        held = fold == number
        yield np.flatnonzero(~held), np.flatnonzero(held)


def some(y: Any, most: int, rng: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places of at most `most` rows, or one of each class, and how many rows each stands for.

    Rare classes stay whole, since little is known of them; common ones give the rows that are left out.

    >>> places, stand_for = some(np.repeat([0, 1], [90, 4]), 10, np.random.default_rng(0))
    >>> stand_for
    array([15., 15., 15., 15., 15., 15.,  1.,  1.,  1.,  1.])
    """
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    kept = np.zeros_like(counts)
    left, open_classes = most, len(classes)
    for code in np.argsort(counts, kind="stable"):
        kept[code] = min(counts[code], max(left // open_classes, 1))
        left, open_classes = left - kept[code], open_classes - 1
    drawn = [
        rng.choice(np.flatnonzero(codes == code), size, replace=False)
        if size < counts[code]
        else np.flatnonzero(codes == code)
        for code, size in enumerate(kept)
    ]
    places = np.sort(np.concatenate(drawn))
    return places, (counts / kept)[codes[places]]


def check_folds(folds: Any) -> None:
    """Refuse what is no number of folds."""
    if not (is_whole(folds) and folds >= 2):
        raise BadInput(f"folds is {folds!r}; it must be a number from 2 up, such as 5")


# Exponent, smoothing and temperature of a kernel posterior, by log loss on rows it does not know.


SMOOTHINGS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SHARPEST, FLATTEST = 8.0, 0.125
_TINY = 1e-300


@dataclass(frozen=True)
class Tuned:
    """Exponent, smoothing and sharpness, and the log loss of each row with them."""

    exponent: float
    smoothing: float
    sharpness: float
    losses: Floats
    loss: float


def tune(
    sums: Mapping[float, Floats],
    y: NDArray[np.int64],
    prior: Floats,
    weight: Floats | None = None,
    *,
    smoothings: Sequence[float] = SMOOTHINGS,
    sharpness: float | None = None,
) -> Tuned:
    """The settings with the least log loss, but no other exponent than it takes.

    `sums` holds `class_sums` for each exponent that is tried, of rows whose class codes are `y`
    and which had no part in the weights (out of bag, or held out). Each exponent gets its best
    smoothing, and sharpness unless that is given. Of the exponents whose loss is within a standard
    error of the least, the one nearest to 1 is taken, which is the forest's own (the rule of one
    standard error of Breiman et al. 1984, Classification and Regression Trees).
    """
    weight = np.ones(len(y)) if weight is None else weight
    found = [
        _best(exponent, q, y, prior, weight, smoothings, sharpness) for exponent, q in sums.items()
    ]
    if not found:
        raise BadInput("nothing to tune: no exponents were given")
    least = min(found, key=lambda tuned: tuned.loss)
    as_good = [tuned for tuned in found if _as_good(tuned.losses - least.losses, weight)]
    return min(as_good, key=lambda tuned: (abs(np.log(tuned.exponent)), tuned.loss))


def _as_good(more: Floats, weight: Floats) -> bool:
    """Whether losses are more by no more than a standard error."""
    mean = np.average(more, weights=weight)
    error = np.sqrt((weight**2 * (more - mean) ** 2).sum()) / weight.sum()
    return bool(mean <= error)


def _best(
    exponent: float,
    q: Floats,
    y: NDArray[np.int64],
    prior: Floats,
    weight: Floats,
    smoothings: Sequence[float],
    given: float | None,
) -> Tuned:
    """The best smoothing of an exponent, and its sharpness."""
    tried, start = [], 1.0
    for smoothing in smoothings:
        logs = np.log(np.maximum(smoothed(q, prior, smoothing, 1.0), _TINY))
        logs = np.asfortranarray(logs)  # class by class: sums over a few classes are quicker so
        start = _sharpest(logs, y, weight, start) if given is None else given
        p = softmax(start * logs)[np.arange(len(y)), y]
        losses = -np.log(np.maximum(p, _TINY))
        loss = float(np.average(losses, weights=weight))
        tried.append(Tuned(exponent, smoothing, start, losses, loss))
    if not tried:
        raise BadInput("nothing to tune: no smoothings were given")
    return min(tried, key=lambda tuned: tuned.loss)


def _sharpest(logs: Floats, y: NDArray[np.int64], weight: Floats, sharpness: float) -> float:
    """The sharpness with the least log loss, convex in it, by Newton's method from the one given."""
    said = logs[np.arange(len(y)), y]
    for _ in range(8):
        p = softmax(sharpness * logs)
        mean = (p * logs).sum(axis=1)
        slope = (weight * (mean - said)).sum()
        curve = (weight * ((p * logs**2).sum(axis=1) - mean**2)).sum()
        moved = sharpness - slope / max(curve, 1e-9 * weight.sum())
        moved = np.clip(moved, max(sharpness / 2, FLATTEST), min(sharpness * 2, SHARPEST))
        if abs(moved - sharpness) < 1e-3 * sharpness:
            break
        sharpness = float(moved)
    return sharpness
