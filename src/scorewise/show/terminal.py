"""A page in the terminal: lines of fixed width, in which nothing is lost without a word."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from rich.cells import cell_len, chop_cells
from rich.console import Console, Group
from rich.text import Text

from scorewise import __version__
from scorewise.errors import plain
from scorewise.show.document import page_of
from scorewise.show.page import Column, Heading, Matrix, Section, Table
from scorewise.show.words import (
    Compared,
    Name,
    Sentence,
    bound,
    count,
    formatted,
    grouped,
    interval,
    sentence,
    skill,
    value,
)

WIDTH, BAR, GAP = 80, 8, 2
LONGEST_LABEL = 12
CORNER = "true \\ predicted"
MIN_TEXT, MIN_NAME = 12, 8  # columns of folded text, and of a name that is cut


def print_document(doc: Any, console: Console) -> None:
    """Print the page of a document over the width of the console."""
    page = page_of(doc)
    title = Text.assemble(("scorewise", "bold"), f" {plain(__version__)} {plain(page.command)}")
    lines = [title]
    for part in page.sections:
        lines += [Text(), *_section(part, console.width)]
    # whatever made them, no line leaves with a control in it
    console.print(Group(*(x if plain(x.plain) == x.plain else Text(plain(x.plain)) for x in lines)))


def text(doc: Any, width: int = WIDTH) -> str:
    """The page of a document as plain text."""
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        print_document(doc, console)
    return capture.get().rstrip("\n")


def _section(section: Section, width: int) -> list[Text]:
    bands = _bands(section.table, width) if section.table else []
    if section.narrow and len(bands) > 1:
        return _section(section.narrow, width)
    lines = [rule(plain(section.title), width)] if section.title else []
    for claim in section.verdict:
        first, *rest = fold(_sentence(claim), width - 2)
        lines += [Text(first, "bold"), *(Text(f"  {part}", "bold") for part in rest)]
    lines += _pairs(_facts(section.facts), width)
    lines += _side_by_side(
        [_matrix(m, named=len(section.matrices) > 1) for m in section.matrices], width
    )
    lines += _table(section.table, bands, width) if section.table else []
    return [*lines, *_pairs([("•", _sentence(line)) for line in section.lines], width, "yellow")]


def _sentence(text: Sentence) -> str:
    return sentence(text, lambda name: f"'{plain(name)}'", plain)


def _facts(facts: Sequence[tuple[str, Sentence]]) -> list[tuple[str, str]]:
    """The facts; a key is shown once."""
    shown, last = [], ""
    for key, fact in facts:
        shown.append((plain(key) if key != last else "", _sentence(fact)))
        last = key or last
    return shown


def _pairs(facts: Sequence[tuple[str, str]], width: int, style: str = "bold") -> list[Text]:
    """Keys on the left, each with its sentence folded beside it."""
    left = max((cell_len(key) for key, _ in facts), default=0) + GAP
    lines = []
    for key, fact in facts:
        for i, part in enumerate(fold(fact, width - left)):
            head = "" if i else key
            lines.append(Text.assemble((head, style), " " * (left - cell_len(head)), part))
    return lines


def _matrix(m: Matrix, named: bool) -> list[Text]:
    """Labels against decisions, small: truth down the side, decision across."""
    labels = [_label(c, side) for c, side in zip(m.classes, ("positive", "negative"), strict=True)]
    counts = [[count(x) for x in line] for line in m.counts]
    wide = max(cell_len(text) for text in [*labels, *counts[0], *counts[1]])
    side = max(map(cell_len, [CORNER, *labels]))
    rows = zip((CORNER, *labels), (labels, *counts), strict=True)
    lines = []
    for head, cells in rows:
        line = Text(head + " " * (side - cell_len(head)), "dim" if head == CORNER else "")
        line.append("".join(" " * (GAP + wide - cell_len(x)) + x for x in cells), "not dim")
        lines.append(line)
    title = [Text(part, "bold") for part in fold(plain(m.model), side + 2 * (wide + GAP))]
    return [*title, *lines] if named else lines


def _label(label: str | None, side: str) -> str:
    word = side if label is None else plain(label)
    return word if 0 < cell_len(word) <= LONGEST_LABEL else side


# Tables: columns that have no room are narrowed, folded, and at last continued below.


@dataclass(frozen=True)
class _SetColumn:
    """A column of a page as it is set: the lines of its heading, and cells of one or more lines."""

    of: Column
    at: int
    head: Sequence[str]
    cells: Sequence[Text]
    style: str = "dim"  # of the heading

    @cached_property
    def width(self) -> int:
        """Width of the widest line."""
        widths = [cell_len(line) for line in self.head]
        widths += [line.cell_len for cell in self.cells for line in _lines(cell)]
        return max(widths, default=0)


_Band = list[_SetColumn]


def _bands(table: Table, width: int) -> list[_Band]:
    """The columns as they are set, in bands of those that fit side by side."""
    rows = [row for row in table.rows if not isinstance(row, Heading)]
    body = [row for row in rows if len(row) == len(table.columns)]
    grouped = len(rows) < len(table.rows)
    columns: _Band = []
    for tight in range(3):
        columns = [
            _column(c, i, [row[i] for row in body], width, tight, grouped and not i)
            for i, c in enumerate(table.columns)
        ]
        needed = [c for c in columns if not c.of.optional]
        if _total_width(needed) <= width:
            break
    first, *rest = _narrowed(needed, width)
    bands = _fitted(rest, width, first)
    for column in (c for c in columns if c.of.optional):
        for band in bands:
            band += [column] if _total_width([*band, column]) <= width else []
    return bands


def _fitted(columns: _Band, width: int, *first: _SetColumn) -> list[_Band]:
    """Columns side by side, as many as fit, then further ones, each time with the first again."""
    bands = [[*first]]
    for column in columns:
        if len(bands[-1]) > len(first) and _total_width([*bands[-1], column]) > width:
            bands.append([*first])
        bands[-1].append(column)
    return bands


def _total_width(columns: _Band) -> int:
    """Width of columns side by side."""
    return sum(c.width for c in columns) + GAP * max(0, len(columns) - 1)


def _column(
    c: Column, at: int, cells: Sequence[Any], width: int, tight: int, grouped: bool
) -> _SetColumn:
    """A column as it is set where there is room; the tighter, the narrower."""
    texts = [plain(formatted(cell, c.format)) for cell in cells]
    if c.format == "compared":
        shown = _compared(cells)
    elif c.format == "skill":
        shown = [_skill(m, 0 if tight else BAR) for m in cells]
    elif c.format == "interval or reason":
        shown = [_limits(e, "\n" if tight > 1 else " ") for e in cells]
    elif c.format == "title":  # ours are short; others must leave room for numbers
        most = max(8, width // 2 - 8)
        indent = " " if grouped else ""
        shown = [Text("\n".join(indent + part for part in fold(t, most))) for t in texts]
    else:
        style = "bold" if c.format == "value" else "dim" if c.optional else ""
        shown = [Text(t, style) for t in (_aligned(texts) if c.point else texts)]
    column = _SetColumn(c, at, [plain(c.title)], shown)
    if not isinstance(c.title, Name):
        return column
    wide = max(MIN_TEXT, replace(column, head=[]).width)
    return replace(column, head=fold(column.head[0], wide), style="bold")


def _aligned(texts: Sequence[str]) -> list[str]:
    """Numbers padded so that their decimal points stand below each other."""
    left = max((len(text.partition(".")[0]) for text in texts), default=0)
    padded = [" " * (left - len(text.partition(".")[0])) + text for text in texts]
    width = max(map(len, padded), default=0)
    return [text.ljust(width) for text in padded]


def _compared(cells: Sequence[Any]) -> list[Text]:
    """Values with their decimal points below each other, a star behind a winner, and intervals."""
    of = [cell for cell in cells if isinstance(cell, Compared)]
    values = iter(_aligned([value(cell.estimate) for cell in of]))
    texts, blank = [], " " if any(cell.best for cell in of) else ""
    for cell in cells:
        if not isinstance(cell, Compared):
            texts.append(Text(cell))
            continue
        text = Text(next(values), "bold" if cell.best else "").append("*" if cell.best else blank)
        texts.append(text + Text(f" {interval(cell.estimate)}", "none"))
    return texts


def _limits(e: Any, gap: str) -> Text:
    """The interval and what coarsening has left; nothing where there is a reason instead."""
    if e.why:
        return Text()
    half, ends = bound(e), interval(e)
    return Text(ends).append((gap if ends else "") + half if half else "", "dim")


def _skill(m: Any, bar: int) -> Text:
    """A small bar and the percentage; the p-value of a measure of calibration."""
    if m.skill is None:
        return Text(skill(m))
    full = round(bar * min(max(m.skill, 0.0), 1.0))
    text = Text.assemble(("━" * full, "cyan"), ("─" * (bar - full), "dim"))
    gap = " " if bar else ""
    return text.append(f"{gap}{skill(m):>5}", "not dim")


def _narrowed(columns: _Band, width: int) -> _Band:
    """The columns with names cut, or else the last text folded, to the room that is left."""
    over = _total_width(columns) - width
    cut = [c for c in columns if c.of.format == "name"]
    folded = [c for c in columns if c.of.format == "text"]
    if over <= 0 or not (cut or folded):
        return columns
    if cut:
        rest = [c for c in columns if c not in cut]
        room = max((width - _total_width(rest) - GAP * len(cut)) // len(cut), MIN_NAME)
        return [_with_short_names(c, room) if c in cut else c for c in columns]
    room = max(folded[-1].width - over, MIN_TEXT)
    narrow = replace(_with_folded_text(folded[-1], room), head=[h[:room] for h in folded[-1].head])
    return [narrow if c is folded[-1] else c for c in columns]


def _with_short_names(column: _SetColumn, room: int) -> _SetColumn:
    """Names cut in the middle; folded where they could not be told apart."""
    names = [cell.plain for cell in column.cells]
    short = [_shortened(name, room) for name in names]
    if len({*short}) < len({*names}):
        return _with_folded_text(column, room)
    return replace(column, cells=[Text(name) for name in short])


def _with_folded_text(column: _SetColumn, room: int) -> _SetColumn:
    cells = [Text("\n".join(fold(c.plain.rstrip(), room)), c.style) for c in column.cells]
    return replace(column, cells=cells)


def _shortened(word: str, most: int) -> str:
    """A name, cut in the middle, because names of a kind often differ at their ends."""
    if cell_len(word) <= most:
        return word
    end = chop_cells(word[::-1], most - most // 2 - 1)[0][::-1]
    return f"{chop_cells(word, most // 2)[0]}…{end}"


def _table(table: Table, bands: Sequence[_Band], width: int) -> list[Text]:
    """The bands below each other, and what a reader must know."""
    lines = _band(table, bands[0], width)
    for band in bands[1:]:
        lines += [Text(), *_band(table, band, width)]
    shown = {c.at for band in bands for c in band}
    absent = [plain(c.title) for i, c in enumerate(table.columns) if i not in shown]
    them = "it" if len(absent) == 1 else "them"
    left_out = f"No room for {' and '.join(absent)}: a wider terminal or the JSON has {them}."
    notes = [
        *([f"*: {table.starred}"] if table.starred else []),
        *(c.meaning for i, c in enumerate(table.columns) if i in shown and c.meaning),
        *table.notes,
        *([left_out] if absent else []),
    ]
    text = fold(plain(" ".join(notes)), width) if notes else []
    return [*lines, *([Text()] if text else []), *(Text(part, "dim") for part in text)]


def _band(table: Table, band: _Band, width: int) -> list[Text]:
    """The rows of some columns; a row of one cell heads those below, across all columns."""
    used = min(width, max(_total_width(band), WIDTH))
    deep = max(len(c.head) for c in band)
    heads = [Text("\n".join([*[""] * (deep - len(c.head)), *c.head]), c.style) for c in band]
    lines, at = _row(band, heads), 0
    for row in table.rows:
        if isinstance(row, Heading):
            lines.append(rule(plain(row.title), used))
        elif len(row) < len(table.columns):
            lines += [Text(part) for part in fold(plain(formatted(row[0], "text")), width)]
        else:
            lines += _table_row(band, row, [c.cells[at] for c in band], used)
            at += 1
    return lines


def _table_row(band: _Band, row: Sequence[Any], cells: Sequence[Text], width: int) -> list[Text]:
    """A row; where there is no value, its reason takes the room of the interval and beyond."""
    for k, c in enumerate(band):
        if c.of.format == "interval or reason" and row[c.at].why:
            start = _total_width(band[:k]) + GAP
            reason = [Text(part, "dim") for part in fold(plain(row[c.at].why), width - start)]
            rest = _block(reason)
            return _row([*band[:k], rest], [*cells[:k], *rest.cells])
    return [*_row(band, cells), *_remarks(band, row, width)]


def _remarks(band: _Band, row: Sequence[Any], width: int) -> list[Text]:
    """Why models beside each other lack a value, and what coarsening has left; each told once."""
    remarks = grouped(
        (plain(e.why) or bound(e), plain(c.of.title))
        for c in band
        if isinstance(row[c.at], Compared)
        for e in [row[c.at].estimate]
    )
    texts = [f"{', '.join(who)}: {remark}" for remark, who in remarks.items()]
    return [Text("   " + part, "dim") for text in texts for part in fold(text, width - 3)]


# Lines of text.


def _row(columns: _Band, cells: Sequence[Text]) -> list[Text]:
    """Cells side by side, as deep as the deepest of them."""
    parts = [_lines(cell) for cell in cells]
    lines = []
    for k in range(max(map(len, parts), default=0)):
        line = Text()
        for i, (column, part) in enumerate(zip(columns, parts, strict=True)):
            text = part[k] if k < len(part) else Text()
            room = Text(" " * (column.width - text.cell_len))
            line.append(" " * GAP if i else "")
            right = not column.of.left and column.of.format != "skill"
            line.append_text(room + text if right else text + room)
        line.rstrip()
        lines.append(line)
    return lines


def _lines(cell: Text) -> list[Text]:
    return list(cell.split("\n", allow_blank=True)) if "\n" in cell.plain else [cell]


def _block(lines: Sequence[Text]) -> _SetColumn:
    """Lines as the one cell of a column without a heading."""
    return _SetColumn(Column("", "text"), 0, [], [Text("\n").join(lines)])


def _side_by_side(blocks: Sequence[Sequence[Text]], width: int) -> list[Text]:
    """Blocks of lines next to each other, as many as fit, then further ones below."""
    bands = _fitted([*map(_block, blocks)], width)
    return [line for band in bands for line in _row(band, [c.cells[0] for c in band])]


def fold(text: str, width: int) -> list[str]:
    """Text broken at spaces, or within words that are wider than the line.

    >>> fold("one two threefour", 7)
    ['one two', 'threefo', 'ur']
    """
    lines, line = [], ""
    for word in text.split(" "):
        if line and cell_len(line) + 1 + cell_len(word) <= width:
            line = f"{line} {word}"
            continue
        lines.append(line)
        *full, line = chop_cells(word, max(2, width)) or [""]
        lines.extend(full)
    return [*lines[1:], line]


def rule(title: str, width: int) -> Text:
    """A light line across, with a title in it.

    >>> print(rule("Ranking", 20))
    ── Ranking ─────────
    """
    line = Text("── ", "dim")
    line.append(title, "bold not dim")
    line.append(" " + "─" * (width - cell_len(title) - 4))
    return line
