"""Rows of two classes: labels beside scores, checked once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools
from scorewise.checks import one_of
from scorewise.columns.labels import Labels, read_labels
from scorewise.columns.numbers import Place, in_range
from scorewise.columns.rows import Checked, Columns, Missing, read
from scorewise.columns.vectors import Numbers
from scorewise.errors import BadInput, Option

Kind: TypeAlias = Literal["probability", "logit", "score"]
Scores: TypeAlias = NDArray[np.floating[Any]]
ROUNDED = 1e-4  # how far outside [0, 1] what is said to be a probability may lie


@dataclass(frozen=True, kw_only=True)
class Rows(Checked):
    """Checked columns of one length: finite scores, labels as True for positive.

    Scores are float64, or float32 where they came as 32 bits or fewer (`half` names those of 16); the
    arrays may be the caller's own memory and are not to be written to. `ids`, if any, names every row of
    the source, and `kept` has what several measures ask of the same rows.
    """

    y: Bools
    scores: dict[str, Scores]
    labels: Labels
    kinds: dict[str, Kind]
    half: frozenset[str] = frozenset()
    ids: Any = None
    kept: dict[str, Any] = field(default_factory=dict, init=False, compare=False, repr=False)


def binary_rows(
    source: Any, *, label: Any = None, score: Any = None, weight: Any = None, count: Any = None,
    ids: str | None = None, groups: Any = None, cluster: Any = None, positive: Any = None,
    kind: Kind | None = None, missing: Missing = "refuse", encoding: str | None = None,
) -> Rows:  # fmt: skip
    """Rows of files or globs, standard input (`-`), a data frame or a dict of columns.

    Columns that are not named are taken where a single one suggests itself; `notes` says so.
    In csv, these count as missing: nothing, NA, NaN, nan, null, NULL, None and <NA>. Files of text are in
    UTF-8, or in `encoding`, such as "latin-1". Where the source is None, the columns themselves are given.

    >>> rows = binary_rows({"y": ["no", "yes"], "p": [0.2, 0.9]})
    >>> rows.y, rows.notes[0]
    (array([False,  True]), "label: column 'y' (not named; taken because of its name)")
    """
    asked = {
        "label": label, "score": score, "weight": weight, "count": count, "id": ids, "group": groups,
        "cluster": cluster,
    }  # fmt: skip
    found = read(source, asked, missing=missing, encoding=encoding)
    return rows_of(found, positive=positive, kind=kind)


def take(labels: Any, scores: Mapping[str, Any], **options: Any) -> Rows:
    """Check columns of any library and bring them to numpy, without a copy where that can be.

    A row with a missing value (None, null, NaN) in any column is refused, or with missing="drop"
    left out for all scores alike and counted. Unless said, the kind of a score is "probability"
    when all its values are in [0, 1] and "score" otherwise; scores are never transformed. The options are
    those of `binary_rows`.

    >>> rows = take([0, 1, 1], {"p": [0.2, float("nan"), 0.9]}, missing="drop")
    >>> rows.y, rows.scores["p"], rows.dropped
    (array([False,  True]), array([0.2, 0.9]), 1)
    >>> rows.labels
    Labels(positive='1', negative='0', rule='1 of 0 and 1')
    """
    one_of("kind", options.get("kind"), (None, *get_args(Kind)))
    if not scores:
        raise BadInput("no scores were given; pass at least one column of scores")
    if len({str(name) for name in scores}) < len(scores):
        raise BadInput("two columns of scores have the same name; give each a name of its own")
    return binary_rows(None, label=labels, score=scores, **options)


def scores_of(column: Any, kind: Kind) -> Scores:
    """Scores alone, checked; a single number is refused as one."""
    column = column if hasattr(column, "__len__") else np.asarray(column)
    none = np.zeros(len(column), np.int64) if getattr(column, "ndim", 1) else column
    # what applies a map or a rule to scores has no setting for missing ones
    whole = {"score": "leave such rows out first"}
    found = read(None, {"label": none, "score": {"score": column}}, whole=whole)
    return rows_of(found, kind=kind).scores["score"]


def rows_of(
    found: Columns, *, role: str = "label", positive: Any = None, kind: Kind | None = None
) -> Rows:
    """The rows of columns, the label being that of a role; where there is none, all are negatives."""
    one_of("kind", kind, (None, *get_args(Kind)))
    label, name, place = found.one(role), found.name(role), found.place
    if label is None:
        label = Numbers(np.zeros(len(found.one("score")), np.int64))
    y, labels = read_labels(label, name, positive)
    scores = {n: scored(column, n, kind, place) for n, column in found["score"].items()}
    notes = [labels.note and f"{name}: {labels.note}", *(note for *_, note in scores.values())]
    return Rows(
        y=y,
        scores={n: s for n, (s, *_) in scores.items()},
        labels=labels,
        kinds={n: k for n, (_, k, _) in scores.items()},
        half=frozenset(n for n, column in found["score"].items() if is_half(column)),
        ids=found.one("id"),
        **found.checked(*notes),
    )


def is_half(column: Numbers) -> bool:
    """Whether numbers are floats of 16 bits."""
    return column.values.dtype == np.float16


def scored(column: Numbers, name: str, kind: Kind | None, place: Place) -> tuple[Scores, Kind, str]:
    """Scores as floats, their kind (as said, or what their values allow), and a note if any were moved."""
    values = column.values
    if values.dtype.kind == "f":
        floats = values if values.dtype.itemsize > 2 else values.astype(np.float32)
    else:
        floats = values.astype(np.float64)
    low, high = in_range(floats, name, place)
    inside = low >= 0 and high <= 1
    note = ""
    if kind == "probability" and not inside:
        outside = (floats < 0) | (floats > 1)
        if not nearly_inside(low, high):
            raise BadInput(
                f"{name} is outside [0, 1] {place.rows(outside)} ({floats[outside.argmax()]:.6g}); ",
                "pass ", Option("kind", "logit"), " for log-odds or ", Option("kind", "score"),
                " for scores of any scale",
            )  # fmt: skip
        floats, note = np.clip(floats, 0, 1), moved(name, outside, low, high, place)
    return floats, kind or ("probability" if inside else "score"), note


def nearly_inside(low: float, high: float) -> bool:
    """Whether values from `low` to `high` leave [0, 1] by no more than rounding may explain."""
    return low >= -ROUNDED and high <= 1 + ROUNDED


def moved(name: str, outside: Bools, low: float, high: float, place: Place) -> str:
    """How many values were taken as 0 or 1."""
    most = max(-low, high - 1)
    return f"{name}: outside [0, 1] by at most {most:.1g} {place.rows(outside)}, taken as 0 or 1"
