"""One source cut by time: the reference, and the windows after it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.columns.grouping import Every, Moments, moment, named, period
from scorewise.drifting.samples import Columns, Sample
from scorewise.errors import BadInput, Option
from scorewise.tallies import Tally


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
