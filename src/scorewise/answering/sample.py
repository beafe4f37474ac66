"""Answers that have one confidence: what every measure of them is made from."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns.answers import AnswerRows
from scorewise.tallies import Tally

FEW = 20  # distinct qualities, up to which each is a threshold of its own
GRID = tuple(i / 20 for i in range(20))


@dataclass(frozen=True, eq=False)
class Sample:
    """The quality of answers, the confidence in them, and how much each matters.

    >>> s = Sample(np.array([0.0, 0.6, 1.0]), np.array([0.3, 0.7, 0.9]), None)
    >>> s.tally(0.5)
    <Tally: 3 rows, 2 positive, on 3 scores (probability)>
    """

    quality: Floats
    confidence: Floats
    weight: Floats | None
    _tallies: dict[int, Tally] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, rows: AnswerRows, name: str, at: NDArray[np.intp] | None = None) -> Sample:
        """The answers that have this confidence, among all rows or some of them."""
        confidence = rows.confidence[name] if at is None else rows.confidence[name][at]
        known = np.flatnonzero(~np.isnan(confidence))
        index = known if at is None else at[known]
        weight = None if rows.weight is None else rows.weight[index]
        if weight is not None and not weight.all():  # what has no weight says nothing
            index, known, weight = index[weight > 0], known[weight > 0], weight[weight > 0]
        return cls(rows.quality[index], confidence[known], weight)

    def __len__(self) -> int:
        return len(self.quality)

    def correct(self, tau: float) -> int:
        """How many answers are above `tau`; of two thresholds with the same number, these are the same."""
        return int(np.count_nonzero(self.quality > tau))

    def tally(self, tau: float) -> Tally:
        """The confidence against whether the answer is correct."""
        key = self.correct(tau)
        if key not in self._tallies:
            self._tallies[key] = Tally.of(
                self.quality > tau, self.confidence, weight=self.weight, positive=True,
                kind="probability",
            )  # fmt: skip
        return self._tallies[key]


def thresholds(quality: Floats) -> tuple[float, ...]:
    """The thresholds that tell something: each distinct quality below 1 if they are few, or a grid.

    >>> thresholds(np.array([0.0, 1.0, 1.0])), len(thresholds(np.linspace(0, 1, 99)))
    ((0.0,), 20)
    """
    found = np.unique(quality)
    if len(found) > FEW:
        return GRID
    return tuple(sorted({0.0, *(q for q in found.tolist() if q < 1)}))
