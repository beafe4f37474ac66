"""Curves from files and frames, and a file of what each row adds to them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.checks import check
from scorewise.columns import Rows, binary_rows
from scorewise.columns.rows import warn
from scorewise.errors import BadInput, Option
from scorewise.tallies import Tally

if TYPE_CHECKING:
    from scorewise.weighted_roc.curve import SmRoc


def read_source(
    source: Any, columns: Mapping[str, Any], midpoint: Any, learn: Any
) -> tuple[Rows, Any]:
    """Rows of a file or frame, and the rule of the midpoint: that of other rows, if there are such."""
    check(midpoint=midpoint)
    if learn is None:
        rows, rule = binary_rows(source, **columns), midpoint
    else:
        if midpoint != "mean":
            raise BadInput(
                Option("midpoint"), " and ", Option("learn"), " exclude each other; leave out one"
            )
        other = binary_rows(learn, **columns)
        rule = {name: Tally.of_rows(other, name) for name in other.scores}
        rows = binary_rows(source, **columns)
        rows = replace(rows, notes=tuple(dict.fromkeys((*other.notes, *rows.notes))))
    warn(rows.notes)
    return rows, rule


def segments_frame(curves: Mapping[str, SmRoc], rows: Rows) -> Any:
    """Where each row is, its class, and of each score whether it is appropriate, its climb and its run."""
    import polars as pl

    columns: dict[str, Any] = {**_places(rows), "positive": rows.y}
    for name, curve in curves.items():
        climb, run = curve.segments.T
        made = {
            name: rows.scores[name],
            f"{name}_appropriate": curve.appropriate,
            f"{name}_climb": climb,
            f"{name}_run": run,
        }
        if twice := [column for column in made if column in columns]:
            raise BadInput(
                f"the table of rows would have two columns named '{twice[0]}'; rename the column '{name}'"
            )
        columns |= made
    return pl.DataFrame(columns)


def _places(rows: Rows) -> dict[str, Any]:
    """The number of each row in its file, and the file where there are several."""
    place = rows.place
    at = np.arange(len(rows)) if place.kept is None else place.kept
    ends = np.cumsum([count for _, count in place.files], dtype=np.int64)
    file = np.searchsorted(ends, at, side="right")
    number = at + 1 - np.concatenate(([0], ends))[file]
    names = np.array([name for name, _ in place.files], object)
    return {"file": names[file], "row": number} if len(names) > 1 else {"row": number}


def segments_file(curves: Any, ending: str) -> bytes:
    """The table of rows as a file of .csv or .parquet."""
    frame, buffer = curves.to_frame(), io.BytesIO()
    if ending == ".csv":
        frame.write_csv(buffer)
    else:
        frame.write_parquet(buffer)
    return buffer.getvalue()
