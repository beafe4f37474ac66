"""Files of any size rewritten in batches: all columns and rows as they are, new columns of scores added."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorewise import writing
from scorewise.arrays import Floats
from scorewise.columns.csv_files import Table, Whole, in_batches, panics_apart
from scorewise.columns.files import open_files, read_shards
from scorewise.columns.numbers import Place, in_range, numbers
from scorewise.columns.roles import choose
from scorewise.columns.rows import Columns, Missing, read, settle
from scorewise.columns.vectors import vector
from scorewise.errors import BadInput

if TYPE_CHECKING:
    import polars as pl


_BATCH = 1 << 17  # rows


class Scanned(NamedTuple):
    """A file whose rows are not yet read."""

    table: Table
    whole: Whole

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, pl.Series]]:
        """The rows of some columns, as every command reads them."""
        places = self.places(columns)
        with self.whole.guard():
            chosen = self.whole.frame.select(places.values())
            found = in_batches(chosen, _BATCH)
        while True:
            with self.whole.guard():
                batch = next(found, None)
                if batch is None:
                    return
                made = {c: self.whole.typed(batch[place]) for c, place in places.items()}
            yield made

    def scored(self, columns: Sequence[str]) -> list[pl.Expr]:
        """Scores as floats, null where they are missing, named by the columns' numbers: "score 0", ..."""
        import polars as pl

        def floats(column: pl.Series) -> pl.Series:
            found = numbers(vector(self.whole.typed(column), "score"), "score", Place())
            gone, values = found.missing(), found.values.astype(np.float64)
            return pl.Series(values if gone is None else np.where(gone, np.nan, values)).fill_nan(
                None
            )

        return [
            pl.col(place)
            .map_batches(floats, return_dtype=pl.Float64, is_elementwise=True)
            .alias(f"score {k}")
            for k, place in enumerate(self.places(columns).values())
        ]

    def places(self, columns: Sequence[str]) -> dict[str, str]:
        """What the frame calls the columns."""
        return {c: str(self.whole.columns.index(c)) for c in columns}


@contextmanager
def scan(
    files: Sequence[str | os.PathLike[str]], encoding: str | None = None
) -> Iterator[list[Scanned]]:
    """The files, which have the same columns."""
    with ExitStack() as stack:
        tables = open_files(files, encoding, folders=False)
        made = [Scanned(t, stack.enter_context(t.whole())) for t in tables]
        for other in made:
            if other.whole.columns != made[0].whole.columns:
                raise BadInput(
                    f"{other.table.name} has other columns than {made[0].table.name}; apply the map to "
                    f"each alone"
                )
        yield made


ENDINGS = (".csv", ".parquet")


class Applied(NamedTuple):
    """How many rows are to be written, how many left out, and how many lie beyond the scores seen.

    `notes` say how scores are written, where that is not as plain numbers.
    """

    rows: int
    dropped: int
    outside: int
    notes: tuple[str, ...] = ()


def add_columns(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    out: str | Path,
    columns_of: Callable[[Scanned], tuple[Sequence[str], Sequence[str], Sequence[str]]],
    calculate: Callable[[Floats], Any],
    outside_of: Callable[[Columns], int],
    *,
    missing: Missing,
    encoding: str | None,
    whole_numbers: bool = False,
) -> Applied:
    """Write the rows of files with new columns, what `calculate` makes of their scores (n x k).

    `columns_of` gives the columns of scores, the names of the new ones, and notes. The rows pass through in
    batches, first to be checked, then to be written; memory does not grow with them. The output is put in
    place when it is whole.
    """
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"the output {out} has to end in {' or '.join(ENDINGS)}")
    place = writing.check(out)
    paths = [files] if isinstance(files, str | os.PathLike) else list(files)
    with scan(paths, encoding) as scanned:
        scores, made, notes = columns_of(scanned[0])
        _check_kept(scanned, made, ending)
        applied = _checked(scanned, scores, missing, outside_of)
        frame = _calculated(scanned, scores, len(made), calculate, missing, ending, whole_numbers)
        _write(scanned, frame, made, place, ending)
    return applied._replace(notes=(*notes, *applied.notes))


def score_column(file: Scanned, score: str | None) -> tuple[str, list[str]]:
    """The column of scores, and a note where it was not named."""
    columns = file.whole.columns
    choice = choose(columns, {"score": score})
    if choice.unsure:
        settle(choice, next(file.batches(list(choice)), {}), columns)
    return next(iter(choice)), choice.notes


