"""Columns that belong together: aligned, of one length, and complete or cut down to what is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Bools
from scorewise.door.numbers import numbers
from scorewise.door.place import Place
from scorewise.door.values import Numbers, Vector, short
from scorewise.door.vectors import vector
from scorewise.errors import BadInput

Missing: TypeAlias = Literal["refuse", "drop"]


class Columns(NamedTuple):
    """Columns of one length without a missing value, and how many rows were left out for that."""

    words: dict[str, Vector]
    amounts: list[dict[str, Numbers]]
    dropped: int
    place: Place


def read(
    words: Mapping[str, Any], *amounts: Mapping[str, Any], missing: Missing, place: Place
) -> Columns:
    """Columns of any library: those of labels as they are, those of amounts as numbers.

    Amounts come in groups, between which names may be the same; one that is None is not there. A row with
    a missing value (None, null, NaN) in any column is refused, or with missing="drop" left out and
    counted.

    >>> found = read({"y": ["a", "b"]}, {"p": [0.5, None]}, {"w": None}, missing="drop", place=Place())
    >>> found.amounts[0]["p"].values, found.amounts[1], found.dropped
    (array([0.5]), {}, 1)
    """
    one_of("missing", missing, get_args(Missing))
    given = [{n: column for n, column in group.items() if column is not None} for group in amounts]
    aligned([pair for group in (words, *given) for pair in group.items()])
    labels = {n: vector(column, n) for n, column in words.items()}
    vectors = [{n: vector(column, n) for n, column in group.items()} for group in given]
    same_length(_pairs(labels, *vectors))
    numeric = [{n: numbers(column, n, place) for n, column in group.items()} for group in vectors]
    keep = complete(_pairs(labels, *numeric), missing, place)
    if keep is None:
        return Columns(labels, numeric, 0, place)
    return Columns(
        {n: column.keep(keep) for n, column in labels.items()},
        [{n: column.keep(keep) for n, column in group.items()} for group in numeric],
        int(len(keep) - np.count_nonzero(keep)),
        place.keep(keep),
    )


def _pairs(*groups: Mapping[str, Vector]) -> list[tuple[str, Vector]]:
    return [pair for group in groups for pair in group.items()]


def one_of(option: str, word: Any, known: tuple[Any, ...]) -> None:
    """Refuse a word that the option does not know."""
    if (word is None or isinstance(word, str)) and word in known:
        return
    words = " or ".join(f'"{k}"' for k in known if k is not None)
    raise BadInput(f"{option}={short(word)} is not known; pass {option}={words}")


def aligned(columns: Iterable[tuple[str, Any]]) -> None:
    """Refuse pandas columns whose indexes hold the same keys in another order: rows would not match."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    indexed = [(n, c.index) for n, c in columns if isinstance(c, pandas.Series)]
    for name, index in indexed[1:]:
        first, other = indexed[0]
        if index.equals(other) or len(index) != len(other):
            continue
        if len(index.union(other)) == len(index.unique()) == len(other.unique()):
            raise BadInput(
                f"{first} and {name} have the same pandas index in different orders; align them, or "
                f"pass .to_numpy() to match them by position"
            )


def same_length(columns: list[tuple[str, Vector]]) -> None:
    """Refuse columns of different lengths."""
    (first, label), *others = columns
    for name, column in others:
        if len(column) != len(label):
            raise BadInput(
                f"{first} has {len(label):,} rows and {name} has {len(column):,}; "
                f"they have to match row by row"
            )


def complete(columns: list[tuple[str, Vector]], missing: Missing, place: Place) -> Bools | None:
    """The rows that miss nothing; None when that is all of them."""
    gaps: Bools | None = None
    for name, column in columns:
        gone = column.missing()
        if gone is None:
            continue
        if missing == "refuse":
            them = "it" if np.count_nonzero(gone) == 1 else "them"
            raise BadInput(
                f'{name} is missing {place.rows(gone)}; drop {them} or pass missing="drop"'
            )
        gaps = gone if gaps is None else gaps | gone
    return None if gaps is None else ~gaps
