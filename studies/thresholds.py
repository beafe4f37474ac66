"""How often are promises of thresholds broken, and what does a guarantee cost in alerts?

`make study NAME=thresholds` or `python -m studies thresholds [RUNS]` writes docs/tables/thresholds.md, and
thresholds_clusters.md, of rows that come in clusters. Where MAPIE is installed (it is in the extra `test`),
a tenth of the data sets, 50 at the least, go to its BinaryClassificationController as it comes, too.
Scores are binormal, so that what a cut truly does is known: calibrated, overconfident (log-odds doubled),
or rounded so that they tie. A promise is broken where the population misses the target at the cut chosen.
"""

from __future__ import annotations

import math
import warnings
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np

import scorewise as sw
from scorewise.thresholds.choosing import Choice
from scorewise.thresholds.cuts import Clusters
from scorewise.thresholds.goals import Goal, measured, parse_constraints
from studies._tools import in_order, options, table, wrapped, write

APART = 2.0  # of the two normals


class Setting(NamedTuple):
    """Rows, the share of positives, the constraint, and what is done to the scores."""

    rows: int
    prevalence: float
    at: str
    scores: str = "calibrated"


PROMISES = [
    (500, 0.3, "recall >= 0.9"),
    (2000, 0.1, "recall >= 0.95"),
    (2000, 0.02, "recall >= 0.9"),
    (20_000, 0.005, "recall >= 0.9"),
    (500, 0.3, "fpr <= 0.1"),
    (2000, 0.1, "fpr <= 0.05"),
    (5000, 0.02, "fpr <= 0.05"),
    (20_000, 0.005, "fpr <= 0.01"),
    (1000, 0.3, "precision >= 0.85"),
    (2000, 0.1, "precision >= 0.7"),
    (5000, 0.02, "precision >= 0.5"),
    (20_000, 0.005, "precision >= 0.3"),
    (2000, 0.3, "recall >= 0.75 and precision >= 0.6"),
    (5000, 0.1, "recall >= 0.7 and precision >= 0.3"),
    (10_000, 0.02, "recall >= 0.6 and precision >= 0.1"),
    (20_000, 0.005, "recall >= 0.6 and precision >= 0.03"),
]
SCORES = ("calibrated", "overconfident", "tied")
SETTINGS = [
    *(Setting(*promise, scores) for promise in PROMISES for scores in SCORES),
    Setting(2000, 0.1, "precision >= 0.6 and alert_rate <= 0.1"),
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


class Count:
    """How often a cut was found and broke its promise, and its alert rate and recall in the population."""

    def __init__(self, s: Setting) -> None:
        self.setting, self.sums, self.runs = s, np.zeros(4), 0

    def add(self, cut: float | None) -> None:
        """Count a data set with the cut that was chosen."""
        self.runs += 1
        if cut is None:
            return
        cells = truth(self.setting, cut)
        kept = all(bool(c.kept(cells)) for c in parse_constraints(self.setting.at))
        recall = float(measured("sensitivity", cells))
        self.sums += [1, not kept, cells[0] + cells[1], recall]

    @property
    def shares(self) -> list[float]:
        """Found, broken, alerts and recall."""
        times, runs = self.sums[0], max(self.runs, 1)
        means = self.sums[2:] / times if times else [math.nan] * 2
        return [times / runs if self.runs else math.nan, self.sums[1] / runs, *means]


def chosen(s: Setting, y: Any, p: Any, clusters: Any = None) -> list[float | None]:
    """The plain and the guaranteed cut, without what a rule says of them."""
    t = sw.Tally.of(y, p, positive=True, kind="probability")
    c = Choice(t, Goal.of(s.at, None, None, None, None, None, 0.95), clusters)
    try:
        plain = float(c.table.threshold[c.plain])
    except sw.BadInput:  # kept by no cut on these rows
        return [None, None]
    return [plain, c.guaranteed.threshold]


def simulated(job: tuple[Setting, int]) -> list[list[float]]:
    """Of the plain and the guaranteed cut, and of MAPIE's: found, broken, alert rate and recall."""
    s, runs = job
    counts = [Count(s) for _ in range(3)]
    for run in range(runs):
        y, p = drawn(s, np.random.default_rng([run, s.rows, int(1e4 * s.prevalence)]))
        if not y.any():
            continue
        found = chosen(s, y, p)
        for count, cut in zip(counts, found, strict=False):
            count.add(cut)
        if find_spec("mapie") and run < max(50, runs // 10) and " and " not in s.at:
            counts[2].add(by_mapie(s, y, p))
    return [c.shares for c in counts]


def by_mapie(s: Setting, y: Any, p: Any) -> float | None:
    """The cut of MAPIE's controller with its defaults, but for the confidence; None where it finds none."""
    from mapie.risk_control import BinaryClassificationController

    (c,) = parse_constraints(s.at)
    name = {"sensitivity": "recall"}.get(c.measure, c.measure)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = BinaryClassificationController(
            lambda x: np.column_stack([1 - x, x]), name, c.limit, confidence_level=0.95
        ).calibrate(p, y.astype(int))
    cut = made.best_predict_param
    # a cut of 0 alerts on everybody
    return None if cut is None else max(float(cut), 1e-12)


SIZES = (
    (100, 5, 0.3),
    (300, 5, 0.5),
    (200, 10, 0.5),
)  # clusters, rows of each, share of what they share


def clustered(job: tuple[tuple[int, int, float], str, int]) -> list[float]:
    """How often a promise is broken where the rows of a cluster are alike: told of it, and not."""
    (many, size, part), at, runs = job
    s = Setting(many * size, 0.2, at)
    counts = [Count(s) for _ in range(2)]
    for run in range(runs):
        rng = np.random.default_rng([run, many, size])
        y = rng.random(s.rows) < s.prevalence
        cluster = np.repeat(np.arange(many), size)
        noise = math.sqrt(part) * rng.normal(size=many)[cluster]
        noise += math.sqrt(1 - part) * rng.normal(size=s.rows)
        p = 1 / (1 + np.exp(-odds_of(noise + APART * y, s)))
        told = Clusters(y, p, cluster, np.ones(s.rows))
        for count, of in zip(counts, (told, None), strict=True):
            count.add(chosen(s, y, p, of)[1])
    return [x for c in counts for x in c.shares[:3]]


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 2000, "simulated data sets").parse_args(args)
    jobs = [(s, given.runs) for s in SETTINGS]
    rows = in_order(simulated, jobs, given.processes, "thresholds")
    lines = []
    for s, (plain, sure, peer) in zip(SETTINGS, rows, strict=True):
        shown = (plain[1], plain[2], sure[1], sure[2], sure[0], sure[3])
        shown += (peer[1], peer[2], peer[0]) if peer[0] == peer[0] else ()
        numbers = [f"{x:.3f}".replace("nan", "") for x in shown]
        numbers += [""] * (9 - len(numbers))
        lines.append([f"{s.at}", s.scores, f"{s.rows:,}", f"{s.prevalence:g}", *numbers])
    head = [
        "promise", "scores", "rows", "prevalence", "plain: broken", "alerts", "guaranteed: broken",
        "alerts ", "found", "recall", "MAPIE: broken", "alerts  ", "found ",
    ]  # fmt: skip
    about = wrapped(
        f"{given.runs:,} simulated data sets each, a tenth of them (50 at least) for MAPIE's default at "
        f"95 %. Broken: share of data sets whose cut does not keep its promise in the population; at most "
        f".05 is guaranteed. Alerts: share of rows in the population, where a cut was found."
    )
    write(f"{table(head, lines, 2)}\n\n{about}\n", given.out / "thresholds.md")
    few = max(given.runs // 5, 20)
    todo = [(size, at, few) for size in SIZES for at in ("recall >= 0.9", "precision >= 0.6")]
    found = in_order(clustered, todo, given.processes, "clusters")
    lines = [
        [
            at,
            f"{many} x {size}",
            f"{part:g}",
            *(f"{x:.3f}" for x in (*numbers[1:3], numbers[0], numbers[4])),
        ]
        for ((many, size, part), at, _), numbers in zip(todo, found, strict=True)
    ]
    head = [
        "promise",
        "clusters",
        "shared",
        "broken",
        "alerts",
        "found",
        "broken, not told of clusters",
    ]
    about = wrapped(
        f"{few:,} simulated data sets each, 20 % positive; shared: part of the variance of the signal that "
        f"rows of a cluster have in common."
    )
    write(f"{table(head, lines, 1)}\n\n{about}\n", given.out / "thresholds_clusters.md")
