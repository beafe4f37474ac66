"""Maps applied where the scores are: to files of any size, and as SQL expressions.

NULL, NaN, infinite scores and probabilities outside [0, 1], which Python refuses, give NULL in SQL.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scorewise.columns import Missing
from scorewise.columns.classes import LARGEST, SLACK
from scorewise.columns.labels import listed
from scorewise.columns.reader import warn
from scorewise.columns.rewriting import Applied, Transformation, add_columns, score_column
from scorewise.columns.roles import check_columns, class_columns
from scorewise.columns.rows import ROUNDED
from scorewise.columns.tables import Table
from scorewise.errors import BadInput, Option
from scorewise.recalibrating.document import (
    CalibrateClassesDocument,
    Calibrated,
    CalibrateDocument,
    read_map,
)
from scorewise.recalibrating.maps import ClassMap, Map, new_logits
from scorewise.recalibrating.methods import METHODS
from scorewise.recalibrating.sql import MAX_EXPONENT, Sql, clip, expit, number, quoted
from scorewise.show.words import count

__all__ = ["Applied", "apply"]

MAX_SQL = 1 << 20  # characters


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

    def columns_of(file: Table) -> tuple[list[str], list[str], list[str]]:
        if isinstance(doc, CalibrateClassesDocument):
            columns = _class_columns(doc, file.columns, classes)
            names = [f"calibrated_{column}" for column in columns.values()]
            if name is not None:
                if name.count("*") != 1:
                    raise BadInput(
                        Option("name", name),
                        ' needs one star, which stands for the class; write "q_*"',
                    )
                names = [name.replace("*", c) for c in columns]
            return list(columns.values()), names, []
        column, notes = score_column(file, score)
        return [column], [name or f"{column}_calibrated"], notes

    if isinstance(m, ClassMap):
        mapped = Transformation("map", m.kind, m)
    else:
        mapped = Transformation("map", m.kind, lambda s: m(s[:, 0])[:, None], m.low, m.high)
    done = add_columns(files, out, columns_of, mapped, missing=missing, encoding=encoding)
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
        check_columns(names, list(doc.data.columns.values()))
        return doc.data.columns
    named, classes = class_columns(names, spec), doc.map.classes
    if set(named) != set(classes):
        raise BadInput(
            Option("classes", spec),
            f" names {', '.join(named)}, but the map is for {', '.join(classes)}",
        )  # fmt: skip
    return {c: named[c] for c in classes}


def to_sql(
    doc: Calibrated, columns: str | Mapping[str, str] | None, quote: str = '"'
) -> str | dict[str, str]:
    """The map of a document as an expression of a column; of several classes one for each.

    Their columns are those that the map was fitted to, unless given, by class.
    """
    if isinstance(doc, CalibrateClassesDocument):
        if columns is not None and not isinstance(columns, Mapping):
            raise BadInput(
                "the map is for several classes; name the column of each, class by class"
            )
        return _class_sql(doc.map, doc.data.columns if columns is None else columns, quote)
    if not isinstance(columns, str):
        raise BadInput("the map is for one score a row; name the one column that has it")
    m, s = doc.map, Sql(quoted(columns, quote))
    points = m.points(s)
    s.rounded = m.kind == "probability"
    if m.kind == "probability":
        points.x.scale = s, expit
    elif m.kind == "score":
        points.x.scale = s, lambda x: x * m.unit + m.centre
    p = METHODS[m.method].apply(m.parameters, points)
    largest = np.finfo(float).max
    low, high = (-ROUNDED, 1 + ROUNDED) if s.rounded else (-largest, largest)
    return _sql(clip(p, 0.0, 1.0) if p is s else p, [_between(s, low, high)], m.method)


def _class_sql(m: ClassMap, columns: Mapping[str, str], quote: str) -> dict[str, str]:
    """The probability of each class, as expressions of the columns of scores by class."""
    if set(columns) != set(m.classes):
        raise BadInput(
            f"the columns are of {listed(list(columns))}, but the map is for the classes "
            f"{listed(list(m.classes))}; name one column for each"
        )
    s = [Sql(quoted(columns[c], quote)) for c in m.classes]
    probable = m.kind == "probability"
    inside = [_between(x, *((0.0, 1.0) if probable else (-LARGEST, LARGEST))) for x in s]
    if probable:
        inside.append(f"ABS({' + '.join(map(str, s))} - 1) <= {number(SLACK)}")
    p = s if m.method == "identity" and probable else _softmax(_logits(m, s))
    return {c: _sql(x, inside, m.method) for c, x in zip(m.classes, p, strict=True)}


def _between(x: Sql, low: float, high: float) -> str:
    return f"{x} >= {number(low)} AND {x} <= {number(high)}"


def _sql(made: Sql, inside: Sequence[str], method: str) -> str:
    """The expression for scores that are as they should be."""
    text = made.text[1:-1] if made.text.startswith("(") else made.text
    text = f"CASE WHEN {' AND '.join(inside)} THEN {text} END"
    if len(text) > MAX_SQL:
        raise BadInput(
            f"the {method} map takes {len(text):,} characters of SQL, more than the {MAX_SQL:,} that "
            f"engines can be expected to read; fit a method of fewer numbers, or apply it in Python"
        )
    return text


def _logits(m: ClassMap, s: Sequence[Sql]) -> Any:
    """New logits, up to what is the same for all classes."""
    x: Sequence[Any] = s  # what all have in common falls out of the shares
    if m.kind == "probability":
        x = [np.log(clip(c, m.clip, 1.0)) for c in s]
    elif "intercepts" in m.parameters:
        top = Sql(f"GREATEST({', '.join(map(str, s))})")
        powers = (f"EXP({np.maximum(c - top, -MAX_EXPONENT)})" for c in s)
        total = Sql(f"LN({' + '.join(powers)})")
        x = [c - top - total for c in s]
    return new_logits(m.parameters, np.array([x], dtype=object))[0]


def _softmax(z: Sequence[Any]) -> list[Sql]:
    """1 / sum of EXP(z_j - z_k)."""
    shares = []
    for k, own in enumerate(z):
        gaps = (x - own for j, x in enumerate(z) if j != k)
        powers = (f"EXP({clip(gap, -MAX_EXPONENT, MAX_EXPONENT)})" for gap in gaps)
        shares.append(Sql(f"(1 / (1 + {' + '.join(powers)}))"))
    return shares


def sql_text(map_file: str | Path, columns: Sequence[str], quote: str = '"') -> str:
    """What `scorewise calibrate sql` prints: an expression, or one for each class with its name.

    Columns are one name, or CLASS=COLUMN for each class.
    """
    doc, named = read_map(map_file), list(columns)
    if isinstance(doc, CalibrateDocument):
        if len(named) != 1:
            raise BadInput(
                f"the map is for one score a row, and {len(named)} columns are named; name one in ",
                Option("column"),
            )
        return f"{to_sql(doc, named[0], quote)}\n"
    by_class = to_sql(doc, dict(c.partition("=")[::2] for c in named) or None, quote)
    assert isinstance(by_class, dict)
    lines = (f"{x} AS {quoted(f'calibrated_{c}', quote)}" for c, x in by_class.items())
    return ",\n".join(lines) + "\n"
