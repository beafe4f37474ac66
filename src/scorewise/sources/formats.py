"""Each file format: the names of its columns, and those columns that are wanted, with polars."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from scorewise.errors import BadInput
from scorewise.sources.lines import lines_of

if TYPE_CHECKING:
    import polars as pl

MISSING = ("", "NA", "NaN", "nan", "null", "NULL", "None", "<NA>")
_HEAD = 1 << 16
_LONGEST = 1 << 24  # bytes of a header
_LINES = 100_000

Source: TypeAlias = Path | bytes


@dataclass(frozen=True)
class Table:
    """A file whose columns are known and not yet read.

    `texts`, where types are guessed from text, reads columns as that text: only an empty cell is missing.
    """

    name: str
    columns: list[str]
    read: Callable[[list[str]], pl.DataFrame]
    texts: Callable[[list[str]], pl.DataFrame] | None = None


def open_table(source: Source, name: str, form: str) -> Table:
    """The table in a file, or in bytes, of a known format."""
    return _OPENERS[form](source, name)


def sniff(data: bytes) -> str:
    """The format that the first bytes tell.

    >>> sniff(b'{"y": 1}'), sniff(b"y,p"), sniff(b"PAR1...")
    ('jsonl', 'csv', 'parquet')
    """
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    return "jsonl" if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") else "csv"


@contextmanager
def _guard(name: str, form: str) -> Iterator[None]:
    """One sentence for whatever a reader may throw."""
    import polars as pl

    try:
        yield
    except BadInput:
        raise
    except pl.exceptions.DuplicateError:
        raise BadInput(f"columns of {name} have the same name; give them names apart") from None
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
        EOFError,
        ValueError,
        zlib.error,
    ):
        raise BadInput(f"{name} cannot be read as {form}; it is damaged or cut short") from None


def unpack(source: Source, name: str) -> bytes:
    """The contents of a gzip file."""
    with _guard(name, "gzip"):
        return gzip.decompress(source if isinstance(source, bytes) else source.read_bytes())


def _stream(source: Source) -> BinaryIO:
    """An open file: polars takes brackets in a path for a glob, and refuses names not in UTF-8."""
    return io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def _head_and_tail(source: Source) -> tuple[bytes, bytes]:
    if isinstance(source, bytes):
        return source[:_HEAD], source[-_HEAD:]
    with source.open("rb") as file:
        head = file.read(_HEAD)
        file.seek(max(0, source.stat().st_size - _HEAD))
        return head, file.read()


# csv


def _open_csv(source: Source, name: str) -> Table:
    """Text with a header. Missing are: nothing, NA, NaN, nan, null, NULL, None and <NA>."""
    head, tail = _head_and_tail(source)
    if b"\0" in head:
        raise BadInput(f"{name} is not text in UTF-8; save it as csv in UTF-8, or as parquet")
    separator, header = _header(_header_line(source), name)
    blank = len(tail) - len(tail.rstrip(b"\r\n"))
    blank_lines = max(0, tail[len(tail) - blank :].count(b"\n") - 1)

    def cells(columns: list[str], missing: tuple[str, ...]) -> pl.DataFrame:
        import polars as pl

        try:
            with _guard(name, "csv"), _stream(source) as file:
                frame = pl.read_csv(
                    file,
                    columns=columns,
                    separator=separator,
                    infer_schema=False,  # so that a stray text late in the file is not an error
                    null_values=list(missing),
                    encoding="utf8-lossy",
                )
        except BadInput:
            raise BadInput(_ragged(source, name, separator, len(header))) from None
        return (frame.head(-blank_lines) if blank_lines else frame).select(columns)

    def read(columns: list[str]) -> pl.DataFrame:
        frame = cells(columns, MISSING)
        return frame.with_columns(numbers(s) for s in frame)

    return Table(name, header, read, lambda columns: cells(columns, ()))


def separator_of(source: Source) -> str:
    """What stands between the fields of a csv file."""
    if isinstance(source, Path) and source.suffix.lower() == ".gz":
        source = unpack(source, source.name)
    return _header(_header_line(source), "the file")[0]


def _header_line(source: Source) -> str:
    """The header, however long; line breaks in quotes belong to it, blank lines before it do not."""
    head = b""
    with _stream(source) as file:
        while (end := _line_end(head)) < 0 and len(head) < _LONGEST:
            more = file.read(max(_HEAD, len(head)))
            if not more:
                break
            head = (head + more).removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n")
    return (head if end < 0 else head[:end]).decode("utf-8", "replace")


def _line_end(text: bytes) -> int:
    """Where the first line ends that is not within quotes; -1 when it does not."""
    start, quotes = 0, 0
    while (end := text.find(b"\n", start)) >= 0:
        quotes += text.count(b'"', start, end)
        if quotes % 2 == 0:
            return end
        start = end + 1
    return -1


def _header(line: str, name: str) -> tuple[str, list[str]]:
    """The separator and the names of the columns."""
    bare = re.sub(r'"[^"]*"', "", line).partition("\n")[0]
    separator = next((c for c in ",\t;|" if c in bare), ",")
    try:
        names = next(csv.reader(io.StringIO(line), delimiter=separator), [])
    except csv.Error:
        if "\r" in line.rstrip("\r\n"):
            raise BadInput(
                f"{name} ends its lines with CR alone; save it with lines that end with LF or CRLF"
            ) from None
        raise BadInput(f"{name} cannot be read as csv; it is damaged or cut short") from None
    return separator, [c.rstrip("\r") for c in names]


def numbers(column: pl.Series) -> pl.Series:
    """A column of text as integers or floats, when all of it is; else as it was.

    Integers too large for 64 bits stay text, so that they are refused as integers, not rounded.
    """
    import polars as pl

    for dtype in (pl.Int64, pl.Float64):
        for strip in (False, True):
            for part in (column.head(1000), column):  # most columns of words end at the first part
                read = (part.str.strip_chars() if strip else part).cast(dtype, strict=False)
                if read.null_count() > part.null_count():
                    break
            else:
                return column if dtype == pl.Float64 and _too_large(column, read) else read
    return column


def _too_large(column: pl.Series, read: pl.Series) -> bool:
    """Whether a column that was read as floats is one of integers, some beyond 64 bits."""
    large = read.abs() >= 2.0**63
    return bool(large.any()) and bool(column.str.contains(r"^\s*[+-]?[0-9]+\s*$").all())


def _ragged(source: Source, name: str, separator: str, width: int) -> str:
    data = source if isinstance(source, bytes) else source.read_bytes()
    text = data.decode("utf-8-sig", "replace").lstrip("\r\n")
    lines = csv.reader(io.StringIO(text), delimiter=separator)
    next(lines, None)
    try:
        for number, fields in enumerate(lines, start=1):
            if len(fields) > width:
                return (
                    f"{name} has {len(fields)} fields in row {number} but {width} in its header; "
                    f"quote the fields that contain '{separator}'"
                )
    except csv.Error:
        pass
    return f"{name} cannot be read as csv; it is damaged or cut short"


# jsonl


def _open_jsonl(source: Source, name: str) -> Table:
    """One object per line; a column is known when it is in the first 100,000 lines."""
    import polars as pl

    def read(wanted: list[str]) -> pl.DataFrame:
        for lines in (_LINES, None):  # a later line may widen a type: integers, then a float
            with suppress(BadInput), _guard(name, "jsonl"), _stream(source) as file:
                return pl.scan_ndjson(file, infer_schema_length=lines).select(wanted).collect()
        return _open_plainly(source, name).read(wanted)

    with suppress(BadInput), _guard(name, "jsonl"), _stream(source) as file:
        schema = pl.scan_ndjson(file, infer_schema_length=_LINES).collect_schema()
        return Table(name, schema.names(), read)
    return _open_plainly(source, name)


def _open_plainly(source: Source, name: str) -> Table:
    """Line by line: knows NaN and columns of mixed types, and finds the line that is broken."""
    rows = lines_of(source if isinstance(source, bytes) else source.read_bytes(), name)
    columns = list(dict.fromkeys(key for row in rows for key in row))

    def read(wanted: list[str]) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame([_mixed(c, [row.get(c) for row in rows]) for c in wanted])

    return Table(name, columns, read)


def _mixed(name: str, values: list[Any]) -> pl.Series:
    """Numbers and booleans as floats; anything beside them makes all of it text."""
    import polars as pl

    if all(v is None or isinstance(v, bool | int | float) for v in values):
        return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
    text = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return pl.Series(name, text, dtype=pl.String)


# parquet and arrow


def _open_parquet(source: Source, name: str) -> Table:
    import polars as pl

    with _guard(name, "parquet"), _stream(source) as file:
        columns = list(pl.read_parquet_schema(file))

    def read(wanted: list[str]) -> pl.DataFrame:
        with _guard(name, "parquet"), _stream(source) as file:
            return pl.read_parquet(file, columns=wanted, hive_partitioning=False)

    return Table(name, columns, read)


def _open_arrow(source: Source, name: str) -> Table:
    import polars as pl

    head, _ = _head_and_tail(source)
    whole_file = head.startswith(b"ARROW1")  # else a stream, which has no footer
    with _guard(name, "arrow"), _stream(source) as file:
        if whole_file:
            columns = list(pl.read_ipc_schema(file))
        else:
            columns = pl.read_ipc_stream(file, n_rows=0).columns

    def read(wanted: list[str]) -> pl.DataFrame:
        with _guard(name, "arrow"), _stream(source) as file:
            if whole_file:
                return pl.read_ipc(file, columns=wanted)
            return pl.read_ipc_stream(file, columns=wanted)

    return Table(name, columns, read)


_OPENERS: dict[str, Callable[[Source, str], Table]] = {
    "csv": _open_csv,
    "jsonl": _open_jsonl,
    "parquet": _open_parquet,
    "arrow": _open_arrow,
}
