"""Checked rows: what rows of any kind have; and rows of two classes, labels beside scores."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import one_of
from scorewise.columns.grouping import Groups
from scorewise.columns.labels import Labels, read_labels
from scorewise.columns.numbers import Place, in_range
from scorewise.columns.reader import Columns, Missing, Names, read
from scorewise.columns.vectors import Numbers
from scorewise.errors import BadInput, Option

Kind: TypeAlias = Literal["probability", "logit", "score"]
Scores: TypeAlias = NDArray[np.floating[Any]]
_ROLES = dict.fromkeys(("label", "score", "weight", "count", "id", "group", "cluster"))
ROUNDED = 1e-4  # how far outside [0, 1] what is said to be a probability may lie


@dataclass(frozen=True, kw_only=True)
class CheckedRows:
    """What checked rows of any kind have beside their values.

    `place` knows the numbers of the rows in the input, `notes` say what was decided on the way, and `hints`
    what one may want to do with the columns. `groups` has for each column of groups the code of each row
    and the words that codes stand for, and `cluster` the number of the cluster of each row, if rows come in
    clusters.
    """

    weight: Floats | None = None
    count: Ints | None = None
    names: Names = field(default_factory=Names)
    dropped: int = 0
    place: Place = field(default_factory=Place)
    notes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    groups: Groups = field(default_factory=dict)
    cluster: Ints | None = None

    _values: ClassVar[tuple[str, ...]] = ("y", "scores")  # further columns, or columns by name

    def __len__(self) -> int:
        return len(getattr(self, self._values[0]))

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the files that the rows came from."""
        return self.place.sources

    def mass(self, power: int = 1) -> Floats:
        """Row weight, raised to a power, times row count."""
        w: Any = 1.0 if self.weight is None else self.weight
        w = w if power == 1 else w**power
        total = w if self.count is None else w * self.count
        return np.broadcast_to(np.asarray(total, np.float64), len(self))

    def number(self, which: Bools) -> int:
        """How many rows are among some of them, each as often as it counts."""
        return int(np.count_nonzero(which) if self.count is None else self.count[which].sum())

    def at(self, which: Any) -> Self:
        """Some of the rows; clusters are numbered anew."""
        at = np.arange(len(self))[which]  # of a mask, a slice or places
        columns = ("weight", "count", *self._values)
        made: dict[str, Any] = {name: cut(getattr(self, name), at) for name in columns}
        if self.cluster is not None:
            made["cluster"] = np.unique(self.cluster[at], return_inverse=True)[1]
        groups = {name: (codes[at], words) for name, (codes, words) in self.groups.items()}
        return replace(self, place=self.place.keep(at), groups=groups, **made)


def cut(column: Any, at: Ints) -> Any:
    """Some rows of a column, of columns by name, or of none."""
    if isinstance(column, dict):
        return {name: values[at] for name, values in column.items()}
    return None if column is None else column[at]


@dataclass(frozen=True, kw_only=True)
class Rows(CheckedRows):
    """Checked columns of one length: finite scores, labels as True for positive.

    Scores are float64, or float32 where they came as 32 bits or fewer (`half` names those of 16); the
    arrays may be the caller's own memory and are not to be written to. `ids`, if any, names every row of
    the source.
    """

    y: Bools
    scores: dict[str, Scores]
    labels: Labels
    kinds: dict[str, Kind]
    half: frozenset[str] = frozenset()
    ids: Any = None


def binary_rows(
    source: Any, *, positive: Any = None, kind: Kind | None = None, missing: Missing = "refuse",
    encoding: str | None = None, **roles: Any,
) -> Rows:  # fmt: skip
    """Rows of files or globs, standard input (`-`), a data frame or a dict of columns.

    `roles` name the columns: `label`, `score` (one or several), `weight`, `count`, `id`, `group` and
    `cluster`. Those that are not named are taken where a single one suggests itself; `notes` says so.
    Where the source is None, they are the columns themselves, of any library, and scores a mapping by name;
    they are brought to numpy without a copy where that can be.

    A row with a missing value (None, null, NaN) in any column is refused, or with missing="drop" left out
    for all scores alike and counted. In csv, these count as missing: nothing, NA, NaN, nan, null, NULL,
    None and <NA>. Files of text are in UTF-8, or in `encoding`, such as "latin-1". Unless said, the kind of
    a score is "probability" when all its values are in [0, 1] and "score" otherwise; scores are never
    transformed.

    >>> rows = binary_rows({"y": ["no", "yes"], "p": [0.2, 0.9]})
    >>> rows.y, rows.notes[0]
    (array([False,  True]), "label: column 'y' (not named; taken because of its name)")
    >>> scores = {"p": [0.2, float("nan"), 0.9]}
    >>> rows = binary_rows(None, label=[0, 1, 1], score=scores, missing="drop")
    >>> rows.y, rows.scores["p"], rows.dropped
    (array([False,  True]), array([0.2, 0.9]), 1)
    >>> rows.labels
    Labels(positive='1', negative='0', rule='1 of 0 and 1')
    """
    one_of("kind", kind, (None, *get_args(Kind)))
    if source is None and not roles["score"]:
        raise BadInput("no scores were given; pass at least one column of scores")
    found = read(source, _ROLES | roles, missing=missing, encoding=encoding)
    return rows_of(found, positive=positive, kind=kind)


def scores_of(column: Any, kind: Kind) -> Scores:
    """Scores alone, checked; a single number is refused as one."""
    # what applies a map or a rule to scores has no setting for missing ones
    found = read(
        None, {"score": {"score": column}}, required={"score": "leave such rows out first"}
    )
    return rows_of(found, kind=kind).scores["score"]


def rows_of(
    found: Columns, *, role: str = "label", positive: Any = None, kind: Kind | None = None,
    known: tuple[Bools, Labels] | None = None,
) -> Rows:  # fmt: skip
    """The rows of columns, the label being that of a role; where there is none, all are negatives.

    Which of the rows are positive may be `known`.
    """
    one_of("kind", kind, (None, *get_args(Kind)))
    label, name, place = found.column(role), found.name(role), found.place
    if label is None:
        label = Numbers(np.zeros(len(found.column("score")), np.int64))
    y, labels = known or read_labels(label, name, positive)
    scores = {n: scored(column, n, kind, place) for n, column in found["score"].items()}
    notes = [labels.note and f"{name}: {labels.note}", *(note for *_, note in scores.values())]
    return Rows(
        y=y,
        scores={n: s for n, (s, *_) in scores.items()},
        labels=labels,
        kinds={n: k for n, (_, k, _) in scores.items()},
        half=frozenset(n for n, c in found["score"].items() if c.values.dtype == np.float16),
        ids=found.column("id"),
        **found.checked(*notes),
    )


def scored(column: Numbers, name: str, kind: Kind | None, place: Place) -> tuple[Scores, Kind, str]:
    """Scores as floats, their kind (given, or what their values allow), and a note if some are clipped."""
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
        floats, note = np.clip(floats, 0, 1), clipping_note(name, place.rows(outside), low, high)
    return floats, kind or ("probability" if inside else "score"), note


def nearly_inside(low: float, high: float) -> bool:
    """Whether values from `low` to `high` leave [0, 1] by no more than rounding may explain."""
    return low >= -ROUNDED and high <= 1 + ROUNDED


def clipping_note(name: str, rows: str, low: float, high: float) -> str:
    """How many values were taken as 0 or 1."""
    return f"{name}: outside [0, 1] by at most {max(-low, high - 1):.1g} {rows}, taken as 0 or 1"
