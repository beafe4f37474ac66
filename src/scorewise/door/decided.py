"""Rows of which only the decision and the confidence in it are known, checked once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.door.classes import class_codes, coded, named_classes
from scorewise.door.columns import Missing, one_of, read
from scorewise.door.place import Place
from scorewise.door.rows import Kind, Names, counts, scored, weights
from scorewise.door.values import Coded, Vector
from scorewise.errors import BadInput


@dataclass(frozen=True)
class DecidedRows:
    """Checked rows: `y` and `called` are places in `classes`, `confidence` is that in the decision."""

    y: Ints
    called: Ints
    confidence: Floats
    classes: tuple[str, ...]
    kind: Kind
    weight: Floats | None
    count: Ints | None
    names: Names
    dropped: int
    place: Place = field(default_factory=Place)

    def __len__(self) -> int:
        return len(self.y)


def take_decided(
    labels: Any,
    predicted: Any,
    confidence: Any,
    *,
    classes: Sequence[Any] | None = None,
    kind: Kind | None = None,
    weight: Any = None,
    count: Any = None,
    missing: Missing = "refuse",
    label_name: str = "label",
    predicted_name: str = "predicted",
    confidence_name: str = "confidence",
    weight_name: str = "weight",
    count_name: str = "count",
    place: Place | None = None,
) -> DecidedRows:
    """Check labels, decisions and the confidence in each decision.

    Classes are the list given, or else all labels and decisions in order. Unless said, confidence is a
    probability when all of it lies in [0, 1], and a score otherwise.

    >>> rows = take_decided(["a", "b"], ["a", "c"], [0.9, 0.4])
    >>> rows.y, rows.called, rows.classes
    (array([0, 1]), array([0, 2]), ('a', 'b', 'c'))
    """
    one_of("kind", kind, (None, *get_args(Kind)))
    names = Names(label_name, weight_name, count_name)
    found = read(
        {label_name: labels, predicted_name: predicted},
        {confidence_name: confidence, weight_name: weight, count_name: count},
        missing=missing,
        place=place or Place(),
    )
    text, (numeric,), place = found.words, found.amounts, found.place
    known = named_classes(classes) or _classes(list(text.values()))
    y, called = (class_codes(v, n, known, place) for n, v in text.items())
    sure, kind = scored(numeric[confidence_name], confidence_name, kind, place)
    return DecidedRows(
        y, called, sure.astype(np.float64), known, kind,
        weights(numeric[weight_name], weight_name, place) if weight is not None else None,
        counts(numeric[count_name], count_name, place) if count is not None else None,
        names, found.dropped, place,
    )  # fmt: skip


def _classes(columns: Sequence[Vector]) -> tuple[str, ...]:
    """The classes that occur: declared categories in their order, numbers by size, else by name."""
    found = list(dict.fromkeys(word for column in columns for word in coded(column)[1]))
    if len(found) < 2:
        said = f"only the class {found[0]!r}" if found else "no class"
        raise BadInput(
            f"labels and decisions name {said}; pass classes= with the names of all classes"
        )
    if any(isinstance(column, Coded) and column.declared for column in columns):
        return tuple(found)
    try:
        return tuple(sorted(found, key=float))
    except ValueError:
        return tuple(sorted(found))
