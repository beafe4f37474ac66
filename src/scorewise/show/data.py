"""Rows and scores that were judged: how they are written, and what pages say of them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any, TypeAlias

import numpy as np

from scorewise.arrays import Ints
from scorewise.computing import cached
from scorewise.curves.density import Density
from scorewise.errors import BadInput
from scorewise.show.records import (
    AnyRecord,
    Count,
    Number,
    Record,
    Weight,
    field,
    finite,
    record_of,
)
from scorewise.show.words import Name, Sentence, count, listed_names, percent, plural
from scorewise.tallies import ClassTally, Tally

Label: TypeAlias = str | float | bool | None


class RowsRecord(Record):
    """Rows, and where they come from."""

    sources: list[str]
    rows: Count
    dropped: Count

    def dropped_facts(self) -> list[tuple[str, str]]:
        """What a page says of the rows left out, if there are any."""
        text = f"{plural(self.dropped, 'row')} with missing values"
        return [("Dropped", text)] if self.dropped else []


class WeightedRows(RowsRecord):
    """Rows that may have weights."""

    weight: str | None = field("Column of the weights; null when all rows weigh the same.")


class DataRecord(WeightedRows):
    """The data that the scores were judged on; what only two classes have is null of several."""

    label: str | None = field("Column of the labels; null when it has no name.")
    positive: Label = field("The positive class; null when none is known.")
    negative: Label = field("The negative class; null when none is known.")
    rule: str = field("How it was decided which class is which.")
    positives: Count | None
    negatives: Count | None = field("Rows of the negative class.")
    weight_positives: Weight | None = field("Total weight of the positive class.")
    weight_negatives: Weight | None = field("Total weight of the negative class.")

    @classmethod
    def of(cls, t: Tally | ClassTally) -> DataRecord:
        """The record of the rows of a tally."""
        if isinstance(t, ClassTally):
            names = ("positive", "negative", "positives", "negatives")
            unknown = dict.fromkeys((*names, "weight_positives", "weight_negatives"))
            return record_of(cls, t.top.origin, rows=t.rows, rule=t.rule, **unknown)
        weights = {"weight_positives": float(t.positives), "weight_negatives": float(t.negatives)}
        return record_of(cls, t.origin, **weights)

    def facts(self) -> list[tuple[str, Sentence]]:
        """What a page says of them, as pairs of a key and a sentence."""
        facts: list[tuple[str, Sentence]] = (
            [("Data", listed_names(self.sources))] if self.sources else []
        )
        if self.positives is None:
            facts.append(("Rows", f"{count(self.rows)} of several classes"))
        else:
            up, down = self.positives, self.negatives or 0
            rows = f"{count(self.rows)}: {count(up)} positive{_share(up, down)}"
            facts.append(("Rows", f"{rows}, {count(down)} negative"))
            column = [] if self.label is None else [" in column ", Name(self.label)]
            rule = f" ({self.rule})" if self.rule else ""
            negative = _class(self.negative)
            facts.append(
                ("Positive", [_class(self.positive), *column, rule, "; negative is ", negative])
            )
        facts += self.dropped_facts()
        if self.weight is not None:
            plus, minus = self.weight_positives or 0.0, self.weight_negatives or 0.0
            weights = (
                f": {count(plus)} on positives{_share(plus, minus)}, {count(minus)} on negatives"
            )
            said = [] if self.positives is None else [weights]
            facts.append(("Weights", [Name(self.weight), *said]))
        return facts


class SpreadRecord(Record):
    """How many values the scores, or the confidence, take, and between which ends."""

    distinct: Count = field("Distinct values, or cells when coarsened.")
    lowest: Number = field("Lowest value; null when there are none.")
    highest: Number = field("Highest value; null when there are none.")


def spread(t: Tally) -> dict[str, Any]:
    """The fields of a `SpreadRecord` of a tally."""
    lowest, highest = map(finite, t.ends)
    return {"distinct": len(t.score), "lowest": lowest, "highest": highest}


class SeenRecord(Record):
    """The scores that something was learned from."""

    low: float = field("Lowest score seen.")
    high: float = field("Highest score seen.")


DENSITY_POINTS = 200


class DensityRecord(Record):
    """How the scores of each class are spread; each density has the area 1."""

    x: list[float] = field("Scores; of logits, their probabilities.")
    negative: list[float] = field("Density of the negatives there.")
    positive: list[float] = field("Density of the positives there.")

    @classmethod
    def of(cls, t: Tally) -> DensityRecord | None:
        """The record of a tally, at points that both classes share."""

        def made() -> DensityRecord:
            both = Density.of(t.pooled, points=DENSITY_POINTS)
            ends = min(d.x[0] for d in both), max(d.x[-1] for d in both)
            x = np.linspace(*ends, DENSITY_POINTS)
            negative, positive = (short(np.maximum(d(x), 0.0), 4) for d in both)
            return cls(x=short(x), negative=negative, positive=positive)

        return cached(t, "density record", lambda: where_defined(made))


def short(values: Any, digits: int = 6) -> list[float]:
    """Numbers with so many significant digits.

    >>> short([1 / 3, 2e-9, 0.5])
    [0.333333, 2e-09, 0.5]
    """
    return [float(f"{x:.{digits}g}") for x in np.asarray(values, np.float64).tolist()]


def where_defined(made: Callable[[], AnyRecord]) -> AnyRecord | None:
    """What is made, or none where it is refused."""
    try:
        return made()
    except BadInput:  # a class without rows, scores that are not probabilities
        return None


class ClusterRecord(Record):
    """Rows that belong together, such as those of a patient."""

    number: Count = field("Clusters.")
    largest: Count = field("Rows of the largest of them.")

    @classmethod
    def of(cls, cluster: Ints | None) -> ClusterRecord | None:
        """The record of the numbers of clusters of rows, if they come in any."""
        if cluster is None:
            return None
        sizes = np.bincount(cluster)
        return cls(number=len(sizes), largest=int(sizes.max()))

    def __str__(self) -> str:
        return f"{plural(self.number, 'cluster')}, the largest of {plural(self.largest, 'row')}"

    def facts(self, noun: str) -> list[tuple[str, str]]:
        """What a page says of them, whose rows are called so."""
        largest = f"the largest of {plural(self.largest, noun)}"
        return [("Clusters", f"{count(self.number)}, {largest}")]


class Cells(Record):
    """Weight of labels against decisions; counts when there are no weights."""

    tp: Weight
    fp: Weight
    fn: Weight
    tn: Weight


class NamedGroup(Record):
    """A group, by its words."""

    name: str = field("The words of the group, with slashes between.")


class GroupOfRows(NamedGroup):
    """A group of rows."""

    rows: Count
    positives: Count


class CutRecord(Record):
    """Where the scores are cut. Every threshold in (above, upto] gives the same decisions."""

    threshold: float
    above: Number
    upto: Number

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
