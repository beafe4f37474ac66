"""From rows to cells with one sort.

A float whose sign is known leaves its sign bit free, and the label goes there: `key = (bits << 1) |
label`. One in-place sort of unsigned integers then orders scores and labels together, several times
faster than an argsort. Only weights need an argsort.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.computing import on_threads, threads
from scorewise.tallies.runs import add_runs, first_of_runs

AnyFloats = NDArray[np.floating]
Numbers = Ints | NDArray[np.float64]
_PART = 1 << 15  # rows that are folded into cells at a time
_ROWS = 1 << 19  # keys whose halves are worth a thread each


def _sort(key: NDArray[Any]) -> None:
    """Sort in place: very many in halves around the median, each on a thread."""
    parts = [key]
    while len(parts) < threads() and len(parts[0]) >= _ROWS:
        on_threads(lambda part: part.partition(len(part) // 2), parts, enough=1)
        parts = [half for p in parts for half in (p[: len(p) // 2], p[len(p) // 2 :])]
    on_threads(lambda part: part.sort(), parts, enough=1)


def count_cells(y: Bools, s: AnyFloats) -> tuple[AnyFloats, Ints, Ints]:
    """Distinct scores, increasing, with the number of negatives and of positives on each.

    >>> count_cells(np.array([True, False, True]), np.array([0.5, -0.0, 0.5]))
    (array([0. , 0.5]), array([1, 0]), array([0, 2]))
    """
    if len(s) and s.min() < 0:
        low = s < 0
        high = ~low
        score, neg, pos = _count_one_sign(y[low], s[low])
        above = _count_one_sign(y[high], s[high])
        parts = ((-score)[::-1], above[0]), (neg[::-1], above[1]), (pos[::-1], above[2])
        joined: list[Any] = [np.concatenate(part) for part in parts]
        return joined[0], joined[1], joined[2]
    return _count_one_sign(y, s)


def _count_one_sign(y: Bools, s: AnyFloats) -> tuple[AnyFloats, Ints, Ints]:
    """The same for the magnitudes of scores of one sign."""
    word = np.uint32 if s.dtype == np.float32 else np.uint64
    bits: Any = np.ascontiguousarray(s).view(word)
    key: Any = np.empty(len(s), word)
    label_of = y.view(np.uint8)

    def pack(first: int) -> None:
        at = slice(first, first + _PART)
        # the shift drops the sign bit, which also folds -0.0 into 0.0
        np.left_shift(bits[at], word(1), out=key[at])
        key[at] |= label_of[at]

    on_threads(pack, range(0, len(s), _PART))
    _sort(key)
    # as many as there are rows, at most; what is not written to takes no memory
    neg, pos = np.empty(len(key), np.int64), np.empty(len(key), np.int64)

    def fold(first: int, last: int) -> int:
        """Put the cells of some rows in their place, from the first on; how many they are."""
        part = key[first:last]
        label = part & word(1)
        part >>= word(1)
        new = part[1:] != part[:-1]
        if new.all():
            pos[first:last] = label
            np.bitwise_xor(pos[first:last], 1, out=neg[first:last])
            return last - first
        start = np.concatenate(([0], np.flatnonzero(new) + 1))
        to = slice(first, first + len(start))
        pos[to] = np.add.reduceat(label, start)
        neg[to] = np.diff(start, append=len(part)) - pos[to]
        key[to] = part[start]
        return len(start)

    ends = _ends_of_runs(key)
    firsts, done = [0, *ends][:-1], 0
    cells = on_threads(lambda ends: fold(*ends), list(zip(firsts, ends, strict=True)))
    for first, cells_of_part in zip(firsts, cells, strict=True):
        if done < first:
            for column in (key, neg, pos):
                column[done : done + cells_of_part] = column[first : first + cells_of_part]
        done += cells_of_part
    columns: list[Any] = [key[:done].view(s.dtype), neg[:done], pos[:done]]
    if 2 * done <= len(key):
        columns = [column.copy() for column in columns]
    return columns[0], columns[1], columns[2]


def _ends_of_runs(key: Any) -> list[int]:
    """Where to cut sorted keys into parts, never between two keys of one score."""
    ends, last = [], 0
    while last < len(key):
        last = min(last + _PART, len(key))
        while last < len(key) and key[last] ^ key[last - 1] <= 1:
            beyond = (key[last : last + _PART] ^ key[last - 1]) > 1
            last += int(beyond.argmax()) if beyond.any() else len(beyond)
        ends.append(last)
    return ends


def sort_cells(s: AnyFloats) -> tuple[Ints, AnyFloats, Ints]:
    """The order of the rows by score, the distinct scores, and where the rows of each begin.

    >>> sort_cells(np.array([0.5, -0.0, 0.5]))
    (array([1, 0, 2]), array([0. , 0.5]), array([0, 1]))
    """
    order = np.argsort(s, kind="stable")
    # + 0.0 folds -0.0 into 0.0
    score = s[order] + s.dtype.type(0.0)
    start = first_of_runs(score)
    return order, score[start], start


def sum_cells(s: AnyFloats, columns: Numbers) -> tuple[AnyFloats, Numbers]:
    """Distinct scores, increasing, with the sums of `columns` (one row each) on each of them.

    >>> sum_cells(np.array([0.5, -0.0, 0.5]), np.array([[1.0, 2.0, 4.0]]))
    (array([0. , 0.5]), array([[2., 5.]]))
    """
    order, score, start = sort_cells(s)
    return score, add_runs(columns[:, order], start)


def union(a: AnyFloats | Ints, b: AnyFloats | Ints) -> tuple[Any, Ints, Ints]:
    """The distinct values of two increasing columns, and where those of each are among them.

    >>> union(np.array([1, 3]), np.array([2, 3]))
    (array([1, 2, 3]), array([0, 2]), array([1, 2]))
    """
    both = np.concatenate((a, b))
    # two increasing runs: a stable sort merges them in one pass
    order = np.argsort(both, kind="stable")
    start = first_of_runs(both[order])
    new, place = np.zeros((2, len(both)), np.int64)
    new[start] = 1
    place[order] = new.cumsum() - 1
    return both[order[start]], place[: len(a)], place[len(a) :]


def largest(among: Bools, top: int, value: Floats, *then: Floats) -> Ints:
    """The places of the largest values among some; of equals the largest by what follows, then the first.

    >>> same = np.array([0.5, 0.7, 0.7])
    >>> largest(same > 0, 2, same, np.array([0.1, 0.2, 0.3]))
    array([2, 1])
    """
    at = np.flatnonzero(among)
    if top < len(at):
        least = -np.partition(-value[at], top - 1)[top - 1] if top else np.inf
        at = at[value[at] >= least]
    keys = (-x[at] for x in reversed((value, *then)))
    return np.asarray(at[np.lexsort((at, *keys))][:top])


def total_weight(weight: Numbers) -> float:
    """The sum of weights as a number of Python; whole where these are counts."""
    total: float = weight.sum().item()
    return total
