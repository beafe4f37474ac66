"""Rows and labels for networks: numbers alone, of the shape that they had in fitting."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorewise.door.place import Place
from scorewise.errors import BadInput
from scorewise.models.checking import as_frame, complete, validated

Array = NDArray[np.float64]
DATES = (date, time, timedelta, np.datetime64, np.timedelta64)


def rows_of(model: Any, *given: Any, images: bool) -> Any:
    """Rows, and labels when fitting, as scikit-learn checks them; images may have more dimensions."""
    X, *labels = given  # noqa: N806
    check_numbers(X)
    labels = [y if y is None else complete(y) for y in labels]
    fitting = len(given) > 1
    found = validated(
        model, X, *labels, finite=False, dtype=np.float64, allow_nd=images, reset=fitting
    )
    check_finite(found[0] if labels else found)
    return found


def check_numbers(X: Any) -> None:  # noqa: N803
    """Refuse words, dates and frames without rows; what else is no number scikit-learn refuses."""
    for name, values in _doubtful(X):
        for value in values:
            if isinstance(value, DATES):
                raise BadInput(
                    f"{name} holds dates or times; pass numbers, such as days since the first"
                )
            if isinstance(value, str | bytes) and not _is_number(value):
                raise BadInput(
                    f"{name} holds {value!r}, and a network takes numbers alone; encode words, as with "
                    "sklearn.preprocessing.OneHotEncoder, or use a KernelDensityForest"
                )


def _doubtful(x: Any) -> Iterator[tuple[str, list[Any]]]:
    """The columns that may hold something other than numbers, with their names."""
    frame = as_frame(x)
    if frame is not None:
        for column in frame.iter_columns():
            if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
                yield str(column.name), column.to_list()
    elif isinstance(x, list | tuple | np.ndarray):
        array = x if isinstance(x, np.ndarray) else _array(x)
        if array.dtype.kind in "OUSMm" and array.size:
            for i, values in enumerate(array.reshape(len(array), -1).T):
                yield f"column {i}", list(values)


def _array(x: Any) -> NDArray[Any]:
    try:
        return np.asarray(x)
    except ValueError:  # lists of several lengths, which scikit-learn refuses
        return np.empty(0)


def _is_number(word: str | bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def check_finite(X: Array) -> None:  # noqa: N803
    """Refuse rows with values that are missing or infinite."""
    bad = np.asarray(~np.isfinite(X).reshape(len(X), -1).all(axis=1))
    if bad.any():
        raise BadInput(
            f"X has NaN (missing) or inf {Place().rows(bad)}; a network takes neither: fill "
            "them, as with sklearn.impute.SimpleImputer, or use KernelDensityForest, which takes NaN"
        )


def check_shape(X: Array, shape: tuple[int, ...]) -> None:  # noqa: N803
    """Refuse rows of another shape than those of fitting, such as images of another size."""
    if X.shape[1:] != shape:
        raise BadInput(
            f"each row of X has shape {X.shape[1:]}, in fitting it had {shape}; pass that"
        )
