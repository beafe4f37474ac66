"""The schema of models judged in and out of distribution."""

from __future__ import annotations

from scorewise.show.schemas.evaluate import estimate, hints
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


def in_and_out() -> Schema:
    """How right and sure models are in distribution, and how sure out of it."""
    return document(
        "in-and-out",
        settings=an_object(
            "The settings that the numbers depend on.",
            points=count("Points at each radius."),
            clip=or_null(number("Distance from 0 to which log loss clips; null: no clipping.")),
            level=between("Confidence level of the intervals."),
            seed=count("Seed of the random draws."),
        ),
        data=an_object(
            "The rows that the models were judged on.",
            rows=count("Rows in distribution."),
            rows_out=or_null(count("Rows out of distribution; null where none were given.")),
            columns=count("Numbers that a row has."),
            classes=a_list("The classes.", text("A class."), least=1),
            largest_share=number("Share of the commonest class.", minimum=0, maximum=1),
        ),
        models=a_list("The models.", _model(), least=1),
        hints=hints(),
    )


def _model() -> Schema:
    return an_object(
        "One model.",
        name=text("Its name."),
        novelty=choice(
            "What told how novel rows are; null where nothing did.",
            ["score_samples", "novelty", None],
        ),
        measures=a_list(
            "Each measure.",
            estimate(
                "One measure.",
                name=text("Name, as in the Python library.", least=1),
                title=text("Name, as shown.", least=1),
                of=choice("Whether it is of rows in or out of distribution.", ["in", "out"]),
            ),
        ),
        radii=a_list(
            "The mean confidence at radii of the data.",
            estimate(
                "The mean confidence at one radius.",
                radius=number(
                    "Multiple of the largest distance of a row from the centre.", minimum=0
                ),
            ),
        ),
    )
