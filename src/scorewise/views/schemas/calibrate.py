"""The schema of what `calibrate fit` makes."""

from __future__ import annotations

from scorewise.views.schemas.evaluate import data, estimate, hints
from scorewise.views.schemas.parts import (
    Schema,
    a_list,
    an_object,
    between,
    choice,
    count,
    document,
    flag,
    number,
    text,
)


def calibrate() -> Schema:
    """A map from scores to probabilities, and what it was chosen from."""
    return document(
        "calibrate",
        settings=an_object(
            "The settings that the map and the numbers depend on.",
            method=text("The method asked for; auto where it was to be chosen.", least=1),
            folds=count("Folds of the cross-fitting."),
            seed=count("Seed of the random folds."),
            clip=between("Probabilities are kept this far from 0 and 1."),
            level=between("Confidence level of the intervals."),
        ),
        data=data(),
        chosen=text("The method of the map.", least=1),
        meaning=text("What that method does.", least=1),
        outside=text("What becomes of scores beyond those seen.", least=1),
        reason=text("Why this method was taken.", least=1),
        table=a_list("Each method that was tried, on rows that it had not seen.", _row(), least=1),
        map=_map(),
        hints=hints(),
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
