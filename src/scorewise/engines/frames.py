"""The columns of a frame that stays in its engine, checked there: one query, a line for each label."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from scorewise.columns import Kind, Labels, Missing
from scorewise.columns.binary import nearly_inside
from scorewise.columns.labels import read_labels
from scorewise.columns.roles import Choice, choose, only
from scorewise.columns.rows import one_of, warn
from scorewise.columns.vectors import vector
from scorewise.errors import BadInput, Option

_MOST_LABELS = 10_000  # values of a label that leave the engine
Frame = Any  # nw.LazyFrame
Expr = Any  # nw.Expr


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


def _reals(names: Sequence[str]) -> list[Expr]:
    import narwhals as nw

    return [nw.col(name) for name in names]


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
    """A frame with the columns `y` (0 or 1), `s0`, `s1`, ..., `w` and `g0`, `g1`, ..., of complete rows."""

    frame: Frame
    labels: Labels
    label: str
    scores: dict[str, Spread]
    narrow: dict[str, bool]  # whether scores have 32 bits or fewer
    kinds: dict[str, Kind]
    weight: str | None
    weights: Spread | None
    groups: tuple[str, ...]
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
    source: Any, choice: Choice, *, positive: Any, kind: Kind | None, missing: Missing
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
    frame = source if isinstance(source, nw.LazyFrame) else nw.from_native(source)
    schema, of = frame.collect_schema(), choice.columns
    label = next(iter(of["label"].values()))
    columns = {"y": label}
    columns |= {f"s{k}": name for k, name in enumerate(of["score"].values())}
    columns |= {"w": name for name in of.get("weight", {}).values()}
    columns |= {f"g{k}": name for k, name in enumerate(of.get("group", {}).values())}
    numbers = [c for c in columns if c[0] in "sw"]
    view = _View(frame, columns, numbers, schema)
    found = view.summary()
    counts = {c: int(sum(found[f"gone_{c}"])) for c in columns}
    if missing == "refuse":
        for c, many in counts.items():
            if many:
                them = "it" if many == 1 else "them"
                raise BadInput(
                    f"{columns[c]} is missing {view.rows(many, _gone(c, view))}; drop {them} or pass ",
                    Option("missing", "drop"),
                )  # fmt: skip
    total, gone = int(sum(found["rows"])), int(sum(found["gone"]))
    if total == gone:
        raise BadInput(
            "the frame has no rows" if not total else f"all {total:,} rows lack a value"
        )
    spreads = {c: _spread(c, found) for c in numbers}
    for c, spread in spreads.items():
        if spread.infinite:
            infinite = ~nw.col(c).is_finite()
            raise BadInput(
                f"{columns[c]} is infinite {view.rows(spread.infinite, infinite)}; give it a finite "
                f"value or leave such rows out"
            )
    if "w" in spreads:
        _check_weights(view, spreads["w"])
    kinds: dict[str, Kind] = {c: _kind(view, c, spreads[c], kind) for c in numbers if c != "w"}
    labels, up = _labels(view, found, label, positive)
    return Checked(
        frame=view.complete(up, kinds),
        labels=labels,
        label=label,
        scores={c: spreads[c] for c in kinds},
        narrow={c: schema[columns[c]] in (nw.Float32, nw.Float16) for c in kinds},
        kinds=kinds,
        weight=columns.get("w"),
        weights=spreads.get("w"),
        groups=tuple(of.get("group", {}).values()),
        rows=total - gone,
        dropped=gone,
    )


@dataclass(frozen=True)
class _View:
    """The wanted columns of a frame under short names."""

    frame: Frame
    columns: dict[str, str]
    numbers: list[str]
    schema: Mapping[str, Any]

    def short(self, frame: Frame) -> Frame:
        """The columns renamed, numbers as float64."""
        import narwhals as nw

        return frame.select(
            **{
                c: nw.col(name).cast(nw.Float64) if c in self.numbers else nw.col(name)
                for c, name in self.columns.items()
            }
        )

    def summary(self) -> dict[str, Any]:
        """For each label that occurs: rows, gaps of each column, and the spread of numbers."""
        import narwhals as nw

        frame = self.short(self.frame)
        frame = frame.with_columns(
            **{f"gone_{c}": _gone(c, self).cast(nw.Int64) for c in self.columns}
        )
        any_gone = _gone("y", self)
        for c in self.columns:
            any_gone = any_gone | (nw.col(f"gone_{c}") > 0)
        frame = frame.with_columns(gone=any_gone.cast(nw.Int64))
        fine = {c: (nw.col("gone") == 0) & nw.col(c).is_finite() for c in self.numbers}
        frame = frame.with_columns(
            **{f"{c}_ok": nw.when(ok).then(nw.col(c)).otherwise(None) for c, ok in fine.items()},
            **{
                f"{c}_infinite": nw.when(nw.col("gone") == 0)
                .then((~nw.col(c).is_finite()).cast(nw.Int64))
                .otherwise(0)
                for c in self.numbers
            },
        )
        more: dict[str, Expr] = {}
        for c in self.numbers:
            x = nw.col(f"{c}_ok")
            near = nw.when(x < 0.5).then(x).otherwise(1.0 - x)
            more |= {
                f"{c}_below": nw.when(x < 0.0).then(1).otherwise(0),
                f"{c}_above": nw.when(x > 1.0).then(1).otherwise(0),
                f"{c}_size": nw.when(x > 0.0)
                .then(x)
                .otherwise(nw.when(x < 0.0).then(0.0 - x).otherwise(None)),
                f"{c}_inside": nw.when((x > 0.0) & (x < 1.0)).then(near).otherwise(None),
            }
        frame = frame.with_columns(**more)
        sums = [f"gone_{c}" for c in self.columns] + ["gone"]
        sums += [f"{c}_{what}" for c in self.numbers for what in ("infinite", "below", "above")]
        ends = {
            f"{c}_{name}": getattr(nw.col(f"{c}_{of}"), how)()
            for c in self.numbers
            for name, of, how in (
                ("low", "ok", "min"),
                ("high", "ok", "max"),
                ("least", "size", "min"),
                ("in", "inside", "min"),
            )
        }
        grouped = frame.group_by("y").agg(
            nw.len().alias("rows"), *(nw.col(name).sum() for name in sums), **ends
        )
        whole = [nw.col(name).cast(nw.Int64) for name in ("rows", *sums)]
        made = grouped.with_columns(*whole).head(_MOST_LABELS).collect()
        made = made.sort("rows", descending=True)
        found = {name: made[name].to_list() for name in made.columns if name != "y"}
        return found | {"y": made["y"]}

    def rows(self, many: int, where: Expr) -> str:
        """How many rows, and where the engine has an order of rows the first of them."""
        said = "in 1 row" if many == 1 else f"in {many:,} rows"
        if str(self.frame.implementation) != "polars":
            return said
        import narwhals as nw

        place = "scorewise row"
        native = self.frame.to_native().with_row_index(place)
        numbered = nw.from_native(native).select(
            nw.col(place),
            **{
                c: nw.col(name).cast(nw.Float64) if c in self.numbers else nw.col(name)
                for c, name in self.columns.items()
            },
        )
        first = numbered.filter(where).select(nw.col(place).min()).collect()[place].to_list()[0]
        which = f"row {first}, counting from 0"
        return f"{said}, {which}" if many == 1 else f"{said}, first at {which}"

    def complete(self, up: Sequence[Any], kinds: Mapping[str, Kind]) -> Frame:
        """Complete rows, labels as 0 and 1, probabilities within [0, 1], -0.0 as 0.0."""
        import narwhals as nw

        frame = self.short(self.frame)
        for c in self.columns:
            frame = frame.filter(~_gone(c, self))
        positive = nw.lit(False)
        for value in up:
            positive = positive | (nw.col("y") == value)
        clean = {c: nw.col(c) + 0.0 for c in self.numbers}
        for c, kind in kinds.items():
            if kind == "probability":
                s = nw.col(c)
                clean[c] = nw.when(s < 0.0).then(0.0).otherwise(
                    nw.when(s > 1.0).then(1.0).otherwise(s)
                ) + 0.0  # fmt: skip
        return frame.with_columns(y=nw.when(positive).then(1).otherwise(0), **clean)


def _gone(c: str, view: _View) -> Expr:
    """Where a column has no value."""
    import narwhals as nw

    column = nw.col(c)
    if c in view.numbers or view.schema[view.columns[c]].is_float():
        return column.is_null() | column.is_nan()
    return column.is_null()


def _spread(c: str, found: Mapping[str, Any]) -> Spread:
    def known(name: str) -> list[float]:
        values = found[f"{c}_{name}"]
        return [float(x) for x in values if x is not None and not np.isnan(x)]

    infinite, below, above = (
        int(sum(known(name))) for name in ("infinite", "below", "above")
    )  # fmt: skip
    low, high = min(known("low"), default=0.0), max(known("high"), default=0.0)
    least, inside = min(known("least"), default=1.0), min(known("in"), default=0.5)
    return Spread(infinite, below, above, low, high, least, inside)


def _check_weights(view: _View, spread: Spread) -> None:
    """Weights are zero or more, not all zero, and can be squared."""
    import narwhals as nw

    name = view.columns["w"]
    if spread.below:
        where = view.rows(spread.below, nw.col("w") < 0.0)
        raise BadInput(f"{name} is negative {where} ({spread.low:.6g}); weights are zero or more")
    if spread.high == 0:
        raise BadInput(f"{name} is zero in every row; give at least one row some weight")
    if spread.high > 1e120 or spread.least < 1e-120:
        wrong = spread.high if spread.high > 1e120 else spread.least
        raise BadInput(
            f"{name} is beyond what can be squared ({wrong:.6g}); weights have no unit, so scale them "
            f"all towards 1"
        )


def _kind(view: _View, c: str, spread: Spread, kind: Kind | None) -> Kind:
    """The kind of a score, as said or as its values allow; a few beyond [0, 1] by rounding are moved."""
    import narwhals as nw

    name, outside = view.columns[c], spread.below + spread.above
    if kind != "probability" or not outside:
        return kind or ("score" if outside else "probability")
    where = view.rows(outside, (nw.col(c) < 0.0) | (nw.col(c) > 1.0))
    if not nearly_inside(spread.low, spread.high):
        far = spread.low if spread.low < 0 else spread.high
        raise BadInput(
            f"{name} is outside [0, 1] {where} (such as {far:.6g}); pass ",
            Option("kind", "score"), " for scores of any scale",
        )  # fmt: skip
    most = max(-spread.low, spread.high - 1)
    warn([f"{name}: outside [0, 1] by at most {most:.1g} {where}, taken as 0 or 1"])
    return "probability"


def _labels(
    view: _View, found: Mapping[str, Any], name: str, positive: Any
) -> tuple[Labels, list[Any]]:
    """The classes, and the values of the label that are positive."""
    values = found["y"]
    if len(values) >= _MOST_LABELS:
        raise BadInput(f"{name} has {_MOST_LABELS:,} or more distinct values; name a label")
    used = [rows > gone for rows, gone in zip(found["rows"], found["gone"], strict=True)]
    values = values.filter(used)
    y, labels = read_labels(vector(values.to_native(), name), name, positive)
    if labels.note:
        warn([f"{name}: {labels.note}"])
    return labels, [v for v, up in zip(values.to_list(), y.tolist(), strict=True) if up]
