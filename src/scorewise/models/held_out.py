"""Folds of rows: those that a model is fitted to and those that are held out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scorewise.errors import BadInput

Places = NDArray[np.int64]


def splits(
    codes: Places, folds: int, random: np.random.Generator
) -> Iterator[tuple[Places, Places]]:
    """Pairs of places, fitted to and held out, for each of several folds.

    Classes are dealt out alike, and one row of each class at least stays on the side that is fitted to;
    a class of one row is never held out. There are no pairs where nothing can be held out.

    >>> for fitted, held in splits(np.array([0, 0, 0, 1, 1, 2]), 2, np.random.default_rng(0)):
    ...     print(fitted, held)
    [0 4 5] [1 2 3]
    [1 2 3 5] [0 4]
    """
    fold = np.full(len(codes), -1)
    dealt = 0
    for code in np.unique(codes):
        places = random.permutation(np.flatnonzero(codes == code))
        if len(places) > 1:
            fold[places] = (dealt + np.arange(len(places))) % folds
            dealt += len(places)
    for number in range(fold.max(initial=-1) + 1):
        held = fold == number
        yield np.flatnonzero(~held), np.flatnonzero(held)


def check_folds(folds: object) -> None:
    """Refuse what is no number of folds."""
    if not (isinstance(folds, int | np.integer) and folds >= 2):
        raise BadInput(f"folds is {folds!r}; it must be a number from 2 up, such as 5")
