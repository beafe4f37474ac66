"""Documents: typed records from which JSON, JSON Schema and validated reading are derived.

The document of a command is a record (`show/records.py`) that also says what its page shows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from itertools import count
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from scorewise import __version__
from scorewise.errors import BadInput
from scorewise.show.page import Page, Section, hints, verdict
from scorewise.show.records import AnyRecord, Estimated, Json, Record, field, members
from scorewise.show.verdict import Claims, Hints
from scorewise.show.words import grouped, listed
from scorewise.writing import seal

# where the document of each command is; imported when asked for
DOCUMENTS = {
    "agree": "scorewise.agreeing.document:AgreeDocument",
    "answers": "scorewise.answering.document:AnswersDocument",
    "calibrate": "scorewise.recalibrating.document:CalibrateDocument",
    "calibrate-classes": "scorewise.recalibrating.document:CalibrateClassesDocument",
    "compare": "scorewise.comparing.document:CompareDocument",
    "drift": "scorewise.drifting.document:DriftDocument",
    "evaluate": "scorewise.evaluation.document:EvaluationDocument",
    "gate": "scorewise.gating.document:GateDocument",
    "in-and-out": "scorewise.models.document:InAndOutDocument",
    "inspect": "scorewise.inspection.document:InspectDocument",
    "judge": "scorewise.judging.document:JudgeDocument",
    "plan": "scorewise.planning.document:PlanDocument",
    "show": "scorewise.tallying:TallyDocument",
    "raters": "scorewise.inspection.agreement:RatersDocument",
    "report": "scorewise.reporting.reports:ReportDocument",
    "smroc": "scorewise.weighted_roc.document:SmRocDocument",
    "threshold": "scorewise.thresholds.document:ThresholdDocument",
}


class Document(Record):
    """What a command found. Numbers that are not finite are null."""

    schema: Literal[1] = field("Version of this format.", default=1)
    scorewise: str = field("Version of scorewise that wrote the document.", default=__version__)
    command: str = ""

    def __init_subclass__(cls, command: str = "") -> None:
        """A document is that of a command, and says so."""
        if command:
            says = Meta(description="The command that made the document.")
            cls.command, cls.__annotations__["command"] = command, Annotated[Literal[command], says]
        super().__init_subclass__()

    def page(self) -> Page:
        """What people see of it: the verdict, the sections that are its own, and remarks."""
        claims = verdict(getattr(self, "verdict", ()))
        remarks = hints(getattr(self, "hints", ()))
        sections = [*self.opening(), *claims, *self.sections(), *remarks]
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
        record = msgspec.convert(values, kind)
    except msgspec.ValidationError as e:
        raise BadInput(str(e)) from None
    if wrong := next(_misfits(values, to_dict(record), ""), ""):
        raise BadInput(wrong)
    return record


OPTIONAL = {"schema", "scorewise", "command", "version", "sha256"}  # may be absent in what is read


def _misfits(values: Any, known: Any, place: str) -> Iterator[str]:
    """What is there and should not be, or should be there and is not."""
    if isinstance(values, dict) and isinstance(known, dict):
        yield from (f"missing field `{place}{x}`" for x in known.keys() - values.keys() - OPTIONAL)
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
    kind: type[Document] = getattr(import_module(module), name)
    return kind


def page_of(doc: Any) -> Page:
    """The page of a document, be it typed or read from JSON."""
    if isinstance(doc, Page):
        return doc
    document: Document = (
        doc if isinstance(doc, Document) else from_dict(document_type(doc["command"]), doc)
    )
    return replace(document.page(), document=document)


def evaluation_in(doc: Any) -> Any:
    """The evaluation within the document of a report, or the document itself."""
    return getattr(doc, "evaluation", doc)


# of an estimate, the value is null exactly when there is a reason
_DEFINED = {
    "if": {"properties": {"why": {"const": ""}}, "required": ["why"]},
    "then": {"properties": {"value": {"type": "number"}}},
    "else": {"properties": {"value": {"type": "null"}}},
}


def schema(command: str = "evaluate") -> Json:
    """The JSON Schema (draft 2020-12) of what a command writes."""
    schema_of = msgspec.json.schema(document_type(command))
    estimate = {field.name for field in fields(Estimated)}
    for part in schema_of["$defs"].values():
        if part.get("type") == "object":
            part["additionalProperties"] = False
            part["required"] = list(part["properties"])  # also what is always the same
            part.update(_DEFINED if estimate <= part["properties"].keys() else {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:scorewise:document:1:{command}",
        "title": f"scorewise {command}",
        **schema_of,
    }


def cautions(doc: Any) -> list[str]:
    """Of which estimates within a document the interval is unreliable, and why, in words.

    >>> from scorewise.estimate import Estimate
    >>> from scorewise.show.records import record_of
    >>> e = Estimate(0.5, 0.2, 0.8, caution="3 rows of class 'c'")
    >>> cautions({"macro_f1": record_of(Estimated, e)})
    ["the interval marked † is unreliable: 3 rows of class 'c' (macro f1)"]
    """
    titles = grouped(_cautions(doc, ""))
    many = sum(map(len, titles.values())) > 1
    which = "intervals marked † are" if many else "the interval marked † is"
    return [f"{which} unreliable: {why} ({listed(of, 6)})" for why, of in titles.items()]


def with_cautions(doc: AnyRecord) -> AnyRecord:
    """The same document; its hints also say of which estimates the interval is unreliable, and why."""
    found = cautions(doc)
    return replace(doc, hints=[*doc.hints, *found]) if found else doc  # type: ignore[attr-defined,type-var]


def _cautions(part: Any, name: str) -> Iterator[tuple[str, str]]:
    if getattr(part, "caution", ""):
        yield part.caution, str(getattr(part, "title", name.replace("_", " ")))
    for key, item in members(part):
        yield from _cautions(item, key or name)


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
    # escapes of JSON for all that does not print: controls, bidirectional marks
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text) + "\n"


def saved(result: Any, ending: str) -> bytes:
    """What a map or a rule is written as, by its `save` and by the command."""
    return dumps(result.document()).encode()


# Very long names, cut so that a page which says them a hundred times stays small.

LONG_NAME = 400  # characters, which no sentence has that names nothing long
KEPT_START, KEPT_END = 32, 8  # characters of a long name that are left
MAX_IN_FULL = 12_000  # characters of all long names together, as far as they are told whole
MIN_SENTENCE = 20  # characters beside a long name that make a sentence of it


def cut_names(doc: Any) -> tuple[Any, dict[str, str]]:
    """A document as JSON has it with each very long name cut, and these names by their cut form.

    >>> short, names = cut_names({"model": "x" * 500, "text": f"'{'x' * 500}' ranks better than 'y'."})
    >>> len(short["model"]), names[short["model"]] == "x" * 500, short["text"][-25:]
    (41, True, "x' ranks better than 'y'.")
    """
    names: dict[str, str] = {}
    for text in sorted({*_long_texts(doc)}, key=lambda x: (len(x), x)):
        left, times = text, 0
        for name in sorted(names.values(), key=len, reverse=True):
            times += left.count(name)
            left = left.replace(name, "")
        if not times or (times == 1 and len(left) < MIN_SENTENCE):
            names[_shortened(text, names)] = text
    if not names:
        return doc, {}
    by_length = sorted(names.items(), key=lambda pair: len(pair[1]), reverse=True)

    def change(text: str) -> str:
        for short, name in by_length:
            text = text.replace(name, short)
        return text

    return _map_texts(doc, change), names


def full_names(names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Each cut name beside the whole one, or as much of it as there is room for."""
    room = max(LONG_NAME, MAX_IN_FULL // max(len(names), 1))
    for short, name in names.items():
        more = len(name) - room
        yield short, name if more <= 0 else f"{name[:room]}… and {more:,} more characters"


def _shortened(name: str, taken: Mapping[str, str]) -> str:
    short = f"{name[:KEPT_START]}…{name[-KEPT_END:]}"
    numbered = (short if k == 1 else f"{short} ({k})" for k in count(1))
    return next(word for word in numbered if word not in taken)


def _long_texts(item: Any) -> Iterator[str]:
    if isinstance(item, str) and len(item) > LONG_NAME:
        yield item
    for name, part in members(item):
        yield from _long_texts(name)
        yield from _long_texts(part)


def _map_texts(item: Any, change: Callable[[str], str]) -> Any:
    if isinstance(item, str):
        return change(item) if len(item) > LONG_NAME else item
    if isinstance(item, dict):
        return {_map_texts(key, change): _map_texts(part, change) for key, part in item.items()}
    return [_map_texts(part, change) for part in item] if isinstance(item, list) else item
