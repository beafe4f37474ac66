"""How often verdicts blame scores, models, groups, raters or data where nothing is wrong.

`make study NAME=verdicts` or `python -m studies verdicts [RUNS]` writes docs/tables/verdicts.md: for each
kind of claim, the share of simulated data sets in which it is made although it is false. Scores are
calibrated, models equally good, groups alike, raters and judges as reliable as each other.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import binom

import scorewise as sw
from studies._tools import in_order, options, table, write

Verdict = list[Any]
Draw = Callable[[np.random.Generator], Verdict]
# findings on scores, models and groups that blame nothing
HARMLESS = {
    "believable",
    "unclear",
    "unknown",
    "not shown",
    "not told apart",
    "alike",
    "none shown",
    "no difference shown",
}
# of each model by itself, which other settings count
BLAMED = {"miscalibrated", "overconfident", "underconfident", "too high", "too low"}


def scores(rng: np.random.Generator, n: int, mean: float = -1.0) -> tuple[np.ndarray, np.ndarray]:
    x = rng.normal(mean, 1.4, n)
    p = 1 / (1 + np.exp(-x))
    return (rng.random(n) < p).astype(int), p


def one_model(n: int, mean: float = -1.0) -> Draw:
    return lambda rng: sw.evaluate(*scores(rng, n, mean), positive=1).brief().verdict


def equals(rng: np.random.Generator, n: int, names: str) -> dict[str, np.ndarray]:
    """Labels and models that are equally good, with errors in common."""
    y, common = rng.random(n) < 0.3, rng.normal(size=n)
    noise = (0.7 * common + 0.7 * rng.normal(size=n) for _ in names)
    found = {
        name: 1 / (1 + np.exp(-(1.2 * (x + 1.2 * y) - 1.57)))
        for name, x in zip(names, noise, strict=True)
    }
    return {"y": y, **found}


def compared(n: int, names: str, many: int = 0) -> Draw:
    def draw(rng: np.random.Generator) -> Verdict:
        rows = equals(rng, n, names)
        by = kinds(rng, n, many) if many else None
        return sw.compare(rows.pop("y"), rows, positive=True, by=by).brief().verdict

    return draw


def evaluated(n: int, names: str) -> Draw:
    def draw(rng: np.random.Generator) -> Verdict:
        rows = equals(rng, n, names)
        return sw.evaluate(rows, label="y", score=[*names], positive=True).brief().verdict

    return draw


def backwards(rng: np.random.Generator) -> Verdict:
    return sw.evaluate(rng.integers(0, 2, 300), rng.random(300), positive=1).brief().verdict


def promise(rng: np.random.Generator) -> Verdict:
    """The cut that keeps its promise in the population keeps it in groups that are alike."""
    y, p = scores(rng, 2000)
    by = kinds(rng, 2000, 5)
    cut = sw.threshold(y, p, positive=1, at="recall >= 0.8", by=by)
    return cut.document().verdict


def groups(n: int) -> Draw:
    return lambda rng: (
        sw.evaluate(*scores(rng, n), by=rng.integers(0, 6, n).astype(str), positive=1)
        .brief()
        .verdict
    )


def clusters(rng: np.random.Generator) -> Verdict:
    who = np.repeat(np.arange(150), 5)
    y, p = (
        x[who] for x in scores(rng, 150)
    )  # each patient five times: nothing new in four of them
    return sw.evaluate(y, p, cluster=who, positive=1).brief().verdict


def classes(rng: np.random.Generator) -> Verdict:
    p = rng.dirichlet([0.7] * 4, 500)
    y = (np.cumsum(p, axis=1) < rng.random((500, 1))).sum(1).clip(0, 3)
    return sw.evaluate(y, p).brief().verdict


def answers(rng: np.random.Generator) -> Verdict:
    sure = rng.uniform(0.3, 1, 300)
    by = {"topic": rng.integers(0, 5, 300).astype(str)}
    return sw.answers(confidence=sure, quality=rng.random(300) < sure, by=by).document().verdict


def blind_answers(rng: np.random.Generator) -> Verdict:
    sure = rng.uniform(0.3, 1, 300)
    return sw.answers(confidence=sure, quality=rng.random(300) < 0.65).document().verdict


def drift(rng: np.random.Generator) -> Verdict:
    return sw.drift(scores(rng, 400), scores(rng, 400), replicates=499).document().verdict


def people(rng: np.random.Generator, n: int, many: int) -> dict[str, np.ndarray]:
    truth = rng.choice(3, n, p=(0.5, 0.3, 0.2))
    sure = (rng.random((many, n)) < 0.8, rng.integers(0, 3, (many, n)))
    return {f"r{k}": np.where(sure[0][k], truth, sure[1][k]) for k in range(many)}


def agree(rng: np.random.Generator) -> Verdict:
    return sw.agree(people(rng, 100, 4)).document().verdict


def judge(rng: np.random.Generator) -> Verdict:
    found = people(rng, 150, 4)
    return sw.judge(found, {"bot": found.pop("r3")}, replicates=100).document().verdict


def kinds(rng: np.random.Generator, n: int, many: int) -> np.ndarray:
    """Groups that have nothing to do with anything."""
    return rng.integers(0, many, n).astype(str)


def class_groups(rng: np.random.Generator) -> Verdict:
    p = rng.dirichlet([0.7] * 3, 600)
    y = (np.cumsum(p, axis=1) < rng.random((600, 1))).sum(1).clip(0, 2)
    return sw.evaluate(y, p, by=kinds(rng, 600, 4)).brief().verdict


def agree_groups(rng: np.random.Generator) -> Verdict:
    return sw.agree(people(rng, 400, 3), by=kinds(rng, 400, 5)).document().verdict


def judge_groups(rng: np.random.Generator) -> Verdict:
    found = people(rng, 400, 5)
    bots = {"bot": found.pop("r4"), "llm": found.pop("r3")}
    return sw.judge(found, bots, by=kinds(rng, 400, 5)).document().verdict


def drift_groups(rng: np.random.Generator) -> Verdict:
    samples = []
    for _ in range(2):
        y, p = scores(rng, 500)
        samples.append({"y": y, "p": p, "site": kinds(rng, 500, 3)})
    found = sw.drift(*samples, label="y", score="p", by="site")
    return found.document().verdict


def labels(rng: np.random.Generator) -> Verdict:
    return sw.inspect(*scores(rng, 400)).document().verdict


def chance(rng: np.random.Generator) -> Verdict:
    y = rng.integers(0, 2, 200)
    return sw.smroc(y, rng.random(200)).document().verdict


def calibrate(rng: np.random.Generator) -> Verdict:
    y, p = scores(rng, 300)
    return sw.Recalibrator().fit(p, y).document().verdict


# what is simulated, and by subject the findings that blame nothing
SETTINGS: dict[str, tuple[Draw, dict[str, set[str]]]] = {
    "evaluate, n 300": (one_model(300), {"probabilities": HARMLESS, "repair": HARMLESS}),
    "evaluate, n 3,000": (one_model(3000), {"probabilities": HARMLESS, "repair": HARMLESS}),
    "evaluate, 3 % positive, n 2,000": (
        one_model(2000, -4.4),
        {"probabilities": HARMLESS, "repair": HARMLESS},
    ),
    "evaluate, 150 clusters of 5": (clusters, {"probabilities": HARMLESS, "repair": HARMLESS}),
    "evaluate of chance, n 300": (backwards, {"ranking": {"not told from chance"}}),
    "evaluate, two equal models, n 500": (
        evaluated(500, "ab"),
        {"models": HARMLESS, "probabilities": {*HARMLESS, *BLAMED}},
    ),
    "evaluate, four equal models, n 500": (evaluated(500, "abcd"), {"models": HARMLESS}),
    "two equal models, n 500": (
        compared(500, "ab"),
        {"models": HARMLESS, "probabilities": HARMLESS, "decisions": HARMLESS},
    ),
    "four equal models, n 500": (
        compared(500, "abcd"),
        {"models": HARMLESS, "probabilities": HARMLESS, "decisions": HARMLESS},
    ),
    "two equal models, five groups, n 1,000": (compared(1000, "ab", 5), {"groups": HARMLESS}),
    "threshold, five equal groups, n 2,000": (
        promise,
        {"groups": {"kept", "not shown", "own cuts"}},
    ),
    "six equal groups, n 1,200": (groups(1200), {"groups": HARMLESS}),
    "evaluate, three classes, four equal groups, n 600": (class_groups, {"groups": HARMLESS}),
    "agree, five equal groups, n 400": (agree_groups, {"groups": HARMLESS}),
    "two judges, five equal groups, n 400": (
        judge_groups,
        {"groups": HARMLESS, "models": HARMLESS},
    ),
    "drift, three equal groups, n 500 and 500": (
        drift_groups,
        {"groups": {"none seen", "untested"}},
    ),
    "four classes, n 500": (
        classes,
        {"probabilities": HARMLESS, "repair": HARMLESS, "decisions": {"better than constant"}},
    ),
    "answers, n 300, five groups": (answers, {"probabilities": HARMLESS, "groups": HARMLESS}),
    "answers of blind confidence, n 300": (blind_answers, {"ranking": {"not told from chance"}}),
    "drift, n 400 and 400": (drift, {"change": {"none seen", "untested", "evidence"}}),
    "agree, four raters, n 100": (agree, {"raters": {"none stands out"}}),
    "judge like the humans, n 150": (judge, {"trust": {"yes", "cannot tell"}}),
    "inspect, n 400": (labels, {"labels": {"as expected", "unknown"}}),
    "smroc of chance, n 200": (chance, {"ranking": {"not told from chance", "unknown"}}),
    "calibrate, n 300": (calibrate, {"repair": {"not shown", "unknown"}}),
}


def counted(job: tuple[str, int]) -> list[list[str]]:
    name, runs = job
    draw, subjects = SETTINGS[name]
    made: dict[tuple[str, str], int] = {}
    blamed = dict.fromkeys(subjects, 0)
    for run in range(runs):
        rng = np.random.default_rng([run, len(name)])
        wrong = {
            (c.about, c.finding)
            for c in draw(rng)
            if c.finding not in subjects.get(c.about, {c.finding})
        }
        for key in wrong:
            made[key] = made.get(key, 0) + 1
        for about in {about for about, _ in wrong}:
            blamed[about] += 1
    return [
        [
            name,
            f"{runs:,}",
            about,
            f"{100 * many / runs:.1f}",
            ", ".join(
                f"{finding} {100 * k / runs:.1f}"
                for (a, finding), k in sorted(made.items())
                if a == about
            ),
        ]
        for about, many in blamed.items()
    ]


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 1000, "simulated data sets of each kind").parse_args(args)
    jobs = [(name, given.runs) for name in SETTINGS]
    lines = [x for found in in_order(counted, jobs, given.processes, "simulating") for x in found]
    low, high = (100 * x / given.runs for x in binom.ppf((0.025, 0.975), given.runs, 0.05))
    text = [
        "Data sets in which nothing is wrong: the share in percent whose verdict blames something all",
        f"the same, and what it says. Of {given.runs:,} sets, a true share of 5 is seen as {low:.1f} to "
        f"{high:.1f}.",
        "",
        table(["data", "sets", "claim about", "blamed", "which"], lines),
    ]
    write("\n".join(text) + "\n", given.out / "verdicts.md")
