"""Where a row is, in words."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats
from scorewise.columns.vectors import Coded, Numbers, Vector, numeric, short, spread, spreadable
from scorewise.errors import BadInput


@dataclass(frozen=True)
class Place:
    """Turns the index of a row into words: arrays count from 0, files from 1 after the header.

    `files` are names with their numbers of rows, in order; `kept` the rows left of the original.

    >>> Place().row(17)
    'row 17, counting from 0'
    >>> Place(files=(("day1.csv", 10), ("day2.csv", 30))).row(17)
    'row 8 of day2.csv'
    """

    files: tuple[tuple[str, int], ...] = ()
    kept: NDArray[np.integer[Any]] | None = None

    def number(self, index: int) -> tuple[str | None, int]:
        """The file that a row is in, if any, and its number there or from 0.

        >>> Place(files=(("day1.csv", 10), ("day2.csv", 30))).number(17), Place().number(17)
        (('day2.csv', 8), (None, 17))
        """
        index = self.position(index)
        for name, rows in self.files:
            if index < rows:
                return name, index + 1
            index -= rows
        return None, index

    def position(self, index: int) -> int:
        """Where the row was before others were left out."""
        return index if self.kept is None else int(self.kept[index])

    def row(self, index: int) -> str:
        """The row's number, and what it counts from."""
        file, number = self.number(index)
        return f"row {number}, counting from 0" if file is None else f"row {number} of {file}"

    def keep(self, rows: Bools) -> Place:
        """The same place when only those of its rows are left.

        >>> Place().keep(np.array([False, True, True])).keep(np.array([False, True])).position(0)
        2
        """
        left = np.flatnonzero(rows)
        return replace(self, kept=left if self.kept is None else self.kept[left])

    def rows(self, where: Bools) -> str:
        """How many rows, and the first of them.

        >>> Place().rows(np.array([False, True, True]))
        'in 2 rows, first at row 1, counting from 0'
        """
        count = int(np.count_nonzero(where))
        first = self.row(int(where.argmax()))
        return f"in 1 row, {first}" if count == 1 else f"in {count:,} rows, first at {first}"


# Columns that have to be numbers: scores, weights, counts.


_EXACT = 2**53
_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def numbers(column: Vector, name: str, place: Place) -> Numbers:
    """The column as numbers; text is read as numbers when all of it is, and refused otherwise.

    >>> from scorewise.columns.vectors import vector
    >>> numbers(vector(["0.5", "1e-3"], "p"), "p", Place()).values
    array([0.5  , 0.001])
    """
    if isinstance(column, Coded):
        return _from_coded(column, name, place)
    values = column.values
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and len(values):
        big = _beyond(column)
        if big is not None:
            raise BadInput(_too_large(name, place.rows(big), str(values[big.argmax()])))
    return column


def _too_large(name: str, rows: str, first: str) -> str:
    return (
        f"{name} is an integer beyond 2**53 {rows} ({first}), "
        f"which floats cannot tell from its neighbours; scale it down"
    )


def _beyond(column: Numbers) -> Bools | None:
    values = column.values
    if values.min() >= -_EXACT and values.max() <= _EXACT:
        return None
    big: Bools = (values > _EXACT) | (values < -_EXACT)
    if column.null is not None:
        big &= ~column.null
    return big if big.any() else None


def _from_coded(column: Coded, name: str, place: Place) -> Numbers:
    if spreadable(column.values):
        return spread(column)
    digits = [_digits(v) for v in column.values]
    if all(d is not None for d in digits):
        large = np.array([d is not None and _large(d) for d in digits])
        big = large[column.codes] & (column.codes >= 0)
        if big.any():
            first = column.values[column.codes[big.argmax()]]
            raise BadInput(_too_large(name, place.rows(big), short(first)))
    read = [_read(v) for v in column.values]
    wrong = np.array([r is None for r in read])[column.codes] & (column.codes >= 0)
    if not wrong.any():
        table = np.array([np.nan if r is None else r for r in read])
        return Numbers(table[column.codes], column.codes < 0)
    value = column.values[column.codes[wrong.argmax()]]
    if isinstance(value, _TIMES):
        raise BadInput(f"{name} holds dates or times, first {value}; pass one number per row")
    if isinstance(value, complex):
        raise BadInput(f"{name} holds complex numbers; pass one real number per row")
    raise BadInput(
        f"{name} is not a number {place.rows(wrong)} ({short(value)}); "
        f"correct it or leave such rows out"
    )


