"""What measures of several classes share: which classes occur, and when nothing can be said."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.tallies import ClassTally

UNKNOWN = "only the confidence is known; scores of each class are needed for this"


def occurring(t: ClassTally) -> NDArray[np.bool_]:
    """The classes of which there is a row."""
    there: NDArray[np.bool_] = t.weight > 0
    return there


def shares(t: ClassTally) -> list[float]:
    """How frequent each class is."""
    weight = t.weight.astype(float)
    frequent: list[float] = (weight / weight.sum()).tolist()
    return frequent


def why_one_class(t: ClassTally) -> str:
    """Why classes cannot be told apart, or nothing."""
    there = occurring(t)
    if not there.any():
        return "no rows"
    if there.sum() < 2:
        return f"all rows are of one class, {t.classes[int(there.argmax())]}"
    weight = t.weight[there].astype(float)
    return "a class is too rare for floating point" if weight.min() < 1e-12 * weight.sum() else ""


def counted(t: ClassTally, used: Any, which: str) -> str:
    """How many classes there are in a mean, and which.

    >>> counted(ClassTally.of([0, 1], [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]), np.array([1, 1, 0]), "occur")
    'the 2 of 3 classes that occur'
    """
    many, of = int(np.count_nonzero(used)), len(t.classes)
    return f"{of} classes" if many == of else f"the {many} of {of} classes that {which}"
