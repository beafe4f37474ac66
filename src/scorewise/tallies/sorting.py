"""From rows to cells with one sort, sums over runs of cells, and results kept with what they are made of.

A float whose sign is known leaves its sign bit free, and the label goes there: `key = (bits << 1) |
label`. One in-place sort of unsigned integers then orders scores and labels together, several times
faster than an argsort. Only weights need an argsort.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Sequence
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Ints

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from scorewise.tallies.tally import Tally


Made = TypeVar("Made")
Given = TypeVar("Given")
Further = ParamSpec("Further")
AnyFloats = NDArray[np.floating]
Numbers = Ints | NDArray[np.float64]
_PART = 1 << 15  # rows that are folded into cells at a time
_ROWS = 1 << 19  # keys whose halves are worth a thread each
_BLOCKS = 8  # blocks that are
_MOST_THREADS = 4
_NAME = "scorewise"  # of the threads
_TERMS = 1 << 18  # of a product of matrices, beyond which OpenBLAS divides it among threads
_making: dict[tuple[int, Hashable], threading.RLock] = {}
GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def kept(owner: Any, name: Hashable, make: Callable[[], Made]) -> Made:
    """What was made before under that name of an immutable value, or is made now."""
    store: dict[Hashable, Made] = owner.__dict__.setdefault("_kept", {})
    if name in store:
        return store[name]
    if not _in_pool():
        store[name] = make()
        return store[name]
    # of our threads one makes it and the others wait: none of them ever waits for a thread outside
    key = id(owner), name
    try:
        with _making.setdefault(key, threading.RLock()):
            if name not in store:
                store[name] = make()
    finally:
        _making.pop(key, None)
    return store[name]


def once(
    function: Callable[Concatenate[Tally, Further], Made],
) -> Callable[Concatenate[Tally, Further], Made]:
    """The same function, which keeps its results with the tally."""
    name = _name(function)

    @wraps(function)
    def known(t: Tally, *args: Further.args, **options: Further.kwargs) -> Made:
        return kept(t, (name, *args, *options.items()), lambda: function(t, *args, **options))

    return known  # type: ignore[return-value]  # it takes the tally by any name


def know(t: Tally, function: Callable[..., Made], *args: Hashable, made: Made) -> None:
    """Keep with the tally what a function made `once` gives, where it is known from elsewhere."""
    kept(t, (_name(function), *args), lambda: made)


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def on_threads(
    function: Callable[[Given], Made], parts: Sequence[Given], enough: int = 0
) -> list[Made]:
    """What the function makes of each part, in order; on threads where each has enough parts.

    numpy computes beside other threads. Results do not depend on how many there are.

    >>> on_threads(abs, [-1, 2, -3], enough=1)
    [1, 2, 3]
    """
    many = min(_threads(), len(parts) // (enough or _BLOCKS))
    # a task that waited for others of the same pool could wait for ever
    if many < 2 or _in_pool():
        return [function(part) for part in parts]
    size = -(-len(parts) // (4 * many))  # a few tasks for each, because some run more slowly
    tasks = [parts[i : i + size] for i in range(0, len(parts), size)]
    done = _pool().map(lambda task: [function(part) for part in task], tasks)
    return [made for task in done for made in task]


def each_on_threads(function: Callable[[Given], object], parts: Sequence[Given]) -> None:
    """Call the function on each part, one by one on whichever thread is free."""
    if _threads() < 2 or _in_pool():
        return
    for _ in _pool().map(function, parts):
        pass


def _in_pool() -> bool:
    """Whether this is one of our threads."""
    return threading.current_thread().name.startswith(_NAME)


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads that are started once, and wait for work."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(_threads(), _NAME)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


@cache
def _threads() -> int:
    """How many threads are worth while: as many as this process has cores, up to a few."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # on systems that bind no process to cores
        cores = os.cpu_count() or 1
    return min(cores, _MOST_THREADS)


def _sort(key: NDArray[Any]) -> None:
    """Sort in place: very many in halves around the median, each on a thread."""
    parts = [key]
    while len(parts) < _threads() and len(parts[0]) >= _ROWS:
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
    for first, many in zip(firsts, cells, strict=True):
        if done < first:
            for column in (key, neg, pos):
                column[done : done + many] = column[first : first + many]
        done += many
    found: list[Any] = [key[:done].view(s.dtype), neg[:done], pos[:done]]
    if 2 * done <= len(key):
        found = [column.copy() for column in found]
    return found[0], found[1], found[2]


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


def first_of_runs(*sorted_columns: NDArray[np.generic]) -> NDArray[np.int64]:
    """The places at which a sorted array, or one of several sorted together, takes a new value.

    >>> first_of_runs(np.array([3, 3, 5, 7, 7]))
    array([0, 2, 3])
    """
    first = np.zeros(len(sorted_columns[0]), np.bool_)
    first[:1] = True
    for column in sorted_columns:
        first[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(first)


def add_runs(columns: Any, start: NDArray[np.int64]) -> Any:
    """The sums of each run along the last axis."""
    if not len(start):
        return np.zeros((*columns.shape[:-1], 0), columns.dtype)
    return np.add.reduceat(columns, start, axis=-1)


def inner(a: Any, b: Any) -> float:
    """Sum of products, added pairwise in this thread: BLAS would wake threads for each small block."""
    total: float = (a * b).sum().item()
    return total


def summed_up(weight: Numbers) -> float:
    """The sum of weights as a number of Python; whole where these are counts."""
    total: float = weight.sum().item()
    return total


def product(a: Any, b: Any) -> Any:
    """Matrix product in this thread, in parts so small that BLAS wakes no threads for them.

    >>> product(np.ones((2, 3)), np.ones((3, 1)))
    array([[3.],
           [3.]])
    """
    rows = max(1, _TERMS // max(b.size, 1))
    return np.concatenate([a[i : i + rows] @ b for i in range(0, max(len(a), 1), rows)])


def runs(mass: Any, most: int) -> NDArray[np.int64]:
    """The first cells of at most so many runs of about equal mass; no cell is split.

    >>> runs(np.array([1.0, 1.0, 2.0, 1.0, 1.0]), 3)
    array([0, 2, 3])
    """
    return np.arange(len(mass)) if len(mass) <= most else first_of_runs(mass_index(mass, most))


def mass_index(mass: Any, many: int) -> Ints:
    """In which of so many parts of equal mass each cell has its middle."""
    upto = mass.cumsum()
    # sums of weights may fall slightly below an edge that they reach
    place = (2 * upto - mass) * many / (2 * upto[-1]) + 1e-9
    index: Ints = np.minimum(place.astype(np.int64), many - 1)
    return index


def quantile_cells(most: int, *mass: Any) -> Ints:
    """The cells in which the quantiles of the summed masses lie, the first cell included.

    So many parts of equal mass have these as their first cells, at most. Walked through in blocks.

    >>> quantile_cells(3, np.array([1.0, 1.0, 2.0, 1.0, 1.0]))
    array([0, 1, 2])
    """
    total = sum(w.sum() for w in mass)
    wanted, below, found = total * (np.arange(1, most) / most), 0.0, [np.zeros(1, np.int64)]
    for first in range(0, len(mass[0]), _PART):
        upto = sum(w[first : first + _PART] for w in mass).cumsum() + below
        inside = wanted[(wanted > below) & (wanted <= upto[-1])]
        found.append(first + np.searchsorted(upto, inside))
        below = upto[-1]
    start = np.concatenate(found)
    return start[first_of_runs(start)]


def mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Bits well stirred: the last step of splitmix64 (Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
