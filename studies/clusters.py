"""How often 95 % intervals hold where rows come in clusters: told of the clusters, and not.

`make study NAME=clusters` or `python -m studies clusters [RUNS]` writes docs/tables/clusters.md. Patients
have a tendency to be ill, the share `icc` of the variance of what makes a visit one of an ill patient, and
one to be scored high. The truth is measured on 300,000 visits.
"""

from __future__ import annotations

import math

import numpy as np

import scorewise as sw
from studies._coverage import Draw, Estimates, Setting, markdown, simulate
from studies._tools import options, write

MEASURES = (
    "auroc", "sensitivity", "specificity", "precision", "brier", "log_loss", "calibration_intercept",
    "calibration_slope", "average_precision",
)  # fmt: skip
SIZES = ((60, 5, 0.5), (200, 5, 0.5), (200, 10, 0.7), (1000, 3, 0.3))


def drawn(size: int, icc: float, told: bool) -> Draw:
    def draw(rng: np.random.Generator, n: int) -> Estimates:
        number = n // size
        tendency, bias = (np.repeat(rng.normal(size=number), size) for _ in range(2))
        own, noise = rng.normal(size=(2, number * size))
        latent = math.sqrt(icc) * tendency + math.sqrt(1 - icc) * own
        x = latent + math.sqrt(icc) * bias + math.sqrt(1 - icc) * noise
        cluster = np.repeat(np.arange(number), size) if told else None
        p = 1 / (1 + np.exp(1 - 1.5 * x))
        e = sw.evaluate(latent > 0.5, p, cluster=cluster, threshold=0.4, positive=True)
        return {name: e[name] for name in MEASURES}

    return draw


SETTINGS = [
    Setting(
        f"{number:,} x {size}, {icc:g}" + ("" if told else ", not told"),
        number * size,
        drawn(size, icc, told),
        many=300_000,
        seed=(number, size),
    )
    for number, size, icc in SIZES
    for told in (True, False)
]


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 1000, "simulated data sets").parse_args(args)
    found = simulate(__name__, given.runs, given.processes)
    by = "number and size of clusters and icc"
    text = markdown(found, given.runs, by, {}, "rows of a cluster are taken for independent.")
    write(text, given.out / "clusters.md")
