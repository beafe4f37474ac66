"""What the classes' scores say together: the rows themselves, or a sample where they are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.tallies.sorting import Numbers, add_runs, first_of_runs

MOST = 1 << 14


@dataclass(frozen=True, eq=False)
class Joint:
    """Distinct rows with the weight of each: all of them up to 16,384, else a sample of so many.

    The sample keeps the rows whose content has the least hash: it depends on nothing but the rows, not
    on their order, and those of two parts merge to that of the whole. `total` and `total2` are the sums
    of weights and squared weights of all rows. For variances and for measures that need whole rows.
    """

    scores: Floats
    y: NDArray[np.int64]
    weight: Numbers
    weight2: Numbers
    key: NDArray[np.uint64]
    total: float
    total2: float

    @classmethod
    def of(
        cls,
        scores: Floats,
        y: NDArray[np.int64],
        weight: Numbers,
        weight2: Numbers,
        totals: tuple[float, float] | None = None,
    ) -> Joint:
        """The sample of rows in any order; `totals` where they are a sample already."""
        total, total2 = totals or (_sum(weight), _sum(weight2))
        return _least(scores, y, weight, weight2, _hash(scores, y), total, total2)

    @property
    def whole(self) -> bool:
        """Whether no row was left out."""
        return bool(abs(_sum(self.weight) - self.total) <= 1e-12 * self.total)

    def __add__(self, other: Joint) -> Joint:
        names = ("scores", "y", "weight", "weight2", "key")
        parts: Any = [np.concatenate((getattr(self, c), getattr(other, c))) for c in names]
        scores, y, w, w2, key = parts
        return _least(scores, y, w, w2, key, self.total + other.total, self.total2 + other.total2)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Joint):
            return NotImplemented
        columns = ("scores", "y", "weight", "weight2")
        return all(np.array_equal(getattr(self, c), getattr(other, c)) for c in columns)

    __hash__ = None  # type: ignore[assignment]


def _least(
    scores: Floats, y: Any, weight: Any, weight2: Any, key: Any, total: float, total2: float
) -> Joint:
    """Equal rows joined, and those with the least keys kept."""
    if len(key) > 2 * MOST:
        # duplicates share their key, so that the least MOST distinct keys are among those up to here
        ordered = np.sort(key)
        kept = key <= ordered[first_of_runs(ordered)][:MOST][-1]
        scores, y, weight, weight2, key = (c[kept] for c in (scores, y, weight, weight2, key))
    order = np.argsort(key, kind="stable")
    start = first_of_runs(key[order])
    w, w2 = add_runs(weight[order], start), add_runs(weight2[order], start)
    first = order[start][:MOST]
    return Joint(
        scores[first], y[first], w[:MOST], w2[:MOST], key[order][start][:MOST], total, total2
    )


def _hash(scores: Floats, y: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Sixty-four bits of each row's content, well mixed (splitmix64)."""
    # + 0.0 folds -0.0 into 0.0
    bits = np.ascontiguousarray(scores + 0.0).view(np.uint64)
    mixed = _mix(y.astype(np.uint64) + np.uint64(1))
    for k in range(bits.shape[1]):
        mixed = _mix(mixed ^ (bits[:, k] + np.uint64(0x9E3779B97F4A7C15)))
    return mixed


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _sum(weight: Numbers) -> float:
    total: float = weight.sum().item()
    return total
