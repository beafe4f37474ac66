"""A long-lived evaluator: rows go in as they come, and a tally comes out whenever it is asked for."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from dataclasses import replace
from datetime import timedelta
from typing import Any, get_args

import numpy as np

from scorewise.checks import at_least, is_integer, is_number, one_of
from scorewise.columns import Kind, Labels, Missing, binary_rows
from scorewise.columns.classes import positive_column
from scorewise.columns.labels import pair_of, text
from scorewise.columns.numbers import Place
from scorewise.columns.sources import only_column
from scorewise.columns.vectors import Coded, Numbers, distinct, rows_with, vector
from scorewise.errors import BadInput, Option, short
from scorewise.inference.scales import effective_size
from scorewise.monitoring.windows import SCORE, Decaying, Sliding, Window
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
        self._labels = None if classes is None else _two_classes(classes)
        self._lock = threading.RLock()
        timed = isinstance(window if half_life is None else half_life, timedelta)
        self._rows: Window = Sliding(math.inf, 1, timed=True)
        if half_life is not None:
            self._rows = Decaying(_rows_or_seconds("half_life", half_life), timed)
        elif window is not None:
            self._rows = Sliding(_rows_or_seconds("window", window), parts, timed)

    def update(self, y: Any, p: Any, *, weight: Any = None, count: Any = None) -> None:
        """Take labels and scores in any one-dimensional container, or none of them if any is refused."""
        y, labels = _read_labels(only_column(y), self._labels)
        rows = binary_rows(
            None, label=y, score={SCORE: positive_column(y, p, None, self.kind)}, weight=weight,
            count=count, kind=self.kind, missing=self.missing,
        )  # fmt: skip
        copied = rows.at(slice(None))  # the caller may fill the same arrays anew
        rows = replace(copied, labels=labels or rows.labels, place=Place())
        with self._lock:
            if len(rows):
                self._check_classes(replace(rows.labels, note=""))
            self._rows.add(rows, self.clock())

    def _check_classes(self, labels: Labels) -> None:
        """The classes are those of the first rows, for good."""
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
            tallies = self._rows.tallies(self.clock())
        return sum(tallies, Tally.empty())

    @property
    def effective_rows(self) -> float:
        """Rows of equal weight that would tell as much: (sum of weights)^2 / sum of squared weights.

        >>> m = Monitor(half_life=10)
        >>> m.update([0, 1] * 500, [0.2, 0.9] * 500)
        >>> m.snapshot().origin.rows, round(m.effective_rows, 1)
        (1000, 28.9)
        """
        t = self.snapshot()
        return float(effective_size(t.negatives + t.positives, sum(t.squares)))

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
            self._rows.merge(theirs["_rows"], self.clock())
            self._labels = self._labels or theirs["_labels"]

    def __add__(self, other: Monitor) -> Monitor:
        """A monitor that has the rows of both."""
        if not isinstance(other, Monitor):
            return NotImplemented
        total = copy(self)
        total.merge(other)
        return total

    def __getstate__(self) -> dict[str, Any]:
        """All but the lock, so that a monitor can be sent to another process."""
        with self._lock:
            self._rows.tallies(self.clock())  # folds what is waiting
            state = {name: value for name, value in vars(self).items() if name != "_lock"}
            return state | {"_rows": deepcopy(self._rows)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        about = (
            f", window={self.window!r}" if self.window is not None else
            f", half_life={self.half_life!r}" if self.half_life is not None else ""
        )  # fmt: skip
        return f"<Monitor: {self.snapshot()!r}{about}>"


def _two_classes(classes: Sequence[Any]) -> Labels:
    words = [text(c) for c in classes] if not isinstance(classes, str) else []
    if len(set(words)) != 2 or len(words) != 2:
        raise BadInput(
            Option("classes"), f" must name two classes, the negative first; got {short(classes)}"
        )
    return Labels(words[1], words[0], "given")


def _read_labels(y: Any, known: Labels | None) -> tuple[Any, Labels | None]:
    """Labels as 0 and 1 where both classes are known, others being refused; a first batch has to tell both.

    Truth values stay as they are; missing labels are treated as everywhere.
    """
    column = vector(y, "label")
    if isinstance(column, Numbers) and column.values.dtype == bool:
        return y, None
    values = distinct(column)
    words = [text(value) for value in values]
    if known is None:
        declared = words[:1] in (["0"], ["1"]) or (isinstance(column, Coded) and column.declared)
        if len(words) == 1 and not declared and pair_of(words[0]) is None:
            raise BadInput(
                f"label has one value only ({words[0]}), and the other class is not known yet; name both ",
                "in ", Option("classes"), ", the negative first",
            )  # fmt: skip
        return y, None
    classes, gone = (known.negative, known.positive), column.missing()
    if strange := [v for v, word in zip(values, words, strict=True) if word not in classes]:
        wrong = rows_with(column, strange)
        wrong = wrong if gone is None else wrong & ~gone
        first = int(wrong.argmax())
        value = column.values[column.codes[first] if isinstance(column, Coded) else first]
        raise BadInput(
            f"label is {short(text(value))} {Place().rows(wrong)}; the classes are "
            f"{short(known.negative)} and {short(known.positive)}"
        )
    positive = [v for v, word in zip(values, words, strict=True) if word == known.positive]
    truth = rows_with(column, positive).astype(np.float64)
    if gone is not None:
        truth[gone] = np.nan
    return truth, known


def _rows_or_seconds(name: str, length: Length) -> float:
    """The length of a window or a half-life as a number."""
    if isinstance(length, timedelta):
        if length.total_seconds() > 0:
            return length.total_seconds()
    elif name == "half_life" and is_number(length) and 0 < length < math.inf:
        return float(length)
    elif is_integer(length, 1):
        return int(length)
    raise BadInput(
        Option(name), f" must be a positive number of rows or a timedelta, such as 100_000 or "
        f"timedelta(hours=1); got {length!r}",
    )  # fmt: skip
