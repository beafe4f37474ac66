"""One side of the comparison: its rows, and whether their labels are known."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.columns import take
from scorewise.columns.load import load, load_scores, open_source
from scorewise.errors import BadInput
from scorewise.tallies import Tally


@dataclass(frozen=True)
class Sample:
    """A tally with a name; without labels, all its rows stand where the negatives are."""

    name: str
    tally: Tally
    labelled: bool = True

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
            f"the {a.name} sample has scores of kind {kinds[0]} and the {b.name} sample of kind "
            f'{kinds[1]}; pass kind="score" (or "logit") when reading both if they are the same '
            f"model's scores"
        )
    grids = [t.coarse.grid for t in (a.tally, b.tally) if t.coarse is not None]
    if len(set(grids)) > 1:
        raise BadInput(
            f"the samples are coarse on different grids, {grids[0]} and {grids[1]}; "
            f"coarsen both on the same"
        )
    positives = a.tally.origin.positive, b.tally.origin.positive
    if a.labelled and b.labelled and positives[0] != positives[1]:
        raise BadInput(
            f"the positive class is {positives[0]!r} in the {a.name} sample and {positives[1]!r} "
            f"in the {b.name} sample; pass positive= with the same class for both"
        )


# A column of times: dates, datetimes, ISO text or numbers, as one sorted scale.


Every: TypeAlias = Literal["day", "week", "month", "quarter", "year"]
Moments: TypeAlias = NDArray[Any]  # datetime64[us] or float64; NaT or NaN where missing
_UNIT = np.dtype("datetime64[us]")


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
            known[value] = None if _missing(value) else moment(value, name)
    kinds = {type(m) for m in known.values() if m is not None}
    if len(kinds) > 1:
        raise BadInput(f"{name} holds numbers beside dates; write all times in the same way")
    if kinds == {float}:
        return np.array([np.nan if known[v] is None else known[v] for v in values])
    return np.array([known[v] for v in values], _UNIT)


def _missing(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


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
        f"{name} holds {text!r}, which is no time; write 2026-01-31, 2026-01-31T12:00 or numbers"
    )


def period(times: Moments, every: Every) -> NDArray[np.int64]:
    """The number of the calendar period of each time; weeks begin on Monday.

    >>> period(np.array(["2026-03-31", "2026-04-01"], "M8[us]"), "quarter")
    array([224, 225])
    """
    days = times.astype("M8[D]").astype(np.int64)
    months = times.astype("M8[M]").astype(np.int64)
    by = {"day": days, "week": (days + 3) // 7, "month": months, "quarter": months // 3}
    return by[every] if every in by else times.astype("M8[Y]").astype(np.int64)


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


# Samples from whatever they are given as.


class Columns(NamedTuple):
    """Which columns to read, and how."""

    label: str | None = None
    score: str | None = None
    weight: str | None = None
    positive: Any = None
    kind: Any = None
    missing: Any = "refuse"
    encoding: str | None = None


def read(name: str, given: Any, columns: Columns, labelled: bool) -> tuple[Sample, list[str]]:
    """The sample, and what was decided on the way.

    A `Tally`; labels and scores as a pair; scores alone; or files, a data frame or a dict of columns.
    """
    if isinstance(given, Tally):
        return Sample(name, given, labelled), []
    if is_source(given):
        return _from_source(name, given, columns, labelled)
    if columns.weight is not None:
        raise BadInput(
            "weight= names a column of a file or data frame; for arrays pass "
            "sw.Tally.of(y, p, weight=...) instead"
        )
    options = {"kind": columns.kind, "missing": columns.missing}
    if _is_pair(given):
        tally = Tally.of(given[0], given[1], positive=columns.positive, **options)
        return Sample(name, tally, labelled), []
    rows = take(_none(given), {"score": given}, **options)
    return Sample(name, Tally.of_rows(rows, "score"), False), []


def is_source(given: Any) -> bool:
    """Whether columns have to be found in it: files, data frames, dicts of columns."""
    if isinstance(given, str | os.PathLike | Mapping):
        return True
    if isinstance(given, list | tuple) and given:
        return all(isinstance(part, str | os.PathLike) for part in given)
    # of the type: asking a lazy frame for its columns would make it work
    return hasattr(type(given), "columns") or hasattr(type(given), "collect_schema")


def _is_pair(given: Any) -> bool:
    return (
        isinstance(given, list | tuple)
        and len(given) == 2
        and all(hasattr(part, "__len__") for part in given)
    )


def _none(given: Any) -> Any:
    """Labels that stand for none."""
    try:
        return np.zeros(len(given), np.int64)
    except TypeError:
        raise BadInput(
            f"a value of type {type(given).__name__} is no sample; pass a Tally, a pair of labels and "
            f"scores, scores alone, a file name or a data frame"
        ) from None


def _from_source(
    name: str, given: Any, columns: Columns, labelled: bool
) -> tuple[Sample, list[str]]:
    kept = ("weight", "kind", "missing", "encoding")
    options = {name: getattr(columns, name) for name in kept}
    if labelled:
        _check_label(name, given, columns)
        loaded = load(
            given,
            label=columns.label,
            scores=() if columns.score is None else columns.score,
            positive=columns.positive,
            **options,
        )
    else:
        loaded = load_scores(given, score=columns.score, label=columns.label, **options)
    tally = Tally.of_rows(loaded.rows, next(iter(loaded.rows.scores)), loaded.sources)
    return Sample(name, tally, labelled), loaded.notes


def _check_label(name: str, given: Any, columns: Columns) -> None:
    """Labels come late: say what to do where a sample has none yet."""
    label = columns.label
    if name != "current" or label is None or is_stream(given):
        return
    names, _, sources = open_source(given, columns.encoding)
    if label not in names:
        where = ", ".join(sources) or "the current sample"
        raise BadInput(
            f"there is no column '{label}' in {where}; name another label, or pass labels=\"reference\" "
            f"if its labels are not known yet"
        )


def is_stream(given: Any) -> bool:
    """Whether it can be read only once."""
    return given == "-" if isinstance(given, str) else False
