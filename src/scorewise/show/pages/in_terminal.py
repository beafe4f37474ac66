"""A page in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from scorewise.show.layout import GAP, Column, cells, fold, headings, pairs, row, rule, spread
from scorewise.show.pages.section import Section
from scorewise.show.words import Document, plain


def page_lines(doc: Document, sections: Sequence[Section], width: int) -> list[Text]:
    """The sections below each other, at most so wide."""
    title = Text.assemble(("scorewise", "bold"), f" {plain(doc['scorewise'])} {doc['command']}")
    lines = [title]
    for section in (s.mapped(plain) for s in sections):
        lines += [Text(), *([rule(section.title, width)] if section.title else [])]
        lines += pairs(section.facts, width)
        lines += _table(section, width) if section.rows else []
        lines += pairs([("•", line) for line in section.lines], width, "yellow")
    return lines


def _table(section: Section, width: int) -> list[Text]:
    """The table; a row with words in its first column alone heads those below, across all columns."""
    body = [line for line in section.rows if any(line[1:]) or len(line) == 1]
    columns = [
        Column([head], cells([line[i] for line in body]), right=head not in section.words)
        for i, head in enumerate(section.head)
    ]
    over = spread([c.width for c in columns]) - width
    long = max((i for i, c in enumerate(columns) if not c.right), default=None)
    if over <= 0 or long is None:
        top = headings(columns, "dim")
        blocks = [[row(columns, [c.cells[k] for c in columns])] for k in range(len(body))]
    else:
        top, blocks = _folded(columns, long, max(columns[long].width - over, 12))
    lines, rest = top, iter(blocks)
    for line in section.rows:
        headed = not any(line[1:]) and len(line) > 1
        lines += [Text(part) for part in fold(line[0], width)] if headed else next(rest)
    return lines


def _folded(columns: list[Column], long: int, room: int) -> tuple[list[Text], list[list[Text]]]:
    """The headings and rows of a table with one column folded to the room that is left."""
    parts = [fold(cell.plain.rstrip(), room) or [""] for cell in columns[long].cells]
    narrow = list(columns)
    widest = max(cell_len(part) for folded in parts for part in folded)
    heading = [h[:room] for h in columns[long].heading]
    narrow[long] = Column(heading, cells([" " * max(widest, 1)]))
    start = sum(c.width + GAP for c in narrow[:long])
    blocks = []
    for k, (first, *rest) in enumerate(parts):
        whole = [Text(first) if i == long else c.cells[k] for i, c in enumerate(columns)]
        blocks.append([row(narrow, whole), *(Text(" " * start + part) for part in rest)])
    return headings(narrow, "dim"), blocks
