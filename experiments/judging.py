"""How good posteriors are, near the training data and far from it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

Array = NDArray[np.float64]


def judged(p: Array, y: NDArray[np.int64]) -> dict[str, float]:
    """Measures of posteriors `p` whose true classes are the columns `y`."""
    rows = np.arange(len(y))
    said = p.argmax(axis=1)
    return {
        "error": float((said != y).mean()),
        "kappa": float(cohen_kappa_score(y, said)),
        "ece": ece(p, y),
        "brier": float(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1).mean()),
        "log_loss": float(-np.log(np.maximum(p[rows, y], 1e-15)).mean()),
    }


def ece(p: Array, y: Any, bins: int = 15) -> float:
    """Gap between confidence and share of hits, over equal-width bins of the confidence."""
    top, hit = p.max(axis=1), p.argmax(axis=1) == y
    cell = np.minimum((top * bins).astype(int), bins - 1)
    gap = np.bincount(cell, top, bins) - np.bincount(cell, hit, bins)
    return float(np.abs(gap).sum() / len(p))


def away(x: Array, radii: float, count: int = 200, seed: int = 0) -> Array:
    """Points at so many radii of the data in random directions, features in units of their spread.

    The radius is the largest distance of a row from the mean; features that do not vary stay.
    """
    mean, spread = x.mean(axis=0), x.std(axis=0)
    z = np.divide(x - mean, spread, out=np.zeros_like(x), where=spread > 0)
    way = np.random.default_rng(seed).normal(size=(count, x.shape[1])) * (spread > 0)
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    return np.asarray(mean + radii * np.linalg.norm(z, axis=1).max() * way * spread)
