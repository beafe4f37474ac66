"""What `agree` is given, as checked rows of ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from scorewise.columns.files import is_files, open_frame
from scorewise.columns.labels import listed, text
from scorewise.columns.layouts import Form, Layout, item_column, long_columns
from scorewise.columns.rating_codes import given_categories
from scorewise.columns.ratings import RatingRows, Scale, rating_rows, table_ratings
from scorewise.columns.rows import one_of
from scorewise.columns.vectors import of_torch
from scorewise.errors import BadInput, Option

SQUARE = "a square of whole numbers is read as the table of two raters; the form items reads items x raters"


def read_ratings(
    ratings: Any,
    columns: Mapping[str, Any],
    *,
    form: Form | None,
    scale: Scale,
    categories: Sequence[Any] | None,
    amounts: Mapping[str, Any],
    encoding: str | None = None,
) -> RatingRows:
    """Ratings in any of the forms that `agree` takes; a note says where the form was not given.

    >>> found = read_ratings(
    ...     [[2, 1], [1, 2]], {}, form=None, scale="nominal", categories=None, amounts={}
    ... )
    >>> found.count, found.notes == (SQUARE,)
    (array([2, 1, 1, 2]), True)
    """
    one_of("form", form, (None, *get_args(Form)))
    named = {k: v for k, v in columns.items() if v not in (None, ())}
    amounts = {k: v for k, v in amounts.items() if v is not None}
    further = {("item" if k == "items" else k): v for k, v in amounts.items()}
    if form is None and not named and _square(ratings):
        found = read_ratings(
            ratings, {}, form="table", scale=scale, categories=categories, amounts=amounts
        )
        return replace(found, notes=(*found.notes, SQUARE))
    mapping = isinstance(ratings, Mapping)
    if _files(ratings) or (
        _columns(ratings) and (named or not mapping or _as_frame(ratings, form))
    ):
        chosen = {**further, **named}
        if given := next((k for k, v in amounts.items() if not isinstance(v, str)), None):
            raise BadInput(
                Option(given), " is the name of a column where ratings are a file or a frame"
            )
        return rating_rows(
            ratings, **chosen, form=form, scale=scale, categories=categories, encoding=encoding
        )
    if named:
        raise BadInput(
            Option(next(iter(named))), " names a column; pass a frame, a dict of columns or a file"
        )
    if form == "table":
        return _table(ratings, scale, categories, amounts)
    if form == "counts":
        return _counts(ratings, scale, categories, further)
    by_rater = _by_name(ratings) if mapping else _by_number(ratings)
    return rating_rows(raters=by_rater, scale=scale, categories=categories, **further)


def _as_frame(ratings: Mapping[Any, Any], form: Form | None) -> bool:
    """Whether the columns of a dict are not all raters by their names."""
    names = [str(name) for name in ratings]
    return form is None and bool(item_column(names) or long_columns(names, Layout()))


def _files(ratings: Any) -> bool:
    return is_files(ratings) and ratings not in ([], ())


def _columns(ratings: Any) -> bool:
    # of the type: a lazy frame would work out its columns
    return isinstance(ratings, Mapping) or hasattr(type(ratings), "columns")


def _square(ratings: Any) -> bool:
    """Whether it is a square of whole numbers from 0 up, whose columns are not named as raters are.

    A pandas frame is, if its rows and columns have the same names.
    """
    if _columns(ratings):
        if not all(hasattr(type(ratings), name) for name in ("index", "columns", "dtypes")):
            return False
        if [str(i) for i in ratings.index] != [str(c) for c in ratings.columns]:
            return False
    elif _files(ratings):
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


def _by_name(ratings: Any) -> dict[str, Any]:
    names, get = open_frame(ratings)
    return get(names)


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


def _by_number(ratings: Any) -> dict[str, Any]:
    array = _array(ratings)
    # a column by itself is read as what it is: numbers stay numbers beside words
    rows = isinstance(ratings, list | tuple)
    return {
        f"rater {k + 1}": [row[k] for row in ratings] if rows else array[:, k]
        for k in range(array.shape[1])
    }


def _table(
    ratings: Any, scale: Scale, categories: Sequence[Any] | None, amounts: Mapping[str, Any]
) -> RatingRows:
    _none_of(amounts, "a table of two raters; the form items reads items x raters")
    names = None
    if isinstance(ratings, Mapping):
        names = None, [text(name) for name in ratings]
        ratings = np.stack([np.asarray(c) for c in ratings.values()], axis=1)
    return table_ratings(_array(ratings), scale=scale, categories=categories, names=names)


def _counts(
    ratings: Any, scale: Scale, categories: Sequence[Any] | None, amounts: Mapping[str, Any]
) -> RatingRows:
    _none_of({k: v for k, v in amounts.items() if k == "count"}, "counts of ratings; leave it out")
    if isinstance(ratings, Mapping):
        named = {text(name): column for name, column in _by_name(ratings).items()}
        words = list(named) if categories is None else given_categories(categories)
        if sorted(words) != sorted(named):
            raise BadInput(
                Option("categories"),
                f" names {listed(words)}, and there are counts of {listed(list(named))}; list ",
                "these in their order",
            )
        columns = [named[word] for word in words]
    else:
        columns = list(_array(ratings).T)
        words = [str(w) for w in (range(len(columns)) if categories is None else categories)]
    if len(words) != len(columns):
        raise BadInput(
            Option("categories"),
            f" names {len(words)} categories, and there are counts of {len(columns)}",
        )
    by_word = dict(zip(words, columns, strict=True))
    return rating_rows(counts=by_word, scale=scale, **amounts)


def _none_of(amounts: Mapping[str, Any], what: str) -> None:
    if given := next(iter(amounts), None):
        raise BadInput(Option(given), f" does not go with {what}")
