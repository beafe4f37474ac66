"""Samples to compare: given one by one, or cut by time out of one source."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools
from scorewise.checks import one_of
from scorewise.columns import Columns, Rows
from scorewise.columns import read as read_columns
from scorewise.columns.files import open_source
from scorewise.columns.grouping import Every, Moments, check_groups, moment, period, window_name
from scorewise.columns.rows import rows_of
from scorewise.columns.sources import is_source
from scorewise.errors import BadInput, Option
from scorewise.tallies import Tally
from scorewise.tallies.merging import tally_or_source


@dataclass(frozen=True)
class Sample:
    """A tally with a name; without labels, all its rows stand where the negatives are.

    `grouped` are the rows themselves, where they are in groups; `notes` say which columns were guessed.
    """

    name: str
    tally: Tally
    labelled: bool = True
    grouped: Rows | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of_rows(cls, name: str, rows: Rows, labelled: bool) -> Sample:
        """The sample of rows with one score."""
        tally = Tally.of_rows(rows, next(iter(rows.scores)), rows.sources)
        return cls(name, tally, labelled, rows if rows.groups else None, rows.notes)

    def at(self, which: Bools) -> Sample:
        """Some of the rows that are in groups."""
        assert self.grouped is not None
        rows = replace(self.grouped.at(which), dropped=0, groups={})
        return Sample.of_rows(self.name, rows, self.labelled)

    @property
    def rows(self) -> int:
        """Rows used."""
        return self.tally.origin.rows


def check_alike(a: Sample, b: Sample) -> None:
    """Refuse samples that differ in the kind of their scores, their grids or their classes."""
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


class Reading(NamedTuple):
    """Which columns to read, and how."""

    label: str | None = None
    score: str | None = None
    weight: str | None = None
    positive: Any = None
    kind: Any = None
    missing: Any = "refuse"
    encoding: str | None = None
    by: Any = None

    def columns(self, source: Any, labelled: bool, **further: str) -> tuple[Columns, Rows]:
        """Columns of a source by role, those of further roles too, and their rows.

        Without labels all rows stand as negatives, and the column of the label is none of scores.
        """
        roles = {"score": self.score, "weight": self.weight, "group": self.by, **further}
        unread = [] if labelled or self.label is None else [self.label]
        if labelled:
            roles = {"label": self.label, **roles}
        options: Any = {"missing": self.missing, "encoding": self.encoding}
        try:
            columns = read_columns(source, roles, excluded=unread, **options)
        except BadInput as refusal:
            if self.label is None and Option("label") in refusal.parts:
                none = (", or ", Option("labels", "none"), " if the rows have no labels")
                raise BadInput(*refusal.parts, *none) from None
            raise
        positive = self.positive if labelled else None
        return columns, rows_of(columns, positive=positive, kind=self.kind)


def read(name: str, source: Any, how: Reading, labelled: bool) -> Sample:
    """A `Tally`; labels and scores as a pair; scores alone; files, a data frame or a dict of columns."""
    source = tally_or_source(source)
    if is_source(source):
        opened, label = open_source(source, how.encoding), how.label
        if labelled and name == "current" and label not in (None, *opened.names):
            where = ", ".join(opened.sources) or "the current sample"
            raise BadInput(  # labels come late
                f"there is no column '{label}' in {where}; name another label, or pass ",
                Option("labels", "reference"), " if its labels are not known yet",
            )  # fmt: skip
        _, rows = how.columns(opened, labelled)
        if how.by is not None:
            others = {"score": next(iter(rows.scores)), "weight": how.weight}
            check_groups(how.by, others | {"label": rows.names.label})
        return Sample.of_rows(name, rows, labelled)
    if how.by is not None:
        raise BadInput(
            Option("by"), " names columns of files and data frames; pass each sample as one, or as a ",
            "dict of columns",
        )  # fmt: skip
    if isinstance(source, Tally):
        return Sample(name, source, labelled)
    if how.weight is not None:
        raise BadInput(
            "weight names a column of a file or data frame; for arrays pass "
            "sw.Tally.of(y, p, weight=...) instead"
        )
    pair = isinstance(source, list | tuple) and len(source) == 2
    if pair and all(hasattr(part, "__len__") for part in source):
        options: Any = {"positive": how.positive, "kind": how.kind, "missing": how.missing}
        return Sample(name, Tally.of(*source, **options), labelled)
    if not hasattr(source, "__len__"):
        raise BadInput(
            f"a value of type {type(source).__name__} is not a sample; pass a Tally, a pair of labels and "
            f"scores, scores alone, a file name or a data frame"
        )
    columns = read_columns(None, {"score": {"score": source}}, missing=how.missing)
    return Sample(name, Tally.of_rows(rows_of(columns, kind=how.kind), "score"), labelled=False)


# One source cut by time: the reference, and the windows after it.


class Cut(NamedTuple):
    """How time is cut into windows."""

    time: str
    windows: int | None = None
    every: Every | None = None
    reference_until: Any = None

    def check(self) -> None:
        """Refuse unknown and contradictory ways to cut."""
        if self.windows is not None and self.every is not None:
            raise BadInput(
                Option("windows"), " and ", Option("every"),
                " both say how time is cut; pass one of them",
            )  # fmt: skip
        one_of("every", self.every, (None, *get_args(Every)))
        least = 1 if self.reference_until is not None else 2
        if self.windows is not None and self.windows < least:
            raise BadInput(Option("windows", self.windows), f" is too few; pass {least} or more")

    def windows_of(self, times: Moments, counts: Any) -> NDArray[np.int64]:
        """The window of each distinct time, 0 being the reference; `counts` are the rows of each time."""
        later = np.ones(len(times), np.bool_)
        if self.reference_until is not None:
            later = _is_after(times, self.reference_until)
            if later.all():
                raise BadInput(
                    "no row is at or before ", Option("reference_until", self.reference_until),
                    f"; the first is at {window_name(times[0], times[0])}",
                )  # fmt: skip
        first = int(self.reference_until is not None)
        if self.every is None:
            n = counts[later]
            share = (n.cumsum() - n / 2) / max(1, n.sum())
            number = ((self.windows or 6 - first) * share).astype(np.int64)
        elif times.dtype.kind != "M":
            raise BadInput(
                f"'{self.time}' holds numbers, which have no {self.every}; pass ", Option("windows"),
                " instead",
            )  # fmt: skip
        else:
            number = period(times[later], self.every)
        window = np.zeros(len(times), np.int64)
        window[later] = first + np.unique(number, return_inverse=True)[1]
        return window


def read_windows(source: Any, cut: Cut, how: Reading, labelled: bool) -> list[Sample]:
    """The reference and the windows after it; rows of the same time are never split."""
    cut.check()
    columns, rows = how.columns(source, labelled, time=cut.time)
    times, codes = np.unique(columns.column("time").values, return_inverse=True)
    if not len(times):
        raise BadInput(f"no rows are left to compare; {rows.dropped} were dropped as missing")
    window = cut.windows_of(times, np.bincount(codes, minlength=len(times)))
    if window.max() == 0:
        raise BadInput(
            f"all rows fall into one window of '{cut.time}' ({window_name(times[0], times[-1])}); "
            f"there is nothing to compare it with"
        )
    samples = []
    for k in range(int(window.max()) + 1):
        inside = times[window == k]
        until = cut.reference_until is not None and k == 0
        name = window_name(inside[0], inside[-1], None if until else cut.every)
        # rows without a time belong to no window, so the first counts all that were dropped
        part = replace(rows.at(window[codes] == k), dropped=0 if k else rows.dropped)
        samples.append(Sample.of_rows(name, part, labelled))
    return samples


def _is_after(times: Moments, until: Any) -> NDArray[np.bool_]:
    """Which times are after one; a day ends at midnight."""
    last = moment(until, "reference_until")
    if isinstance(last, float) == (times.dtype.kind == "M"):
        kind = "dates" if isinstance(last, float) else "numbers"
        raise BadInput(
            Option("reference_until", until), f" does not fit the times, which are {kind}"
        )
    if isinstance(last, float):
        return np.asarray(times > last)
    at = np.datetime64(last, "us")
    whole_day = at == at.astype("M8[D]")
    return np.asarray(times >= at + np.timedelta64(1, "D") if whole_day else times > at)