def _digits(value: Any) -> str | int | None:
    """An integer, or the digits of one in text without its sign; None for anything else."""
    if isinstance(value, int):
        return value
    if not isinstance(value, str):
        return None
    digits = value.strip().removeprefix("-").removeprefix("+")
    return digits if digits.isascii() and digits.isdigit() else None


def _large(integer: str | int) -> bool:
    if isinstance(integer, str):
        integer = integer.lstrip("0") or "0"
        return len(integer) > 16 or int(integer) > _EXACT
    return abs(integer) > _EXACT


def _read(value: Any) -> float | None:
    if numeric(value):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
        except ValueError:
            return None
    # Python, unlike every file format, reads 1_000 as a number
    if not isinstance(value, str) or "_" in value:
        return None
    try:
        return float(value)
    except ValueError:
        return None


def in_range(values: NDArray[Any], name: str, place: Place) -> tuple[float, float]:
    """The least and the greatest value, which have to be finite; (0, 0) when there are no rows."""
    if not len(values):
        return 0.0, 0.0
    low, high = float(values.min()), float(values.max())
    if not (np.isfinite(low) and np.isfinite(high)):
        wrong = np.isinf(values)
        raise BadInput(
            f"{name} is infinite {place.rows(wrong)} ({values[wrong.argmax()]}); "
            f"give it a finite value or leave such rows out"
        )
    return low, high


# Numbers from 0 to 1 as people write them: confidence, and how good an answer is.


_TRUTH = {"true": 1.0, "yes": 1.0, "1": 1.0, "false": 0.0, "no": 0.0, "0": 0.0}
_MARKS = 10  # the most that a scale of marks has; beyond are percentages


def amounts(column: Vector, name: str, place: Place) -> Numbers:
    """A column as numbers; text with a percent sign is refused with the way out.

    >>> amounts(Coded(np.array([0, 1]), ["61%", "5 %"]), "p", Place())
    Traceback (most recent call last):
    scorewise.errors.BadInput: p is written in percent in 2 rows, first at row 0, counting from 0 ('61%'); \
remove the % and divide by 100
    """
    if isinstance(column, Coded):
        marked = np.array([isinstance(v, str) and v.rstrip().endswith("%") for v in column.values])
        if marked.any() and (rows := marked[column.codes] & (column.codes >= 0)).any():
            first = column.values[column.codes[rows.argmax()]]
            raise BadInput(
                f"{name} is written in percent {place.rows(rows)} ({short(first)}); remove the % and "
                f"divide by 100"
            )
    return numbers(column, name, place)


def truths(column: Vector, name: str, place: Place) -> Numbers:
    """How good answers are, as numbers; also text that says true or false, yes or no.

    >>> truths(Coded(np.array([0, 1, -1, 0]), ["True", "false"]), "correct", Place()).values
    array([1., 0., 0., 1.])
    """
    if isinstance(column, Coded):
        words = [str(v).strip().casefold() for v in column.values]
        if words and all(word in _TRUTH for word in words):
            known = np.array([*(_TRUTH[word] for word in words), 0.0])
            return Numbers(known[column.codes], column.codes < 0)
    return amounts(column, name, place)


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
        raise BadInput(
            f"{name} is outside [0, 1] {place.rows(outside)} ({there[outside.argmax()]:.6g}); "
            f"{_way_out(values, low, high)}"
        )
    return values


def _way_out(values: Floats, low: float, high: float) -> str:
    if low < 0 or high > 100 or np.nanmedian(values) <= 1:
        return "bring it to that range"
    if high > _MARKS:
        return "divide percentages by 100"
    return f"divide it by the most that it can be, such as {high:g}"
