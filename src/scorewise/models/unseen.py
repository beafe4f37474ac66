"""Weights for training rows from trees that did not see them, on which settings are tuned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from scorewise.models.held_out import some, splits
from scorewise.models.leaves import Leaves, leaves_of

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
