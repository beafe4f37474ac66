"""Documents: typed records from which JSON, JSON Schema and validated reading are derived.

The document of a command is a record (`show/fields.py`) that also says what its page shows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from scorewise import __version__
from scorewise.errors import BadInput
from scorewise.show.estimates import Estimated
from scorewise.show.fields import AnyRecord, Json, Record, means
from scorewise.show.page import Page, Section, hints, verdict
from scorewise.show.verdict import Claims, Hints
from scorewise.show.words import named
from scorewise.writing import seal

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
    "show": "scorewise.tallying.verbs:TallyDocument",
    "raters": "scorewise.inspection.document:RatersDocument",
    "report": "scorewise.reporting.document:ReportDocument",
    "smroc": "scorewise.weighted_roc.document:SmRocDocument",
    "threshold": "scorewise.thresholds.document:ThresholdDocument",
}


class Document(Record):
    """What a command found. Numbers that are not finite are null."""

    schema: Literal[1] = means("Version of this format.", default=1)
    scorewise: str = means("Version of scorewise that wrote the document.", default=__version__)
    command: str = ""

    def __init_subclass__(cls, command: str = "") -> None:
        """A document is that of a command, and says so."""
        if command:
            says = Meta(description="The command that made the document.")
            cls.command, cls.__annotations__["command"] = command, Annotated[Literal[command], says]
        super().__init_subclass__()

    def page(self) -> Page:
        """What people see of it: the verdict, the sections that are its own, and remarks."""
        said = verdict(getattr(self, "verdict", ()))
        remarks = hints(getattr(self, "hints", ()))
        sections = [*self.opening(), *said, *self.sections(), *remarks]
        return Page(self.command, sections, self.footnotes())

    def opening(self) -> Sequence[Section]:
        """What the page has before the verdict."""
        return ()

    def sections(self) -> Sequence[Section]:
        """What the page has between the verdict and the remarks."""
        raise NotImplementedError

    def footnotes(self) -> Sequence[str]:
        """What its numbers depend on, for a page that is kept."""
        return ()

    def report(self) -> Page:
        """What its report shows: the page, unless sections with anchors are made for it."""
        return self.page()


class JudgedDocument(Document):
    """A document that says in words what its numbers mean."""

    verdict: Claims
    hints: Hints


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


def sealed(record: AnyRecord) -> AnyRecord:
    """The same record with the fingerprint of all its other fields."""
    return replace(record, sha256=seal(to_dict(record)))  # type: ignore[type-var]


def from_dict(kind: type[AnyRecord], values: Any) -> AnyRecord:
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
    return replace(made.page(), document=made)


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

    >>> from scorewise.estimate import Estimate
    >>> from scorewise.show.estimates import record_of
    >>> e = Estimate(0.5, 0.2, 0.8, caution="3 rows of class 'c'")
    >>> cautions({"macro_f1": record_of(Estimated, e)})
    ["the interval marked † is unreliable: 3 rows of class 'c' (macro f1)"]
    """
    by_reason: dict[str, dict[str, None]] = {}
    for reason, title in _cautions(doc, ""):
        by_reason.setdefault(reason, {})[title] = None
    many = sum(map(len, by_reason.values())) > 1
    which = "intervals marked † are" if many else "the interval marked † is"
    return [f"{which} unreliable: {why} ({named(list(of), 6)})" for why, of in by_reason.items()]


def with_cautions(doc: AnyRecord) -> AnyRecord:
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
