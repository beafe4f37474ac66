"""Simulated coverage of the 95 % intervals: how often they contain the truth.

`python -m benchmarks.coverage [runs]` or `make coverage` prints the table and writes
docs/tables/coverage.md. Scores are calibrated probabilities of two normal classes 1.2 standard deviations
apart; decisions are taken at the prevalence; the truth is measured on 10 million rows.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from rich.progress import track

import scorewise as sw

SIZES = (50, 200, 2000)
PREVALENCES = (0.1, 0.5)
REQUIRED = ("auroc", "average_precision", "f1", "brier", "log_loss")
OUT = Path(__file__).parents[1] / "docs" / "tables" / "coverage.md"
WHY = {
    "h_measure": "The decisions are chosen on the rows on which they are judged, so the value is too high "
    "in small samples; the interval reaches down by twice the bias that the bootstrap sees, which is less "
    "than the bias there is.",
    "ks": "A maximum over thresholds is too high, and the interval does not know that it was searched for.",
    "partial_auroc": "At n = 50 and prevalence .5 only two or three negatives lie within the part; the "
    "interval is cautious.",
    "kappa": "The 1969 standard error is kept on its own scale, as published; it is short for few rows.",
    "average_precision": "With about five positives the variance has about four degrees of freedom.",
    "pr_trapezoid": "The straight lines between few points bias the value, and the interval follows it.",
    "log_loss": "Runs with hardly any positives see none of the large losses.",
    "mcc": "With few positives the correlation of the table is far from normal.",
    "dor": "Half a row in each cell, put in when one is empty, makes the interval wide.",
    "lift": "Runs without a positive call have no value and are left out.",
}


def draw(rng: np.random.Generator, n: int, prevalence: float) -> tuple[np.ndarray, np.ndarray]:
    y = rng.random(n) < prevalence
    z = rng.normal(size=n) + 1.2 * y
    return y, 1 / (1 + np.exp(-(1.2 * z - 0.72 + np.log(prevalence / (1 - prevalence)))))


def judged(y: np.ndarray, p: np.ndarray, threshold: float) -> dict[str, sw.Estimate]:
    return dict(sw.evaluate(y, p, threshold=threshold, positive=True))


def hits(job: tuple[int, float, int, int, dict[str, float]]) -> dict[str, list[int]]:
    """For each measure: runs with the truth below, inside and above the interval."""
    n, prevalence, runs, seed, truth = job
    rng = np.random.default_rng([seed, n, int(100 * prevalence)])
    seen = {name: [0, 0, 0] for name in truth}
    for _ in range(runs):
        for name, e in judged(*draw(rng, n, prevalence), prevalence).items():
            if e.defined and not np.isnan(e.low):
                seen[name][1 + (truth[name] > e.high) - (truth[name] < e.low)] += 1
    return seen


def truths(prevalence: float) -> dict[str, float]:
    y, p = draw(np.random.default_rng(1), 10_000_000, prevalence)
    return {name: e.value for name, e in judged(y, p, prevalence).items()}


def simulate(runs: int) -> dict[tuple[int, float], dict[str, list[int]]]:
    truth = {q: truths(q) for q in PREVALENCES}
    settings = [(n, q) for q in PREVALENCES for n in SIZES]
    parts = 10
    jobs = [(n, q, runs // parts, seed, truth[q]) for n, q in settings for seed in range(parts)]
    total = {s: {name: [0, 0, 0] for name in truth[s[1]]} for s in settings}
    with ProcessPoolExecutor() as pool:
        done = zip(jobs, pool.map(hits, jobs), strict=True)
        for (n, q, *_), seen in track(done, "simulating", len(jobs)):
            for name, counts in seen.items():
                total[n, q][name] = [a + b for a, b in zip(total[n, q][name], counts, strict=True)]
    return total


def markdown(total: dict[tuple[int, float], dict[str, list[int]]], runs: int) -> str:
    settings = list(total)
    head = " | ".join(f"n = {n:,}, {q:g}" for n, q in settings)
    lines = [
        f"How often, in percent of {runs:,} simulated data sets, the 95 % interval contained the truth, by",
        "number of rows and prevalence; bold where it lies outside 93 to 97.",
        "",
        f"| measure | {head} |",
        f"|---|{'---:|' * len(settings)}",
    ]
    names = sorted(next(iter(total.values())), key=lambda m: m not in REQUIRED)
    lines += shares(list(total.values()), names, WHY, "few rows in one class.")
    return "\n".join(lines) + "\n"


def shares(
    found: list[dict[str, list[int]]], names: list[str], why: dict[str, str], otherwise: str
) -> list[str]:
    """A line for each measure, a cell for each setting (below, inside, above), then what is off and why."""
    lines, off = [], []
    for name in names:
        cells = []
        for seen in found:
            below, inside, above = seen[name]
            share = 100 * inside / max(1, below + inside + above)
            good = 93 <= share <= 97
            cells.append(f"{share:.1f}" if good else f"**{share:.1f}**")
            if not good and name not in off:
                off.append(name)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "Where it lies outside, and why:", ""]
    return lines + [f"- `{name}`: {why.get(name, otherwise)}" for name in off]


def main(runs: int) -> None:
    text = markdown(simulate(runs), runs)
    OUT.write_text(text)
    print(text)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
