"""Features of several kinds as models use them: numbers with gaps, and nominal ones by their levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import is_integer
from scorewise.columns.numbers import Place
from scorewise.columns.vectors import Coded, Vector, factorize
from scorewise.errors import BadInput

Columns: TypeAlias = Sequence[tuple[str, Vector]]
Nominal: TypeAlias = Sequence[Any] | None  # names of columns, or places from 0
MISSING, UNSEEN = -1, -2
_NEW = 0.005  # of the rows: with more levels than that met only once, new ones are to be expected


class Features(NamedTuple):
    """Rows of numbers, where NaN is missing, and of codes, where `MISSING` and `UNSEEN` are no level."""

    numbers: Floats
    codes: Ints


@dataclass(frozen=True)
class Encoding:
    """Which columns are numeric and which nominal, the levels of these, and all of them as a matrix.

    Columns of text, of categories and of booleans are nominal, and those that `nominal` names or counts
    from 0. Levels are the values that occur. The matrix has the numbers as they are, then a column of 0
    and 1 for each level of each nominal feature. A missing nominal value is a level of its own if there
    were any in learning. A level that was not met has `unseen` in all columns of its feature.

    >>> from scorewise.columns.vectors import vector
    >>> hue, age = vector(["red", "blue", "red"], "hue"), vector([3, 4, None], "age")
    >>> encoding = Encoding.learn([("hue", hue), ("age", age)])
    >>> encoding.levels, encoding.names
    ((('blue', 'red'), None), ['age', 'hue=blue', 'hue=red'])
    >>> rows = [("hue", vector(["green", "red"], "hue")), ("age", vector([5, 6], "age"))]
    >>> encoding.features(rows)
    Features(numbers=array([[5.], [6.]]), codes=array([[-2], [ 1]]))
    >>> encoding.matrix(rows)
    (array([[ 5., nan, nan], [ 6.,  0.,  1.]]), array([False, False]))
    """

    columns: tuple[str, ...]
    levels: tuple[tuple[Any, ...] | None, ...]
    unseen: float = np.nan
    gaps: tuple[bool, ...] = ()
    settled: tuple[bool, ...] = ()

    @classmethod
    def learn(
        cls,
        columns: Columns,
        nominal: Nominal = None,
        used: Bools | None = None,
        *,
        unseen: float = np.nan,
        booleans: bool = True,
    ) -> Self:
        """From these columns; levels are those of the rows that are used.

        Without `booleans`, columns of True and False are numbers, 1 and 0.
        """
        names = tuple(name for name, _ in columns)
        named = _places(names, nominal)
        levels = tuple(
            _levels(column, used) if i in named or _is_nominal(column, booleans) else None
            for i, (_, column) in enumerate(columns)
        )
        encoding = cls(names, levels, unseen)
        codes = encoding.features(columns).codes
        codes = codes if used is None else codes[used]
        gaps = (codes == MISSING).any(axis=0)
        once = [(np.bincount(column[column >= 0]) == 1).sum() for column in codes.T]
        settled = tuple(bool(count <= _NEW * len(codes)) for count in once)
        return replace(encoding, gaps=tuple(gaps.tolist()), settled=settled)

    @property
    def nominal(self) -> list[tuple[str, tuple[Any, ...]]]:
        """Names and levels of the nominal columns."""
        pairs = zip(self.columns, self.levels, strict=True)
        return [(name, levels) for name, levels in pairs if levels is not None]

    @property
    def names(self) -> list[str]:
        """The name of each column of the matrix."""
        names = [n for n, levels in zip(self.columns, self.levels, strict=True) if levels is None]
        for (name, levels), gaps in zip(self.nominal, self.gaps, strict=True):
            names += [f"{name}={level}" for level in levels] + [f"{name} missing"] * gaps
        return names

    def features(self, columns: Columns) -> Features:
        """Rows as numbers and codes of levels."""
        rows = len(columns[0][1])
        pairs = list(zip(columns, self.levels, strict=True))
        numbers = [_numbers(c, name) for (name, c), levels in pairs if levels is None]
        codes = [_codes(c, levels) for (_, c), levels in pairs if levels is not None]
        return Features(
            np.ascontiguousarray(np.stack(numbers).T) if numbers else np.empty((rows, 0)),
            np.stack(codes, axis=1) if codes else np.empty((rows, 0), np.int64),
        )

    def matrix(self, columns: Columns) -> tuple[Floats, Bools]:
        """Rows as a matrix, and which have a new level of a feature that should have no new ones."""
        rows = self.features(columns)
        parts = [rows.numbers]
        for column, (_, levels), gaps in zip(rows.codes.T, self.nominal, self.gaps, strict=True):
            code = np.where(column == MISSING, len(levels), column) if gaps else column
            part = (code[:, None] == np.arange(len(levels) + gaps)).astype(float)
            part[code < 0] = self.unseen
            parts.append(part)
        new = rows.codes[:, list(self.settled)] == UNSEEN
        return np.concatenate(parts, axis=1), np.asarray(new.any(axis=1))


def _places(names: tuple[str, ...], nominal: Sequence[Any] | None) -> set[int]:
    """The places of the columns that are asked for by name or place."""
    if nominal is None:
        return set()
    flat = getattr(nominal, "ndim", 1) == 1
    if isinstance(nominal, str) or not hasattr(nominal, "__len__") or not flat:
        raise BadInput(f"nominal={nominal!r} is not a list; pass the names or places of columns")
    for column in nominal:
        if isinstance(column, str):
            if column not in names:
                raise BadInput(
                    f"nominal column {column!r} is not there; there are {', '.join(names)}"
                )
        elif not is_integer(column):
            raise BadInput(
                f"nominal holds {column!r}; pass the names of columns or their places, whole numbers "
                "from 0 (those of a mask are numpy.flatnonzero(mask))"
            )
        elif not 0 <= column < len(names):
            raise BadInput(f"nominal column {column} is not there; there are {len(names)}, from 0")
    return {names.index(column) if isinstance(column, str) else int(column) for column in nominal}


def _is_nominal(column: Vector, booleans: bool) -> bool:
    # a column without a single value has no levels either, and counts as numbers that are missing
    if isinstance(column, Coded):
        return bool((column.codes >= 0).any())
    return booleans and column.values.dtype.kind == "b"


def _levels(column: Vector, rows: Bools | None) -> tuple[Any, ...]:
    values, codes = factorize(column)
    codes = codes if rows is None else codes[rows]
    used = np.bincount(codes[codes >= 0], minlength=len(values)) > 0
    levels = [v for v, u in zip(values, used, strict=True) if u]
    try:
        return tuple(sorted(levels))
    except TypeError:  # numbers among text
        return tuple(sorted(levels, key=lambda v: (type(v).__name__, str(v))))


def _codes(column: Vector, levels: tuple[Any, ...]) -> Ints:
    values, codes = factorize(column)
    place = {level: i for i, level in enumerate(levels)}
    code_of = np.array([*(place.get(v, UNSEEN) for v in values), MISSING], np.int64)
    found: Ints = code_of[codes]
    return found


def _numbers(column: Vector, name: str) -> Floats:
    values: Floats
    if isinstance(column, Coded):
        try:
            values = np.array([*map(float, column.values), np.nan])[column.codes]
        except (TypeError, ValueError):
            raise BadInput(
                f"{name} holds {column.values[column.codes.max()]!r}, but the model was fitted to numbers "
                f"there; pass numbers, or fit it again with nominal=[{name!r}]"
            ) from None
    else:
        values = column.values.astype(np.float64)
        if column.null is not None:
            values[column.null] = np.nan
    if (endless := np.isinf(values)).any():
        raise BadInput(
            f"{name} is infinite {Place().rows(endless)}; make it missing or a finite number"
        )
    return values
