"""Rows of several classes from any source, checked at the door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scorewise.door import Kind, Missing
from scorewise.door.classes import ClassKind, ClassRows, take_classes
from scorewise.door.decided import DecidedRows, take_decided
from scorewise.door.labels import listed
from scorewise.errors import BadInput
from scorewise.sources.class_columns import class_columns
from scorewise.sources.columns import Picked, check_columns, pick
from scorewise.sources.load import open_source

Spec = str | Sequence[str] | Mapping[str, str]


@dataclass(frozen=True)
class LoadedClasses:
    """Checked rows, what was decided on the way, and the names of the files they came from."""

    rows: ClassRows | DecidedRows
    notes: list[str]
    sources: tuple[str, ...]


def load_classes(
    source: Any,
    *,
    classes: Spec,
    label: str | None = None,
    confidence: str | None = None,
    weight: str | None = None,
    count: str | None = None,
    kind: ClassKind | None = None,
    missing: Missing = "refuse",
) -> LoadedClasses:
    """Rows of files or frames that have a column of scores for each class.

    `classes` says which: "cat=p_cat,dog=p_dog", a pattern such as "p_*" in which the star stands for
    the class, a mapping from class to column, or a list of columns named as their classes are.
    `confidence` is a further column, if one's own confidence is to be judged.

    >>> wide = {"y": ["a", "b"], "p_a": [0.7, 0.2], "p_b": [0.3, 0.8]}
    >>> load_classes(wide, classes="p_*", label="y").rows.scores.tolist()
    [[0.7, 0.3], [0.2, 0.8]]
    """
    names, get, sources = open_source(source)
    columns = _class_columns(names, classes)
    if confidence is not None and confidence not in names:
        raise BadInput(
            f"confidence={confidence} is neither max, margin, entropy or energy nor a column; the "
            f"columns are {listed(names)}"
        )
    picked = pick(names, label, list(columns.values()), weight, count, confidence)
    read, place = get(picked.all)
    rows = take_classes(
        read[picked.label],
        {column: read[column] for column in columns.values()},
        classes=list(columns),
        kind=kind,
        missing=missing,
        confidence=None if confidence is None else read[confidence],
        confidence_name=confidence or "confidence",
        place=place,
        **_common(picked, read),
    )
    return LoadedClasses(rows, picked.notes, sources)


def load_decided(
    source: Any,
    *,
    predicted: str,
    label: str | None = None,
    confidence: str | None = None,
    classes: Sequence[str] | None = None,
    weight: str | None = None,
    count: str | None = None,
    kind: Kind | None = None,
    missing: Missing = "refuse",
) -> LoadedClasses:
    """Rows of files or frames that have decisions and a column of confidence in them.

    >>> read = load_decided({"y": ["a", "b"], "said": ["a", "a"], "p": [0.7, 0.2]}, predicted="said")
    >>> read.rows.called, read.notes[1]
    (array([0, 0]), "score: column 'p' (not named; taken because of its name)")
    """
    names, get, sources = open_source(source)
    check_columns(names, [predicted])
    if predicted in (label, confidence):
        raise BadInput(f"column '{predicted}' is given twice; name a different column for each")
    wanted = [] if confidence is None else [confidence]
    picked = pick([n for n in names if n != predicted], label, wanted, weight, count)
    read, place = get([*picked.all, predicted])
    (sure,) = picked.scores
    rows = take_decided(
        read[picked.label],
        read[predicted],
        read[sure],
        classes=classes,
        kind=kind,
        missing=missing,
        predicted_name=predicted,
        confidence_name=sure,
        place=place,
        **_common(picked, read),
    )
    return LoadedClasses(rows, picked.notes, sources)


def _class_columns(names: Sequence[str], classes: Spec) -> dict[str, str]:
    if isinstance(classes, str):
        return class_columns(names, classes)
    chosen = dict(classes) if isinstance(classes, Mapping) else {str(c): str(c) for c in classes}
    if len(chosen) < 2:
        raise BadInput(
            'classes= names fewer than two columns; two or more are needed, such as "p_*"'
        )
    check_columns(names, list(chosen.values()))
    return {str(name): column for name, column in chosen.items()}


def _common(picked: Picked, read: Mapping[str, Any]) -> dict[str, Any]:
    """The columns and names that both kinds of rows have."""
    return {
        "weight": None if picked.weight is None else read[picked.weight],
        "count": None if picked.count is None else read[picked.count],
        "label_name": picked.label,
        "weight_name": picked.weight or "weight",
        "count_name": picked.count or "count",
    }
