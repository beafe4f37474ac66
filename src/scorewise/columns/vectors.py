"""A column as numpy: numbers or coded values, and what of it is missing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools
from scorewise.errors import BadInput


@dataclass(frozen=True)
class Numbers:
    """Booleans, integers or floats; `null`, if any, marks the missing ones besides NaN.

    `note` says how they were written, where that is not as plain numbers.
    """

    values: NDArray[Any]
    null: Bools | None = None
    note: str = ""

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
        """Those rows alone."""
        null = None if self.null is None else self.null[rows]
        return Numbers(self.values[rows], null if null is not None and null.any() else None)


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
_PART = 1 << 15  # numbers that are counted at a time


def array(column: Any) -> NDArray[Any]:
    """A numpy array of anything numpy understands."""
    values = np.asarray(column)
    # numpy turns ["a", nan] into text, and with it the NaN
    if values.dtype.kind in "US" and isinstance(column, list | tuple):
        values = np.asarray(column, dtype=object)
    return values


def _flat_instead(values: NDArray[Any], name: str) -> str:
    """What to pass instead of an array of several columns."""
    if values.ndim > 2:
        return "pass one value per row, a flat array"
    known = ((values == 0) | (values == 1)).all() and len(values) and values.shape[1] > 2
    if known and (values.sum(1) == 1).all():
        return "one-hot labels of several classes need a score for each of them"
    return f"pass one column of it, such as {name}[:, 1]"


def from_numpy(values: NDArray[Any], name: str) -> Vector:
    """A numpy array of one dimension, or of one column, checked; numbers stay where they are."""
    if values.ndim == 0:
        raise BadInput(f"{name} is a single value ({values.item()!r}); pass one value per row")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim > 1:
        raise BadInput(f"{name} has shape {values.shape}; {_flat_instead(values, name)}")
    if isinstance(values, np.ma.MaskedArray):
        rest, null = from_numpy(values.data, name), np.ma.getmaskarray(values)
        if isinstance(rest, Numbers):
            return replace(rest, null=null if rest.null is None else null | rest.null)
        return replace(rest, codes=np.where(null, -1, rest.codes))
    kind = values.dtype.kind
    if kind in "biuf":
        # another byte order, and long doubles, are outside what sorting and intervals know
        native = values.dtype.newbyteorder("=") if values.dtype.itemsize <= 8 else np.float64
        return Numbers(np.asarray(values, dtype=native))
    if kind in "OT":
        return _from_objects(values.astype(object, copy=False), name)
    if kind == "V" and values.dtype.names is None:
        with suppress(TypeError, ValueError):  # bfloat16 and its kin, as JAX gives them
            return Numbers(values.astype(np.float32))
    if kind in "SUMmc":
        return _from_few(values)
    raise BadInput(f"{name} is of type {values.dtype}; pass one number or label per row")


def _from_few(column: NDArray[Any]) -> Coded:
    """Codes by picking out one value after the other; sorts only when there are many."""
    left = ~np.isnat(column) if column.dtype.kind in "Mm" else np.ones(len(column), dtype=bool)
    codes = np.full(len(column), -1, dtype=np.int64)
    values: list[Any] = []
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
        # of what is hashable by its type, a tuple may hold what is not
        odd = (type(v).__name__ for v in column if not isinstance(v, Hashable))
        kind = next(odd, "tuple")
        raise BadInput(
            f"{name} holds a {kind} in a row; pass one number or label per row"
        ) from None
    there = np.array([not absent(v) for v in table], bool)
    if not there.all():
        codes = np.where(there, there.cumsum() - 1, -1)[codes]
    present = [plain(v) for v, kept in zip(table, there, strict=True) if kept]
    return as_numeric(Coded(codes, present))


def distinct(column: Vector) -> list[Any]:
    """The values that occur, numbers by size; sorts only where there are more than two.

    >>> distinct(Numbers(np.array([7.0, np.nan, 5.0]))), distinct(Coded(np.array([1, -1]), ["a", "b"]))
    ([5.0, 7.0], ['b'])
    """
    if (gone := column.missing()) is not None:
        column = column.keep(~gone)
    if isinstance(column, Coded):
        times = np.bincount(column.codes, minlength=len(column.values)).tolist()
        return [value for value, rows in zip(column.values, times, strict=True) if rows]
    values = column.values
    if not len(values):
        return []
    low, high = values.min().item(), values.max().item()
    ends = [low] if low == high else [low, high]
    near = values.dtype.kind in "biu" and high - low <= 1
    if near or sum(np.count_nonzero(values == end) for end in ends) == len(values):
        return ends
    return list(np.unique(values).tolist())


def rows_with(column: Vector, values: list[Any]) -> Bools:
    """Which rows have one of these values."""
    if isinstance(column, Coded):
        at: NDArray[Any] = column.codes
        values = [code for code, value in enumerate(column.values) if value in values]
    else:
        at = column.values
    if at.dtype == bool and values == [True]:
        return at
    return np.asarray(at == values[0] if len(values) == 1 else np.isin(at, values))


def factorize(column: Vector) -> tuple[list[Any], NDArray[np.integer[Any]]]:
    """The values of a column, and which of them each row has; -1 where it is missing.

    >>> values, codes = factorize(Numbers(np.array([7.0, np.nan, 5.0])))
    >>> values, codes.tolist()
    ([5.0, 7.0], [1, -1, 0])
    """
    if isinstance(column, Coded):
        return list(column.values), column.codes
    values, codes = factorize_numbers([column])
    return values, codes[0]


def factorize_numbers(columns: Sequence[Numbers]) -> tuple[list[Any], NDArray[np.integer[Any]]]:
    """The values of columns of one length, and which of them each row (second axis) of each has."""
    if (counted := _counted(columns)) is not None:
        return counted
    gaps = [c.missing() for c in columns]
    there = np.stack([np.ones(len(columns[0]), bool) if gone is None else ~gone for gone in gaps])
    codes = np.full(there.shape, -1)
    values = np.concatenate([c.values for c in columns])[there.ravel()]
    found, codes[there] = np.unique(values, return_inverse=True)
    return found.tolist(), codes


def _counted(columns: Sequence[Numbers]) -> tuple[list[Any], NDArray[np.integer[Any]]] | None:
    """The same without a sort, in parts that the cache holds: of whole numbers in a narrow range."""
    rows, kinds = len(columns[0]), {c.values.dtype.kind for c in columns}
    wide: Any = {"f": np.float64, "u": np.uint64, "i": np.int64}.get(kinds.pop())
    if kinds or wide is None or not rows:
        return None
    # these pass over NaN
    low = min(np.fmin.reduce(c.values).item() for c in columns)
    high = max(np.fmax.reduce(c.values).item() for c in columns)
    if low != low // 1 or not high - low < min(rows, 1 << 31):
        return None
    codes = np.empty((len(columns), rows), np.int32)
    used = np.zeros(int(high - low) + 2, bool)  # the last is for what is missing, -1
    for column, own in zip(columns, codes, strict=True):
        for first in range(0, rows, _PART):
            part = slice(first, first + _PART)
            # differences of narrow types would overflow
            above: Any = column.values[part].astype(wide, copy=False) - wide(low)
            at = own[part]
            at[:] = above if wide is not np.float64 else np.fmax(above, -1.0, out=above)  # NaN
            if wide is np.float64 and (at != above).any():
                return None
            if column.null is not None:
                at[column.null[part]] = -1
            used[at] = True
    if not used[:-1].all():
        codes = np.append(used[:-1].cumsum() - 1, -1).astype(np.int32)[codes]
    return (np.flatnonzero(used[:-1]).astype(wide) + wide(low)).tolist(), codes


def absent(value: Any) -> bool:
    """Whether an object stands for a missing value: None, NaN, NaT or pandas' NA."""
    if value is None or type(value).__name__ == "NAType":
        return True
    try:  # NaN and NaT are not equal to themselves
        return not isinstance(value, str) and bool(value != value)
    except (TypeError, ValueError):
        return False


