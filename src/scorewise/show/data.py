"""Rows and scores that were judged: how they are written, and what pages say of them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import TYPE_CHECKING, Annotated, TypeAlias

import numpy as np
from msgspec import Meta

from scorewise.arrays import Ints
from scorewise.show.document import Count, Number, record_of, says
from scorewise.show.page import Name, Sentence, count, counted, names, percent

if TYPE_CHECKING:
    from scorewise.tallies import Tally

Label: TypeAlias = str | float | bool | None
Weight: TypeAlias = Annotated[float, Meta(ge=0)]


@dataclass(frozen=True, kw_only=True)
class DataRecord:
    """The data that the scores were judged on; what only two classes have is null of several."""

    sources: Annotated[list[str], says("Files read; empty when given as arrays.")]
    label: Annotated[str | None, says("Column of the labels; null when it has no name.")]
    positive: Annotated[Label, says("The positive class; null when none is known.")]
    negative: Annotated[Label, says("The negative class; null when none is known.")]
    rule: Annotated[str, says("How it was decided which class is which.")]
    rows: Annotated[Count, says("Rows judged, without those dropped.")]
    positives: Annotated[Count | None, says("Rows of the positive class.")]
    negatives: Annotated[Count | None, says("Rows of the negative class.")]
    dropped: Annotated[Count, says("Rows left out because a value was missing.")]
    weight: Annotated[str | None, says("Column of the weights; null when all rows weigh the same.")]
    weight_positives: Annotated[Weight | None, says("Total weight of the positive class.")]
    weight_negatives: Annotated[Weight | None, says("Total weight of the negative class.")]

    @classmethod
    def of(cls, t: Tally) -> DataRecord:
        """The record of the rows of a tally."""
        weights = {"weight_positives": float(t.positives), "weight_negatives": float(t.negatives)}
        return record_of(cls, t.origin, **weights)

    def facts(self) -> list[tuple[str, Sentence]]:
        """What a page says of them, as pairs of a key and a sentence."""
        facts: list[tuple[str, Sentence]] = [("Data", names(self.sources))] if self.sources else []
        up, down = self.positives or 0, self.negatives or 0
        rows = f"{count(self.rows)}: {count(up)} positive{_share(up, down)}"
        facts.append(("Rows", f"{rows}, {count(down)} negative"))
        column = [] if self.label is None else [" in column ", Name(self.label)]
        rule = f" ({self.rule})" if self.rule else ""
        negative = _class(self.negative)
        facts.append(
            ("Positive", [_class(self.positive), *column, rule, "; negative is ", negative])
        )
        if self.dropped:
            facts.append(("Dropped", f"{counted(self.dropped, 'row')} with missing values"))
        if self.weight is not None:
            plus, minus = self.weight_positives or 0.0, self.weight_negatives or 0.0
            weights = (
                f": {count(plus)} on positives{_share(plus, minus)}, {count(minus)} on negatives"
            )
            facts.append(("Weights", [Name(self.weight), weights]))
        return facts


CLUSTERS = "The clusters of rows; null where each row stands alone."


@dataclass(frozen=True, kw_only=True)
class ClusterRecord:
    """Rows that belong together, such as those of a patient."""

    number: Annotated[Count, says("Clusters.")]
    largest: Annotated[Count, says("Rows of the largest of them.")]

    @classmethod
    def of(cls, cluster: Ints | None) -> ClusterRecord | None:
        """The record of the numbers of clusters of rows, if they come in any."""
        if cluster is None:
            return None
        sizes = np.bincount(cluster)
        return cls(number=len(sizes), largest=int(sizes.max()))

    def __str__(self) -> str:
        largest = f"the largest of {counted(self.largest, 'row')}"
        return f"{counted(self.number, 'cluster')}, {largest}"


@dataclass(frozen=True, kw_only=True)
class CutRecord:
    """Where the scores are cut. Every threshold in (above, upto] gives the same decisions."""

    threshold: Annotated[float, says("The threshold.")]
    above: Annotated[Number, says("Highest score below the threshold; null when there is none.")]
    upto: Annotated[Number, says("Lowest score at or above the threshold; null when none.")]

    def same_decisions(self) -> str:
        """The thresholds that decide as this one does, rounded inwards so that the claim stays true.

        >>> CutRecord(threshold=0.5, above=0.498712, upto=0.501256).same_decisions()
        '(0.4988, 0.5012]'
        >>> CutRecord(threshold=0.5, above=0.4999999, upto=None).same_decisions()
        '(0.4999999, ∞)'
        """
        threshold = Decimal(repr(float(self.threshold)))
        above = Decimal("-inf" if self.above is None else repr(float(self.above)))
        upto = Decimal("inf" if self.upto is None else repr(float(self.upto)))
        for digits in range(4, 18):
            low = Context(prec=digits, rounding=ROUND_CEILING).plus(above)
            high = Context(prec=digits, rounding=ROUND_FLOOR).plus(upto)
            if low < threshold <= high:
                break
        left = f"{low.normalize():f}" if low.is_finite() else "-∞"
        return f"({left}, {high.normalize():f}]" if high.is_finite() else f"({left}, ∞)"


def _class(label: Label) -> str:
    return "none" if label is None else Name(label)


def _share(positives: float, negatives: float) -> str:
    total = positives + negatives
    return f" ({percent(positives / total)})" if total else ""
