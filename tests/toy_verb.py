"""A verb as one would write it: its function, its typed document and its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from scorewise.checks import check
from scorewise.columns import binary_rows
from scorewise.columns.rows import warn
from scorewise.show.document import Document, says
from scorewise.show.page import Column, Page, Section, Table
from scorewise.show.shown import Shown

Middle: TypeAlias = Literal["mean", "median"]


@dataclass(frozen=True, kw_only=True)
class ToyDocument(Document):
    """The middle of each score."""

    command: Annotated[Literal["toy"], says("The command that made the document.")] = "toy"
    level: Annotated[float, says("Confidence level.")]
    rule: Annotated[str, says("Which middle it is.")]
    middles: Annotated[dict[str, float], says("The middle of each score.")]

    def page(self) -> Page:
        """A table of the middles."""
        table = Table([Column("score", "text"), Column("middle")], list(self.middles.items()))
        return Page(self.command, [Section(facts=[("Level", f"{self.level:g}")], table=table)])


class Toy(Shown):
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


def open_toy(source: Any, name: str) -> Any:
    """A file of lines such as "y=1 p=0.5", as a table."""
    import polars as pl

    from scorewise.columns.csv_files import start_of
    from scorewise.columns.formats import table_of

    lines = start_of(source, -1).decode().splitlines()
    rows = [dict(part.split("=") for part in line.split()) for line in lines]
    frame = pl.DataFrame(rows).with_columns(pl.all().cast(pl.Float64))
    return table_of(frame, name, "toy")
