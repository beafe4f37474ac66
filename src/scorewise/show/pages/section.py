"""Sections of pages that are still made of texts."""

from __future__ import annotations

from collections.abc import Sequence

from scorewise.show.page import Column, Section, Table, hints
from scorewise.show.page import undefined as absent

__all__ = ["Section", "absent", "hints", "section"]


def section(
    title: str = "",
    facts: Sequence[tuple[str, str]] = (),
    head: Sequence[str] = (),
    rows: Sequence[Sequence[str]] = (),
    words: frozenset[str] = frozenset(),
    lines: Sequence[str] = (),
) -> Section:
    """A section whose table has texts, of which those in columns named in `words` are set left."""
    columns = [Column(h, "text" if h in words else "number") for h in head]
    short = [row[:1] if len(row) > 1 and not any(row[1:]) else row for row in rows]
    return Section(title, facts, Table(columns, short) if rows else None, lines)
