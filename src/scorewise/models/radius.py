"""Points at a distance from data, in random directions."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.models.checking import as_frame, is_finite, is_whole
from scorewise.models.numbers_only import check_numbers


def at_radius(X: Any, radius: float, n: int = 500, *, random_state: int = 0) -> Any:  # noqa: N803
    """`n` points in random directions from the centre of the rows, at `radius` times their reach.

    Columns are measured in their standard deviations, so that no unit counts more than another; the
    reach is the largest distance of a row from the mean of all, its gaps left out. Constant columns
    stay as they are. Of a frame comes a frame, in which words are those of rows drawn at random.

    >>> X = np.array([[0.0, 10.0], [2.0, 30.0], [4.0, 20.0]])
    >>> at_radius(X, 2, n=2).round(1)
    array([[ 5.9, -0.5],
           [ 7.6, 24.6]])
    """
    if not (is_finite(radius) and radius >= 0):
        raise BadInput(f"radius is {radius!r}; it must be a number from 0 up, such as 5")
    if not (is_whole(n) and n >= 1):
        raise BadInput(f"n is {n!r}; it must be a whole number from 1 up, such as 500")
    random = np.random.default_rng(random_state)
    frame = as_frame(X)
    if frame is None:
        check_numbers(X, "and an array must hold numbers; pass words in a frame")
        rows = np.asarray(X, dtype=float)
        if rows.ndim < 2 or not rows.size:
            raise BadInput(f"X has the shape {rows.shape}; it must have rows and columns")
        points = _around(rows.reshape(len(rows), -1), radius, n, random)
        return points.reshape(n, *rows.shape[1:])
    return _framed(frame, radius, n, random)


def _framed(frame: Any, radius: float, n: int, random: np.random.Generator) -> Any:
    """The points as a frame of the same columns."""
    columns = list(frame.iter_columns())
    numeric = [column.dtype.is_numeric() for column in columns]
    if not any(numeric):
        raise BadInput("X has no column of numbers; give some")
    told = [c.cast(nw.Float64).to_numpy() for c, own in zip(columns, numeric, strict=True) if own]
    points = iter(_around(np.column_stack(told).astype(float), radius, n, random).T)
    drawn = random.integers(len(frame), size=n).tolist()
    backend = frame.implementation
    made = {
        str(at): nw.new_series(str(at), next(points), nw.Float64, backend=backend)
        if own
        else nw.new_series(str(at), column[drawn].to_list(), column.dtype, backend=backend)
        for at, (column, own) in enumerate(zip(columns, numeric, strict=True))
    }
    return _named(nw.from_dict(made).to_native(), frame)


def _named(native: Any, frame: Any) -> Any:
    """A frame with the names of another, which in pandas need not be words."""
    if frame.implementation.is_pandas_like():
        native.columns = frame.to_native().columns
        return native
    made = nw.from_native(native)
    return made.rename(dict(zip(made.columns, frame.columns, strict=True))).to_native()


def _around(flat: Floats, radius: float, n: int, random: np.random.Generator) -> Floats:
    """Points around the centre of rows, of which some values may be missing."""
    if endless := int(np.isinf(flat).any(axis=1).sum()):
        raise BadInput(f"X is infinite in {endless:,} rows; leave them out")
    known = ~np.isnan(flat)
    count = np.maximum(known.sum(axis=0), 1)
    low = np.where(known, flat, np.inf).min(axis=0)
    varies = low < np.where(known, flat, -np.inf).max(axis=0)
    low = np.where(np.isinf(low), 0.0, low)  # of a column without any value
    centre = low + np.where(known, flat - low, 0).sum(axis=0) / count  # exact where it is constant
    away = np.where(known, flat - centre, 0)
    most = np.abs(away).max(axis=0)
    size = np.where(most > 0, most, 1.0)  # what is squared stays near 1
    spread = np.where(varies, np.sqrt(((away / size) ** 2).sum(axis=0) / count) * size, 0.0)
    unit = np.where(spread > 0, spread, 1.0)
    reach = np.sqrt(((away / unit) ** 2).sum(axis=1)).max()
    directions = random.normal(size=(n, flat.shape[1])) * (spread > 0)
    length = np.sqrt((directions**2).sum(axis=1, keepdims=True))
    directions /= np.where(length > 0, length, 1.0)
    return np.asarray(centre + radius * reach * directions * spread)
