"""Tallies of several classes from files and frames."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, get_args

from scorewise.columns import Kind, Missing
from scorewise.columns.load import LoadedClasses, LoadedDecided, Spec, load_classes, load_decided
from scorewise.errors import BadInput, plain
from scorewise.evaluation.classes import ClassEvaluation
from scorewise.evaluation.settings import Settings
from scorewise.tallies import ClassTally
from scorewise.tallies.joint import Rule
from scorewise.views.words import Document


def class_tally(
    source: Any,
    *,
    label: str | None = None,
    classes: Spec | None = None,
    predicted: str | None = None,
    score: str | None = None,
    confidence: str = "max",
    weight: str | None = None,
    count: str | None = None,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> ClassTally:
    """The tally of several classes of files, globs or any data frame.

    `classes` says which columns hold the scores: "cat=p_cat,dog=p_dog", a pattern such as "p_*", a
    mapping from class to column, or a list of columns. `confidence` is "max", "margin", "entropy" or
    "energy", or another column. With `predicted`, a column of decisions, `score` is the column of the
    confidence in them, and `classes` may list the names of the classes. Files of text are in UTF-8, or in
    `encoding`, such as "latin-1".

    >>> wide = {"y": ["a", "b"], "p_a": [0.7, 0.2], "p_b": [0.3, 0.8]}
    >>> class_tally(wide, label="y", classes="p_*")
    <ClassTally: 2 rows of 2 classes (probability)>
    """
    loaded, rule = read_classes(
        source, label=label, classes=classes, predicted=predicted, score=score,
        confidence=confidence, weight=weight, count=count, kind=kind, missing=missing,
        encoding=encoding,
    )  # fmt: skip
    for note in loaded.notes:
        warnings.warn(plain(note), stacklevel=2)
    return tally_of(loaded, rule)


def read_classes(
    source: Any,
    *,
    classes: Spec | None,
    predicted: str | None,
    score: str | None,
    confidence: str,
    kind: Any,
    **columns: Any,
) -> tuple[LoadedClasses | LoadedDecided, Rule]:
    """The rows that the options mean, and the rule of confidence."""
    if predicted is not None:
        if confidence != "max":
            raise BadInput(
                "confidence= belongs to scores of each class; with predicted=, score= names its column"
            )
        named = _listed(classes)
        decided = load_decided(
            source, predicted=predicted, confidence=score, classes=named, kind=kind, **columns
        )
        return decided, "max"
    if classes is None:
        raise BadInput('classes= is missing; pass a pattern such as classes="p_*", or predicted=')
    if score is not None:
        raise BadInput(
            "score= is the confidence in decisions and goes with predicted=; with classes=, leave it out"
        )
    own = None if confidence in get_args(Rule) else confidence
    read = load_classes(source, classes, confidence=own, kind=kind, **columns)
    rule: Any = "max" if own else confidence
    return read, rule


def _listed(classes: Spec | None) -> Sequence[str] | None:
    """The names of the classes, beside decisions."""
    if classes is None:
        return None
    names = [c.strip() for c in classes.split(",")] if isinstance(classes, str) else list(classes)
    if not all(names) or any(mark in name for name in names for mark in "*="):
        raise BadInput(
            f"classes={classes} beside predicted= lists the names of the classes, such as "
            f'"cat,dog,bird"; leave it out to take those that occur'
        )
    return names


def tally_of(loaded: LoadedClasses | LoadedDecided, rule: Rule) -> ClassTally:
    """The tally of rows that were read."""
    if isinstance(loaded, LoadedClasses):
        return ClassTally.of_rows(loaded.rows, rule=rule, sources=loaded.sources)
    return ClassTally.of_decided(loaded.rows, sources=loaded.sources)


def judge_classes(loaded: LoadedClasses | LoadedDecided, rule: Rule, **settings: Any) -> Document:
    """The document of rows that were read."""
    rows = loaded.rows
    if not len(rows) or (rows.count is not None and not rows.count.any()):
        where = f"{', '.join(loaded.sources)}: " if loaded.sources else ""
        raise BadInput(f"{where}no rows are left to judge; {rows.dropped} were dropped as missing")
    return ClassEvaluation(tally_of(loaded, rule), Settings(**settings)).to_dict()
