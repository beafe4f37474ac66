"""Ratings in long form, a row for each, brought to items x raters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np

from scorewise.arrays import Bools, Ints
from scorewise.door.classes import coded
from scorewise.door.columns import aligned, one_of, same_length
from scorewise.door.place import Place
from scorewise.door.rating_codes import MOST_CELLS, Codes, RatingList, coded_ratings
from scorewise.door.ratings import RatingRows, Scale
from scorewise.door.values import Vector
from scorewise.door.vectors import vector
from scorewise.errors import BadInput

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
