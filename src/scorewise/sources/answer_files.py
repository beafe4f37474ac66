"""Files and frames of answers as columns: texts and nested lists as they stand."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from scorewise.door import Missing, Place
from scorewise.errors import BadInput
from scorewise.sources.decoding import check_encoding
from scorewise.sources.dude import is_dude, join_dude
from scorewise.sources.files import read_shards
from scorewise.sources.load import open_source
from scorewise.sources.paths import expand, names_of
from scorewise.sources.records import Records, open_records, read_records
from scorewise.sources.tables import Table

Read: TypeAlias = Callable[[list[str], list[str]], tuple[dict[str, Any], Place]]


@dataclass(frozen=True)
class AnswerSource:
    """The names of columns, a function that reads those of text and others, and where they come from.

    `joined` says that gold answers and predictions come from two files, whose questions were matched;
    `dropped` is the number of those that one file lacks.
    """

    names: list[str]
    read: Read
    sources: tuple[str, ...]
    notes: list[str] = field(default_factory=list)
    joined: bool = False
    dropped: int = 0


def open_answers(source: Any, missing: Missing, encoding: str | None = None) -> AnswerSource:
    """Answers in files of any kind, in a frame or in a dict of columns.

    >>> opened = open_answers({"gold": ["a"], "predicted": [["a", "b"]]}, "refuse")
    >>> opened.names, opened.read(["gold"], [])[0]
    (['gold', 'predicted'], {'gold': ['a']})
    """
    paths = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(paths, list | tuple) or not all(
        isinstance(p, str | os.PathLike) for p in paths
    ):
        names, get, sources = open_source(source, encoding)
        return AnswerSource(names, lambda texts, others: get(_each_once(texts, others)), sources)
    check_encoding(encoding)
    found = expand(paths)
    files = [open_records(p, n, encoding) for p, n in zip(found, names_of(found), strict=True)]
    sources = tuple(f.name for f in files)
    tables = [f for f in files if isinstance(f, Table)]
    records = [f for f in files if isinstance(f, Records)]
    if tables and records:
        raise BadInput(
            f"{tables[0].name} is a table and {records[0].name} is JSON; pass files of one kind"
        )
    if tables:
        return AnswerSource(tables[0].columns, lambda t, o: _read_tables(tables, t, o), sources)
    if is_dude(records):
        columns, place, notes, dropped = join_dude(records, missing)
        return AnswerSource(
            list(columns),
            lambda texts, others: ({c: columns[c] for c in (*texts, *others)}, place),
            sources, notes, True, dropped,
        )  # fmt: skip
    return AnswerSource(
        records[0].columns, lambda t, o: read_records(records, _each_once(t, o)), sources
    )


def _each_once(texts: list[str], others: list[str]) -> list[str]:
    return list(dict.fromkeys([*texts, *others]))


def _read_tables(
    tables: list[Table], texts: list[str], others: list[str]
) -> tuple[dict[str, Any], Place]:
    """Columns of tables, in which text is not read as numbers or as missing."""
    plain = [replace(t, read=t.texts or t.read) for t in tables]
    read, place = read_shards(plain, texts) if texts else ({}, Place())
    rest = [c for c in dict.fromkeys(others) if c not in texts]
    more, place = read_shards(tables, rest) if rest else ({}, place)
    return {**read, **more}, place
