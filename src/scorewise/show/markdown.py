"""A page as GitHub-flavoured Markdown."""

from __future__ import annotations

import re
from typing import Any

from scorewise import __version__
from scorewise.errors import plain
from scorewise.show.document import page_of
from scorewise.show.page import Column, Matrix, Page, Section, Table
from scorewise.show.words import Compared, Sentence, count, limits, sentence, value, written


def markdown(doc: Any) -> str:
    """The page of a document for a pull request: facts, tables, sentences, and footnotes."""
    parts = page_parts(page_of(doc))
    # whatever made them, no line leaves with a control in it
    return "\n".join(map(plain, "\n\n".join(parts).split("\n"))) + "\n"


def page_parts(page: Page) -> list[str]:
    """The paragraphs of a page."""
    parts = [f"### scorewise {page.command}"]
    for section in page.sections:
        parts += [f"**{escape(section.title)}**"] if section.title else []
        parts += (
            ["\n".join(f"- {_sentence(claim)}" for claim in section.verdict)]
            if section.verdict
            else []
        )
        facts = [*_facts(section), *map(_matrix, section.matrices)]
        lines = [f"- {_sentence(line)}" for line in section.lines]
        parts += ["\n".join(facts)] if facts else []
        parts += _tables(section.table) if section.table else []
        parts += ["\n".join(lines)] if lines else []
    tables = [section.table for section in page.sections if section.table]
    notes = [*page.footnotes, *(note for table in tables for note in table.remarks("Bold"))]
    return [*parts, f"<sub>{escape(' '.join([*notes, f'scorewise {__version__}']))}</sub>"]


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
    at = table.apart
    columns = [table.columns[i] for i in at]
    head = [_sentence(c.title) for c in columns]
    sides = ["---" if c.left else "--:" for c in columns]
    parts: list[str] = []
    for title, rows in table.groups():
        parts += [f"**{escape(title)}**"] if title else []
        body = [
            [_cell(row[i], table.columns[i]) if i < len(row) else "" for i in at] for row in rows
        ]
        parts.append("\n".join(f"| {' | '.join(line)} |" for line in (head, sides, *body)))
    return parts


def _cell(cell: Any, column: Column) -> str:
    """A cell; a winner is bold, and a reason in italics."""
    if column.format == "interval or reason":
        return _limits(cell)
    if column.format == "compared" and isinstance(cell, Compared):
        shown = f"**{value(cell.estimate)}**" if cell.best else value(cell.estimate)
        return f"{shown} {_limits(cell.estimate)}".rstrip()
    return escape(written(cell, column.format))


def _limits(e: Any) -> str:
    return f"*{escape(e.why)}*" if e.why else limits(e)


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
