"""Where a row is, in words; and columns that have to be numbers: scores, weights, counts."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns.vectors import Coded, Numbers, Vector, as_numeric, numeric
from scorewise.errors import BadInput, Option, short


@dataclass(frozen=True)
class Place:
    """Turns the index of a row into words: arrays count from 0, files from 1 after the header.

    `files` are names with their numbers of rows, in order; `kept` the rows left of the original. `first` is
    where a batch of rows begins in its file, of which more may follow (`partial`).

    >>> Place().row(17)
    'row 17, counting from 0'
    >>> Place(files=(("day1.csv", 10), ("day2.csv", 30))).row(17)
    'row 8 of day2.csv'
    """

    files: tuple[tuple[str, int], ...] = ()
    kept: NDArray[np.integer[Any]] | None = None
    first: int = 0
    partial: bool = False

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
        return self.first + (index if self.kept is None else int(self.kept[index]))

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the files."""
        return tuple(name for name, _ in self.files)

    def row(self, index: int) -> str:
        """The row's number, and what it counts from."""
        file, number = self.number(index)
        return f"row {number}, counting from 0" if file is None else f"row {number} of {file}"

    def keep(self, rows: Bools | Ints) -> Place:
        """The same place when only those of its rows are left.

        >>> Place().keep(np.array([False, True, True])).keep(np.array([False, True])).position(0)
        2
        """
        left: Any = np.flatnonzero(rows) if rows.dtype == bool else rows
        return replace(self, kept=left if self.kept is None else self.kept[left])

    def rows(self, where: Bools) -> str:
        """How many rows, and the first of them.

        >>> Place().rows(np.array([False, True, True]))
        'in 2 rows, first at row 1, counting from 0'
        """
        count = int(np.count_nonzero(where))
        first = self.row(int(where.argmax()))
        if self.partial:  # what follows has not been read
            return f"at {first}" if count == 1 else f"in {count:,} rows or more, first at {first}"
        return f"in 1 row, {first}" if count == 1 else f"in {count:,} rows, first at {first}"


_EXACT = 2**53
TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def numbers(column: Vector, name: str, place: Place) -> Numbers:
    """The column as numbers; text is read as numbers when all of it is, and refused otherwise.

    >>> from scorewise.columns.vectors import vector
    >>> numbers(vector(["0.5", "1e-3"], "p"), "p", Place()).values
    array([0.5  , 0.001])
    """
    column = as_numeric(column)
    if isinstance(column, Coded):
        return _from_words(column, name, place)
    values = column.values
    wide = values.dtype.kind in "iu" and values.dtype.itemsize == 8 and len(values)
    if wide and (values.min() < -_EXACT or values.max() > _EXACT):
        big: Bools = (values > _EXACT) | (values < -_EXACT)
        if column.null is not None:
            big &= ~column.null
        if big.any():
            raise BadInput(_too_large(name, place.rows(big), str(values[big.argmax()])))
    return column


def _too_large(name: str, rows: str, first: str) -> str:
    return (
        f"{name} is an integer beyond 2**53 {rows} ({first}), "
        f"which floats cannot tell from its neighbours; scale it down"
    )


def _from_words(column: Coded, name: str, place: Place) -> Numbers:
    # one more entry of each table is what the code -1 stands for
    large = [_is_large(v) for v in column.values]
    if None not in large:
        big = np.array([*large, False])[column.codes]
        if big.any():
            first = column.values[column.codes[big.argmax()]]
            raise BadInput(_too_large(name, place.rows(big), short(first)))
    read, note = [_read(v) for v in column.values], ""
    if None in read:
        read, note = _as_written(column.values) or (read, "")
    wrong = np.array([*(r is None for r in read), False])[column.codes]
    if not wrong.any():
        return Numbers(np.array([*read, None], float)[column.codes], column.codes < 0, note)
    value = column.values[column.codes[wrong.argmax()]]
    if isinstance(value, TIMES):
        raise BadInput(f"{name} holds dates or times, first {value}; pass one number per row")
    if isinstance(value, complex):
        raise BadInput(f"{name} holds complex numbers; pass one real number per row")
    if isinstance(value, str) and value.rstrip().endswith("%"):
        raise BadInput(
            f"{name} is written in percent {place.rows(wrong)} ({short(value)}); remove the % and "
            f"divide by 100"
        )
    raise BadInput(
        f"{name} is not a number {place.rows(wrong)} ({short(value)}); "
        f"correct it or leave such rows out"
    )


_TRUTH = {"true": 1.0, "yes": 1.0, "1": 1.0, "false": 0.0, "no": 0.0, "0": 0.0}


