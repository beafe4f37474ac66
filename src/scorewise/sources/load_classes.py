"""Rows of several classes from any source, checked at the door."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scorewise.door import Missing
from scorewise.door.classes import ClassRows, take_classes
from scorewise.door.labels import listed
from scorewise.errors import BadInput
from scorewise.sources.class_columns import class_columns
from scorewise.sources.columns import Picked, check_columns, pick
from scorewise.sources.load import open_source

Spec = str | Sequence[str] | Mapping[str, str]


@dataclass(frozen=True)
class LoadedClasses:
    """Checked rows, the column of each class, what was decided on the way, and the names of files."""

    rows: ClassRows
    columns: dict[str, str]
    notes: list[str]
    sources: tuple[str, ...]


def load_classes(
    source: Any,
    classes: Spec,
    *,
    label: str | None = None,
    confidence: str | None = None,
    weight: str | None = None,
    count: str | None = None,
    kind: Any = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> LoadedClasses:
    """Rows of files or frames that have a column of scores for each class.

    `classes` says which: "cat=p_cat,dog=p_dog", a pattern such as "p_*" in which the star stands for
    the class, a mapping from class to column, or a list of columns named as their classes are.
    `confidence` is a further column, if one's own confidence is to be judged.

    >>> wide = {"y": ["a", "b"], "p_a": [0.7, 0.2], "p_b": [0.3, 0.8]}
    >>> load_classes(wide, "p_*", label="y").rows.scores.tolist()
    [[0.7, 0.3], [0.2, 0.8]]
    """
    if kind == "score":
        raise BadInput(
            'kind="score" is not known for several classes; pass kind="probability" or kind="logit"'
        )
    names, get, sources = open_source(source, encoding)
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
        in_order=True,
        kind=kind,
        missing=missing,
        confidence=None if confidence is None else read[confidence],
        confidence_name=confidence or "confidence",
        place=place,
        **further(picked, read),
    )
    return LoadedClasses(rows, columns, picked.notes, sources)


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


def further(picked: Picked, read: Mapping[str, Any]) -> dict[str, Any]:
    """The columns and names that both kinds of rows have."""
    return {
        "weight": None if picked.weight is None else read[picked.weight],
        "count": None if picked.count is None else read[picked.count],
        "label_name": picked.label,
        "weight_name": picked.weight or "weight",
        "count_name": picked.count or "count",
    }
