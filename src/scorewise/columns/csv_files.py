"""Files of text whose fields are separated, with polars."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import polars as pl

from scorewise.columns.decoding import Source, broken, end_of, start_of, stream
from scorewise.columns.tables import Table, guard, in_batches
from scorewise.errors import BadInput, Option

MISSING = ("", "NA", "NaN", "nan", "null", "NULL", "None", "<NA>")
_LONGEST = 1 << 24  # letters that are read for a header
_BATCH = 1 << 18  # rows
_INTEGER = r"^\s*[+-]?[0-9]+\s*$"


def open_csv(source: Source, name: str) -> Table:
    """Text with a header. Missing are: nothing, NA, NaN, nan, null, NULL, None and <NA>."""
    start, end = start_of(source), end_of(source)
    if b"\0" in start:  # of UTF-16, every other byte of plain letters is
        wide = next((e for k, e in ((1, "le"), (0, "be")) if not any(start[k:80:2])), None)
        known = () if wide is None else ("pass ", Option("encoding", f"utf-16-{wide}"), ", ")
        way = "save it as csv in UTF-8, or as parquet"
        raise BadInput(f"{name} is not text in UTF-8; ", *known, way)
    separator, header = _header(source, name)
    blank_lines = max(0, end[len(end.rstrip(b"\r\n")) :].count(b"\n") - 1)
    file = _Csv(source, name, separator, header, blank_lines)
    return Table(
        name,
        "csv",
        header,
        file.scan,
        file.read,
        file.texts,
        why=file.why,
        typed=lambda column: numbers(column.replace(list(MISSING), None)),
    )


@dataclass(frozen=True)
class _Csv:
    """A file with what its beginning and its end tell; in polars its columns go by their places."""

    source: Source
    name: str
    separator: str
    header: list[str]
    blank_lines: int

    def read(self, columns: list[str]) -> pl.DataFrame:
        """Columns with their types. Batches take them on at once, as text needs more memory."""
        parts = self._batches(columns, MISSING, numbers)
        kinds = {c: {part.schema[c] for part in parts} for c in columns}
        mixed = [c for c in columns if len(kinds[c]) != 1 and kinds[c] != {pl.Int64, pl.Float64}]
        again = self.texts(mixed, MISSING) if mixed else None  # words in some batches only
        found = []
        for c in columns:
            if again is not None and c in mixed:
                found.append(numbers(again[c]))
                continue
            frames = [part.select(c) for part in parts]
            parts = [part.drop(c) for part in parts]
            found.append(pl.concat(frames, how="vertical_relaxed").to_series())
        return self._once_headed(pl.DataFrame(found))

    def _once_headed(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The same frame; refused where a row is the header once more, as in files joined by hand."""
        if not frame.width or any(dtype != pl.String for dtype in frame.dtypes):
            return frame
        same = frame.select(pl.all_horizontal(pl.col(c) == c for c in frame.columns)).to_series()
        if same.any():
            with guard(self.name, "csv", self.why), self.scan() as rows:
                cells = (pl.col(str(k)) == c for k, c in enumerate(self.header))
                again = rows.select(pl.all_horizontal(cells)).collect().to_series()
            if again.any():
                many = f"{again.sum():,} times, first in" if again.sum() > 1 else "in"
                raise BadInput(
                    f"{self.name} has its header again {many} row {(again.arg_max() or 0) + 1}; leave that "
                    f"line out"
                )
        return frame

    def texts(self, columns: list[str], missing: tuple[str, ...] = ()) -> pl.DataFrame:
        """Columns of text as it stands."""
        none = pl.DataFrame(schema=dict.fromkeys(columns, pl.String))
        return pl.concat([none, *self._batches(columns, missing, lambda column: column)])

    @contextmanager
    def scan(self) -> Iterator[pl.LazyFrame]:
        """All columns, as text."""
        with stream(self.source) as file:
            with guard(self.name, "csv", self.why):
                frame = self._frame(file)
            yield frame

    def why(self) -> BadInput | None:
        """What is wrong with the file, if that can be known."""
        return broken(self.source, self.name, "csv") or self._ragged()

    def _batches(
        self, columns: list[str], missing: tuple[str, ...], change: Callable[[pl.Series], pl.Series]
    ) -> list[pl.DataFrame]:
        def decoded(encoding: str) -> list[pl.DataFrame]:
            with stream(self.source) as file:
                frame = self._chosen(self._frame(file, missing, encoding), columns)
                found = in_batches(frame, _BATCH)
                return [batch.with_columns(change(s) for s in batch) for batch in found]

        with suppress(BadInput), guard(self.name, "csv"):
            return decoded("utf8")
        with guard(self.name, "csv", self._ragged):
            found = decoded("utf8-lossy")  # columns that are not read may be in any encoding
        texts = (s for frame in found for s in frame if s.dtype == pl.String)
        with guard(self.name, "csv", self.why):
            if any(s.str.contains("\ufffd", literal=True).any() for s in texts):
                raise ValueError
        return found

    def _frame(self, file: Any, missing: tuple[str, ...] = (), encoding: Any = "utf8") -> Any:
        frame = pl.scan_csv(
            file,
            separator=self.separator,
            new_columns=[str(k) for k in range(len(self.header))],
            infer_schema=False,  # so that a stray text late in the file is not an error
            null_values=list(missing),
            encoding=encoding,
        )
        if not self.blank_lines:
            return frame
        return frame.head(frame.select(pl.len()).collect().item() - self.blank_lines)

    def _chosen(self, frame: pl.LazyFrame, columns: list[str]) -> pl.LazyFrame:
        if self.header[-1] not in columns:
            # always true; but now each row is read to its end, and fields beyond it are found
            last = pl.col(str(len(self.header) - 1))
            frame = frame.filter(last.is_null() | last.is_not_null())
        place = {c: k for k, c in reversed(list(enumerate(self.header)))}
        return frame.select(pl.col(str(place[c])).alias(c) for c in columns)

    def _ragged(self) -> BadInput | None:
        """The first row that has more fields than the header, in a sentence."""
        width = len(self.header)
        with _text(self.source, "") as text, suppress(csv.Error):
            lines = csv.reader(text, delimiter=self.separator)
            next((fields for fields in lines if fields), None)
            for number, fields in enumerate(lines, start=1):
                if len(fields) > width:
                    return BadInput(
                        f"{self.name} has {len(fields)} fields in row {number} but {width} in its "
                        f"header; quote the fields that contain '{self.separator}'"
                    )
        return None


