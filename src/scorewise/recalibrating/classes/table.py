"""Rows of several classes as maps see them: log probabilities, in an order that their content gives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats, Ints
from scorewise.columns.classes import ClassKind, ClassRows
from scorewise.errors import BadInput
from scorewise.tallies.losses import softmax

MOST = 10**7


@dataclass(frozen=True)
class Table:
    """Rows: log probabilities `x`, probabilities `p`, the place of the true class `y`, the weight `w`.

    `row` is what one row weighs: 1 for counts, sum of squares / sum for weights.
    """

    x: Floats
    p: Floats
    y: Ints
    w: Floats
    row: float = 1.0

    @classmethod
    def of(cls, rows: ClassRows, clip: float) -> Table:
        """The rows that have weight, sorted by their content, each as often as it counts."""
        w = np.ones(len(rows)) if rows.weight is None else rows.weight
        times: Any = 1 if rows.count is None else rows.count
        kept = np.flatnonzero((w > 0) & (np.broadcast_to(times, w.shape) > 0))
        kept = kept[np.argsort(_content(rows.y[kept], rows.scores[kept], w[kept]), kind="stable")]
        if rows.count is not None:
            if int(rows.count[kept].sum()) > MOST:
                raise BadInput(
                    f"{rows.names.count} adds up to more than {MOST:,} rows, which are fitted one by one; "
                    f"pass it as weight= instead"
                )
            kept = np.repeat(kept, rows.count[kept])
        scores, w = rows.scores[kept], w[kept]
        p = softmax(scores) if rows.kind == "logit" else scores
        total = float(w.sum())
        row = float((w * w).sum()) / total if total else 1.0
        return cls(log_probabilities(scores, rows.kind, clip), p, rows.y[kept], w, row)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def many(self) -> int:
        """The number of classes."""
        return int(self.x.shape[1])

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Which classes occur."""
        return np.bincount(self.y, minlength=self.many) > 0

    def at(self, which: Any) -> Table:
        """Some of the rows."""
        return replace(self, x=self.x[which], p=self.p[which], y=self.y[which], w=self.w[which])


def log_probabilities(scores: Floats, kind: ClassKind, clip: float) -> Floats:
    """The logarithms of probabilities kept `clip` from 0; of logits without rounding to 0.

    >>> log_probabilities(np.array([[1.0, 0.0]]), "probability", 1e-7).round(3)
    array([[  0.   , -16.118]])
    """
    if kind == "probability":
        return np.log(np.clip(scores, clip, 1.0))
    apart = scores - scores.max(1, keepdims=True)
    made: Floats = apart - np.log(row_sums(np.exp(apart)))[:, None]
    return made


def row_sums(values: Floats) -> Floats:
    """The sum of each row, class after class: the same bits whatever rows stand beside it."""
    total = values[:, 0].copy()
    for k in range(1, values.shape[1]):
        total += values[:, k]
    return total


def _content(y: Ints, scores: Floats, w: Floats) -> NDArray[np.uint64]:
    """A number for each row that depends on what is in it alone, as good as drawn at random."""
    made = y.astype(np.uint64)
    for column in (*scores.T, w):
        bits = np.ascontiguousarray(column + 0.0).view(np.uint64)  # + 0.0 folds -0.0 into 0.0
        made = _mixed(made ^ bits)
    return made


def _mixed(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Bits well stirred (Steele, Lea and Flood 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
