"""Files that are read in batches, with all their columns, and the scores in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorewise.columns import Missing, Place
from scorewise.columns.csv_files import Table, Whole
from scorewise.columns.files import open_files, read_shards
from scorewise.columns.numbers import in_range, numbers
from scorewise.columns.rows import Columns, read
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


class Applied(NamedTuple):
    """How many rows are to be written, how many left out, and how many lie beyond the scores seen."""

    rows: int
    dropped: int
    outside: int


def checked(
    scanned: Sequence[Scanned],
    columns: Sequence[str],
    check: Callable[[Columns], int],
    missing: Missing,
) -> Applied:
    """Refuse scores that the map cannot take; else count the rows, `check` those beyond the scores seen.

    Batch by batch, as memory does not grow with the rows. Where one is refused the columns are read as a
    whole, to say how many rows there are of that kind.
    """

    def take(found: Mapping[str, Any], place: Place) -> tuple[int, int]:
        kept = read({}, found, missing=missing, place=place)
        for name, column in kept.amounts[0].items():
            in_range(column.values, name, kept.place)
        return kept.dropped, check(kept)

    rows = dropped = outside = 0
    try:
        for file in scanned:
            for batch in file.batches(columns):
                gone, beyond = take(batch, Place())
                rows, dropped = rows + len(next(iter(batch.values()))), dropped + gone
                outside += beyond
    except BadInput:
        take(*read_shards([file.table for file in scanned], list(columns)))
        raise
    if rows == dropped:
        raise BadInput("there are no rows to map")
    return Applied(rows - dropped, dropped, outside)
