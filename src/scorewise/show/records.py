"""Records: frozen dataclasses whose fields carry type, limits and a sentence.

    folds: Count = field("Folds of the cross-fitting.")

A field whose name is in `DESCRIPTIONS` means the same in all records, and is declared by its type alone, as
in `seed: Count`; `field` describes any other.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar, dataclass_transform

from msgspec import Meta

from scorewise.estimate import Estimate
from scorewise.registry import Better, Group, Measure

Json = dict[str, Any]
AnyRecord = TypeVar("AnyRecord")
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Level: TypeAlias = Annotated[float, Meta(gt=0, lt=1)]
Word: TypeAlias = Annotated[str, Meta(min_length=1)]
Weight: TypeAlias = Annotated[float, Meta(ge=0)]
Number: TypeAlias = float | None  # null where it is not finite
PValue: TypeAlias = Share | None

# what fields of these names mean in every record
DESCRIPTIONS = {
    "above": "The highest score below; null when there is none.",
    "alert_rate": "Share of rows with an alert.",
    "apparent": "Rows with different decisions, but scores within the tolerance.",
    "auroc": "Area under the ROC curve.",
    "brier": "Brier score.",
    "by": "Columns of the groups.",
    "category": "Name of the category.",
    "clusters": "The clusters of rows; null where each row stands alone.",
    "dropped": "Rows left out because a value was missing.",
    "exact": "False when scores were coarsened into cells.",
    "expected": "What calibrated scores get on average; null if not asked.",
    "file": "The file that it is in; null when given as arrays.",
    "fn": "Weight of positives predicted negative.",
    "fp": "Weight of negatives predicted positive.",
    "groups": "Group by group; empty where none were asked for.",
    "hidden": "Rows with one decision, but scores apart; where they are listed, the furthest first.",
    "high": "Upper end of the interval; null when there is none.",
    "hints": "Remarks for the reader.",
    "items": "Number of items, or their weight.",
    "kappa": "Cohen's kappa.",
    "kind": "What the scores are said to be.",
    "level": "Confidence level of the intervals.",
    "log_loss": "Log loss.",
    "looks": "Looks at the same rows that the level is shared among.",
    "low": "Lower end of the interval; null when there is none.",
    "meaning": "What the value says, in a sentence.",
    "measure": "Name of the measure.",
    "measures": "The measures with their values.",
    "method": "Name of the method.",
    "model": "Name of the model.",
    "name": "Its name; of scores, usually their column.",
    "npv": "Share of rows without an alert that are negative.",
    "only_first": "How many, or what share, only the first gets right.",
    "only_second": "How many, or what share, only the second gets right.",
    "p": "P-value; null where there is no test.",
    "p_adjusted": "P-value, adjusted for the number of tests (Holm).",
    "positives": "Rows of the positive class; null where they are not known.",
    "precision": "Share of alerts that are right (PPV).",
    "real": "Rows with different decisions and scores apart; where they are listed, the furthest first.",
    "rotation": "Degrees from the balance by label to the balance by score.",
    "row": "Its row: from 1 after the header in a file, from 0 in arrays.",
    "rows": "Number of rows, without those dropped.",
    "same_decisions": "Share of rows on which all decide the same.",
    "score": "Name of the scores, usually their column.",
    "seed": "Seed of the random draws.",
    "sensitivity": "Share of positives with an alert (recall).",
    "sentence": "The sentence, as every view shows it.",
    "set": "Whether the score is high or low, and the class; null without midpoint.",
    "sha256": "Fingerprint of all other fields.",
    "share": "Its share of all ratings.",
    "size": "Its size in bytes.",
    "sources": "Files read; empty when given as arrays.",
    "specificity": "Share of negatives without an alert.",
    "statistic": "Chi-square; null where the kind of test has none.",
    "strength": "Rows that the pull towards simpler maps is worth.",
    "threshold": "A score at or above this is a positive decision.",
    "title": "Name of the measure, as shown.",
    "tn": "Weight of negatives predicted negative.",
    "tp": "Weight of positives predicted positive.",
    "upto": "The lowest score at or above; null when there is none.",
    "value": "The value; null when undefined or infinite.",
    "verdict": "What the numbers mean, in sentences.",
    "weighted": "Whether items have weights.",
    "within_tolerance": "Share of rows on which all scores are within tolerance.",
    "why": "Why there is no result; empty when there is one.",
}


def doc(sentence: str) -> Meta:
    """What all fields of a type mean; the other part of an `Annotated`."""
    return Meta(description=sentence)


def field(
    sentence: str, *, default: Any = MISSING, default_factory: Any = MISSING, **limits: Any
) -> Any:
    """A field of a record: what it means, and limits such as `ge=0` or `min_length=1`."""
    defaults = {"default": default, "default_factory": default_factory}
    return dataclasses.field(**defaults, metadata={"meaning": Meta(description=sentence, **limits)})


@dataclass_transform(
    frozen_default=True, kw_only_default=True, field_specifiers=(field, dataclasses.field)
)
class Record:
    """A frozen dataclass with named arguments only, whose types carry what its fields mean."""

    def __init_subclass__(cls) -> None:
        """Make a dataclass of it."""
        for name, hint in cls.__annotations__.items():
            metadata = getattr(vars(cls).get(name), "metadata", {})
            if "meaning" in metadata:
                cls.__annotations__[name] = Annotated[hint, metadata["meaning"]]
            elif name in DESCRIPTIONS:
                cls.__annotations__[name] = Annotated[hint, doc(DESCRIPTIONS[name])]
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)


def members(item: Any) -> Iterator[tuple[str, Any]]:
    """What a record, a mapping or a list holds, each with its name; of numbers, nothing."""
    if is_dataclass(item):
        yield from ((f.name, getattr(item, f.name)) for f in fields(item))
    elif isinstance(item, Mapping):
        yield from item.items()
    elif isinstance(item, list | tuple) and item and not isinstance(item[-1], int | float):
        yield from (("", part) for part in item)


class PairNames(Record):
    """What is said of two."""

    first: str = field("Name of the one.")
    second: str = field("Name of the other.")


class Limits(Record):
    """A value and the ends of its interval."""

    value: Number
    low: Number
    high: Number


class Measured(Limits):
    """A value and its interval. The value is null exactly when `why` gives the reason."""

    level: Level
    method: str = field("How the interval was made; empty when there is none.")
    why: str


class Estimated(Measured):
    """An estimate. The value is null exactly when `why` gives the reason."""

    bound: float = field("Certified half-width that coarsening left; 0 if exact.", ge=0)
    baseline: Number = field("What chance or the best constant would get; null if none.")
    expected: Number
    p: Share | None
    caution: str = field("Why the interval is unreliable; empty where it is not.")


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

    name: Word = field("Name, as in the Python library.")


class Titled(Named):
    """What a measure is called."""

    title: Word


class NamedMeasure(Titled):
    """What a measure is called, and what it says."""

    group: Group = field("The question that the measure answers.")
    meaning: str
    better: Better = field("Which values are better: high, low, near the expected one, or neither.")


class MeasureRow(Estimated, NamedMeasure):
    """One measure with its estimate."""

    skill: Annotated[float, Meta(le=1)] | None = field(
        "Share of the way from the baseline to the best value."
    )

    @classmethod
    def of(cls, m: Measure, e: Estimate) -> MeasureRow:
        """The row of a measure."""
        return record_of(cls, e, m, skill=m.skill(e))


def finite(x: float | None) -> float | None:
    """The number, or none where it is not finite or there is none: JSON knows no others."""
    return float(x) if x is not None and math.isfinite(x) else None


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
