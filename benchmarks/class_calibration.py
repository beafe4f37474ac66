"""Simulated calibration of several classes: are p-values uniform, how often do tests find what is there?

`python -m benchmarks.class_calibration [runs]` or `make class-calibration` prints the table and writes
docs/tables/class_calibration.md. Logits are normal; labels are drawn from their softmax, and the
probabilities judged are those of logits 1 (calibrated), 1.3 (too sure) or 0.75 (too unsure) times as large.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from rich.progress import track

import scorewise as sw
from benchmarks.calibration import null_cells
from scorewise.registry import CLASS_MEASURES
from scorewise.tallies import ClassTally

assert sw.measures
SIZES = (200, 1000, 10_000)
CLASSES = (3, 10)
SHARPER = (1.0, 1.3, 0.75)
PARTS = 10
NAMES = ("classwise_ece", "canonical_ce", "skce", "calibration_gain")
OUT = Path(__file__).parents[1] / "docs" / "tables" / "class_calibration.md"


def softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def draw(rng: np.random.Generator, n: int, classes: int, sharper: float) -> tuple:
    z = 2 * rng.normal(size=(n, classes))
    p = softmax(z)
    y = (p.cumsum(1) < rng.random((n, 1))).sum(1).clip(0, classes - 1)
    return y, p, softmax(sharper * z)


def judged(job: tuple[int, int, float, int, int]) -> np.ndarray:
    """For each run and measure: value, low, high, expected, p, and the true value."""
    n, classes, sharper, runs, seed = job
    rng = np.random.default_rng([seed, n, classes, int(100 * sharper)])
    found = np.empty((runs, len(NAMES), 6))
    for i in range(runs):
        y, p, said = draw(rng, n, classes, sharper)
        truth = {"canonical_ce": np.abs(p - said).sum(1).mean()}
        t = ClassTally.of(y, said, classes=range(classes))
        for j, name in enumerate(NAMES):
            e = CLASS_MEASURES[name](t, seed=int(rng.integers(1 << 31)))
            found[i, j] = e.value, e.low, e.high, e.expected, e.p, truth.get(name, 0.0)
    return found


Found = dict[tuple[int, int, float], np.ndarray]


def simulate(runs: int) -> Found:
    """Calibrated data sets, and a fifth as many of the others."""
    settings = [(n, k, s) for s in SHARPER for k in CLASSES for n in SIZES]
    each = {s: max(1, (runs if s == 1 else runs // 5) // PARTS) for s in SHARPER}
    jobs = [(n, k, s, each[s], seed) for n, k, s in settings for seed in range(PARTS)]
    found: dict[tuple[int, int, float], list[np.ndarray]] = {s: [] for s in settings}
    with ProcessPoolExecutor(2) as pool:
        done = zip(jobs, pool.map(judged, jobs), strict=True)
        for job, part in track(done, "simulating", len(jobs)):
            found[job[:3]].append(part)
    return {s: np.concatenate(parts) for s, parts in found.items()}


def markdown(found: Found) -> str:
    columns = [(k, n) for k in CLASSES for n in SIZES]
    runs = [len(found[SIZES[0], CLASSES[0], s]) for s in SHARPER[:2]]
    lines = [
        f"Calibrated logits, {runs[0]:,} data sets each: how far p-values are from uniform",
        "(Kolmogorov-Smirnov), how many of them in percent are below .05, how many of the 95 % intervals",
        "contain 0, and the expected value beside the mean of the values.",
        "",
        "| measure | K | n | KS distance | its p | p < .05 | contain truth | expected | mean value |",
        f"|---|{'---:|' * 8}",
    ]
    for j, name in enumerate(NAMES):
        for k, n in columns:
            cells = null_cells(found[n, k, 1.0][:, j], 0.0)
            lines.append(f"| {name} | {k} | {n:,} | {cells} |")
    lines += [
        "",
        f"Other logits, {runs[1]:,} data sets each: how often, in percent, p was below .05; for the",
        "canonical error also how often the 95 % interval contained the truth.",
        "",
        f"| logits | measure | {' | '.join(f'K = {k}, n = {n:,}' for k, n in columns)} |",
        f"|---|---|{'---:|' * len(columns)}",
    ]
    for sharper, word in ((1.3, "too sure (1.3)"), (0.75, "too unsure (0.75)")):
        for j, name in enumerate(NAMES):
            seen = [found[n, k, sharper][:, j] for k, n in columns]
            cells = [f"{100 * (x[:, 4] < 0.05).mean():.0f}" for x in seen]
            lines.append(f"| {word} | {name} | {' | '.join(cells)} |")
            if name == "canonical_ce":
                held = [(x[:, 1] <= x[:, 5]) & (x[:, 5] <= x[:, 2]) for x in seen]
                cells = [f"{100 * h.mean():.0f}" for h in held]
                lines.append(f"| {word} | {name}, interval | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(runs: int) -> None:
    text = markdown(simulate(runs))
    OUT.write_text(text)
    print(text)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
