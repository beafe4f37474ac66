"""A map applied to files of any size: all columns and rows as they are, new columns added."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns import Columns, Missing
from scorewise.columns.classes import SLACK
from scorewise.columns.rewriting import Applied, Scanned, add_columns, score_column
from scorewise.columns.roles import check_columns, class_columns
from scorewise.columns.rows import warn
from scorewise.errors import BadInput, Option
from scorewise.recalibrating.document import CalibrateClassesDocument, Calibrated, read_map
from scorewise.recalibrating.maps import ClassMap, Map
from scorewise.recalibrating.methods import METHODS
from scorewise.show.words import count

__all__ = ["Applied", "apply"]


def apply(
    map_file: str | Path | Calibrated,
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    out: str | Path,
    score: str | None = None,
    classes: str | None = None,
    name: str | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> Applied:
    """Write the rows of files with the probabilities of a map in a new column, or one for each class.

    The map is a file that `Recalibrator.save` wrote, or its document. `score` or `classes` says which
    columns hold the scores; those of several classes are else the columns that the map was fitted to. All
    other columns and the order of the rows stay; files may be larger than memory. The new column is `name`,
    else COLUMN_calibrated; of several classes a pattern such as "q_*", whose star is the class, else
    calibrated_COLUMN.
    """
    doc = read_map(map_file) if isinstance(map_file, str | Path) else map_file
    m, several = doc.map, isinstance(doc, CalibrateClassesDocument)
    wrong, right = ("score", "classes") if several else ("classes", "score")
    if {"score": score, "classes": classes}[wrong] is not None:
        what = "several classes" if several else "one score"
        raise BadInput(
            Option(wrong), f" does not fit the map, which is for {what}; pass ", Option(right),
            " instead",
        )  # fmt: skip

    def columns_of(file: Scanned) -> tuple[list[str], list[str], list[str]]:
        if isinstance(doc, CalibrateClassesDocument):
            columns = _class_columns(doc, file.whole.columns, classes)
            return list(columns.values()), _class_names(columns, name), []
        column, notes = score_column(file, score)
        return [column], [name or f"{column}_calibrated"], notes

    def mapped(s: Floats) -> Any:
        return m(s) if isinstance(m, ClassMap) else m(s[:, 0])[:, None]

    how: dict[str, Any] = {"missing": missing, "encoding": encoding}
    done = add_columns(files, out, columns_of, mapped, lambda found: _outside(m, found), **how)
    notes = list(done.notes)
    if done.dropped:
        notes.append(f"{count(done.dropped)} rows without a score were left out")
    if done.outside and isinstance(m, Map):
        notes.append(
            f"{count(done.outside)} scores lie outside {m.low:.4g} to {m.high:.4g}, the range "
            f"seen in fitting; they are {METHODS[m.method].outside}"
        )
    warn(notes)
    return done._replace(notes=tuple(notes))


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


def _outside(m: Map | ClassMap, found: Columns) -> int:
    """How many scores lie beyond those seen in fitting; refuses scores that are not probabilities."""
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
