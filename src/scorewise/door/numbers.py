"""Columns that have to be numbers: scores, weights, counts."""

from __future__ import annotations

import datetime
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools
from scorewise.door.place import Place
from scorewise.door.values import Coded, Numbers, Vector, numeric, short, spread, spreadable
from scorewise.errors import BadInput

_EXACT = 2**53
_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)


def numbers(column: Vector, name: str, place: Place) -> Numbers:
    """The column as numbers; text is read as numbers when all of it is, and refused otherwise.

    >>> from scorewise.door.vectors import vector
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
