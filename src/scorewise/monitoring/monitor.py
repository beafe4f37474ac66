"""A long-lived evaluator: rows go in as they come, and a tally comes out whenever it is asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Self, get_args

import numpy as np

from scorewise.checks import at_least, is_integer, is_number, one_of
from scorewise.columns import Kind, Labels, Missing, Rows, take
from scorewise.columns.classes import only_column, positive_column
from scorewise.columns.labels import pair_of, text
from scorewise.columns.numbers import Place
from scorewise.columns.vectors import Coded, vector
from scorewise.errors import BadInput, Option, short
from scorewise.inference.scales import effective
from scorewise.monitoring.windows import SCORE, Decaying, Everything, Sliding, Window
from scorewise.tallies import Tally

Length = int | float | timedelta


class Monitor:
    """A tally that is updated while scores come in, from any number of threads, in constant memory.

    `update` takes rows, checked as everywhere; a batch that is refused changes nothing. `snapshot` gives
    the `Tally` of all rows that were taken before it, of which every measure is made. It is exact up to
    65,536 distinct scores, and beyond that on the cells of a fixed grid, with certified bounds.

    `window` keeps the latest rows alone: a number of rows, or a `timedelta`. They are dropped in portions
    of a `parts`-th of it, so that there are up to that many more. `half_life` lets rows weigh half as much
    after so many rows or so much time; intervals then go by `effective_rows`. `classes` names both
    classes, the negative first; 0 and 1, booleans and words such as yes and no need none.

    >>> m = Monitor()
    >>> m.update([0, 1, 1], [0.2, 0.9, 0.4])
    >>> m.update([0], [0.3])
    >>> m.snapshot()
    <Tally: 4 rows, 2 positive, on 4 scores (probability)>
    >>> from scorewise import evaluate
    >>> evaluate(m.snapshot()).auroc.value
    1.0
    """

    def __init__(
        self,
        *,
        window: Length | None = None,
        parts: int = 20,
        half_life: Length | None = None,
        classes: Sequence[Any] | None = None,
        kind: Kind = "probability",
        missing: Missing = "refuse",
        clock: Callable[[], float] = time.time,
    ) -> None:
        one_of("kind", kind, get_args(Kind))
        at_least(1, 20, parts=parts)
        if window is not None and half_life is not None:
            raise BadInput(
                Option("window"), " and ", Option("half_life"), " are two ways to forget; pass one"
            )
        self.window, self.parts, self.half_life = window, parts, half_life
        self.kind, self.missing, self.clock = kind, missing, clock
        self._labels = None if classes is None else _classes(classes)
        self._lock = threading.RLock()
        self._kept = self._empty()

    def _empty(self) -> Window:
        if self.window is not None:
            return Sliding(_length("window", self.window), self.parts, _timed(self.window))
        if self.half_life is not None:
            return Decaying(_length("half_life", self.half_life), _timed(self.half_life))
        return Everything()

    def update(self, y: Any, p: Any, *, weight: Any = None, count: Any = None) -> None:
        """Take labels and scores in any one-dimensional container, or none of them if any is refused."""
        known = self._labels
        y, named = (only_column(y), None) if known is None else _known(only_column(y), known)
        if known is None:
            _two_sided(y)
        given: dict[str, Any] = {"weight": weight, "count": count, "missing": self.missing}
        rows = take(y, {SCORE: positive_column(y, p, None, self.kind)}, kind=self.kind, **given)
        # the caller may fill the same arrays anew
        rows = replace(
            rows,
            y=rows.y.copy(),
            scores={SCORE: rows.scores[SCORE].copy()},
            weight=None if rows.weight is None else rows.weight.copy(),
            count=None if rows.count is None else rows.count.copy(),
            labels=named or rows.labels,
            place=Place(),
        )
        with self._lock:
            self._agree(rows)
            self._kept.add(rows, self.clock())

    def _agree(self, rows: Rows) -> None:
        """The classes are those of the first rows, for good."""
        if not len(rows):
            return
        labels = replace(rows.labels, note="")
        if self._labels is None:
            self._labels = labels
        elif (labels.negative, labels.positive) != (self._labels.negative, self._labels.positive):
            raise BadInput(
                f"the classes are {short(labels.negative)} and {short(labels.positive)}, but were "
                f"{short(self._labels.negative)} and {short(self._labels.positive)} before; pass the same"
            )

    def snapshot(self) -> Tally:
        """The tally of the rows that count now; it never changes."""
        with self._lock:
            parts = self._kept.tallies(self.clock())
        return sum(parts, Tally.empty())

    @property
    def effective_rows(self) -> float:
        """Rows of equal weight that would tell as much: (sum of weights)^2 / sum of squared weights.

        >>> m = Monitor(half_life=10)
        >>> m.update([0, 1] * 500, [0.2, 0.9] * 500)
        >>> m.snapshot().origin.rows, round(m.effective_rows, 1)
        (1000, 28.9)
        """
        t = self.snapshot()
        return effective(t.negatives + t.positives, sum(t.squares))

    def merge(self, other: Monitor) -> None:
        """Take all rows of another monitor of the same settings, as from another process."""
        if not isinstance(other, Monitor):
            raise BadInput(f"a monitor takes the rows of another monitor; got {short(other)}")
        for name in ("kind", "window", "parts", "half_life"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise BadInput(
                    f"the monitors differ in {name}, {mine} and {theirs}; make both with the same"
                )
        theirs = other.__getstate__()  # before the own lock is taken, as both may merge each other
        with self._lock:
            if self._labels is not None and theirs["_labels"] is not None:
                mine = self._labels.negative, self._labels.positive
                if mine != (theirs["_labels"].negative, theirs["_labels"].positive):
                    raise BadInput("the monitors have different classes; make both with the same")
            self._kept.merge(theirs["_kept"], self.clock())
            self._labels = self._labels or theirs["_labels"]

    def __add__(self, other: Monitor) -> Monitor:
        """A monitor that has the rows of both."""
        if not isinstance(other, Monitor):
            return NotImplemented
        total = self._copy()
        total.merge(other)
        return total

    def _copy(self) -> Self:
        made = object.__new__(type(self))
        made.__setstate__(self.__getstate__())
        return made

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock, so that a monitor can be sent to another process."""
        from copy import deepcopy

        with self._lock:
            self._kept.tallies(self.clock())  # folds what is waiting
            return {
                name: deepcopy(value) if name == "_kept" else value
                for name, value in vars(self).items()
                if name != "_lock"
            }

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        about = (
            f", window={self.window!r}" if self.window is not None else
            f", half_life={self.half_life!r}" if self.half_life is not None else ""
        )  # fmt: skip
        return f"<Monitor: {self.snapshot()!r}{about}>"


