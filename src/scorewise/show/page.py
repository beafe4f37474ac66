"""The page of a command: sections of facts, tables and sentences, which each renderer sets its own way.

Cells of a table are raw values; the format of their column says how they are written (`show/words.py`).
Widths, cutting, escaping and alignment belong to the renderers (terminal, Markdown).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from scorewise.show.words import (
    LEFT_ALIGNED,
    ClaimText,
    Compared,
    Format,
    Sentence,
    by_reason,
    formatted,
    grouped,
)


@dataclass(frozen=True)
class Column:
    """A column of a table; texts are set left and may be folded, numbers right.

    An optional column is shown where there is room for it. `point` sets decimal points below each other.
    `meaning` is a sentence for the reader, told where the column is shown.
    """

    title: str
    format: Format = "number"
    optional: bool = False
    point: bool = False
    meaning: str = ""

    @property
    def left(self) -> bool:
        """Whether its cells are set left."""
        return self.format in LEFT_ALIGNED

    @property
    def in_notes(self) -> bool:
        """Whether files have it in notes below the table: an optional column of texts, long and few."""
        return self.optional and self.format == "text"


@dataclass(frozen=True)
class Heading:
    """A row that begins a group of rows."""

    title: str


@dataclass(frozen=True)
class Table:
    """Columns and rows; a row of one cell heads those below it, across all columns.

    `notes` are sentences on what its cells hold. `rates` names what each row has of every model, where that
    follows the threshold in forms that can move.
    """

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any] | Heading]
    notes: Sequence[str] = ()
    rates: Sequence[str] = ()

    def printed(self) -> Table:
        """The table as files have it: without the columns that go into notes, and a cell for each other."""
        at = [i for i, c in enumerate(self.columns) if not c.in_notes]
        rows = [
            row if isinstance(row, Heading) else [row[i] if i < len(row) else "" for i in at]
            for row in self.rows
        ]
        return replace(self, columns=[self.columns[i] for i in at], rows=rows)

    def texts(self) -> list[list[str]]:
        """The rows as they are written."""
        return [
            [row.title]
            if isinstance(row, Heading)
            else [formatted(cell, c.format) for cell, c in zip(row, self.columns, strict=False)]
            for row in self.rows
        ]

    @property
    def starred(self) -> str:
        """What a mark on a cell of format "compared" means; nothing where none is marked."""
        cells = (cell for row in self.rows if not isinstance(row, Heading) for cell in row)
        marked = any(isinstance(cell, Compared) and cell.best for cell in cells)
        return (
            "better than every other model (paired interval excludes 0; p by Holm)."
            if marked
            else ""
        )

    def remarks(self, mark: str) -> list[str]:
        """Notes below the table, of its columns and of those left to notes; `mark` is that of a winner."""
        notes = [f"{mark}: {self.starred}"] if self.starred else []
        notes += [c.meaning for c in self.columns if c.meaning]
        for i in (i for i, c in enumerate(self.columns) if c.in_notes):
            rows = (row for _, rows in self.groups() for row in rows if i < len(row))
            titles = grouped((row[i], row[0]) for row in rows)
            texts = "; ".join(f"{x} ({', '.join(of)})" for x, of in titles.items())
            notes += [f"{self.columns[i].title}: {texts}."] if texts else []
        return [*notes, *self.notes]

    def groups(self) -> list[tuple[str, list[Sequence[Any]]]]:
        """The rows under each heading, with its title; those before the first have none."""
        parts: list[tuple[str, list[Sequence[Any]]]] = [("", [])]
        for row in self.rows:
            if isinstance(row, Heading):
                parts.append((row.title, []))
            else:
                parts[-1][1].append(row)
        return [(title, rows) for title, rows in parts if rows]


@dataclass(frozen=True)
class Matrix:
    """Labels against decisions of one model: the two classes, and rows (tp, fn) and (fp, tn)."""

    model: str
    classes: tuple[str | None, str | None]
    counts: tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Figure:
    """A drawing: its kind and title, what it shows in a sentence or two, and its data as a table.

    `drawings` are by the name that each is saved as, made when asked for as a whole `<svg>` element with
    further attributes; the first is shown until another is asked for. Forms of text pass figures over.
    """

    kind: str
    title: str
    description: str
    drawings: Mapping[str, Callable[..., str]]
    table: Table | None = None

    def svg(self) -> str:
        """All drawings, those after the first hidden."""
        first, *others = self.drawings.values()
        return first() + "".join(draw(display="none") for draw in others)


@dataclass(frozen=True)
class Section:
    """A title, and below it facts (key and sentence), a table and sentences; each may be absent.

    `verdict` are the sentences that open a page. A fact without a key continues the one before.
    `matrices` stand side by side. `narrow` is shown in place of a table that has no room.
    `figures` are for forms that can draw; `anchor` is what a link calls the section. `folded` says that a
    form which can open and close parts may begin with it closed.
    """

    title: str = ""
    verdict: Sequence[Sentence] = ()
    facts: Sequence[tuple[str, Sentence]] = ()
    table: Table | None = None
    lines: Sequence[Sentence] = ()
    matrices: Sequence[Matrix] = ()
    narrow: Section | None = None
    figures: Sequence[Figure] = ()
    anchor: str = ""
    folded: bool = False


@dataclass(frozen=True)
class Page:
    """The sections of a page, under the name of its command.

    `footnotes` are for a page that is kept: what its numbers depend on. `document` is what it shows, for
    forms that carry it too.
    """

    command: str
    sections: Sequence[Section]
    footnotes: Sequence[str] = ()
    document: Any = None


Heads: TypeAlias = Mapping[str, Format] | Sequence[Column | str | tuple[str, Format]]


def columns(heads: Heads) -> list[Column]:
    """Columns by title and format (numbers, unless said)."""
    pairs = heads.items() if isinstance(heads, Mapping) else heads
    return [
        c if isinstance(c, Column) else Column(*([c] if isinstance(c, str) else c)) for c in pairs
    ]


def section(
    title: str,
    heads: Heads,
    rows: Sequence[Sequence[Any] | Heading],
    lines: Sequence[Sentence] = (),
    notes: Sequence[str] = (),
) -> list[Section]:
    """A section of a table, its columns by title and format (numbers, unless said); none without rows.

    >>> section("Judges", [("Judge", "text"), "Kappa"], [("gpt", 0.25)])[0].table.texts()
    [['gpt', '0.250']]
    """
    return [Section(title, table=Table(columns(heads), rows, notes), lines=lines)] if rows else []


def verdict(claims: Sequence[Any]) -> list[Section]:
    """The sentences as the first section of a page; none where there are none."""
    sentences = [ClaimText(c.sentence, c.about, c.finding) for c in claims]
    return [Section(verdict=sentences, anchor="verdict")] if sentences else []


def hints(lines: Sequence[str]) -> list[Section]:
    """The remarks for the reader, as the last section; none where there are none."""
    return [Section("Hints", lines=lines)] if lines else []


def undefined(found: Iterable[tuple[str, str]], title: str = "Without a value") -> list[Section]:
    """What has no value, by the reason, from pairs of a reason (empty: it has one) and a name."""
    lines = by_reason(found)
    return [Section(title, lines=lines)] if lines else []
