"""Folds of rows, those that a model is fitted to and those that are held out; and some rows for all."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Ints
from scorewise.errors import BadInput
from scorewise.models.checking import is_whole


def splits(codes: Ints, folds: int, random: np.random.Generator) -> Iterator[tuple[Ints, Ints]]:
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


def some(y: Any, most: int, rng: Any) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places of at most `most` rows, or one of each class, and how many rows each stands for.

    Rare classes stay whole, since little is known of them; common ones give the rows that are left out.

    >>> places, stand_for = some(np.repeat([0, 1], [90, 4]), 10, np.random.default_rng(0))
    >>> stand_for
    array([15., 15., 15., 15., 15., 15.,  1.,  1.,  1.,  1.])
    """
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    kept = np.zeros_like(counts)
    left, open_classes = most, len(classes)
    for code in np.argsort(counts, kind="stable"):
        kept[code] = min(counts[code], max(left // open_classes, 1))
        left, open_classes = left - kept[code], open_classes - 1
    drawn = [
        rng.choice(np.flatnonzero(codes == code), size, replace=False)
        if size < counts[code]
        else np.flatnonzero(codes == code)
        for code, size in enumerate(kept)
    ]
    places = np.sort(np.concatenate(drawn))
    return places, (counts / kept)[codes[places]]


def check_folds(folds: Any) -> None:
    """Refuse what is no number of folds."""
    if not (is_whole(folds) and folds >= 2):
        raise BadInput(f"folds is {folds!r}; it must be a number from 2 up, such as 5")
