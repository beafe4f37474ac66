"""What do 10^12 rows and 10^6 groups cost: CPU by row, bytes that travel, storage, and where bounds stand?

`make study NAME=cost` or `python -m studies cost [ROWS]` writes docs/tables/cost_rows.md, cost_tallies.md
and cost.md. The first two are measured on this machine, in CPU time; ROWS is the largest tally. The third
multiplies them, at prices that are assumptions, said in it. That the measures themselves hold for 10^12
rows is tried, not assumed: each row of a tally counts for so many that there are as many.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import scorewise as sw
from scorewise.tallies.store import content
from studies._tools import options, table, write

ALL, GROUPS, SHARD = 10**12, 10**6, 10**7
STORED = 9  # bytes of a row as Parquet: a float64 that does not compress, and a label that does
# dollars, about the list prices of large providers in 2026
MONTH, PUT, GET, EGRESS, HOUR = 0.023, 0.005 / 1000, 0.0004 / 1000, 0.09, 0.05


def draw(rows: int, seed: int = 0) -> tuple[Any, Any]:
    """Calibrated probabilities of something rare, one in fifty."""
    rng = np.random.default_rng([seed, rows])
    p = rng.beta(0.6, 29.4, rows)
    return rng.random(rows) < p, p


def seconds(work: Callable[[], Any], least: float = 0.3) -> float:
    """CPU seconds of a call: the least of at least three, and of as many as take that long."""
    found: list[float] = []
    while len(found) < 3 or sum(found) < least:
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


def by_row(rows: int) -> tuple[list[list[str]], float]:
    """CPU of each way that rows take, and that from a file to the grid, in ns."""
    import polars as pl

    y, p = draw(rows)
    monitor = sw.Monitor()
    t = sw.Tally.of(y, p)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "rows.parquet"
        pl.DataFrame({"label": y, "score": p}).write_parquet(file)
        size = file.stat().st_size
        ways: dict[str, Callable[[], Any]] = {
            "labels and scores to an exact tally": lambda: sw.Tally.of(y, p),
            "the exact tally to the grid": t.coarsen,
            "a Parquet file to an exact tally": lambda: sw.tally(
                file, label="label", score="score"
            ),
            "a monitor, batches of 10,000": lambda: [
                monitor.update(y[i : i + 10_000], p[i : i + 10_000]) for i in range(0, rows, 10_000)
            ],
            "for comparison: numpy's sort of the scores": lambda: np.sort(p),
        }
        found = {way: 1e9 * seconds(work) / rows for way, work in ways.items()}
    lines = [[way, f"{ns:.0f} ns"] for way, ns in found.items()]
    _, gridded, read, *_ = found.values()
    return [*lines, ["size in that file", f"{size / rows:.1f} bytes"]], read + gridded


def by_tally(rows: int) -> tuple[list[str], float, float]:
    """What a tally on the grid weighs, its CPU, and its bounds; bytes and CPU also as numbers."""
    parts = [sw.Tally.of(*draw(min(rows, 10**6), k)).coarsen() for k in range(-(-rows // 10**6))]
    t = sum(parts, sw.Tally.empty())
    size = len(content(t))
    merging = seconds(lambda: t + parts[0])
    measuring = seconds(lambda: _measured(t))
    auroc, precision, ece = (
        getattr(sw.measures, name)(t).bound for name in ("auroc", "average_precision", "ece")
    )
    line = [f"{rows:,}", f"{len(t.score):,}", f"{size / 1e3:,.0f}"]
    line += [f"{1e3 * merging:.1f}", f"{1e3 * measuring:.0f}"]
    line += [f"{bound:.0e}" if bound else "0" for bound in (auroc, precision, ece)]
    return line, size, merging


def _measured(t: sw.Tally) -> None:
    e = sw.evaluate(t)
    for name in ("auroc", "average_precision", "brier", "log_loss", "ece"):
        e[name]


def holds(rows: int) -> str:
    """Measures of 10^12 rows, made of rows that count for many, beside those of the rows themselves."""
    y, p = draw(rows)
    many = sw.Tally.of(y, p, count=np.full(rows, ALL // rows)).coarsen()
    once = sw.Tally.of(y, p).coarsen()
    assert many.origin.rows == ALL // rows * rows
    worst = 0.0
    # not average precision, which more rows in a cell may order in more ways
    for name in ("auroc", "ks", "brier", "log_loss", "ece"):
        a, b = (getattr(sw.measures, name)(t) for t in (many, once))
        worst = max(worst, abs(a.value / b.value - 1), abs((a.bound or 0) - (b.bound or 0)))
    assert worst < 1e-9
    return f"{worst:.0e}"


def bill(row_ns: float, group: float, shard: float, merging: float) -> list[list[str]]:
    """The sums, for all rows at once and for each of the groups."""
    shards = ALL // SHARD
    raw, cpu = ALL * STORED, ALL * row_ns / 3.6e12
    whole, each = shards * shard, GROUPS * group
    folding = shards * merging / 3600
    read = shards * GET
    return [
        ["rows, kept where they are", f"{raw / 1e12:,.0f} TB", f"{raw / 1e9 * MONTH:,.0f} a month"],
        ["the same rows, sent elsewhere", f"{raw / 1e12:,.0f} TB", f"{raw / 1e9 * EGRESS:,.0f}"],
        [f"reading {shards:,} shards of {SHARD:,} rows", f"{shards:,} requests", f"{read:,.2f}"],
        ["CPU of tallying all rows", f"{cpu:,.0f} h", f"{cpu * HOUR:,.2f}"],
        ["a tally of each shard, sent", f"{whole / 1e9:,.0f} GB", f"{shards * PUT:,.2f}"],
        ["those tallies, kept", f"{whole / 1e9:,.0f} GB", f"{whole / 1e9 * MONTH:,.2f} a month"],
        ["CPU of adding them up", f"{folding:,.1f} h", f"{folding * HOUR:,.2f}"],
        ["all rows as one tally", f"{shard / 1e6:,.1f} MB", "0.00"],
        [f"a tally of each of {GROUPS:,} groups, sent", f"{each / 1e12:,.1f} TB",
         f"{GROUPS * PUT:,.2f}"],
        ["those tallies, kept", f"{each / 1e12:,.1f} TB", f"{each / 1e9 * MONTH:,.0f} a month"],
    ]  # fmt: skip


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 10**7, "rows of the largest tally").parse_args(args)
    most = max(given.runs, 1000)
    rows, row_ns = by_row(min(most, 10**6))
    write(table(["", "a row"], rows) + "\n", given.out / "cost_rows.md")
    sizes = [n for n in (10**2, 10**4, 10**6, 10**7) if n <= most] or [most]
    found = [by_tally(n) for n in sizes]
    head = ["rows", "cells used", "kB saved", "ms to add", "ms for five measures"]
    head += [f"bound of {name}" for name in ("AUROC", "average precision", "ECE")]
    text = table(head, [line for line, *_ in found])
    text += "\n\nAUROC, KS, Brier score, log loss and ECE of 10^12 rows, on the grid, differ from those of "
    text += f"the same rows counted once by at most {holds(min(most, 10**6))}, relative.\n"
    write(text, given.out / "cost_tallies.md")
    size = dict(zip(sizes, found, strict=True))
    group, shard = (size.get(n, found[-1]) for n in (ALL // GROUPS, SHARD))
    lines = bill(row_ns, group[1], shard[1], shard[2])
    prices = (
        f"Assumed, in dollars: storage {MONTH} per GB and month, {PUT * 1000} for 1,000 objects written, "
        f"{GET * 1000} for 1,000 read, {EGRESS} per GB sent out of the region and none inside it, {HOUR} "
        f"for an hour of one core; a row of {STORED} bytes.\n\n"
    )
    write(prices + table(["", "how much", "dollars"], lines) + "\n", given.out / "cost.md")
