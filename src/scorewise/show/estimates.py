"""Estimates within documents, and how records are made of results."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from msgspec import Meta

from scorewise.estimate import Estimate
from scorewise.registry import Better, Group, Measure
from scorewise.show.fields import AnyRecord, Count, Level, Number, Record, Share, Word, means


class Limits(Record):
    """A value and the ends of its interval."""

    value: Number
    low: Number
    high: Number


class Measured(Limits):
    """A value and its interval. The value is null exactly when `why` gives the reason."""

    level: Level
    method: str = means("How the interval was made; empty when there is none.")
    why: str


class Estimated(Measured):
    """An estimate. The value is null exactly when `why` gives the reason."""

    bound: float = means("Certified half-width that coarsening left; 0 if exact.", ge=0)
    baseline: Number = means("What chance or the best constant would get; null if none.")
    expected: Number
    p: Share | None
    caution: str = means("Why the interval is unreliable; empty where it is not.")


class Repeatable(Record):
    """Settings of a result with intervals and random draws."""

    level: Level = 0.95
    seed: Count = 0


class OfMeasure(Record):
    """What is said of a measure."""

    measure: Word
    title: Word


# Fields of results that are records themselves: Python has an estimate, or NaN, where JSON has the fields
# of the estimate, or null. What is read back has the latter.
if TYPE_CHECKING:
    EstimateField: TypeAlias = Estimate
    NumberOrNaN: TypeAlias = float
    ShareOrNaN: TypeAlias = float
else:
    EstimateField, NumberOrNaN, ShareOrNaN = Estimated, Number, Share | None


class Named(Record):
    """The name of a measure."""

    name: Word = means("Name, as in the Python library.")


class Titled(Named):
    """What a measure is called."""

    title: Word


class NamedMeasure(Titled):
    """What a measure is called, and what it says."""

    group: Group = means("The question that the measure answers.")
    meaning: str
    better: Better = means("Which values are better: high, low, near the expected one, or neither.")


class MeasureRow(Estimated, NamedMeasure):
    """One measure with its estimate."""

    skill: Annotated[float, Meta(le=1)] | None = means(
        "Share of the way from the baseline to the best value."
    )

    @classmethod
    def of(cls, m: Measure, e: Estimate) -> MeasureRow:
        """The row of a measure."""
        return record_of(cls, e, m, skill=m.skill(e))


def finite(x: float) -> float | None:
    """The number, or none where it is not finite: JSON knows no others."""
    return float(x) if math.isfinite(x) else None


def record_of(kind: type[AnyRecord], /, *parts: object, **known: Any) -> AnyRecord:
    """The record of that kind: what is known, and attributes of the first part that has them.

    Estimates become their records; numbers that are not finite are null, as they will be in JSON.

    >>> record_of(Estimated, Estimate(0.5, 0.2, 0.8), level=0.9).high
    0.8
    """
    for name in (f.name for f in fields(kind) if f.init and f.name not in known):  # type: ignore[arg-type]
        part = next((p for p in parts if hasattr(p, name)), None)
        if part is not None:
            known[name] = getattr(part, name)
    return kind(**{name: _plain(item) for name, item in known.items()})


def _plain(item: Any) -> Any:
    if isinstance(item, tuple):
        return list(item)
    if isinstance(item, Estimate):
        return record_of(Estimated, item)
    return None if isinstance(item, float) and not math.isfinite(item) else item
