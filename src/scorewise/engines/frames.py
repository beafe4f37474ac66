"""The columns of a frame that stays in its engine, checked there: one query, a line for each label.

Of several columns of scores and of several classes, distinct rows are counted there, and checked here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np

from scorewise.columns import Kind, Labels
from scorewise.columns.labels import read_labels
from scorewise.columns.numbers import no_weight
from scorewise.columns.reader import warn
from scorewise.columns.roles import Choice, check_columns, choose, class_columns
from scorewise.columns.rows import clipping_note, nearly_inside
from scorewise.columns.vectors import vector
from scorewise.engines.file_walk import TallyOptions
from scorewise.engines.files import distinct_rows
from scorewise.errors import BadInput, Option
from scorewise.tallies.sets import RowTally, free_name, role_columns

_SHORT = {"y": "label", "s": "score", "w": "weight"}  # what queries call the columns
_NUMBERS = ("s", "w")
_MAX_LABELS = 10_000  # values of a label that leave the engine
_MAX_ROWS = 1 << 22  # and distinct rows
Frame = Any  # nw.LazyFrame, or a part of it in memory
Step = Callable[[Frame], Frame]


def refuse_counts(count: Any) -> None:
    """Refuse a column with the number of rows that each row stands for."""
    if count is not None:
        raise BadInput(
            Option("count"), " is not taken from an engine; repeat rows there, or pass ",
            Option("weight"), " if it says how much a row matters",
        )  # fmt: skip


def rows_of_frame(source: Any, asked: TallyOptions) -> RowTally:
    """The distinct rows of a frame that stays in its engine, checked once they are here.

    >>> import polars as pl
    >>> frame = pl.LazyFrame({"y": [0, 1, 0], "p": [0.2, 0.4, 0.2], "q": [0.1, 0.7, 0.1]})
    >>> rows_of_frame(frame, TallyOptions({"label": "y", "score": ["p", "q"]}))
    <RowTally: 3 rows, 2 distinct ones of y, p, q>
    """
    roles = {role: value for role, value in asked.roles.items() if value is not None}
    refuse_counts(roles.get("count"))
    if "label" not in roles:
        raise BadInput(Option("label"), " is missing; name the column with the true class")
    frame = nw.from_native(source)
    names = frame.collect_schema().names()
    if "classes" in roles:
        roles["classes"] = class_columns(names, roles["classes"])
    wanted = role_columns(roles, asked.by)
    check_columns(names, wanted)
    count = free_name("rows", wanted)
    grouped = frame.select(*map(nw.col, wanted)).group_by(*wanted).agg(nw.len().alias(count))
    rows = int(grouped.select(nw.len().alias("n")).collect()["n"][0])
    if rows > _MAX_ROWS:
        raise BadInput(
            f"the engine has {rows:,} distinct rows of {', '.join(wanted)}, more than the "
            f"{_MAX_ROWS:,} that may leave it; round the scores there, such as to 3 digits, or pass one ",
            Option("score"),
        )
    found = grouped.collect()
    columns = {c: found[c].to_list() for c in found.columns}
    return distinct_rows(columns, replace(asked, roles={**roles, "count": count}))


@dataclass(frozen=True)
class Totals:
    """Rows grouped by keys, with sums of integers, least and greatest values of the other columns.

    Totals of totals are the totals of all, in any order.
    """

    keys: tuple[str, ...]
    sums: tuple[str, ...]
    least: tuple[str, ...]
    greatest: tuple[str, ...]

    def query(self, frame: Frame, columns: Step) -> Frame:
        """The totals of the columns that a step makes of each row.

        Dask plans each operation by itself, which takes longer than to run them: there the step, and the
        totals of each partition, are one operation.
        """
        if str(frame.implementation) == "dask":
            native = frame.to_native().map_partitions(partial(_in_partition, self, columns))
            return self.of(nw.from_native(native))
        return self.of(columns(frame))

    def of(self, frame: Frame) -> Frame:
        """The totals of a frame that has all columns."""
        grouped = frame.select(*self.keys, *self.sums, *self.least, *self.greatest)
        made = grouped.group_by(*self.keys).agg(
            *(nw.col(c).sum() for c in self.sums),
            *(nw.col(c).min() for c in self.least),
            *(nw.col(c).max() for c in self.greatest),
        )
        # sums of integers are wider than integers in DuckDB
        return made.with_columns(*(nw.col(c).cast(nw.Int64) for c in self.sums))


def _in_partition(totals: Totals, columns: Step, part: Any) -> Any:
    return totals.of(columns(nw.from_native(part))).to_native()


@dataclass(frozen=True)
class Range:
    """Between which ends the values of a column of numbers lie."""

    low: float
    high: float
    least: float  # size of those that are not 0
    inside: float  # distance of those in (0, 1) from 0 or 1


@dataclass(frozen=True)
class CheckedFrame:
    """A frame, and a step that makes of it complete rows: `y` (0 or 1), `s`, `w`, `g0`, ..."""

    frame: Frame
    complete: Step
    labels: Labels
    names: dict[str, str]  # of the columns
    score: Range
    narrow: bool  # whether scores have 32 bits or fewer
    half: bool  # whether they have 16
    kind: Kind
    weight: Range | None
    rows: int
    dropped: int


def choose_columns(frame: Frame, asked: TallyOptions) -> Choice:
    """The columns of each role; what is not named is guessed by name, of scores those that hold numbers."""
    schema = frame.collect_schema()
    columns = {role: asked.roles.get(role) for role in _SHORT.values()}
    choice = choose(schema.names(), columns | {"group": asked.groups or None})
    choice.settle(lambda name: not _is_number(schema[name]), schema.names())
    for role in ("score", "weight"):
        for name in choice.columns.get(role, []):
            if not _is_number(schema[name]):
                raise BadInput(
                    f"{name} holds {schema[name]} in the engine, not numbers; cast it there, or pass ",
                    Option(role), " with another column",
                )  # fmt: skip
    warn(choice.notes)
    return choice


def _is_number(dtype: Any) -> bool:
    return bool(dtype.is_numeric()) or dtype == nw.Boolean


def check_frame(frame: Frame, choice: Choice, asked: TallyOptions) -> CheckedFrame:
    """The frame with its columns by role, after a query that tells what is wrong with them."""
    if asked.roles.get("kind") == "logit":
        raise BadInput(
            "log-odds are not tallied in an engine, because engines differ in exp; pass a column of ",
            "probabilities, or ", Option("kind", "score"), " for their order alone",
        )  # fmt: skip
    schema, of = frame.collect_schema(), choice.columns
    names = {c: of[role][0] for c, role in _SHORT.items() if role in of}
    names |= {f"g{k}": name for k, name in enumerate(of.get("group", []))}
    floats = tuple(c for c, name in names.items() if c in _NUMBERS or schema[name].is_float())
    columns = _Columns(names, floats)
    checks = _FrameChecks(frame.select(*dict.fromkeys(names.values())), columns)
    found = columns.totals().query(checks.frame, columns.described).head(_MAX_LABELS).collect()
    found = found.sort("rows", descending=True)
    total, gone = int(found["rows"].sum()), int(found["gone"].sum())
    if gone and asked.roles.get("missing", "refuse") == "refuse":
        checks.refuse_missing()
    if total == gone:
        raise BadInput("the frame has no rows" if not total else f"all {total:,} rows lack a value")
    ranges = {c: _range(c, found) for c in columns.numbers}
    checks.check_numbers(ranges)
    kind = checks.kind(ranges["s"], asked.roles.get("kind"))
    labels, positive = _labels(found, names["y"], asked.roles.get("positive"))
    word = str(schema[names["s"]])
    return CheckedFrame(
        frame=checks.frame,
        complete=partial(_complete, columns, positive, kind == "probability"),
        labels=labels,
        names=names,
        score=ranges["s"],
        narrow=word in ("Float32", "Float16"),
        half=word == "Float16",
        kind=kind,
        weight=ranges.get("w"),
        rows=total - gone,
        dropped=gone,
    )


@dataclass(frozen=True)
class _Columns:
    """Columns by short names; which of them may be NaN."""

    names: dict[str, str]
    floats: tuple[str, ...]

    @property
    def numbers(self) -> list[str]:
        """Scores and weights."""
        return [c for c in self.names if c in _NUMBERS]

    def short(self, frame: Frame, *more: nw.Expr) -> Frame:
        """The columns renamed, numbers as float64."""
        renamed = {
            c: nw.col(name).cast(nw.Float64) if c in self.numbers else nw.col(name)
            for c, name in self.names.items()
        }
        return frame.select(*more, **renamed)

    def gone(self, *columns: str) -> nw.Expr:
        """Where one of the columns, or of all, has no value."""
        found = nw.lit(False)
        for c in columns or self.names:
            column = nw.col(c)
            found = found | column.is_null()
            if c in self.floats:
                found = found | column.is_nan()
        return found

    def described(self, frame: Frame) -> Frame:
        """Of each row: whether it lacks something, and else its numbers where they are fit for ends."""
        gone = self.gone()
        frame = self.short(frame).with_columns(
            rows=nw.lit(1),
            gone=gone.cast(nw.Int64),
            **{f"{c}_low": nw.when(~gone).then(nw.col(c)).otherwise(None) for c in self.numbers},
        )
        more: dict[str, nw.Expr] = {}
        for c in self.numbers:
            x = nw.col(f"{c}_low")
            size = nw.when(x < 0.0).then(0.0 - x).otherwise(x)
            inside = nw.when(x < 0.5).then(x).otherwise(1.0 - x)
            more |= {
                f"{c}_high": x,
                f"{c}_least": nw.when(size > 0.0).then(size).otherwise(None),
                f"{c}_inside": nw.when((x > 0.0) & (x < 1.0)).then(inside).otherwise(None),
            }
        return frame.with_columns(**more)

    def totals(self) -> Totals:
        """What is counted of them, for each label."""
        least = tuple(f"{c}_{end}" for c in self.numbers for end in ("low", "least", "inside"))
        return Totals(("y",), ("rows", "gone"), least, tuple(f"{c}_high" for c in self.numbers))


def _complete(columns: _Columns, positive: Sequence[Any], clipped: bool, frame: Frame) -> Frame:
    """Complete rows, labels as 0 and 1, probabilities within [0, 1], -0.0 as 0.0."""
    frame = columns.short(frame)
    for c in columns.names:
        frame = frame.filter(~columns.gone(c))
    is_positive = nw.lit(False)
    for value in positive:
        is_positive = is_positive | (nw.col("y") == value)
    clean = {}
    for c in columns.numbers:
        x = nw.col(c)
        if c == "s" and clipped:
            upper = nw.when(x > 1.0).then(1.0).otherwise(x)
            x = nw.when(x < 0.0).then(0.0).otherwise(upper)
        clean[c] = x + 0.0
    return frame.with_columns(y=nw.when(is_positive).then(1).otherwise(0), **clean)


@dataclass(frozen=True)
class _FrameChecks:
    """Where columns are checked, and refused with their names and numbers of rows."""

    frame: Frame
    columns: _Columns

    def rows(self, where: nw.Expr) -> str:
        """How many rows, and where the engine has an order of rows the first of them; empty if none."""
        frame, first = self.frame, ""
        place = [nw.col("scorewise row")] if str(frame.implementation) == "polars" else []
        if place:
            frame = nw.from_native(frame.to_native().with_row_index("scorewise row"))
        found = self.columns.short(frame, *place).filter(where)
        made = found.select(nw.len().alias("n"), *(p.min() for p in place)).collect()
        many = int(made["n"].to_list()[0])
        if place and many:
            first = f"row {made['scorewise row'].to_list()[0]}, counting from 0"
        if many < 2:
            return many * ("in 1 row" + (first and f", {first}"))
        return f"in {many:,} rows" + (first and f", first at {first}")

    def refuse_missing(self) -> None:
        """Refuse the first column that has no value in every row."""
        for c, name in self.columns.names.items():
            if rows := self.rows(self.columns.gone(c)):
                them = "it" if rows.startswith("in 1 row") else "them"
                raise BadInput(
                    f"{name} is missing {rows}; drop {them} or pass ", Option("missing", "drop")
                )

    def among_complete(self, where: nw.Expr) -> str:
        """How many complete rows, and the first of them."""
        return self.rows(where & ~self.columns.gone())

    def check_numbers(self, ranges: dict[str, Range]) -> None:
        """Numbers are finite; weights are zero or more, not all zero, and can be squared."""
        for c, r in ranges.items():
            name = self.columns.names[c]
            if np.isinf((r.low, r.high)).any():
                rows = self.among_complete(~nw.col(c).is_finite())
                raise BadInput(
                    f"{name} is infinite {rows}; give it a finite value or leave such rows out"
                )
        if "w" not in ranges:
            return
        if r.low < 0:
            rows = self.among_complete(nw.col("w") < 0.0)
            raise BadInput(f"{name} is negative {rows} ({r.low:.6g}); weights are zero or more")
        if r.high == 0:
            raise no_weight(name)
        if r.high > 1e120 or r.least < 1e-120:
            wrong = r.high if r.high > 1e120 else r.least
            raise BadInput(
                f"{name} is beyond what can be squared ({wrong:.6g}); weights have no unit, so scale "
                f"them all towards 1"
            )

    def kind(self, r: Range, kind: Kind | None) -> Kind:
        """The kind of the scores, said or as values allow; what rounding put beyond [0, 1] is clipped."""
        inside = r.low >= 0 and r.high <= 1
        if kind != "probability" or inside:
            return kind or ("probability" if inside else "score")
        name = self.columns.names["s"]
        rows = self.among_complete((nw.col("s") < 0.0) | (nw.col("s") > 1.0))
        if not nearly_inside(r.low, r.high):
            far = r.low if r.low < 0 else r.high
            raise BadInput(
                f"{name} is outside [0, 1] {rows} (such as {far:.6g}); pass ",
                Option("kind", "score"), " for scores of any scale",
            )  # fmt: skip
        warn([clipping_note(name, rows, r.low, r.high)])
        return "probability"


def _range(c: str, found: Any) -> Range:
    def values(end: str) -> list[float]:
        return [x for x in found[f"{c}_{end}"].to_list() if x is not None and not np.isnan(x)]

    low, high = float(min(values("low"))), float(max(values("high")))
    least, inside = min(values("least"), default=1.0), min(values("inside"), default=0.5)
    return Range(low, high, float(least), float(inside))


def _labels(found: Any, name: str, positive: Any) -> tuple[Labels, list[Any]]:
    """The classes, and the values of the label that are positive."""
    if len(found) >= _MAX_LABELS:
        raise BadInput(
            f"{name} has {_MAX_LABELS:,} or more distinct values, so it is not a label; pass ",
            Option("label"), " with another column",
        )  # fmt: skip
    values = found.filter(nw.col("rows") > nw.col("gone"))["y"]
    y, labels = read_labels(vector(values.to_native(), name), name, positive)
    if labels.note:
        warn([f"{name}: {labels.note}"])
    return labels, [v for v, yes in zip(values.to_list(), y.tolist(), strict=True) if yes]
