"""How good posteriors are, near the training data and far from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

Array = NDArray[np.float64]
CLIP = 1e-15  # the least posterior that log loss counts with
FLOOR = (
    1e-3  # the least posterior that a class is held at, where log loss is not to rest on a few rows
)


def judged(p: Array, y: NDArray[np.int64]) -> dict[str, float]:
    """Measures of posteriors `p` whose true classes are the columns `y`."""
    rows = np.arange(len(y))
    said = p.argmax(axis=1)
    return {
        "error": float((said != y).mean()),
        "kappa": float(cohen_kappa_score(y, said)),
        "ece": ece(p, y),
        "ece_chance": ece_by_chance(p),
        "brier": float(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1).mean()),
        "log_loss": float(-np.log(np.maximum(p[rows, y], CLIP)).mean()),
        "log_loss_floor": float(-np.log(held(p)[rows, y]).mean()),
        "zeros": int((p[rows, y] <= CLIP).sum()),
        "rows": len(y),
    }


def held(p: Array, floor: float = FLOOR) -> Array:
    """Posteriors held at `floor` or more, and divided by their sum.

    >>> held(np.array([[1.0, 0.0], [0.6, 0.4]]), 0.25).round(3).tolist()
    [[0.8, 0.2], [0.6, 0.4]]
    """
    at_least = np.maximum(p, floor)
    return np.asarray(at_least / at_least.sum(axis=1, keepdims=True))


def ece(p: Array, y: Any, bins: int = 15) -> float:
    """Gap between confidence and share of hits, over equal-width bins of the confidence."""
    return _gap(p.max(axis=1), p.argmax(axis=1) == y, bins)


def ece_by_chance(p: Array, bins: int = 15, draws: int = 200, seed: int = 0) -> float:
    """Mean ECE that posteriors would get on so many rows if they were true."""
    top = p.max(axis=1)
    hits = np.random.default_rng(seed).random((draws, len(p))) < top
    return float(np.mean([_gap(top, hit, bins) for hit in hits]))


def _gap(top: Array, hit: Any, bins: int) -> float:
    cell = np.minimum((top * bins).astype(int), bins - 1)
    gap = np.bincount(cell, top, bins) - np.bincount(cell, hit, bins)
    return float(np.abs(gap).sum() / len(top))
