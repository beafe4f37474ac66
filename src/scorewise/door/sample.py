"""A sample of numbers with their weights, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.door.numbers import in_range, numbers
from scorewise.door.place import Place
from scorewise.door.rows import Missing, aligned, complete, one_of, same_length, weights
from scorewise.door.vectors import vector
from scorewise.errors import BadInput


@dataclass(frozen=True)
class Sample:
    """Finite values, at least one, with their weights if any; `ends` are the least and the greatest.

    The arrays may be the caller's own memory and are not to be written to.
    """

    values: NDArray[Any]
    weight: NDArray[np.float64] | None
    ends: tuple[float, float]
    dropped: int
    place: Place


def take_sample(
    x: Any, *, weight: Any = None, missing: Missing = "refuse", name: str = "x"
) -> Sample:
    """Check a column of any library and bring it to numpy, without a copy where that can be.

    >>> take_sample([0.2, None, 0.4], missing="drop").values
    array([0.2, 0.4])
    """
    one_of("missing", missing, ("refuse", "drop"))
    place = Place()
    given = {name: x} | ({} if weight is None else {"weight": weight})
    aligned(given)
    columns = {n: vector(column, n) for n, column in given.items()}
    same_length(list(columns.items()))
    read = {n: numbers(column, n, place) for n, column in columns.items()}
    keep = complete(list(read.items()), missing, place)
    dropped = 0
    if keep is not None:
        dropped = int(len(keep) - np.count_nonzero(keep))
        place = place.keep(keep)
        read = {n: column.keep(keep) for n, column in read.items()}
    values = read[name].values
    if not len(values):
        raise BadInput(f"{name} has no rows; pass at least one number")
    w = None if weight is None else weights(read["weight"], "weight", place)
    return Sample(values, w, in_range(values, name, place), dropped, place)
