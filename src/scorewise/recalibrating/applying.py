"""A map applied to files of any size: all columns and rows as they are, new columns added."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scorewise import writing
from scorewise.arrays import Floats
from scorewise.columns import Columns, Missing
from scorewise.columns.classes import SLACK
from scorewise.columns.rewriting import (
    ENDINGS,
    Applied,
    check_kept,
    check_scores,
    rewrite,
    scan,
    score_column,
)
from scorewise.columns.roles import check_columns, class_columns
from scorewise.errors import BadInput, Option
from scorewise.recalibrating.document import CalibrateClassesDocument, Calibrated
from scorewise.recalibrating.maps import ClassMap, Map

__all__ = ["Applied", "apply_files"]


def apply_files(
    doc: Calibrated,
    files: Sequence[str | os.PathLike[str]],
    out: str | Path,
    *,
    score: str | None = None,
    classes: str | None = None,
    name: str | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> tuple[Applied, list[str]]:
    """Write the rows of the files with the probabilities in new columns; notes tell what was guessed.

    `score` or `classes` says which columns hold the scores; those of several classes are else the columns
    that the map was fitted to. `name` is that of the new column, or for several classes a pattern whose
    star is the class. The rows pass through in batches, first to be checked, then to be mapped and
    written; memory does not grow with them. The output is put in place when it is whole.
    """
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"the output {out} has to end in {' or '.join(ENDINGS)}")
    place, m = writing.check(out), doc.map
    notes: list[str] = []
    with scan(files, encoding) as scanned:
        names = scanned[0].whole.columns
        if isinstance(doc, CalibrateClassesDocument):
            columns = _class_columns(doc, names, classes)
            made = _class_names(columns, name)
            scores = list(columns.values())
        else:
            score, notes = score_column(scanned[0], score)
            scores, made = [score], [name or f"{score}_calibrated"]
        check_kept(scanned, made, ending)
        applied = check_scores(scanned, scores, missing, lambda found: _outside(m, found))

        def mapped(s: Floats) -> Any:
            return m(s) if isinstance(m, ClassMap) else m(s[:, 0])[:, None]

        rewrite(scanned, scores, made, mapped, missing, (place, ending))
    return applied, [*notes, *applied.notes]


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
    """How many scores lie beyond those seen in fitting; refuses those that are no probabilities."""
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
