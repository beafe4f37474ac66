"""The kernel of a forest: how near training rows are to a row by shared leaves, and their posterior.

w(x, i) >= 0 says how near training row i is to a row x, a sparse matrix with a row for each x.

    w = Leaves.of(forest, ...).weights(leaves_of(forest, X_new))
    sums = class_sums(w, classes, exponent)            # of w^exponent, for each class
    tuned = tune({1.0: sums, 2.0: ...}, y, prior)      # on rows that the weights do not know
    inside = smoothed(sums, prior, tuned.smoothing, tuned.sharpness)  # the posterior near the data
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from scorewise.arrays import Bools, Floats, Ints
from scorewise.errors import BadInput
from scorewise.models.kernel_density import stratified_folds, stratified_sample
from scorewise.tallies.losses import softmax

Int32s: TypeAlias = NDArray[np.int32]
InBag: TypeAlias = Callable[[int], Floats]  # what each training row weighs in a tree

MAX_TUNING_ROWS = 2000
FOLDS = 4
SMOOTHINGS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SHARPEST, FLATTEST = 8.0, 0.125
_TINY = 1e-300
_PAIRS_AT_ONCE = 400_000  # of tree and row that are worked on at a time
_LARGE = 16  # times as many members of a class as are kept: all trees keep the same ones then


@dataclass(frozen=True)
class Leaves:
    """Members of each leaf, weighted so that exponent 1 gives back the forest.

    `members` has a row for each node, all trees one after the other, which start at `offsets`, and a
    column for each training row; nodes that are no leaves have no members. In the leaf l a member of
    class y has its share of the weight of y there, times the leaf's chance of y.
    """

    members: Any
    offsets: Int32s

    @classmethod
    def of(cls, training: Training, leaves: Int32s, y: Ints) -> Leaves:
        """From the leaf of each training row in each tree, and its class.

        A leaf keeps a few members of a class, drawn at random, which stand for the rest:
        so the work for a row does not grow with the training data where leaves are pure and large.
        Very large leaves of all trees draw alike, which keeps the rows few that have any weight.
        """
        order = training.rng.random(len(y))
        trees = [e.tree_ for e in training.forest.estimators_]
        step = max(1, _PAIRS_AT_ONCE // max(len(y), 1))
        parts = []
        for at in range(0, len(trees), step):
            some = slice(at, at + step)
            weight = np.concatenate([training.in_bag(tree) for tree in range(len(trees))[some]])
            kept = training.members, order, training.rng
            parts.append(_members(trees[some], leaves[:, some], y, weight, *kept))
        members = _narrow(sparse.vstack(parts, format="csr"))
        return cls(members, _offsets(trees)[:-1].astype(np.int32))

    def weights(self, leaves: Int32s, use: Bools | None = None) -> Any:
        """The weight w(x, i) of each training row i for rows x that fall into these leaves.

        `use` tells the trees that may speak of each row (out of bag); all of them otherwise.
        Each row of weights sums to 1 (to 0 where no tree may speak).
        """
        nodes = leaves + self.offsets
        rows, trees = nodes.shape
        if use is None:
            counts, columns = np.full(rows, trees), nodes.ravel()
        else:
            counts, columns = use.sum(axis=1), nodes[use]
        starts = np.concatenate([[0], np.cumsum(counts)])
        share = np.repeat(1.0 / np.maximum(counts, 1), counts)
        incidence = sparse.csr_array((share, columns, starts), (rows, self.members.shape[0]))
        return _narrow(incidence) @ self.members


def leaves_of(forest: Any, x: Floats) -> Int32s:
    """The leaf of each row in each tree (rows by trees)."""
    narrow = as_float32(x)
    leaves = np.empty((len(forest.estimators_), len(x)), dtype=np.int32)
    for at, tree in enumerate(forest.estimators_):
        leaves[at] = tree.tree_.apply(narrow)
    return np.ascontiguousarray(leaves.T)


def as_float32(x: Floats) -> NDArray[np.float32]:
    """The rows with the 32 bits that trees compare; refused where these do not hold them."""
    with np.errstate(over="ignore"):
        narrow = np.ascontiguousarray(x, dtype=np.float32)
    if beyond := int(np.isinf(narrow).any(axis=1).sum()):
        raise BadInput(f"{beyond} rows have infinite values or values beyond float32; rescale them")
    return narrow


def _members(
    trees: list[Any], leaves: Int32s, y: Ints, weight: Floats, most: int, order: Floats, rng: Any
) -> Any:
    """Members of the leaves of a few trees."""
    values = np.concatenate([tree.value[:, 0, :] for tree in trees])
    values = values / values.sum(axis=1, keepdims=True)
    classes = values.shape[1]
    held = np.flatnonzero(weight)
    rows = held % len(y)
    node = (leaves.T + _offsets(trees)[:-1, None]).ravel()[held]
    group = node * classes + y[rows]
    weight = weight[held]
    kept = _drawn(group, len(values) * classes, most, order[rows], rng)
    node, group, rows, weight = node[kept], group[kept], rows[kept], weight[kept]
    total = np.bincount(group, weight, len(values) * classes)
    share = weight * values.ravel()[group] / total[group]
    return sparse.csr_array((share, (node, rows)), shape=(len(values), len(y)))


def _offsets(trees: list[Any]) -> Ints:
    """The first node of each tree among the nodes of all, and how many these are."""
    return np.cumsum([0, *(tree.node_count for tree in trees)])


def _narrow(matrix: Any) -> Any:
    """The matrix with places of 32 bits where these suffice: half as much to move."""
    if max(matrix.nnz, *matrix.shape) < 2**31:
        matrix.indices = matrix.indices.astype(np.int32, copy=False)
        matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


def _drawn(group: Ints, groups: int, most: int, order: Floats, rng: Any) -> Bools:
    """Which entries stay when each group keeps `most` at most, drawn at random; large ones by `order`."""
    kept = np.ones(len(group), dtype=bool)
    count = np.bincount(group, minlength=groups)[group]
    large = np.flatnonzero(count > most)
    if not len(large):
        return kept
    of = group[large]
    drawn = np.where(count[large] > _LARGE * most, order[large], rng.random(len(of)))
    place = np.argsort(of + drawn)
    of = of[place]
    starts = np.flatnonzero(np.concatenate([[True], of[1:] != of[:-1]]))
    rank = np.arange(len(of)) - np.repeat(starts, np.diff([*starts, len(of)]))
    kept[large[place[rank >= most]]] = False
    return kept


class TuningRows(NamedTuple):
    """Training rows and the weights that all training rows have for them; `source` says from where.

    Each stands for `stand_for` rows of its class.
    """

    rows: Ints
    stand_for: Floats
    weights: Any
    source: str


@dataclass(frozen=True)
class Training:
    """A forest, the rows that it was trained on, and which of them are counted.

    A leaf keeps at most `members` of a class.
    """

    forest: Any
    x: Floats
    labels: Any
    weight: Floats | None
    counted: Bools
    members: int
    rng: Any

    @cached_property
    def in_bag(self) -> InBag:
        """What each row weighs in a tree: how often it was drawn, times its weight; 0 if not counted."""
        rows = len(self.x)
        each = self.counted * (np.ones(rows) if self.weight is None else self.weight)
        if not self.forest.bootstrap:
            return lambda tree: each
        drawn = self.forest.estimators_samples_
        if hasattr(self.forest, "_sample_weight"):
            # from scikit-learn 1.9 on, weights are the chances of being drawn
            each = self.counted * np.ones(rows)
        return lambda tree: each * np.bincount(drawn[tree], minlength=rows)

    def tuning_rows(self, leaves: Leaves, found: Int32s) -> TuningRows:
        """Rows with weights from trees that did not see them, as far as there are any.

        `found` is the leaf of each row in each tree.
        """
        drawn = self.out_of_bag(leaves, found) if self.forest.bootstrap else self.held_out()
        if drawn is not None:
            return drawn
        rows, stand_for = self._sample()
        return TuningRows(rows, stand_for, leaves.weights(found[rows]), "training rows")

    def _sample(self) -> tuple[Ints, Floats]:
        places = np.flatnonzero(self.counted)
        return stratified_sample(self.labels, MAX_TUNING_ROWS, self.rng, places)

    def out_of_bag(self, leaves: Leaves, found: Int32s) -> TuningRows | None:
        """Rows with the weights from trees that did not draw them; none where all trees drew all."""
        rows, stand_for = self._sample()
        use = np.column_stack([self.in_bag(tree)[rows] == 0 for tree in range(found.shape[1])])
        unseen = use.any(axis=1)
        rows, stand_for, use = rows[unseen], stand_for[unseen], use[unseen]
        if not len(rows):
            return None
        return TuningRows(rows, stand_for, leaves.weights(found[rows], use), "out of bag")

    def held_out(self) -> TuningRows | None:
        """Rows of each of a few folds, with the weights from a forest of the others, a fifth as large."""
        parts, labels, rng = [], self.labels, self.rng
        places = np.flatnonzero(self.counted)
        codes = np.unique(labels[places], return_inverse=True)[1]
        for fitted, held in stratified_folds(codes, FOLDS, rng):
            rest = places[fitted]
            rows, stand_for = stratified_sample(labels, MAX_TUNING_ROWS // FOLDS, rng, places[held])
            x, y, counted = self.x[rest], labels[rest], self.counted[rest]
            weight = None if self.weight is None else self.weight[rest]
            trees = max(10, len(self.forest.estimators_) // 5)
            seed = int(rng.integers(2**31 - 1))
            small = clone(self.forest)
            small.set_params(n_estimators=trees, random_state=seed, warm_start=False)
            small.fit(x, y, sample_weight=weight)
            part = Training(small, x, y, weight, counted, self.members, rng)
            leaves = Leaves.of(part, leaves_of(small, x), np.searchsorted(small.classes_, y))
            w = leaves.weights(leaves_of(small, self.x[rows])).tocsr()
            wide = sparse.csr_array((w.data, rest[w.indices], w.indptr), (len(rows), len(labels)))
            parts.append((rows, stand_for, wide))
        if not parts:
            return None
        all_rows, each, weights = zip(*parts, strict=True)
        w = sparse.vstack(weights, format="csr")
        return TuningRows(np.concatenate(all_rows), np.concatenate(each), w, f"{FOLDS} folds")


def indicator(codes: Ints, classes: int) -> Any:
    """Whether each row is of each class, 0 or 1."""
    places = np.arange(len(codes)), codes
    return sparse.csr_array((np.ones(len(codes)), places), (len(codes), classes))


def class_sums(w: Any, classes: Any, exponent: float) -> Floats:
    """Sum of w^exponent over the training rows of each class, divided by its total.

    `w` is a sparse matrix in rows (CSR) and `classes` an indicator (training rows by classes, its
    entries their weights). A row without any weight gives zeros.
    """
    powered = type(w)((w.data**exponent, w.indices, w.indptr), shape=w.shape)
    sums = sparse.csr_array(powered @ classes).toarray()
    total = sums.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(sums, total, out=np.zeros_like(sums), where=total > 0))


def smoothed(sums: Floats, prior: Floats, smoothing: float, sharpness: float) -> Floats:
    """Shares of the classes drawn towards the prior, then made sharper or flatter.

    p = (q + a prior) / (1 + a), then proportional to p^sharpness; smoothing a = 0 and sharpness 1
    (the inverse of a temperature) change nothing. Rows without any weight have the prior.
    """
    empty = sums.sum(axis=1, keepdims=True) == 0
    p = np.where(empty, prior, (sums + smoothing * prior) / (1 + smoothing))
    if sharpness == 1.0:
        return np.asarray(p)
    with np.errstate(divide="ignore"):
        return np.where(empty, prior, softmax(sharpness * np.log(p)))


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
    y: Ints,
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
    error of the least, the one nearest to 1 is taken, the forest's (the rule of one
    standard error of Breiman et al. 1984, Classification and Regression Trees).
    """
    weight = np.ones(len(y)) if weight is None else weight
    best = []
    for exponent, q in sums.items():
        tried, sharp = [], 1.0
        for smoothing in smoothings:
            logs = np.log(np.maximum(smoothed(q, prior, smoothing, 1.0), _TINY))
            logs = np.asfortranarray(logs)  # class by class: sums over a few classes are quicker so
            sharp = _sharpest(logs, y, weight, sharp) if sharpness is None else sharpness
            p = softmax(sharp * logs)[np.arange(len(y)), y]
            losses = -np.log(np.maximum(p, _TINY))
            loss = float(np.average(losses, weights=weight))
            tried.append(Tuned(exponent, smoothing, sharp, losses, loss))
        best.append(min(tried, key=lambda tuned: tuned.loss))
    least = min(best, key=lambda tuned: tuned.loss)

    def as_good(tuned: Tuned) -> bool:
        more = tuned.losses - least.losses
        mean = np.average(more, weights=weight)
        return bool(mean <= np.sqrt((weight**2 * (more - mean) ** 2).sum()) / weight.sum())

    return min(filter(as_good, best), key=lambda tuned: (abs(np.log(tuned.exponent)), tuned.loss))


def _sharpest(logs: Floats, y: Ints, weight: Floats, sharpness: float) -> float:
    """The sharpness with the least log loss, convex in it, by Newton's method from the one given."""
    true = logs[np.arange(len(y)), y]
    for _ in range(8):
        p = softmax(sharpness * logs)
        mean = (p * logs).sum(axis=1)
        slope = (weight * (mean - true)).sum()
        curve = (weight * ((p * logs**2).sum(axis=1) - mean**2)).sum()
        step = sharpness - slope / max(curve, 1e-9 * weight.sum())
        step = np.clip(step, max(sharpness / 2, FLATTEST), min(sharpness * 2, SHARPEST))
        if abs(step - sharpness) < 1e-3 * sharpness:
            break
        sharpness = float(step)
    return sharpness
