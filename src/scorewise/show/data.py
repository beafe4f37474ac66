"""What was judged, as every command on rows of two classes writes and shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from scorewise.show.document import Count, record_of, says
from scorewise.show.page import count, counted, named, percent
from scorewise.tallies import Tally


@dataclass(frozen=True, kw_only=True)
class DataRecord:
    """The rows that were judged."""

    sources: Annotated[list[str], says("Files read; empty when given as arrays.")]
    label: Annotated[str | None, says("Column of the labels; null when it has no name.")]
    positive: Annotated[str | None, says("The positive class; null when none is known.")]
    negative: Annotated[str | None, says("The negative class; null when none is known.")]
    rule: Annotated[str, says("How it was decided which class is positive.")]
    rows: Annotated[Count, says("Rows judged, without those dropped.")]
    positives: Annotated[Count, says("Rows of the positive class.")]
    negatives: Annotated[Count, says("Rows of the negative class.")]
    dropped: Annotated[Count, says("Rows left out because a value was missing.")]
    weight: Annotated[str | None, says("Column of the weights; null when all rows weigh the same.")]
    weight_positives: Annotated[float, Meta(ge=0), says("Total weight of the positive class.")]
    weight_negatives: Annotated[float, Meta(ge=0), says("Total weight of the negative class.")]

    @classmethod
    def of(cls, t: Tally) -> DataRecord:
        """The rows that a tally was made of."""
        weights = {"positives": float(t.positives), "negatives": float(t.negatives)}
        return record_of(cls, t.origin, **{f"weight_{side}": w for side, w in weights.items()})

    def facts(self) -> list[tuple[str, str]]:
        """The rows in words, as pairs of a key and a sentence."""
        facts = [("Data", named([f"'{s}'" for s in self.sources]))] if self.sources else []
        share = f" ({percent(self.positives / self.rows)})" if self.rows else ""
        rows = f"{count(self.rows)}: {count(self.positives)} positive{share}"
        facts.append(("Rows", f"{rows}, {count(self.negatives)} negative"))
        positive, negative = (
            "none" if name is None else f"'{name}'" for name in (self.positive, self.negative)
        )
        column = "" if self.label is None else f" in column '{self.label}'"
        rule = f" ({self.rule})" if self.rule else ""
        facts.append(("Positive", f"{positive}{column}{rule}; negative is {negative}"))
        if self.dropped:
            facts.append(("Dropped", f"{counted(self.dropped, 'row')} with missing values"))
        if self.weight is not None:
            plus, minus = self.weight_positives, self.weight_negatives
            share = f" ({percent(plus / (plus + minus))})" if plus + minus else ""
            weights = f"'{self.weight}': {count(plus)} on positives{share}"
            facts.append(("Weights", f"{weights}, {count(minus)} on negatives"))
        return facts