def _checked(
    scanned: Sequence[Scanned],
    columns: Sequence[str],
    missing: Missing,
    outside_of: Callable[[Columns], int],
) -> Applied:
    """Refuse scores that cannot be taken; else count the rows, and those beyond the scores seen.

    `outside_of` counts those, and refuses scores of the wrong kind.

    Batch by batch, as memory does not grow with the rows. Where one is refused the columns are read as a
    whole, to say how many rows there are of that kind.
    """

    def take(found: Mapping[str, Any], place: Place) -> tuple[int, int]:
        kept = read(None, {"score": found}, missing=missing, place=place)
        for name, column in kept["score"].items():
            in_range(column.values, name, kept.place)
        for note in kept.notes:
            if ": written " in note:
                written.setdefault(note.partition(": '")[0], note)
        return kept.dropped, outside_of(kept)

    written: dict[str, str] = {}
    rows = dropped = outside = 0
    try:
        for file in scanned:
            for batch in file.batches(columns):
                gone, beyond = take(batch, Place())
                rows, dropped = rows + len(next(iter(batch.values()))), dropped + gone
                outside += beyond
        if written:  # in each batch; has to be so in all
            take(*read_shards([file.table for file in scanned], list(columns)))
    except BadInput:
        take(*read_shards([file.table for file in scanned], list(columns)))
        raise
    if rows == dropped:
        raise BadInput("there are no rows to map")
    return Applied(rows - dropped, dropped, outside, tuple(written.values()))


def _check_kept(scanned: Sequence[Scanned], made: Sequence[str], ending: str) -> None:
    """Refuse new columns whose names are taken, and columns that the output cannot hold."""
    first, columns = scanned[0].table.name, scanned[0].whole.columns
    if taken := [name for name in made if name in columns]:
        raise BadInput(f"{first} has a column '{taken[0]}' already; give the new one another name")
    twice = next((c for c in columns if columns.count(c) > 1), None)
    if twice is not None and ending == ".parquet":
        raise BadInput(
            f"{columns.count(twice)} columns of {first} are named '{twice}', which parquet cannot hold; "
            f"write .csv, or give them names apart"
        )
    if ending == ".csv":
        for file in scanned:
            with file.whole.guard():
                types = file.whole.frame.collect_schema().dtypes()
            for name, dtype in zip(file.whole.columns, types, strict=True):
                if dtype.is_nested() or str(dtype) in ("Binary", "Object"):
                    raise BadInput(
                        f"'{name}' of {file.table.name} is of type {dtype.base_type()}, which csv cannot "
                        f"hold; write .parquet instead"
                    )


def _calculated(
    scanned: Sequence[Scanned],
    scores: Sequence[str],
    many: int,
    calculate: Callable[[Floats], Any],
    missing: Missing,
    ending: str,
    whole_numbers: bool,
) -> pl.LazyFrame:
    """The rows of the files with new columns, all by their places.

    Fields of csv are text and stay so. Only scores become numbers, where the output has types.
    """
    import polars as pl

    columns = scanned[0].whole.columns
    new = [str(len(columns) + k) for k in range(many)]
    frames = []
    for file in scanned:
        frame = file.whole.frame.with_columns(file.scored(scores))
        if ending == ".parquet" and file.table.texts is not None:
            read = file.places(scores).values()
            frame = frame.with_columns(pl.col(f"score {k}").alias(p) for k, p in enumerate(read))
        frames.append(frame)
    frame = pl.concat(frames, how="vertical_relaxed")
    if missing == "drop":
        frame = frame.drop_nulls([f"score {k}" for k in range(len(scores))])

    def calculated(rows: Any) -> Any:
        s = np.ascontiguousarray(rows.struct.unnest().to_numpy(), np.float64)
        q = calculate(s)
        added = pl.DataFrame({n: q[:, k] for k, n in enumerate(new)})
        return added.cast(dtype).to_struct()

    made_of = pl.struct(f"score {k}" for k in range(len(scores)))
    dtype = pl.Int8 if whole_numbers else pl.Float64
    kind = pl.Struct(dict.fromkeys(new, dtype))
    calculation = made_of.map_batches(calculated, return_dtype=kind, is_elementwise=True)
    kept = [str(k) for k in range(len(columns))]
    return frame.select(*kept, calculation.alias("new")).unnest("new")


def _write(
    scanned: Sequence[Scanned], frame: pl.LazyFrame, made: Sequence[str], place: Path, ending: str
) -> None:
    """Write the columns under their names."""
    import polars as pl

    names = [*scanned[0].whole.columns, *made]

    def fill(file: IO[bytes]) -> None:
        if ending == ".parquet":
            frame.rename({str(k): name for k, name in enumerate(names)}).sink_parquet(file)
            return
        head = io.StringIO()
        csv.writer(head, lineterminator="\n").writerow(names)
        file.write(head.getvalue().encode())
        file.flush()
        frame.sink_csv(file, include_header=False)

    try:
        with panics_apart():
            writing.write(place, fill)
    except (BadInput, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        if isinstance(error, pl.exceptions.PanicException):
            for file in scanned:  # a damaged file says so when it is read alone
                with file.whole.guard():
                    file.whole.frame.collect()
        if unread := next((why for file in scanned if (why := file.whole.why())), None):
            raise unread from error
        # what the system said
        said = str(error).partition("\n")[0].rpartition("IO error: ")[2]
        told = said if isinstance(error, BadInput) else f"cannot write {place.name}: {said}"
        raise BadInput(told) from error
