"""Parts of schemas that are still written by hand."""

from __future__ import annotations

from typing import get_args

from scorewise.registry import Better, Group
from scorewise.show.schemas.parts import (
    Schema,
    a_list,
    an_object,
    between,
    choice,
    count,
    number,
    or_null,
    text,
)

_UNRELIABLE = "Why the interval is unreliable; empty when it is not known to be."


def hints() -> Schema:
    """Remarks for the reader."""
    return a_list("Remarks for the reader, each a sentence.", text("One remark.", least=1))


def data() -> Schema:
    """What was judged."""
    any_label = ["string", "number", "boolean", "null"]
    return an_object(
        "The data that the models were judged on.",
        sources=a_list("Files read; empty when given as arrays.", text("A file name.")),
        label=or_null(text("Column of the labels; null when it has no name.")),
        positive={"type": any_label, "description": "The positive class; null when none is known."},
        negative={"type": any_label, "description": "The negative class; null when none is known."},
        rule=text("How it was decided which class is positive."),
        rows=count("Rows judged, without those dropped."),
        positives=count("Rows of the positive class."),
        negatives=count("Rows of the negative class."),
        dropped=count("Rows left out because a value was missing."),
        weight=or_null(text("Column of the weights; null when all rows weigh the same.")),
        weight_positives=number("Total weight of the positive class.", minimum=0),
        weight_negatives=number("Total weight of the negative class.", minimum=0),
    )


def table(description: str) -> Schema:
    """Labels against decisions."""
    return an_object(
        description,
        tp=number("Positives decided positive.", minimum=0),
        fp=number("Negatives decided positive.", minimum=0),
        fn=number("Positives decided negative.", minimum=0),
        tn=number("Negatives decided negative.", minimum=0),
    )


def estimate(description: str, **further: Schema) -> Schema:
    """A value with its interval, or the reason why there is none."""
    body = an_object(
        f"{description} The value is null exactly when `why` gives the reason.",
        value=or_null(number("The value; null when undefined or infinite.")),
        low=or_null(number("Lower end of the interval; null when there is none or infinite.")),
        high=or_null(number("Upper end of the interval; null when there is none or infinite.")),
        level=between("Confidence level of the interval."),
        method=text("How the interval was made; empty when there is none."),
        why=text("Why there is no finite value; empty when there is one."),
        bound=number("Half-width that coarsening leaves around the value; 0 if exact.", minimum=0),
        baseline=or_null(number("What the best constant prediction, or chance, would get.")),
        expected=or_null(number("What calibrated scores would get on average.")),
        p=or_null(
            number("Chance of as much or more, were the scores calibrated.", minimum=0, maximum=1)
        ),
        caution=text(_UNRELIABLE),
        **further,
    )
    return {
        **body,
        "if": {"properties": {"why": {"const": ""}}, "required": ["why"]},
        "then": {"properties": {"value": {"type": "number"}}},
        "else": {"properties": {"value": {"type": "null"}}},
    }


def measure_row() -> Schema:
    """One measure with its estimate."""
    return estimate(
        "One measure.",
        name=text("Name, as in the Python library.", least=1),
        title=text("Name, as shown.", least=1),
        group=choice("What the measure judges.", get_args(Group)),
        meaning=text("What the value says, in a sentence."),
        better=choice(
            "Which values are better: high, low, near the expected one, or neither.",
            get_args(Better),
        ),
        skill=or_null(number("Share of the way from the baseline to the best value.", maximum=1)),
    )
