"""How long does a billion rows take, and how much memory, beside DuckDB's aggregation of the same cells?

`python -m studies billion --rows 1e9 --folder /big` makes parquet shards of 10 million rows there (about 19
bytes a row; a shard that is there is kept) and writes docs/tables/billion.md. Each line is a process of its
own, whose time and largest memory the system tells. On the grid: scores that are all different. Exact:
the same rounded to 6 digits. DuckDB sums the same for each cell and class: rows, least, largest and sum of
the scores, log loss and Brier score with their squares; its sums depend on the order of the rows.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from studies._tools import options, table, wrapped, write

SHARD = 10_000_000
LOSS = "-ln(greatest(case when y = 1 then {p} else 1 - {p} end, 1e-300))"
MISS = "(({p} - y) * ({p} - y))"
# cells as fine as those of the grid on [0, 1]: equal ones, and 128 an octave towards 0 and 1
CELL = """case when {p} < 0.00390625 then -floor(log2(greatest({p}, 1e-300)) * 128)
    when {p} > 0.99609375 then 100000 - floor(log2(greatest(1 - {p}, 1e-300)) * 128)
    else floor({p} * 55440) end"""


class Spent(NamedTuple):
    """What a process took: seconds on the clock, seconds of all cores, and the largest memory in bytes."""

    wall: float
    cpu: float
    memory: int


def shards(folder: Path, rows: int) -> list[Path]:
    """Shards of rows that differ from each other; those that are there are kept."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for k in range(-(-rows // SHARD)):
        many = min(SHARD, rows - k * SHARD)
        path = folder / f"shard-{k:04d}-{many}.parquet"
        made.append(path)
        if path.exists():
            continue
        rng = np.random.default_rng(k)
        y = rng.random(many) < 0.03
        odds = 1.2 * rng.normal(size=many) - 3.5 + 1.8 * y
        p = 1 / (1 + np.exp(-odds))
        part = path.with_suffix(".part")
        pl.DataFrame({"y": y.astype(np.int8), "p": p, "r": p.round(6)}).write_parquet(part)
        part.rename(path)
    return made


def measured(command: list[str]) -> Spent:
    """Run a command in a process of its own."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        _, status, spent = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            said.seek(0)
            raise SystemExit(said.read().decode())
    wall = time.perf_counter() - start
    return Spent(wall, spent.ru_utime + spent.ru_stime, spent.ru_maxrss * 1024)


def ours(files: list[Path], score: str, memory: str, out: Path) -> Spent:
    tally = [sys.executable, "-m", "scorewise", "tally", *map(str, files), "--label", "y"]
    return measured([*tally, "--score", score, "--memory", memory, "-o", str(out)])


def duckdb(files: list[Path], score: str, cell: str) -> Spent:
    p, listed = f'"{score}"', [str(f) for f in files]
    loss, miss = LOSS.format(p=p), MISS.format(p=p)
    query = (
        f"create temp table t as select {cell.format(p=p)} c, y, count(*), min({p}), max({p}), sum({p}), "
        f"sum({loss}), sum({loss} * {loss}), sum({miss}), sum({miss} * {miss}) "
        f"from read_parquet({listed}) group by all"
    )
    code = f"import duckdb; c = duckdb.connect(); c.execute({query!r})"
    return measured([sys.executable, "-c", code])


def main(args: list[str]) -> None:
    parser = options(__name__, __doc__)
    parser.add_argument("--rows", type=float, default=1e9, help="rows in all, 1e9 unless given")
    parser.add_argument("--folder", type=Path, required=True, help="folder for the shards")
    given = parser.parse_args(args)
    rows = int(given.rows)
    files = shards(given.folder, rows)
    lines = []
    for mode, score, memory, cell in (
        ("grid", "p", "250MB", CELL),
        ("exact", "r", "1GB", "{p}"),
    ):
        out = given.folder / f"{mode}.tally"
        mine, theirs = ours(files, score, memory, out), duckdb(files, score, cell)
        print(f"{mode}: {mine} by scorewise tally, {theirs} by DuckDB", flush=True)
        for name, spent in (("scorewise tally", mine), ("DuckDB", theirs)):
            kept = f"{out.stat().st_size / 1e6:.1f}" if spent is mine else ""
            lines.append(
                [
                    mode, name, f"{spent.wall:,.0f}", f"{spent.cpu:,.0f}", f"{rows / spent.cpu / 1e6:.1f}",
                    f"{spent.memory / 1e6:,.0f}", kept,
                    f"{mine.cpu / theirs.cpu:.2f}" if spent is mine else "",
                ]
            )  # fmt: skip
    head = [
        "mode",
        "by",
        "seconds",
        "core seconds",
        "million rows a core second",
        "peak MB",
        "MB kept",
    ]
    about = wrapped(
        f"{rows:,} rows in {len(files):,} parquet shards, each of its own rows. Ratio: core seconds of "
        "scorewise to those of DuckDB, which depend little on what else the machine does; at most 1.3 is "
        "wanted."
    )
    write(f"{table([*head, 'ratio'], lines)}\n\n{about}\n", given.out / "billion.md")
