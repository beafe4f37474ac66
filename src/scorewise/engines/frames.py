"""The columns of a frame that stays in its engine, checked there: one query, a line for each label."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import numpy as np

from scorewise.checks import one_of
from scorewise.columns import Kind, Labels, Missing
from scorewise.columns.binary import nearly_inside
from scorewise.columns.labels import read_labels
from scorewise.columns.roles import Choice, choose, only
from scorewise.columns.rows import warn
from scorewise.columns.vectors import vector
from scorewise.errors import BadInput, Option

_MOST_LABELS = 10_000  # values of a label that leave the engine
Frame = Any  # nw.LazyFrame, or a part of it in memory
Expr = Any  # nw.Expr
Step = Callable[[Frame], Frame]


def is_engine(source: Any) -> bool:
    """Whether it is a frame that is computed elsewhere, or later, and not a table in memory.

    >>> import polars as pl
    >>> is_engine(pl.LazyFrame({"p": [0.5]})), is_engine(pl.DataFrame({"p": [0.5]})), is_engine("a.csv")
    (True, False, False)
    """
    if source is None or isinstance(source, str | os.PathLike | Mapping | Sequence | np.ndarray):
        return False
    import narwhals as nw

    return isinstance(nw.from_native(source, pass_through=True), nw.LazyFrame)


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
        import narwhals as nw

        if str(frame.implementation) == "dask":
            native = frame.to_native().map_partitions(partial(_in_partition, self, columns))
            return self.of(nw.from_native(native))
        return self.of(columns(frame))

    def of(self, frame: Frame) -> Frame:
        """The totals of a frame that has all columns."""
        import narwhals as nw

        grouped = frame.select(*self.keys, *self.sums, *self.least, *self.greatest)
        made = grouped.group_by(*self.keys).agg(
            *(nw.col(c).sum() for c in self.sums),
            *(nw.col(c).min() for c in self.least),
            *(nw.col(c).max() for c in self.greatest),
        )
        # sums of integers are wider than integers in DuckDB
        return made.with_columns(*(nw.col(c).cast(nw.Int64) for c in self.sums))


def _in_partition(totals: Totals, columns: Step, part: Any) -> Any:
    import narwhals as nw

    return totals.of(columns(nw.from_native(part))).to_native()


@dataclass(frozen=True)
class Spread:
    """What is known of a column of numbers: how many are wrong, and between which ends the others lie."""

    infinite: int
    below: int  # 0
    above: int  # 1
    low: float
    high: float
    least: float  # size of those that are not 0
    inside: float  # distance of those in (0, 1) from 0 or 1


@dataclass(frozen=True)
class Checked:
    """A frame, and a step that makes of it complete rows: `y` (0 or 1), `s0`, ..., `w`, `g0`, ..."""

    frame: Frame
    complete: Step
    labels: Labels
    label: str
    scores: dict[str, Spread]
    narrow: dict[str, bool]  # whether scores have 32 bits or fewer
    half: dict[str, bool]  # whether they have 16
    kinds: dict[str, Kind]
    weight: str | None
    weights: Spread | None
    rows: int
    dropped: int


def chosen(frame: Frame, asked: Mapping[str, Any], beside: Sequence[str] = ()) -> Choice:
    """The columns of each role; what is not named is guessed by name, of scores those that hold numbers."""
    schema = frame.collect_schema()
    names = schema.names()
    choice = choose(names, asked, beside)
    for role, (likely, why) in choice.unsure.items():
        text = [n for n in likely if not _is_number(schema[n])]
        choice.take(role, only(role, [n for n in likely if n not in text], names, text), why)
    for role in ("score", "weight"):
        for name in choice.columns.get(role, {}).values():
            if not _is_number(schema[name]):
                raise BadInput(
                    f"{name} holds {schema[name]} in the engine, not numbers; cast it there, or pass ",
                    Option(role), " with another column",
                )  # fmt: skip
    warn(choice.notes)
    return choice


def _is_number(dtype: Any) -> bool:
    import narwhals as nw

    return bool(dtype.is_numeric()) or dtype == nw.Boolean


def checked(
    frame: Frame, choice: Choice, *, positive: Any, kind: Kind | None, missing: Missing
) -> Checked:
    """The frame with its columns by role, after a query that counts what is wrong with each."""
    import narwhals as nw

    one_of("kind", kind, (None, *get_args(Kind)))
    one_of("missing", missing, get_args(Missing))
    if kind == "logit":
        raise BadInput(
            "log-odds are not tallied in an engine, because engines differ in exp; pass a column of ",
            "probabilities, or ", Option("kind", "score"), " for their order alone",
        )  # fmt: skip
    schema, of = frame.collect_schema(), choice.columns
    label = next(iter(of["label"].values()))
    columns = {"y": label}
    columns |= {f"s{k}": name for k, name in enumerate(of["score"].values())}
    if "weight" in of:
        columns["w"] = next(iter(of["weight"].values()))
    columns |= {f"g{k}": name for k, name in enumerate(of.get("group", {}).values())}
    frame = frame.select(*dict.fromkeys(columns.values()))
    floats = tuple(c for c, name in columns.items() if c[0] in "sw" or schema[name].is_float())
    door = _Door(frame, _Columns(columns, floats))
    found = door.summary()
    if missing == "refuse":
        for c, name in columns.items():
            if many := int(sum(found[f"gone_{c}"])):
                them = "it" if many == 1 else "them"
                raise BadInput(
                    f"{name} is missing {door.rows(many, door.columns.gone(c))}; drop {them} or pass ",
                    Option("missing", "drop"),
                )  # fmt: skip
    total, gone = int(sum(found["rows"])), int(sum(found["gone"]))
    if total == gone:
        raise BadInput("the frame has no rows" if not total else f"all {total:,} rows lack a value")
    spreads = {c: _spread(c, found) for c in door.columns.numbers}
    for c, spread in spreads.items():
        if spread.infinite:
            where = door.rows(spread.infinite, ~nw.col(c).is_finite() & ~door.columns.gone(c))
            raise BadInput(
                f"{columns[c]} is infinite {where}; give it a finite value or leave such rows out"
            )
    if "w" in spreads:
        door.check_weights(spreads["w"])
    kinds = {c: door.kind(c, x, kind) for c, x in spreads.items() if c != "w"}
    labels, up = _labels(found, label, positive)
    clipped = tuple(c for c, k in kinds.items() if k == "probability")
    return Checked(
        frame=frame,
        complete=partial(_complete, door.columns, up, clipped),
        labels=labels,
        label=label,
        scores={c: spreads[c] for c in kinds},
        narrow={c: str(schema[columns[c]]) in ("Float32", "Float16") for c in kinds},
        half={c: str(schema[columns[c]]) == "Float16" for c in kinds},
        kinds=kinds,
        weight=columns.get("w"),
        weights=spreads.get("w"),
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
        return [c for c in self.names if c[0] in "sw"]

    def short(self, frame: Frame, *more: Expr) -> Frame:
        """The columns renamed, numbers as float64."""
        import narwhals as nw

        renamed = {
            c: nw.col(name).cast(nw.Float64) if c in self.numbers else nw.col(name)
            for c, name in self.names.items()
        }
        return frame.select(*more, **renamed)

    def gone(self, c: str) -> Expr:
        """Where a column has no value."""
        import narwhals as nw

        column = nw.col(c)
        return column.is_null() | column.is_nan() if c in self.floats else column.is_null()

    def described(self, frame: Frame) -> Frame:
        """Of each row: what it lacks, and its numbers where they are fit for ends."""
        import narwhals as nw

        frame = self.short(frame).with_columns(rows=nw.lit(1))
        frame = frame.with_columns(**{f"gone_{c}": self.gone(c).cast(nw.Int64) for c in self.names})
        gone = nw.col("gone_y") > 0
        for c in self.names:
            gone = gone | (nw.col(f"gone_{c}") > 0)
        frame = frame.with_columns(gone=gone.cast(nw.Int64))
        kept = nw.col("gone") == 0
        first: dict[str, Expr] = {}
        for c in self.numbers:
            fine = kept & nw.col(c).is_finite()
            first[f"{c}_low"] = nw.when(fine).then(nw.col(c)).otherwise(None)
            first[f"{c}_infinite"] = nw.when(kept & ~nw.col(c).is_finite()).then(1).otherwise(0)
        frame = frame.with_columns(**first)
        more: dict[str, Expr] = {}
        for c in self.numbers:
            x = nw.col(f"{c}_low")
            size = nw.when(x < 0.0).then(0.0 - x).otherwise(x)
            inside = nw.when(x < 0.5).then(x).otherwise(1.0 - x)
            more |= {
                f"{c}_high": x,
                f"{c}_below": nw.when(x < 0.0).then(1).otherwise(0),
                f"{c}_above": nw.when(x > 1.0).then(1).otherwise(0),
                f"{c}_least": nw.when(size > 0.0).then(size).otherwise(None),
                f"{c}_inside": nw.when((x > 0.0) & (x < 1.0)).then(inside).otherwise(None),
            }
        return frame.with_columns(**more)

    def totals(self) -> Totals:
        """What is counted of them, for each label."""
        each = {
            what: [f"{c}_{w}" for c in self.numbers for w in words]
            for what, words in (
                ("sums", ("infinite", "below", "above")),
                ("least", ("low", "least", "inside")),
                ("greatest", ("high",)),
            )
        }
        gone = [f"gone_{c}" for c in self.names]
        sums = ("rows", "gone", *gone, *each["sums"])
        return Totals(("y",), sums, (*each["least"],), (*each["greatest"],))


def _complete(columns: _Columns, up: Sequence[Any], clipped: Sequence[str], frame: Frame) -> Frame:
    """Complete rows, labels as 0 and 1, probabilities within [0, 1], -0.0 as 0.0."""
    import narwhals as nw

    frame = columns.short(frame)
    for c in columns.names:
        frame = frame.filter(~columns.gone(c))
    positive = nw.lit(False)
    for value in up:
        positive = positive | (nw.col("y") == value)
    clean = {}
    for c in columns.numbers:
        x = nw.col(c)
        if c in clipped:
            upper = nw.when(x > 1.0).then(1.0).otherwise(x)
            x = nw.when(x < 0.0).then(0.0).otherwise(upper)
        clean[c] = x + 0.0
    return frame.with_columns(y=nw.when(positive).then(1).otherwise(0), **clean)


@dataclass(frozen=True)
class _Door:
    """Where columns are checked, and refused with their names and numbers of rows."""

    frame: Frame
    columns: _Columns

    def summary(self) -> dict[str, Any]:
        """For each label that occurs: rows, gaps of each column, and the ends of numbers."""
        query = self.columns.totals().query(self.frame, self.columns.described)
        made = query.head(_MOST_LABELS).collect().sort("rows", descending=True)
        found = {name: made[name].to_list() for name in made.columns if name != "y"}
        return found | {"y": made["y"]}

    def rows(self, many: int, where: Expr) -> str:
        """How many rows, and where the engine has an order of rows the first of them."""
        said = "in 1 row" if many == 1 else f"in {many:,} rows"
        if str(self.frame.implementation) != "polars":
            return said
        import narwhals as nw

        place = "scorewise row"
        numbered = nw.from_native(self.frame.to_native().with_row_index(place))
        found = self.columns.short(numbered, nw.col(place)).filter(where)
        first = found.select(nw.col(place).min()).collect()[place].to_list()[0]
        which = f"row {first}, counting from 0"
        return f"{said}, {which}" if many == 1 else f"{said}, first at {which}"

    def check_weights(self, spread: Spread) -> None:
        """Weights are zero or more, not all zero, and can be squared."""
        import narwhals as nw

        name = self.columns.names["w"]
        if spread.below:
            where = self.rows(spread.below, nw.col("w") < 0.0)
            least = f"({spread.low:.6g})"
            raise BadInput(f"{name} is negative {where} {least}; weights are zero or more")
        if spread.high == 0:
            raise BadInput(f"{name} is zero in every row; give at least one row some weight")
        if spread.high > 1e120 or spread.least < 1e-120:
            wrong = spread.high if spread.high > 1e120 else spread.least
            raise BadInput(
                f"{name} is beyond what can be squared ({wrong:.6g}); weights have no unit, so scale "
                f"them all towards 1"
            )

    def kind(self, c: str, spread: Spread, kind: Kind | None) -> Kind:
        """The kind of a score, as said or as its values allow; what rounding put beyond [0, 1] is moved."""
        import narwhals as nw

        name, outside = self.columns.names[c], spread.below + spread.above
        if kind != "probability" or not outside:
            return kind or ("score" if outside else "probability")
        where = self.rows(outside, (nw.col(c) < 0.0) | (nw.col(c) > 1.0))
        if not nearly_inside(spread.low, spread.high):
            far = spread.low if spread.low < 0 else spread.high
            raise BadInput(
                f"{name} is outside [0, 1] {where} (such as {far:.6g}); pass ",
                Option("kind", "score"), " for scores of any scale",
            )  # fmt: skip
        most = max(-spread.low, spread.high - 1)
        warn([f"{name}: outside [0, 1] by at most {most:.1g} {where}, taken as 0 or 1"])
        return "probability"


def _spread(c: str, found: Mapping[str, Any]) -> Spread:
    def known(name: str) -> list[float]:
        values = found[f"{c}_{name}"]
        return [float(x) for x in values if x is not None and not np.isnan(x)]

    infinite, below, above = (int(sum(known(w))) for w in ("infinite", "below", "above"))
    low, high = min(known("low"), default=0.0), max(known("high"), default=0.0)
    least, inside = min(known("least"), default=1.0), min(known("inside"), default=0.5)
    return Spread(infinite, below, above, low, high, least, inside)


def _labels(found: Mapping[str, Any], name: str, positive: Any) -> tuple[Labels, list[Any]]:
    """The classes, and the values of the label that are positive."""
    values = found["y"]
    if len(values) >= _MOST_LABELS:
        raise BadInput(
            f"{name} has {_MOST_LABELS:,} or more distinct values, so it is not a label; pass ",
            Option("label"), " with another column",
        )  # fmt: skip
    used = [rows > gone for rows, gone in zip(found["rows"], found["gone"], strict=True)]
    values = values.filter(used)
    y, labels = read_labels(vector(values.to_native(), name), name, positive)
    if labels.note:
        warn([f"{name}: {labels.note}"])
    return labels, [v for v, up in zip(values.to_list(), y.tolist(), strict=True) if up]
