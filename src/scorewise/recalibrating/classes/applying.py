"""A map of several classes applied to files of any size: one column added for each class."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scorewise.door import Missing
from scorewise.door.classes import SLACK
from scorewise.errors import BadInput
from scorewise.recalibrating.applying import Applied
from scorewise.recalibrating.classes.mapping import ClassMap
from scorewise.recalibrating.rewriting import number, place_of, where, write
from scorewise.recalibrating.scanning import Scanned, scan
from scorewise.sources.class_columns import class_columns
from scorewise.sources.columns import check_columns
from scorewise.views.words import Document


def apply_class_files(
    m: ClassMap,
    data: Document,
    files: Sequence[str | os.PathLike[str]],
    out: str | Path,
    *,
    classes: str | None = None,
    name: str | None = None,
    missing: Missing = "refuse",
) -> Applied:
    """Write the rows of the files with the probabilities in new columns.

    `classes` says which columns hold the scores; else they are those that the map was fitted to. `name`
    is a pattern for the new columns, its star being the class; else they are calibrated_COLUMN.
    """
    place, ending = place_of(out)
    scanned = scan(files, typed=ending == ".parquet")
    columns = _columns(m, data, scanned[0].columns, classes)
    made = _names(m, columns, name)
    if taken := [n for n in made if n in scanned[0].columns]:
        raise BadInput(
            f"{scanned[0].name} has a column '{taken[0]}' already; give the new ones other names"
        )
    applied = _checked(m, scanned, list(columns.values()), missing)
    import polars as pl

    frame = pl.concat([s.frame for s in scanned], how="vertical_relaxed")
    each = [number(c).alias(str(k)) for k, c in enumerate(columns.values())]
    if missing == "drop":
        frame = frame.filter(pl.all_horizontal(e.is_not_null() for e in each))
    kind = pl.Struct(dict.fromkeys(made, pl.Float64))

    def mapped(rows: Any) -> Any:
        q = m(np.ascontiguousarray(rows.struct.unnest().to_numpy(), np.float64))
        return pl.DataFrame({n: q[:, k] for k, n in enumerate(made)}).to_struct()

    new = pl.struct(each).map_batches(mapped, return_dtype=kind, is_elementwise=True)
    hidden = made[0]
    while hidden in {*frame.collect_schema().names(), *made}:
        hidden += " "
    write(frame.with_columns(new.alias(hidden)).unnest(hidden), place, ending)
    return applied


def _columns(
    m: ClassMap, data: Document, names: Sequence[str], spec: str | None
) -> Mapping[str, str]:
    """The column of each class, in the order of the map."""
    if spec is None:
        known = {c["name"]: c["column"] or c["name"] for c in data["classes"]}
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


def _checked(
    m: ClassMap, scanned: Sequence[Scanned], columns: list[str], missing: Missing
) -> Applied:
    """Refuse what the map cannot take, with its number of rows and the first of them."""
    rows = dropped = 0
    said = {
        "missing": 'have a score that is missing or no number {}; drop such rows or pass missing="drop"',
        "wrong": "lie outside [0, 1] {}; the map is for probabilities",
        "apart": "do not add up to 1 {}; the map is for probabilities",
    }
    if m.kind == "logit":
        said["wrong"] = "are infinite {}; the map is for logits"
    for s in scanned:
        found = _faults(m, s, columns)
        rows, dropped = rows + found["rows"], dropped + found["missing"]
        for fault, sentence in said.items():
            if found[fault] and not (fault == "missing" and missing == "drop"):
                listed = ", ".join(columns[:3]) + (", ..." if len(columns) > 3 else "")
                raise BadInput(f"{listed} {sentence.format(where(found, fault, s.name))}")
    if rows == dropped:
        raise BadInput("there are no rows to map")
    return Applied(rows - dropped, dropped, 0)


def _faults(m: ClassMap, s: Scanned, columns: list[str]) -> dict[str, int]:
    import polars as pl

    each = [pl.col(str(k)) for k in range(len(columns))]
    absent = pl.any_horizontal(x.is_null() for x in each)
    if m.kind == "probability":
        wrong = pl.any_horizontal((x < 0) | (x > 1) for x in each)
        apart = (pl.sum_horizontal(each) - 1).abs() > SLACK
    else:
        wrong, apart = pl.any_horizontal(x.is_infinite() for x in each), pl.lit(False)
    wrong = wrong.fill_null(False) & ~absent
    faults = {"missing": absent, "wrong": wrong, "apart": apart & ~absent & ~wrong}
    frame = s.frame.select(number(c).alias(str(k)) for k, c in enumerate(columns))
    marked = frame.select(e.alias(k) for k, e in faults.items()).with_row_index("row", offset=1)
    sums = [
        pl.len().alias("rows"),
        *(pl.col(k).sum() for k in faults),
        *(pl.col("row").filter(pl.col(k)).min().alias(f"first_{k}") for k in faults),
    ]
    found: dict[str, int] = marked.select(sums).collect(engine="streaming").row(0, named=True)
    return found
