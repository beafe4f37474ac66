"""The columns of answers: of one length, and complete or cut down to what is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.door.classes import coded
from scorewise.door.columns import Missing, aligned, complete
from scorewise.door.numbers import in_range, numbers
from scorewise.door.place import Place
from scorewise.door.texts import Texts, texts
from scorewise.door.values import Mask, Numbers, Vector
from scorewise.door.vectors import vector
from scorewise.errors import BadInput

Floats: TypeAlias = NDArray[np.float64]
Groups: TypeAlias = NDArray[np.object_]


@dataclass(frozen=True)
class AnswerColumns:
    """Columns of one length, by what they are for."""

    texts: dict[str, Texts]
    sure: dict[str, Numbers]
    groups: dict[str, Vector]
    amounts: dict[str, Numbers]
    place: Place

    def __len__(self) -> int:
        return len(next(iter(self.sure.values())))

    def complete(self, missing: Missing) -> AnswerColumns:
        """The rows that miss nothing but confidence, which may be missing when it is to be dropped."""
        said = [_without_text(n, c, missing, self.place) for n, c in self.texts.items()]
        others: list[tuple[str, Vector]] = [*self.groups.items(), *self.amounts.items()]
        kept = complete(others, missing, self.place)
        if missing == "refuse":
            complete(list(self.sure.items()), missing, self.place)
        gaps = [gone for gone in said if gone is not None] + ([] if kept is None else [~kept])
        if not gaps:
            return self
        keep: Mask = ~np.logical_or.reduce(gaps)
        if not keep.any():
            raise BadInput("every answer misses something; none is left to judge")
        return AnswerColumns(
            {n: c.keep(keep) for n, c in self.texts.items()},
            {n: _keep(c, keep) for n, c in self.sure.items()},
            {n: c.keep(keep) for n, c in self.groups.items()},
            {n: c.keep(keep) for n, c in self.amounts.items()},
            self.place.keep(keep),
        )


def read_answers(
    said: Mapping[str, Any],
    sure: Mapping[str, Any],
    groups: Mapping[str, Any],
    amounts: Mapping[str, Any],
    place: Place,
) -> AnswerColumns:
    """Columns of any library: texts, confidence, groups, and amounts of which None is not there."""
    amounts = {n: column for n, column in amounts.items() if column is not None}
    aligned([pair for group in (said, sure, groups, amounts) for pair in group.items()])
    found = AnswerColumns(
        {n: texts(column, n, place) for n, column in said.items()},
        {n: numbers(vector(column, n), n, place) for n, column in sure.items()},
        {n: vector(column, n) for n, column in groups.items()},
        {n: numbers(vector(column, n), n, place) for n, column in amounts.items()},
        place,
    )
    _same_length({**found.texts, **found.amounts, **found.groups, **found.sure})
    if not len(found):
        raise BadInput("no answers were given; pass at least one")
    return found


def _same_length(columns: Mapping[str, Texts | Vector]) -> None:
    (first, answers), *others = columns.items()
    for name, column in others:
        if len(column) != len(answers):
            raise BadInput(
                f"{first} has {len(answers):,} rows and {name} has {len(column):,}; "
                f"they have to match row by row"
            )


def _without_text(name: str, column: Texts, missing: Missing, place: Place) -> Mask | None:
    gone = column.missing()
    if gone is not None and missing == "refuse":
        them = "it" if np.count_nonzero(gone) == 1 else "them"
        raise BadInput(
            f'{name} is missing {place.rows(gone)}; drop {them} or pass missing="drop", or write an '
            f"empty text where there is no answer"
        )
    return gone


def _keep(column: Numbers, rows: Mask) -> Numbers:
    return Numbers(column.values[rows], None if column.null is None else column.null[rows])


def in_unit(column: Numbers, name: str, place: Place) -> Floats:
    """Numbers in [0, 1], NaN where one is missing.

    >>> in_unit(Numbers(np.array([True, False]), np.array([False, True])), "correct", Place())
    array([ 1., nan])
    """
    values = column.values.astype(np.float64)
    if column.null is not None:
        values[column.null] = np.nan
    there = np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)
    low, high = in_range(there, name, place)
    if low < 0 or high > 1:
        outside = (there < 0) | (there > 1)
        percent = low >= 0 and high <= 100 and np.nanmedian(values) > 1
        way_out = "divide percentages by 100" if percent else "bring it to that range"
        raise BadInput(
            f"{name} is outside [0, 1] {place.rows(outside)} ({there[outside.argmax()]:.12g}); {way_out}"
        )
    return values


def words(column: Vector) -> Groups:
    """What each row belongs to, as text; the column misses nothing.

    >>> words(vector([2, 1, 2], "group"))
    array(['2', '1', '2'], dtype=object)
    """
    codes, known = coded(column)
    return np.array(known, dtype=object)[codes]
