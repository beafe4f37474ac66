"""A verb as one would write it: its function, its typed document and its page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

from scorewise.checks import check
from scorewise.columns import binary_rows
from scorewise.columns.reader import warn
from scorewise.show.document import Document
from scorewise.show.page import Column, Section, Table
from scorewise.show.records import field
from scorewise.show.result import Result

Middle: TypeAlias = Literal["mean", "median"]


class ToyDocument(Document, command="toy"):
    """The middle of each score."""

    level: float = field("Confidence level.")
    rule: str = field("Which middle it is.")
    middles: dict[str, float] = field("The middle of each score.")

    def sections(self) -> list[Section]:
        """A table of the middles."""
        table = Table([Column("score", "text"), Column("middle")], list(self.middles.items()))
        return [Section(facts=[("Level", f"{self.level:g}")], table=table)]


class Toy(Result):
    """The middle of each score."""

    def __init__(self, doc: ToyDocument, notes: tuple[str, ...]) -> None:
        self.doc, self.notes = doc, notes

    def document(self) -> ToyDocument:
        """What is written and shown."""
        return self.doc


def toy(
    source: Any,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    rule: Middle = "mean",
    level: float = 0.95,
) -> Toy:
    """The middle of each score."""
    check(level=level)
    rows = binary_rows(source, label=label, score=score)
    warn(rows.notes)
    import numpy as np

    middles = {name: float(getattr(np, rule)(column)) for name, column in rows.scores.items()}
    return Toy(ToyDocument(level=level, rule=rule, middles=middles), rows.notes)
