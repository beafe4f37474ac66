"""A map applied to files of any size: all columns kept, one added, rows in their order."""

from __future__ import annotations

import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from scorewise.door import Missing
from scorewise.errors import BadInput
from scorewise.recalibrating.mapping import Map
from scorewise.recalibrating.scanning import Scanned, scan
from scorewise.views.words import counted
from scorewise.views.write import check

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".csv", ".parquet")


class Applied(NamedTuple):
    """How many rows were written, how many left out, and how many lay beyond the scores seen."""

    rows: int
    dropped: int
    outside: int


def apply_files(
    m: Map,
    files: Sequence[str | os.PathLike[str]],
    out: str | Path,
    *,
    score: str | None = None,
    name: str | None = None,
    missing: Missing = "refuse",
) -> tuple[Applied, list[str]]:
    """Write the rows of the files with the probabilities in a new column; notes tell what was guessed.

    The rows pass through in batches, first to be checked, then to be mapped and written; memory does not
    grow with them. The output is put in place when it is whole.
    """
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"the output {out} has to end in {' or '.join(ENDINGS)}")
    place = check(out)
    scanned, score, notes = scan(files, score, typed=ending == ".parquet")
    name = name or f"{score}_calibrated"
    if taken := [s.name for s in scanned if name in s.columns]:
        raise BadInput(f"{taken[0]} has a column '{name}' already; give the new one another name")
    applied = _checked(m, scanned, score, missing)
    import polars as pl

    frame = pl.concat([s.frame for s in scanned], how="vertical_relaxed")
    if missing == "drop":
        frame = frame.filter(_number(score).is_not_null())
    mapped = _number(score).map_batches(
        lambda s: pl.Series(m(s.to_numpy())), return_dtype=pl.Float64, is_elementwise=True
    )
    _write(frame.with_columns(mapped.alias(name)), place, ending)
    return applied, notes


def _number(score: str) -> Any:
    """The scores as numbers; null where they are none."""
    import polars as pl

    return (
        pl.col(score)
        .cast(pl.String)
        .str.strip_chars()
        .cast(pl.Float64, strict=False)
        .fill_nan(None)
    )


def _checked(m: Map, scanned: Sequence[Scanned], score: str, missing: Missing) -> Applied:
    """Refuse what the map cannot take, with its number of rows and the first of them."""
    rows = dropped = outside = 0
    for s in scanned:
        found = _faults(m, s, score)
        rows, dropped = rows + found["rows"], dropped + found["missing"]
        outside += found["outside"]
        if found["missing"] and missing == "refuse":
            where = _where(found, "missing", s.name)
            raise BadInput(
                f'{score} is missing or no number {where}; drop such rows or pass missing="drop"'
            )
        if found["wrong"]:
            said = f"is outside [0, 1] {_where(found, 'wrong', s.name)}"
            if m.scale.kind != "probability":
                said = f"is infinite {_where(found, 'wrong', s.name)}"
            raise BadInput(f"{score} {said}; the map is for {m.scale.kind} scores")
    if rows == dropped:
        raise BadInput("there are no rows to map")
    return Applied(rows - dropped, dropped, outside)


def _faults(m: Map, s: Scanned, score: str) -> dict[str, int]:
    import polars as pl

    x = pl.col("score")
    low, high = (0.0, 1.0) if m.scale.kind == "probability" else (float("-inf"), float("inf"))
    wrong = (x < low) | (x > high) if m.scale.kind == "probability" else x.is_infinite()
    faults = {"missing": x.is_null(), "wrong": wrong.fill_null(False)}
    sums = [
        pl.len().alias("rows"),
        ((x < m.low) | (x > m.high)).fill_null(False).sum().alias("outside"),
        *(e.sum().alias(k) for k, e in faults.items()),
        *(pl.col("row").filter(e).min().alias(f"first_{k}") for k, e in faults.items()),
    ]
    frame = s.frame.select(_number(score).alias("score")).with_row_index("row", offset=1)
    found: dict[str, int] = frame.select(sums).collect(engine="streaming").row(0, named=True)
    return found


def _where(found: dict[str, int], fault: str, file: str) -> str:
    rows = counted(found[fault], "row")
    return f"in {rows} of {file}, first at row {found[f'first_{fault}']}"


def _write(frame: pl.LazyFrame, place: Path, ending: str) -> None:
    """Write beside the place, then move into it."""
    import polars as pl

    part = place.with_name(f".{secrets.token_hex(8)}.part")
    try:
        if ending == ".csv":
            frame.sink_csv(part, maintain_order=True)
        else:
            frame.sink_parquet(part, maintain_order=True)
        part.replace(place)
    except (OSError, pl.exceptions.PolarsError) as error:
        said = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise BadInput(f"cannot write {place.name}: {said}") from error
    finally:
        part.unlink(missing_ok=True)
