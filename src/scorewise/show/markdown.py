"""A page as GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from scorewise import __version__
from scorewise.errors import plain
from scorewise.show.document import page_of
from scorewise.show.page import Column, Matrix, Section, Table
from scorewise.show.words import Sentence, count, sentence, spans


def markdown(doc: Any) -> str:
    """The page of a document for a pull request: facts, tables, sentences, and footnotes."""
    page = page_of(doc)
    parts, notes = [f"### scorewise {page.command}"], [*page.footnotes]
    for section in page.sections:
        table = section.table
        parts += [
            f"**{escape(section.title)}**" if section.title else "",
            _list(section.verdict),
            "\n".join([*_facts(section), *map(_matrix, section.matrices)]),
            *(_tables(table.printed()) if table else []),
            _list(section.lines),
        ]
        notes += table.remarks("Bold") if table else []
    parts.append(f"<sub>{escape(' '.join([*notes, f'scorewise {__version__}']))}</sub>")
    # whatever made them, no line leaves with a control in it
    return "\n".join(map(plain, "\n\n".join(filter(None, parts)).split("\n"))) + "\n"


def _list(lines: Sequence[Sentence]) -> str:
    return "\n".join(f"- {_sentence(line)}" for line in lines)


def _sentence(text: Sentence) -> str:
    return sentence(text, code, escape)


def _facts(section: Section) -> list[str]:
    """A line for each fact; what has no key goes on in the line before."""
    lines: list[str] = []
    for key, fact in section.facts:
        if key or not lines:
            lines.append(f"- {escape(key)}: {_sentence(fact)}")
        else:
            lines[-1] += f"; {_sentence(fact)}"
    return lines


def _matrix(m: Matrix) -> str:
    (tp, fn), (fp, tn) = ((count(x) for x in line) for line in m.counts)
    return f"- Decisions of {code(m.model)}: {tp} TP, {fp} FP, {fn} FN, {tn} TN"


def _tables(table: Table) -> list[str]:
    """A table for each group, under its title."""
    head = [_sentence(c.title) for c in table.columns]
    sides = ["---" if c.left else "--:" for c in table.columns]
    parts: list[str] = []
    for title, rows in table.groups():
        parts += [f"**{escape(title)}**"] if title else []
        body = [[_cell(x, c) for x, c in zip(row, table.columns, strict=True)] for row in rows]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in (head, sides, *body)))
    return parts


def _cell(cell: Any, column: Column) -> str:
    """A cell; a winner is bold, and a reason in italics."""
    return " ".join(STYLES[style](text) for text, style in spans(cell, column.format))


# Words that are not ours, made harmless.


def escape(text: object) -> str:
    r"""Text that Markdown shows as it is, also within a table.

    >>> print(escape("a|b *c* <d> @e"))
    a\|b \*c\* \<d\> @<!-- -->e
    """
    text = re.sub(r"([\\`*_{}\[\]<>|~$&])", r"\\\1", plain(text))
    return re.sub(r"([@#])", r"\1<!-- -->", text)  # names nobody and links to no issue


def code(text: object) -> str:
    r"""A user's word as code, where no markup counts.

    >>> print(code("risk"), code("a`b"), code("a|b"))
    `risk` ``a`b`` a\|b
    """
    word = plain(text)
    if not word.strip() or "|" in word:  # no code is empty, nor can it hold a | in every table
        return escape(word) if word.strip() else f"'{word}'"
    ticks = "`" * (max(map(len, re.findall("`+", word)), default=0) + 1)
    pad = " " if {word[0], word[-1]} & {"`", " "} else ""
    return f"{ticks}{pad}{word}{pad}{ticks}"


STYLES: dict[str, Callable[[str], str]] = {
    "": escape,
    "best": lambda text: f"**{text}**",
    "value": str,
    "interval": str,
    "reason": lambda text: f"*{escape(text)}*",
}
