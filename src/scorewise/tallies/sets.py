"""Tallies that are kept together: by group and window of time, or as the distinct rows of several columns.

Paired comparisons, several classes and agreement need what several columns say of the same row. Their
tally is the table of distinct rows, with how many rows each stands for. Weights are a column like the
others, so that nothing but whole numbers is added, and the sum of days has the bytes of the month.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from scorewise.arrays import EqualByFields
from scorewise.columns.files import join
from scorewise.errors import BadInput, Option
from scorewise.tallies.origin import Origin, Stored
from scorewise.tallies.tally import Tally

if TYPE_CHECKING:
    import polars as pl

Key = tuple[str, ...]
Part = TypeVar("Part")
_MANY = ("score", "raters")  # roles of several columns, as lists


@dataclass(frozen=True, eq=False, repr=False)
class TallySet(Stored, EqualByFields, Mapping[Key, Tally]):
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
    _identity = ("by", "window", "parts")

    def __getitem__(self, key: str | Key) -> Tally:
        """The tally of a group, by its words; a single word where there is one column."""
        return self.parts[(key,) if isinstance(key, str) else tuple(key)]

    def __iter__(self) -> Iterator[Key]:
        return iter(sorted(self.parts))

    def __len__(self) -> int:
        return len(self.parts)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.origin.rows

    @property
    def cells(self) -> int:
        """The number of distinct scores, or of cells, in all groups."""
        return sum(t.cells for t in self.parts.values())

    @cached_property
    def whole(self) -> Tally:
        """The tally of all rows."""
        total = sum((self.parts[key] for key in self), Tally.empty())
        origin = replace(
            total.origin,
            shards=self.origin.shards,
            dropped=self.origin.dropped,
            sources=self.origin.sources or total.origin.sources,
        )
        return replace(total, origin=origin)

    def over(self, by: Sequence[str]) -> TallySet:
        """The same by some of its columns, added up over the others."""
        _check_by(self, by)
        at = [self.by.index(name) for name in by]
        sums = _sums((tuple(key[k] for k in at), self.parts[key]) for key in self)
        window = self.window if self.by[-1:] == tuple(by)[-1:] else None
        return TallySet(tuple(by), sums, window, self.origin)

    def __add__(self, other: TallySet) -> TallySet:
        _check_groups(self, other)
        parts = _sums((*self.parts.items(), *other.parts.items()))
        return TallySet(self.by, parts, self.window, self.origin + other.origin)

    def __repr__(self) -> str:
        rows = sum(t.origin.rows for t in self.parts.values())
        return f"<TallySet: {rows:,} rows in {len(self):,} groups by {_grouped(self)}>"


def _sums(tallies: Iterable[tuple[Key, Tally]]) -> dict[Key, Tally]:
    sums: dict[Key, Tally] = {}
    for key, t in tallies:
        sums[key] = sums.get(key, Tally.empty()) + t
    return sums


def _grouped(t: TallySet | RowTally) -> str:
    names = " and ".join(t.by) or "nothing"
    return f"{names} (each {t.window})" if t.window else names


def _check_by(t: TallySet | RowTally, by: Sequence[str]) -> None:
    """Refuse groups by columns that a tally does not have."""
    for name in by:
        if name not in t.by:
            of = f"is by {_grouped(t)}, not by '{name}'" if t.by else "has no groups"
            raise BadInput(f"the tally {of}; make it anew with ", Option("by", name))


def _check_groups(a: TallySet | RowTally, b: TallySet | RowTally) -> None:
    """Refuse to add tallies by other columns, or by other windows of time."""
    if (a.by, a.window) != (b.by, b.window):
        raise BadInput(
            f"one tally is by {_grouped(a)} and the other by {_grouped(b)}; make both with the same ",
            Option("by"), " and ", Option("every"),
        )  # fmt: skip


def pile(
    sums: list[Part],
    t: Part,
    add: Callable[[Part, Part], Part] = operator.add,
    cells: Callable[[Part], int] = operator.attrgetter("cells"),
) -> None:
    """Add to a growing sum, small parts to each other first, so that each is seldom merged."""
    while sums and cells(sums[-1]) <= 2 * cells(t):
        t = add(sums.pop(), t)
    sums.append(t)


@dataclass(frozen=True, eq=False, repr=False)
class RowTally(Stored, EqualByFields):
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
    _identity = ("roles", "by", "window", "frame")

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

        frame, count_column = pl.DataFrame(dict(columns)), roles.get("count")
        count = free_name("rows", [n for n in columns if n != count_column])
        if count_column is None:
            frame = frame.with_columns(pl.lit(1, pl.Int64).alias(count))
        else:
            frame = frame.rename({count_column: count}).with_columns(pl.col(count).cast(pl.Int64))
        named = {k: v for k, v in roles.items() if v is not None} | {"count": count}
        return cls(_folded(frame, count), named, tuple(by), window, origin or Origin())

    @property
    def count(self) -> str:
        """The name of the column with the number of rows."""
        return str(self.roles["count"])

    @property
    def rows(self) -> int:
        """How many rows it was made of."""
        return int(self.frame[self.count].sum() or 0)

    @property
    def cells(self) -> int:
        """How many rows are distinct."""
        return self.frame.height

    @property
    def columns(self) -> list[str]:
        """The columns of the rows, without their number."""
        return [c for c in self.frame.columns if c != self.count]

    def options(self, by: Any = None) -> dict[str, Any]:
        """What a verb is given beside the frame; groups are all columns of groups, or some of them."""
        groups = [by] if isinstance(by, str) else list(by or self.by)
        _check_by(self, groups)
        return {**self.roles, **({"by": groups} if groups else {})}

    def __add__(self, other: RowTally) -> RowTally:
        if not isinstance(other, RowTally):
            return NotImplemented
        _check_groups(self, other)
        for role in sorted({*self.roles, *other.roles}):
            mine, its = self.roles.get(role), other.roles.get(role)
            if mine != its:
                raise BadInput(
                    f"the tallies are of different rows: {role} is {said(mine)} in one and {said(its)} "
                    "in the other; only rows that mean the same add up"
                )
        origin = replace(
            self.origin + other.origin,
            sources=tuple(sorted({*self.origin.sources, *other.origin.sources})),
        )
        return replace(self, frame=_below((self.frame, other.frame), self.count), origin=origin)

    def __repr__(self) -> str:
        names = ", ".join(self.columns)
        return f"<RowTally: {self.rows:,} rows, {self.cells:,} distinct ones of {names}>"


def role_columns(roles: Mapping[str, Any], by: Iterable[str] = ()) -> list[str]:
    """The columns that roles name, each once; a number of rows is not among them."""
    columns = [roles.get("label"), roles.get("weight")]
    for role in _MANY:
        columns += list(roles.get(role) or ())
    columns += list((roles.get("classes") or {}).values())
    return list(dict.fromkeys(c for c in (*columns, *by) if c is not None))


def free_name(name: str, used: Sequence[str]) -> str:
    """The name, with underscores behind it where it is used already."""
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
    columns = [pl.Series(n, join(n, [("one", f[n]) for f in frames])) for n in names]
    return _folded(pl.DataFrame(columns), count)


def said(value: Any) -> str:
    """A name in quotes, or several as a list."""
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={v}" for k, v in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value))
    return "none" if value is None else f"'{value}'"
