"""Ratings in any of the forms that `agree` takes, as checked rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

import numpy as np

from scorewise.columns.files import open_frame
from scorewise.columns.load_ratings import LoadedRatings, load_ratings
from scorewise.columns.ratings import RatingRows, Scale, take_counts, take_ratings, take_table
from scorewise.columns.roles import Form, Layout
from scorewise.columns.rows import one_of
from scorewise.columns.vectors import of_torch
from scorewise.errors import BadInput

SQUARE = 'a square of whole numbers is read as the table of two raters; form="items" reads items x raters'


def read_ratings(
    ratings: Any,
    columns: Mapping[str, Any],
    *,
    form: Form | None,
    scale: Scale,
    categories: Sequence[Any] | None,
    amounts: Mapping[str, Any],
    encoding: str | None = None,
) -> LoadedRatings:
    """Ratings of a file, a frame, columns or an array; a note says where a square is taken for a table.

    >>> found = read_ratings(
    ...     [[2, 1], [1, 2]], {}, form=None, scale="nominal", categories=None, amounts={}
    ... )
    >>> found.rows.count, found.rows.notes == (SQUARE,)
    (array([2, 1, 1, 2]), True)
    """
    one_of("form", form, (None, *get_args(Form)))
    named = {k: v for k, v in columns.items() if v not in (None, ())}
    amounts = {k: v for k, v in amounts.items() if v is not None}
    square = form is None and not named and _square(ratings)
    mapping = isinstance(ratings, Mapping)
    in_columns = _in_files(ratings) or (_in_columns(ratings) and (named or not mapping))
    if in_columns and not square:
        if given := next((k for k, v in amounts.items() if not isinstance(v, str)), None):
            raise BadInput(f"{given}= is the name of a column where ratings are a file or a frame")
        layout = Layout(**named, **amounts, form=form)
        return load_ratings(ratings, layout, scale=scale, categories=categories, encoding=encoding)
    if named:
        raise BadInput(
            f"{next(iter(named))}= names a column; pass a frame, a dict of columns or a file"
        )
    if square or form == "table":
        rows = _table(ratings, scale, categories, amounts)
    elif form == "counts":
        rows = _counts(ratings, scale, categories, amounts)
    else:
        by_rater = _by_name(ratings) if mapping else _by_number(ratings)
        rows = take_ratings(by_rater, scale=scale, categories=categories, **amounts)
    return LoadedRatings(replace(rows, notes=(*rows.notes, SQUARE)) if square else rows, [], ())


def _in_files(ratings: Any) -> bool:
    listed = isinstance(ratings, list | tuple) and len(ratings) > 0
    return all(isinstance(r, str | os.PathLike) for r in (ratings if listed else [ratings]))


def _in_columns(ratings: Any) -> bool:
    # of the type: a lazy frame would work out its columns
    return isinstance(ratings, Mapping) or hasattr(type(ratings), "columns")


def _square(ratings: Any) -> bool:
    """Whether it is a square of whole numbers from 0 up, whose columns are not named as raters are.

    A pandas frame is, if its rows and columns have the same names.
    """
    if _in_columns(ratings):
        if not all(hasattr(type(ratings), name) for name in ("index", "columns", "dtypes")):
            return False
        if [str(i) for i in ratings.index] != [str(c) for c in ratings.columns]:
            return False
    elif _in_files(ratings):
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
    try:
        array = np.asarray(of_torch(ratings, "the table of ratings"))
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
    if given := next(iter(amounts), None):
        raise BadInput(
            f'{given}= does not go with a table of two raters; form="items" reads items x raters'
        )
    if isinstance(ratings, Mapping):
        categories = list(ratings) if categories is None else categories
        ratings = np.stack([np.asarray(c) for c in ratings.values()], axis=1)
    return take_table(_array(ratings), scale=scale, categories=categories)


def _counts(
    ratings: Any, scale: Scale, categories: Sequence[Any] | None, amounts: Mapping[str, Any]
) -> RatingRows:
    if "count" in amounts:
        raise BadInput("count= does not go with counts of ratings; leave it out")
    by_name = _by_name(ratings) if isinstance(ratings, Mapping) else None
    columns = list(_array(ratings).T if by_name is None else by_name.values())
    words = list(range(len(columns)) if by_name is None else ratings)
    words = words if categories is None else list(categories)
    if len(words) != len(columns):
        raise BadInput(
            f"categories= names {len(words)} categories, and there are counts of {len(columns)}"
        )
    named = {str(word): column for word, column in zip(words, columns, strict=True)}
    return take_counts(named, scale=scale, **amounts)
