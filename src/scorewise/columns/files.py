"""Files, shards of files and frames of any library as one set of columns."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any, NamedTuple

from scorewise.columns.decoding import Source, as_utf8, check_encoding, copied, start_of
from scorewise.columns.numbers import Place
from scorewise.columns.paths import FORMATS, STDIN, expand, format_of, names_of, partitions, sniff
from scorewise.columns.roles import near_names
from scorewise.columns.sources import is_files, open_frame
from scorewise.columns.tables import Table, guard
from scorewise.columns.vectors import Vector, vector
from scorewise.errors import BadInput

if TYPE_CHECKING:
    import polars as pl


class Opened(NamedTuple):
    """The names of the columns, a function that reads some, and the names of the files.

    The function takes the names of columns, and which of them are read as plain text. `index` is that of
    a pandas frame, which may name its rows.
    """

    names: list[str]
    read: Callable[[list[str], Collection[str]], tuple[dict[str, Any], Place]]
    sources: tuple[str, ...] = ()
    index: Any = None

    def column(self, name: str, rows: int | None = None) -> Vector | None:
        """A column that nobody asked for, or its first rows; None where it cannot be read as one."""
        try:
            return vector(self.read([name], ())[0][name][:rows], name)
        except (BadInput, TypeError, ValueError):
            return None


def open_source(source: Any, encoding: str | None = None) -> Opened:
    """Files or globs, standard input (`-`), a data frame or a dict of columns, not yet read.

    >>> opened = open_source({"id": [1, 2], "p": [0.2, 0.9]})
    >>> opened.names, opened.read(["p"], ())[0]
    (['id', 'p'], {'p': [0.2, 0.9]})
    """
    check_encoding(encoding)
    if isinstance(source, Opened):
        return source
    if is_files(source):
        listed = source if isinstance(source, list | tuple) else [source]
        return open_tables(open_files(listed, encoding))
    names, get = open_frame(source)
    pandas = sys.modules.get("pandas")
    index = source.index if pandas and isinstance(source, pandas.DataFrame) else None
    return Opened(names, lambda wanted, texts: (get(wanted), Place()), index=index)


def open_tables(tables: Sequence[Table]) -> Opened:
    """Files of which all columns are known."""
    return Opened(
        tables[0].columns,
        lambda wanted, texts: read_shards(tables, wanted, texts),
        tuple(table.name for table in tables),
    )


def open_files(
    sources: Sequence[str | os.PathLike[str]], encoding: str | None = None, folders: bool = True
) -> list[Table]:
    """The tables in files: csv, jsonl and json (also .gz), parquet and arrow; `-` is standard input.

    Text is in `encoding`, if it has no mark that says another; else in UTF-8. `folders` such as site=north
    stand for columns.
    """
    paths = expand(sources)
    pairs = zip(paths, names_of(paths), strict=True)
    return [open_file(p, n, encoding, folders) for p, n in pairs]


def read_shards(
    tables: Sequence[Table], columns: Sequence[str], texts: Collection[str] = ()
) -> tuple[dict[str, Any], Place]:
    """The columns of all tables, one below the other, and where each row came from.

    Those of `texts` are text as it stands, or whatever is nested in records.
    """
    first = tables[0]
    for table in tables[1:]:
        same_columns(table, columns, f"{first.name} has")
    parts = [(t.name, *_parts(t, columns, texts)) for t in tables]
    place = Place(files=tuple((name, height) for name, height, _ in parts))
    full = [(name, part) for name, height, part in parts if height]
    if not full:
        if len(tables) == 1:
            raise BadInput(f"{first.name} has no rows")
        raise BadInput(f"none of the {len(tables)} files has any rows")
    return {c: join(c, [(name, part[c]) for name, part in full]) for c in columns}, place


def same_columns(table: Table, columns: Sequence[str], others_have: str) -> None:
    """Refuse a file that lacks a column which others have, or has it twice."""
    for column in columns:
        many = table.columns.count(column)
        if many > 1:
            raise BadInput(
                f"{many} columns of {table.name} are named '{column}'; give them names apart"
            )
        if not many:
            near = near_names(column, table.columns)
            way = f"did you mean '{near[0]}' there?" if near else "give it one or leave it out"
            raise BadInput(f"{table.name} has no column '{column}', which {others_have}; {way}")


def _parts(
    table: Table, columns: Sequence[str], texts: Collection[str]
) -> tuple[int, dict[str, Any]]:
    """How many rows a table has, and its columns."""
    plain = [c for c in columns if c not in texts]
    said = [c for c in columns if c in texts]
    found: dict[str, Any] = {}
    if said and table.records is not None:
        rows = table.records()
        found = {c: [row.get(c) for row in rows] for c in said}
    elif said:
        found = dict(zip(said, table.texts(said), strict=True)) if table.texts else table.read(said)
    if plain:
        found |= table.read(plain)
    return len(next(iter(found.values()))), found


def open_file(path: Path, name: str, encoding: str | None = None, folders: bool = True) -> Table:
    """The table in one file, a pipe or standard input."""
    try:
        if str(path) == STDIN or not path.is_file():  # a pipe, too, can be read once only
            return _open_piped(_piped(path), name, encoding)
        form, packed = format_of(path)
        is_text = FORMATS[form].text
        source = _text_of(path, name, form, packed, encoding) if is_text else _filled(path, name)
        table = _table_in(source, name, form)
    except PermissionError:
        raise BadInput(f"{name} may not be read: permission denied") from None
    except OSError as e:
        raise BadInput(f"{name} cannot be read: {e.strerror or e}") from None
    return _with_partitions(table, partitions(path)) if folders else table


def _table_in(source: Source, name: str, form: str) -> Table:
    with guard(name, form):
        table: Table = resolve_name(FORMATS[form].opener)(source, name)
    return table


def _with_partitions(table: Table, values: Mapping[str, str | None]) -> Table:
    """A table with the columns that its folders stand for, but for those that it has itself."""
    new = {name: value for name, value in values.items() if name not in table.columns}
    if not new:
        return table
    import polars as pl

    def filled(read: Callable[[list[str]], pl.DataFrame], wanted: list[str]) -> pl.DataFrame:
        # some column of the file, for the number of rows
        own = [c for c in wanted if c not in new] or table.columns[:1]
        extra = [pl.lit(new[c], pl.String).alias(c) for c in wanted if c in new]
        return read(own).with_columns(extra).select(wanted)

    def records() -> list[dict[str, Any]]:
        assert table.records is not None
        return [{**new, **row} for row in table.records()]

    @contextmanager
    def scan() -> Iterator[pl.LazyFrame]:
        with table.scan() as frame:
            named = enumerate(new.values(), len(table.columns))
            yield frame.with_columns(pl.lit(v, pl.String).alias(str(k)) for k, v in named)

    return replace(
        table, columns=[*table.columns, *new], scan=scan,
        read_all=None if table.read_all is None else partial(filled, table.read_all),
        texts=None if table.texts is None else partial(filled, table.texts),
        records=None if table.records is None else records,
    )  # fmt: skip


def _text_of(source: Source, name: str, form: str, packed: bool, encoding: str | None) -> Source:
    """The text of a file or a pipe in UTF-8; refused where there is none."""
    text = as_utf8(_filled(source, name), name, form, packed=packed, encoding=encoding)
    return _filled(text, name, " once unpacked" * packed)


def _filled(source: Source, name: str, when: str = "") -> Source:
    if not start_of(source, 1):
        raise BadInput(f"{name} is empty (0 bytes{when})")
    return source


def _piped(path: Path) -> Source:
    """All of standard input or of a pipe; in a temporary file where it is much."""
    if str(path) == STDIN and sys.stdin is None:
        raise BadInput("standard input is closed; pass a file, or send rows into it")
    with nullcontext(sys.stdin.buffer) if str(path) == STDIN else path.open("rb") as pipe:
        return copied(iter(lambda: pipe.read(1 << 20), b""))


def _open_piped(data: Source, name: str, encoding: str | None) -> Table:
    """The table in bytes of a format that the first of them tell."""
    head = start_of(data)
    if FORMATS[form := sniff(head)].text:
        packed = head.startswith(b"\x1f\x8b")
        data = _text_of(data, name, "jsonl", packed, encoding)  # without the mark of UTF-8
        form = sniff(start_of(data))
    return _table_in(data, name, form)


def join(column: str, parts: list[tuple[str, Any]]) -> Any:
    """Shards of a column below one another: integers with floats as floats, with text as text."""
    import polars as pl

    series = [s for _, s in parts]
    if any(isinstance(s, list) for s in series):
        return [value for s in series for value in s]
    if len({str(s.dtype) for s in series}) == 1:
        return pl.concat(series)
    number = [s.dtype.is_numeric() or s.dtype in (pl.Boolean, pl.Null) for s in series]
    text = [s.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null) for s in series]
    if not all(n or t for n, t in zip(number, text, strict=True)):
        name, other = next((n, s) for n, s in parts if s.dtype != series[0].dtype)
        raise BadInput(
            f"{column} is of type {series[0].dtype} in {parts[0][0]} and {other.dtype} in {name}; "
            f"give it the same type in every file"
        )
    if not all(number):
        return pl.concat([s.cast(pl.String) for s in series])
    return pl.concat([s.to_frame() for s in series], how="vertical_relaxed").to_series()
