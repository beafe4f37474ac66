"""Rows of ratings folded into distinct patterns, and what was said in each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Ints
from scorewise.columns.rating_codes import Codes, RatingList
from scorewise.tallies.sorting import first_of_runs

_FEW = 1 << 20  # possible patterns that are counted without a sort


def folded(
    ratings: Codes | RatingList, weight: Any, weight2: Any, many: int, plain: bool
) -> tuple[Codes | RatingList, Any, Any]:
    """Distinct patterns in order, and the sums of weights on each; `plain` weights are all 1."""
    if isinstance(ratings, RatingList):
        key, few = list_keys(ratings, many), False
    else:
        few = (many + 1) ** ratings.shape[1] <= _FEW
        key = _keys(ratings, many) if few else _ranked_keys(ratings, many)
    if not few:
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        sums = [_summed(place, w, len(first)) for w in (weight, weight2)]
        return rows_of(ratings, first), sums[0], sums[1]
    size = (many + 1) ** ratings.shape[1]
    amount = np.bincount(key, minlength=size)
    seen = np.flatnonzero(amount)
    sums = [amount, amount] if plain else [_summed(key, w, size) for w in (weight, weight2)]
    return _spelled(seen, many, ratings.shape[1]), sums[0][seen], sums[1][seen]


def distinct(codes: Codes, many: int) -> tuple[Codes, Ints | slice]:
    """The distinct rows of a table and the place of each row among them; all, where many are possible."""
    if (many + 1) ** codes.shape[1] > _FEW:
        return codes, slice(None)
    key = _keys(codes, many)
    there = np.bincount(key) > 0
    place: Ints = (there.cumsum() - 1)[key]
    return _spelled(np.flatnonzero(there), many, codes.shape[1]), place


def rows_of(ratings: Codes | RatingList, rows: Ints) -> Codes | RatingList:
    """Some rows of a table or a list, in that order."""
    return picked(ratings, rows) if isinstance(ratings, RatingList) else ratings[rows]


def picked(ratings: RatingList, rows: Ints) -> RatingList:
    """The ratings of some patterns, in that order."""
    start, length = spans(ratings.item, ratings.shape[0])
    at = ranges(start[rows], length[rows])
    item = np.arange(len(rows)).repeat(length[rows])
    return RatingList(item, ratings.rater[at], ratings.code[at], (len(rows), ratings.shape[1]))


def summed(place: Any, weight: Any, size: int) -> NDArray[np.float64]:
    """The sum of the weights, which may be fractions, at each place."""
    if weight.dtype != object:
        return np.asarray(np.bincount(place, weight, size))
    found: Any = np.zeros(size, object)
    np.add.at(found, place, weight)
    return np.asarray(found)


def spans(place: Ints, many: int) -> tuple[Ints, Ints]:
    """Where each of so many runs of equal places starts in the sorted list, and its length."""
    length = np.bincount(place, minlength=many)
    return length.cumsum() - length, length


def ranges(start: Ints, length: Ints) -> Ints:
    """All places of several ranges, one range after the other.

    >>> ranges(np.array([3, 7]), np.array([2, 1])).tolist()
    [3, 4, 7]
    """
    before: Ints = length.cumsum()
    found: Ints = np.arange(int(length.sum())) + (start + length - before).repeat(length)
    return found


def _keys(codes: Codes, many: int) -> NDArray[np.int64]:
    key = np.zeros(len(codes), np.int64)
    for column in codes.T:
        key *= many + 1
        key += column
        key += 1
    return key


def _spelled(key: NDArray[np.int64], many: int, raters: int) -> Codes:
    """The patterns of keys."""
    powers = (many + 1) ** np.arange(raters - 1, -1, -1, dtype=np.int64)
    return (key[:, None] // powers % (many + 1) - 1).astype(np.int32)


def _ranked_keys(codes: Codes, many: int) -> NDArray[np.int64]:
    """Keys in the order of the patterns; they are replaced by their ranks where they grow too long."""
    key, reach = np.zeros(len(codes), np.int64), 1
    for column in codes.T:
        if reach > 2**62 // (many + 1):
            distinct, key = np.unique(key, return_inverse=True)
            reach = len(distinct)
        key = key * (many + 1) + column + 1
        reach *= many + 1
    return key


def list_keys(ratings: RatingList, many: int) -> Ints:
    """Keys of patterns in the order that they would have in a table."""
    # in a table, who has an earlier rater's rating comes after who has none
    word = (ratings.shape[1] - 1 - ratings.rater) * many + ratings.code
    return ranked(word, *spans(ratings.item, ratings.shape[0]))


def ranked(word: Ints, start: Ints, length: Ints) -> Ints:
    """Where each of several sequences of words stands in their order; equal ones stand at one place.

    >>> ranked(np.array([5, 5, 2, 5, 2, 3]), np.array([0, 1, 3, 4]), np.array([1, 2, 1, 2])).tolist()
    [1, 3, 1, 0]
    """
    rank = np.zeros(len(start), np.int64)
    left, step = np.arange(len(start)), 0
    while len(left):
        more = length[left] > step
        here = np.full(len(left), -1, np.int64)
        here[more] = word[start[left[more]] + step]
        order = np.lexsort((here, rank[left]))
        left, here = left[order], here[order]
        old = _runs(np.diff(rank[left], prepend=-1) != 0)
        new = _runs((np.diff(here, prepend=-2) != 0) | (old == np.arange(len(left))))
        rank[left] += new - old
        # what is alone has its place, and what has ended
        alike = np.bincount(new, minlength=len(new))[new] > 1
        left, step = left[alike & (here >= 0)], step + 1
    return rank


def _runs(starts: NDArray[np.bool_]) -> Ints:
    """The start of the run that each place belongs to."""
    found: Ints = np.maximum.accumulate(np.where(starts, np.arange(len(starts)), 0))
    return found


class Counted(NamedTuple):
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
    def of(cls, ratings: Codes | RatingList) -> Counted:
        """Of a table of ratings, or of a list of them.

        >>> Counted.of(np.array([[2, 0, 2], [1, -1, -1]], np.int32)).times
        array([1, 2, 1])
        """
        if isinstance(ratings, RatingList):
            order = np.lexsort((ratings.code, ratings.item))
            at, code = ratings.item[order], ratings.code[order]
        else:
            ordered = np.sort(ratings, axis=1)
            there = ordered >= 0
            at, code = np.nonzero(there)[0], ordered[there]
        first = first_of_runs(at, code)
        times: Ints = np.diff(first, append=len(at))
        patterns = ratings.shape[0]
        rated = np.bincount(at, minlength=patterns)
        at = at[first]
        return cls(at, code[first], times, *spans(at, patterns), rated)

    def pick(self, rows: Ints) -> Counted:
        """Some patterns, in that order."""
        start, length = self.start[rows], self.length[rows]
        at = ranges(start, length)
        place = np.arange(len(rows)).repeat(length)
        start = length.cumsum() - length
        return Counted(place, self.code[at], self.times[at], start, length, self.rated[rows])

    def total(self, each: Any) -> NDArray[np.float64]:
        """The sum over each pattern of a number for each category that was said of it."""
        return summed(self.at, each, len(self.rated))

    def steps(self) -> tuple[Ints, Iterator[Ints]]:
        """The patterns from the longest on, and where the first category of each is, the second, ...

        Shorter patterns drop out at the end.
        """
        order = np.argsort(-self.length, kind="stable")
        longer = np.searchsorted(-self.length[order], -np.arange(self.length.max(initial=0)))
        start = self.start[order]
        return order, (start[:many] + step for step, many in enumerate(longer.tolist()))


def _summed(place: Any, weight: Any, size: int) -> Any:
    found = summed(place, weight, size)
    return found.astype(np.int64) if weight.dtype.kind == "i" else found
