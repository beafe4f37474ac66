"""What measures of several classes share: which classes occur, and when nothing can be said."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.intervals.shares import Share
from scorewise.tallies import ClassTally

FEW = (
    3  # rows of a class, below which the interval of its share, and of means of few, is unreliable
)
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
    return why_uneven(t, t.weight)


def why_uneven(t: ClassTally, weight: Any) -> str:
    """Why classes of such weights cannot be compared in floating point, or nothing."""
    of = np.where(weight > 0, weight, np.inf).astype(float)
    if of.min() >= 1e-12 * float(weight.sum()):
        return ""
    return (
        f"weights are too uneven: class {t.classes[int(of.argmin())]!r} has less than 1e-12 of all"
    )


def left_out(t: ClassTally, used: Any, seen: Share, none: str = "no row of") -> str:
    """Why a mean over the classes used may not be that over all: some are left out, and could move it.

    Nothing is said where the interval holds whatever the values of those left out are.
    """
    many, of = int(np.count_nonzero(used)), len(t.classes)
    least = seen.value * many / of
    if many == of or (seen.low <= least and seen.high >= least + 1 - many / of):
        return ""
    if many < of - 1:
        return f"{none} {of - many} of {of} classes"
    return f"{none} class {t.classes[int(np.argmin(used))]!r}"


def few_rows(t: ClassTally, rows: NDArray[np.float64], which: str = "of class") -> str:
    """The caution that a class of one or two rows decides how uncertain a mean over classes is."""
    there = rows > 0
    inverse = np.divide(1.0, rows, out=np.zeros(len(rows)), where=there)
    at = int(inverse.argmax())
    # rounding: equal weights may sum to slightly less than their count
    if rows[at] > FEW - 1e-9 or inverse[at] < 0.45 * inverse.sum():
        return ""
    return f"{rows[at]:.3g} row{'s' * bool(rows[at] > 1)} {which} {t.classes[at]!r}"


def counted(t: ClassTally, used: Any, which: str) -> str:
    """How many classes there are in a mean, and which.

    >>> counted(ClassTally.of([0, 1], [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0]]), np.array([1, 1, 0]), "occur")
    'the 2 of 3 classes that occur'
    """
    many, of = int(np.count_nonzero(used)), len(t.classes)
    return f"{of} classes" if many == of else f"the {many} of {of} classes that {which}"
