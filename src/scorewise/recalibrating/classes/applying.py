"""A map of several classes applied to files of any size: one column added for each class."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from scorewise.columns import Columns, Missing
from scorewise.columns.classes import SLACK
from scorewise.columns.roles import check_columns, class_columns
from scorewise.errors import BadInput
from scorewise.recalibrating.applying import Applied, check_kept, checked, place_of, rewrite, scan
from scorewise.recalibrating.classes.methods import ClassMap
from scorewise.recalibrating.document import ClassDataRecord


def apply_class_files(
    m: ClassMap,
    data: ClassDataRecord,
    files: Sequence[str | os.PathLike[str]],
    out: str | Path,
    *,
    classes: str | None = None,
    name: str | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> Applied:
    """Write the rows of the files with the probabilities in new columns.

    `classes` says which columns hold the scores; else they are those that the map was fitted to. `name`
    is a pattern for the new columns, its star being the class; else they are calibrated_COLUMN.
    """
    place, ending = place_of(out)
    with scan(files, encoding) as scanned:
        columns = _columns(m, data, scanned[0].whole.columns, classes)
        made, scores = _names(m, columns, name), list(columns.values())
        check_kept(scanned, made, ending)
        applied = checked(scanned, scores, lambda found: _sound(m, found), missing)
        rewrite(scanned, scores, made, m, missing, (place, ending))
    return applied


def _columns(
    m: ClassMap, data: ClassDataRecord, names: Sequence[str], spec: str | None
) -> Mapping[str, str]:
    """The column of each class, in the order of the map."""
    if spec is None:
        known = {c.name: c.column or c.name for c in data.classes}
        check_columns(names, list(known.values()))
        return known
    found = class_columns(names, spec)
    if set(found) != set(m.classes):
        raise BadInput(
            f"classes={spec} names {', '.join(found)}, but the map is for {', '.join(m.classes)}"
        )
    return {c: found[c] for c in m.classes}


def _names(m: ClassMap, columns: Mapping[str, str], name: str | None) -> list[str]:
    if name is None:
        return [f"calibrated_{columns[c]}" for c in m.classes]
    if name.count("*") != 1:
        raise BadInput(f'name={name} needs one star, which stands for the class; write "q_*"')
    return [name.replace("*", c) for c in m.classes]


def _sound(m: ClassMap, found: Columns) -> int:
    """Refuse what are no probabilities of all classes; no row of several classes is beyond others."""
    columns = found["score"]
    if m.kind == "logit":
        return 0
    values = np.stack([column.values for column in columns.values()], axis=1)
    listed = ", ".join(list(columns)[:3]) + (", ..." if len(columns) > 3 else "")
    faults = {
        "lie outside [0, 1]": ((values < 0) | (values > 1)).any(1),
        "do not add up to 1": np.abs(values.sum(1, dtype=np.float64) - 1) > SLACK,
    }
    for fault, wrong in faults.items():
        if wrong.any():
            raise BadInput(
                f"{listed} {fault} {found.place.rows(wrong)}; the map is for probabilities"
            )
    return 0
