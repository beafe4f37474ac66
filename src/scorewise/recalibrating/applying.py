"""A map applied to files of any size: all columns kept, one added, rows in their order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from scorewise.door import Missing
from scorewise.errors import BadInput
from scorewise.recalibrating.mapping import Map
from scorewise.recalibrating.rewriting import number, place_of, where, write
from scorewise.recalibrating.scanning import Scanned, scan
from scorewise.sources.columns import pick_score


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
    place, ending = place_of(out)
    scanned = scan(files, typed=ending == ".parquet")
    score, notes = pick_score(scanned[0].columns, score)
    name = name or f"{score}_calibrated"
    if taken := [s.name for s in scanned if name in s.columns]:
        raise BadInput(f"{taken[0]} has a column '{name}' already; give the new one another name")
    applied = _checked(m, scanned, score, missing)
    import polars as pl

    frame = pl.concat([s.frame for s in scanned], how="vertical_relaxed")
    if missing == "drop":
        frame = frame.filter(number(score).is_not_null())
    mapped = number(score).map_batches(
        lambda s: pl.Series(m(s.to_numpy())), return_dtype=pl.Float64, is_elementwise=True
    )
    write(frame.with_columns(mapped.alias(name)), place, ending)
    return applied, notes


def _checked(m: Map, scanned: Sequence[Scanned], score: str, missing: Missing) -> Applied:
    """Refuse what the map cannot take, with its number of rows and the first of them."""
    rows = dropped = outside = 0
    for s in scanned:
        found = _faults(m, s, score)
        rows, dropped = rows + found["rows"], dropped + found["missing"]
        outside += found["outside"]
        if found["missing"] and missing == "refuse":
            place = where(found, "missing", s.name)
            raise BadInput(
                f'{score} is missing or no number {place}; drop such rows or pass missing="drop"'
            )
        if found["wrong"]:
            said = f"is outside [0, 1] {where(found, 'wrong', s.name)}"
            if m.scale.kind != "probability":
                said = f"is infinite {where(found, 'wrong', s.name)}"
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
    frame = s.frame.select(number(score).alias("score")).with_row_index("row", offset=1)
    found: dict[str, int] = frame.select(sums).collect(engine="streaming").row(0, named=True)
    return found
