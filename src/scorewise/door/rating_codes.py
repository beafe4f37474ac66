"""Ratings of several raters as codes into one list of categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.door.labels import listed, text
from scorewise.door.place import Place
from scorewise.door.values import Coded, Numbers, Vector
from scorewise.errors import BadInput

Codes = NDArray[np.int32]
_SPAN = 1 << 16  # whole numbers this close together are coded without a sort


class CodedRatings(NamedTuple):
    """Codes (-1 is missing), the categories in order, their numbers, and whether the order was given."""

    codes: Codes
    categories: tuple[str, ...]
    values: NDArray[np.float64]
    declared: bool


def coded_ratings(
    columns: Mapping[str, Vector], scale: str, categories: Sequence[Any] | None, place: Place
) -> CodedRatings:
    """One list of categories for all raters: as given, as declared, by size, or by name."""
    given = None if categories is None else _given(categories)
    numeric = [c for c in columns.values() if isinstance(c, Numbers)]
    if len(numeric) == len(columns):
        codes, words = _of_numbers(numeric, list(columns), place)
        declared = False
    else:
        codes, words, declared = _of_words(list(columns.values()))
    if given is not None:
        codes, words, declared = _placed(codes, words, given, columns, place), given, True
    return CodedRatings(codes, tuple(words), _values(words, scale, declared, columns), declared)


def _given(categories: Sequence[Any]) -> list[str]:
    words = [text(c) for c in categories]
    if twice := next((w for w in words if words.count(w) > 1), None):
        raise BadInput(f"categories= names {twice!r} twice; name each category once")
    if len(words) < 2:
        raise BadInput(f"categories= names {len(words)} category; two or more are needed")
    return words


def _of_numbers(columns: list[Numbers], names: list[str], place: Place) -> tuple[Codes, list[str]]:
    table = np.stack([c.values.astype(np.float64, copy=False) for c in columns], axis=1)
    gone = np.isnan(table)
    for k, column in enumerate(columns):
        if column.null is not None:
            gone[:, k] |= column.null
    said = table[~gone] if gone.any() else table.ravel()
    if not len(said):
        return np.full(table.shape, -1, np.int32), []
    low, high = float(said.min()), float(said.max())
    if not np.isfinite(low) or not np.isfinite(high):
        beyond = np.isinf(table)
        where = np.logical_or.reduce(beyond, axis=1)
        name = names[int(beyond[where.argmax()].argmax())]
        raise BadInput(f"{name} is infinite {place.rows(where)}; a rating is a finite number")
    if high - low < _SPAN and bool((said == np.floor(said)).all()):
        present = np.bincount((said - low).astype(np.int64)) > 0
        rank = (present.cumsum() - 1).astype(np.int32)
        distinct = np.flatnonzero(present) + low
        filled = np.where(gone, low, table) if gone.any() else table
        codes = rank[(filled - low).astype(np.int32)]
    else:
        distinct = np.unique(said)
        codes = np.searchsorted(distinct, table).astype(np.int32)
    codes[gone] = -1
    return codes, [text(v) for v in distinct]


def _of_words(columns: list[Vector]) -> tuple[Codes, list[str], bool]:
    """Words of all columns; those of declared categories stay in their order."""
    parts = [_words(c) for c in columns]
    declared = [
        w for c, (_, w) in zip(columns, parts, strict=True) if isinstance(c, Coded) and c.declared
    ]
    seen = dict.fromkeys(w for _, words in parts for w in words)
    if declared and set(seen) <= set(declared[0]):
        order, fixed = declared[0], True
    else:
        order, fixed = _sorted(list(seen)), False
    at = {w: k for k, w in enumerate(order)}
    codes = [np.array([*(at[w] for w in words), -1], np.int32)[c] for c, words in parts]
    return np.stack(codes, axis=1), order, fixed


def _words(column: Vector) -> tuple[NDArray[Any], list[str]]:
    if isinstance(column, Coded):
        return column.codes, [text(v) for v in column.values]
    gone = column.missing()
    distinct, codes = np.unique(column.values, return_inverse=True)
    if gone is not None:
        codes = np.where(gone, -1, codes)
        kept = np.unique(column.values[~gone])
        distinct, codes = kept, np.where(gone, -1, np.searchsorted(kept, column.values))
    return codes, [text(v) for v in distinct]


def _sorted(words: list[str]) -> list[str]:
    try:
        return sorted(words, key=float)
    except ValueError:
        return sorted(words)


def _placed(
    codes: Codes, words: list[str], given: list[str], columns: Mapping[str, Vector], place: Place
) -> Codes:
    """Codes into the given list."""
    at = {w: k for k, w in enumerate(given)}
    places = np.array([*(at.get(w, -2) for w in words), -1], np.int32)
    found = places[codes]
    if (outside := found == -2).any():
        row = int(outside.any(1).argmax())
        rater = int(outside[row].argmax())
        word = words[codes[row, rater]]
        raise BadInput(
            f"{list(columns)[rater]} is not among the categories {place.rows(outside.any(1))} ({word!r}); "
            f"the categories are {listed(given)}"
        )
    return found


def _values(
    words: list[str], scale: str, declared: bool, columns: Mapping[str, Vector]
) -> NDArray[np.float64]:
    """The number of each category; where categories are words, their place, if the order is known."""
    try:
        values = np.array([float(w) for w in words])
    except ValueError:
        if scale in ("interval", "ratio"):
            wrong = next(w for w in words if not _is_number(w))
            raise BadInput(
                f"a rating is {wrong!r}, which is no number; scale={scale!r} needs numbers, and words in "
                f'an order are scale="ordinal" with categories='
            ) from None
        if scale == "ordinal" and not declared and len(words) > 1:
            raise BadInput(
                f"the order of the categories {listed(words)} is not known; pass categories= with all of "
                f"them from the lowest to the highest"
            ) from None
        return np.arange(len(words), dtype=np.float64)
    if scale == "ordinal" or not np.isfinite(values).all():
        return np.arange(len(words), dtype=np.float64) if declared else values
    if scale == "ratio" and len(values) and values.min() < 0:
        raise BadInput(
            f"a rating is {words[int(values.argmin())]}; scale='ratio' has a true zero and nothing below "
            f'it, so pass scale="interval"'
        )
    return values


def _is_number(word: str) -> bool:
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False
