"""The JSON Schema of the document that every view renders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from scorewise.registry import Group

Schema = dict[str, Any]

VERSION = 1


def document_schema() -> Schema:
    """The schema of the document, in draft 2020-12.

    >>> document_schema()["properties"]["schema"]["const"]
    1
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:scorewise:document:{VERSION}",
        "title": "scorewise document",
        **_object(
            "What scorewise found. Numbers that are not finite are null.",
            schema=_constant("Version of this format.", VERSION),
            scorewise=_text("Version of scorewise that wrote the document."),
            command=_constant("The command that made the document.", "evaluate"),
            settings=_settings(),
            data=_data(),
            models=_list("The scores that were judged, in the order given.", _model(), least=1),
            differences=_list("Models compared on the same rows, pair by pair.", _difference()),
            hints=_list("Remarks for the reader, each a sentence.", _text("One remark.", least=1)),
        ),
    }


def _settings() -> Schema:
    return _object(
        "The settings that the numbers depend on.",
        level=_between("Confidence level of the intervals."),
        seed=_count("Seed of the random draws."),
        threshold=_number("A score at or above this is a positive decision."),
        clip=_or_null(_number("Distance from 0 and 1 to which log loss clips; null: no clipping.")),
    )


def _data() -> Schema:
    any_label = ["string", "number", "boolean", "null"]
    return _object(
        "The data that the models were judged on.",
        sources=_list("Files read; empty when given as arrays.", _text("A file name.")),
        label=_or_null(_text("Column of the labels; null when it has no name.")),
        positive={"type": any_label, "description": "The positive class; null when none is known."},
        negative={"type": any_label, "description": "The negative class; null when none is known."},
        rule=_text("How it was decided which class is positive."),
        rows=_count("Rows judged, without those dropped."),
        positives=_count("Rows of the positive class."),
        negatives=_count("Rows of the negative class."),
        dropped=_count("Rows left out because a value was missing."),
        weight=_or_null(_text("Column of the weights; null when all rows weigh the same.")),
        weight_positives=_number("Total weight of the positive class.", minimum=0),
        weight_negatives=_number("Total weight of the negative class.", minimum=0),
    )


def _model() -> Schema:
    kinds = ["probability", "logit", "score"]
    return _object(
        "One column of scores.",
        name=_text("Name of the scores, usually their column."),
        kind=_choice("What the scores are said to be.", kinds),
        distinct=_count("Distinct scores, or cells when coarsened."),
        exact=_flag("False when scores were coarsened into cells."),
        lowest=_or_null(_number("Lowest score; null when there are none.")),
        highest=_or_null(_number("Highest score; null when there are none.")),
        cut=_object(
            "Where the scores are cut. Every threshold in (above, upto] gives the same decisions.",
            threshold=_number("The threshold."),
            above=_or_null(_number("Highest score below the threshold; null when there is none.")),
            upto=_or_null(_number("Lowest score at or above the threshold; null when none.")),
        ),
        confusion=_object(
            "Weight per true class and decision; counts when there are no weights.",
            tp=_number("Positives decided positive.", minimum=0),
            fp=_number("Negatives decided positive.", minimum=0),
            fn=_number("Positives decided negative.", minimum=0),
            tn=_number("Negatives decided negative.", minimum=0),
        ),
        measures=_list("The measures, group by group.", _measure()),
    )


def _measure() -> Schema:
    body = _object(
        "One measure. The value is null exactly when `why` gives the reason.",
        name=_text("Name, as in the Python library.", least=1),
        title=_text("Name, as shown.", least=1),
        group=_choice("What the measure judges.", get_args(Group)),
        meaning=_text("What the value says, in a sentence."),
        better=_choice("Whether high or low values are better.", ["high", "low"]),
        value=_or_null(_number("The value; null when undefined or infinite.")),
        low=_or_null(_number("Lower end of the interval; null when there is none or infinite.")),
        high=_or_null(_number("Upper end of the interval; null when there is none or infinite.")),
        level=_between("Confidence level of the interval."),
        method=_text("How the interval was made; empty when there is none."),
        why=_text("Why there is no finite value; empty when there is one."),
        bound=_number("Half-width that coarsening leaves around the value; 0 if exact.", minimum=0),
        baseline=_or_null(_number("What the best constant prediction, or chance, would get.")),
        skill=_or_null(_number("Share of the way from the baseline to the best value.", maximum=1)),
    )
    return {
        **body,
        "if": {"properties": {"why": {"const": ""}}, "required": ["why"]},
        "then": {"properties": {"value": {"type": "number"}}},
        "else": {"properties": {"value": {"type": "null"}}},
    }


def _difference() -> Schema:
    return _object(
        "One model minus another, paired.",
        measure=_text("Name of the measure.", least=1),
        title=_text("Name of the measure, as shown.", least=1),
        first=_text("Name of the model that is subtracted from."),
        second=_text("Name of the model that is subtracted."),
        value=_or_null(_number("The difference; null when undefined.")),
        low=_or_null(_number("Lower end of the interval; null when there is none.")),
        high=_or_null(_number("Upper end of the interval; null when there is none.")),
        level=_between("Confidence level of the interval."),
        method=_text("How interval and p-value were made."),
        why=_text("Why there is no value; empty when there is one."),
        p=_or_null(_number("Two-sided p-value of no difference.", minimum=0, maximum=1)),
        p_adjusted=_or_null(
            _number("The same, adjusted for the number of pairs (Holm).", minimum=0, maximum=1)
        ),
    )


def _object(description: str, **properties: Schema) -> Schema:
    return {
        "description": description,
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(description: str, items: Schema, least: int = 0) -> Schema:
    return {"description": description, "type": "array", "items": items, "minItems": least}


def _text(description: str, least: int = 0) -> Schema:
    return {"description": description, "type": "string", "minLength": least}


def _number(description: str, **limits: float) -> Schema:
    return {"description": description, "type": "number", **limits}


def _between(description: str) -> Schema:
    return _number(description, exclusiveMinimum=0, exclusiveMaximum=1)


def _count(description: str) -> Schema:
    return {"description": description, "type": "integer", "minimum": 0}


def _flag(description: str) -> Schema:
    return {"description": description, "type": "boolean"}


def _constant(description: str, value: object) -> Schema:
    return {"description": description, "const": value}


def _choice(description: str, words: Sequence[str]) -> Schema:
    return {"description": description, "enum": list(words)}


def _or_null(schema: Schema) -> Schema:
    return {**schema, "type": [schema["type"], "null"]}
