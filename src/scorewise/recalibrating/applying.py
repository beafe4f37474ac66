"""A map applied to files of any size: all columns kept, one added, rows in their order."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from scorewise.columns import Missing
from scorewise.columns.roles import pick_score
from scorewise.columns.rows import Columns
from scorewise.errors import BadInput
from scorewise.recalibrating.mapping import Map
from scorewise.recalibrating.rewriting import check_kept, place_of, rewrite
from scorewise.recalibrating.scanning import Applied, checked, scan


def apply_files(
    m: Map,
    files: Sequence[str | os.PathLike[str]],
    out: str | Path,
    *,
    score: str | None = None,
    name: str | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> tuple[Applied, list[str]]:
    """Write the rows of the files with the probabilities in a new column; notes tell what was guessed.

    The rows pass through in batches, first to be checked, then to be mapped and written; memory does not
    grow with them. The output is put in place when it is whole.
    """
    place, ending = place_of(out)
    with scan(files, encoding) as scanned:
        score, notes = pick_score(scanned[0].whole.columns, score)
        made = [name or f"{score}_calibrated"]
        check_kept(scanned, made, ending)
        applied = checked(scanned, [score], lambda found: _outside(m, found), missing)
        rewrite(scanned, [score], made, lambda s: m(s[:, 0])[:, None], missing, (place, ending))
    return applied, notes


def _outside(m: Map, found: Columns) -> int:
    """How many scores lie beyond those seen in fitting; refuses those that are no probabilities."""
    ((name, column),) = found.amounts[0].items()
    if m.scale.kind == "probability":
        wrong = (column.values < 0) | (column.values > 1)
        if wrong.any():
            raise BadInput(
                f"{name} is outside [0, 1] {found.place.rows(wrong)}; the map is for probabilities"
            )
    return m.outside(column.values)
