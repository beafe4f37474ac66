"""Does a monitor lose or double rows: eight threads in each of four processes, 10^8 rows in all.

`make study NAME=streaming` or `python -m studies streaming [ROWS]` writes docs/tables/streaming.md. Each
thread draws batches of 1 to 20,000 rows from a seed of its own and passes them to the one monitor of its
process; one more thread takes snapshots all the while. The monitors come back by pickle and are added. What
they should hold is counted apart, by numpy alone: positives and negatives in each cell of a table of equal
cells, which the edges of the grid refine, from the same seeds.
"""

from __future__ import annotations

import resource
import threading
import time
from typing import Any

import numpy as np

import scorewise as sw
from studies._tools import in_order, options, table, write

PROCESSES, THREADS, MOST = 4, 8, 20_000
EQUAL = 55_440


def batches(seed: int, thread: int, rows: int) -> Any:
    """The batches of a thread: labels and probabilities, half of them rare and half of them not."""
    rng = np.random.default_rng([seed, thread])
    while rows:
        n = min(int(rng.integers(1, MOST)), rows)
        p = rng.beta(0.3, 20, n) if thread % 2 else rng.random(n)
        yield rng.random(n) < p, p
        rows -= n


def feed(job: tuple[int, int]) -> tuple[sw.Monitor, float, float, int]:
    """One process: its monitor, CPU seconds, peak memory in MB, and snapshots taken on the way."""
    seed, rows = job
    monitor, begin = sw.Monitor(), time.process_time()
    done, taken = threading.Event(), [0]

    def watch() -> None:
        last = 0
        while not done.wait(0.5):
            t = monitor.snapshot()
            # rows never get fewer, and counts always add up to them
            assert last <= t.origin.rows == t.negatives + t.positives
            last, taken[0] = t.origin.rows, taken[0] + 1

    def run(thread: int) -> None:
        for y, p in batches(seed, thread, rows):
            monitor.update(y, p)

    watcher = threading.Thread(target=watch)
    threads = [threading.Thread(target=run, args=(k,)) for k in range(THREADS)]
    for t in (watcher, *threads):
        t.start()
    for t in threads:
        t.join()
    done.set()
    watcher.join()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return monitor, time.process_time() - begin, peak, taken[0]


def expected(job: tuple[int, int]) -> np.ndarray[Any, Any]:
    """What the monitor of a process should hold: rows of each class in equal cells, by numpy alone."""
    seed, rows = job
    found = np.zeros((2, EQUAL + 1), np.int64)
    edges = np.arange(EQUAL + 1) / EQUAL
    for thread in range(THREADS):
        for y, p in batches(seed, thread, rows):
            cell = np.searchsorted(edges, p, "right") - 1
            for k in (0, 1):
                found[k] += np.bincount(cell[y == bool(k)], minlength=EQUAL + 1)
    return found


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 10**8, "rows in all").parse_args(args)
    each = -(-given.runs // (PROCESSES * THREADS))
    jobs = [(seed, each) for seed in range(PROCESSES)]
    found = in_order(feed, jobs, given.processes or PROCESSES, "streaming")
    want = sum(in_order(expected, jobs, given.processes, "counting apart"))
    total = sum((monitor for monitor, *_ in found[1:]), found[0][0]).snapshot()
    cell = np.searchsorted(np.arange(EQUAL + 1) / EQUAL, total.score, "right") - 1
    got = np.stack([np.bincount(cell, w, EQUAL + 1) for w in (total.neg, total.pos)])
    wrong = int((got != want).sum())
    rows = each * PROCESSES * THREADS
    cpu, peak, taken = (np.array([x[k] for x in found]) for k in (1, 2, 3))
    lines = [
        ["rows in all", f"{rows:,}"],
        ["positives counted apart", f"{int(want[1].sum()):,}"],
        ["positives in the sum of the monitors", f"{int(total.positives):,}"],
        ["negatives counted apart", f"{int(want[0].sum()):,}"],
        ["negatives in the sum of the monitors", f"{int(total.negatives):,}"],
        ["cells (of 2 x 55,441) that differ", f"{wrong:,}"],
        ["snapshots taken while rows came in", f"{int(taken.sum()):,}"],
        ["CPU per row, of drawing it and of the monitor", f"{1e9 * cpu.sum() / rows:.0f} ns"],
        ["peak memory of a process", f"{peak.max():.0f} MB"],
    ]
    text = f"{PROCESSES} processes, {THREADS} threads in each, batches of 1 to {MOST:,} rows.\n\n"
    write(text + table(["", ""], lines) + "\n", given.out / "streaming.md")
    assert not wrong
    assert total.origin.rows == rows
