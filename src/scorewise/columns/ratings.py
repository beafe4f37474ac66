"""Ratings of items by raters, checked once: wide, long, as counts or as a table of two raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns.classes import coded
from scorewise.columns.labels import listed
from scorewise.columns.numbers import Place, numbers
from scorewise.columns.rating_codes import (
    MOST_CELLS,
    Codes,
    RatingList,
    coded_ratings,
    ratings_list,
    ratings_table,
)
from scorewise.columns.rows import aligned, counts, one_of, same_length, weights
from scorewise.columns.vectors import Numbers, Vector, vector
from scorewise.errors import BadInput

Scale = Literal["nominal", "ordinal", "interval", "ratio"]


@dataclass(frozen=True)
class RatingRows:
    """Checked ratings: `codes` are items x raters, places in `categories`, -1 where nothing was said.

    They are `given` as that table, or one by one, as `listed`, where most of it would be empty. `values`
    are the numbers of the categories, or their places where they are words. `raters` is None where it is
    not known who said what: then each item's ratings are in no order of raters. `notes` say how the
    ratings were read.
    """

    given: Codes | RatingList
    categories: tuple[str, ...]
    values: Floats
    scale: Scale
    raters: tuple[str, ...] | None
    declared: bool = False
    items: list[Any] | None = None
    weight: Floats | None = None
    count: NDArray[np.int64] | Floats | None = None
    place: Place = field(default_factory=Place)
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return int(self.given.shape[0])

    @cached_property
    def codes(self) -> Codes:
        """Items x raters."""
        return ratings_table(self.given)

    @cached_property
    def listed(self) -> RatingList:
        """The ratings one by one."""
        return ratings_list(self.given)


def take_ratings(
    columns: Mapping[str, Any],
    *,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    items: Any = None,
    weight: Any = None,
    count: Any = None,
    weight_name: str = "weight",
    count_name: str = "count",
    place: Place | None = None,
) -> RatingRows:
    """A column for each rater, a row for each item; what is missing was not rated.

    >>> rows = take_ratings({"ann": ["yes", "no", None], "bob": ["yes", "yes", "no"]})
    >>> rows.codes.tolist(), rows.categories
    ([[1, 1], [0, 1], [-1, 0]], ('no', 'yes'))
    """
    if len(columns) < 2:
        raise BadInput(
            f"there are ratings of {len(columns)} rater; agreement needs a column for each of two or "
            f"more, or rating= for one rating in each row"
        )
    place = place or Place()
    named = {str(name): column for name, column in columns.items()}
    if len(named) < len(columns):
        raise BadInput("two raters have the same name; give each a name of its own")
    aligned(named.items())
    vectors = {name: vector(column, name) for name, column in named.items()}
    same_length(list(vectors.items()))
    one_of("scale", scale, get_args(Scale))
    found = coded_ratings(vectors, scale, categories, place)
    beside = next(iter(vectors.items()))
    return RatingRows(
        found.codes,
        found.categories,
        found.values,
        scale,
        tuple(named),
        found.declared,
        item_names(items, len(found.codes)),
        None
        if weight is None
        else weights(_amount(weight, weight_name, beside, place), weight_name, place),
        None
        if count is None
        else counts(_amount(count, count_name, beside, place), count_name, place),
        place,
    )


def _amount(column: Any, name: str, beside: tuple[str, Vector], place: Place) -> Numbers:
    """A number for each item."""
    found = numbers(vector(column, name), name, place)
    same_length([beside, (name, found)])
    if (gone := found.missing()) is not None:
        raise BadInput(f"{name} is missing {place.rows(gone)}; give each item one")
    return found


def item_names(items: Any, n: int) -> list[Any] | None:
    """What the items are called, one name for each."""
    if items is None:
        return None
    if isinstance(items, str) or not hasattr(items, "__len__"):
        raise BadInput(f"items={items!r} is no list of names; pass one for each item")
    names = list(items)
    if len(names) != n:
        raise BadInput(f"there are {n:,} items and {len(names):,} names of items")
    return names


def take_counts(
    table: Mapping[str, Any],
    *,
    scale: Scale = "nominal",
    items: Any = None,
    weight: Any = None,
    weight_name: str = "weight",
    place: Place | None = None,
) -> RatingRows:
    """How many raters chose each category, a row for each item; who they were is not known.

    >>> rows = take_counts({"no": [2, 0], "yes": [1, 2]})
    >>> rows.codes.tolist()
    [[0, 0, 1], [1, 1, -1]]
    """
    place = place or Place()
    one_of("scale", scale, get_args(Scale))
    if len(table) < 2:
        raise BadInput(f"there are counts of {len(table)} category; two or more are needed")
    vectors = {
        str(c): numbers(vector(column, str(c)), str(c), place) for c, column in table.items()
    }
    if len(vectors) < len(table):
        raise BadInput("two categories have the same name; give each a name of its own")
    same_length(list(vectors.items()))
    for name, column in vectors.items():
        if (gone := column.missing()) is not None:
            raise BadInput(f"the count of {name} is missing {place.rows(gone)}; write 0 for nobody")
    said = np.stack([counts(v, f"the count of {n}", place) for n, v in vectors.items()], axis=1)
    rated = said.sum(1)
    total = int(rated.sum())
    if total > MOST_CELLS:
        raise BadInput(
            f"the counts add up to {total:,} ratings, too many to spell out; these look like a table of "
            f"two raters, which goes in as one"
        )
    names = coded_ratings(
        {"category": vector(list(vectors), "category")}, scale, list(vectors), place
    )
    item = np.arange(len(said)).repeat(rated)
    code = np.tile(np.arange(said.shape[1], dtype=np.int32), len(said)).repeat(said.ravel())
    order = np.arange(total) - (rated.cumsum() - rated).repeat(rated)
    shape = (len(said), int(rated.max(initial=0)))
    ratings = RatingList(item, order, code, shape).compact()
    heavy = None
    if weight is not None:
        beside = next(iter(vectors.items()))
        heavy = weights(_amount(weight, weight_name, beside, place), weight_name, place)
    return RatingRows(
        ratings, names.categories, names.values, scale, None, True,
        item_names(items, len(said)), heavy, None, place,
    )  # fmt: skip


def take_table(
    table: Any, *, scale: Scale = "nominal", categories: Sequence[Any] | None = None,
    raters: Sequence[str] = ("first", "second"), place: Place | None = None,
) -> RatingRows:  # fmt: skip
    """A square table of two raters: how many items the first put in each row, the second in each column.

    >>> take_table([[20, 5], [10, 15]]).count
    array([20,  5, 10, 15])
    """
    place = place or Place()
    found = np.asarray(table)
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
            f"categories= names {len(words)} categories, and the table has {len(found)}: {listed(words)}"
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
    amount: Any = counts(flat, "the table", place) if whole else weights(flat, "the table", place)
    first, second = np.divmod(np.arange(found.size), len(found))
    named = coded_ratings({"category": vector(words, "category")}, scale, words, place)
    one_of("scale", scale, get_args(Scale))
    return RatingRows(
        np.stack([first, second], axis=1).astype(np.int32), named.categories, named.values, scale,
        tuple(str(r) for r in raters), True, None, None, amount, place,
    )  # fmt: skip


# Ratings in long form, a row for each, brought to items x raters.


MOST_RATERS = 1 << 16  # who are told apart


def take_long(
    item: Any,
    rater: Any,
    rating: Any,
    *,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    item_name: str = "item",
    rater_name: str = "rater",
    rating_name: str = "rating",
    place: Place | None = None,
) -> RatingRows:
    """A row for each rating: of which item, by whom (None where that is not known), and what.

    A row whose rating is missing says that the rater did not rate the item. Of very many raters it is
    forgotten who said what, and a note says so.

    >>> rows = take_long([1, 1, 2], ["ann", "bob", "ann"], ["yes", "no", "no"])
    >>> rows.codes.tolist(), rows.items
    ([[1, 0], [0, -1]], ['1', '2'])
    """
    place = place or Place()
    one_of("scale", scale, get_args(Scale))
    given = {item_name: item, rating_name: rating}
    given |= {} if rater is None else {rater_name: rater}
    aligned(given.items())
    columns = {name: vector(column, name) for name, column in given.items()}
    same_length(list(columns.items()))
    # a missing rating is no rating; a missing item or rater is a mistake
    for name in (item_name, rater_name):
        if name in columns and (gone := columns[name].missing()) is not None:
            raise BadInput(f"{name} is missing {place.rows(gone)}; say it for each rating")
    if not len(columns[item_name]):
        raise BadInput("there are no ratings; the columns are empty")
    found = coded_ratings({rating_name: columns[rating_name]}, scale, categories, place)
    at, items = _ranked(columns[item_name])
    who, names, notes = _raters(columns.get(rater_name), len(at), len(found.categories))
    if names is not None:
        _refuse_twice(at, who, items, names, place)
    listed = _listed(at, who, found.codes[:, 0], len(items), names)
    return RatingRows(
        listed.compact(), found.categories, found.values, scale,
        None if names is None else tuple(names), found.declared, items, place=place, notes=notes,
    )  # fmt: skip


def _ranked(column: Vector) -> tuple[Ints, list[str]]:
    """Each row's place among the distinct values that occur."""
    codes, words = coded(column)
    seen, at = np.unique(codes, return_inverse=True)
    return at, [words[k] for k in seen]


