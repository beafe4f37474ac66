"""Are p-values of calibration uniform, and do intervals of calibration errors contain the truth?

`make study NAME=calibration` or `python -m studies calibration [RUNS]` writes docs/tables/calibration.md.
Every registered measure of calibration that has a p-value is in it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

import scorewise as sw
import scorewise.measures  # which fills the registers
from scorewise.registry import MEASURES
from studies._tools import in_order, options, percent, table, write

SIZES = (200, 1_000, 10_000)
PARTS = 20
HUGE = 4_000_000
AT_BEST = {"calibration_slope": 1.0}  # of calibrated scores; of all other measures 0


def moved(shift: float, slope: float) -> Callable[[np.ndarray], np.ndarray]:
    """The true chance of a score whose logit is off by a shift and a slope."""
    return lambda p: 1 / (1 + np.exp(-shift - slope * np.log(p / (1 - p))))


POPULATIONS = {"calibrated": moved(0, 1), "overconfident": moved(0, 0.6), "shifted": moved(0.25, 1)}


def draw(rng: np.random.Generator, n: int, population: str) -> sw.Tally:
    """Probabilities from Beta(1, 1.5), and labels that have the population's chances."""
    p = rng.beta(1.0, 1.5, n).clip(1e-9, 1 - 1e-9)
    y = rng.random(n) < POPULATIONS[population](p)
    return sw.Tally.of(y, p, positive=True, kind="probability")


@cache
def tested() -> list[str]:
    """The measures of calibration that have a p-value."""
    t = draw(np.random.default_rng(0), 200, "calibrated")
    group = [m for m in MEASURES.values() if m.group == "calibration"]
    return [m.name for m in group if m(t).p is not None]


def judged(job: tuple[int, str, int, int]) -> np.ndarray:
    """For each run and measure: value, low, high, expected, p."""
    n, population, runs, part = job
    names = tested()
    rng = np.random.default_rng([part, n, list(POPULATIONS).index(population)])
    found = np.empty((runs, len(names), 5))
    for i in range(runs):
        t = draw(rng, n, population)
        for j, name in enumerate(names):
            e = MEASURES[name].under({"seed": int(rng.integers(1 << 31))}, t)
            expected, p = (np.nan if x is None else x for x in (e.expected, e.p))
            found[i, j] = e.value, e.low, e.high, expected, p
    return found


def gathered(work: Any, jobs: list[Any], processes: int | None) -> dict[Any, np.ndarray]:
    """The runs of all jobs by their setting, which is all but the last two entries of a job."""
    found: dict[Any, list[np.ndarray]] = {}
    for job, part in zip(jobs, in_order(work, jobs, processes, "simulating"), strict=True):
        found.setdefault(job[:-2], []).append(part)
    return {setting: np.concatenate(parts) for setting, parts in found.items()}


def truths(names: list[str]) -> dict[str, list[float]]:
    """The true value of each measure: that of calibration, or that of a huge sample."""
    truth = {"calibrated": [AT_BEST.get(name, 0.0) for name in names]}
    for population in list(POPULATIONS)[1:]:
        t = draw(np.random.default_rng(1), HUGE, population)
        truth[population] = [MEASURES[name](t).value for name in names]
    return truth


def inside(found: np.ndarray, truth: float) -> float:
    """Share of the intervals that contain the truth, among those that there are."""
    low, high = found[:, 1], found[:, 2]
    there = ~np.isnan(low)
    held = (low - 1e-9 <= truth) & (truth <= high + 1e-9)
    return float(held[there].mean()) if there.any() else np.nan


def null_cells(seen: np.ndarray, truth: float) -> list[str]:
    """Of runs of one measure on calibrated scores: KS distance and its p, p < .05, coverage, means."""
    ks = stats.kstest(seen[:, 4], "uniform")
    below, held = percent((seen[:, 4] < 0.05).mean()), percent(inside(seen, truth))
    means = [f"{x:.3g}" for x in (seen[:, 3].mean(), seen[:, 0].mean())]
    return [f"{ks.statistic:.3f}", f"{ks.pvalue:.2g}", below, held, *means]


NULL_HEAD = ["KS distance", "its p", "p < .05", "contain truth", "expected", "mean value"]


def coverage(found: dict[Any, np.ndarray], truth: dict[str, list[float]]) -> str:
    """How often intervals contain the truth of scores that are not calibrated."""
    others = list(POPULATIONS)[1:]
    lines = []
    for j, name in enumerate(tested()):
        cells = []
        for q in others:
            shares = (inside(found[n, q][:, j], truth[q][j]) for n in SIZES)
            cells += [f"{truth[q][j]:.3g}", *(percent(share, 93, 97) for share in shares)]
        lines.append([name, *cells])
    sizes = [f"n = {n:,}" for n in SIZES]
    return table(["measure", *(x for q in others for x in (f"{q}: truth", *sizes))], lines)


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 1000, "data sets of each population and size").parse_args(
        args
    )
    each, names = max(1, given.runs // PARTS), tested()
    runs = each * PARTS
    settings = [(n, population) for population in POPULATIONS for n in SIZES]
    jobs = [(*setting, each, part) for setting in settings for part in range(PARTS)]
    truth, found = truths(names), gathered(judged, jobs, given.processes)
    null = [
        [name, f"{n:,}", *null_cells(found[n, "calibrated"][:, j], truth["calibrated"][j])]
        for j, name in enumerate(names)
        for n in SIZES
    ]
    text = [
        f"Scores that are calibrated, {runs:,} data sets of each size: how far the p-values are from",
        "uniform (Kolmogorov-Smirnov), how many of them in percent are below .05, how many of the 95 %",
        "intervals contain the truth, and the expected value beside the mean of the values.",
        "",
        table(["measure", "n", *NULL_HEAD], null),
        "",
        "Scores that are not: overconfident (the logits of the true chances are .6 times those of the",
        "scores) and shifted (by .25). How many of the 95 % intervals, in percent, contain the true value,",
        f"that of {HUGE:,} rows; bold outside 93 to 97.",
        "",
        coverage(found, truth),
    ]
    write("\n".join(text) + "\n", given.out / "calibration.md")
