"""Any source of rows, checked at the door."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from scorewise.door import Kind, Missing, Place, Rows, take
from scorewise.sources.columns import check_columns, pick, pick_score
from scorewise.sources.decoding import check_encoding
from scorewise.sources.files import open_files, read_shards
from scorewise.sources.frames import open_frame


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
