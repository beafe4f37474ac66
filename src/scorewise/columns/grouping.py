"""Groups of rows, the combinations of words of some columns that occur; and times, cut into periods."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns.vectors import Numbers, absent
from scorewise.errors import BadInput, Option, plain

MAX_GROUPS = 10_000  # groups that are judged
Groups: TypeAlias = dict[str, tuple[Ints, list[str]]]  # the code of each row, and their words


@dataclass(frozen=True)
class Grouping:
    """The group of each row, and what the groups are called.

    `codes` are places in `words`, -1 for rows of no weight; `sizes` are the rows of each group, of which
    those of fewer than `min_rows` are shown and not judged.
    """

    by: tuple[str, ...]
    codes: Ints
    words: Sequence[tuple[str, ...]]
    sizes: Ints
    min_rows: int
    smallest: Ints | None = None  # of several samples, the rows in the smallest of them

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def names(self) -> list[str]:
        """The words of each group with slashes between."""
        joined = [" / ".join(key) for key in self.words]
        return joined if len({*joined}) == len(joined) else [str(key) for key in self.words]

    @property
    def judged(self) -> Bools:
        """Which groups have rows enough."""
        rows = self.sizes if self.smallest is None else self.smallest
        return np.asarray(rows >= self.min_rows)

    def at(self, k: int) -> Ints:
        """The rows of a group."""
        return self._members[k]

    @cached_property
    def _members(self) -> list[Ints]:
        return members(self.codes, len(self))


def members(codes: Ints, many: int) -> list[Ints]:
    """The rows of each of so many groups, in order; codes below 0 are of none.

    >>> members(np.array([1, 0, -1, 1]), 2)
    [array([1]), array([0, 3])]
    """
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(many + 1))
    return np.split(order, ends)[1:-1]


def grouping(
    columns: Groups, min_rows: int, *, mass: Floats | None = None, times: Any = None,
    most: int = MAX_GROUPS,
) -> Grouping:  # fmt: skip
    """The groups by these columns, none without columns; refused where there is one, or more than `most`.

    Rows of no `mass` are in no group; `times` says how many rows each row stands for.

    >>> g = grouping({"site": (np.array([1, 0, 1]), ["a", "b"])}, 2)
    >>> g.names, g.sizes.tolist(), g.judged.tolist()
    (['a', 'b'], [1, 2], [False, True])
    """
    if not columns:
        return Grouping((), np.empty(0, np.int64), [], np.empty(0, np.int64), min_rows)
    codes, words = intersections(columns, mass)
    by = " and ".join(f"'{plain(name)}'" for name in columns)
    if len(words) < 2:
        one = plain(" / ".join(words[0])) if words else ""
        raise BadInput(
            f"all rows are in one group by {by}, '{one}'; name a column of two or more values ",
            "with ", Option("by"),
        )  # fmt: skip
    if len(words) > most:
        raise BadInput(
            f"{by} make{'s' * (len(columns) == 1)} {len(words):,} groups, more than the {most:,} ",
            "that are judged; name columns of fewer values with ", Option("by"),
        )  # fmt: skip
    there = codes >= 0
    each = np.ones(len(codes)) if times is None else np.asarray(times, np.float64)
    sizes = np.bincount(codes[there], each[there], len(words)).astype(np.int64)
    return Grouping(tuple(columns), codes, words, sizes, min_rows)


def intersections(
    columns: Groups, mass: Floats | None = None
) -> tuple[Ints, list[tuple[str, ...]]]:
    """The group of each row, and the words of each group that occurs; -1 for rows of no mass."""
    at, first = combinations(columns, mass)
    return at, [words_at(columns, row) for row in first.tolist()]


def combinations(columns: Groups, mass: Floats | None = None) -> tuple[Ints, Ints]:
    """The number of the combination of words in each row, and the first row that has each."""
    many = len(next(iter(columns.values()))[0])
    cell = np.zeros(many, np.int64)
    for codes, words in columns.values():
        cell = cell * len(words) + codes
        if int(cell.max(initial=0)) + 1 > 4 * many + MAX_GROUPS:
            cell = np.unique(cell, return_inverse=True)[1]
    heavy = np.ones(many, bool) if mass is None else mass > 0
    there = np.bincount(cell[heavy], minlength=int(cell.max(initial=0)) + 1) > 0
    at = np.where(there[cell], (there.cumsum() - 1)[cell], -1)
    first = np.zeros(int(there.sum()) + 1, np.int64)
    first[at[::-1]] = np.arange(len(at))[::-1]  # the last entry is for rows of no mass
    return at, first[:-1]


def words_at(columns: Groups, row: int) -> tuple[str, ...]:
    """The words of a row."""
    return tuple(words[codes[row]] for codes, words in columns.values())


def check_groups(by: Any, others: Mapping[str, Any]) -> None:
    """Refuse columns of groups that are named twice, or stand for something else."""
    listed = [by] if isinstance(by, str) else list(by)
    for name in listed:
        if listed.count(name) > 1:
            raise BadInput(f"column '{name}' is given twice as group; name each once")
        for role, used in others.items():
            if name == used or (isinstance(used, list | tuple) and name in used):
                raise BadInput(
                    f"column '{name}' is given as {role} and as group; name a different column for each"
                )


# A column of times: dates, datetimes, ISO text or numbers, as one sorted scale.


Moments: TypeAlias = NDArray[Any]  # datetime64[us] or float64; NaT or NaN where missing
Every: TypeAlias = Literal["day", "week", "month", "quarter", "year"]
_UNIT = np.dtype("datetime64[us]")


def times(column: Any, name: str) -> Numbers:
    """A column of times, those that are missing marked."""
    at = moments(column, name)
    return Numbers(at, np.isnat(at) if at.dtype.kind == "M" else None)


def moments(column: Any, name: str) -> Moments:
    """Times as datetime64 or as floats; those with a zone as they are written there, whatever the zone.

    >>> moments(["2026-01-31", "2026-02-01T12:00+01:00", None], "date")
    array(['2026-01-31T00:00:00.000000', '2026-02-01T12:00:00.000000', 'NaT'], dtype='datetime64[us]')
    """
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(column, polars.Series):
        if getattr(column.dtype, "time_zone", None):
            column = column.dt.replace_time_zone(None)  # the time on the wall there
        column = column.to_numpy() if column.dtype != polars.String else column.to_list()
    values = np.asarray(column) if not isinstance(column, list | tuple) else None
    if values is not None and values.dtype.kind == "M":
        return values.astype(_UNIT)
    if values is not None and values.dtype.kind in "biuf":
        return values.astype(np.float64)
    return _of_objects(list(column) if values is None else values.tolist(), name)


def _of_objects(values: list[Any], name: str) -> Moments:
    known: dict[Any, Any] = {}
    for value in values:
        if value not in known:
            known[value] = None if absent(value) else moment(value, name)
    kinds = {type(m) for m in known.values() if m is not None}
    if len(kinds) > 1:
        raise BadInput(f"{name} holds numbers beside dates; write all times in the same way")
    if kinds == {float}:
        return np.array([np.nan if known[v] is None else known[v] for v in values])
    return np.array([known[v] for v in values], _UNIT)


def moment(value: Any, name: str) -> datetime | float:
    """One time: a date, a datetime, ISO text, or a number."""
    if isinstance(value, int | float | np.number):
        return float(value)
    if isinstance(value, np.datetime64):
        value = value.astype(_UNIT).item()
    if isinstance(value, str):
        value = _parsed(value.strip(), name)
    if isinstance(value, datetime):
        return value.replace(tzinfo=None)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    raise BadInput(f"{name} holds a {type(value).__name__}; times are dates, ISO text or numbers")


def _parsed(text: str, name: str) -> datetime:
    for written in (text, f"{text}-01"):  # 2026-01 is its first day
        try:
            return datetime.fromisoformat(written)
        except ValueError:
            continue
    raise BadInput(
        f"{name} holds {text!r}, which is not a time; write 2026-01-31, 2026-01-31T12:00 or numbers"
    )


# Calendar periods of times, and what to call them.


def period(times: Moments, every: Every) -> NDArray[np.int64]:
    """The number of the calendar period of each time; weeks begin on Monday.

    >>> period(np.array(["2026-03-31", "2026-04-01"], "M8[us]"), "quarter")
    array([224, 225])
    """
    days = times.astype("M8[D]").astype(np.int64)
    months = times.astype("M8[M]").astype(np.int64)
    by = {"day": days, "week": (days + 3) // 7, "month": months, "quarter": months // 3}
    return by[every] if every in by else times.astype("M8[Y]").astype(np.int64)


def windows(at: Moments, name: str, every: Every) -> tuple[NDArray[np.int64], list[str]]:
    """The calendar period of each time, and what each is called; refused where times are numbers.

    >>> windows(np.array(["2026-04-01", "2026-03-31", "2026-04-02"], "M8[us]"), "date", "month")
    (array([1, 0, 1]), ['2026-03', '2026-04'])
    """
    if at.dtype.kind != "M":
        raise BadInput(f"'{name}' holds numbers, which have no {every}; name dates")
    _, first, codes = np.unique(period(at, every), return_index=True, return_inverse=True)
    return codes, [window_name(at[i], at[i], every) for i in first.tolist()]


def window_name(first: Any, last: Any, every: Every | None = None) -> str:
    """What to call the window from one time to another.

    >>> window_name(np.datetime64("2026-03-31"), np.datetime64("2026-03-31"), "quarter")
    '2026-Q1'
    >>> window_name(1.0, 250.0)
    '1 to 250'
    """
    if every is None:
        if isinstance(first, np.datetime64):  # whole days without their time
            a, b = (
                str(m.astype("M8[D]" if m == m.astype("M8[D]") else "M8[s]")) for m in (first, last)
            )
        else:
            a, b = (f"{float(m):.10g}" for m in (first, last))
        return a if a == b else f"{a} to {b}"
    day = first.astype("M8[D]")
    if every == "week":
        monday = day - (int(day.astype(np.int64)) + 3) % 7
        return f"week of {monday}"
    if every == "quarter":
        month = int(first.astype("M8[M]").astype(np.int64)) % 12
        return f"{first.astype('M8[Y]')}-Q{month // 3 + 1}"
    return str({"day": day, "month": first.astype("M8[M]")}.get(every, first.astype("M8[Y]")))
