"""A sample of numbers with their weights, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.door.columns import Missing, read
from scorewise.door.numbers import in_range
from scorewise.door.place import Place
from scorewise.door.rows import weights
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
    found = read({}, {name: x}, {"weight": weight}, missing=missing, place=Place())
    (read_x, further), place = found.amounts, found.place
    values = read_x[name].values
    if not len(values):
        raise BadInput(f"{name} has no rows; pass at least one number")
    w = None if weight is None else weights(further["weight"], "weight", place)
    return Sample(values, w, in_range(values, name, place), found.dropped, place)
