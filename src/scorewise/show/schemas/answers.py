"""The schema of what `answers` makes."""

from __future__ import annotations

from typing import get_args

from scorewise.registry import Better, Group
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


def answers() -> Schema:
    """The confidence in answers, on all of them, over thresholds of quality, and by group."""
    return document(
        "answers",
        settings=an_object(
            "The settings that the numbers depend on.",
            tau=number("An answer is correct when its quality is above this.", minimum=0),
            bins={**count("Bins of equal width that ECE has."), "minimum": 1},
            level=between("Confidence level of the intervals."),
            seed=count("Seed of the random draws."),
        ),
        data=_data(),
        confidences=a_list("Each confidence on all answers that have it.", _confidence(), least=1),
        groups=a_list("Each confidence in each group; none where no answer has it.", _group()),
        hints=hints(),
    )


def _data() -> Schema:
    case = an_object(
        "Answers that are special.",
        name=text("What is special about them.", least=1),
        answers=count("How many there are."),
    )
    return an_object(
        "The answers that were judged.",
        sources=a_list("Files read; empty when given as columns.", text("A file name.")),
        answers=count("Answers judged, without those dropped."),
        dropped=count("Answers left out because a value other than a confidence was missing."),
        quality=choice("How quality was made.", ["anls", "exact", "f1", "own"]),
        normalise=choice(
            "How texts were normalised; null where quality is one's own.",
            ["plain", "squad", "none", None],
        ),
        column=or_null(text("Column of one's own quality; null where it was made of texts.")),
        weight=or_null(text("Column of the weights; null when all answers weigh the same.")),
        cases=a_list("Special answers, kind by kind.", case),
        by=a_list("Columns of the groups.", text("A column.")),
    )


def _confidence() -> Schema:
    at = an_object(
        "One threshold of quality.",
        tau=number("An answer is correct when its quality is above this.", minimum=0),
        correct=count("How many answers are; the numbers are the same where this is."),
        accuracy=estimate("Share of correct answers."),
        ece=estimate("Calibration error in bins."),
        smece=estimate("Calibration error, smoothed."),
        brier=estimate("Brier score against correct or wrong."),
        mcb=estimate("Part of the Brier score that recalibration would save."),
        auroc=estimate("Chance that a correct answer is surer than a wrong one."),
        aurc=estimate("Mean share of wrong answers among the surest."),
    )
    return an_object(
        "One confidence.",
        name=text("Name of the confidence, usually its column."),
        answers=count("Answers that have it."),
        missing=count("Answers that do not; they are left out here."),
        distinct=count("Distinct values."),
        lowest=or_null(number("Lowest value; null when there are none.")),
        highest=or_null(number("Highest value; null when there are none.")),
        measures=a_list("The measures.", _measure(), least=1),
        confident_errors=a_list(
            "Wrong answers said with most confidence, the surest first.", _confident_error()
        ),
        over_tau=a_list("Thresholds of quality; none where quality is 0 or 1.", at),
    )


def _confident_error() -> Schema:
    return an_object(
        "A wrong answer.",
        file=or_null(text("The file it is in; null when given as columns.")),
        row=count("Row of that file, counting from 1; from 0 when given as columns."),
        confidence=number("The confidence in it.", minimum=0),
        quality=number("Its quality.", minimum=0),
        gold=or_null(text("Gold answers, cut short; null where quality is one's own.")),
        predicted=or_null(text("The answer, cut short; null where quality is one's own.")),
    )


def _measure() -> Schema:
    return estimate(
        "One measure.",
        name=text("Name, as in the Python library.", least=1),
        title=text("Name, as shown.", least=1),
        group=choice("What the measure judges.", get_args(Group)),
        meaning=text("What the value says, in a sentence."),
        better=choice(
            "Which values are better: high, low, near 0, or neither.",
            get_args(Better),
        ),
    )


def _group() -> Schema:
    return an_object(
        "One confidence in one group.",
        words=a_list("The word of the group in each column of `by`.", text("A word."), least=1),
        confidence=text("Name of the confidence."),
        answers=count("Answers of the group that have it."),
        accuracy=estimate("Share of correct answers."),
        mean_confidence=estimate("Mean confidence in the answers."),
        ece=estimate("Calibration error in bins."),
        auroc=estimate("Chance that a correct answer is surer than a wrong one."),
    )