@contextmanager
def _text(source: Source, newline: str) -> Iterator[io.TextIOWrapper]:
    """An open file as text, whatever its bytes."""
    with stream(source) as file:
        text = io.TextIOWrapper(file, "utf-8-sig", "surrogateescape", newline=newline)
        try:
            yield text
        finally:
            text.detach()


def _header(source: Source, name: str) -> tuple[str, list[str]]:
    """The separator and the names of the columns.

    Line breaks in quotes belong to the header, blank lines before it do not.
    """
    line, quotes = "", 0
    with _text(source, "\n") as text:
        while (
            (quotes % 2 or not line) and len(line) < _LONGEST and (more := text.readline(_LONGEST))
        ):
            line += more if line else more.lstrip("\r\n")
            quotes += more.count('"')
    try:
        line.encode()
    except UnicodeEncodeError:
        raise broken(source, name, "csv") from None  # type: ignore[misc]
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

    Integers too large for 64 bits stay text, so that they are refused as integers, not rounded; and so
    do those with zeros before them, such as 00123, which are names.
    """
    for dtype in (pl.Int64, pl.Float64):
        for strip in (False, True):
            for part in (column.head(1000), column):  # most columns of words end at the first part
                read = (part.str.strip_chars() if strip else part).cast(dtype, strict=False)
                if read.null_count() > part.null_count():
                    break
            else:
                if dtype == pl.Int64:
                    padded = column.str.contains(r"^\s*[+-]?0[0-9]").any()
                    return column if padded else read
                large = (read.abs() >= 2.0**63).any()
                return column if large and column.str.contains(_INTEGER).all() else read
    return column
