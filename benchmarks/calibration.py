"""Simulated tests and intervals of calibration: are p-values uniform, do intervals contain the truth?

`python -m benchmarks.calibration [--runs 1000]` or `make calibration` prints the tables and writes
docs/tables/calibration.md. Every registered measure of calibration that has a p-value is in them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from rich.progress import track
from scipy import stats

import scorewise as sw
import scorewise.measures
from scorewise.registry import MEASURES

assert scorewise.measures
SIZES = (200, 1_000, 10_000)
PARTS = 20
HUGE = 4_000_000
OUT = Path(__file__).parents[1] / "docs" / "tables" / "calibration.md"
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


def tested() -> list[str]:
    """The measures of calibration that have a p-value."""
    t = draw(np.random.default_rng(0), 200, "calibrated")
    group = [m for m in MEASURES.values() if m.group == "calibration"]
    return [m.name for m in group if m(t).p is not None]


def judged(job: tuple[int, str, int, int, list[str]]) -> np.ndarray:
    """For each run and measure: value, low, high, expected, p."""
    n, population, runs, part, names = job
    rng = np.random.default_rng([part, n, list(POPULATIONS).index(population)])
    found = np.empty((runs, len(names), 5))
    for i in range(runs):
        t = draw(rng, n, population)
        for j, name in enumerate(names):
            e = MEASURES[name](t, seed=int(rng.integers(1 << 31)))
            expected, p = (np.nan if x is None else x for x in (e.expected, e.p))
            found[i, j] = e.value, e.low, e.high, expected, p
    return found


def simulate(runs: int, names: list[str]) -> dict[tuple[int, str], np.ndarray]:
    settings = [(n, population) for population in POPULATIONS for n in SIZES]
    each = max(1, runs // PARTS)
    jobs = [(n, q, each, part, names) for n, q in settings for part in range(PARTS)]
    found: dict[tuple[int, str], list[np.ndarray]] = {s: [] for s in settings}
    with ProcessPoolExecutor(2) as pool:
        done = zip(jobs, pool.map(judged, jobs), strict=True)
        for (n, population, *_), part in track(done, "simulating", len(jobs)):
            found[n, population].append(part)
    return {s: np.concatenate(parts) for s, parts in found.items()}


def truths(names: list[str]) -> dict[str, list[float]]:
    """The true value of each measure: that of calibration, or that of a huge sample."""
    truth = {"calibrated": [AT_BEST.get(name, 0.0) for name in names]}
    for population in list(POPULATIONS)[1:]:
        t = draw(np.random.default_rng(1), HUGE, population)
        truth[population] = [MEASURES[name](t).value for name in names]
    return truth


def inside(found: np.ndarray, truth: float) -> float:
    """Share, in percent, of the intervals that contain the truth, among those that there are."""
    low, high = found[:, 1], found[:, 2]
    there = ~np.isnan(low)
    hair = 1e-9
    held = (low - hair <= truth) & (truth <= high + hair)
    return 100 * float(held[there].mean()) if there.any() else np.nan


def null_lines(
    found: dict[tuple[int, str], np.ndarray], names: list[str], truth: list[float]
) -> list[str]:
    lines = [
        "| measure | n | KS distance | its p | p < .05 | contain truth | expected | mean value |",
        f"|---|{'---:|' * 7}",
    ]
    for j, name in enumerate(names):
        for n in SIZES:
            seen = found[n, "calibrated"][:, j]
            lines.append(f"| {name} | {n:,} | {null_cells(seen, truth[j])} |")
    return lines


def null_cells(seen: np.ndarray, truth: float) -> str:
    """Of runs of one measure on calibrated scores: KS distance and its p, p < .05, coverage, means."""
    ks = stats.kstest(seen[:, 4], "uniform")
    share = 100 * (seen[:, 4] < 0.05).mean()
    mean, expected = seen[:, 0].mean(), seen[:, 3].mean()
    return (
        f"{ks.statistic:.3f} | {ks.pvalue:.2g} | {share:.1f} | {_percent(inside(seen, truth))} | "
        f"{expected:.3g} | {mean:.3g}"
    )


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{share:.1f}"


def coverage_lines(
    found: dict[tuple[int, str], np.ndarray], names: list[str], truth: dict[str, list[float]]
) -> list[str]:
    others = list(POPULATIONS)[1:]
    head = " | ".join(f"{q}: truth | {' | '.join(f'n = {n:,}' for n in SIZES)}" for q in others)
    lines = [f"| measure | {head} |", f"|---|{'---:|' * (len(others) * (1 + len(SIZES)))}"]
    for j, name in enumerate(names):
        cells = []
        for q in others:
            cells.append(f"{truth[q][j]:.3g}")
            for n in SIZES:
                share = inside(found[n, q][:, j], truth[q][j])
                text = _percent(share)
                cells.append(f"**{text}**" if text and not 93 <= share <= 97 else text)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def markdown(runs: int) -> str:
    names = tested()
    truth, found = truths(names), simulate(runs, names)
    runs = len(found[SIZES[0], "calibrated"])
    lines = [
        f"Scores that are calibrated, {runs:,} data sets of each size: how far the p-values are from",
        "uniform (Kolmogorov-Smirnov), how many of them in percent are below .05, how many of the 95 %",
        "intervals contain the truth, and the expected value beside the mean of the values.",
        "",
        *null_lines(found, names, truth["calibrated"]),
        "",
        "Scores that are not: overconfident (the logits of the true chances are .6 times those of the",
        "scores) and shifted (by .25). How many of the 95 % intervals, in percent, contain the true value,",
        f"that of {HUGE:,} rows; bold outside 93 to 97.",
        "",
        *coverage_lines(found, names, truth),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    text = markdown(parser.parse_args().runs)
    OUT.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
