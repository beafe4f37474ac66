"""The schema of what `calibrate fit` makes."""

from __future__ import annotations

from scorewise.show.schemas.evaluate import data, estimate, hints
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


def calibrate() -> Schema:
    """A map from scores to probabilities, and what it was chosen from."""
    return document(
        "calibrate",
        settings=_settings(),
        data=data(),
        chosen=text("The method of the map.", least=1),
        meaning=text("What that method does.", least=1),
        outside=text("What becomes of scores beyond those seen.", least=1),
        reason=text("Why this method was taken.", least=1),
        table=a_list("Each method that was tried, on rows that it had not seen.", _row(), least=1),
        map=_map(),
        hints=hints(),
        sha256=text("Fingerprint of all the above.", least=64),
    )


def calibrate_classes() -> Schema:
    """A map of several classes, and what it was chosen from."""
    return document(
        "calibrate-classes",
        settings=_settings(),
        data=_data_of_classes(),
        chosen=text("The method of the map.", least=1),
        meaning=text("What that method does.", least=1),
        reason=text("Why this method was taken.", least=1),
        table=a_list(
            "Each method that was tried, on rows that it had not seen.", _row_of_classes(), least=1
        ),
        map=_map_of_classes(),
        hints=hints(),
        sha256=text("Fingerprint of all the above.", least=64),
    )


def _settings() -> Schema:
    return an_object(
        "The settings that the map and the numbers depend on.",
        method=text("The method asked for; auto where it was to be chosen.", least=1),
        folds=count("Folds of the cross-fitting."),
        seed=count("Seed of the random folds."),
        clip=between("Probabilities are kept this far from 0 and 1."),
        level=between("Confidence level of the intervals."),
    )


def _data_of_classes() -> Schema:
    one = an_object(
        "A class.",
        name=text("Its name."),
        column=or_null(text("The column of its scores; null when given as arrays.")),
        rows=count("Rows of this class."),
        weight=number("Their weight.", minimum=0),
    )
    return an_object(
        "The data that the map was learned from.",
        sources=a_list("Files read; empty when given as arrays.", text("A file name.")),
        label=text("Column of the labels."),
        classes=a_list("The classes in the order of the columns.", one, least=2),
        rows=count("Rows, without those dropped."),
        dropped=count("Rows left out because a value was missing."),
        weight=or_null(text("Column of the weights; null when all rows weigh the same.")),
    )


def _row_of_classes() -> Schema:
    return an_object(
        "One method, cross-fitted.",
        method=text("Name of the method.", least=1),
        strength=number("Rows that the pull towards simpler maps is worth.", minimum=0),
        log_loss=estimate("Log loss."),
        brier=estimate("Brier score, the sum over classes."),
        accuracy=estimate("Share of rows whose most probable class is right."),
        gain=estimate("Log loss of the scores as they are, minus that of this method; paired."),
    )


def _map_of_classes() -> Schema:
    return an_object(
        "The map: all that is needed to apply it.",
        version=text("Version of scorewise that fitted it."),
        method=text("Name of the method.", least=1),
        kind=choice("What the scores are.", ["probability", "logit"]),
        clip=between("Probabilities are kept this far from 0."),
        classes=a_list("The classes in the order of the columns.", text("A class."), least=2),
        strength=number("Rows that the pull towards simpler maps is worth.", minimum=0),
        rows=count("Rows that it was fitted to."),
        absent=a_list("Classes that no row had.", text("A class.")),
        parameters={
            "description": "Parameters by name: a number, a list, or a list of rows of a matrix.",
            "type": "object",
        },
        sha256=text("Fingerprint of all the above.", least=64),
    )


def _row() -> Schema:
    return an_object(
        "One method, cross-fitted.",
        method=text("Name of the method.", least=1),
        log_loss=estimate("Log loss."),
        brier=estimate("Brier score."),
        gain=estimate("Log loss of the scores as they are, minus that of this method; paired."),
        in_the_large=estimate("Calibration in the large: 0 is right."),
        slope=estimate("Calibration slope: 1 is right, below 1 is too bold."),
    )


def _map() -> Schema:
    numbers: Schema = {"type": "array", "items": {"type": "number"}}
    parameters: Schema = {
        "description": "The parameters of the method by name, numbers or lists of numbers.",
        "type": "object",
        "additionalProperties": {"anyOf": [{"type": "number"}, numbers]},
    }
    return an_object(
        "The map: all that is needed to apply it.",
        version=text("Version of scorewise that fitted it."),
        method=text("Name of the method.", least=1),
        kind=choice("What the scores are.", ["probability", "logit", "score"]),
        clip=between("Probabilities are kept this far from 0 and 1 on the way to log-odds."),
        centre=number("Taken off scores of any scale."),
        unit=number("Then they are divided by this."),
        low=number("The lowest score seen."),
        high=number("The highest score seen."),
        rows=count("Rows that it was fitted to."),
        positives=count("Positives among them."),
        smoothed=flag("Whether labels were smoothed because a threshold tells them apart."),
        parameters=parameters,
        sha256=text("Fingerprint of all the above.", least=64),
    )
