"""What the command `smroc` does between its options and its document."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorewise.cli.work import midpoint_rule, read
from scorewise.errors import BadInput

if TYPE_CHECKING:
    from scorewise.columns import Rows
    from scorewise.weighted_roc import SmRocs

PICTURES, TABLES = (".png", ".svg", ".pdf"), (".csv", ".parquet")


def check_endings(plot: str | None, segments: str | None) -> None:
    """Refuse outputs of a kind that is not known, before the work is done."""
    for option, path, known in (("--plot", plot, PICTURES), ("--segments", segments, TABLES)):
        if path is not None and Path(path).suffix.lower() not in known:
            raise BadInput(f"{option} {path} has to end in {', '.join(known)}")


def rule(midpoint: str, learn: str | None, columns: Mapping[str, Any]) -> Any:
    """The rule of the midpoint: its name, a number, or the tallies of other rows by score."""
    if learn is None:
        return midpoint_rule(midpoint)
    if midpoint != "mean":
        raise BadInput(f"--midpoint {midpoint} and --learn exclude each other; leave out one")
    from scorewise.tallies import Tally

    rows = read([learn], columns)
    return {name: Tally.of_rows(rows, name) for name in rows.scores}


def curves(rows: Rows, rule: Any, **settings: Any) -> SmRocs:
    """The curves of all scores that were read."""
    from scorewise.weighted_roc import curves_of

    return curves_of(rows, rows.sources, midpoint=rule, **settings)


def files(curves: SmRocs, rows: Rows, plot: str | None, segments: str | None) -> dict[str, bytes]:
    """The picture and the table of rows that were asked for."""
    made = {}
    if plot is not None:
        made[plot] = _picture(curves, Path(plot).suffix[1:].lower())
    if segments is not None:
        made[segments] = _table(curves, rows, Path(segments).suffix[1:].lower())
    return made


def _picture(curves: SmRocs, ending: str) -> bytes:
    import warnings

    figure = curves.plot().figure_
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        # a name in a script that the font lacks is drawn as boxes
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(buffer, format=ending, bbox_inches="tight", dpi=150)
    return buffer.getvalue()


def _table(curves: SmRocs, rows: Rows, ending: str) -> bytes:
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
                f"--segments would write two columns named '{twice[0]}'; rename the column '{name}'"
            )
        columns |= made
    frame, buffer = pl.DataFrame(columns), io.BytesIO()
    if ending == "csv":
        frame.write_csv(buffer)
    else:
        frame.write_parquet(buffer)
    return buffer.getvalue()


def _places(rows: Rows) -> dict[str, Any]:
    """The number of each row in its file, and the file where there are several."""
    import numpy as np

    place = rows.place
    at = np.arange(len(rows)) if place.kept is None else place.kept
    ends = np.cumsum([count for _, count in place.files])
    file = np.searchsorted(ends, at, side="right")
    number = at + 1 - np.concatenate(([0], ends))[file]
    names = np.array([name for name, _ in place.files], object)
    return {"file": names[file], "row": number} if len(names) > 1 else {"row": number}
