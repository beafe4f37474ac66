"""A column as numpy: numbers or coded values, and what of it is missing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools
from scorewise.errors import BadInput


@dataclass(frozen=True)
class Numbers:
    """Booleans, integers or floats; `null`, if any, marks the missing ones besides NaN."""

    values: NDArray[Any]
    null: Bools | None = None

    def __len__(self) -> int:
        return len(self.values)

    def missing(self) -> Bools | None:
        """Where there is no value, null or NaN; None when every row has one."""
        values, null = self.values, self.null
        if values.dtype.kind == "f" and len(values) and np.isnan(values.min()):
            nan: Bools = np.isnan(values)
            return nan if null is None else nan | null
        return null if null is not None and null.any() else None

    def keep(self, rows: Bools) -> Numbers:
        """Those rows alone, which have no missing values."""
        return Numbers(self.values[rows])


@dataclass(frozen=True)
class Coded:
    """Values of any kind as codes into a short list; code -1 is missing.

    `declared` says that `values` is a list of categories in an order of their own.
    """

    codes: NDArray[np.integer[Any]]
    values: list[Any]
    declared: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    def missing(self) -> Bools | None:
        """Where there is no value; None when every row has one."""
        return self.codes < 0 if len(self.codes) and self.codes.min() < 0 else None

    def keep(self, rows: Bools) -> Coded:
        """Those rows alone."""
        return Coded(self.codes[rows], self.values, self.declared)


Vector: TypeAlias = Numbers | Coded


def array(column: Any) -> NDArray[Any]:
    """A numpy array of anything numpy understands."""
    values = np.asarray(column)
    # numpy turns ["a", nan] into text, and with it the NaN
    if values.dtype.kind in "US" and isinstance(column, list | tuple):
        values = np.asarray(column, dtype=object)
    return values


def from_numpy(values: NDArray[Any], name: str) -> Vector:
    """A numpy array of one dimension, checked; numbers stay where they are."""
    if values.ndim == 0:
        raise BadInput(f"{name} is a single value ({values.item()!r}); pass one value per row")
    if values.ndim > 1:
        column = 0 if values.shape[1] == 1 else 1
        way_out = f"pass one column of it, such as {name}[:, {column}]" if values.ndim == 2 else ""
        raise BadInput(
            f"{name} has shape {values.shape}; {way_out or 'pass one value per row, a flat array'}"
        )
    if isinstance(values, np.ma.MaskedArray):
        rest = from_numpy(values.data, name)
        return _without(rest, np.ma.getmaskarray(values))
    kind = values.dtype.kind
    if kind in "biuf":
        # another byte order, and long doubles, are outside what sorting and intervals know
        native = values.dtype.newbyteorder("=") if values.dtype.itemsize <= 8 else np.float64
        return Numbers(np.asarray(values, dtype=native))
    if kind in "OT":
        return _from_objects(values.astype(object, copy=False), name)
    if kind == "V" and values.dtype.names is None:
        return Numbers(_small_float(values, name))
    if kind in "SUMmc":
        return _from_few(values)
    raise BadInput(f"{name} is of type {values.dtype}; pass one number or label per row")


def _small_float(values: NDArray[Any], name: str) -> NDArray[Any]:
    try:
        return values.astype(np.float32)  # bfloat16 and its kin, as JAX gives them
    except (TypeError, ValueError):
        raise BadInput(
            f"{name} is of type {values.dtype}; pass one number or label per row"
        ) from None


def _without(column: Vector, null: Bools) -> Vector:
    if isinstance(column, Coded):
        return Coded(np.where(null, -1, column.codes), column.values, column.declared)
    return Numbers(column.values, null)


def _from_few(column: NDArray[Any]) -> Coded:
    """Codes by picking out one value after the other; sorts only when there are many."""
    void = np.isnat(column) if column.dtype.kind in "Mm" else None
    codes = np.full(len(column), -1, dtype=np.int64)
    values: list[Any] = []
    left = np.ones(len(column), dtype=bool) if void is None else ~void
    while left.any() and len(values) < 8:
        value = column[left.argmax()]
        here = (column == value) & left
        codes[here] = len(values)
        values.append(value)
        left &= ~here
    if left.any():
        more, codes[left] = np.unique(column[left], return_inverse=True)
        codes[left] += len(values)
        values.extend(more)
    return Coded(codes, [plain(v) for v in values])


def plain(value: Any) -> Any:
    """A Python value for a numpy one; bytes as text."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, np.datetime64 | np.timedelta64):
        return value
    return value.item() if isinstance(value, np.generic) else value


def _from_objects(column: NDArray[Any], name: str) -> Vector:
    """Objects of any kind: numbers when all are, else coded."""
    if set(map(type, column)) <= {float, np.float64, type(None)}:
        return Numbers(column.astype(np.float64))
    table: dict[Any, int] = {}
    try:
        codes = np.fromiter(
            (table.setdefault(v, len(table)) for v in column), dtype=np.int64, count=len(column)
        )
    except TypeError:
        kind = next(type(v).__name__ for v in column if not _hashable(v))
        raise BadInput(
            f"{name} holds a {kind} in a row; pass one number or label per row"
        ) from None
    present = [v for v in table if not absent(v)]
    if len(present) < len(table):
        order = {v: i for i, v in enumerate(present)}
        codes = np.array([-1 if absent(v) else order[v] for v in table])[codes]
    return coded(codes, [plain(v) for v in present])


def coded(codes: NDArray[np.integer[Any]], values: list[Any]) -> Vector:
    """Coded values, written out where all of them are numbers."""
    column = Coded(codes, values)
    return spread(column) if values and spreadable(values) else column


def absent(value: Any) -> bool:
    """Whether an object stands for a missing value: None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    # NaN and NaT are not equal to themselves
    return not isinstance(value, str) and _unequal_to_itself(value)


def _unequal_to_itself(value: Any) -> bool:
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return False


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def numeric(value: Any) -> bool:
    """Whether an object is a number."""
    return isinstance(value, bool | int | float) or type(value).__name__ in ("Decimal", "Fraction")


def short(value: Any) -> str:
    """A value as shown in a sentence, on one line and cut to 40 characters.

    >>> short("yes"), short(10**5000)
    ("'yes'", 'about 1e5000')
    """
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"about {'-' if value < 0 else ''}1e{int(abs(value).bit_length() * math.log10(2))}"
    try:
        shown = " ".join(line.strip() for line in repr(value).splitlines())
    except Exception:  # of an object that cannot even be shown
        shown = f"<{type(value).__name__}>"
    return shown if len(shown) <= 40 else shown[:37] + "..."


def spreadable(values: list[Any]) -> bool:
    """Whether all are numbers that numpy can hold: no integers of more than 64 bits."""
    if not all(numeric(v) for v in values):
        return False
    if all(isinstance(v, int) for v in values):
        return all(-(2**63) <= v < 2**63 for v in values)
    return all(isinstance(v, float) or _floats(v) for v in values)


def _floats(value: Any) -> bool:
    try:
        float(value)
    except (OverflowError, ValueError):
        return False
    return True


def spread(column: Coded) -> Numbers:
    """A column of coded numbers, written out."""
    kinds = {type(v) for v in column.values}
    table: NDArray[Any]
    if kinds == {bool}:
        table = np.array([*column.values, False])
    elif kinds <= {bool, int} and all(-(2**63) <= v < 2**63 for v in column.values):
        table = np.array([*(int(v) for v in column.values), 0], dtype=np.int64)
    else:
        table = np.array([*(float(v) for v in column.values), np.nan])
    return Numbers(table[column.codes], column.codes < 0)
