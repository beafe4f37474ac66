"""Files larger than memory: rows of two classes, checked batch by batch.

What a batch cannot tell by itself is settled on the way: the columns by the first rows of the first file,
the classes by all labels seen so far, the kind of the scores by their range so far. Where a later batch
changes the answer for rows that were handed out, `SchemaChanged` says so, and the reader begins again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from scorewise.arrays import Bools
from scorewise.columns.files import Opened, same_columns
from scorewise.columns.labels import REST, Labels, read_labels, text
from scorewise.columns.numbers import Place
from scorewise.columns.reader import Columns, Missing, read
from scorewise.columns.rows import Kind, Rows, rows_of
from scorewise.columns.tables import Table
from scorewise.columns.vectors import Vector, as_numeric, distinct, rows_with, vector
from scorewise.errors import BadInput, Option, short

BATCH = 1 << 19  # rows that are checked at a time
_PEEK = 1 << 16  # rows that tell which columns are meant
_MOST_WORDS = 1000


class SchemaChanged(Exception):  # noqa: N818  (a turn, not a fault)
    """What was said of earlier rows no longer holds; to be read again from the start."""


@dataclass
class BatchSchema:
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
        except (BadInput, SchemaChanged):
            return False
        if not self.decided or kind not in (self.asked_kind or kind, self.kind or kind):
            return False
        self.kind, self.handed = kind, True
        mine, self.known = self.labels(), labels
        return (mine.positive, mine.negative) == (labels.positive, labels.negative)

    def truth(self, column: Vector, place: Place) -> Bools:
        """True where the label is of the positive class."""
        column = as_numeric(column)
        found = distinct(column)
        if new := [value for value in found if text(value) not in self.words]:
            self._learn(new, lambda value: place.row(int(rows_with(column, [value]).argmax())))
        return rows_with(column, [value for value in found if text(value) in self.up])

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
            raise SchemaChanged

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
        y = self.truth(found.column("label"), found.place)
        name = self.score
        for column in self.names:
            other = any(note.startswith(f"{column}: ") for note in found.notes)
            if self.written.setdefault(column, other) != other:
                raise BadInput(
                    f"{column} is written in another way from {found.place.row(0)} on than before; write "
                    "all of it in the same way"
                )
        # the names of the classes are known when all has been read
        made = rows_of(found, kind=self.asked_kind, known=(y, Labels("1", "0", "")))
        kind = made.kinds[name]
        if self.kind is None:
            self.kind = kind
        elif self.kind != kind:
            if self.kind == "probability" and self.handed:
                self.kind = kind
                raise SchemaChanged
            self.kind = "score"
        self.notes = tuple(dict.fromkeys((*self.notes, *made.notes)))
        self.handed = True
        return replace(made, kinds={name: self.kind}, notes=())


def infer_schema(
    table: Table, asked: Mapping[str, Any], *, positive: Any, kind: Kind | None, missing: Missing
) -> BatchSchema:
    """Which columns of a file are meant, by its first rows."""
    several = asked.get("score")
    if several is not None and not isinstance(several, str) and len(several) > 1:
        raise BadInput("several columns of scores are named; a tally is of one, ", Option("score"))

    def head(wanted: list[str], texts: Any) -> tuple[dict[str, Any], Place]:
        columns = table.read(wanted, _PEEK)
        if not (rows := len(columns[wanted[0]])):
            raise BadInput(f"{table.name} has no rows")
        return columns, Place(files=((table.name, rows),), partial=True)

    found = read(Opened(table.columns, head, (table.name,)), asked, missing="drop")
    columns = {
        role: list(named) if role == "group" else next(iter(named), None)
        for role, named in found.values.items()
    }
    reading = {f"{n}: {c.note}" for v in found.values.values() for n, c in v.items()
               if getattr(c, "note", "")}  # fmt: skip
    notes = tuple(note for note in found.notes if note not in reading and "left out" not in note)
    return BatchSchema(columns, positive, kind, missing, notes, found.hints)


def batches(table: Table, settled: BatchSchema) -> Iterator[tuple[Columns, Rows]]:
    """The rows of a file, batch by batch, under what is settled."""
    same_columns(table, settled.names, "other files have")
    asked = {role: name for role, name in settled.columns.items() if name is not None}
    first = 0
    for columns in table.batches(settled.names, BATCH):
        if not (many := len(columns[settled.label])):
            continue
        place = Place(files=((table.name, first + many),), first=first, partial=True)
        opened = Opened(settled.names, lambda wanted, texts, c=columns, p=place: (c, p))  # type: ignore[misc]
        found = read(opened, asked, missing=settled.missing)
        yield found, settled.rows(found)
        first += many
