"""One side of the comparison: its rows, and whether their labels are known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from scorewise.columns import Columns as Found
from scorewise.columns import Rows
from scorewise.columns import read as read_columns
from scorewise.columns.binary import rows_of
from scorewise.columns.files import is_files, open_source
from scorewise.columns.grouping import check_groups
from scorewise.errors import BadInput, Option
from scorewise.tallies import Tally
from scorewise.tallies.merging import taken


@dataclass(frozen=True)
class Sample:
    """A tally with a name; without labels, all its rows stand where the negatives are."""

    name: str
    tally: Tally
    labelled: bool = True
    of: Rows | None = None  # the rows themselves, where they are in groups

    @property
    def rows(self) -> int:
        """Rows used."""
        return self.tally.origin.rows


def check_alike(a: Sample, b: Sample) -> None:
    """Refuse samples whose scores or classes are not the same thing."""
    if not a.rows or not b.rows:
        return
    kinds = a.tally.kind, b.tally.kind
    if kinds[0] != kinds[1]:
        raise BadInput(
            f"the {a.name} sample has scores of kind {kinds[0]} and the {b.name} sample of kind ",
            f"{kinds[1]}; pass ", Option("kind", "score"),
            " or logit when reading both if they are the same model's scores",
        )  # fmt: skip
    grids = [t.coarse.grid for t in (a.tally, b.tally) if t.coarse is not None]
    if len(set(grids)) > 1:
        raise BadInput(
            f"the samples are coarse on different grids, {grids[0]} and {grids[1]}; "
            f"coarsen both on the same"
        )
    positives = a.tally.origin.positive, b.tally.origin.positive
    if a.labelled and b.labelled and positives[0] != positives[1]:
        raise BadInput(
            f"the positive class is {positives[0]!r} in the {a.name} sample and {positives[1]!r} ",
            f"in the {b.name} sample; pass ", Option("positive"), " with the same class for both",
        )  # fmt: skip


class Columns(NamedTuple):
    """Which columns to read, and how."""

    label: str | None = None
    score: str | None = None
    weight: str | None = None
    positive: Any = None
    kind: Any = None
    missing: Any = "refuse"
    encoding: str | None = None
    by: Any = None

    def read(self, source: Any, labelled: bool, **further: str) -> Found:
        """Labels, unless they are not known, scores and weights, checked; and columns of further roles."""
        asked = {"score": self.score, "weight": self.weight, "group": self.by, **further}
        beside = [self.label] if self.label is not None and not labelled else []
        return read_columns(
            source,
            {"label": self.label, **asked} if labelled else asked,
            missing=self.missing,
            encoding=self.encoding,
            beside=beside,
        )

    def rows(self, found: Found, labelled: bool) -> Rows:
        """The rows of columns; without labels, all stand as negatives."""
        return rows_of(found, positive=self.positive if labelled else None, kind=self.kind)


def read(name: str, given: Any, columns: Columns, labelled: bool) -> tuple[Sample, list[str]]:
    """The sample, and what was decided on the way.

    A `Tally`; labels and scores as a pair; scores alone; or files, a data frame or a dict of columns.
    """
    given = taken(given)
    if is_source(given):
        return _from_source(name, given, columns, labelled)
    if columns.by is not None:
        raise BadInput(
            Option("by"), " names columns of files and data frames; pass each sample as one, or as a ",
            "dict of columns",
        )  # fmt: skip
    if isinstance(given, Tally):
        return Sample(name, given, labelled), []
    if columns.weight is not None:
        raise BadInput(
            "weight names a column of a file or data frame; for arrays pass "
            "sw.Tally.of(y, p, weight=...) instead"
        )
    options = {"kind": columns.kind, "missing": columns.missing}
    if _is_pair(given):
        tally = Tally.of(given[0], given[1], positive=columns.positive, **options)
        return Sample(name, tally, labelled), []
    found = read_columns(None, {"score": {"score": _sized(given)}}, missing=columns.missing)
    rows = rows_of(found, kind=columns.kind)
    return Sample(name, Tally.of_rows(rows, "score"), False), []


def is_source(given: Any) -> bool:
    """Whether columns have to be found in it: files, data frames, dicts of columns."""
    if isinstance(given, Mapping) or (is_files(given) and given not in ([], ())):
        return True
    # of the type: asking a lazy frame for its columns would make it work
    return hasattr(type(given), "columns") or hasattr(type(given), "collect_schema")


def _is_pair(given: Any) -> bool:
    return (
        isinstance(given, list | tuple)
        and len(given) == 2
        and all(hasattr(part, "__len__") for part in given)
    )


def _sized(given: Any) -> Any:
    """The scores, if they are any."""
    try:
        len(given)
    except TypeError:
        raise BadInput(
            f"a value of type {type(given).__name__} is not a sample; pass a Tally, a pair of labels and "
            f"scores, scores alone, a file name or a data frame"
        ) from None
    return given


def _from_source(
    name: str, given: Any, columns: Columns, labelled: bool
) -> tuple[Sample, list[str]]:
    opened, label = open_source(given, columns.encoding), columns.label
    if labelled and name == "current" and label not in (None, *opened.names):
        where = ", ".join(opened.sources) or "the current sample"
        raise BadInput(  # labels come late
            f"there is no column '{label}' in {where}; name another label, or pass ",
            Option("labels", "reference"), " if its labels are not known yet",
        )  # fmt: skip
    rows = columns.rows(columns.read(opened, labelled), labelled)
    score = next(iter(rows.scores))
    if columns.by is not None:
        used = {"score": score, "weight": columns.weight, "label": rows.names.label}
        check_groups(columns.by, used)
    tally = Tally.of_rows(rows, score, rows.sources)
    kept = rows if columns.by is not None else None
    return Sample(name, tally, labelled, kept), list(rows.notes)
