"""A map applied to files of any size, in batches: all columns and rows as they are, new columns added."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorewise import writing
from scorewise.columns import Columns, Missing, Place, read
from scorewise.columns.classes import SLACK
from scorewise.columns.csv_files import Table, Whole, panics_apart
from scorewise.columns.files import open_files, read_shards
from scorewise.columns.numbers import in_range, numbers
from scorewise.columns.roles import check_columns, choose, class_columns
from scorewise.columns.rows import settle
from scorewise.columns.vectors import vector
from scorewise.errors import BadInput, Option
from scorewise.recalibrating.document import CalibrateClassesDocument, Calibrated
from scorewise.recalibrating.maps import ClassMap, Map

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
            found = iter(chosen.collect_batches(chunk_size=_BATCH))
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
        made = [Scanned(t, stack.enter_context(t.whole())) for t in open_files(files, encoding)]
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


def apply_files(
    doc: Calibrated,
    files: Sequence[str | os.PathLike[str]],
    out: str | Path,
    *,
    score: str | None = None,
    classes: str | None = None,
    name: str | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> tuple[Applied, list[str]]:
    """Write the rows of the files with the probabilities in new columns; notes tell what was guessed.

    `score` or `classes` says which columns hold the scores; those of several classes are else the columns
    that the map was fitted to. `name` is that of the new column, or for several classes a pattern whose
    star is the class. The rows pass through in batches, first to be checked, then to be mapped and
    written; memory does not grow with them. The output is put in place when it is whole.
    """
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"the output {out} has to end in {' or '.join(ENDINGS)}")
    place, m = writing.check(out), doc.map
    notes: list[str] = []
    with scan(files, encoding) as scanned:
        names = scanned[0].whole.columns
        if isinstance(doc, CalibrateClassesDocument):
            columns = _class_columns(doc, names, classes)
            made = _class_names(columns, name)
            scores = list(columns.values())
        else:
            score, notes = _score_column(scanned[0], score)
            scores, made = [score], [name or f"{score}_calibrated"]
        _check_kept(scanned, made, ending)
        applied = _checked(scanned, scores, m, missing)
        _rewrite(scanned, scores, made, m, missing, (place, ending))
    return applied, [*notes, *applied.notes]


def _score_column(file: Scanned, score: str | None) -> tuple[str, list[str]]:
    """The column of scores, and a note where it was not named."""
    columns = file.whole.columns
    choice = choose(columns, {"score": score})
    if choice.unsure:
        settle(choice, next(file.batches(list(choice)), {}), columns)
    return next(iter(choice)), choice.notes


def _class_columns(
    doc: CalibrateClassesDocument, names: Sequence[str], spec: str | None
) -> Mapping[str, str]:
    """The column of each class, in the order of the map."""
    if spec is None:
        known = {c.name: c.column or c.name for c in doc.data.classes}
        check_columns(names, list(known.values()))
        return known
    found, classes = class_columns(names, spec), doc.map.classes
    if set(found) != set(classes):
        raise BadInput(
            Option("classes", spec),
            f" names {', '.join(found)}, but the map is for {', '.join(classes)}",
        )  # fmt: skip
    return {c: found[c] for c in classes}


def _class_names(columns: Mapping[str, str], name: str | None) -> list[str]:
    if name is None:
        return [f"calibrated_{column}" for column in columns.values()]
    if name.count("*") != 1:
        raise BadInput(
            Option("name", name), ' needs one star, which stands for the class; write "q_*"'
        )
    return [name.replace("*", c) for c in columns]


def _checked(
    scanned: Sequence[Scanned], columns: Sequence[str], m: Map | ClassMap, missing: Missing
) -> Applied:
    """Refuse scores that the map cannot take; else count the rows, and those beyond the scores seen.

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
        return kept.dropped, _outside(m, kept)

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


def _outside(m: Map | ClassMap, found: Columns) -> int:
    """How many scores lie beyond those seen in fitting; refuses those that are no probabilities."""
    names, columns = zip(*found["score"].items(), strict=True)
    values = np.stack([column.values for column in columns], axis=1)
    if m.kind == "probability":
        beyond = ((values < 0) | (values > 1)).any(1)
        faults: dict[str, Any] = {"is outside [0, 1]": beyond}
        if isinstance(m, ClassMap):
            apart = np.abs(values.sum(1, dtype=np.float64) - 1) > SLACK
            faults = {"lie outside [0, 1]": beyond, "do not add up to 1": apart}
        for fault, wrong in faults.items():
            if wrong.any():
                listed = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
                raise BadInput(
                    f"{listed} {fault} {found.place.rows(wrong)}; the map is for probabilities"
                )
    return 0 if isinstance(m, ClassMap) else m.outside(values[:, 0])


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


def _rewrite(
    scanned: Sequence[Scanned],
    scores: Sequence[str],
    made: Sequence[str],
    m: Map | ClassMap,
    missing: Missing,
    out: tuple[Path, str],
) -> None:
    """Write the rows of the files with new columns: what the map makes of their scores.

    Fields of csv are text and stay so. Only scores become numbers, where the output has types.
    """
    import polars as pl

    place, ending = out
    columns = scanned[0].whole.columns
    new = [str(len(columns) + k) for k in range(len(made))]
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
        q = m(s) if isinstance(m, ClassMap) else m(s[:, 0])[:, None]
        return pl.DataFrame({n: q[:, k] for k, n in enumerate(new)}).to_struct()

    made_of = pl.struct(f"score {k}" for k in range(len(scores)))
    kind = pl.Struct(dict.fromkeys(new, pl.Float64))
    calculation = made_of.map_batches(calculated, return_dtype=kind, is_elementwise=True)
    kept = [str(k) for k in range(len(columns))]
    whole = frame.select(*kept, calculation.alias("new")).unnest("new")
    try:
        with panics_apart():
            _write(whole, [*columns, *made], place, ending)
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


def _write(frame: pl.LazyFrame, names: Sequence[str], place: Path, ending: str) -> None:
    """Write the columns under their names."""

    def fill(file: IO[bytes]) -> None:
        if ending == ".parquet":
            frame.rename({str(k): name for k, name in enumerate(names)}).sink_parquet(file)
            return
        head = io.StringIO()
        csv.writer(head, lineterminator="\n").writerow(names)
        file.write(head.getvalue().encode())
        file.flush()
        frame.sink_csv(file, include_header=False)

    writing.write(place, fill)
