"""Features that must be numbers: refuse words, dates and frames without rows, in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorewise.errors import BadInput
from scorewise.models.checking import as_frame

DATES = (date, time, timedelta, np.datetime64, np.timedelta64)


def check_numbers(X: Any, way_out: str) -> None:  # noqa: N803
    """Refuse words, dates and frames without rows; what else is no number scikit-learn refuses."""
    for name, values in _doubtful(X):
        for value in values:
            if isinstance(value, DATES):
                raise BadInput(
                    f"{name} holds dates or times; pass numbers, such as days since the first"
                )
            if isinstance(value, str | bytes) and not _is_number(value):
                raise BadInput(f"{name} holds {value!r}, {way_out}")


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
