"""Are p-values of calibration of several classes uniform, and how often do tests find what is there?

`make study NAME=class_calibration` or `python -m studies class_calibration [RUNS]` writes
docs/tables/class_calibration.md. Logits are normal; labels are drawn from their softmax, and the
probabilities judged are those of logits 1 (calibrated), 1.3 (too sure) or 0.75 (too unsure) times as large.
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

import scorewise as sw
import scorewise.measures  # which fills the registers
from scorewise.registry import CLASS_MEASURES
from studies._tools import options, table, write
from studies.calibration import NULL_HEAD, gathered, null_cells

SIZES = (200, 1000, 10_000)
CLASSES = (3, 10)
SHARPER = (1.0, 1.3, 0.75)
PARTS = 10
NAMES = ("classwise_ece", "canonical_ce", "skce", "calibration_gain")


def draw(rng: np.random.Generator, n: int, classes: int, sharper: float) -> tuple:
    z = 2 * rng.normal(size=(n, classes))
    p = softmax(z, axis=1)
    y = (p.cumsum(1) < rng.random((n, 1))).sum(1).clip(0, classes - 1)
    return y, p, softmax(sharper * z, axis=1)


def judged(job: tuple[int, int, float, int, int]) -> np.ndarray:
    """For each run and measure: value, low, high, expected, p, and the true value."""
    n, classes, sharper, runs, seed = job
    rng = np.random.default_rng([seed, n, classes, int(100 * sharper)])
    found = np.empty((runs, len(NAMES), 6))
    for i in range(runs):
        y, p, said = draw(rng, n, classes, sharper)
        truth = {"canonical_ce": np.abs(p - said).sum(1).mean()}
        t = sw.ClassTally.of(y, said, classes=range(classes))
        for j, name in enumerate(NAMES):
            e = CLASS_MEASURES[name].under({"seed": int(rng.integers(1 << 31))}, t)
            found[i, j] = e.value, e.low, e.high, e.expected, e.p, truth.get(name, 0.0)
    return found


Found = dict[tuple[int, int, float], np.ndarray]
COLUMNS = [(k, n) for k in CLASSES for n in SIZES]


def power(found: Found) -> str:
    """How often logits that are not calibrated are seen, and the truth of the canonical error is held."""
    lines = []
    for sharper, word in ((1.3, "too sure (1.3)"), (0.75, "too unsure (0.75)")):
        for j, name in enumerate(NAMES):
            seen = [found[n, k, sharper][:, j] for k, n in COLUMNS]
            shares = {name: [x[:, 4] < 0.05 for x in seen]}
            if name == "canonical_ce":
                held = [(x[:, 1] <= x[:, 5]) & (x[:, 5] <= x[:, 2]) for x in seen]
                shares[f"{name}, interval"] = held
            lines += [
                [word, key, *(f"{100 * x.mean():.0f}" for x in v)] for key, v in shares.items()
            ]
    return table(["logits", "measure", *(f"K = {k}, n = {n:,}" for k, n in COLUMNS)], lines, 2)


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 1000, "calibrated data sets of each kind").parse_args(args)
    # a fifth as many of the others
    each = {s: max(1, (given.runs if s == 1 else given.runs // 5) // PARTS) for s in SHARPER}
    runs = {s: PARTS * each[s] for s in SHARPER}
    settings = [(n, k, s) for s in SHARPER for k, n in COLUMNS]
    jobs = [(*setting, each[setting[2]], part) for setting in settings for part in range(PARTS)]
    found = gathered(judged, jobs, given.processes)
    null = [
        [name, str(k), f"{n:,}", *null_cells(found[n, k, 1.0][:, j], 0.0)]
        for j, name in enumerate(NAMES)
        for k, n in COLUMNS
    ]
    text = [
        f"Calibrated logits, {runs[1.0]:,} data sets each: how far p-values are from uniform",
        "(Kolmogorov-Smirnov), how many of them in percent are below .05, how many of the 95 % intervals",
        "contain 0, and the expected value beside the mean of the values.",
        "",
        table(["measure", "K", "n", *NULL_HEAD], null),
        "",
        f"Other logits, {runs[1.3]:,} data sets each: how often, in percent, p was below .05; for the",
        "canonical error also how often the 95 % interval contained the truth.",
        "",
        power(found),
    ]
    write("\n".join(text) + "\n", given.out / "class_calibration.md")
