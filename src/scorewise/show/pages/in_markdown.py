"""A page in Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from scorewise.show.pages.section import Section
from scorewise.show.words import Document, escape


def page_parts(doc: Document, sections: Sequence[Section]) -> list[str]:
    """The paragraphs of a page."""
    parts = [f"### scorewise {doc['command']}"]
    for section in (s.mapped(escape) for s in sections):
        parts += [f"**{section.title}**"] if section.title else []
        facts = [f"- {key}: {sentence}" for key, sentence in section.facts]
        said = [f"- {line}" for line in section.lines]
        parts += ["\n".join(lines) for lines in (facts, _table(section), said) if lines]
    return [*parts, f"<sub>scorewise {escape(doc['scorewise'])}</sub>"]


def _table(section: Section) -> list[str]:
    if not section.rows:
        return []
    sides = ["---" if head in section.words else "--:" for head in section.head]
    return [f"| {' | '.join(line)} |" for line in (section.head, sides, *section.rows)]
