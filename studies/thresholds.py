"""How often are promises of thresholds broken, and what does a guarantee cost in alerts?

`make study NAME=thresholds` or `python -m studies thresholds [RUNS]` writes docs/tables/thresholds.md.
Scores are binormal, so that what a cut truly does is known: calibrated, overconfident (log-odds doubled),
or rounded so that they tie. A promise is broken where the population misses the target at the cut chosen.
"""

from __future__ import annotations

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

import scorewise as sw
from scorewise.thresholds.constraints import constraints, measured
from studies._tools import in_order, options, table, wrapped, write

APART = 2.0  # of the two normals


class Setting(NamedTuple):
    """Rows, the share of positives, the constraint, and what is done to the scores."""

    rows: int
    prevalence: float
    at: str
    scores: str = "calibrated"


SETTINGS = [
    Setting(500, 0.3, "recall >= 0.9"),
    Setting(2000, 0.1, "recall >= 0.95"),
    Setting(2000, 0.1, "recall >= 0.95", "overconfident"),
    Setting(2000, 0.1, "recall >= 0.95", "tied"),
    Setting(2000, 0.02, "recall >= 0.9"),
    Setting(20_000, 0.005, "recall >= 0.9"),
    Setting(500, 0.3, "fpr <= 0.1"),
    Setting(2000, 0.1, "fpr <= 0.05"),
    Setting(2000, 0.1, "fpr <= 0.05", "tied"),
    Setting(20_000, 0.005, "fpr <= 0.01"),
    Setting(1000, 0.3, "precision >= 0.85"),
    Setting(2000, 0.1, "precision >= 0.7"),
    Setting(2000, 0.1, "precision >= 0.7", "overconfident"),
    Setting(2000, 0.1, "precision >= 0.7", "tied"),
    Setting(5000, 0.02, "precision >= 0.5"),
    Setting(20_000, 0.005, "precision >= 0.3"),
    Setting(2000, 0.1, "precision >= 0.6 and alert_rate <= 0.1"),
    Setting(2000, 0.3, "recall >= 0.75 and precision >= 0.6"),
    Setting(5000, 0.1, "recall >= 0.7 and precision >= 0.3"),
]


def odds_of(x: Any, s: Setting) -> Any:
    """The log-odds that are made of a signal."""
    true = math.log(s.prevalence / (1 - s.prevalence)) + APART * x - APART**2 / 2
    return 2 * true if s.scores == "overconfident" else true


def drawn(s: Setting, rng: np.random.Generator) -> tuple[Any, Any]:
    """Labels and probabilities of one data set."""
    y = rng.random(s.rows) < s.prevalence
    odds = odds_of(rng.normal(size=s.rows) + APART * y, s)
    if s.scores == "tied":
        odds = np.floor(2 * odds) / 2  # so that a cut between two of them is known, too
    return y, 1 / (1 + np.exp(-odds))


def truth(s: Setting, cut: float) -> tuple[float, float, float, float]:
    """Shares of true alerts, false alarms, missed and cleared rows in the population."""
    from scipy.stats import norm

    odds = math.log(cut / (1 - cut))
    if s.scores == "tied":
        odds = math.ceil(2 * odds - 1e-9) / 2
    unit = odds_of(0.0, s), odds_of(1.0, s)
    x = (odds - unit[0]) / (unit[1] - unit[0])
    tp, fp = s.prevalence * norm.sf(x - APART), (1 - s.prevalence) * norm.sf(x)
    return tp, fp, s.prevalence - tp, 1 - s.prevalence - fp


def simulated(job: tuple[Setting, int]) -> list[float]:
    """Of the plain and the guaranteed cut: how often found and broken, mean alert rate and recall."""
    s, runs = job
    wanted = constraints(s.at)
    sums = {0: np.zeros(4), None: np.zeros(4)}
    for run in range(runs):
        y, p = drawn(s, np.random.default_rng([run, s.rows, int(1e4 * s.prevalence)]))
        for sure, found in sums.items():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rule = sw.threshold(y, p, at=s.at, guarantee=sure)
            except sw.BadInput:  # kept by no cut on these rows
                continue
            if sure is None and not rule.guaranteed:
                continue
            cells = truth(s, rule.threshold)
            kept = all(bool(c.kept(cells)) for c in wanted)
            recall = float(measured("sensitivity", cells))
            found += [1, not kept, cells[0] + cells[1], recall]
    made = []
    for found in sums.values():
        times = found[0]
        made += [times / runs, found[1] / runs, *(found[2:] / times if times else [math.nan] * 2)]
    return made


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 2000, "simulated data sets").parse_args(args)
    jobs = [(s, given.runs) for s in SETTINGS]
    rows = in_order(simulated, jobs, given.processes, "thresholds")
    lines = []
    for s, (_, broken, alerts, _, found, breach, price, recall) in zip(SETTINGS, rows, strict=True):
        numbers = [
            f"{x:.3f}".replace("nan", "") for x in (broken, alerts, breach, price, found, recall)
        ]
        lines.append([f"{s.at}", s.scores, f"{s.rows:,}", f"{s.prevalence:g}", *numbers])
    head = [
        "promise", "scores", "rows", "prevalence", "plain: broken", "alerts", "guaranteed: broken",
        "alerts ", "found", "recall",
    ]  # fmt: skip
    about = wrapped(
        f"{given.runs:,} simulated data sets each. Broken: share of data sets whose cut does not keep its "
        f"promise in the population; at most .05 is guaranteed. Alerts: share of rows in the population, "
        f"where a cut was found."
    )
    write(f"{table(head, lines, 2)}\n\n{about}\n", given.out / "thresholds.md")
