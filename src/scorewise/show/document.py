"""Documents: typed records from which JSON, JSON Schema and validated reading are derived.

A record is a frozen dataclass whose fields carry type, limits and a sentence:

    rows: Annotated[Count, says("Rows, without those left out.")]

The document of a command is a record too; it also says what its page shows.
"""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from scorewise import __version__
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.registry import Better, Group, Measure
from scorewise.show.page import Page, named

Json = dict[str, Any]
Record = TypeVar("Record")

Count: TypeAlias = Annotated[int, Meta(ge=0)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Level: TypeAlias = Annotated[float, Meta(gt=0, lt=1)]
Word: TypeAlias = Annotated[str, Meta(min_length=1)]
Number: TypeAlias = float | None  # null where it is not finite

# where the document of each command is; imported when asked for
DOCUMENTS = {
    "agree": "scorewise.agreeing.document:AgreeDocument",
    "answers": "scorewise.answering.document:AnswersDocument",
    "calibrate": "scorewise.recalibrating.document:CalibrateDocument",
    "calibrate-classes": "scorewise.recalibrating.document:CalibrateClassesDocument",
    "compare": "scorewise.evaluation.compare_document:CompareDocument",
    "drift": "scorewise.drifting.document:DriftDocument",
    "evaluate": "scorewise.evaluation.document:EvaluationDocument",
    "gate": "scorewise.gating.document:GateDocument",
    "in-and-out": "scorewise.models.document:InAndOutDocument",
    "inspect": "scorewise.inspection.document:InspectDocument",
    "judge": "scorewise.judging.document:JudgeDocument",
    "plan": "scorewise.planning.document:PlanDocument",
    "raters": "scorewise.inspection.document:RatersDocument",
    "smroc": "scorewise.weighted_roc.document:SmRocDocument",
    "threshold": "scorewise.thresholds.document:ThresholdDocument",
}


def says(sentence: str) -> Meta:
    """What a field means."""
    return Meta(description=sentence)


COMMAND = "The command that made the document."
Hints: TypeAlias = Annotated[list[Word], says("Remarks for the reader.")]


@dataclass(frozen=True, kw_only=True)
class Document:
    """What a command found. Numbers that are not finite are null."""

    schema: Annotated[Literal[1], says("Version of this format.")] = 1
    scorewise: Annotated[str, says("Version of scorewise that wrote the document.")] = __version__

    @abstractmethod
    def page(self) -> Page:
        """What people see of it."""


@dataclass(frozen=True, kw_only=True)
class Estimated:
    """An estimate. The value is null exactly when `why` gives the reason."""

    value: Annotated[Number, says("The value; null when undefined or infinite.")]
    low: Annotated[Number, says("Lower end of the interval; null when there is none.")]
    high: Annotated[Number, says("Upper end of the interval; null when there is none.")]
    level: Annotated[Level, says("Confidence level of the interval.")]
    method: Annotated[str, says("How the interval was made; empty when there is none.")]
    why: Annotated[str, says("Why there is no value; empty when there is one.")]
    bound: Annotated[
        float, Meta(ge=0), says("Certified half-width that coarsening left; 0 if exact.")
    ]
    baseline: Annotated[Number, says("What chance or the best constant would get; null if none.")]
    expected: Annotated[Number, says("What calibrated scores get on average; null if not asked.")]
    p: Annotated[Share | None, says("P-value; null where there is no test.")]
    caution: Annotated[str, says("Why the interval is unreliable; empty where it is not.")]


# Fields of results that are records themselves: Python has an estimate, or NaN, where JSON has the fields
# of the estimate, or null. What is read back has the latter.
if TYPE_CHECKING:
    EstimateField: TypeAlias = Estimate
    NumberOrNaN: TypeAlias = float
    ShareOrNaN: TypeAlias = float
else:
    EstimateField, NumberOrNaN, ShareOrNaN = Estimated, Number, Share | None


@dataclass(frozen=True, kw_only=True)
class NamedMeasure:
    """What a measure is called, and what it says."""

    name: Annotated[Word, says("Name, as in the Python library.")]
    title: Annotated[Word, says("Name, as shown.")]
    group: Annotated[Group, says("The question that the measure answers.")]
    meaning: Annotated[str, says("What the value says, in a sentence.")]
    better: Annotated[
        Better, says("Which values are better: high, low, near the expected one, or neither.")
    ]


@dataclass(frozen=True, kw_only=True)
class MeasureRow(Estimated, NamedMeasure):
    """One measure with its estimate."""

    skill: Annotated[
        Annotated[float, Meta(le=1)] | None,
        says("Share of the way from the baseline to the best value."),
    ]

    @classmethod
    def of(cls, m: Measure, e: Estimate) -> MeasureRow:
        """The row of a measure."""
        return record_of(cls, e, m, skill=m.skill(e))


def estimated(e: Estimate) -> Json:
    """The fields of an estimate, for a record that has more; numbers that are not finite are none."""
    return vars(record_of(Estimated, e))


def finite(x: float) -> float | None:
    """The number, or none where it is not finite: JSON knows no others."""
    return float(x) if math.isfinite(x) else None


def record_of(kind: type[Record], /, *parts: object, **known: Any) -> Record:
    """The record of that kind: what is known, and attributes of the first part that has them.

    Estimates become their records; numbers that are not finite are null, as they will be in JSON.

    >>> record_of(Estimated, Estimate(0.5, 0.2, 0.8), level=0.9).high
    0.8
    """
    for field in fields(kind):  # type: ignore[arg-type]
        if field.init and field.name not in known:
            part = next((p for p in parts if hasattr(p, field.name)), None)
            if part is not None:
                known[field.name] = getattr(part, field.name)
    return kind(**{name: _plain(item) for name, item in known.items()})


def _plain(item: Any) -> Any:
    if isinstance(item, tuple):
        return list(item)
    if isinstance(item, Estimate):
        return record_of(Estimated, item)
    return None if isinstance(item, float) and not math.isfinite(item) else item


def to_dict(record: Any) -> Any:
    """The record as JSON has it: mappings, lists, texts and numbers, non-finite ones as null."""
    if is_dataclass(record):
        return {f.name: to_dict(getattr(record, f.name)) for f in fields(record)}
    if isinstance(record, dict):
        return {str(key): to_dict(item) for key, item in record.items()}
    if isinstance(record, list | tuple):
        if {*map(type, record)} <= {int, float}:  # at once, because there may be a great many
            return [x if x - x == 0 else None for x in record]
        return [to_dict(item) for item in record]
    if isinstance(record, str):
        # file names that are not UTF-8 hold lone surrogates, which JSON text cannot
        return record.encode("utf-8", "backslashreplace").decode()
    if hasattr(record, "item"):  # of numpy
        record = record.item()
    return None if isinstance(record, float) and not math.isfinite(record) else record


def from_dict(kind: type[Record], values: Any) -> Record:
    """The record of that kind, from what was read; refused where it is not exactly one.

    >>> from_dict(Estimated, {"value": 0.5})
    Traceback (most recent call last):
    scorewise.errors.BadInput: Object missing required field `low`
    """
    try:
        made = msgspec.convert(values, kind)
    except msgspec.ValidationError as e:
        raise BadInput(str(e)) from None
    if wrong := next(_misfits(values, to_dict(made), ""), ""):
        raise BadInput(wrong)
    return made


CONSTANT = {"schema", "scorewise", "command", "version", "sha256"}  # need not be there to be read


def _misfits(values: Any, known: Any, place: str) -> Iterator[str]:
    """What is there and should not be, or should be there and is not."""
    if isinstance(values, dict) and isinstance(known, dict):
        yield from (f"missing field `{place}{x}`" for x in known.keys() - values.keys() - CONSTANT)
        for key, item in values.items():
            if key in known:
                yield from _misfits(item, known[key], f"{place}{key}.")
            else:
                yield f"unknown field `{place}{key}`"
    elif isinstance(values, list) and isinstance(known, list):
        for item, other in zip(values, known, strict=True):
            if isinstance(item, dict | list):
                yield from _misfits(item, other, place)


def document_type(command: str) -> type[Document]:
    """The type of the document that a command writes."""
    module, _, name = DOCUMENTS[command].partition(":")
    found: type[Document] = getattr(import_module(module), name)
    return found


def page_of(doc: Any) -> Page:
    """The page of a document, be it typed or read from JSON."""
    if isinstance(doc, Page):
        return doc
    made: Document = (
        doc if isinstance(doc, Document) else from_dict(document_type(doc["command"]), doc)
    )
    return made.page()


# of an estimate, the value is null exactly when there is a reason
_DEFINED = {
    "if": {"properties": {"why": {"const": ""}}, "required": ["why"]},
    "then": {"properties": {"value": {"type": "number"}}},
    "else": {"properties": {"value": {"type": "null"}}},
}


def schema(command: str = "evaluate") -> Json:
    """The JSON Schema (draft 2020-12) of what a command writes."""
    made = msgspec.json.schema(document_type(command))
    estimate = {field.name for field in fields(Estimated)}
    for part in made["$defs"].values():
        if part.get("type") == "object":
            part["additionalProperties"] = False
            part["required"] = list(part["properties"])  # also what is always the same
            part.update(_DEFINED if estimate <= part["properties"].keys() else {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:scorewise:document:1:{command}",
        "title": f"scorewise {command}",
        **made,
    }


def cautions(doc: Any) -> list[str]:
    """Of which estimates within a document the interval is unreliable, and why, in words.

    >>> e = Estimate(0.5, 0.2, 0.8, caution="3 rows of class 'c'")
    >>> cautions({"macro_f1": Estimated(**estimated(e))})
    ["the interval marked † is unreliable: 3 rows of class 'c' (macro f1)"]
    """
    by_reason: dict[str, dict[str, None]] = {}
    for reason, title in _cautions(doc, ""):
        by_reason.setdefault(reason, {})[title] = None
    many = sum(map(len, by_reason.values())) > 1
    which = "intervals marked † are" if many else "the interval marked † is"
    return [f"{which} unreliable: {why} ({named(list(of), 6)})" for why, of in by_reason.items()]


def with_cautions(doc: Record) -> Record:
    """The same document; its hints also say of which estimates the interval is unreliable, and why."""
    said = cautions(doc)
    return replace(doc, hints=[*doc.hints, *said]) if said else doc  # type: ignore[attr-defined,type-var]


def _cautions(part: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(part, list | tuple):
        for item in part:
            yield from _cautions(item, name)
        return
    if getattr(part, "caution", ""):
        yield part.caution, str(getattr(part, "title", name.replace("_", " ")))
    inside = list(part.items()) if isinstance(part, dict) else []
    if is_dataclass(part):
        inside = [(f.name, getattr(part, f.name)) for f in fields(part)]
    for key, item in inside:
        yield from _cautions(item, key)


def dumps(doc: Any) -> str:
    r"""JSON text: keys in the order of the document, floats at their shortest, non-finite as null.

    >>> print(dumps({"value": 0.1, "low": float("nan"), "name": "Größe", "bell": "\a"}), end="")
    {
      "value": 0.1,
      "low": null,
      "name": "Größe",
      "bell": "\u0007"
    }
    """
    text = json.dumps(to_dict(doc), indent=2, ensure_ascii=False, allow_nan=False)
    if text.replace("\n", "").isprintable():
        return f"{text}\n"
    return "".join(f"{_printable(line)}\n" for line in text.split("\n"))


def _printable(line: str) -> str:
    """The line with escapes of JSON for all that does not print: controls, bidirectional marks."""
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)
