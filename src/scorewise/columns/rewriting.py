"""Files of any size rewritten in batches: all columns and rows as they are, new columns of scores added."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from scorewise import writing
from scorewise.arrays import Floats
from scorewise.columns.classes import SLACK
from scorewise.columns.files import open_files, read_shards
from scorewise.columns.numbers import Place, in_range, is_text, numbers
from scorewise.columns.reader import Columns, Missing, read
from scorewise.columns.roles import choose
from scorewise.columns.rows import Kind
from scorewise.columns.tables import Table, panics_apart
from scorewise.columns.vectors import vector
from scorewise.errors import BadInput

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".csv", ".parquet")
_BATCH = 1 << 17  # rows
_PEEK = 1000  # rows that tell which column holds numbers


class Applied(NamedTuple):
    """How many rows are written, how many left out, and how many lie beyond the scores seen in fitting.

    `notes` say how scores are written, where that is not as plain numbers.
    """

    rows: int
    dropped: int
    outside: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Transformation:
    """What a map or a rule makes of scores of a kind: `calculate` takes n x k of them and gives n x m.

    `low` and `high` are the ends of the scores that it was fitted to, if those beyond are to be counted.
    """

    name: Literal["map", "rule"]
    kind: Kind
    calculate: Callable[[Floats], Any]
    low: float = -math.inf
    high: float = math.inf
    whole_numbers: bool = False

    def outside(self, columns: Columns) -> int:
        """How many scores lie beyond those seen in fitting; refuses those that are not probabilities."""
        names = [*columns["score"]]
        s: Any = np.stack([column.values for column in columns["score"].values()], axis=1)
        if self.kind == "probability":
            several = len(names) > 1
            beyond = "lie outside [0, 1]" if several else "is outside [0, 1]"
            faults = {beyond: ((s < 0) | (s > 1)).any(1)}
            if several:
                faults["do not add up to 1"] = np.abs(s.sum(1, dtype=np.float64) - 1) > SLACK
            for fault, wrong in faults.items():
                if wrong.any():
                    first = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
                    where = columns.place.rows(wrong)
                    raise BadInput(f"{first} {fault} {where}; the {self.name} is for probabilities")
        return int(np.count_nonzero((s < self.low) | (s > self.high)))


def add_columns(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | Path,
    columns_of: Callable[[Table], tuple[Sequence[str], Sequence[str], Sequence[str]]],
    transformation: Transformation,
    *,
    missing: Missing,
    encoding: str | None,
) -> Applied:
    """Write the rows of files with new columns, what a map or a rule makes of their scores.

    `columns_of` gives the columns of scores, the names of the new ones, and notes. The rows pass through in
    batches, first to be checked, then to be written; memory does not grow with them. The output is put in
    place when it is whole.
    """
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"the output {out} has to end in {' or '.join(ENDINGS)}")
    place = writing.check(out)
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)
    tables = open_files(paths, encoding, folders=False)
    for other in tables:
        if other.columns != tables[0].columns:
            raise BadInput(
                f"{other.name} has other columns than {tables[0].name}; apply the map to each alone"
            )
    scores, made, notes = columns_of(tables[0])
    rewriting = _Rewriting(tables, scores, made, transformation, ending, missing)
    rewriting.check_kept()
    applied = rewriting.checked()
    rewriting.write(place)
    return applied._replace(notes=(*notes, *applied.notes))


def score_column(table: Table, score: str | None) -> tuple[str, list[str]]:
    """The column of scores, and a note where it was not named."""
    choice = choose(table.columns, {"score": score})
    if choice.unsure:
        first = table.read(list(choice), _PEEK)
        choice.settle(lambda name: is_text(vector(first[name], name)), table.columns)
    return next(iter(choice)), choice.notes


@dataclass(frozen=True)
class _Rewriting:
    """Files with the same columns, those of their scores, and the names of the columns to add."""

    tables: Sequence[Table]
    scores: Sequence[str]
    made: Sequence[str]
    transformation: Transformation
    ending: str
    missing: Missing

    def check_kept(self) -> None:
        """Refuse new columns whose names are taken, and columns that the output cannot hold."""
        first, columns = self.tables[0].name, self.tables[0].columns
        if taken := [name for name in self.made if name in columns]:
            raise BadInput(
                f"{first} has a column '{taken[0]}' already; give the new one another name"
            )
        twice = next((c for c in columns if columns.count(c) > 1), None)
        if twice is not None and self.ending == ".parquet":
            raise BadInput(
                f"{columns.count(twice)} columns of {first} are named '{twice}', which parquet cannot "
                f"hold; write .csv, or give them names apart"
            )
        for table in self.tables if self.ending == ".csv" else ():
            with table.guard(), table.scan() as frame:
                types = frame.collect_schema().dtypes()
            for name, dtype in zip(table.columns, types, strict=True):
                if dtype.is_nested() or str(dtype) in ("Binary", "Object"):
                    raise BadInput(
                        f"'{name}' of {table.name} is of type {dtype.base_type()}, which csv cannot hold; "
                        f"write .parquet instead"
                    )

    def checked(self) -> Applied:
        """Refuse scores that cannot be taken; else count the rows, and those beyond the scores seen.

        Batch by batch, as memory does not grow with the rows. Where one is refused the columns are read as
        a whole, to say how many rows there are of that kind.
        """

        def take(found: Mapping[str, Any], place: Place) -> tuple[int, int]:
            kept = read(None, {"score": found}, missing=self.missing, place=place)
            for name, column in kept["score"].items():
                in_range(column.values, name, kept.place)
            for note in kept.notes:
                if ": written " in note:
                    written.setdefault(note.partition(": '")[0], note)
            return kept.dropped, self.transformation.outside(kept)

        written: dict[str, str] = {}
        rows = dropped = outside = 0
        try:
            for table in self.tables:
                for batch in table.batches(self.scores, _BATCH):
                    gone, beyond = take(batch, Place())
                    rows, dropped = rows + len(next(iter(batch.values()))), dropped + gone
                    outside += beyond
            if written:  # in each batch; has to be so in all
                take(*read_shards(self.tables, self.scores))
        except BadInput:
            take(*read_shards(self.tables, self.scores))
            raise
        if rows == dropped:
            raise BadInput("there are no rows to map")
        return Applied(rows - dropped, dropped, outside, tuple(written.values()))

    def write(self, place: Path) -> None:
        """Write the columns under their names."""
        names = [*self.tables[0].columns, *self.made]

        def fill(file: IO[bytes]) -> None:
            if self.ending == ".parquet":
                frame.rename({str(k): name for k, name in enumerate(names)}).sink_parquet(file)
                return
            head = io.StringIO()
            csv.writer(head, lineterminator="\n").writerow(names)
            file.write(head.getvalue().encode())
            file.flush()
            frame.sink_csv(file, include_header=False)

        with ExitStack() as stack:
            frames = [stack.enter_context(table.scan()) for table in self.tables]
            frame = self._calculated(frames)
            self._store(place, fill)

    def _store(self, place: Path, fill: Callable[[IO[bytes]], None]) -> None:
        """Write a file; of what goes wrong the file that is read may be the reason."""
        import polars as pl

        try:
            with panics_apart():
                writing.write(place, fill)
        except (BadInput, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            if isinstance(error, pl.exceptions.PanicException):
                for table in self.tables:  # a damaged file says so when it is read alone
                    with table.guard(), table.scan() as frame:
                        frame.collect()
            if unread := next((why for table in self.tables if (why := table.why())), None):
                raise unread from error
            # what the system said
            said = str(error).partition("\n")[0].rpartition("IO error: ")[2]
            told = said if isinstance(error, BadInput) else f"cannot write {place.name}: {said}"
            raise BadInput(told) from error

    def _calculated(self, frames: Sequence[pl.LazyFrame]) -> pl.LazyFrame:
        """The rows of the files with new columns, all by their places.

        Fields of csv are text and stay so. Only scores become numbers, where the output has types.
        """
        import polars as pl

        first = len(self.tables[0].columns)
        new = [str(first + k) for k in range(len(self.made))]
        numbers = [f"score {k}" for k in range(len(self.scores))]
        rows = []
        for table, frame in zip(self.tables, frames, strict=True):
            places = list(table.places(self.scores).values())
            frame = frame.with_columns(
                _floats(table, place).alias(name)
                for place, name in zip(places, numbers, strict=True)
            )
            if self.ending == ".parquet" and table.texts is not None:
                frame = frame.with_columns(
                    pl.col(name).alias(place) for place, name in zip(places, numbers, strict=True)
                )
            rows.append(frame)
        frame = pl.concat(rows, how="vertical_relaxed")
        if self.missing == "drop":
            frame = frame.drop_nulls(numbers)

        def calculated(rows: Any) -> Any:
            s = np.ascontiguousarray(rows.struct.unnest().to_numpy(), np.float64)
            q = self.transformation.calculate(s)
            added = pl.DataFrame({n: q[:, k] for k, n in enumerate(new)})
            return added.cast(dtype).to_struct()

        dtype = pl.Int8 if self.transformation.whole_numbers else pl.Float64
        kind = pl.Struct(dict.fromkeys(new, dtype))
        added = pl.struct(numbers).map_batches(calculated, return_dtype=kind, is_elementwise=True)
        return frame.select(*map(str, range(first)), added.alias("new")).unnest("new")


def _floats(table: Table, place: str) -> pl.Expr:
    """A column of scores as floats, null where they are missing."""
    import polars as pl

    def floats(column: pl.Series) -> pl.Series:
        found = numbers(vector(table.typed(column), "score"), "score", Place())
        gone, values = found.missing(), found.values.astype(np.float64)
        return pl.Series(values if gone is None else np.where(gone, np.nan, values)).fill_nan(None)

    return pl.col(place).map_batches(floats, return_dtype=pl.Float64, is_elementwise=True)
