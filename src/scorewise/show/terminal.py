"""A page in the terminal: lines of fixed width, in which nothing is lost without a word."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len, chop_cells
from rich.console import Console, Group
from rich.text import Text

from scorewise import __version__
from scorewise.errors import plain
from scorewise.show import layout
from scorewise.show.document import page_of
from scorewise.show.layout import aligned, beside, fold, pairs, rule, spread
from scorewise.show.page import (
    Column,
    Heading,
    Matrix,
    Name,
    Page,
    Section,
    Sentence,
    Table,
    bound,
    count,
    interval,
    sentence,
    skill,
    value,
    written,
)

WIDTH = 80
BAR = 8
LONGEST_LABEL = 12
LEAST = 12  # columns of text that is folded
LEAST_OF_A_NAME = 8


def print_document(doc: Any, console: Console) -> None:
    """Print the page of a document over the width of the console."""
    console.print(table(doc, console.width))


def text(doc: Any, width: int = WIDTH) -> str:
    """The page of a document as plain text."""
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        print_document(doc, console)
    return capture.get().rstrip("\n")


def table(doc: Any, width: int | None = None) -> Group:
    """The page of a document as lines that fit the width (80 unless told)."""
    lines = page_lines(page_of(doc), width or WIDTH)
    # whatever made them, no line leaves with a control in it
    return Group(*(x if x.plain.isprintable() else Text(plain(x.plain)) for x in lines))


def page_lines(page: Page, width: int) -> list[Text]:
    """The sections below each other, at most so wide."""
    title = Text.assemble(("scorewise", "bold"), f" {plain(__version__)} {plain(page.command)}")
    lines = [title]
    for section in page.sections:
        lines += [Text(), *_section(section, width)]
    return lines


def _section(section: Section, width: int) -> list[Text]:
    bands = _bands(section.table, width) if section.table else []
    if section.narrow and len(bands) > 1:
        return _section(section.narrow, width)
    lines = [rule(plain(section.title), width)] if section.title else []
    lines += pairs(_facts(section.facts), width)
    lines += beside([_matrix(m, named=len(section.matrices) > 1) for m in section.matrices], width)
    lines += _table(section.table, bands, width) if section.table else []
    return [*lines, *pairs([("•", _said(line)) for line in section.lines], width, "yellow")]


def _said(text: Sentence) -> str:
    return sentence(text, lambda name: f"'{plain(name)}'", plain)


def _facts(facts: Sequence[tuple[str, Sentence]]) -> list[tuple[str, str]]:
    """The facts; a key is shown once."""
    shown, last = [], ""
    for key, fact in facts:
        shown.append((plain(key) if key != last else "", _said(fact)))
        last = key or last
    return shown


def _matrix(m: Matrix, named: bool) -> list[Text]:
    """Labels against decisions, small: truth down the side, decision across."""
    labels = [_label(c, side) for c, side in zip(m.classes, ("positive", "negative"), strict=True)]
    counts = [[count(x) for x in line] for line in m.counts]
    wide = max(cell_len(text) for text in [*labels, *counts[0], *counts[1]])
    side = max(map(cell_len, labels))
    line = "─" * (wide + 2)
    above = "   ".join(" " * (wide - cell_len(text)) + text for text in labels)
    lines = [
        Text(" " * (side + 9) + "predicted", "dim"),
        Text(f"{'true':<6}", "dim") + Text(" " * (side + 3) + above, "not dim"),
        Text(" " * (side + 7) + f"┌{line}┬{line}┐", "dim"),
    ]
    for label, (left, right) in zip(labels, counts, strict=True):
        cell = Text(" " * (6 + side - cell_len(label)) + label + " ")
        cell.append("│", "dim").append(f" {left:>{wide}} ").append("│", "dim")
        lines.append(cell.append(f" {right:>{wide}} ").append("│", "dim"))
    lines.append(Text(" " * (side + 7) + f"└{line}┴{line}┘", "dim"))
    title = [Text(part, "bold") for part in fold(plain(m.model), side + 2 * wide + 14)]
    return [*title, *lines] if named else lines


def _label(label: str | None, side: str) -> str:
    word = side if label is None else plain(label)
    return word if 0 < cell_len(word) <= LONGEST_LABEL else side


# Tables: columns that have no room are narrowed, folded, and at last continued below.


@dataclass(frozen=True)
class _Set:
    """A column of a page, and how it is set."""

    of: Column
    at: int
    how: layout.Column


Band = list[_Set]


def _bands(table: Table, width: int) -> list[Band]:
    """The columns side by side, as many as fit, then further ones, each time with the first again."""
    rows = [row for row in table.rows if not isinstance(row, Heading)]
    body = [row for row in rows if len(row) == len(table.columns)]
    grouped = len(rows) < len(table.rows)
    every: Band = []
    for tight in range(3):
        every = [
            _Set(c, i, _column(c, [row[i] for row in body], width, tight, grouped and not i))
            for i, c in enumerate(table.columns)
        ]
        if _over(_needed(every), width) <= 0:
            break
    first, *rest = _narrowed(_needed(every), width)
    bands = [[first]]
    for column in rest:
        if len(bands[-1]) > 1 and _over([*bands[-1], column], width) > 0:
            bands.append([first])
        bands[-1].append(column)
    for column in (c for c in every if c.of.optional):
        for band in bands:
            band += [column] if _over([*band, column], width) <= 0 else []
    return bands


def _needed(columns: Band) -> Band:
    return [c for c in columns if not c.of.optional]


def _over(columns: Band, width: int) -> int:
    return spread([c.how.width for c in columns]) - width


def _column(
    c: Column, cells: Sequence[Any], width: int, tight: int, grouped: bool
) -> layout.Column:
    """A column as it is set where there is room; the tighter, the narrower."""
    texts = [plain(written(cell, c.format)) for cell in cells]
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
        shown = [Text(t, style) for t in (aligned(texts) if c.point else texts)]
    head, style = [plain(c.title)], "dim"
    if isinstance(c.title, Name):
        wide = max((line.cell_len for cell in shown for line in layout.lines(cell)), default=0)
        head, style = fold(head[0], max(wide, LEAST)), "bold"
    return layout.Column(head, shown, right=not c.left and c.format != "skill", style=style)


def _compared(cells: Sequence[Any]) -> list[Text]:
    """Values with their decimal points below each other, a star behind a winner, and intervals."""
    values = aligned([value(c.estimate) if c else "" for c in cells])
    texts = []
    for cell, shown in zip(cells, values, strict=True):
        best = bool(cell) and cell.best
        text = Text(shown, "bold" if best else "").append("*" if best else " ")
        texts.append(text + Text(f" {interval(cell.estimate)}" if cell else "", "none"))
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


def _narrowed(columns: Band, width: int) -> Band:
    """The columns with names cut, or else the last text folded, to the room that is left."""
    over = _over(columns, width)
    cut = [c for c in columns if c.of.format == "name"]
    if over <= 0:
        return columns
    if cut:
        others = [c.how.width for c in columns if c not in cut]
        room = (width - spread(others) - layout.GAP * len(cut)) // len(cut)
        return [_cut(c, max(room, LEAST_OF_A_NAME)) if c in cut else c for c in columns]
    folded = [c for c in columns if c.of.format == "text"]
    if not folded:
        return columns
    long = folded[-1]
    room = max(long.how.width - over, LEAST)
    heading = [h[:room] for h in long.how.heading]
    narrow = replace(long.how, cells=_folded(long, room), heading=heading)
    return [replace(c, how=narrow) if c is long else c for c in columns]


def _cut(column: _Set, room: int) -> _Set:
    """Names cut in the middle; folded where they could not be told apart."""
    names = [cell.plain for cell in column.how.cells]
    short = [_middle(name, room) for name in names]
    same = len({*short}) < len({*names})
    cells = _folded(column, room) if same else [Text(name) for name in short]
    return replace(column, how=replace(column.how, cells=cells))


def _folded(column: _Set, room: int) -> list[Text]:
    return [
        Text("\n".join(fold(cell.plain.rstrip(), room)), cell.style) for cell in column.how.cells
    ]


def _middle(word: str, most: int) -> str:
    """A name, cut in the middle, because names of a kind often differ at their ends."""
    if cell_len(word) <= most:
        return word
    end = chop_cells(word[::-1], most - most // 2 - 1)[0][::-1]
    return f"{chop_cells(word, most // 2)[0]}…{end}"


def _table(table: Table, bands: Sequence[Band], width: int) -> list[Text]:
    """The bands below each other, and what a reader must know."""
    lines: list[Text] = []
    for band in bands:
        lines += [Text()] if lines else []
        lines += _band(table, band, width)
    shown = {c.at for band in bands for c in band}
    legend = [c.meaning for i, c in enumerate(table.columns) if i in shown and c.meaning]
    absent = [plain(c.title) for i, c in enumerate(table.columns) if i not in shown]
    them = "it" if len(absent) == 1 else "them"
    left_out = f"No room for {' and '.join(absent)}: a wider terminal or the JSON has {them}."
    notes = [
        *([f"*: {table.starred}"] if table.starred else []),
        *legend,
        *table.notes,
        *([left_out] if absent else []),
    ]
    text = fold(plain(" ".join(notes)), width) if notes else []
    return [*lines, *([Text()] if text else []), *(Text(part, "dim") for part in text)]


def _band(table: Table, band: Band, width: int) -> list[Text]:
    """The rows of some columns; a row of one cell heads those below, across all columns."""
    columns = [c.how for c in band]
    used = min(width, max(spread([c.width for c in columns]), WIDTH))
    lines = layout.headings(columns)
    at = 0
    for row in table.rows:
        if isinstance(row, Heading):
            lines.append(rule(plain(row.title), used))
        elif len(row) < len(table.columns):
            lines += [Text(part) for part in fold(plain(written(row[0], "text")), width)]
        else:
            lines += _row(band, row, [c.cells[at] for c in columns], used)
            at += 1
    return lines


def _row(band: Band, row: Sequence[Any], cells: Sequence[Text], width: int) -> list[Text]:
    """A row; where there is no value, its reason takes the room of the interval and beyond."""
    columns = [c.how for c in band]
    for k, c in enumerate(band):
        if c.of.format == "interval or reason" and row[c.at].why:
            start = spread([c.width for c in columns[:k]]) + layout.GAP
            reason = [Text(part, "dim") for part in fold(plain(row[c.at].why), width - start)]
            rest = layout.Column([], [Text("\n").join(reason)])
            return layout.row([*columns[:k], rest], [*cells[:k], rest.cells[0]])
    return [*layout.row(columns, cells), *_remarks(band, row, width)]


def _remarks(band: Band, row: Sequence[Any], width: int) -> list[Text]:
    """Why models beside each other lack a value, and what coarsening has left; each told once."""
    remarks: dict[str, list[str]] = {}
    for c in band:
        if c.of.format == "compared" and row[c.at]:
            e = row[c.at].estimate
            if remark := plain(e.why) or bound(e):
                remarks.setdefault(remark, []).append(plain(c.of.title))
    texts = [f"{', '.join(who)}: {remark}" for remark, who in remarks.items()]
    return [Text("   " + part, "dim") for text in texts for part in fold(text, width - 3)]