def _classes(given: Sequence[Any]) -> Labels:
    words = [text(c) for c in given] if not isinstance(given, str) else []
    if len(set(words)) != 2 or len(words) != 2:
        raise BadInput(
            Option("classes"), f" must name two classes, the negative first; got {short(given)}"
        )
    return Labels(words[1], words[0], "given")


def _known(y: Any, known: Labels) -> tuple[Any, Labels | None]:
    """Labels as 0 and 1, where the words of both classes are known; others are refused."""
    column = vector(y, "label")
    if isinstance(column, Coded):
        words, codes, gone = [text(v) for v in column.values], column.codes, column.missing()
    else:
        gone = column.missing()
        if column.values.dtype == bool:
            return y, None
        if {known.negative, known.positive} == {"0", "1"}:
            _refuse(~np.isin(column.values, (0, 1)), gone, column.values, known)
            return y, None
        values = column.values if gone is None else np.where(gone, 0, column.values)
        distinct, codes = np.unique(values, return_inverse=True)
        words = [text(v) for v in distinct]
    places = {known.negative: 0.0, known.positive: 1.0}
    to = np.array([places.get(w, -1.0) for w in words] + [np.nan])  # code -1 is missing
    found = to[np.asarray(codes, np.int64)]
    if gone is not None:
        found[gone] = np.nan
    _refuse(found < 0, gone, np.array([*words, ""])[codes], known)
    return found, known


def _refuse(strange: Any, gone: Any, values: Any, known: Labels) -> None:
    """Refuse labels of neither class; missing ones are judged as everywhere."""
    strange = strange if gone is None else strange & ~gone
    if strange.any():
        raise BadInput(
            f"label is {short(text(values[strange.argmax()]))} {Place().rows(strange)}; the classes are "
            f"{short(known.negative)} and {short(known.positive)}"
        )


def _two_sided(y: Any) -> None:
    """Refuse a first batch of one value that says nothing about the other."""
    column = vector(y, "label")
    if isinstance(column, Coded):
        if column.declared:
            return
        used = [column.values[int(k)] for k in np.unique(column.codes[column.codes >= 0])]
    else:
        gone = column.missing()
        used = list(np.unique(column.values if gone is None else column.values[~gone]))
        if column.values.dtype == bool or (len(used) == 1 and used[0] in (0, 1)):
            return
    if len(used) == 1 and pair_of(word := text(used[0])) is None:
        raise BadInput(
            f"label has one value only ({word}), and the other class is not known yet; name both in ",
            Option("classes"), ", the negative first",
        )  # fmt: skip


def _timed(length: Length) -> bool:
    return isinstance(length, timedelta)


def _length(name: str, given: Length) -> float:
    """Rows, or seconds."""
    if isinstance(given, timedelta):
        if given.total_seconds() > 0:
            return given.total_seconds()
    elif is_integer(given, 1) or (name == "half_life" and is_number(given) and 0 < given < np.inf):
        return float(given) if name == "half_life" else int(given)
    raise BadInput(
        Option(name), f" must be a positive number of rows or a timedelta, such as 100_000 or "
        f"timedelta(hours=1); got {given!r}",
    )  # fmt: skip
