"""What `agree` is given, as checked rows of ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from scorewise.checks import one_of
from scorewise.columns.labels import listed, text
from scorewise.columns.layouts import Form, Layout, item_column, long_columns
from scorewise.columns.rating_codes import given_categories
from scorewise.columns.ratings import RatingRows, Scale, rating_rows, table_ratings
from scorewise.columns.sources import is_files, open_frame
from scorewise.columns.vectors import of_torch
from scorewise.errors import BadInput, Option

SQUARE = "a square of whole numbers is read as the table of two raters; the form items reads items x raters"


def read_ratings(
    ratings: Any,
    columns: Mapping[str, Any],
    of_items: Mapping[str, Any],
    by: Any = None,
    *,
    form: Form | None = None,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    encoding: str | None = None,
) -> RatingRows:
    """Ratings in any of the forms that `agree` takes; a note says where the form was not given.

    `columns` are names of columns of a frame or a file, `of_items` what items have beside their ratings.

    >>> rows = read_ratings([[2, 1], [1, 2]], {}, {})
    >>> rows.count, rows.notes == (SQUARE,)
    (array([2, 1, 1, 2]), True)
    """
    one_of("form", form, (None, *get_args(Form)))
    columns = {k: v for k, v in columns.items() if v not in (None, ())}
    of_items = {k: v for k, v in of_items.items() if v is not None}
    beside = {("item" if k == "items" else k): v for k, v in of_items.items()}
    options: dict[str, Any] = {"scale": scale, "categories": categories}
    mapping, files = isinstance(ratings, Mapping), is_files(ratings) and ratings not in ([], ())
    # of the type: a lazy frame would work out its columns
    frame = mapping or hasattr(type(ratings), "columns")
    square = form is None and not columns and not files and _square(ratings, frame)
    form = "table" if square else form
    if mapping and form is None:  # whether its columns are not all raters by their names
        names = [str(name) for name in ratings]
        mapping = not (item_column(names) or long_columns(names, Layout()))
    if files or (frame and (columns or _names(by, ratings) or not mapping)):
        _refuse_columns(of_items, by)
        named = {**beside, **columns, **options, "groups": by}
        rows = rating_rows(ratings, **named, form=form, encoding=encoding)
    elif columns:
        raise BadInput(
            Option(next(iter(columns))),
            " names a column; pass a frame, a dict of columns or a file",
        )
    elif form == "table":
        if given := next(iter(of_items), None if by is None else "by"):
            refused = " does not go with a table of two raters; the form items reads items x raters"
            raise BadInput(Option(given), refused)
        sides = None
        if isinstance(ratings, Mapping):
            sides = None, [text(name) for name in ratings]
            ratings = np.stack([np.asarray(c) for c in ratings.values()], axis=1)
        rows = table_ratings(_array(ratings), **options, names=sides)
    elif form == "counts":
        if "count" in of_items:
            raise BadInput(Option("count"), " does not go with counts of ratings; leave it out")
        counts = _counts(ratings, categories)
        rows = rating_rows(counts=counts, scale=scale, groups=by, **beside)
    else:
        rows = rating_rows(raters=_by_rater(ratings), groups=by, **options, **beside)
    return replace(rows, notes=(*rows.notes, SQUARE)) if square else rows


def _names(by: Any, ratings: Any) -> bool:
    """Whether groups are named as columns of the ratings, rather than being a column."""
    listed = isinstance(by, list | tuple) and isinstance(ratings, Mapping)
    return isinstance(by, str) or (listed and all(isinstance(n, str) and n in ratings for n in by))


def _refuse_columns(of_items: Mapping[str, Any], by: Any) -> None:
    """Refuse columns themselves, where ratings are a file or a frame."""
    named = {**of_items, "by": "" if isinstance(by, str | list | tuple | None) else by}
    if given := next((k for k, v in named.items() if not isinstance(v, str)), None):
        raise BadInput(
            Option(given), " is the name of a column where ratings are a file or a frame"
        )


def _square(ratings: Any, frame: bool) -> bool:
    """Whether it is a square of whole numbers from 0 up, whose columns are not named as raters are.

    A pandas frame is, if its rows and columns have the same names.
    """
    if frame:
        if not all(hasattr(type(ratings), name) for name in ("index", "columns", "dtypes")):
            return False
        rows, columns = ([str(x) for x in side] for side in (ratings.index, ratings.columns))
        if rows != columns:
            _refuse_margin(*sorted((rows, columns), key=len))
            return False
    try:
        array = np.asarray(of_torch(ratings, "the table of ratings"))
    except ValueError:  # rows that differ in length
        return False
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
        return False
    if array.dtype.kind == "O":
        numeric = all(isinstance(x, int | float | np.number) for x in array.flat)
        if not numeric or any(isinstance(x, bool) for x in array.flat):
            return False
        array = array.astype(np.float64)
    # NaN is no whole number
    whole = array.dtype.kind in "iuf" and (array >= 0) & (array == np.floor(array))
    return bool(np.all(whole))


def _refuse_margin(shorter: list[str], longer: list[str]) -> None:
    """Refuse a table of which one side alone has a margin."""
    numbered = shorter == [str(k) for k in range(len(shorter))]
    if len(shorter) > 1 and longer[:-1] == shorter and not numbered:
        raise BadInput(
            f"the rows and columns of the table are {listed(shorter)}, and one side has "
            f"'{longer[-1]}' too; leave it out if it holds sums, else give the other side one"
        )


def _array(ratings: Any) -> np.ndarray:
    ratings = of_torch(ratings, "the table of ratings")
    try:
        array = np.asarray(ratings)
    except ValueError:
        raise BadInput(
            "the rows of the ratings differ in length; each item needs one for each rater"
        ) from None
    if array.ndim != 2:
        raise BadInput(
            f"ratings have shape {array.shape}; pass items x raters, a table of two raters, or a column "
            f"for each rater by name"
        )
    return array


def _by_rater(ratings: Any) -> dict[str, Any]:
    """A column for each rater: by name, or by number."""
    if isinstance(ratings, Mapping):
        names, get = open_frame(ratings)
        return get(names)
    array = _array(ratings)
    # a column by itself is read as what it is: numbers stay numbers beside words
    rows = isinstance(ratings, list | tuple)
    return {
        f"rater {k + 1}": [row[k] for row in ratings] if rows else array[:, k]
        for k in range(array.shape[1])
    }


def _counts(ratings: Any, categories: Sequence[Any] | None) -> dict[str, Any]:
    """How many raters chose each category, a column for each."""
    if isinstance(ratings, Mapping):
        named = {text(name): column for name, column in _by_rater(ratings).items()}
        words = list(named) if categories is None else given_categories(categories)
        if sorted(words) != sorted(named):
            raise BadInput(
                Option("categories"),
                f" names {listed(words)}, and there are counts of {listed(list(named))}; list ",
                "these in their order",
            )
        return {word: named[word] for word in words}
    columns = list(_array(ratings).T)
    words = [str(w) for w in (range(len(columns)) if categories is None else categories)]
    if len(words) != len(columns):
        raise BadInput(
            Option("categories"),
            f" names {len(words)} categories, and there are counts of {len(columns)}",
        )
    return dict(zip(words, columns, strict=True))
