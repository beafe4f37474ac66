"""Jobs in several processes, none of which outlives the command that started them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any


def tracked(work: Any, todo: list[Any], processes: int | None, title: str) -> Iterator[Any]:
    """Each job with what it gives, as they come, with a bar that tells how far all is."""
    from rich.progress import track

    yield from track(done(work, todo, processes), title, len(todo), disable=not todo)


def done(work: Any, todo: list[Any], processes: int | None) -> Iterator[tuple[Any, Any]]:
    """Each job with what it gives, as they come; in this process if only one is asked for."""
    if processes == 1 or not todo:
        yield from ((job, work(job)) for job in todo)
        return
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"  # the processes are the threads
    # polars has threads, which do not survive a fork
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _follow)
    try:
        waiting: dict[Future[Any], Any] = {pool.submit(work, job): job for job in todo}
        yield from ((waiting[one], one.result()) for one in as_completed(waiting))
    except BaseException:
        _stop(pool)
        raise
    pool.shutdown()


def _stop(pool: ProcessPoolExecutor) -> None:
    """End all processes of a pool at once, whatever they are at."""
    running = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in running:
        process.terminate()
    for process in running:
        process.join()


def _follow() -> None:
    """End this process when its parent ends, even by a signal that leaves the parent no last word."""
    parent = parent_process()
    if parent is not None:
        Thread(target=lambda: (parent.join(), os._exit(1)), daemon=True).start()
