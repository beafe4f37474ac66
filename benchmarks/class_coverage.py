"""Simulated coverage of the 95 % intervals of measures of several classes.

`python -m benchmarks.class_coverage [runs]` or `make class-coverage` prints the table and writes
docs/tables/class_coverage.md. Scores are calibrated probabilities of normal classes in the plane, the most
frequent class three times as frequent as the rarest; the truth is measured on 1 million rows.
"""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np

import scorewise.measures
from benchmarks.coverage import shares
from scorewise import ClassTally, Estimate
from scorewise.registry import CLASS_MEASURES

assert scorewise.measures
CLASSES = (3, 10)
SIZES = (100, 1000)
OUT = Path(__file__).parents[1] / "docs" / "tables" / "class_coverage.md"
WHY = {
    "weighted_auroc": "With a few rows in each class, Welch's degrees of freedom are cautious.",
    "micro_auroc": "With a few rows in each class, Welch's degrees of freedom are cautious.",
    "macro_f1": "With a few rows in each class F1 is biased downwards, which the interval does not know.",
    "macro_average_precision": "The interval reaches down by the bias, and is cautious on the other side.",
}


def draw(rng: np.random.Generator, n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Labels, and the probabilities of classes around a circle given where a row lies."""
    share = np.linspace(1, 3, classes)
    share /= share.sum()
    turn = 2 * np.pi * np.arange(classes) / classes
    centre = (1.2 if classes < 5 else 2.5) * np.stack([np.cos(turn), np.sin(turn)], 1)
    y = rng.choice(classes, n, p=share)
    x = centre[y] + rng.normal(size=(n, 2))
    log = np.log(share) - ((x[:, None, :] - centre) ** 2).sum(2) / 2
    p = np.exp(log - log.max(1, keepdims=True))
    return y, p / p.sum(1, keepdims=True)


def judged(y: np.ndarray, p: np.ndarray) -> dict[str, Estimate]:
    t = ClassTally.of(y, p)
    return {name: m(t) for name, m in CLASS_MEASURES.items() if m.group != "calibration"}


def hits(job: tuple[int, int, int, int, dict[str, float]]) -> dict[str, list[int]]:
    """For each measure: runs with the truth below, inside and above the interval."""
    classes, n, runs, seed, truth = job
    rng = np.random.default_rng([seed, n, classes])
    seen = {name: [0, 0, 0] for name in truth}
    for _ in range(runs):
        for name, e in judged(*draw(rng, n, classes)).items():
            if e.defined and not np.isnan(e.low):
                seen[name][1 + (truth[name] > e.high) - (truth[name] < e.low)] += 1
    return seen


def truths(classes: int) -> dict[str, float]:
    y, p = draw(np.random.default_rng(1), 1_000_000, classes)
    return {name: e.value for name, e in judged(y, p).items()}


def simulate(runs: int) -> dict[tuple[int, int], dict[str, list[int]]]:
    truth = {k: truths(k) for k in CLASSES}
    settings = [(k, n) for k in CLASSES for n in SIZES]
    parts = 10
    jobs = [(k, n, runs // parts, seed, truth[k]) for k, n in settings for seed in range(parts)]
    total = {s: {name: [0, 0, 0] for name in truth[s[0]]} for s in settings}
    with ProcessPoolExecutor() as pool:
        for (k, n, *_), seen in zip(jobs, pool.map(hits, jobs), strict=True):
            for name, counts in seen.items():
                total[k, n][name] = [a + b for a, b in zip(total[k, n][name], counts, strict=True)]
    return total


def markdown(total: dict[tuple[int, int], dict[str, list[int]]], runs: int) -> str:
    head = " | ".join(f"K = {k}, n = {n:,}" for k, n in total)
    lines = [
        f"How often, in percent of {runs:,} simulated data sets, the 95 % interval contained the truth, by",
        "number of classes and rows; bold where it lies outside 93 to 97.",
        "",
        f"| measure | {head} |",
        f"|---|{'---:|' * len(total)}",
    ]
    names = list(next(iter(total.values())))
    lines += shares(list(total.values()), names, WHY, "few rows in each class.")
    return "\n".join(lines) + "\n"


def main(runs: int) -> None:
    text = markdown(simulate(runs), runs)
    OUT.write_text(text)
    print(text)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
