"""The schema of what `evaluate` makes of several classes."""

from __future__ import annotations

from scorewise.show.schemas.evaluate import hints, measure_row
from scorewise.show.schemas.parts import (
    Schema,
    a_list,
    an_object,
    between,
    choice,
    count,
    document,
    number,
    or_null,
    text,
)


def evaluate_classes() -> Schema:
    """A model of several classes, overall and class by class."""
    weight = number("Weight of the rows of that true class and decision.", minimum=0)
    return document(
        "evaluate-classes",
        settings=an_object(
            "The settings that the numbers depend on.",
            level=between("Confidence level of the intervals."),
            seed=count("Seed of the random draws."),
            clip=or_null(
                number("Distance from 0 and 1 to which log loss clips; null: no clipping.")
            ),
        ),
        data=_data(),
        confusion=a_list(
            "Weight per true class (outer) and decision (inner), classes in the order of `classes`.",
            a_list("The decisions on the rows of one class.", weight, least=2),
            least=2,
        ),
        measures=a_list("The measures of all classes together, group by group.", measure_row()),
        classes=a_list("Each class against the rest.", _class(), least=2),
        hints=hints(),
    )


def _data() -> Schema:
    kinds = ["probability", "logit", "score"]
    return an_object(
        "The data that the model was judged on.",
        sources=a_list("Files read; empty when given as arrays.", text("A file name.")),
        label=or_null(text("Column of the labels; null when it has no name.")),
        rows=count("Rows judged, without those dropped."),
        dropped=count("Rows left out because a value was missing."),
        weight=or_null(text("Column of the weights; null when all rows weigh the same.")),
        kind=choice(
            "What the scores of each class are; null where only the confidence is known.",
            ["probability", "logit", None],
        ),
        rule=text(
            "The labels that columns without names were taken for; empty where they have names."
        ),
        confidence=text("The confidence: max, margin, entropy, energy, or its column.", least=1),
        confidence_kind=choice("What the confidence can be read as.", kinds),
        distinct=count("Distinct values of the confidence."),
    )


def _class() -> Schema:
    return an_object(
        "One class against the rest.",
        name=text("Name of the class."),
        weight=number("Weight of the rows of the class; their number without weights.", minimum=0),
        called=number("Weight of the rows decided to be of the class.", minimum=0),
        measures=a_list(
            "Measures of its decisions (the highest score wins) and of its scores.", measure_row()
        ),
    )
