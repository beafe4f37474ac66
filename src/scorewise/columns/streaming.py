"""Files larger than memory: rows of two classes, checked batch by batch.

What a batch cannot tell by itself is settled on the way: the columns by the first rows of the first file,
the classes by all labels seen so far, the kind of the scores by their range so far. Where a later batch
changes the answer for rows that were handed out, `Changed` says so, and the reader begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.arrays import Bools
from scorewise.columns.binary import Kind, Rows, is_half, scored
from scorewise.columns.csv_files import Table, in_batches
from scorewise.columns.files import Opened
from scorewise.columns.labels import REST, Labels, read_labels, text
from scorewise.columns.numbers import Place
from scorewise.columns.roles import near_names
from scorewise.columns.rows import Columns, Missing, read
from scorewise.columns.vectors import Coded, Vector, spread, spreadable, vector
from scorewise.errors import BadInput, Option, short

if TYPE_CHECKING:
    import polars as pl

BATCH = 1 << 19  # rows that are checked at a time
_PEEK = 1 << 16  # rows that tell which columns are meant
_MOST_WORDS = 1000


class Changed(Exception):  # noqa: N818  (a turn, not a fault)
    """What was said of earlier rows no longer holds; to be read again from the start."""


@dataclass
class Settled:
    """What is known of the rows so far.

    `columns` are the names of each role, `words` the labels seen with their values, `kind` what the scores
    are, and `handed` says that rows were given out under it.
    """

    columns: dict[str, Any]
    positive: Any = None
    asked_kind: Kind | None = None
    missing: Missing = "refuse"
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    words: dict[str, Any] = field(default_factory=dict)
    up: frozenset[str] = frozenset()  # words of the positive class
    kind: Kind | None = None
    written: dict[str, bool] = field(default_factory=dict)  # columns read in another way: 7 %
    handed: bool = False
    known: Labels | None = None  # what an earlier reading found, whose values are not at hand

    @property
    def label(self) -> str:
        """The name of the column of labels."""
        return str(self.columns["label"])

    @property
    def score(self) -> str:
        """The name of the column of scores."""
        return str(self.columns["score"])

    @property
    def names(self) -> list[str]:
        """All columns that are read, each once."""
        listed = (c if isinstance(c, list) else [c] for c in self.columns.values() if c is not None)
        return list(dict.fromkeys(name for names in listed for name in names))

    def labels(self) -> Labels:
        """The two classes by all that was seen; refused where that does not tell."""
        if self.known is not None and {*self.words} == {self.known.positive, self.known.negative}:
            return self.known
        return read_labels(self._seen(), self.label, self.positive)[1]

    @property
    def decided(self) -> bool:
        """Whether the labels seen so far tell which class is positive."""
        try:
            return self.labels().negative != REST
        except BadInput:
            return False

    def know(self, labels: Labels, kind: Kind) -> bool:
        """Take over what an earlier reading found; whether it fits what is known here."""
        try:
            self._learn([labels.positive, labels.negative], lambda word: "")
        except (BadInput, Changed):
            return False
        if not self.decided or kind not in (self.asked_kind or kind, self.kind or kind):
            return False
        self.kind, self.handed = kind, True
        mine, self.known = self.labels(), labels
        return (mine.positive, mine.negative) == (labels.positive, labels.negative)

    def truth(self, column: Vector, place: Place) -> Bools:
        """True where the label is of the positive class."""
        if isinstance(column, Coded) and column.values and spreadable(column.values):
            column = spread(column)
        found = _distinct(column)
        if new := [value for value in found if text(value) not in self.words]:
            self._learn(new, lambda value: place.row(_first(column, value)))
        up = [value for value in found if text(value) in self.up]
        if isinstance(column, Coded):
            return np.isin(column.codes, [column.values.index(value) for value in up])
        if column.values.dtype == bool:
            return column.values if up == [True] else ~column.values if up else _none(column)
        made: Bools = column.values == up[0] if len(up) == 1 else np.isin(column.values, up)
        return made if up else _none(column)

    def _learn(self, new: Sequence[Any], where: Callable[[Any], str]) -> None:
        """Take new labels in, and decide again which of them are positive."""
        before, known = self.up, list(self.words)
        for value in new:
            self.words.setdefault(text(value), value)
        if len(self.words) > _MOST_WORDS:
            raise BadInput(
                f"{self.label} has more than {_MOST_WORDS:,} distinct values, such as "
                f"{short(next(iter(self.words)))}: it looks like a score; swap label and score?"
            )
        try:
            y = read_labels(self._seen(), self.label, self.positive)[0]
        except BadInput as problem:
            if self.positive is None and len(self.words) > 2:
                raise self._third(new, where) or problem from None
            y = np.zeros(len(self.words), bool)  # not decided yet
        self.up = frozenset(word for word, yes in zip(self.words, y, strict=True) if yes)
        if self.handed and before & frozenset(known) != self.up & frozenset(known):
            raise Changed

    def _third(self, new: Sequence[Any], where: Callable[[Any], str]) -> BadInput | None:
        place = where(new[-1])
        if not self.handed or not place:
            return None
        others = " and ".join([word for word in self.words if word != text(new[-1])][:2])
        return BadInput(
            f"{self.label} is {short(text(new[-1]))} at {place}, beside {others}; two classes are wanted: "
            "correct it, or pass ", Option("positive"), " to set one of them against the rest",
        )  # fmt: skip

    def _seen(self) -> Vector:
        values = list(self.words.values())
        if any(isinstance(v, str) for v in values):
            values = list(self.words)
        return vector(values, self.label)

    def rows(self, found: Columns) -> Rows:
        """The rows of a batch of columns."""
        y = self.truth(found.one("label"), found.place)
        name = self.score
        for column in self.names:
            other = any(note.startswith(f"{column}: ") for note in found.notes)
            if self.written.setdefault(column, other) != other:
                raise BadInput(
                    f"{column} is written in another way from {found.place.row(0)} on than before; write "
                    "all of it in the same way"
                )
        s, kind, note = scored(found.one("score"), name, self.asked_kind, found.place)
        if self.kind is None:
            self.kind = kind
        elif self.kind != kind:
            if self.kind == "probability" and self.handed:
                self.kind = kind
                raise Changed
            self.kind = "score"
        checked = found.checked(note)
        self.notes = tuple(dict.fromkeys((*self.notes, *checked.pop("notes"))))
        self.handed = True
        # the names of the classes are known when all has been read
        return Rows(
            y=y, scores={name: s}, labels=Labels("1", "0", ""), kinds={name: self.kind}, notes=(),
            half=frozenset([name] if is_half(found.one("score")) else []), **checked,
        )  # fmt: skip


def _none(column: Vector) -> Bools:
    return np.zeros(len(column), bool)


def _distinct(column: Vector) -> list[Any]:
    """The values that occur."""
    if isinstance(column, Coded):
        used = np.flatnonzero(np.bincount(column.codes, minlength=len(column.values)))
        return [column.values[k] for k in used.tolist()]
    values = column.values
    if not len(values):
        return []
    low, high = values.min(), values.max()
    ends = [low.item()] if low == high else [low.item(), high.item()]
    if values.dtype.kind in "biu" and int(high) - int(low) <= 1:
        return ends
    if np.count_nonzero((values == low) | (values == high)) == len(values):
        return ends
    return list(np.unique(values).tolist())


def _first(column: Vector, value: Any) -> int:
    """The first row that has a value."""
    if isinstance(column, Coded):
        return int((column.codes == column.values.index(value)).argmax())
    return int((column.values == value).argmax())


def settle(
    table: Table, asked: Mapping[str, Any], *, positive: Any, kind: Kind | None, missing: Missing
) -> Settled:
    """Which columns of a file are meant, by its first rows."""
    several = asked.get("score")
    if several is not None and not isinstance(several, str) and len(several) > 1:
        raise BadInput(
            "several columns of scores are named; a tally is of one, ", Option("score")
        )  # fmt: skip

    def head(wanted: list[str], texts: Any) -> tuple[dict[str, Any], Place]:
        with table.whole() as whole, whole.guard():
            frame = whole.frame.head(_PEEK).select(_placed(table.columns, wanted)).collect()
        if not frame.height:
            raise BadInput(f"{table.name} has no rows")
        place = Place(files=((table.name, frame.height),), partial=True)
        return {s.name: whole.typed(s) for s in frame}, place

    found = read(Opened(table.columns, head, (table.name,)), asked, missing="drop")
    if len(found["score"]) > 1:
        raise BadInput("several columns of scores are named; a tally is of one, ", Option("score"))
    columns = {
        role: list(named) if role == "group" else next(iter(named), None)
        for role, named in found.values.items()
    }
    reading = {f"{n}: {c.note}" for v in found.values.values() for n, c in v.items()
               if getattr(c, "note", "")}  # fmt: skip
    notes = tuple(note for note in found.notes if note not in reading and "left out" not in note)
    return Settled(columns, positive, kind, missing, notes, found.hints)


def batches(table: Table, settled: Settled) -> Iterator[tuple[Columns, Rows]]:
    """The rows of a file, batch by batch, under what is settled."""
    check_columns(table, settled.names)
    asked = {role: name for role, name in settled.columns.items() if name is not None}
    first = 0
    for columns, many in _frames(table, settled.names):
        place = Place(files=((table.name, first + many),), first=first, partial=True)
        opened = Opened(settled.names, lambda wanted, texts, c=columns, p=place: (c, p))  # type: ignore[misc]
        found = read(opened, asked, missing=settled.missing)
        yield found, settled.rows(found)
        first += many


def check_columns(table: Table, names: Sequence[str]) -> None:
    """Refuse a file that lacks a column, or has it twice."""
    for name in names:
        if name not in table.columns:
            near = near_names(name, table.columns)
            hint = f"; did you mean '{near[0]}' there?" if near else "; give it one or leave it out"
            raise BadInput(f"{table.name} has no column '{name}', which other files have{hint}")
        if table.columns.count(name) > 1:
            raise BadInput(
                f"{table.columns.count(name)} columns of {table.name} are named '{name}'; give them "
                "names apart"
            )


def _frames(table: Table, names: Sequence[str]) -> Iterator[tuple[dict[str, Any], int]]:
    """Columns of a file, batch by batch, and how many rows each batch has."""
    with table.whole() as whole:
        with whole.guard():
            chosen = whole.frame.select(_placed(table.columns, names))
            found = in_batches(chosen, BATCH)
        try:
            while True:
                with whole.guard():  # each time anew: it keeps back what goes to the terminal
                    frame = next(found, None)
                if frame is None:
                    return
                if frame.height:
                    yield {s.name: whole.typed(s) for s in frame}, frame.height
        finally:
            found.close()


def _placed(columns: Sequence[str], wanted: Sequence[str]) -> list[pl.Expr]:
    import polars as pl

    return [pl.col(str(columns.index(name))).alias(name) for name in wanted]
