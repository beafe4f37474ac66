"""Files of JSON, parquet and arrow, with polars."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any

import polars as pl

from scorewise.columns.decoding import Source, broken, start_of, stream
from scorewise.columns.tables import Table, by_place, guard
from scorewise.errors import BadInput

_LINES = 100_000


def open_jsonl(source: Source, name: str) -> Table:
    """One object per line; a column is known when it is in the first 100,000 lines."""

    def read(wanted: list[str]) -> pl.DataFrame:
        for lines in (_LINES, None):  # a later line may widen a type: integers, then a float
            with suppress(BadInput), guard(name, "jsonl"), stream(source) as file:
                return pl.scan_ndjson(file, infer_schema_length=lines).select(wanted).collect()
        return pl.DataFrame(open_json(source, name).read(wanted))

    schema: list[pl.Schema] = []  # of all lines, once each of them has been read

    @contextmanager
    def scan() -> Iterator[pl.LazyFrame]:
        with stream(source) as file:
            with suppress(BadInput), guard(name, "jsonl"):
                if not schema:
                    frame = pl.scan_ndjson(file, infer_schema_length=None)
                    frame.select(pl.all().null_count()).collect(engine="streaming")
                    schema.append(frame.collect_schema())
            if schema:
                yield by_place(pl.scan_ndjson(file, schema=schema[0]))
                return
        with open_json(source, name).scan() as frame:
            yield frame

    with suppress(BadInput), guard(name, "jsonl"), stream(source) as file:
        names = pl.scan_ndjson(file, infer_schema_length=_LINES).collect_schema().names()
        return Table(name, "jsonl", names, scan, read, records=partial(_records, source, name))
    return open_json(source, name)


def open_json(source: Source, name: str) -> Table:
    """Objects one by one: knows NaN and columns of mixed types, and finds the line that is broken."""
    rows = _records(source, name)
    columns = list(dict.fromkeys(key for row in rows for key in row))

    def read(wanted: list[str]) -> pl.DataFrame:
        return pl.DataFrame([_mixed(c, [row.get(c) for row in rows]) for c in wanted])

    def scan() -> AbstractContextManager[pl.LazyFrame]:
        return nullcontext(by_place(read(columns).lazy()))

    return Table(name, "json", columns, scan, read, records=lambda: rows)


def _records(source: Source, name: str) -> list[dict[str, Any]]:
    return records_of(start_of(source, -1), name)


def _mixed(name: str, values: list[Any]) -> pl.Series:
    """Numbers of several types as floats, booleans being 0 and 1; anything beside them as text."""
    kinds = {type(v) for v in values if v is not None}
    if len(kinds) == 1 and kinds < {bool, int, str}:
        return pl.Series(name, values)
    if kinds <= {bool, int, float}:
        return pl.Series(name, [None if v is None else float(v) for v in values], dtype=pl.Float64)
    if kinds == {list}:
        # lists of several kinds are refused
        with suppress(TypeError, ValueError, pl.exceptions.PolarsError):
            return pl.Series(name, values)
    text = [v if v is None or isinstance(v, str) else json.dumps(v) for v in values]
    return pl.Series(name, text, dtype=pl.String)


def open_parquet(source: Source, name: str) -> Table:
    """A table of parquet."""
    return _scanned(source, name, "parquet", partial(pl.scan_parquet, hive_partitioning=False))


def open_arrow(source: Source, name: str) -> Table:
    """A table of arrow: a file, or a stream, which has no footer."""
    if start_of(source).startswith(b"ARROW1"):
        return _scanned(source, name, "arrow", pl.scan_ipc)
    return _scanned(source, name, "arrow", lambda file: pl.read_ipc_stream(file).lazy())


def _scanned(source: Source, name: str, form: str, read: Callable[[Any], pl.LazyFrame]) -> Table:
    @contextmanager
    def scan() -> Iterator[pl.LazyFrame]:
        with stream(source) as file:
            with guard(name, form):
                frame = by_place(read(file))
            yield frame

    with guard(name, form), stream(source) as file:
        return Table(name, form, read(file).collect_schema().names(), scan)


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
    if problem := broken(data, name, "json"):
        raise problem
    try:
        return _rows(_value(data, name), name)
    except json.JSONDecodeError as error:
        if _named_json(name):
            raise BadInput(f"{name} is not JSON in line {error.lineno}; {_NO_RECORDS}") from None
    lines = enumerate(data.splitlines(), start=1)
    return [_row(line, name, number) for number, line in lines if line.strip()]


def _value(text: bytes, name: str, where: str = "") -> Any:
    try:
        return json.loads(text.decode(), parse_int=_integer)
    except RecursionError:
        raise BadInput(f"{name} is nested too deeply{where}; leave out the field that is") from None


def _row(line: bytes, name: str, number: int) -> dict[str, Any]:
    """The object in a line of JSON."""
    where = f" in line {number}"
    try:
        row = _value(line, name, where)
    except json.JSONDecodeError:
        raise BadInput(f"{name} is not JSON{where}; one object per line is wanted") from None
    if not isinstance(row, dict):
        raise BadInput(f"{name} has a {type(row).__name__}{where}; one object per line is wanted")
    return row


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


def _integer(digits: str) -> int | str:
    """An integer; as text when 64 bits may not hold it."""
    return int(digits) if len(digits) <= 18 else digits
