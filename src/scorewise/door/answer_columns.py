"""The columns of answers: of one length, and complete or cut down to what is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools
from scorewise.door.classes import coded
from scorewise.door.columns import Missing, aligned, complete
from scorewise.door.numbers import numbers
from scorewise.door.place import Place
from scorewise.door.texts import Texts, texts
from scorewise.door.unit import amounts, truths
from scorewise.door.values import Numbers, Vector
from scorewise.door.vectors import vector
from scorewise.errors import BadInput

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
        keep: Bools = ~np.logical_or.reduce(gaps)
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
    quality: tuple[str, Any],
    weight: tuple[str, Any],
    place: Place,
) -> AnswerColumns:
    """Columns of any library: texts, confidence, groups, and two by name of which None is not there."""
    given = ((*quality, truths), (*weight, numbers))
    heavy = {n: (column, reader) for n, column, reader in given if column is not None}
    others = {n: column for n, (column, _) in heavy.items()}
    aligned([pair for group in (said, sure, groups, others) for pair in group.items()])
    found = AnswerColumns(
        {n: texts(column, n, place) for n, column in said.items()},
        {n: amounts(vector(column, n), n, place) for n, column in sure.items()},
        {n: vector(column, n) for n, column in groups.items()},
        {n: reader(vector(column, n), n, place) for n, (column, reader) in heavy.items()},
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


def _without_text(name: str, column: Texts, missing: Missing, place: Place) -> Bools | None:
    gone = column.missing()
    if gone is not None and missing == "refuse":
        them = "it" if np.count_nonzero(gone) == 1 else "them"
        empty = (
            'write ""' if any(".csv" in file for file, _ in place.files) else "write an empty text"
        )
        quotes = " in quotes" if '"' in empty else ""
        raise BadInput(
            f'{name} is missing {place.rows(gone)}; drop {them} or pass missing="drop", or {empty}{quotes} '
            f"where there is no answer"
        )
    return gone


def _keep(column: Numbers, rows: Bools) -> Numbers:
    return Numbers(column.values[rows], None if column.null is None else column.null[rows])


def words(column: Vector) -> Groups:
    """What each row belongs to, as text; the column misses nothing.

    >>> words(vector([2, 1, 2], "group"))
    array(['2', '1', '2'], dtype=object)
    """
    codes, known = coded(column)
    return np.array(known, dtype=object)[codes]
