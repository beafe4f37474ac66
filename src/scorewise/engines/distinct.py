"""Distinct rows of a frame in its engine, counted there: for comparisons and several classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from scorewise.columns.roles import check_columns, class_columns
from scorewise.errors import BadInput, Option
from scorewise.tallies.row_files import Wanted
from scorewise.tallies.sets import RowTally, role_columns

MOST = 1 << 22  # distinct rows that leave the engine


def rows_of_frame(source: Any, wanted: Wanted) -> RowTally:
    """The distinct rows of a frame that stays in its engine, checked once they are here.

    >>> import polars as pl
    >>> frame = pl.LazyFrame({"y": [0, 1, 0], "p": [0.2, 0.4, 0.2], "q": [0.1, 0.7, 0.1]})
    >>> rows_of_frame(frame, Wanted({"label": "y", "score": ["p", "q"]}))
    <RowTally: 3 rows, 2 distinct ones of y, p, q>
    """
    import narwhals as nw

    roles = {role: value for role, value in wanted.roles.items() if value is not None}
    if "count" in roles:
        raise BadInput(
            Option("count"), " is not taken from an engine; repeat rows there, or pass ",
            Option("weight"), " if it says how much a row matters",
        )  # fmt: skip
    if "label" not in roles:
        raise BadInput(Option("label"), " is missing; name the column with the true class")
    frame = nw.from_native(source)
    names = frame.collect_schema().names()
    if "classes" in roles:
        roles["classes"] = class_columns(names, roles["classes"])
    columns, count = _distinct(frame, names, role_columns(roles, wanted.by))
    return replace(wanted, roles={**roles, "count": count}).tally(columns)


def _distinct(frame: Any, names: Sequence[str], wanted: Sequence[str]) -> tuple[Any, str]:
    """The distinct rows, and the name of the column with their number."""
    import narwhals as nw

    check_columns(names, wanted)
    count = "rows"
    while count in wanted:
        count += "_"
    grouped = (
        frame.select(*(nw.col(c) for c in wanted)).group_by(*wanted).agg(nw.len().alias(count))
    )
    many = int(grouped.select(nw.len().alias("n")).collect()["n"][0])
    if many > MOST:
        raise BadInput(
            f"the engine has {many:,} distinct rows of {', '.join(wanted)}, more than the {MOST:,} that "
            "may leave it; round the scores there, such as to 3 digits, or pass one ", Option("score"),
        )  # fmt: skip
    found = grouped.collect()
    return {c: found[c].to_list() for c in found.columns}, count
