"""Does kill -9 at any moment lose or double a row?

`python -m studies kills [KILLS]` ends tally, merge and report that many times in all, 60 unless said, each
after a random time, and holds the output against that of a run that nobody ended: an old output stays
whole, and what `--resume` makes of the rest has the same bytes. A run that was done before its time was up
is checked too, and does not count. It writes docs/tables/kills.md.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from studies._tools import options, table, wrapped, write

SHARDS, ROWS = 6, 200_000
MOST = 20  # runs for each that is to be ended
GIVEN = ["--label", "y", "--score", "p"]


def run(args: list[str], after: float | None = None) -> bool:
    """Whether a run was ended by kill -9 before it was done."""
    command = [sys.executable, "-m", "scorewise", *args]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(after)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
    code = process.wait()
    if code not in (0, -signal.SIGKILL):
        raise SystemExit(f"{' '.join(args)} ended with {code}")
    return code != 0


def inputs(folder: Path) -> tuple[list[str], list[str]]:
    """Shards of weighted rows, and their tallies."""
    files, tallies = [], []
    for k in range(SHARDS):
        rng = np.random.default_rng(k)
        y = rng.random(ROWS) < 0.1
        p = 1 / (1 + np.exp(-(rng.normal(size=ROWS) + 2 * y - 3)))
        files.append(str(folder / f"day{k}.parquet"))
        frame = pl.DataFrame({"y": y.astype(np.int8), "p": p, "w": rng.exponential(size=ROWS)})
        frame.write_parquet(files[-1])
        tallies.append(str(folder / f"day{k}.tally"))
        run(["tally", files[-1], *GIVEN, "--weight", "w", "-o", tallies[-1]])
    return files, tallies


def ended(name: str, args: list[str], out: Path, kills: int, resume: bool) -> list[str]:
    """One line of the table: runs until so many were ended, and what was wrong afterwards."""
    rng = random.Random(name)
    whole = out.with_name(f"whole-{out.name}")
    start = time.perf_counter()
    run([*args, "-o", str(whole)])
    long = time.perf_counter() - start
    known, runs, stopped, broken, other = whole.read_bytes(), 0, 0, 0, 0
    while stopped < kills and runs < MOST * kills:
        runs += 1
        out.write_bytes(known)
        more = ["--resume"] if resume else []
        stopped += run([*args, *more, "-o", str(out)], rng.uniform(0.1 * long, 1.05 * long))
        broken += out.read_bytes() != known
        start = time.perf_counter()
        run([*args, *more, "-o", str(out)])
        if not more:  # what --resume does is less
            long = time.perf_counter() - start  # the machine may have become faster or slower
        other += out.read_bytes() != known
    left = len([p for p in out.parent.iterdir() if p.name.endswith((".part", ".parts"))])
    return [name, f"{runs}", f"{stopped}", f"{broken}", f"{other}", f"{left}"]


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 60, "kills").parse_args(args)
    each = -(-given.runs // 3)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        files, tallies = inputs(folder)
        tally = ["tally", *files, *GIVEN, "--weight", "w"]
        lines = [
            ended("tally", tally, folder / "m.tally", each, True),
            ended("merge", ["merge", *tallies], folder / "n.tally", each, False),
            ended("report", ["report", tallies[0]], folder / "r.html", each, False),
        ]
    head = [
        "command",
        "runs",
        "ended by kill -9",
        "old output broken",
        "other bytes after",
        "files left",
    ]
    about = wrapped(
        f"{SHARDS} shards of {ROWS:,} weighted rows. Each run was to be ended after a random time of up to "
        "what it takes; some were done before. It was then done again, tally with --resume, and the output "
        "has to have the bytes of a run that nobody ended."
    )
    write(f"{table(head, lines)}\n\n{about}\n", given.out / "kills.md")
