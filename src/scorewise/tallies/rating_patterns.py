"""Rows of ratings folded into distinct patterns, and what was said in each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Ints
from scorewise.columns.rating_codes import Codes, RatingList

_FEW = 1 << 20  # possible patterns that are counted without a sort


def distinct_patterns(
    ratings: Codes | RatingList, weight: Any, weight2: Any, categories: int
) -> tuple[Codes | RatingList, Any, Any]:
    """Distinct patterns in order, and the sums of weights on each; without weights, its number."""
    if isinstance(ratings, RatingList):
        # in a table, who has an earlier rater's rating comes after who has none
        word = (ratings.shape[1] - 1 - ratings.rater) * categories + ratings.code
        key, size = sequence_ranks(word, *spans(ratings.item, ratings.shape[0])), _FEW + 1
    else:
        key, size = _keys(ratings, categories), (categories + 1) ** ratings.shape[1]
    seen: Any = slice(None)
    if size > _FEW:
        _, first, key, counts = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        patterns, size = take_rows(ratings, first), len(first)
    else:
        counts = np.bincount(key, minlength=size)
        seen = np.flatnonzero(counts)
        patterns = _spelled(seen, categories, ratings.shape[1])
    w = (counts if weight is None else _summed(key, weight, size))[seen]
    return patterns, w, w if weight2 is weight else _summed(key, weight2, size)[seen]


def distinct_rows(codes: Codes, categories: int) -> tuple[Codes, Ints | slice]:
    """The distinct rows of a table and the place of each row among them; all, where many are possible."""
    if (categories + 1) ** codes.shape[1] > _FEW:
        return codes, slice(None)
    key = _keys(codes, categories)
    there = np.bincount(key) > 0
    place: Ints = (there.cumsum() - 1)[key]
    return _spelled(np.flatnonzero(there), categories, codes.shape[1]), place


def take_rows(ratings: Codes | RatingList, rows: Ints) -> Codes | RatingList:
    """Some rows of a table or a list, in that order."""
    return take_patterns(ratings, rows) if isinstance(ratings, RatingList) else ratings[rows]


def take_patterns(ratings: RatingList, rows: Ints) -> RatingList:
    """The ratings of some patterns, in that order."""
    start, length = spans(ratings.item, ratings.shape[0])
    at = ranges(start[rows], length[rows])
    item = np.arange(len(rows)).repeat(length[rows])
    return RatingList(item, ratings.rater[at], ratings.code[at], (len(rows), ratings.shape[1]))


def sums_at(place: Any, weight: Any, size: int) -> NDArray[np.float64]:
    """The sum of the weights, which may be fractions, at each place."""
    if weight.dtype != object:
        return np.asarray(np.bincount(place, weight, size))
    sums: Any = np.zeros(size, object)
    np.add.at(sums, place, weight)
    return np.asarray(sums)


def spans(place: Ints, runs: int) -> tuple[Ints, Ints]:
    """Where each of so many runs of equal places starts in the sorted list, and its length."""
    length = np.bincount(place, minlength=runs)
    return length.cumsum() - length, length


def ranges(start: Ints, length: Ints) -> Ints:
    """All places of several ranges, one range after the other.

    >>> ranges(np.array([3, 7]), np.array([2, 1])).tolist()
    [3, 4, 7]
    """
    before: Ints = length.cumsum()
    return np.asarray(np.arange(int(length.sum())) + (start + length - before).repeat(length))


def _keys(codes: Codes, categories: int) -> NDArray[np.int64]:
    """Keys in the order of the patterns; they are replaced by their ranks where they grow too long."""
    key, reach = np.zeros(len(codes), np.int64), 1
    for column in codes.T:
        if reach > 2**62 // (categories + 1):
            words, key = np.unique(key, return_inverse=True)
            reach = len(words)
        key *= categories + 1
        key += column
        key += 1
        reach *= categories + 1
    return key


def _spelled(key: NDArray[np.int64], categories: int, raters: int) -> Codes:
    """The patterns of keys."""
    powers = (categories + 1) ** np.arange(raters - 1, -1, -1, dtype=np.int64)
    return (key[:, None] // powers % (categories + 1) - 1).astype(np.int32)


def sequence_ranks(word: Ints, start: Ints, length: Ints) -> Ints:
    """Where each of several sequences of words stands in their order; equal ones stand at one place.

    >>> sequence_ranks(np.array([5, 5, 2, 5, 2, 3]), np.array([0, 1, 3, 4]), np.array([1, 2, 1, 2]))
    array([1, 3, 1, 0])
    """
    rank = np.zeros(len(start), np.int64)
    left, step = np.arange(len(start)), 0
    while len(left):
        more = length[left] > step
        here = np.full(len(left), -1, np.int64)
        here[more] = word[start[left[more]] + step]
        order = np.lexsort((here, rank[left]))
        left, here = left[order], here[order]
        # where the run of equal ranks begins that each belongs to, and of equal words in it
        place, starts = np.arange(len(left)), np.diff(rank[left], prepend=-1) != 0
        old = np.maximum.accumulate(np.where(starts, place, 0))
        starts |= np.diff(here, prepend=-2) != 0
        new = np.maximum.accumulate(np.where(starts, place, 0))
        rank[left] += new - old
        # what is alone has its place, and what has ended
        alike = np.bincount(new, minlength=len(new))[new] > 1
        left, step = left[alike & (here >= 0)], step + 1
    return rank


class CategoryCounts(NamedTuple):
    """What was said of each pattern: each category once, by pattern and category, with its ratings.

    `start` and `length` are the span of each pattern, `rated` how many ratings it has.
    """

    at: Ints
    code: Codes
    times: Ints
    start: Ints
    length: Ints
    rated: Ints

    @classmethod
    def of(cls, ratings: RatingList) -> CategoryCounts:
        """Of ratings one by one.

        >>> CategoryCounts.of(RatingList.of(np.array([[2, 0, 2], [1, -1, -1]], np.int32))).times
        array([1, 2, 1])
        """
        categories, patterns = int(ratings.code.max(initial=0)) + 1, ratings.shape[0]
        key, times = np.unique(ratings.item * categories + ratings.code, return_counts=True)
        at, code = np.divmod(key, categories)
        rated, length = (np.bincount(x, minlength=patterns) for x in (ratings.item, at))
        return cls(at, code.astype(np.int32), times, length.cumsum() - length, length, rated)

    def pick(self, rows: Ints) -> CategoryCounts:
        """Some patterns, in that order."""
        start, length = self.start[rows], self.length[rows]
        at = ranges(start, length)
        place = np.arange(len(rows)).repeat(length)
        start = length.cumsum() - length
        return CategoryCounts(place, self.code[at], self.times[at], start, length, self.rated[rows])

    def total(self, each: Any) -> NDArray[np.float64]:
        """The sum over each pattern of a number for each category that was said of it."""
        return sums_at(self.at, each, len(self.rated))

    def steps(self) -> tuple[Ints, Iterator[Ints]]:
        """The patterns from the longest on, and where the first category of each is, the second, ...

        Shorter patterns drop out at the end.
        """
        order = np.argsort(-self.length, kind="stable")
        longer = np.searchsorted(-self.length[order], -np.arange(self.length.max(initial=0)))
        start = self.start[order]
        return order, (start[:patterns] + step for step, patterns in enumerate(longer.tolist()))


def _summed(place: Any, weight: Any, size: int) -> Any:
    sums = sums_at(place, weight, size)
    return sums.astype(np.int64) if weight.dtype.kind == "i" else sums
