"""Ratings without gaps: where many raters rate few items each, what is compared stays small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.intervals.disagreement import Disagreement, Identity
from scorewise.tallies.rating_patterns import Codes
from scorewise.tallies.ratings import Ratings

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]
ROWS = 1 << 15  # looked at together


class Packed(NamedTuple):
    """Some patterns: their ratings first and -1 behind, who gave each, and the patterns' places."""

    codes: Codes
    rater: Ints
    at: slice


def packed(r: Ratings) -> Iterator[Packed]:
    """The patterns, some at a time, as narrow as their ratings allow.

    >>> [p] = packed(Ratings.of({"ann": [1, None], "bob": [None, 2], "cay": [2, 1]}))
    >>> p.codes.tolist(), p.rater.tolist()
    ([[1, 0], [0, 1]], [[1, 2], [0, 2]])
    """
    step = max(1, ROWS * 8 // max(r.codes.shape[1], 8))
    for first in range(0, len(r.codes), step):
        at = slice(first, min(first + step, len(r.codes)))
        codes = r.codes[at]
        order = np.argsort(codes < 0, axis=1, kind="stable")[:, : int(r.rated[at].max())]
        yield Packed(np.take_along_axis(codes, order, axis=1), order, at)


def each_two(p: Packed, d: Disagreement) -> Iterator[tuple[int, int, Bools, Floats]]:
    """Two places, the patterns that have ratings at both, and how far apart these are."""
    for k in range(1, p.codes.shape[1]):
        # ratings come first: who has the later has the earlier
        both = p.codes[:, k] >= 0
        for j in range(k):
            yield j, k, both, between(d, p.codes[both, j], p.codes[both, k])


def between(d: Disagreement, a: Codes, b: Codes) -> Floats:
    """How far apart each two ratings are."""
    if isinstance(d, Identity):
        return np.not_equal(a, b).astype(np.float64)
    found: Floats = d.within(np.stack([a, b], axis=1)) / 2
    return found
