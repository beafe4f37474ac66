"""One column in memory, from whichever library, as numpy.

Libraries are recognised when their module is loaded already; none is imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from scorewise.door.values import Coded, Numbers, Vector, array, coded, from_numpy, plain
from scorewise.errors import BadInput


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
    return coded(codes, [plain(v) for v in uniques])


def _from_polars(column: Any, name: str) -> Vector:
    polars = sys.modules["polars"]
    if not isinstance(column, polars.Series):
        return from_numpy(array(column), name)
    dtype = column.dtype
    if dtype.is_decimal():
        return _from_polars(column.cast(polars.Float64), name)
    if str(dtype) in ("Int128", "UInt128"):
        return _from_wide(column, name)
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


def _from_wide(column: Any, name: str) -> Vector:
    """Integers of 128 bits, which numpy does not have: narrowed where that loses nothing."""
    narrow = column.cast(sys.modules["polars"].Int64, strict=False)
    if narrow.null_count() > column.null_count():
        return from_numpy(np.array(column.to_list(), dtype=object), name)
    return _from_polars(narrow, name)


def _from_pyarrow(column: Any, name: str) -> Vector:
    arrow = sys.modules["pyarrow"]
    if isinstance(column, arrow.ChunkedArray):
        column = column.combine_chunks()
        if isinstance(column, arrow.ChunkedArray):  # several chunks too large for one
            column = arrow.concat_arrays(column.chunks)
    if not isinstance(column, arrow.Array):
        return from_numpy(array(column), name)
    kinds = arrow.types
    if kinds.is_decimal(column.type):
        column = column.cast(arrow.float64())
    if kinds.is_floating(column.type) or kinds.is_integer(column.type):
        null = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
        filled = column if null is None else column.fill_null(0)
        return Numbers(filled.to_numpy(), null)
    if kinds.is_boolean(column.type):
        null = column.is_null().to_numpy(zero_copy_only=False) if column.null_count else None
        return Numbers(column.fill_null(False).to_numpy(zero_copy_only=False), null)
    if kinds.is_null(column.type):
        return Coded(np.full(len(column), -1), [])
    if kinds.is_nested(column.type):
        return from_numpy(array(column.to_pylist()), name)
    declared = kinds.is_dictionary(column.type) and bool(column.type.ordered)
    if kinds.is_dictionary(column.type) and column.dictionary.null_count:
        column = column.dictionary_decode()
    packed = column if kinds.is_dictionary(column.type) else column.dictionary_encode()
    codes = packed.indices.cast(arrow.int64()).fill_null(-1).to_numpy()
    return Coded(codes, packed.dictionary.to_pylist(), declared)


def _from_torch(column: Any, name: str) -> Vector:
    return from_numpy(array(of_torch(column, name)), name)


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


def _from_narwhals(column: Any, name: str) -> Vector:
    return vector(column.to_native(), name)


_READERS: dict[str, Callable[[Any, str], Vector]] = {
    "pandas": _from_pandas,
    "polars": _from_polars,
    "pyarrow": _from_pyarrow,
    "torch": _from_torch,
    "narwhals": _from_narwhals,
}