def truths(column: Vector, name: str, place: Place) -> Numbers:
    """The column as numbers; also text that says true or false, yes or no.

    >>> truths(Coded(np.array([0, 1, -1, 0]), ["True", "false"]), "correct", Place()).values
    array([1., 0., 0., 1.])
    """
    if isinstance(column, Coded):
        words = [str(v).strip().casefold() for v in column.values]
        if words and all(word in _TRUTH for word in words):
            known = np.array([*(_TRUTH[word] for word in words), 0.0])
            return Numbers(known[column.codes], column.codes < 0)
    return numbers(column, name, place)


_COMMA = re.compile(r"[+-]?(\d+(,\d*)?|,\d+)([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})*")


def _as_written(values: Sequence[Any]) -> tuple[list[float | None], str] | None:
    """Numbers all written in percent or with a decimal comma, and a note; None where they are not.

    Text such as 1,234 alone may have a comma for thousands, and is not read.

    >>> _as_written(["91%", "5 %"])
    ([0.91, 0.05], "written in percent and read as shares: '91%' is 0.91")
    >>> _as_written(["0,91", "1"])
    ([0.91, 1.0], "written with a decimal comma: '0,91' is 0.91")
    """
    if not all(isinstance(v, str) for v in values):
        return None
    bare = [v.strip() for v in values]
    percent = all(v.endswith("%") for v in bare)
    if percent:
        bare = [v[:-1].rstrip() for v in bare]
    comma = any("," in v for v in bare)
    if comma:
        if not all(map(_COMMA.fullmatch, bare)) or all(map(_THOUSANDS.fullmatch, bare)):
            return None
        bare = [v.replace(",", ".") for v in bare]
    if not (percent or comma) or any(_read(v) is None for v in bare):
        return None
    # by digits, so that 7% is the float that 0.07 is
    read = [float(Decimal(v).scaleb(-2 if percent else 0)) for v in bare]
    how = "written in percent and read as shares" if percent else "written with a decimal comma"
    first = next(i for i, v in enumerate(values) if percent or "," in v)
    return [*read], f"{how}: {short(values[first])} is {read[first]:g}"


def is_text(column: Vector) -> bool:
    """Whether no value of a column is a number.

    >>> is_text(Coded(np.array([0, 1]), ["cat", "dog"])), is_text(Coded(np.array([0]), ["7%"]))
    (True, False)
    """
    if not isinstance(column, Coded) or not column.values:
        return False
    if _as_written(column.values) is not None:
        return False
    return all(_read(v) is None for v in column.values)


def _is_large(value: Any) -> bool | None:
    """Whether an integer, or the digits of one in text, is beyond 2**53; None for anything else."""
    if isinstance(value, int):
        return abs(value) > _EXACT
    digits = value.strip().removeprefix("-").removeprefix("+") if isinstance(value, str) else ""
    if not (digits.isascii() and digits.isdigit()):
        return None
    digits = digits.lstrip("0") or "0"
    return len(digits) > 16 or int(digits) > _EXACT


def _read(value: Any) -> float | None:
    # Python, unlike every file format, reads 1_000 as a number
    if not numeric(value) and (not isinstance(value, str) or "_" in value):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
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


def _not_negative(
    column: Numbers, name: str, place: Place, what: str
) -> tuple[NDArray[Any], float]:
    """The values, none of them below 0, and the greatest of them."""
    low, high = in_range(column.values, name, place)
    if low < 0:
        below = column.values < 0
        raise BadInput(
            f"{name} is negative {place.rows(below)} ({column.values[below.argmax()]:.6g}); {what}"
        )
    return column.values, high


def weights(column: Numbers, name: str, place: Place) -> Floats:
    """Weights, which have to be finite, not negative and not all zero."""
    given, high = _not_negative(column, name, place, "weights are zero or more")
    values = given.astype(np.float64, copy=False)
    if len(values) and high == 0 and not place.partial:
        raise no_weight(name)
    beyond = (values > 1e120) | ((values > 0) & (values < 1e-120))
    if beyond.any():
        raise BadInput(
            f"{name} is beyond what can be squared {place.rows(beyond)} "
            f"({values[beyond.argmax()]:.6g}); weights have no unit, so scale them all towards 1"
        )
    return values


def no_weight(name: str) -> BadInput:
    """About weights that are all zero."""
    return BadInput(f"{name} is zero in every row; give at least one row some weight")


def counts(column: Numbers, name: str, place: Place) -> Ints:
    """Counts, which have to be whole and not negative."""
    values, high = _not_negative(column, name, place, "counts are whole numbers from zero up")
    if values.dtype.kind == "f":
        part = values != np.floor(values)
        if part.any():
            raise BadInput(
                f"{name} is not whole {place.rows(part)} ({values[part.argmax()]:.6g}); pass ",
                "fractions as ", Option("weight"), " instead",
            )  # fmt: skip
    if high > 2**53 or float(values.sum(dtype=np.float64)) > 2**53:
        raise BadInput(f"{name} adds up to more than 2**53, beyond exact counting; scale it down")
    return values.astype(np.int64, copy=False)
