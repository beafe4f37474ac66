"""How often 95 % intervals hold where rows come in clusters: told of the clusters, and not.

`make study NAME=clusters` or `python -m studies clusters [RUNS]` writes docs/tables/clusters.md. Patients
have a tendency to be ill, the share `icc` of the variance of what makes a visit one of an ill patient, and
one to be scored high. The truth is measured on three million visits. Kappa is that of illness and of a
score of 0.4 and more.

docs/tables/cluster_folds.md has how often recalibration is shown to help forecasts of games that are right
as they are, dealt into folds by row and by game, and what it does to 4,000 new games.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import ndtr

import scorewise as sw
from studies._coverage import Draw, Estimates, Setting, markdown, simulate
from studies._tools import options, table, write

MEASURES = (
    "auroc", "sensitivity", "specificity", "precision", "brier", "log_loss", "calibration_intercept",
    "calibration_slope", "average_precision",
)  # fmt: skip
FOLDED = 12  # data sets that are recalibrated
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
        found = {name: e[name] for name in MEASURES}
        kappa = sw.agree(latent > 0.5, p >= 0.4, cluster=cluster).cohen_kappa
        return {**found, "cohen_kappa": kappa}

    return draw


SETTINGS = [
    Setting(
        f"{number:,} x {size}, {icc:g}" + ("" if told else ", not told"),
        number * size,
        drawn(size, icc, told),
        many=3_000_000,
        seed=(number, size),
    )
    for number, size, icc in SIZES
    for told in (True, False)
]


def games(seed: int, number: int = 401, moments: int = 25) -> tuple[Any, Any, Any]:
    """Who won each game, calibrated forecasts in its course, and which game it is."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(number, moments)) / math.sqrt(moments)
    lead = rng.normal(0, 0.7, (number, 1)) + steps.cumsum(1)
    left = np.sqrt(1 - np.arange(1, moments + 1) / moments + 0.02)
    kept = moments - 2
    p = np.clip(ndtr(lead / left)[:, :kept], 1e-4, 1 - 1e-4)
    return np.repeat(lead[:, -1] > 0, kept), p.ravel(), np.repeat(np.arange(number), kept)


def by_folds(sets: int) -> str:
    """A table: how often a map is shown to help, and how often it then does harm."""
    lines = []
    for how in ("row", "game"):
        claimed, worse, gains = 0, 0, []
        for seed in range(sets):
            (y, p, game), (new, q, _) = games(seed), games(100 + seed, 4000)
            r = sw.Recalibrator().fit(p, y, cluster=game if how == "game" else None)
            if r.chosen == "identity":
                continue
            before, after = (
                -np.where(new, np.log(x), np.log1p(-x)).mean()
                for x in (q, np.clip(r.transform(q), 1e-7, 1 - 1e-7))
            )
            claimed, worse = claimed + 1, worse + (after > before)
            gains.append(before - after)
        lost = f"{-np.mean(gains):.4f}" if gains else ""
        lines.append([how, str(sets), str(claimed), str(worse), lost])
    head = ["folds by", "data sets", "shown to help", "of these worse", "log loss added"]
    return table(head, lines) + "\n"


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 1000, "simulated data sets").parse_args(args)
    found = simulate(__name__, given.runs, given.processes)
    by = "number and size of clusters and icc"
    text = markdown(found, given.runs, by, {}, "rows of a cluster are taken for independent.")
    write(text, given.out / "clusters.md")
    write(by_folds(min(FOLDED, given.runs)), given.out / "cluster_folds.md")
