"""Each file format: the names of its columns, and those columns that are wanted, with polars."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from scorewise.columns.csv_files import Table, Whole, guard, placed, start_of
from scorewise.columns.decoding import Source, broken, stream
from scorewise.columns.paths import FORMATS
from scorewise.errors import BadInput

if TYPE_CHECKING:
    import polars as pl


_LINES = 100_000


def open_table(source: Source, name: str, form: str) -> Table:
    """The table in a source of a known format; text is in UTF-8."""
    module, _, opener = FORMATS[form].opener.partition(":")
    opened = getattr(import_module(module), opener)
    with guard(name, form):
        table: Table = opened(source, name)
    return table


def table_of(frame: pl.DataFrame, name: str, form: str) -> Table:
    """The table of a frame that is in memory, for formats that are read as a whole."""

    @contextmanager
    def whole() -> Iterator[Whole]:
        yield placed(frame.lazy(), name, form)

    return Table(name, frame.columns, frame.select, whole)


def sniff(data: bytes) -> str:
    """The format that the first bytes tell.

    >>> sniff(b'{"y": 1}'), sniff(b'[{"y": 1}]'), sniff(b"y,p"), sniff(b"PAR1...")
    ('jsonl', 'json', 'csv', 'parquet')
    """
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    text = data.lstrip(b"\xef\xbb\xbf \t\r\n")
    if re.match(rb'\[|{\s*"data"\s*:\s*\[', text):
        return "json"
    return "jsonl" if text.startswith(b"{") else "csv"


# jsonl


def open_jsonl(source: Source, name: str) -> Table:
    """One object per line; a column is known when it is in the first 100,000 lines."""
    import polars as pl

    def read(wanted: list[str]) -> pl.DataFrame:
        for lines in (_LINES, None):  # a later line may widen a type: integers, then a float
            with suppress(BadInput), guard(name, "jsonl"), stream(source) as file:
                return pl.scan_ndjson(file, infer_schema_length=lines).select(wanted).collect()
        return open_json(source, name).read(wanted)

    @contextmanager
    def whole() -> Iterator[Whole]:
        with stream(source) as file:
            made = None
            with suppress(BadInput), guard(name, "jsonl"):
                frame = pl.scan_ndjson(file, infer_schema_length=None)
                frame.select(pl.all().null_count()).collect(
                    engine="streaming"
                )  # all of it is sound
                made = placed(frame, name, "jsonl")
            if made is not None:
                yield made
                return
        with open_json(source, name).whole() as plain:
            yield plain

    with suppress(BadInput), guard(name, "jsonl"), stream(source) as file:
        schema = pl.scan_ndjson(file, infer_schema_length=_LINES).collect_schema()
        records = partial(_records, source, name)
        return Table(name, schema.names(), read, whole, records=records)
    return open_json(source, name)


def open_json(source: Source, name: str) -> Table:
    """Objects one by one: knows NaN and columns of mixed types, and finds the line that is broken."""
    rows = _records(source, name)
    columns = list(dict.fromkeys(key for row in rows for key in row))

    def read(wanted: list[str]) -> pl.DataFrame:
        import polars as pl

        return pl.DataFrame([_mixed(c, [row.get(c) for row in rows]) for c in wanted])

    @contextmanager
    def whole() -> Iterator[Whole]:
        yield placed(read(columns).lazy(), name, "json")

    return Table(name, columns, read, whole, records=lambda: rows)


def _records(source: Source, name: str) -> list[dict[str, Any]]:
    return records_of(start_of(source, -1), name)


def _mixed(name: str, values: list[Any]) -> pl.Series:
    """Numbers of several types as floats, booleans being 0 and 1; anything beside them as text."""
    import polars as pl

    kinds = {type(v) for v in values if v is not None}
    if len(kinds) == 1 and kinds < {bool, int, str}:
        return pl.Series(name, values)
    if kinds <= {bool, int, float}:
        return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
    if kinds == {list}:
        with suppress(
            TypeError, ValueError, pl.exceptions.PolarsError
        ):  # of lists of several kinds
            return pl.Series(name, values)
    text = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return pl.Series(name, text, dtype=pl.String)


# parquet and arrow


def open_parquet(source: Source, name: str) -> Table:
    """A table of parquet."""
    import polars as pl

    return _scanned(source, name, "parquet", partial(pl.scan_parquet, hive_partitioning=False))


def open_arrow(source: Source, name: str) -> Table:
    """A table of arrow: a file, or a stream, which has no footer."""
    import polars as pl

    if start_of(source).startswith(b"ARROW1"):
        return _scanned(source, name, "arrow", pl.scan_ipc)
    return _scanned(source, name, "arrow", lambda file: pl.read_ipc_stream(file).lazy())


def _scanned(source: Source, name: str, form: str, scan: Callable[[Any], pl.LazyFrame]) -> Table:
    def read(wanted: list[str]) -> pl.DataFrame:
        with guard(name, form), stream(source) as file:
            return scan(file).select(wanted).collect()

    @contextmanager
    def whole() -> Iterator[Whole]:
        with stream(source) as file:
            with guard(name, form):
                made = placed(scan(file), name, form)
            yield made

    with guard(name, form), stream(source) as file:
        columns = scan(file).collect_schema().names()
    return Table(name, columns, read, whole)


# JSON as records: one object for each row, with whatever is nested in it.


_NO_RECORDS = (
    'a list of objects, one for each answer, is wanted, or {"data": [...]} with such a list'
)


def records_of(data: bytes, name: str) -> list[dict[str, Any]]:
    """The records in JSON: a list of objects, {"data": such a list}, or an object in each line.

    >>> records_of(b'{"data": [{"answer": ["a", "b"]}]}', "x.json")
    [{'answer': ['a', 'b']}]
    """
    if not data.strip():
        empty = f"is empty ({len(data)} bytes)" if _named_json(name) else "has no rows"
        raise BadInput(f"{name} {empty}")
    try:
        whole = json.loads(data.decode(), parse_int=_integer)
    except RecursionError:
        raise BadInput(f"{name} is nested too deeply; leave out the field that is") from None
    except ValueError as problem:
        if isinstance(problem, UnicodeError):
            raise (broken(data, name, "json") or BadInput(f"{name} is not JSON")) from None
        if _named_json(name):
            where = (
                f" in line {problem.lineno}" if isinstance(problem, json.JSONDecodeError) else ""
            )
            raise BadInput(f"{name} is not JSON{where}; {_NO_RECORDS}") from None
        return lines_of(data, name)
    return _rows(whole, name)


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


def lines_of(data: bytes, name: str) -> list[dict[str, Any]]:
    """The objects in lines of JSON; finds the line that is broken.

    >>> lines_of(b'{"gold": ["a", "b"]}', "x.jsonl")
    [{'gold': ['a', 'b']}]
    """
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode(), parse_int=_integer)
        except RecursionError:
            raise BadInput(
                f"{name} is nested too deeply in line {number}; leave out the field that is"
            ) from None
        except ValueError as problem:
            said = broken(data, name, "jsonl") if isinstance(problem, UnicodeError) else None
            wanted = f"{name} is not JSON in line {number}; one object per line is wanted"
            raise (said or BadInput(wanted)) from None
        if not isinstance(row, dict):
            raise BadInput(
                f"{name} has a {type(row).__name__} in line {number}; one object per line is wanted"
            )
        rows.append(row)
    if not rows:
        raise BadInput(f"{name} has no rows")
    return rows


def _integer(digits: str) -> int | str:
    """An integer; as text when 64 bits may not hold it."""
    return int(digits) if len(digits) <= 18 else digits
