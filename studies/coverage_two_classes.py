"""How often 95 % intervals hold for two classes: all measures but calibration, by rows and prevalence.

`make study NAME=coverage_two_classes` or `python -m studies coverage_two_classes [RUNS]` writes
docs/tables/coverage_two_classes.md. Scores are calibrated probabilities of two normal classes 1.2 standard
deviations apart; the threshold is the prevalence; the truth is measured on 10 million rows.
"""

from __future__ import annotations

import numpy as np

import scorewise as sw
from scorewise.registry import MEASURES
from studies._coverage import Draw, Estimates, Setting, markdown, simulate
from studies._tools import options, write

SIZES = (50, 200, 2000)
PREVALENCES = (0.1, 0.5)
MANY = 10_000_000
REQUIRED = ("auroc", "average_precision", "f1", "brier", "log_loss")
WHY = {
    "h_measure": "The decisions are chosen on the rows on which they are judged; the interval reaches down "
    "by the bias that the bootstrap sees, and is cautious.",
    "ks": "A maximum over thresholds is too high; the interval allows for the search, and is cautious.",
    "partial_auroc": "At n = 50 and prevalence .5 only two or three negatives lie within the part; the "
    "interval is cautious.",
    "average_precision": "With about five positives the variance has about four degrees of freedom.",
    "pr_trapezoid": "The straight lines between few points bias the value, and the interval follows it.",
    "log_loss": "Runs with hardly any positives see none of the large losses.",
    "mcc": "With few positives the correlation of the table is far from normal.",
    "dor": "Half a row in each cell, put in when one is empty, makes the interval wide.",
    "lift": "Runs without a positive call have no value and are left out.",
}


def scores(rng: np.random.Generator, n: int, prevalence: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels and calibrated probabilities."""
    y = rng.random(n) < prevalence
    z = rng.normal(size=n) + 1.2 * y
    return y, 1 / (1 + np.exp(-(1.2 * z - 0.72 + np.log(prevalence / (1 - prevalence)))))


def evaluated(prevalence: float) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Estimates:
        e = sw.evaluate(*scores(rng, n, prevalence), threshold=prevalence, positive=True)
        return {name: e[name] for name in e if MEASURES[name].group != "calibration"}

    return draw


SETTINGS = [
    Setting(f"n = {n:,}, {q:g}", n, draw, many=MANY, seed=(n, int(100 * q)))
    for q in PREVALENCES
    for draw in [evaluated(q)]
    for n in SIZES
]


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 2000, "simulated data sets").parse_args(args)
    found = simulate(__name__, given.runs, given.processes)
    text = markdown(
        found, given.runs, "number of rows and prevalence", WHY, "few rows in one class.", REQUIRED
    )
    write(text, given.out / "coverage_two_classes.md")