def numeric(value: Any) -> bool:
    """Whether an object is a number."""
    return isinstance(value, bool | int | float) or type(value).__name__ in ("Decimal", "Fraction")


def as_numeric(column: Vector) -> Vector:
    """Coded values as numbers, where all of them are such, and none an integer of more than 64 bits.

    >>> as_numeric(Coded(np.array([1, -1]), [0.5, 2]))
    Numbers(values=array([ 2., nan]), null=array([False,  True]), note='')
    """
    if isinstance(column, Numbers) or not column.values or not all(map(numeric, column.values)):
        return column
    kinds = {type(v) for v in column.values}
    kind: Any = bool if kinds == {bool} else np.int64 if kinds <= {bool, int} else float
    try:
        # one more value at the end is what the code -1 stands for
        table = np.array([*map(kind, column.values), np.nan if kind is float else 0], kind)
    except (OverflowError, ValueError):
        return column
    return Numbers(table[column.codes], column.codes < 0)


# One column in memory, from whichever library, as numpy.
# Libraries are recognised when their module is loaded already.


def vector(column: Any, name: str) -> Vector:
    """A column as numpy, without a copy where its memory already is that of a numpy array.

    >>> vector([1, 0, 1], "y").values
    array([1, 0, 1])
    >>> vector(["yes", None, "yes"], "y")
    Coded(codes=array([ 0, -1,  0]), values=['yes'], declared=False)
    """
    try:
        return _vector(column, name)
    except BadInput:
        raise
    except Exception as e:  # whatever a container, or a value in it, may raise
        raise BadInput(
            f"{name} ({type(column).__name__}) cannot be read as one column; "
            f"pass a flat array, series or list"
        ) from e


