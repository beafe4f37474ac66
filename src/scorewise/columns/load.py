"""Any source of rows, checked at the door."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from scorewise.columns import Kind, Missing, Place, Rows, take
from scorewise.columns.classes import ClassRows, DecidedRows, numbered, take_classes, take_decided
from scorewise.columns.decoding import check_encoding
from scorewise.columns.files import open_files, open_frame, read_shards
from scorewise.columns.labels import listed
from scorewise.columns.roles import Picked, check_columns, class_columns, pick, pick_score
from scorewise.errors import BadInput


@dataclass(frozen=True)
class Loaded:
    """Checked rows, what was decided on the way, and the names of the files they came from.

    `ids` is the column that names the rows, if one was asked for; it has every row of the source.
    """

    rows: Rows
    notes: list[str]
    sources: tuple[str, ...]
    ids: Any = None


def load(
    source: Any,
    *,
    label: str | None = None,
    scores: str | Sequence[str] = (),
    weight: str | None = None,
    count: str | None = None,
    positive: Any = None,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    ids: str | None = None,
    encoding: str | None = None,
) -> Loaded:
    """Rows of files or globs, standard input (`-`), a data frame or a dict of columns.

    Columns that are not named are taken where a single one suggests itself; `notes` says so.
    In csv, these count as missing: nothing, NA, NaN, nan, null, NULL, None and <NA>. Files of text are in
    UTF-8, or in `encoding`, such as "latin-1".

    >>> loaded = load({"y": ["no", "yes"], "p": [0.2, 0.9]})
    >>> loaded.rows.y, loaded.notes[0]
    (array([False,  True]), "label: column 'y' (not named; taken because of its name)")
    """
    names, get, sources = open_source(source, encoding)
    wanted = [scores] if isinstance(scores, str) else list(scores)
    picked = pick(names, label, wanted, weight, count, ids)
    columns, place = get(picked.all)
    rows = take(
        columns[picked.label],
        {s: columns[s] for s in picked.scores},
        weight=None if picked.weight is None else columns[picked.weight],
        count=None if picked.count is None else columns[picked.count],
        positive=positive,
        kind=kind,
        missing=missing,
        label_name=picked.label,
        weight_name=picked.weight or "weight",
        count_name=picked.count or "count",
        place=place,
    )
    return Loaded(rows, picked.notes, sources, None if ids is None else columns[ids])


def load_scores(
    source: Any,
    *,
    score: str | None = None,
    label: str | None = None,
    weight: str | None = None,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> Loaded:
    """Rows of the same sources whose labels are not known yet; all stand as negatives.

    A column `label` may be there and is not read.

    >>> loaded = load_scores({"id": [1, 2], "p": [0.2, 0.9]})
    >>> loaded.rows.scores, loaded.notes
    ({'p': array([0.2, 0.9])}, ["score: column 'p' (not named; taken because of its name)"])
    """
    names, get, sources = open_source(source, encoding)
    name, notes = pick_score(names, score, {c for c in (label, weight) if c is not None})
    if weight is not None:
        pick_score(names, weight)
    columns, place = get([name] if weight is None else [name, weight])
    rows = take(
        np.zeros(len(columns[name]), np.int64),
        {name: columns[name]},
        weight=None if weight is None else columns[weight],
        kind=kind,
        missing=missing,
        weight_name=weight or "weight",
        place=place,
    )
    return Loaded(rows, notes, sources)


def read_columns(
    source: Any, wanted: Sequence[str], encoding: str | None = None
) -> tuple[dict[str, Any], Place]:
    """The columns of those names, unchecked, and where their rows lie.

    >>> read_columns({"id": [1, 2], "p": [0.2, 0.9]}, ["p"])[0]
    {'p': [0.2, 0.9]}
    """
    names, get, _ = open_source(source, encoding)
    check_columns(names, wanted)
    return get(list(dict.fromkeys(wanted)))


Opened: TypeAlias = tuple[
    list[str], Callable[[list[str]], tuple[dict[str, Any], Place]], tuple[str, ...]
]


def open_source(source: Any, encoding: str | None = None) -> Opened:
    """The names of the columns, a function that reads those wanted, and the names of the files."""
    check_encoding(encoding)
    if isinstance(source, str | os.PathLike):
        source = [source]
    if isinstance(source, list | tuple) and all(isinstance(s, str | os.PathLike) for s in source):
        tables = open_files(source, encoding)
        return (
            tables[0].columns,
            lambda wanted: read_shards(tables, wanted),
            tuple(t.name for t in tables),
        )
    names, get = open_frame(source)
    return names, lambda wanted: (get(wanted), Place()), ()


# Rows of several classes from any source, checked at the door.


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
    listed_in_order = not isinstance(classes, str) or "=" in classes or "," in classes
    rows = replace(rows, ordered=listed_in_order or numbered(rows.classes))
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


# Rows of decisions and the confidence in them from any source, checked at the door.


@dataclass(frozen=True)
class LoadedDecided:
    """Checked rows, what was decided on the way, and the names of the files they came from."""

    rows: DecidedRows
    notes: list[str]
    sources: tuple[str, ...]


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
    encoding: str | None = None,
) -> LoadedDecided:
    """Rows of files or frames that have decisions and a column of confidence in them.

    >>> read = load_decided({"y": ["a", "b"], "said": ["a", "a"], "p": [0.7, 0.2]}, predicted="said")
    >>> read.rows.called, read.notes[1]
    (array([0, 0]), "score: column 'p' (not named; taken because of its name)")
    """
    names, get, sources = open_source(source, encoding)
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
        **further(picked, read),
    )
    return LoadedDecided(rows, picked.notes, sources)
