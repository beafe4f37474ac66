"""Splits of rows into those that a model is fitted to and those that are held out to tune it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scorewise.errors import BadInput

Places = NDArray[np.int64]


def splits(
    codes: Places, validation: float | int, random: np.random.Generator
) -> Iterator[tuple[Places, Places]]:
    """Pairs of places, fitted to and held out: one pair for a share, one for each of several folds.

    Classes are split alike, and one row of each class at least stays on the side that is fitted to; a
    class of one row is never held out. There are no pairs where nothing can be held out.

    >>> for fitted, held in splits(np.array([0, 0, 0, 1, 1, 2]), 2, np.random.default_rng(0)):
    ...     print(fitted, held)
    [0 4 5] [1 2 3]
    [1 2 3 5] [0 4]
    """
    fold = (
        _shares(codes, validation, random)
        if validation < 1
        else _folds(codes, int(validation), random)
    )
    for number in range(fold.max(initial=-1) + 1):
        if (held := fold == number).any():
            yield np.flatnonzero(~held), np.flatnonzero(held)


def check_validation(validation: object) -> None:
    """Refuse what is neither a share to hold out nor a number of folds."""
    share = isinstance(validation, float | np.floating) and 0 < validation < 1
    folds = isinstance(validation, int | np.integer) and validation >= 2
    if not (share or folds or validation is None):
        raise BadInput(
            f"validation is {validation!r}; it must be a share to hold out, such as 0.2, "
            "or a number of folds, such as 5"
        )


def _folds(codes: Places, folds: int, random: np.random.Generator) -> Places:
    """The fold of each row, dealt out in turn within the classes; -1 for a class of one row."""
    fold = np.full(len(codes), -1)
    dealt = 0
    for code in np.unique(codes):
        places = random.permutation(np.flatnonzero(codes == code))
        if len(places) > 1:
            fold[places] = (dealt + np.arange(len(places))) % folds
            dealt += len(places)
    return fold


def _shares(codes: Places, share: float, random: np.random.Generator) -> Places:
    """0 for rows that are held out, -1 for the others."""
    fold = np.full(len(codes), -1)
    for code in np.unique(codes):
        places = random.permutation(np.flatnonzero(codes == code))
        fold[places[: min(round(share * len(places)), len(places) - 1)]] = 0
    return fold
