"""A page in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text

from scorewise.views.layout import GAP, Column, cells, fold, headings, pairs, row, rule, spread
from scorewise.views.pages.section import Section
from scorewise.views.words import Document, plain


def page_lines(doc: Document, sections: Sequence[Section], width: int) -> list[Text]:
    """The sections below each other, at most so wide."""
    title = Text.assemble(("scorewise", "bold"), f" {plain(doc['scorewise'])} {doc['command']}")
    lines = [title]
    for section in sections:
        lines += [Text(), *([rule(plain(section.title), width)] if section.title else [])]
        lines += pairs([(plain(k), plain(v)) for k, v in section.facts], width)
        lines += _table(section, width) if section.rows else []
        lines += pairs([("•", plain(line)) for line in section.lines], width, "yellow")
    return lines


def _table(section: Section, width: int) -> list[Text]:
    texts = [[plain(cell) for cell in line] for line in section.rows]
    columns = [
        Column([head], cells([line[i] for line in texts]), right=head not in section.words)
        for i, head in enumerate(section.head)
    ]
    lines = headings(columns, "dim")
    over = spread([c.width for c in columns]) - width
    long = max((i for i, c in enumerate(columns) if not c.right), default=None)
    if over <= 0 or long is None:
        return lines + [row(columns, [c.cells[k] for c in columns]) for k in range(len(texts))]
    return _folded(columns, long, max(columns[long].width - over, 12))


def _folded(columns: list[Column], long: int, room: int) -> list[Text]:
    """The table with one column folded to the room that is left."""
    parts = [fold(cell.plain.rstrip(), room) or [""] for cell in columns[long].cells]
    narrow = list(columns)
    widest = max(cell_len(part) for folded in parts for part in folded)
    heading = [h[:room] for h in columns[long].heading]
    narrow[long] = Column(heading, cells([" " * max(widest, 1)]))
    lines = headings(narrow, "dim")
    start = sum(c.width + GAP for c in narrow[:long])
    for k, (first, *rest) in enumerate(parts):
        lines.append(
            row(narrow, [Text(first) if i == long else c.cells[k] for i, c in enumerate(columns)])
        )
        lines += [Text(" " * start + part) for part in rest]
    return lines
