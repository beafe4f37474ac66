"""How often intervals contain the truth: samples are drawn from settings whose truth is known.

A study of coverage has a list `SETTINGS`; `simulate` draws samples of each, in several processes, and
counts on which side of the interval the truth lies.
"""

from __future__ import annotations

import importlib
import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import scorewise as sw
from studies._tools import DATA, percent, table, tracked

Estimates = Mapping[Any, sw.Estimate]
Draw = Callable[[np.random.Generator, int], Estimates]
Counts = dict[Any, np.ndarray]


@dataclass(frozen=True)
class Setting:
    """Samples of `n` rows, and what is estimated on each.

    The truth is that of a sample of `many` rows unless `truth` has it. `share` is how many of the runs slow
    estimates get, and `needs` is the file of a data set.
    """

    name: str
    n: int
    draw: Draw
    truth: Mapping[Any, float] | None = None
    share: float = 1.0
    needs: str = ""
    many: int = 400_000
    seed: tuple[int, ...] = ()

    def there(self) -> bool:
        """Whether the data set is there, or none is needed."""
        return not self.needs or (DATA / "predictions" / self.needs).exists()

    def truths(self) -> Mapping[Any, float]:
        return _values(self.draw, self.many) if self.truth is None else self.truth

    def samples(self, rng: np.random.Generator, runs: int) -> Iterator[Estimates]:
        return (self.draw(rng, self.n) for _ in range(runs))


@cache
def _values(draw: Draw, rows: int) -> dict[Any, float]:
    return {name: e.value for name, e in draw(np.random.default_rng(1), rows).items()}


class Job(NamedTuple):
    """One part of the runs of a setting."""

    study: str
    at: int
    runs: int
    part: int
    truth: Mapping[Any, float]


def count(samples: Iterable[Estimates], truth: Mapping[Any, float]) -> Counts:
    """For each measure: truth below, inside and above the interval; without a caution, and with one."""
    seen = {name: np.zeros((2, 3), int) for name in truth}
    for found in samples:
        for name, e in found.items():
            if e.defined and not math.isnan(e.low):
                side = 1 + (truth[name] > e.high) - (truth[name] < e.low)
                seen[name][int(bool(getattr(e, "caution", ""))), side] += 1
    return seen


def hits(job: Job) -> Counts:
    """The counts of one job."""
    s = importlib.import_module(job.study).SETTINGS[job.at]
    rng = np.random.default_rng([job.part, *(s.seed or (s.n, zlib.crc32(s.name.encode())))])
    return count(s.samples(rng, job.runs), job.truth)


def simulate(
    study: str,
    runs: int,
    processes: int | None,
    parts: int = 10,
    wanted: Sequence[int] | None = None,
) -> list[tuple[Setting, Counts]]:
    """The counts of all settings of a study, or of those that are wanted."""
    settings = importlib.import_module(study).SETTINGS
    jobs = [
        Job(study, at, max(1, int(runs * settings[at].share) // parts), part, settings[at].truths())
        for at in (range(len(settings)) if wanted is None else wanted)
        for part in range(parts)
    ]
    total: dict[int, Counts] = {}
    for job, seen in tracked(hits, jobs, processes, "simulating"):
        before = total.get(job.at, dict.fromkeys(seen, 0))
        total[job.at] = {name: before[name] + counts for name, counts in seen.items()}
    return [(settings[at], total[at]) for at in sorted(total)]


def held(counts: np.ndarray) -> float:
    """Share of intervals that contain the truth.

    >>> held(np.array([[1, 18, 0], [0, 1, 0]]))
    0.95
    """
    return float(counts.sum(0)[1] / max(counts.sum(), 1))


def markdown(
    found: Sequence[tuple[Setting, Counts]],
    runs: int,
    by: str,
    why: Mapping[str, str],
    otherwise: str,
    first: Sequence[str] = (),
) -> str:
    """A table of measures by settings, those named `first` on top, and why some shares are off."""
    lines, off = [], []
    for name in sorted(found[0][1], key=lambda name: name not in first):
        cells = [percent(held(seen[name]), 93, 97) for _, seen in found]
        lines.append([name, *cells])
        if any(cell.startswith("**") for cell in cells):
            off.append(f"- `{name}`: {why.get(name, otherwise)}")
    text = [
        f"How often, in percent of {runs:,} simulated data sets, the 95 % interval contained the truth, by",
        f"{by}; bold where it lies outside 93 to 97.",
        "",
        table(["measure", *(s.name for s, _ in found)], lines),
        "",
        "Where it lies outside, and why:",
        "",
        *off,
    ]
    return "\n".join(text) + "\n"
