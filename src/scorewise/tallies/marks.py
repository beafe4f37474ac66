"""The scores of one class, by the true class of their rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.tallies.sorting import Numbers, add_runs, first_of_runs


@dataclass(frozen=True, eq=False)
class Marks:
    """Distinct pairs of score and true class, from the lowest score up, with their weight."""

    score: Floats
    true: NDArray[np.int64]
    weight: Numbers
    weight2: Numbers

    @classmethod
    def of(cls, score: Floats, true: NDArray[np.int64], weight: Numbers, weight2: Numbers) -> Marks:
        """Those of rows in any order; rows without weight are left out.

        >>> m = Marks.of(np.array([0.5, 0.1, 0.5]), np.array([1, 0, 1]), *np.ones((2, 3), int))
        >>> m.score, m.true, m.weight
        (array([0.1, 0.5]), array([0, 1]), array([1, 2]))
        """
        used = weight > 0
        if not used.all():
            squares = weight2[used]
            score, true, weight = score[used], true[used], weight[used]
            weight2 = weight if np.array_equal(squares, weight) else squares
        # + 0.0 folds -0.0 into 0.0
        score = score + 0.0
        order = np.argsort(score)
        if len(first_of_runs(score[order])) < len(score):  # only ties need the slower sort
            order = np.lexsort((true, score))
        score, true = score[order], true[order]
        new = first_of_runs(score, true)
        w = add_runs(weight[order], new)
        w2 = w if weight2 is weight else add_runs(weight2[order], new)
        return cls(score[new], true[new], w, w2)

    def __add__(self, other: Marks) -> Marks:
        pairs = (
            (getattr(self, c), getattr(other, c)) for c in ("score", "true", "weight", "weight2")
        )
        score, true, w, w2 = (np.concatenate(pair) for pair in pairs)
        counted = self.weight2 is self.weight and other.weight2 is other.weight
        return Marks.of(score, true, w, w if counted else w2)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Marks):
            return NotImplemented
        columns = ("score", "true", "weight", "weight2")
        return all(np.array_equal(getattr(self, c), getattr(other, c)) for c in columns)

    __hash__ = None  # type: ignore[assignment]

    def wins(self, own: int, many: int) -> Floats:
        """For each class, the weight of pairs with a row of `own` in which the latter scores higher.

        Ties count half. There are no pairs within a class.

        >>> ones = np.ones(4, int)
        >>> Marks.of(np.array([0.5, 0.1, 0.5, 0.4]), np.array([1, 0, 0, 1]), ones, ones).wins(1, 2)
        array([2.5, 0. ])
        """
        w = self.weight.astype(np.float64)
        start = first_of_runs(self.score)
        mine = add_runs(np.where(self.true == own, w, 0.0), start)
        above = np.cumsum(mine[::-1])[::-1] - mine / 2
        pairs = w * np.repeat(above, np.diff(start, append=len(w)))
        others = np.where(self.true == own, 0.0, pairs)
        return np.bincount(self.true, others, many).astype(np.float64, copy=False)

    def cells(self, positive: int, negative: int | None = None) -> tuple[Any, ...]:
        """Score, neg, pos, neg2, pos2: one class against another, or against the rest."""
        pos = self.true == positive
        used = slice(None) if negative is None else pos | (self.true == negative)
        score, up = self.score[used], pos[used]
        start = first_of_runs(score)
        columns = []
        for w in (self.weight[used], self.weight2[used]):
            columns += [add_runs(np.where(up, 0, w), start), add_runs(np.where(up, w, 0), start)]
        return (score[start], *columns)
