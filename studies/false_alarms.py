"""How often tests of calibration raise a false alarm, and intervals miss 0, where scores are calibrated.

`make study NAME=false_alarms` or `python -m studies false_alarms [RUNS]` prints a table and writes
docs/tables/false_alarms.md: for rare events, very sure scores and usual ones, with and without weights,
of two classes and of several, the share of p <= .05 and of 95 % intervals that contain 0. Beside them is
how often no event was seen: where that is most samples, no test can come near 5 %, and a valid one
stays below.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import scorewise as sw
import scorewise.measures  # which fills the registers
from scorewise.registry import CLASS_MEASURES, MEASURES
from studies._tools import in_order, options, table, write

Rows = Callable[[np.random.Generator], np.ndarray]

BINARY: dict[str, Rows] = {
    "1e-5 to 1e-4, n 60": lambda rng: np.linspace(1e-5, 1e-4, 60),
    "1e-4 to 5e-4, n 300": lambda rng: np.linspace(1e-4, 5e-4, 300),
    "1e-4 to 5e-4, n 2,000": lambda rng: np.linspace(1e-4, 5e-4, 2000),
    ".001 to .01, n 200": lambda rng: np.linspace(0.001, 0.01, 200),
    ".995 to .9999, n 200": lambda rng: np.linspace(0.995, 0.9999, 200),
    "beta(2, 3), n 100": lambda rng: rng.beta(2, 3, 100),
    "beta(2, 3), n 1,000": lambda rng: rng.beta(2, 3, 1000),
    "five values, n 200": lambda rng: rng.choice([0.1, 0.3, 0.5, 0.7, 0.9], 200),
}
WEIGHTED = (".001 to .01, n 200", ".995 to .9999, n 200", "beta(2, 3), n 1,000")
NAMES = ("ece", "max_ce", "ce_l2_debiased", "ece_sweep", "smece", "skce", "ecce_mad", "ecce_range",
         "ce_variational", "mcb")  # fmt: skip
CLASS_NAMES = ("ece", "max_ce", "ce_l2_debiased", "smece", "classwise_ece", "canonical_ce", "skce")


def one_rare(rng: np.random.Generator) -> np.ndarray:
    """Three classes, one of which has probabilities from .001 to .01."""
    rare = np.linspace(0.001, 0.01, 300)
    rest = rng.beta(2, 2, 300) * (1 - rare)
    return np.stack((rest, 1 - rare - rest, rare), axis=1)


def very_sure(rng: np.random.Generator) -> np.ndarray:
    """Three classes, the first of which has probabilities from .995 to .9999."""
    top = np.linspace(0.995, 0.9999, 300)
    rest = (1 - top) * rng.random(300)
    return np.stack((top, rest, 1 - top - rest), axis=1)


CLASSES: dict[str, Rows] = {
    "three classes, one of .001 to .01, n 300": one_rare,
    "three classes, .995 to .9999, n 300": very_sure,
    "three classes, Dirichlet(1, 1, 1), n 300": lambda rng: rng.dirichlet([1, 1, 1], 300),
}


def drawn(p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Labels with the probabilities of the rows: of positives, or of classes."""
    if p.ndim == 1:
        return rng.random(len(p)) < p
    return (np.cumsum(p, axis=1) < rng.random((len(p), 1))).sum(1).clip(0, p.shape[1] - 1)


def judged(rows: Rows, runs: int, *, weighted: bool) -> tuple[list[str], float]:
    """For each measure "share of p <= .05 / share of intervals with 0", and the share without events."""
    rng = np.random.default_rng(14)
    seen: dict[str, list[tuple[bool, bool]]] = {}
    none = 0
    for run in range(runs):
        p = rows(rng)
        y = drawn(p, rng)
        w = rng.lognormal(0, 1.2, len(p)) if weighted else None
        if p.ndim == 1:
            t = sw.Tally.of(y, p, positive=True, kind="probability", weight=w)
            names, known = NAMES, MEASURES
        else:
            t = sw.ClassTally.of(y, p, classes=range(p.shape[1]))
            names, known = CLASS_NAMES, CLASS_MEASURES
        none += len(np.unique(y)) < 2
        for name in names:
            e = known[name](t, seed=run)
            seen.setdefault(name, []).append((e.p <= 0.05, e.low <= 0 <= e.high + 1e-15))
    cells = [" / ".join(f"{100 * x:.1f}" for x in np.mean(seen[name], axis=0)) for name in seen]
    return cells, none / runs


def line(job: tuple[str, bool, int]) -> list[str]:
    name, weighted, runs = job
    cells, none = judged((BINARY | CLASSES)[name], runs, weighted=weighted)
    return [f"{name}, weights" if weighted else name, f"{100 * none:.0f}", *cells]


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 400, "samples of each kind").parse_args(args)
    runs = given.runs
    plain, weighted = (
        [(name, w, runs) for name in x] for x, w in ((BINARY, False), (WEIGHTED, True))
    )
    jobs = [*plain, *weighted, *((name, False, runs) for name in CLASSES)]
    lines = in_order(line, jobs, given.processes, "simulating")
    binary = len(jobs) - len(CLASSES)
    text = [
        f"Calibrated scores, {runs:,} samples each: how many in percent have p <= .05, and how many of the",
        "95 % intervals contain 0. Where most samples have no event, a valid test finds less than 5 %.",
        "Weights are lognormal(1.2).",
        "",
        table(["scores", "no event", *NAMES], lines[:binary]),
        "",
        table(["probabilities", "no event", *CLASS_NAMES], lines[binary:]),
    ]
    write("\n".join(text) + "\n", given.out / "false_alarms.md")
