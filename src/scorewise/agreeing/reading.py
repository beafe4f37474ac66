"""What `agree` is given, as checked rows of ratings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from scorewise.door.columns import one_of
from scorewise.door.ratings import RatingRows, Scale, take_counts, take_ratings, take_table
from scorewise.door.vectors import of_torch
from scorewise.errors import BadInput
from scorewise.sources.load_ratings import LoadedRatings, load_ratings
from scorewise.sources.rating_columns import Layout

Form = Literal["wide", "table", "counts"]


def read_ratings(
    ratings: Any,
    columns: Mapping[str, Any],
    *,
    form: Form | None,
    scale: Scale,
    categories: Sequence[Any] | None,
    amounts: Mapping[str, Any],
) -> LoadedRatings:
    """Ratings in any of the forms that `agree` takes.

    >>> found = read_ratings(
    ...     [[20, 5], [10, 15]], {}, form=None, scale="nominal", categories=None, amounts={}
    ... )
    >>> found.notes
    ['a square of counts is read as the table of two raters; form="wide" reads items x raters']
    """
    one_of("form", form, (None, *get_args(Form)))
    named = {k: v for k, v in columns.items() if v not in (None, ())}
    if form is None and (words := _crosstab(ratings)):
        form, categories = "table", categories or words
    frame = _columns(ratings) and form is None and not isinstance(ratings, Mapping)
    if (
        isinstance(ratings, str | os.PathLike)
        or _paths(ratings)
        or (named and _columns(ratings))
        or frame
    ):
        chosen = {**named, **{k: v for k, v in amounts.items() if isinstance(v, str)}}
        if given := next((k for k, v in amounts.items() if not isinstance(v, str)), None):
            raise BadInput(f"{given}= is the name of a column where ratings are a file or a frame")
        layout = Layout(**chosen, table=form == "table")
        return load_ratings(ratings, layout, scale=scale, categories=categories)
    if named:
        raise BadInput(
            f"{next(iter(named))}= names a column; pass a frame, a dict of columns or a file"
        )
    if isinstance(ratings, Mapping) and form is None:
        return LoadedRatings(_wide(_as_columns(ratings), scale, categories, amounts), [], ())
    return _of_array(ratings, form, scale, categories, amounts)


def _paths(ratings: Any) -> bool:
    listed = isinstance(ratings, list | tuple) and len(ratings) > 0
    return listed and all(isinstance(r, str | os.PathLike) for r in ratings)


def _columns(ratings: Any) -> bool:
    # of the type: a lazy frame would work out its columns
    return isinstance(ratings, Mapping) or hasattr(type(ratings), "columns")


def _crosstab(ratings: Any) -> list[str]:
    """The categories of a pandas table whose rows and columns have the same names."""
    if not all(hasattr(type(ratings), name) for name in ("index", "columns", "dtypes")):
        return []
    names = [str(c) for c in ratings.columns]
    whole = all(getattr(d, "kind", "") in "iu" for d in ratings.dtypes)
    return names if whole and len(names) > 1 and [str(i) for i in ratings.index] == names else []


def _as_columns(ratings: Any) -> dict[str, Any]:
    from scorewise.sources.frames import open_frame

    names, get = open_frame(ratings)
    return {name: get([name])[name] for name in names}


def _wide(
    columns: Mapping[str, Any],
    scale: Scale,
    categories: Sequence[Any] | None,
    amounts: Mapping[str, Any],
) -> RatingRows:
    return take_ratings(columns, scale=scale, categories=categories, **amounts)


def _of_array(
    ratings: Any,
    form: Form | None,
    scale: Scale,
    categories: Sequence[Any] | None,
    amounts: Mapping[str, Any],
) -> LoadedRatings:
    if isinstance(ratings, Mapping) and form == "counts" and categories is None:
        _none_of({k: v for k, v in amounts.items() if k == "count"}, "counts of ratings")
        return LoadedRatings(take_counts(ratings, scale=scale, **amounts), [], ())
    if _columns(ratings):
        ratings = np.stack([np.asarray(c) for c in _as_columns(ratings).values()], axis=1)
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
    notes = []
    if form is None and _like_table(array):
        form = "table"
        notes = [
            'a square of counts is read as the table of two raters; form="wide" reads items x raters'
        ]
    if form == "table":
        _none_of(amounts, "a table of two raters")
        rows = take_table(array, scale=scale, categories=categories)
    elif form == "counts":
        rows = _of_counts(array, scale, categories, amounts)
    else:
        names = [f"rater {k}" for k in range(1, array.shape[1] + 1)]
        # a column by itself is read as what it is: numbers stay numbers beside words
        columns = {n: _column(ratings, array, k) for k, n in enumerate(names)}
        rows = _wide(columns, scale, categories, amounts)
    return LoadedRatings(rows, notes, ())


def _column(ratings: Any, array: np.ndarray, k: int) -> Any:
    return [row[k] for row in ratings] if isinstance(ratings, list | tuple) else array[:, k]


def _like_table(array: np.ndarray) -> bool:
    """Whether a square array can only be counts: some number is more than a category's place."""
    square = array.shape[0] == array.shape[1] >= 2 and array.dtype.kind in "iu"
    return bool(square and array.min() >= 0 and array.max() > len(array))


def _of_counts(
    array: np.ndarray, scale: Scale, categories: Sequence[Any] | None, amounts: Mapping[str, Any]
) -> RatingRows:
    _none_of({k: v for k, v in amounts.items() if k == "count"}, "counts of ratings")
    words = list(range(array.shape[1])) if categories is None else list(categories)
    if len(words) != array.shape[1]:
        raise BadInput(
            f"categories= names {len(words)} categories, and there are counts of {array.shape[1]}"
        )
    weight, items = amounts.get("weight"), amounts.get("items")
    columns = {str(c): array[:, k] for k, c in enumerate(words)}
    return take_counts(columns, scale=scale, items=items, weight=weight)


def _none_of(amounts: Mapping[str, Any], what: str) -> None:
    if given := next((k for k, v in amounts.items() if v is not None), None):
        raise BadInput(f"{given}= does not go with {what}; leave it out")
