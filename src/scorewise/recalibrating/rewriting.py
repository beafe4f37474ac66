"""Files written anew with further columns: all rows and columns as they are, in batches."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from scorewise import writing
from scorewise.arrays import Floats
from scorewise.columns import Missing
from scorewise.errors import BadInput
from scorewise.recalibrating.scanning import Scanned

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".csv", ".parquet")


def place_of(out: str | Path) -> tuple[Path, str]:
    """Where the output goes, and its ending."""
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"the output {out} has to end in {' or '.join(ENDINGS)}")
    return writing.check(out), ending


def check_kept(scanned: Sequence[Scanned], made: Sequence[str], ending: str) -> None:
    """Refuse new columns whose names are taken, and columns that the output cannot hold."""
    first, columns = scanned[0].table.name, scanned[0].whole.columns
    if taken := [name for name in made if name in columns]:
        raise BadInput(f"{first} has a column '{taken[0]}' already; give the new one another name")
    twice = (
        next((c for c in columns if columns.count(c) > 1), None) if ending == ".parquet" else None
    )
    if twice is not None:
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


def rewrite(
    scanned: Sequence[Scanned],
    scores: Sequence[str],
    made: Sequence[str],
    mapped: Callable[[Floats], Floats],
    missing: Missing,
    out: tuple[Path, str],
) -> None:
    """Write the rows of the files with new columns: what `mapped` makes of rows of scores, n x K.

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
        q = mapped(np.ascontiguousarray(rows.struct.unnest().to_numpy(), np.float64))
        return pl.DataFrame({n: q[:, k] for k, n in enumerate(new)}).to_struct()

    made_of = pl.struct(f"score {k}" for k in range(len(scores)))
    kind = pl.Struct(dict.fromkeys(new, pl.Float64))
    calculation = made_of.map_batches(calculated, return_dtype=kind, is_elementwise=True)
    kept = [str(k) for k in range(len(columns))]
    whole = frame.select(*kept, calculation.alias("new")).unnest("new")
    try:
        _write(whole, [*columns, *made], place, ending)
    except (BadInput, pl.exceptions.PolarsError) as error:
        unread = next((why for file in scanned if (why := file.whole.why())), None)
        # what the system said
        said = str(error).partition("\n")[0].rpartition("IO error: ")[2]
        told = said if isinstance(error, BadInput) else f"cannot write {place.name}: {said}"
        raise BadInput(unread or told) from error


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
