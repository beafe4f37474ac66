"""What is compared: samples of rows, given one by one or cut by time out of one source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.columns import Columns as Found
from scorewise.columns import Rows
from scorewise.columns import read as read_columns
from scorewise.columns.binary import rows_of
from scorewise.columns.files import is_files, open_source
from scorewise.columns.grouping import Every, Moments, check_groups, moment, named, period
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
        try:
            return read_columns(
                source,
                {"label": self.label, **asked} if labelled else asked,
                missing=self.missing,
                encoding=self.encoding,
                beside=beside,
            )
        except BadInput as refusal:
            if self.label is None and Option("label") in refusal.parts:
                none = (", or ", Option("labels", "none"), " if the rows have no labels")
                raise BadInput(*refusal.parts, *none) from None
            raise

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


# One source cut by time: the reference, and the windows after it.


class Cut(NamedTuple):
    """How time is cut into windows."""

    time: str
    windows: int | None = None
    every: Every | None = None
    reference_until: Any = None


def read_windows(
    source: Any, cut: Cut, columns: Columns, labelled: bool
) -> tuple[Sample, list[Sample], list[str]]:
    """The reference, the windows after it, and what was decided; rows of the same time are never split."""
    _check(cut)
    found = columns.read(source, labelled, time=cut.time)
    rows = columns.rows(found, labelled)
    times, codes = np.unique(found.one("time").values, return_inverse=True)
    score = next(iter(rows.scores))
    if not len(times):
        raise BadInput(f"no rows are left to judge; {rows.dropped} were dropped as missing")
    part = _parts(times, np.bincount(codes, minlength=len(times)), cut)
    if part.max() == 0:
        raise BadInput(
            f"all rows fall into one window of '{cut.time}' ({named(times[0], times[-1])}); "
            f"there is nothing to compare it with"
        )
    samples = []
    for k in range(int(part.max()) + 1):
        inside = np.flatnonzero(part == k)
        until = cut.reference_until is not None and k == 0
        name = named(times[inside[0]], times[inside[-1]], None if until else cut.every)
        # rows without a time belong to no window, so the first counts all that were dropped
        dropped = rows.dropped if k == 0 else 0
        inside_it = replace(rows.at(part[codes] == k), dropped=dropped)
        tally = Tally.of_rows(inside_it, score, rows.sources)
        samples.append(Sample(name, tally, labelled))
    return samples[0], samples[1:], list(rows.notes)


def _check(cut: Cut) -> None:
    if cut.windows is not None and cut.every is not None:
        raise BadInput(
            Option("windows"), " and ", Option("every"), " both say how time is cut; pass one of them",
        )  # fmt: skip
    if cut.every is not None and cut.every not in get_args(Every):
        known = ", ".join(f'"{word}"' for word in get_args(Every))
        raise BadInput(Option("every", cut.every), f" is not known; pass one of {known}")
    least = 1 if cut.reference_until is not None else 2
    if cut.windows is not None and cut.windows < least:
        raise BadInput(Option("windows", cut.windows), f" is too few; pass {least} or more")


def _parts(times: Moments, counts: Any, cut: Cut) -> NDArray[np.int64]:
    """The window of each distinct time, 0 being the reference."""
    if cut.reference_until is None:
        return _numbered(times, counts, cut, cut.windows or 6)
    first = _until(times, cut.reference_until)
    if not first.any():
        raise BadInput(
            "no row is at or before ", Option("reference_until", cut.reference_until),
            f"; the first is at {named(times[0], times[0])}",
        )  # fmt: skip
    part = np.zeros(len(times), np.int64)
    part[~first] = 1 + _numbered(times[~first], counts[~first], cut, cut.windows or 5)
    return part


def _numbered(times: Moments, counts: Any, cut: Cut, windows: int) -> NDArray[np.int64]:
    if cut.every is None:
        below = counts.cumsum() - counts / 2
        part = (windows * below / max(1, counts.sum())).astype(np.int64)
    elif times.dtype.kind != "M":
        raise BadInput(
            f"'{cut.time}' holds numbers, which have no {cut.every}; pass ", Option("windows"),
            " instead",
        )  # fmt: skip
    else:
        part = period(times, cut.every)
    return np.unique(part, return_inverse=True)[1]


def _until(times: Moments, until: Any) -> NDArray[np.bool_]:
    """Which times are at or before one; a day ends at midnight."""
    last = moment(until, "reference_until")
    if isinstance(last, float) != (times.dtype.kind != "M"):
        said = "dates" if times.dtype.kind == "M" else "numbers"
        raise BadInput(
            Option("reference_until", until), f" does not fit the times, which are {said}"
        )
    if isinstance(last, float):
        return np.asarray(times <= last)
    at = np.datetime64(last, "us")
    whole_day = at == at.astype("M8[D]")
    return np.asarray(times < at + np.timedelta64(1, "D") if whole_day else times <= at)
