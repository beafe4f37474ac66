"""The schema of what `drift` makes."""

from __future__ import annotations

from scorewise.show.schemas.evaluate import hints
from scorewise.show.schemas.parts import (
    Schema,
    a_list,
    an_object,
    between,
    choice,
    count,
    document,
    flag,
    number,
    or_null,
    text,
)

KINDS = ["none seen", "prior", "covariate", "concept", "scores", "unclear", "untested"]


def drift() -> Schema:
    """The reference, and what is compared with it."""
    return document(
        "drift",
        settings=_settings(),
        time=_time(),
        kind=choice("What the scores are said to be.", ["probability", "logit", "score"]),
        verdict=text("What was seen, in sentences.", least=1),
        drift=flag("Whether drift was seen in any window."),
        reference=an_object("The sample that the others are compared with.", **_sample()),
        windows=a_list(
            "The current sample, or the windows of time after the reference.", _window(), least=1
        ),
        hints=hints(),
    )


def _settings() -> Schema:
    return an_object(
        "The settings that the numbers depend on.",
        level=between("Confidence level of the intervals; drift is seen below 1 - level."),
        seed=count("Seed of the random draws."),
        replicates=count("How often the rows were dealt out by chance."),
        midpoint=choice("How midpoints are found.", ["mean", "balanced", "median", "fixed"]),
    )


def _time() -> Schema:
    return or_null(
        an_object(
            "How time was cut into windows; null where two samples were given.",
            column=text("Column of the times."),
            every=or_null(text("Calendar period of a window; null: equal numbers of rows.")),
            reference_until=or_null(text("End of the reference; null: its first window.")),
        )
    )


def _sample() -> dict[str, Schema]:
    return {
        "name": text("What the sample is called.", least=1),
        "sources": a_list("Files read; empty when given as arrays.", text("A file name.")),
        "labelled": flag("Whether its labels are known."),
        "rows": count("Rows, without those dropped."),
        "positives": or_null(count("Rows of the positive class; null without labels.")),
        "positive": or_null(text("The positive class; null without labels.")),
        "dropped": count("Rows left out because a value was missing."),
        "weight": or_null(text("Column of the weights; null when all rows weigh the same.")),
        "exact": flag("False when scores were coarsened into cells."),
        "prevalence": or_null(number("Share of positives, by weight.", minimum=0, maximum=1)),
        "midpoint": or_null(number("Where a score turns from low to high.", minimum=0, maximum=1)),
        "auroc": or_null(number("Area under the ROC curve.", minimum=0, maximum=1)),
        "high": or_null(number("Share of scores at or above the midpoint.", minimum=0, maximum=1)),
        "low": or_null(number("Share of scores below the midpoint.", minimum=0, maximum=1)),
        "rotation": or_null(number("Degrees from the balance by label to the balance by score.")),
    }


def _window() -> Schema:
    return an_object(
        "One sample compared with the reference.",
        **_sample(),
        drift=choice("The kind of drift seen.", KINDS),
        verdict=text("What was seen, in sentences.", least=1),
        evidence=text("The strongest evidence; empty where no drift was seen."),
        changes=a_list("The measures of drift.", _change(), least=1),
    )


def _change() -> Schema:
    body = an_object(
        "One measure of drift. The value is null exactly when `why` gives the reason.",
        name=text("Name, as in the Python library.", least=1),
        title=text("Name, as shown.", least=1),
        meaning=text("What the value says, in a sentence."),
        value=or_null(number("Current minus reference, or the distance; null when undefined.")),
        low=or_null(number("Lower end of the interval; null when there is none.")),
        high=or_null(number("Upper end of the interval; null when there is none.")),
        level=between("Confidence level of the interval."),
        method=text("How the interval was made; empty when there is none."),
        why=text("Why there is no value; empty when there is one."),
        held=choice(
            "What rows have in common that are dealt out by chance.", ["nothing", "class", "score"]
        ),
        by_chance=or_null(
            number("Size below which chance alone stays as often as `level` says.", minimum=0)
        ),
        p=or_null(number("P-value of no change.", minimum=0, maximum=1)),
        p_adjusted=or_null(
            number("The same, adjusted for the number of tests (Holm).", minimum=0, maximum=1)
        ),
    )
    return {
        **body,
        "if": {"properties": {"why": {"const": ""}}, "required": ["why"]},
        "then": {"properties": {"value": {"type": "number"}}},
        "else": {"properties": {"value": {"type": "null"}}},
    }
