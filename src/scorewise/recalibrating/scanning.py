"""Files that are read in batches, with all their columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from scorewise.errors import BadInput
from scorewise.sources.files import open_files
from scorewise.sources.paths import STDIN, expand, format_of

if TYPE_CHECKING:
    import polars as pl


class Scanned(NamedTuple):
    """A file: its name, its columns and its rows, not yet read."""

    name: str
    columns: list[str]
    frame: pl.LazyFrame


def scan(files: Sequence[str | os.PathLike[str]], *, typed: bool) -> list[Scanned]:
    """The files, which have the same columns; fields of csv stay text unless `typed`."""
    paths = expand(files)
    if any(str(p) == STDIN for p in paths):
        raise BadInput("standard input cannot be read twice; name a file")
    tables = open_files(files)
    made = []
    for path, table in zip(paths, tables, strict=True):
        if table.columns != tables[0].columns:
            raise BadInput(
                f"{table.name} has other columns than {tables[0].name}; apply the map to each alone"
            )
        form, _ = format_of(path)
        made.append(Scanned(table.name, table.columns, _frame(path, form, typed)))
    return made


def _frame(path: Any, form: str, typed: bool) -> pl.LazyFrame:
    import polars as pl

    if form == "parquet":
        return pl.scan_parquet(path, glob=False)
    if form == "arrow":
        return pl.scan_ipc(path, glob=False)
    if form == "jsonl":
        return pl.scan_ndjson(path)
    from scorewise.sources.formats import MISSING, separator_of

    sep = separator_of(path)
    if typed:
        return pl.scan_csv(
            path, glob=False, separator=sep, infer_schema_length=None, null_values=list(MISSING)
        )
    return pl.scan_csv(
        path, glob=False, separator=sep, infer_schema=False, empty_string_is_null=False
    )
