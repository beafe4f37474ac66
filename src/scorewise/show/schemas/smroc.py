"""The schema of what `smroc` makes."""

from __future__ import annotations

from scorewise.show.schemas.evaluate import data, estimate, hints, table
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

RULES = ("mean", "balanced", "median", "crossing", "fixed", "learned")


def smroc() -> Schema:
    """The score-weighted ROC curves of the same rows."""
    return document(
        "smroc",
        settings=an_object(
            "The settings that the numbers depend on.",
            level=between("Confidence level of the intervals."),
            seed=count("Seed of the random draws."),
            threshold=number("A score at or above this is a positive decision."),
        ),
        data=data(),
        curves=a_list("One curve for each column of scores.", _curve(), least=1),
        distances=a_list("How far the curves are apart, pair by pair.", _distance()),
        hints=hints(),
    )


def _curve() -> Schema:
    return an_object(
        "One score-weighted ROC curve.",
        name=text("Name of the scores, usually their column."),
        kind=choice("What the scores are said to be.", ["probability", "logit", "score"]),
        area=estimate("Area under the curve (smAUC)."),
        auroc=number("Area under the ROC curve of the same rows."),
        midpoint=an_object(
            "Where a score turns from low to high.",
            value=number("The midpoint, on [0, 1]."),
            rule=choice("How it was found.", RULES),
        ),
        areas=an_object(
            "Between which values the area lies, over all midpoints.",
            lowest=number("The smallest area."),
            highest=number("The largest area."),
        ),
        height=number("All climbs together: height of the rectangle variant.", minimum=0),
        width=number("All runs together: width of the rectangle variant.", minimum=0),
        sets=an_object(
            "High and low scores on positives and negatives.",
            high_positive=_part("High scores on positives: appropriate."),
            high_negative=_part("High scores on negatives: inappropriate."),
            low_positive=_part("Low scores on positives: inappropriate."),
            low_negative=_part("Low scores on negatives: appropriate."),
        ),
        appropriate=number("Share of the weight whose scores are appropriate."),
        rotation=number("Degrees by which the balance of scores turns that of labels."),
        gap=or_null(number("Area between the curve and its convex hull.")),
        recalibrated=estimate("Area after recalibration by the hull of the ROC curve."),
        tables=an_object(
            "Labels against decisions at the threshold.",
            appropriate=table("Among rows with appropriate scores."),
            inappropriate=table("Among rows with inappropriate scores."),
        ),
        curve=an_object(
            "Points of the curve, thinned out where there are many.",
            x=a_list("Shares of all runs.", or_null(number("A share."))),
            y=a_list("Shares of all climbs.", or_null(number("A share."))),
            threshold=a_list(
                "The score down to which each point has come.", or_null(number("A score."))
            ),
        ),
    )


def _part(description: str) -> Schema:
    return an_object(
        description,
        weight=number("Their weight; a count when there are no weights.", minimum=0),
        mean=or_null(number("Mean of their scores; null when there are none.")),
    )


def _distance() -> Schema:
    return an_object(
        "Two curves.",
        first=text("Name of the one."),
        second=text("Name of the other."),
        distance=number("Area between them.", minimum=0),
    )
