"""Tallies that are kept together: by group and window of time, or as the distinct rows of several columns.

Paired comparisons, several classes and agreement need what several columns say of the same row. Their
tally is the table of distinct rows, with how many rows each stands for. Weights are a column like the
others, so that nothing but whole numbers is added, and the sum of days has the bytes of the month.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scorewise.columns.files import join
from scorewise.errors import BadInput, Option
from scorewise.tallies.coarse import Origin, Stored
from scorewise.tallies.tally import Tally

if TYPE_CHECKING:
    import polars as pl

Key = tuple[str, ...]
_MANY = ("score", "raters")  # roles of several columns, as lists


@dataclass(frozen=True, eq=False, repr=False)
class TallySet(Mapping[Key, Tally], Stored):
    """A tally for each combination of groups that occurs; `by` names the columns of the keys.

    The last column is that of time where `window` says how it was cut ("day", ...). `a + b` adds group by
    group; `whole` is the tally of all rows.

    >>> a = TallySet(("site",), {("north",): Tally.of([0, 1], [0.2, 0.9])})
    >>> b = TallySet(("site",), {("south",): Tally.of([0, 1], [0.4, 0.7])})
    >>> a + b
    <TallySet: 4 rows in 2 groups by site>
    >>> (a + b).whole
    <Tally: 4 rows, 2 positive, on 4 scores (probability)>
    """

    by: tuple[str, ...]
    parts: dict[Key, Tally] = field(default_factory=dict)
    window: str | None = None
    origin: Origin = field(default_factory=Origin)  # of all rows, which has the files

    def __getitem__(self, key: str | Key) -> Tally:
        """The tally of a group, by its words; a single word where there is one column."""
        return self.parts[(key,) if isinstance(key, str) else tuple(key)]

    def __iter__(self) -> Iterator[Key]:
        return iter(sorted(self.parts))

    def __len__(self) -> int:
        return len(self.parts)

    @cached_property
    def whole(self) -> Tally:
        """The tally of all rows."""
        total = added(self.parts[key] for key in self)
        known = replace(
            total.origin,
            shards=self.origin.shards,
            dropped=self.origin.dropped,
            sources=self.origin.sources or total.origin.sources,
        )
        return replace(total, origin=known)

    def over(self, by: Sequence[str]) -> TallySet:
        """The same by some of its columns, added up over the others."""
        for name in by:
            if name not in self.by:
                raise BadInput(
                    f"the tally is by {_grouped(self)}, not by '{name}'; make it anew with ",
                    Option("by", name),
                )
        at = [self.by.index(name) for name in by]
        parts: dict[Key, list[Tally]] = {}
        for key in self:
            parts.setdefault(tuple(key[k] for k in at), []).append(self.parts[key])
        made = {key: added(tallies) for key, tallies in parts.items()}
        window = self.window if self.by[-1:] == tuple(by)[-1:] else None
        return TallySet(tuple(by), made, window, self.origin)

    def __add__(self, other: TallySet) -> TallySet:
        _check_groups(self, other)
        parts = {
            key: added(t.parts[key] for t in (self, other) if key in t.parts)
            for key in {*self.parts, *other.parts}
        }
        return TallySet(self.by, parts, self.window, self.origin + other.origin)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TallySet):
            return NotImplemented
        same = (self.by, self.window) == (other.by, other.window)
        return same and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        rows = sum(t.origin.rows for t in self.parts.values())
        return f"<TallySet: {rows:,} rows in {len(self):,} groups by {_grouped(self)}>"


def _grouped(t: TallySet | RowTally) -> str:
    names = " and ".join(t.by) or "nothing"
    return f"{names} (each {t.window})" if t.window else names


def _check_groups(a: TallySet | RowTally, b: TallySet | RowTally) -> None:
    """Refuse to add tallies by other columns, or by other windows of time."""
    if (a.by, a.window) != (b.by, b.window):
        raise BadInput(
            f"one tally is by {_grouped(a)} and the other by {_grouped(b)}; make both with the same ",
            Option("by"), " and ", Option("every"),
        )  # fmt: skip


def added(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies; of no tallies the empty one."""
    total = Tally.empty()
    for t in tallies:
        total = total + t
    return total