def _vector(column: Any, name: str) -> Vector:
    if isinstance(column, str | bytes):
        raise BadInput(
            f"{name} is the text {column!r}; pass the values of the column, not its name"
        )
    if isinstance(column, dict | set | frozenset):
        raise BadInput(
            f"{name} is a {type(column).__name__}; pass a column: an array, series or list"
        )
    if isinstance(column, np.ndarray):
        return from_numpy(column, name)
    read = _READERS.get(type(column).__module__.partition(".")[0])
    if read is not None:
        return read(column, name)
    if isinstance(column, range):
        column = np.arange(column.start, column.stop, column.step)
    elif hasattr(column, "to_numpy"):
        column = column.to_numpy()
    elif not isinstance(column, list | tuple) and not hasattr(column, "__array__"):
        column = list(column) if isinstance(column, Iterable) else column
    return from_numpy(array(column), name)


def _from_pandas(column: Any, name: str) -> Vector:
    pandas = sys.modules["pandas"]
    if getattr(column, "ndim", 1) != 1 or not hasattr(column, "dtype"):
        return from_numpy(array(column), name)
    series = column if isinstance(column, pandas.Series) else pandas.Series(column)
    dtype = series.dtype
    if isinstance(dtype, pandas.CategoricalDtype):
        values = [plain(v) for v in dtype.categories]
        return Coded(series.cat.codes.to_numpy(), values, bool(dtype.ordered))
    if isinstance(dtype, np.dtype):
        return from_numpy(series.to_numpy(), name)
    inner = getattr(dtype, "numpy_dtype", None)
    if isinstance(inner, np.dtype) and inner.kind in "biuf":
        null = series.isna().to_numpy()
        filled = series.to_numpy(dtype=inner, na_value=inner.type(0))
        return Numbers(filled, null if null.any() else None)
    if getattr(dtype, "kind", "O") in "biuf":  # sparse
        return from_numpy(np.asarray(series), name)
    codes, uniques = series.factorize()
    return as_numeric(Coded(codes, [plain(v) for v in uniques]))


def _from_polars(column: Any, name: str) -> Vector:
    polars = sys.modules["polars"]
    if not isinstance(column, polars.Series):
        return from_numpy(array(column), name)
    dtype = column.dtype
    if dtype.is_decimal():
        return _from_polars(column.cast(polars.Float64), name)
    if str(dtype) in ("Int128", "UInt128"):  # which numpy does not have
        return from_numpy(np.array(column.to_list(), dtype=object), name)
    if dtype == polars.Null:
        return Coded(np.full(len(column), -1), [])
    if dtype.is_numeric() or dtype == polars.Boolean:
        if not column.null_count():
            return from_numpy(column.to_numpy(), name)
        filled = column.fill_null(False if dtype == polars.Boolean else 0)
        return Numbers(filled.to_numpy(), column.is_null().to_numpy())
    if isinstance(dtype, polars.Enum):
        codes = column.to_physical().cast(polars.Int64).fill_null(-1).to_numpy()
        return Coded(codes, dtype.categories.to_list(), declared=True)
    if dtype == polars.Categorical:
        column = column.cast(polars.String)
    if dtype.is_nested() or dtype in (polars.Object, polars.Binary):
        return from_numpy(array(column.to_list()), name)
    values = column.drop_nulls().unique(maintain_order=True)
    places = polars.Series(np.arange(len(values)))
    codes = column.replace_strict(values, places, default=-1, return_dtype=polars.Int64)
    return Coded(codes.to_numpy(), values.to_list())


def _from_pyarrow(column: Any, name: str) -> Vector:
    arrow = sys.modules["pyarrow"]
    if not isinstance(column, arrow.Array | arrow.ChunkedArray):
        return from_numpy(array(column), name)
    if getattr(column.type, "ordered", False):
        packed = column.combine_chunks() if isinstance(column, arrow.ChunkedArray) else column
        if not packed.dictionary.null_count:
            codes = packed.indices.cast(arrow.int64()).fill_null(-1).to_numpy()
            return Coded(codes, packed.dictionary.to_pylist(), declared=True)
    import polars

    return _from_polars(polars.Series(polars.from_arrow(column)), name)


def of_torch(values: Any, name: str) -> Any:
    """A tensor, or those of a list, as numpy; anything else as it is."""
    if isinstance(values, list | tuple) and any(hasattr(v, "detach") for v in values):
        return [of_torch(v, name) for v in values]
    if not hasattr(values, "detach"):
        return values
    if values.is_meta:
        raise BadInput(
            f"{name} is a torch tensor on the meta device, which has no data; pass one that has"
        )
    if "strided" not in str(values.layout):
        raise BadInput(f"{name} is a sparse torch tensor; pass it as .to_dense()")
    tensor = values.detach().cpu()
    # numpy has no bfloat16 and no 8-bit floats
    if tensor.is_floating_point() and str(tensor.dtype) not in (
        "torch.float64",
        "torch.float32",
        "torch.float16",
    ):
        tensor = tensor.float()
    return tensor.numpy()


_READERS: dict[str, Callable[[Any, str], Vector]] = {
    "pandas": _from_pandas,
    "polars": _from_polars,
    "pyarrow": _from_pyarrow,
    "torch": lambda column, name: from_numpy(array(of_torch(column, name)), name),
    "narwhals": lambda column, name: vector(column.to_native(), name),
}
