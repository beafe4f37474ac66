"""The schemas of what `inspect` and `raters` make."""

from __future__ import annotations

from scorewise.show.schemas.evaluate import data, hints
from scorewise.show.schemas.parts import (
    Schema,
    a_list,
    an_object,
    choice,
    count,
    document,
    flag,
    number,
    or_null,
    text,
)

SETS = ["high positive", "low positive", "high negative", "low negative"]


def inspect() -> Schema:
    """The rows that deserve a second look, by model."""
    compared = or_null(_agreement())
    return document(
        "inspect",
        settings=an_object(
            "The settings that the result depends on.",
            midpoint=text("How the midpoint was chosen, or the number given.", least=1),
            top=count("Rows listed at most."),
            tolerance=number("Scores this near each other agree.", minimum=0),
            threshold=number("A score at or above this is a positive decision."),
            seed=count("Seed of the random draws."),
        ),
        data=data(),
        models=a_list("The scores that were inspected, in the order given.", _model(), least=1),
        agreement=compared,
        hints=hints(),
    )


def raters() -> Schema:
    """Raters compared on the same rows."""
    return document(
        "raters",
        data=an_object(
            "What was compared.",
            positive=text("The decision that high scores stand for."),
            negative=text("The other decision."),
            rule=text("How it was decided which of them is positive."),
            sources=a_list("Files read; empty when given as arrays.", text("A file name.")),
            rows=count("Rows compared, without those dropped."),
            dropped=count("Rows left out because a value was missing."),
            truth=flag("Whether the curves are against known labels, not a rater's own decisions."),
        ),
        agreement=_agreement(),
        hints=hints(),
    )


def _model() -> Schema:
    kinds = ["probability", "logit", "score"]
    rules: list[str | None] = ["mean", "balanced", "median", "crossing", "fixed", "learned", None]
    return an_object(
        "One column of scores.",
        name=text("Name of the scores, usually their column."),
        kind=choice("What the scores are said to be.", kinds),
        distinct=count("Distinct scores."),
        why=text("Why rows could not be ranked; empty when they were."),
        midpoint=or_null(number("From here on a score is high; null when there is none.")),
        rule=choice("How the midpoint was found.", rules),
        why_no_midpoint=text("Why there is no midpoint; empty when there is one."),
        sets=a_list("Rows by score and class; empty when there is no midpoint.", _set()),
        suspicious=a_list("Rows whose label may be wrong, most suspicious first.", _suspect()),
        successes=a_list("Right scores that were hard to get right, hardest first.", _suspect()),
        gaps=a_list("Gaps between scores, most pronounced first.", _gap()),
    )


def _set() -> Schema:
    return an_object(
        "Rows of one class with high or with low scores.",
        set=choice("Which rows.", SETS),
        rows=count("How many rows."),
    )


def _row() -> dict[str, Schema]:
    name = {"type": ["string", "integer", "null"], "description": "What the data call the row."}
    return {
        "row": count("Number of the row: from 1 after the header in a file, else from 0."),
        "file": or_null(text("The file that the row is in; null when given as arrays.")),
        "id": name,
    }


def _share(description: str) -> Schema:
    return number(description, minimum=0, maximum=1)


def _suspect() -> Schema:
    return an_object(
        "A single row.",
        **_row(),
        label=text("The label of the row."),
        score=number("Its score."),
        suspicion=_share("Share of rows scored alike that have the other label."),
        set=choice("Whether its score is high or low, and its class.", [*SETS, None]),
        climb=or_null(_share("How much it climbs on the smROC curve; null without midpoint.")),
        run=or_null(_share("How much it runs on the smROC curve; null without midpoint.")),
        reason=text("Why the row is named, in words.", least=1),
    )


def _gap() -> Schema:
    return an_object(
        "A gap between scores: every threshold in (above, upto] gives the same decisions.",
        above=number("The score below the gap."),
        upto=number("The score above the gap."),
        width=number("How wide it is.", exclusiveMinimum=0),
        ratio=number("Its width over that of the gaps around it.", exclusiveMinimum=0),
        rows=count("Rows above it."),
        precision=_share("Share of the rows above it that are positive."),
        recall=or_null(_share("Share of all positives that lie above it; null without positives.")),
        stability=_share("Share of resamples in which it keeps its rank."),
    )


def _agreement() -> Schema:
    return an_object(
        "How far raters or models agree.",
        tolerance=number("Scores this near each other agree.", minimum=0),
        same_decisions=or_null(_share("Share of rows on which all decide the same.")),
        within_tolerance=or_null(_share("Share of rows on which all scores are within tolerance.")),
        numbers=an_object(
            "Rows by whether decisions are the same and scores within the tolerance.",
            both=count("Same decision, scores within the tolerance."),
            apparent=count("Other decisions, but scores within the tolerance."),
            hidden=count("Same decision, but scores apart."),
            real=count("Other decisions, and scores apart."),
        ),
        raters=a_list("Each rater or model.", _rater(), least=2),
        pairs=a_list("Each two of them.", _pair(), least=1),
        apparent=a_list("Rows that only look like disagreement.", _instance()),
        real=a_list("Rows on which they disagree, furthest apart first.", _instance()),
        hidden=a_list("Rows with one decision but scores apart, furthest first.", _instance()),
    )


def _rater() -> Schema:
    return an_object(
        "One rater or model.",
        name=text("Its name."),
        midpoint=or_null(number("From here on a score is high; null when there is none.")),
        smauc=or_null(_share("Area under its smROC curve; null when there is none.")),
        why=text("Why it has no curve; empty when it has one."),
    )


def _pair() -> Schema:
    return an_object(
        "Two raters or models.",
        first=text("Name of the one."),
        second=text("Name of the other."),
        distance=or_null(_share("Area between their smROC curves; null when one has none.")),
        why=text("Why there is no distance; empty when there is one."),
        same_decisions=or_null(_share("Share of rows on which both decide the same.")),
        within_tolerance=or_null(
            _share("Share of rows on which both scores are within tolerance.")
        ),
    )


def _instance() -> Schema:
    rating = an_object(
        "What one of them says.",
        name=text("Its name."),
        positive=flag("Whether it decides for the positive class."),
        score=number("Its score; of logits, the probability."),
    )
    return an_object(
        "A single row.",
        **_row(),
        apart=number("How far the highest and the lowest score lie apart.", minimum=0),
        ratings=a_list("What each of them says.", rating, least=2),
    )
