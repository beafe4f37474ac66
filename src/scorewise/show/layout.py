"""Lines of fixed width, measured in terminal cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from rich.cells import cell_len, chop_cells
from rich.text import Text

GAP = 2


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading and its cells (each of one or more lines), and how they are set."""

    heading: Sequence[str]
    cells: Sequence[Text]
    right: bool = False
    style: str = "dim"  # of the heading

    @cached_property
    def width(self) -> int:
        """Width of the widest line."""
        widths = [cell_len(line) for line in self.heading]
        widths += [line.cell_len for cell in self.cells for line in lines(cell)]
        return max(widths, default=0)


def lines(cell: Text) -> list[Text]:
    """The lines of a cell."""
    return list(cell.split("\n", allow_blank=True)) if "\n" in cell.plain else [cell]


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
        *whole, line = chop_cells(word, max(2, width)) or [""]
        lines.extend(whole)
    return [*lines[1:], line]


def aligned(texts: Sequence[str]) -> list[str]:
    """Numbers padded so that their decimal points stand below each other.

    >>> aligned(["0.5", "12.25", "7"])
    [' 0.5 ', '12.25', ' 7   ']
    """
    whole = [text.partition(".")[0] for text in texts]
    left = max(map(len, whole), default=0)
    padded = [" " * (left - len(w)) + text for w, text in zip(whole, texts, strict=True)]
    width = max(map(len, padded), default=0)
    return [text.ljust(width) for text in padded]


def cells(texts: Sequence[str], style: str = "") -> list[Text]:
    """Texts in one style."""
    return [Text(text, style) for text in texts]


def spread(widths: Sequence[int]) -> int:
    """Width of columns side by side."""
    return sum(widths) + GAP * max(0, len(widths) - 1)


def row(columns: Sequence[Column], parts: Sequence[Text]) -> list[Text]:
    """A row of a table, as deep as its deepest cell."""
    cells = [lines(part) for part in parts]
    deep = max(map(len, cells), default=0)
    filled = [[*cell, *[Text()] * (deep - len(cell))] for cell in cells]
    return [_line(columns, parts) for parts in zip(*filled, strict=True)]


def _line(columns: Sequence[Column], parts: Sequence[Text]) -> Text:
    line = Text()
    for i, (column, part) in enumerate(zip(columns, parts, strict=True)):
        room = " " * (column.width - part.cell_len)
        line.append(" " * GAP if i else "")
        line.append_text(Text(room) + part if column.right else part + Text(room))
    line.rstrip()
    return line


def headings(columns: Sequence[Column]) -> list[Text]:
    """The lines of the headings, the last of each at the bottom."""
    deep = max(len(column.heading) for column in columns)
    above = [[""] * (deep - len(c.heading)) + list(c.heading) for c in columns]
    parts = [Text("\n".join(h), c.style) for h, c in zip(above, columns, strict=True)]
    return row(columns, parts)


def rule(title: str, width: int) -> Text:
    """A light line across, with a title in it.

    >>> print(rule("Ranking", 20))
    ── Ranking ─────────
    """
    line = Text("── ", "dim")
    line.append(title, "bold not dim")
    line.append(" " + "─" * (width - cell_len(title) - 4))
    return line


def pairs(facts: Sequence[tuple[str, str]], width: int, style: str = "bold") -> list[Text]:
    """Keys on the left, each with its sentence folded beside it."""
    left = max((cell_len(key) for key, _ in facts), default=0) + GAP
    lines = []
    for key, sentence in facts:
        for i, part in enumerate(fold(sentence, width - left)):
            head = key if i == 0 else ""
            lines.append(Text.assemble((head, style), " " * (left - cell_len(head)), part))
    return lines


def beside(blocks: Sequence[Sequence[Text]], width: int) -> list[Text]:
    """Blocks of lines next to each other, as many as fit, then further ones below."""
    bands: list[list[Column]] = [[]]
    for block in blocks:
        column = Column([], [Text("\n").join(block)])
        if bands[-1] and spread([c.width for c in bands[-1]] + [column.width]) > width:
            bands.append([])
        bands[-1].append(column)
    return [line for band in bands for line in row(band, [c.cells[0] for c in band])]
