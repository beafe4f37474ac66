"""How often 95 % intervals of paired differences hold, and how often equal models are told apart.

`make study NAME=differences` or `python -m studies differences [RUNS]` writes docs/tables/differences.md.
Two models see the same rows, three in ten of them positive; their noise is correlated by 0, .5, .9 or .99.
They are equally good, or separate the classes by 1.6 and by 1 standard deviations. The threshold is .3.
"""

from __future__ import annotations

import math

import numpy as np

import scorewise as sw
from studies._coverage import Draw, Estimates, Setting, markdown, simulate
from studies._tools import options, write

MEASURES = (
    "auroc", "average_precision", "brier", "log_loss", "f1", "ece", "sensitivity", "precision",
    "calibration_slope", "calibration_intercept",
)  # fmt: skip
WHY = {
    "ece": "Both models are calibrated, their true ECE is 0, and intervals that end there are one-sided; "
    "those of the difference are cautious.",
}


def drawn(shared: float, apart: tuple[float, float]) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Estimates:
        y = rng.random(n) < 0.3
        common, scores = rng.normal(size=n), {}
        for name, d in zip("ab", apart, strict=True):
            own = rng.normal(size=n)
            x = math.sqrt(shared) * common + math.sqrt(1 - shared) * own + d * y
            scores[name] = 1 / (1 + np.exp(-(d * x - d * d / 2 + math.log(3 / 7))))
        c = sw.compare(y, scores, threshold=0.3, positive=True)
        return {name: c.difference(name) for name in MEASURES}

    return draw


SETTINGS = [
    Setting(
        f"{kind}, n = {n:,}, {shared:g}",
        n,
        drawn(shared, apart),
        truth=dict.fromkeys(MEASURES, 0.0) if kind == "equal" else None,
        seed=(n, int(10 * shared) + 90 * (shared > 0.9), int(10 * apart[0])),
    )
    for kind, apart in (("equal", (1.2, 1.2)), ("unequal", (1.6, 1.0)))
    for n in (200, 2000)
    for shared in (0.0, 0.5, 0.9, 0.99)
]


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 1000, "simulated data sets").parse_args(args)
    found = simulate(__name__, given.runs, given.processes)
    by = "kind of models, rows and correlation; of equal models, 100 less this are told apart"
    text = markdown(found, given.runs, by, WHY, "chance of the simulation, or few rows.")
    write(text, given.out / "differences.md")
