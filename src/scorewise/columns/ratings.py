"""Ratings of items by raters, checked once: wide, long, as counts or as a table of two raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import one_of
from scorewise.columns.grouping import check_groups
from scorewise.columns.labels import listed, text, word_codes
from scorewise.columns.layouts import Layout, guessed
from scorewise.columns.numbers import Place, numbers, weights
from scorewise.columns.numbers import counts as checked_counts
from scorewise.columns.rating_codes import (
    MOST_CELLS,
    Codes,
    RatingList,
    category_values,
    coded_ratings,
    given_categories,
)
from scorewise.columns.reader import Columns, read
from scorewise.columns.roles import class_columns
from scorewise.columns.rows import CheckedRows
from scorewise.columns.vectors import Vector, vector
from scorewise.errors import BadInput, Option

Scale = Literal["nominal", "ordinal", "interval", "ratio"]


@dataclass(frozen=True)
class RatingRows(CheckedRows):
    """Checked ratings: `codes` are items x raters, places in `categories`, -1 where nothing was said.

    They are `given` as that table, or one by one as a list, where most of it would be empty. `values`
    are the numbers of the categories, or their places where they are words. `raters` is None where it is
    not known who said what: then each item's ratings are in no order of raters. `notes` say how the
    ratings were read, `guesses` which columns were not named and how their values were written. Weights,
    counts, clusters and groups are those of items. Where an item has several rows, `first` is the first of
    them, and `place` is that of rows.
    """

    given: Codes | RatingList
    categories: tuple[str, ...]
    values: Floats
    scale: Scale
    raters: tuple[str, ...] | None
    declared: bool = False
    items: list[Any] | None = None
    guesses: tuple[str, ...] = ()
    first: Ints | None = None

    _values = ("first",)

    def __len__(self) -> int:
        """How many items there are."""
        return int(self.given.shape[0])

    @cached_property
    def codes(self) -> Codes:
        """Items x raters."""
        return self.given.table() if isinstance(self.given, RatingList) else self.given


def rating_rows(
    source: Any = None,
    *,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    encoding: str | None = None,
    **columns: Any,
) -> RatingRows:
    """Ratings by the names of their columns in files or frames; without a source, the columns themselves.

    A row has one item, with a column for each of the `raters`, or with `counts` of those who chose each
    category, whoever they were; or it has one `rating` of an `item` by a `rater`. What is missing was not
    rated. `form` says what all columns that are not named are: "items", one for each rater; "counts", one
    for each category; or the square "table" of two raters, with the first one's categories in the column
    `item`, or in the order of the columns. Columns that are not named are guessed, and a note says so.
    `columns` are those of a `Layout`.

    >>> rows = rating_rows(raters={"ann": ["yes", "no", None], "bob": ["yes", "yes", "no"]})
    >>> rows.codes.tolist(), rows.categories
    ([[1, 1], [0, 1], [-1, 0]], ('no', 'yes'))
    >>> rating_rows(counts={"no": [2, 0], "yes": [1, 2]}).codes.tolist()
    [[0, 0, 1], [1, 1, -1]]
    >>> rating_rows({"item": [1, 2], "ann": ["yes", "no"], "bob": ["yes", "yes"]}).guesses
    ("raters: columns 'ann', 'bob' (not named; 'item' names the items)",)
    """
    one_of("scale", scale, get_args(Scale))
    layout = Layout(**columns)
    notes: tuple[str, ...] = ()
    if source is not None:
        from scorewise.columns.files import open_source

        source = open_source(source, encoding)
        layout, notes = guessed(source, layout)
        if layout.groups is not None:
            counts_of = [*layout.counts.values()] if isinstance(layout.counts, Mapping) else []
            used = {r: getattr(layout, r) for r in ("rating", "weight")}
            used |= {"rater": [*layout.raters, layout.rater], "count": [layout.count, *counts_of]}
            check_groups(layout.groups, used)
    if layout.form == "table":
        rows = _table_of(source, layout, scale, categories)
    elif layout.counts is not None:
        rows = _counted(source, layout, scale, categories)
    elif layout.rating is not None:
        rows = _long(source, layout, scale, categories)
    else:
        rows = _wide(source, layout, scale, categories)
    return replace(rows, guesses=(*notes, *rows.guesses))


_GIVE = dict.fromkeys(("weight", "count", "cluster", "group"), "give each item one")


def _wide(source: Any, layout: Layout, scale: Scale, categories: Any) -> RatingRows:
    """A column for each rater, a row for each item."""
    many = len(layout.raters)
    if many < 2:
        raise BadInput(
            f"there are ratings of {many} rater; agreement needs a column for each of two or ",
            "more, or ", Option("rating"), " for one rating in each row",
        )  # fmt: skip
    found, checked = _items(source, layout, "rating", layout.raters)
    c = coded_ratings(found["rating"], scale, categories, found.place)
    raters = tuple(found["rating"])
    return RatingRows(c.codes, c.categories, c.values, scale, raters, c.declared, **checked)


def _items(source: Any, layout: Layout, role: str, columns: Any) -> tuple[Columns, dict[str, Any]]:
    """Columns with a row for each item, and what `CheckedRows` have, with the names of the items."""
    asked = {role: columns, "weight": layout.weight, "count": layout.count, **_belonging(layout)}
    found = read(source, {**asked, "id": None if source is None else layout.item}, required=_GIVE)
    items = layout.item if source is None else found.column("id")
    if items is not None:
        if isinstance(items, str) or not hasattr(items, "__len__"):
            raise BadInput(f"items must be a list of names, one for each item; got {items!r}")
        items, rows = list(items), len(found.column(role))
        if len(items) != rows:
            raise BadInput(f"there are {rows:,} items and {len(items):,} names of items")
    checked = found.checked()
    return found, checked | {"items": items, "guesses": checked["notes"], "notes": ()}


def _belonging(layout: Layout) -> dict[str, Any]:
    """The columns that say what items belong to."""
    asked = {"cluster": layout.cluster, "group": layout.groups}
    return {role: columns for role, columns in asked.items() if columns is not None}


def _counted(source: Any, layout: Layout, scale: Scale, categories: Any) -> RatingRows:
    """How many raters chose each category, a row for each item; who they were is not known."""
    chosen = layout.counts
    if source is not None:
        chosen = class_columns(source.names, layout.counts, "counts")
        if categories is not None:
            raise BadInput(
                Option("categories"),
                " is not needed: the columns of counts are the categories, in order",
            )
    if layout.count is not None:
        raise BadInput(
            Option("count"), " goes with a column for each rater; counts have ", Option("weight")
        )
    if len(chosen) < 2:
        raise BadInput(f"there are counts of {len(chosen)} category; two or more are needed")
    found, checked = _items(source, layout, "counts", chosen)
    words, place = [str(category) for category in chosen], found.place
    columns = dict(zip(words, found["counts"].values(), strict=True))
    for name, column in columns.items():
        if (gone := column.missing()) is not None:
            raise BadInput(f"the count of {name} is missing {place.rows(gone)}; write 0 for nobody")
    said = np.stack([checked_counts(v, f"the count of {n}", place) for n, v in columns.items()], 1)
    rated = said.sum(1)
    total = int(rated.sum())
    if total > MOST_CELLS:
        raise BadInput(
            f"the counts add up to {total:,} ratings, too many to spell out; these look like a table of "
            f"two raters, which goes in as one"
        )
    item = np.arange(len(said)).repeat(rated)
    code = np.tile(np.arange(said.shape[1], dtype=np.int32), len(said)).repeat(said.ravel())
    order = np.arange(total) - (rated.cumsum() - rated).repeat(rated)
    shape = (len(said), int(rated.max(initial=0)))
    given = RatingList(item, order, code, shape).compact()
    values = category_values(words, scale, declared=True)
    return RatingRows(given, tuple(words), values, scale, None, True, **checked)


def _table_of(source: Any, layout: Layout, scale: Scale, categories: Any) -> RatingRows:
    """The table of two raters, its columns in a file or a frame."""
    for which in ("weight", "count", "cluster", "groups"):
        if getattr(layout, which) is None:
            continue
        option = "by" if which == "groups" else which
        raise BadInput(Option(option), " does not go with a table of two raters; leave it out")
    names, side = source.names, layout.item
    if side is None and len(first := _spelled(source, names[0])) == len(names) - 1:
        side = names[0] if {*first} & {*names[1:]} else None
    cells = [n for n in names if n != side]
    found = read(source, {"counts": cells})
    columns = [column.values for column in found["counts"].values()]
    rows = _row_names(source.index) if side is None else _spelled(source, side)
    return table_ratings(
        np.stack(columns, axis=1), scale=scale, categories=categories, names=(rows, cells)
    )


def _row_names(index: Any) -> list[str] | None:
    """The names of the rows of a frame; None where they are only numbered."""
    names = None if index is None else [text(name) for name in index]
    return None if names == [str(k) for k in range(len(names or ()))] else names


def _spelled(source: Any, name: str) -> list[str]:
    return [text(v) for v in source.read([name], ())[0][name]]


def table_ratings(
    table: Any, *, scale: Scale = "nominal", categories: Sequence[Any] | None = None,
    names: tuple[Sequence[str] | None, Sequence[str]] | None = None,
) -> RatingRows:  # fmt: skip
    """A square table of two raters: how many items the first put in each row, the second in each column.

    `categories` are in the order of its rows and columns; where these have `names`, rows and columns are
    brought into the order of `categories`.

    >>> table_ratings([[20, 5], [10, 15]]).count
    array([20,  5, 10, 15])
    >>> table_ratings([[1, 2], [3, 4]], names=(["no", "yes"], ["yes", "no"])).count
    array([3, 4, 1, 2])
    """
    one_of("scale", scale, get_args(Scale))
    found, place = np.asarray(table), Place()
    if names is not None:
        found, categories = _in_order(found, *names, categories)
    elif categories is None:
        _refuse_margins(found, None)
    if found.ndim != 2 or found.shape[0] != found.shape[1] or len(found) < 2:
        raise BadInput(
            f"a table of two raters is square, with a row and a column for each category; this has "
            f"shape {found.shape}"
        )
    words = (
        [str(k) for k in range(len(found))] if categories is None else [str(c) for c in categories]
    )
    if len(words) != len(found):
        raise BadInput(
            Option("categories"),
            f" names {len(words)} categories, and the table has {len(found)}: {listed(words)}",
        )
    flat = numbers(vector(found.ravel(), "the table"), "the table", place)
    if (gone := flat.missing()) is not None:
        raise BadInput(
            f"the table misses {int(gone.sum())} of its numbers; write 0 where there is none"
        )
    if (below := flat.values < 0).any():
        row, column = divmod(int(below.argmax()), len(found))
        raise BadInput(
            f"the table has {flat.values[below.argmax()]:g} in row {row}, column {column}, counting from "
            f"0; counts are 0 or more"
        )
    whole = bool((flat.values == np.floor(flat.values)).all())
    # parts of items are counts, too: nobody says that a cell is one item
    if not whole and float(flat.values.sum()) <= 1 + 1e-9:
        raise BadInput(
            f"the table adds up to {float(flat.values.sum()):g}: shares do not say how many items there "
            f"are; pass counts"
        )
    amount: Any = (
        checked_counts(flat, "the table", place) if whole else weights(flat, "the table", place)
    )
    first, second = np.divmod(np.arange(found.size), len(found))
    values = category_values(given_categories(words), scale, declared=True)
    given, raters = np.stack([first, second], axis=1).astype(np.int32), ("first", "second")
    return RatingRows(given, tuple(words), values, scale, raters, declared=True, count=amount)


def _in_order(
    table: Any, rows: Sequence[str] | None, columns: Sequence[str], categories: Any
) -> tuple[Any, list[str]]:
    """The table with both its sides in the order of the categories, and these."""
    rows, columns = list(columns if rows is None else rows), list(columns)
    if categories is None or not {columns[-1], rows[-1]} <= {text(c) for c in categories}:
        _refuse_margins(table, columns[-1])
    if sorted(rows) != sorted(columns):
        raise BadInput(
            f"the rows of the table are not {listed(columns)}, as its columns are, but {listed(rows)}; a "
            f"table of two raters has a row and a column for each category, with 0 where there is none"
        )
    words = columns if categories is None else given_categories(categories)
    if sorted(words) != sorted(columns):
        if columns != [str(k) for k in range(len(words))] or rows != columns:
            raise BadInput(
                Option("categories"),
                f" names {listed(words)}, and the table has {listed(columns)}; list these in ",
                "their order, or rename the rows and columns",
            )
        return table, words
    sides = [[side.index(word) for word in words] for side in (rows, columns)]
    return table[np.ix_(*sides)], words


_LARGE = 20  # items from which on sums are no accident
_MARGINS = {"all", "total", "totals", "sum", "margin", "margins"}


def _refuse_margins(table: Any, last: str | None) -> None:
    """Refuse a table whose last row and column are the sums of the others."""
    if (
        table.ndim != 2
        or len(table) != table.shape[1]
        or len(table) < 3
        or table.dtype.kind not in "iuf"
    ):
        return
    sides = (table, table.T)
    sums = all((side[-1] == side[:-1].sum(0)).all() for side in sides)
    # a few small numbers may add up by chance
    large = table[-1, -1] >= _LARGE and all((side[-1] > 0).all() for side in sides)
    if sums and ((last or "").strip().lower() in _MARGINS or large):
        named = f" ('{last}')" if last else ""
        raise BadInput(
            f"the last row and column of the table{named} are the sums of the others; leave them ",
            "out, or pass ", Option("categories"), " with all names if they are a category",
        )  # fmt: skip


# Ratings in long form, a row for each, brought to items x raters.


MOST_RATERS = 1 << 16  # who are told apart


def _long(source: Any, layout: Layout, scale: Scale, categories: Any) -> RatingRows:
    """A row for each rating; without raters, each item's ratings are in no order."""
    asked = {r: getattr(layout, r) for r in ("item", "rater") if getattr(layout, r) is not None}
    # a missing rating is none; a missing item or rater is a mistake
    required = _GIVE | dict.fromkeys(asked, "say it for each rating")
    found = read(source, asked | _belonging(layout) | {"rating": layout.rating}, required=required)
    if not len(found.column("item")):
        raise BadInput("there are no ratings; the columns are empty")
    coded = coded_ratings(found["rating"], scale, categories, found.place)
    at, items = _ranked(found.column("item"))
    who, names, notes = _raters(found.column("rater"), len(at), len(coded.categories))
    if names is not None:
        _refuse_twice(at, who, items, names, found.place)
    listed = _listed(at, who, coded.codes[:, 0], len(items), names)
    first = np.unique(at, return_index=True)[1]
    checked = found.checked()
    cluster, groups = checked.pop("cluster"), checked.pop("groups")
    belonging = [] if cluster is None else [("cluster", found.name("cluster"), cluster)]
    belonging += [("group", name, codes) for name, (codes, _) in groups.items()]
    for what, name, codes in belonging:
        if (apart := codes != codes[first][at]).any():
            raise BadInput(
                f"{name} differs among ratings of one item {found.place.rows(apart)}; an item belongs to "
                f"one {what}"
            )
    return RatingRows(
        listed.compact(), coded.categories, coded.values, scale, names, coded.declared, items,
        checked.pop("notes"), first, notes=notes,
        cluster=None if cluster is None else cluster[first],
        groups={name: (codes[first], words) for name, (codes, words) in groups.items()},
        **checked,
    )  # fmt: skip


