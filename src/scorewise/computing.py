"""Results that are computed once and kept, work on several threads, and sums that wake no other threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Hashable, Sequence
from functools import cache, wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import numpy as np

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")
Further = ParamSpec("Further")
_BLOCKS = 8  # blocks that are worth a thread
_MAX_THREADS = 4
_THREADS = "scorewise"  # names of our threads begin so
_TERMS = 1 << 18  # of a product of matrices, beyond which OpenBLAS divides it among threads
_this_thread = threading.local()
_locks: dict[tuple[int, Hashable], threading.RLock] = {}


def cached(owner: Any, name: Hashable, make: Callable[[], Result]) -> Result:
    """What was made before under that name of an immutable value, or is made now."""
    store: dict[Hashable, Result] = owner.__dict__.setdefault("_kept", {})
    if name in store:
        return store[name]
    if not _is_working():
        store[name] = make()
        return store[name]
    # of our threads one makes it and the others wait: none of them ever waits for a thread outside
    key = id(owner), name
    try:
        with _locks.setdefault(key, threading.RLock()):
            if name not in store:
                store[name] = make()
    finally:
        _locks.pop(key, None)
    return store[name]


def once(
    function: Callable[Concatenate[Any, Further], Result],
) -> Callable[Concatenate[Any, Further], Result]:
    """The same function, which keeps its results with its first argument."""
    name = _name(function)

    @wraps(function)
    def known(owner: Any, *args: Further.args, **options: Further.kwargs) -> Result:
        key = (name, *args, *options.items())
        return cached(owner, key, lambda: function(owner, *args, **options))

    return known  # type: ignore[return-value]  # it takes the owner by any name


def remember(owner: Any, function: Callable[..., Result], *args: Hashable, result: Result) -> None:
    """Keep with its owner what a function made `once` gives, where it is known from elsewhere."""
    cached(owner, (_name(function), *args), lambda: result)


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"


def on_threads(
    function: Callable[[Item], Result], parts: Sequence[Item], enough: int = 0
) -> list[Result]:
    """The results of a function for each part, in order; on threads where each has enough parts.

    numpy computes beside other threads, of which this one is one. Results do not depend on how many
    there are.

    >>> on_threads(abs, [-1, 2, -3], enough=1)
    [1, 2, 3]
    """
    used = min(threads(), len(parts) // (enough or _BLOCKS))
    # a thread that waited for others, of which one waited for it, would wait for ever
    if used < 2 or _is_working():
        return [function(part) for part in parts]
    results: list[Any] = [None] * len(parts)
    left = iter(range(len(parts)))  # each thread takes the next, because some run more slowly

    def work() -> None:
        _this_thread.works = True
        try:
            for k in left:
                results[k] = function(parts[k])
        finally:
            _this_thread.works = False

    helpers = [_pool().submit(work) for _ in range(used - 1)]
    try:
        work()
    finally:
        for helper in helpers:
            if not helper.cancel():
                helper.result()
    return results


def _is_working() -> bool:
    """Whether this thread shares work with others."""
    return getattr(_this_thread, "works", False)


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads that are started once, and wait for work."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(threads(), _THREADS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not survive a fork


@cache
def threads() -> int:
    """How many threads are worth while: as many as this process has cores, up to a few."""
    try:
        cores = len(os.sched_getaffinity(0))
    except AttributeError:  # on systems that bind no process to cores
        cores = os.cpu_count() or 1
    return min(cores, _MAX_THREADS)


def inner(a: Any, b: Any) -> float:
    """Sum of products, added pairwise in this thread: BLAS would wake threads for each small block."""
    total: float = (a * b).sum().item()
    return total


def product(a: Any, b: Any) -> Any:
    """Matrix product in this thread, in parts so small that BLAS wakes no threads for them.

    >>> product(np.ones((2, 3)), np.ones((3, 1)))
    array([[3.],
           [3.]])
    """
    rows = max(1, _TERMS // max(b.size, 1))
    return np.concatenate([a[i : i + rows] @ b for i in range(0, max(len(a), 1), rows)])
