"""The leaves of a forest as sparse matrices: which training rows share them with a row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.models.posterior import some, splits

_ENTRIES = 400_000  # pairs of tree and row that are worked on at a time
_LARGE = 16  # times as many members of a class as are kept: all trees keep the same ones then


def leaves_of(forest: Any, x: Floats) -> NDArray[np.int32]:
    """The leaf of each row in each tree (rows by trees)."""
    return np.ascontiguousarray(_by_tree(forest, x).T)


def _by_tree(forest: Any, x: Floats) -> NDArray[np.int32]:
    """The leaf of each row in each tree (trees by rows)."""
    seen = as_trees_see(x)
    found = np.empty((len(forest.estimators_), len(x)), dtype=np.int32)
    for at, tree in enumerate(forest.estimators_):
        found[at] = tree.tree_.apply(seen)
    return found


def together(forest: Any, x: Floats) -> NDArray[np.int64]:
    """The order of rows in which those that share leaves follow one another.

    Trees then take the same turns again and again, and what belongs to a leaf is read once.
    """
    seen = as_trees_see(x)
    return np.lexsort([tree.tree_.apply(seen) for tree in forest.estimators_[:3]])


def as_trees_see(x: Floats) -> NDArray[np.float32]:
    """The rows with the 32 bits that trees compare; refused where these do not hold them."""
    with np.errstate(over="ignore"):
        seen = np.ascontiguousarray(x, dtype=np.float32)
    if beyond := int(np.isinf(seen).any(axis=1).sum()):
        raise BadInput(f"{beyond} rows have infinite values or values beyond float32; rescale them")
    return seen


@dataclass(frozen=True)
class Leaves:
    """Members of each leaf, weighted so that exponent 1 gives back the forest.

    `members` has a row for each leaf of each tree and a column for each training row. In the
    leaf l a member of class y has its share of the weight of y there, times the leaf's chance of y.
    `numbers` has the row of each node, all trees one after the other, which start at `offsets`.
    """

    members: Any
    numbers: NDArray[np.int32]
    offsets: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        forest: Any,
        leaves: NDArray[np.int32],
        y: NDArray[np.int64],
        inside: Any,
        most: int,
        rng: Any,
    ) -> Leaves:
        """From the leaf of each row in each tree and each row's weight there, `inside(tree)`.

        A leaf keeps at most `most` members of a class, drawn at random, which stand for the rest:
        so the work for a row does not grow with the training data where leaves are pure and large.
        Very large leaves of all trees draw alike, which keeps the rows few that have any weight.
        """
        lot = rng.random(len(y))
        trees = [e.tree_ for e in forest.estimators_]
        offsets = np.cumsum([0, *(tree.node_count for tree in trees)])
        step = max(1, _ENTRIES // max(len(y), 1))
        parts = [
            _members(
                trees[at : at + step],
                leaves[:, at : at + step],
                y,
                [inside(t) for t in range(at, min(at + step, len(trees)))],
                most,
                lot,
                rng,
            )
            for at in range(0, len(trees), step)
        ]
        ends = np.concatenate([tree.children_left == -1 for tree in trees])
        numbers = np.where(ends, np.cumsum(ends) - 1, 0).astype(np.int32)
        return cls(_narrow(sparse.vstack(parts, format="csr")), numbers, offsets[:-1])

    def reached(self, forest: Any, x: Floats) -> NDArray[np.int32]:
        """The row of `members` that each row of x reaches in each tree (trees by rows)."""
        found = _by_tree(forest, x)
        for at, start in enumerate(self.offsets):
            found[at] = self.numbers[start:][found[at]]
        return found

    def weights(self, leaves: NDArray[np.int32], use: NDArray[np.bool_] | None = None) -> Any:
        """The weight w(x, i) of each training row i for rows x that fall into these leaves.

        `use` tells the trees that may speak of each row (out of bag); all of them otherwise.
        Each row of weights sums to 1 (to 0 where no tree may speak).
        """
        return self.weights_of(self.numbers[leaves + self.offsets], use)

    def weights_of(self, own: NDArray[np.int32], use: NDArray[np.bool_] | None = None) -> Any:
        """The same for rows that reach these rows of `members`."""
        rows, trees = own.shape
        if use is None:
            counts, columns = np.full(rows, trees), own.ravel()
        else:
            counts, columns = use.sum(axis=1), own[use]
        starts = np.concatenate([[0], np.cumsum(counts)])
        share = np.repeat(1.0 / np.maximum(counts, 1), counts)
        asked = sparse.csr_array((share, columns, starts), shape=(rows, self.members.shape[0]))
        return _narrow(asked) @ self.members


def _members(
    trees: list[Any],
    leaves: NDArray[np.int32],
    y: NDArray[np.int64],
    inside: list[Floats],
    most: int,
    lot: Floats,
    rng: Any,
) -> Any:
    """Members of the leaves of a few trees."""
    offsets = np.cumsum([0, *(tree.node_count for tree in trees)])
    values = np.concatenate([tree.value[:, 0, :] for tree in trees])
    values = values / values.sum(axis=1, keepdims=True)
    classes = values.shape[1]
    weight = np.concatenate(inside)
    held = np.flatnonzero(weight)
    rows = held % len(y)
    node = (leaves.T + offsets[:-1, None]).ravel()[held]
    group = node * classes + y[rows]
    weight = weight[held]
    kept = _some(group, len(values) * classes, most, lot[rows], rng)
    node, group, rows, weight = node[kept], group[kept], rows[kept], weight[kept]
    total = np.bincount(group, weight, len(values) * classes)
    share = weight * values.ravel()[group] / total[group]
    ends = np.concatenate([tree.children_left == -1 for tree in trees])
    return sparse.csr_array((share, (node, rows)), shape=(len(values), len(y)))[ends]


def _narrow(matrix: Any) -> Any:
    """The matrix with places of 32 bits where these suffice: half as much to move."""
    if max(matrix.nnz, *matrix.shape) < 2**31:
        matrix.indices = matrix.indices.astype(np.int32, copy=False)
        matrix.indptr = matrix.indptr.astype(np.int32, copy=False)
    return matrix


def _some(
    group: NDArray[np.int64], groups: int, most: int, lot: Floats, rng: Any
) -> NDArray[np.bool_]:
    """Which entries stay when each group keeps at most `most`, drawn at random; large ones by `lot`."""
    kept = np.ones(len(group), dtype=bool)
    count = np.bincount(group, minlength=groups)[group]
    large = np.flatnonzero(count > most)
    if not len(large):
        return kept
    of = group[large]
    drawn = np.where(count[large] > _LARGE * most, lot[large], rng.random(len(of)))
    order = np.argsort(of + drawn)
    of = of[order]
    first = np.concatenate([[True], of[1:] != of[:-1]])
    starts = np.flatnonzero(first)
    rank = np.arange(len(of)) - np.repeat(starts, np.diff([*starts, len(of)]))
    kept[large[order[rank >= most]]] = False
    return kept


# Weights for training rows from trees that did not see them, on which settings are tuned.


MOST = 2000  # training rows on which settings are tuned
FOLDS = 4


@dataclass(frozen=True)
class Unseen:
    """Training rows and the weights that all training rows have for them; `how` says from where.

    Each stands for `stand_for` rows of its class.
    """

    rows: NDArray[np.int64]
    stand_for: NDArray[np.float64]
    weights: Any
    how: str


def bags(
    forest: Any, rows: int, weight: Any, counts: Any = True
) -> Callable[[int], NDArray[np.float64]]:
    """What a training row weighs in a tree of the forest: how often it was drawn, times its weight.

    Rows that do not count, since their class weighs nothing, weigh nothing.
    """
    given = (np.ones(rows) if weight is None else np.asarray(weight, dtype=float)) * counts
    if not forest.bootstrap:
        return lambda tree: given
    drawn = forest.estimators_samples_
    # from scikit-learn 1.9 on, weights are the chances of being drawn
    each = counts * np.ones(rows) if hasattr(forest, "_sample_weight") else given
    return lambda tree: each * np.bincount(drawn[tree], minlength=rows)


def some_of(
    counts: NDArray[np.bool_], y: Any, most: int, rng: Any
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """As `some`, of the rows that count."""
    own = np.flatnonzero(counts)
    places, stand_for = some(y[own], most, rng)
    return own[places], stand_for


def out_of_bag(
    leaves: Leaves,
    found: NDArray[np.int32],
    y: Any,
    inside: Callable[[int], Any],
    counts: NDArray[np.bool_],
    rng: Any,
) -> Unseen | None:
    """Rows with the weights from the trees that did not draw them; none where all trees drew all."""
    rows, stand_for = some_of(counts, y, MOST, rng)
    use = np.column_stack([inside(tree)[rows] == 0 for tree in range(found.shape[1])])
    told = use.any(axis=1)
    rows, stand_for, use = rows[told], stand_for[told], use[told]
    if not len(rows):
        return None
    return Unseen(rows, stand_for, leaves.weights(found[rows], use), "out of bag")


def held_out(
    forest: Any, x: Any, y: Any, weight: Any, counts: NDArray[np.bool_], most: int, rng: Any
) -> Unseen | None:
    """Rows of each of a few folds, with the weights from a smaller forest of the other folds."""
    parts = []
    own = np.flatnonzero(counts)
    for others, held in splits(np.unique(y[own], return_inverse=True)[1], FOLDS, rng):
        rest, asked = own[others], own[held]
        places, stand_for = some(y[asked], MOST // FOLDS, rng)
        asked = asked[places]
        kept = None if weight is None else weight[rest]
        w = _from_others(forest, x[rest], y[rest], kept, x[asked], most, rng)
        wide = sparse.csr_array((w.data, rest[w.indices], w.indptr), (len(asked), len(y)))
        parts.append((asked, stand_for, wide))
    if not parts:
        return None
    rows, each, weights = zip(*parts, strict=True)
    w = sparse.vstack(weights, format="csr")
    return Unseen(np.concatenate(rows), np.concatenate(each), w, f"{FOLDS} folds")


def _from_others(forest: Any, x: Any, y: Any, weight: Any, asked: Any, most: int, rng: Any) -> Any:
    """Weights of the rows `x` for the rows `asked`, from a fifth of the trees."""
    from sklearn.base import clone

    trees = max(10, len(forest.estimators_) // 5)
    seed = int(rng.integers(2**31 - 1))
    small = clone(forest).set_params(n_estimators=trees, random_state=seed, warm_start=False)
    small.fit(x, y, sample_weight=weight)
    codes = np.searchsorted(small.classes_, y)
    inside = bags(small, len(y), weight)
    leaves = Leaves.of(small, leaves_of(small, x), codes, inside, most, rng)
    return leaves.weights(leaves_of(small, asked)).tocsr()