def _ranked(column: Vector) -> tuple[Ints, list[str]]:
    """Each row's place among the distinct values that occur."""
    codes, words = word_codes(column)
    seen, at = np.unique(codes, return_inverse=True)
    return at, [words[k] for k in seen]


def _raters(
    column: Vector | None, rows: int, categories: int
) -> tuple[Ints, tuple[str, ...] | None, tuple[str, ...]]:
    """The number of the rater of each row, their names if they can be told apart, and notes."""
    if column is None:
        return np.zeros(rows, np.int64), None, ()
    who, names = _ranked(column)
    few = len(names) * categories <= MOST_CELLS
    if len(names) > MOST_RATERS or not few:
        many = f"{len(names):,} raters" + ("" if few else f" of {categories:,} categories")
        left_out = "measures that need to know who gave which rating are left out"
        return who, None, (f"{many} are too many to tell apart; {left_out}",)
    if len(names) < 2:
        raise BadInput(f"all ratings are by {names[0]!r}; agreement needs at least two raters")
    return who, tuple(names), ()


def _refuse_twice(
    at: Ints, who: Ints, items: list[str], names: Sequence[str], place: Place
) -> None:
    cell = at * len(names) + who
    order = np.argsort(cell, kind="stable")
    again: Bools = np.zeros(len(cell), bool)
    again[order[1:]] = cell[order[1:]] == cell[order[:-1]]
    if again.any():
        row = int(again.argmax())
        raise BadInput(
            f"{names[who[row]]} rates {items[at[row]]} again {place.rows(again)}; leave one rating of each "
            f"item by each rater"
        )


def _listed(
    at: Ints, who: Ints, said: Codes, items: int, names: Sequence[str] | None
) -> RatingList:
    """The ratings in any order; where raters are not told apart, they are places by category."""
    kept = said >= 0
    at, who, said = at[kept], who[kept], said[kept]
    if names is not None:
        return RatingList(at, who, said, (items, len(names)))
    order = np.lexsort((said, at))
    at, said = at[order], said[order]
    who = np.arange(len(at)) - np.searchsorted(at, at)
    return RatingList(at, who, said, (items, int(who.max(initial=0)) + 1))
