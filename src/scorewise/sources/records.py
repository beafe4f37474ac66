"""JSON as records: one object for each row, with whatever is nested in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from scorewise.door import Place
from scorewise.errors import BadInput
from scorewise.sources.decoding import broken
from scorewise.sources.files import (
    is_file,
    is_packed,
    open_bytes,
    open_table_of,
    piped,
    readable,
    text_of,
)
from scorewise.sources.formats import TEXTS, sniff
from scorewise.sources.lines import lines_of
from scorewise.sources.paths import format_of
from scorewise.sources.tables import Table, start_of

_NO_RECORDS = (
    'a list of objects, one for each answer, is wanted, or {"data": [...]} with such a list'
)


@dataclass(frozen=True)
class Records:
    """The rows of a JSON file, each a mapping from columns to values."""

    name: str
    rows: list[dict[str, Any]]

    @cached_property
    def columns(self) -> list[str]:
        """The columns of all rows, in the order in which they first appear."""
        return list(dict.fromkeys(key for row in self.rows for key in row))


def open_records(path: Path, name: str, encoding: str | None = None) -> Records | Table:
    """The records in a file of JSON or of lines of JSON; a file of another format as a table."""
    with readable(name):
        if not is_file(path):
            data = piped(path)
            if sniff(data) in TEXTS:
                data = start_of(text_of(data, name, "json", is_packed(data), encoding), -1)
                encoding = None
            return records_of(data, name) if _is_json(data) else open_bytes(data, name, encoding)
        plain = path.name.lower().removesuffix(".gz")
        if not plain.endswith(".json") and format_of(path)[0] != "jsonl":
            return open_table_of(path, name, encoding)
        text = text_of(path, name, "json", plain != path.name.lower(), encoding)
        return records_of(start_of(text, -1), name)


def _is_json(data: bytes) -> bool:
    return data.lstrip().startswith((b"{", b"["))


def records_of(data: bytes, name: str) -> Records:
    """The records in JSON: a list of objects, {"data": such a list}, or an object in each line.

    >>> records_of(b'{"data": [{"answer": ["a", "b"]}]}', "x.json").rows
    [{'answer': ['a', 'b']}]
    """
    if not data.strip():
        raise BadInput(f"{name} is empty ({len(data)} bytes)")
    try:
        whole = json.loads(data.decode())
    except RecursionError:
        raise BadInput(f"{name} is nested too deeply; leave out the field that is") from None
    except ValueError as problem:
        if isinstance(problem, UnicodeError):
            raise BadInput(broken(data, name, "json") or f"{name} is not JSON") from None
        if _named_json(name):
            where = (
                f" in line {problem.lineno}" if isinstance(problem, json.JSONDecodeError) else ""
            )
            raise BadInput(f"{name} is not JSON{where}; {_NO_RECORDS}") from None
        return Records(name, lines_of(data, name))
    return Records(name, _rows(whole, name))


def _rows(whole: Any, name: str) -> list[dict[str, Any]]:
    rows = whole.get("data") if isinstance(whole, dict) else whole
    if isinstance(whole, dict) and not isinstance(rows, list) and not _named_json(name):
        rows = [whole]  # a single line
    if not isinstance(rows, list):
        raise BadInput(f"{name} holds no list of records; {_NO_RECORDS}")
    if not rows:
        raise BadInput(f"{name} has no rows")
    wrong = next((i for i, row in enumerate(rows) if not isinstance(row, dict)), None)
    if wrong is not None:
        kind = type(rows[wrong]).__name__
        raise BadInput(f"{name} has a value of type {kind} as record {wrong + 1}; {_NO_RECORDS}")
    if "paragraphs" in rows[0]:
        raise BadInput(
            f"{name} is nested as SQuAD is (data, paragraphs, qas), which is not read; write one object "
            f"for each answer with its gold answers, prediction and confidence"
        )
    return rows


def _named_json(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith(".json")


def read_records(files: Sequence[Records], wanted: Sequence[str]) -> tuple[dict[str, Any], Place]:
    """The columns of all files, one below the other, None where a record lacks one."""
    for file in files:
        lacks = next((c for c in wanted if c not in file.columns), None)
        if lacks is not None:
            raise BadInput(
                f"{file.name} has no column '{lacks}', which {files[0].name} has; give it one"
            )
    place = Place(files=tuple((file.name, len(file.rows)) for file in files))
    return {c: [row.get(c) for file in files for row in file.rows] for c in wanted}, place
