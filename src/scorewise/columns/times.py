"""A column of times: dates, datetimes, ISO text or numbers, as one sorted scale."""

from __future__ import annotations

import sys
from datetime import date, datetime
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.columns.vectors import Numbers, absent
from scorewise.errors import BadInput

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
    return codes, [named(at[i], at[i], every) for i in first.tolist()]


def named(first: Any, last: Any, every: Every | None = None) -> str:
    """What to call the window from one time to another.

    >>> named(np.datetime64("2026-03-31"), np.datetime64("2026-03-31"), "quarter")
    '2026-Q1'
    >>> named(1.0, 250.0)
    '1 to 250'
    """
    if every is None:
        a, b = (_shown(m) for m in (first, last))
        return a if a == b else f"{a} to {b}"
    day = first.astype("M8[D]")
    if every == "week":
        monday = day - (int(day.astype(np.int64)) + 3) % 7
        return f"week of {monday}"
    if every == "quarter":
        month = int(first.astype("M8[M]").astype(np.int64)) % 12
        return f"{first.astype('M8[Y]')}-Q{month // 3 + 1}"
    return str({"day": day, "month": first.astype("M8[M]")}.get(every, first.astype("M8[Y]")))


def _shown(m: Any) -> str:
    if isinstance(m, np.datetime64):
        day = m.astype("M8[D]")
        return str(day) if m == day else str(m.astype("M8[s]"))
    return f"{float(m):.10g}"
