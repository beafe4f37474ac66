"""Simulated calibration of several classes: how often tests reject, and intervals hold.

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
from scorewise.registry import CLASS_MEASURES
from scorewise.tallies import ClassTally

assert sw.measures
SIZES = (200, 1000, 10_000)
CLASSES = (3, 10)
SHARPER = (1.0, 1.3, 0.75)
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


def rejected(job: tuple[int, int, float, int, int]) -> list[tuple[str, int, int]]:
    """For each measure: how often p is at most .05, and how often the interval holds the truth."""
    n, classes, sharper, runs, seed = job
    rng = np.random.default_rng([seed, n, classes, int(100 * sharper)])
    seen = {name: [0, 0] for name in NAMES}
    for _ in range(runs):
        y, p, said = draw(rng, n, classes, sharper)
        truth = {"canonical_ce": np.abs(p - said).sum(1).mean()}
        t = ClassTally.of(y, said, classes=range(classes))
        for name in NAMES:
            e = CLASS_MEASURES[name](t)
            seen[name][0] += e.p <= 0.05
            seen[name][1] += e.low <= truth.get(name, 0.0) <= e.high
    return [(name, *counts) for name, counts in seen.items()]


def simulate(runs: int) -> dict[tuple[str, int, int, float], np.ndarray]:
    settings = [(n, k, s) for k in CLASSES for n in SIZES for s in SHARPER]
    jobs = [(*s, runs // 2, seed) for s in settings for seed in range(2)]
    total: dict[tuple[str, int, int, float], np.ndarray] = {}
    with ProcessPoolExecutor() as pool:
        for job, seen in track(zip(jobs, pool.map(rejected, jobs), strict=True), total=len(jobs)):
            for name, *counts in seen:
                key = (name, *job[:3])
                total[key] = total.get(key, np.zeros(2)) + np.array(counts) / (runs // 2 * 2)
    return total


def markdown(total: dict[tuple[str, int, int, float], np.ndarray], runs: int) -> str:
    columns = [(k, n) for k in CLASSES for n in SIZES]
    head = " | ".join(f"K = {k}, n = {n:,}" for k, n in columns)
    lines = [
        f"How often, in percent of {runs:,} simulated data sets, p was at most .05.",
        "",
        f"| logits | measure | {head} |",
        f"|---|---|{'---:|' * len(columns)}",
    ]
    words = {1.0: "calibrated", 1.3: "too sure (1.3)", 0.75: "too unsure (0.75)"}
    for sharper, word in words.items():
        for name in NAMES:
            cells = [f"{100 * total[name, n, k, sharper][0]:.0f}" for k, n in columns]
            lines.append(f"| {word} | {name} | {' | '.join(cells)} |")
    lines += [
        "",
        "How often, in percent, the 95 % interval contained the truth: none for calibrated logits, and",
        "the canonical error of the others.",
        "",
        f"| logits | measure | {head} |",
        f"|---|---|{'---:|' * len(columns)}",
    ]
    shown = [(1.0, name) for name in NAMES[:3]] + [(s, "canonical_ce") for s in SHARPER[1:]]
    for sharper, name in shown:
        cells = [f"{100 * total[name, n, k, sharper][1]:.0f}" for k, n in columns]
        lines.append(f"| {words[sharper]} | {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(runs: int) -> None:
    text = markdown(simulate(runs), runs)
    OUT.write_text(text)
    print(text)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
