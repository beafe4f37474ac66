"""What rows of several classes weigh, and the parts of their tally that are sums of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats, Ints
from scorewise.door import Kind
from scorewise.door.classes import ClassRows
from scorewise.door.decided import DecidedRows
from scorewise.tallies.confidence import Rule, confidence
from scorewise.tallies.confusion import Confusion
from scorewise.tallies.losses import Moments
from scorewise.tallies.origin import Origin
from scorewise.tallies.sorting import Numbers, count_cells, sum_cells
from scorewise.tallies.tally import Tally


@dataclass(frozen=True)
class Mass:
    """What each row weighs: its weight and the sum of squared weights; counts are their own squares."""

    w: Numbers
    w2: Numbers
    times: Ints | None

    @classmethod
    def of(cls, rows: ClassRows | DecidedRows) -> Mass:
        """The weights of checked rows."""
        if rows.weight is None:
            w = np.ones(len(rows), np.int64) if rows.count is None else rows.count
            return cls(w, w, rows.count)
        times: Any = 1 if rows.count is None else rows.count
        return cls(times * rows.weight, times * rows.weight**2, rows.count)

    def tally(self, right: NDArray[np.bool_], score: Floats, kind: Kind, origin: Origin) -> Tally:
        """The tally of confidence against whether the row was right."""
        if self.w2 is self.w and self.times is None:
            cells, neg, pos = count_cells(right, score)
            neg2, pos2 = neg, pos
        else:
            used = self.w > 0
            columns = np.stack(
                [np.where(right == up, c, 0) for c in (self.w, self.w2) for up in (0, 1)]
            )
            cells, sums = sum_cells(score[used], columns[:, used])
            neg, pos, neg2, pos2 = sums
        times: Any = np.ones(len(right), np.int64) if self.times is None else self.times
        positives = int(times[right].sum())
        named = replace(origin, positives=positives, negatives=int(times.sum()) - positives)
        return Tally(cells, neg, pos, neg2, pos2, kind, named)

    def ranked(
        self, rows: ClassRows, right: NDArray[np.bool_], rule: Rule, origin: Origin
    ) -> Tally | None:
        """The same of a confidence that is not the largest probability; none where it is."""
        own = rows.confidence
        if own is not None:
            inside = not len(own) or (own.min() >= 0 and own.max() <= 1)
            named = replace(origin, score=rows.confidence_name)
            return self.tally(right, own, "probability" if inside else "score", named)
        if rule == "max":
            return None
        values, kind = confidence(rows.scores, rows.kind, rule)
        return self.tally(right, values, kind, replace(origin, score=rule))

    def confusion(self, y: Ints, called: Ints, classes: tuple[str, ...]) -> Confusion:
        """Weight per true class and decision."""
        k = len(classes)
        at = y * k + called
        if self.w2 is self.w and self.times is None:
            table: Any = np.bincount(at, minlength=k * k).astype(np.int64).reshape(k, k)
            return Confusion(table, table, classes)
        tables = []
        for w in (self.w, self.w2):
            table = np.zeros(k * k, w.dtype)
            np.add.at(table, at, w)  # which, unlike bincount, adds whole numbers exactly
            tables.append(table.reshape(k, k))
        return Confusion(tables[0], tables[1], classes)

    def moments(self, charge: Floats, y: Ints, k: int) -> tuple[Moments, ...]:
        """The moments of a loss by true class."""
        made = []
        for c in range(k):
            at = y == c
            w = self.w[at]
            made.append(Moments.of(charge[at], w, w if self.w2 is self.w else self.w2[at]))
        return tuple(made)


def origin_of(rows: ClassRows | DecidedRows, name: str, sources: tuple[str, ...]) -> Origin:
    """Where rows of several classes come from; their decisions are correct or wrong."""
    return Origin(
        label=rows.names.label, score=name, positive="correct", negative="wrong",
        weight=None if rows.weight is None else rows.names.weight,
        dropped=rows.dropped, sources=sources,
    )  # fmt: skip