@dataclass(frozen=True, eq=False, repr=False)
class RowTally(Stored):
    """Distinct rows of a few columns, and how many rows each stands for; `a + b` merges.

    `roles` are the options with which a verb reads the columns: `label` and `score`, `label` and `classes`,
    or `raters`; and `weight`, `positive`, `kind`, `missing`. The column named `count` has the number of
    rows. `by` names columns of groups, the last of which is of time where `window` says how it was cut.

    >>> t = RowTally.of({"y": [0, 1, 0], "p": [0.2, 0.7, 0.2], "q": [0.1, 0.9, 0.1]},
    ...                 {"label": "y", "score": ["p", "q"]})
    >>> t, t.frame["rows"].to_list()
    (<RowTally: 3 rows, 2 distinct ones of y, p, q>, [2, 1])
    """

    frame: pl.DataFrame
    roles: dict[str, Any]
    by: tuple[str, ...] = ()
    window: str | None = None
    origin: Origin = field(default_factory=Origin)  # the files; it counts no rows

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Any],
        roles: Mapping[str, Any],
        by: Sequence[str] = (),
        window: str | None = None,
        origin: Origin | None = None,
    ) -> RowTally:
        """The tally of columns by name; `roles` may name one that has the rows that each row stands for."""
        import polars as pl

        series = [
            c.alias(n) if isinstance(c, pl.Series) else pl.Series(n, c) for n, c in columns.items()
        ]
        frame, given = pl.DataFrame(series), roles.get("count")
        count = _free("rows", [n for n in columns if n != given])
        if given is None:
            frame = frame.with_columns(pl.lit(1, pl.Int64).alias(count))
        else:
            frame = frame.rename({given: count}).with_columns(pl.col(count).cast(pl.Int64))
        known = {k: v for k, v in roles.items() if v is not None} | {"count": count}
        return cls(_folded(frame, count), known, tuple(by), window, origin or Origin())

    @property
    def count(self) -> str:
        """The name of the column with the number of rows."""
        return str(self.roles["count"])

    @property
    def rows(self) -> int:
        """How many rows it was made of."""
        return int(self.frame[self.count].sum() or 0)

    @property
    def columns(self) -> list[str]:
        """The columns of the rows, without their number."""
        return [c for c in self.frame.columns if c != self.count]

    def options(self, by: Any = None) -> dict[str, Any]:
        """What a verb is given beside the frame; groups are all columns of groups, or some of them."""
        asked = [by] if isinstance(by, str) else list(by or self.by)
        for name in asked:
            if name not in self.by:
                of = (
                    f"is by {' and '.join(self.by)}, not by '{name}'"
                    if self.by
                    else "has no groups"
                )
                raise BadInput(f"the tally {of}; make it anew with ", Option("by", name))
        return {**self.roles, **({"by": asked} if asked else {})}

    def __add__(self, other: RowTally) -> RowTally:
        if not isinstance(other, RowTally):
            return NotImplemented
        _check_groups(self, other)
        for role in sorted({*self.roles, *other.roles}):
            mine, its = self.roles.get(role), other.roles.get(role)
            if mine != its:
                raise BadInput(
                    f"the tallies are of different rows: {role} is {_said(mine)} in one and {_said(its)} "
                    "in the other; only rows that mean the same add up"
                )
        origin = replace(
            self.origin + other.origin,
            sources=tuple(sorted({*self.origin.sources, *other.origin.sources})),
        )
        return replace(self, frame=_below((self.frame, other.frame), self.count), origin=origin)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RowTally):
            return NotImplemented
        same = (self.roles, self.by, self.window) == (other.roles, other.by, other.window)
        return same and self.frame.equals(other.frame)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        names = ", ".join(self.columns)
        return f"<RowTally: {self.rows:,} rows, {self.frame.height:,} distinct ones of {names}>"


def role_columns(roles: Mapping[str, Any], by: Iterable[str] = ()) -> list[str]:
    """The columns that roles name, each once; a number of rows is not among them."""
    found = [roles.get("label"), roles.get("weight")]
    for role in _MANY:
        found += list(roles.get(role) or ())
    found += list((roles.get("classes") or {}).values())
    return list(dict.fromkeys(c for c in (*found, *by) if c is not None))


def _free(name: str, used: Sequence[str]) -> str:
    while name in used:
        name += "_"
    return name


def _folded(frame: pl.DataFrame, count: str) -> pl.DataFrame:
    """Equal rows joined, in an order that depends on nothing but the rows."""
    import polars as pl
    import polars.selectors as cs

    keys = [c for c in frame.columns if c != count]
    plain = frame.with_columns(cs.float() + 0.0)  # folds -0.0 into 0.0
    plain = plain.with_columns(pl.col(pl.Categorical, pl.Enum).cast(pl.String))
    summed = plain.group_by(keys).agg(pl.col(count).sum())
    return summed.sort(keys, nulls_last=True).select(*keys, count).rechunk()


def _below(frames: Sequence[pl.DataFrame], count: str) -> pl.DataFrame:
    import polars as pl

    names = frames[0].columns
    made = [pl.Series(n, join(n, [("one", f[n]) for f in frames])) for n in names]
    return _folded(pl.DataFrame(made), count)


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={v}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "none" if value is None else f"'{value}'"
