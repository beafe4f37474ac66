"""Ratings from any source, checked at the door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scorewise.columns.labels import listed
from scorewise.columns.load import open_source
from scorewise.columns.ratings import (
    RatingRows,
    Scale,
    take_counts,
    take_long,
    take_ratings,
    take_table,
)
from scorewise.columns.roles import Layout, check_columns, class_columns, guessed, spread
from scorewise.errors import BadInput


@dataclass(frozen=True)
class LoadedRatings:
    """Checked ratings, which columns were guessed, and the names of files."""

    rows: RatingRows
    notes: list[str]
    sources: tuple[str, ...]


def load_ratings(
    source: Any,
    layout: Layout | None = None,
    *,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    encoding: str | None = None,
) -> LoadedRatings:
    """Ratings of files or frames; columns that are not named are guessed, and a note says so.

    >>> found = load_ratings({"item": [1, 2], "ann": ["yes", "no"], "bob": ["yes", "yes"]})
    >>> found.rows.codes.tolist(), found.notes[0]
    ([[1, 1], [0, 1]], "raters: columns 'ann', 'bob' (not named; 'item' names the items)")
    """
    names, get, sources = open_source(source, encoding)
    asked = _checked(names, spread(names, layout or Layout()))
    found = guessed(names, lambda: get(list(names))[0], asked)
    rows = _READERS[_form(found)](names, get, found, scale, categories)
    return LoadedRatings(rows, found.notes, sources)


def _form(layout: Layout) -> str:
    if layout.form == "table":
        return "table"
    if layout.counts is not None:
        return "counts"
    return "long" if layout.rating is not None else "items"


def _checked(names: Sequence[str], layout: Layout) -> Layout:
    """The layout, if its columns are there, none is named twice, and it is one layout."""
    ways = {
        "a column for each rater": bool(layout.raters) or layout.form == "items",
        "a column of ratings": layout.rating is not None,
        "columns of counts": layout.counts is not None or layout.form == "counts",
        "a table": layout.form == "table",
    }
    said = [way for way, chosen in ways.items() if chosen]
    if len(said) > 1:
        raise BadInput(f"{' and '.join(said)} were named; ratings come in one of these ways")
    single = (layout.item, layout.rater, layout.rating, layout.weight, layout.count)
    columns = [*layout.raters, *(c for c in single if c is not None)]
    check_columns(names, columns)
    if twice := next((c for c in columns if columns.count(c) > 1), None):
        raise BadInput(f"column '{twice}' is given twice; name a different column for each")
    if layout.rater is not None and layout.rating is None:
        raise BadInput("a column of raters goes with rating=, the column of what they said")
    if layout.rating is not None and layout.item is None:
        raise BadInput("a column of ratings goes with item=, the column of what was rated")
    if layout.rating is not None and (layout.weight or layout.count):
        raise BadInput("weight= and count= belong to items, one row each; these rows are ratings")
    return layout


def _items(names: Any, get: Any, layout: Layout, scale: Scale, categories: Any) -> RatingRows:
    single = [c for c in (layout.item, layout.weight, layout.count) if c is not None]
    read, place = get([*layout.raters, *single])
    return take_ratings(
        {r: read[r] for r in layout.raters},
        scale=scale,
        categories=categories,
        items=None if layout.item is None else read[layout.item],
        weight=None if layout.weight is None else read[layout.weight],
        count=None if layout.count is None else read[layout.count],
        weight_name=layout.weight or "weight",
        count_name=layout.count or "count",
        place=place,
    )


def _long(names: Any, get: Any, layout: Layout, scale: Scale, categories: Any) -> RatingRows:
    assert layout.item is not None
    assert layout.rating is not None
    columns = [c for c in (layout.item, layout.rater, layout.rating) if c is not None]
    read, place = get(columns)
    return take_long(
        read[layout.item],
        None if layout.rater is None else read[layout.rater],
        read[layout.rating],
        scale=scale,
        categories=categories,
        item_name=layout.item,
        rater_name=layout.rater or "rater",
        rating_name=layout.rating,
        place=place,
    )


def _counts(names: Any, get: Any, layout: Layout, scale: Scale, categories: Any) -> RatingRows:
    assert layout.counts is not None
    spec = layout.counts
    chosen = class_columns(names, spec, "counts") if isinstance(spec, str) else dict(spec)
    check_columns(names, list(chosen.values()))
    if layout.count is not None:
        raise BadInput("count= goes with a column for each rater; counts have weight=")
    if categories is not None:
        raise BadInput(
            "categories= is not needed: the columns of counts are the categories, in order"
        )
    further = [c for c in (layout.item, layout.weight) if c is not None]
    read, place = get([*chosen.values(), *further])
    return take_counts(
        {category: read[column] for category, column in chosen.items()},
        scale=scale,
        items=None if layout.item is None else read[layout.item],
        weight=None if layout.weight is None else read[layout.weight],
        weight_name=layout.weight or "weight",
        place=place,
    )


def _table(names: Any, get: Any, layout: Layout, scale: Scale, categories: Any) -> RatingRows:
    import numpy as np

    from scorewise.columns.labels import text
    from scorewise.columns.numbers import numbers
    from scorewise.columns.vectors import vector

    if layout.weight is not None or layout.count is not None:
        which = "weight" if layout.weight is not None else "count"
        raise BadInput(f"{which}= does not go with a table of two raters; leave it out")
    read, place = get(list(names))
    side = layout.item
    if side is None and [text(v) for v in read[names[0]]] == list(names[1:]):
        side = names[0]
    cells = [n for n in names if n != side]
    columns = [numbers(vector(read[n], n), n, place).values for n in cells]
    if side is not None and [text(v) for v in read[side]] != cells:
        raise BadInput(
            f"the rows of the table are not {listed(cells)}, as its columns are; a table of two raters has "
            f"both in the same order"
        )
    return take_table(np.stack(columns, axis=1), scale=scale, categories=categories or cells)


_READERS = {"items": _items, "long": _long, "counts": _counts, "table": _table}