def _raters(
    column: Vector | None, rows: int, categories: int
) -> tuple[Ints, list[str] | None, tuple[str, ...]]:
    if column is None:
        return np.zeros(rows, np.int64), None, ()
    who, names = _ranked(column)
    few = len(names) * categories <= MOST_CELLS
    if len(names) > MOST_RATERS or not few:
        many = f"{len(names):,} raters" + ("" if few else f" of {categories:,} categories")
        left_out = "measures that need to know who said what are left out"
        return who, None, (f"{many} are too many to tell apart; {left_out}",)
    if len(names) < 2:
        raise BadInput(f"all ratings are by {names[0]!r}; agreement needs at least two raters")
    return who, names, ()


def _refuse_twice(at: Ints, who: Ints, items: list[str], names: list[str], place: Place) -> None:
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


def _listed(at: Ints, who: Ints, said: Codes, items: int, names: list[str] | None) -> RatingList:
    """The ratings in any order; where raters are not told apart, they are places by category."""
    kept = said >= 0
    at, who, said = at[kept], who[kept], said[kept]
    if names is not None:
        return RatingList(at, who, said, (items, len(names)))
    order = np.lexsort((said, at))
    at, said = at[order], said[order]
    who = np.arange(len(at)) - np.searchsorted(at, at)
    return RatingList(at, who, said, (items, int(who.max(initial=0)) + 1))
