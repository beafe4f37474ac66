"""A kind of file as one would add it: each line is a row, such as "y=1;p=0.5"."""

from __future__ import annotations

import polars as pl

from scorewise.columns.decoding import Source, broken, stream
from scorewise.columns.tables import Table, table_of


def open_toy(source: Source, name: str) -> Table:
    """The rows as a frame."""
    if problem := broken(source, name, "toy"):
        raise problem
    with stream(source) as file:
        lines = file.read().decode().splitlines()
    rows = [dict(cell.split("=") for cell in line.split(";")) for line in lines]
    # by column: of rows, polars looks for names in the first hundred only
    names = dict.fromkeys(name for row in rows for name in row)
    frame = pl.DataFrame({name: [row.get(name) for row in rows] for name in names})
    return table_of(frame.select(map(_typed, frame)), name, "toy")


def _typed(column: pl.Series) -> pl.Series:
    """Whole numbers, other numbers or text, whichever all cells are."""
    for kind in (pl.Int64, pl.Float64):
        found = column.cast(kind, strict=False)
        if not found.null_count():
            return found
    return column
