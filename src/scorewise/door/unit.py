"""Numbers from 0 to 1 as people write them: confidence, and how good an answer is."""

from __future__ import annotations

import numpy as np

from scorewise.arrays import Floats
from scorewise.door.numbers import in_range, numbers
from scorewise.door.place import Place
from scorewise.door.values import Coded, Numbers, Vector, short
from scorewise.errors import BadInput

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
