"""Any source of rows of several classes, checked at the door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scorewise.door import Missing
from scorewise.door.classes import ClassKind, ClassRows, take_classes
from scorewise.errors import BadInput
from scorewise.sources.class_columns import class_columns
from scorewise.sources.columns import pick
from scorewise.sources.load import open_source


@dataclass(frozen=True)
class LoadedClasses:
    """Checked rows, the column of each class, and what was decided on the way."""

    rows: ClassRows
    columns: dict[str, str]
    notes: list[str]


def load_classes(
    source: Any,
    classes: str,
    *,
    label: str | None = None,
    weight: str | None = None,
    count: str | None = None,
    kind: Any = None,
    missing: Missing = "refuse",
) -> LoadedClasses:
    """Rows of files, frames or columns with a score for each class; see `class_columns`.

    >>> source = {"y": ["a", "b"], "p_a": [0.2, 0.9], "p_b": [0.8, 0.1]}
    >>> load_classes(source, "p_*", label="y").rows.classes
    ('a', 'b')
    """
    if kind == "score":
        raise BadInput('kind="score" means nothing for several classes; use probability or logit')
    said: ClassKind | None = kind
    names, get, _ = open_source(source)
    found = class_columns(names, classes)
    picked = pick(names, label, list(found.values()), weight, count)
    columns, place = get(picked.all)
    rows = take_classes(
        columns[picked.label],
        {c: columns[name] for c, name in found.items()},
        kind=said,
        weight=None if weight is None else columns[weight],
        count=None if count is None else columns[count],
        missing=missing,
        label_name=picked.label,
        weight_name=weight or "weight",
        count_name=count or "count",
        place=place,
    )
    return LoadedClasses(rows, found, picked.notes)
