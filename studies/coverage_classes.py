"""How often 95 % intervals hold for several classes: every measure, by number of classes and rows.

`make study NAME=coverage_classes` or `python -m studies coverage_classes [RUNS]` writes
docs/tables/coverage_classes.md. Scores are calibrated probabilities of normal classes in the plane, the
most frequent class three times as frequent as the rarest; the truth is measured on 1 million rows.
"""

from __future__ import annotations

import numpy as np

import scorewise as sw
import scorewise.measures  # which fills the registers
from scorewise.registry import CLASS_MEASURES
from studies._coverage import Draw, Estimates, Setting, markdown, simulate
from studies._tools import options, write

CLASSES = (3, 10)
SIZES = (100, 1000)
MANY = 1_000_000
WHY = {
    "weighted_auroc": "With a few rows in each class, Welch's degrees of freedom are cautious.",
    "micro_auroc": "With a few rows in each class, Welch's degrees of freedom are cautious.",
    "macro_f1": "With a few rows in each class F1 is biased downwards, which the interval does not know.",
    "macro_average_precision": "The interval reaches down by the bias, and is cautious on the other side.",
}


def scores(rng: np.random.Generator, n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
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


def measured(classes: int) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Estimates:
        t = sw.ClassTally.of(*scores(rng, n, classes))
        return {name: m(t) for name, m in CLASS_MEASURES.items() if m.group != "calibration"}

    return draw


SETTINGS = [
    Setting(f"K = {k}, n = {n:,}", n, draw, many=MANY, seed=(n, k))
    for k in CLASSES
    for draw in [measured(k)]
    for n in SIZES
]


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 1000, "simulated data sets").parse_args(args)
    found = simulate(__name__, given.runs, given.processes)
    text = markdown(found, given.runs, "number of classes and rows", WHY, "few rows in each class.")
    write(text, given.out / "coverage_classes.md")
