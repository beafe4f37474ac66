"""Print ours, the peer's, the ratio and the budget of each row, measured in one run.

`python -m benchmarks` or `make bench`; a word picks rows (`python -m benchmarks bootstrap`).
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from benchmarks import rows


@dataclass(frozen=True)
class Row:
    what: str
    ours: float
    peer: float | None
    against: str
    budget: float
    unit: str = "s"

    @property
    def measured(self) -> float:
        return self.ours if self.peer is None else self.ours / self.peer


def best_of(f: Callable[[], object], times: int) -> float:
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        f()
        spent.append(time.perf_counter() - start)
    return min(spent)


def table(done: list[Row]) -> Table:
    printed = Table(title="scorewise: measured side by side in one run")
    for name in ("what", "ours", "peer", "against", "ratio", "budget", ""):
        printed.add_column(name, justify="left" if name in ("what", "against") else "right")
    for r in done:
        ratio = "" if r.peer is None else f"{r.measured:.4f}"
        peer = "" if r.peer is None else f"{r.peer:.3f} {r.unit}"
        verdict = "ok" if r.measured <= r.budget else "OVER"
        budget = f"{r.budget:g}" + ("" if r.peer is not None else f" {r.unit}")
        printed.add_row(r.what, f"{r.ours:.3f} {r.unit}", peer, r.against, ratio, budget, verdict)
    return printed


def main(words: list[str]) -> None:
    done = []
    console = Console(width=120)
    for row in rows.ROWS:
        if words and not any(word in row.what for word in words):
            continue
        console.print(f"[dim]{row.what} …[/dim]")
        ours, peer = row.measure(best_of)
        done.append(Row(row.what, ours, peer, row.against, row.budget, row.unit))
    console.print(table(done))


if __name__ == "__main__":
    main(sys.argv[1:])
