"""How often do gates fail models that are no worse, and do planned rows suffice?

`make study NAME=gates` or `python -m studies gates [SPLITS]` writes docs/tables/gates.md and plan.md.
Gates: two models are equally good in the population (the noise on their log-odds is drawn alike), and are
scored on the same rows, or each on its own. Plans: as many rows as `plan` says are drawn, again
and again, and the half-widths or the outcomes are counted.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

import scorewise as sw
from studies._tools import in_order, options, table, wrapped, write

SIZES = (300, 1000, 3000)
MEASURES = ("auroc", "brier")
# what a gate is called, and the requirement on the difference to the baseline; > for AUROC, < for Brier
GATES = {
    "no worse, by the value": "{m}.delta.value {s} 0",
    "no worse, shown": "{m}.delta {s} 0",
    "not shown to be worse": "{m}.delta.{bad} {s} 0",
    "within a margin, by the value": "{m}.delta.value {s} {margin}",
    "within a margin, shown": "{m}.delta {s} {margin}",
}
MARGINS = {"auroc": -0.02, "brier": 0.005}
OUTCOMES = ("fail", "inconclusive", "pass")


def two_models(n: int, rng: np.random.Generator) -> tuple[Any, Any, Any]:
    """Labels, and the probabilities of two models that are equally good."""
    y = rng.random(n) < 0.3
    odds = 1.5 * (rng.normal(size=n) + 1.5 * y) - 2
    first, second = (1 / (1 + np.exp(-(odds + 0.7 * rng.normal(size=n)))) for _ in range(2))
    return y, first, second


def judged(job: tuple[int, int, int]) -> dict[str, list[int]]:
    """The outcomes of each gate on some splits."""
    n, start, runs = job
    found = {f"{m}: {name}": [0, 0, 0] for m in MEASURES for name in [*GATES, "on other rows"]}
    for run in range(start, start + runs):
        rng = np.random.default_rng([run, n])
        y, new, old = two_models(n, rng)
        other, _, before = two_models(n, rng)  # of the release before, on rows of its own
        for m in MEASURES:
            sign, bad = (">=", "high") if m == "auroc" else ("<=", "low")
            texts = [g.format(m=m, s=sign, bad=bad, margin=MARGINS[m]) for g in GATES.values()]
            gate = sw.gate(y, new, baseline=old, require=texts)
            for name, check in zip(GATES, gate.checks, strict=True):
                found[f"{m}: {name}"][OUTCOMES.index(check.outcome)] += 1
            limit = float(sw.evaluate(other, before)[m])
            point = sw.gate(y, new, require=f"{m}.value {sign} {limit}")
            found[f"{m}: on other rows"][OUTCOMES.index(point.outcome)] += 1
    return found


# Plans


class Planned(NamedTuple):
    """What is planned for, and what the rows are like."""

    goal: dict[str, Any]
    value: float
    prevalence: float
    correlation: float = 0.5
    name: str = "auroc"


PLANS = [
    Planned({"half_width": 0.05}, 0.75, 0.3),
    Planned({"half_width": 0.03}, 0.85, 0.1),
    Planned({"half_width": 0.02}, 0.92, 0.5),
    Planned({"half_width": 0.05}, 0.9, 0.1, name="recall"),
    Planned({"half_width": 0.03}, 0.8, 0.3, name="specificity"),
    Planned({"half_width": 0.02}, 0.85, 0.3, name="accuracy"),
    Planned({"half_width": 0.01}, 0.85, 0.2, name="brier"),
    Planned({"half_width": 0.03}, 0.85, 0.2, name="log_loss"),
    Planned({"half_width": 0.1}, 0.6, 0.5, name="cohen_kappa"),
    Planned({"difference": 0.03}, 0.85, 0.3, 0.7),
    Planned({"difference": 0.05}, 0.9, 0.3, 0.5, name="recall"),
    Planned({"require": "auroc >= 0.8"}, 0.85, 0.2),
    Planned({"require": "auroc.delta >= -0.02"}, 0.8, 0.3, 0.9),
]


def of_plan(s: Planned) -> Any:
    """The plan of a setting."""
    given: dict[str, Any] = {"prevalence": s.prevalence, "correlation": s.correlation, **s.goal}
    given |= {"auroc": s.value} if s.name in ("brier", "log_loss") else {"value": s.value}
    return sw.plan(**given, **({} if "require" in s.goal else {"measure": s.name}))


def binormal(n: int, s: Planned, rng: np.random.Generator, second: float) -> tuple[Any, Any, Any]:
    """Labels, and the calibrated probabilities of two models with these AUROCs."""
    y = rng.random(n) < s.prevalence
    e = rng.normal(size=(2, n))
    e[1] = s.correlation * e[0] + math.sqrt(1 - s.correlation**2) * e[1]
    made = []
    for noise, area in zip(e, (s.value, second), strict=True):
        d = math.sqrt(2) * float(ndtri(area))
        odds = math.log(s.prevalence / (1 - s.prevalence)) + d * (noise + d * y) - d * d / 2
        made.append(1 / (1 + np.exp(-odds)))
    return y, *made


def decided(n: int, s: Planned, rng: np.random.Generator, second: float) -> tuple[Any, Any, Any]:
    """Labels, and the decisions of two models that are right so often, as scores of 0.9 and 0.1."""
    y = rng.random(n) < s.prevalence
    both = s.value * second + s.correlation * math.sqrt(
        s.value * (1 - s.value) * second * (1 - second)
    )
    u = rng.random(n)
    right = u < s.value, (u < both) | ((u >= s.value) & (u < s.value + second - both))
    return y, *(np.where(r == y, 0.9, 0.1) for r in right)


def simulated(job: tuple[Planned, int, int]) -> list[float]:
    """Half-widths, or whether a difference was shown or a gate passed, one for each run."""
    s, rows, runs = job
    gap = s.goal.get("difference", 0.0)
    draw = binormal if s.name in ("auroc", "brier", "log_loss") else decided
    name = {"recall": "sensitivity"}.get(s.name, s.name)
    found = []
    for run in range(runs):
        rng = np.random.default_rng([run, 7])
        if s.name == "cohen_kappa":
            # raters who both know an item, or both guess
            first, second = rng.integers(0, 2, (2, rows))
            second = np.where(rng.random(rows) < s.value, first, second)
            e = sw.agree(first, second).cohen_kappa
            found.append((e.high - e.low) / 2)
            continue
        y, p, q = draw(rows, s, rng, s.value - gap)
        if "half_width" in s.goal:
            e = sw.evaluate(y, p)[name]
            found.append((e.high - e.low) / 2)
        elif "difference" in s.goal:
            e = sw.compare(y, {"a": p, "b": q}).difference(name)
            found.append(float(e.low > 0))
        else:
            gate = sw.gate(y, p, baseline=q, **s.goal)
            found.append(float(gate.outcome == "pass"))
    return [float(np.mean(found)), float(np.std(found) / math.sqrt(len(found)))]


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 1000, "splits").parse_args(args)
    step = max(1, given.runs // 10)
    jobs = [(n, at, min(step, given.runs - at)) for n in SIZES for at in range(0, given.runs, step)]
    found = in_order(judged, jobs, given.processes, "gates")
    lines = []
    for name in found[0]:
        row = [name]
        for n in SIZES:
            sums = np.sum([f[name] for f, job in zip(found, jobs, strict=True) if job[0] == n], 0)
            row += [f"{100 * x / sums.sum():.1f}" for x in sums]
        lines.append(row)
    head = ["gate", *(f"{n:,} rows: {x}" if x == "fail" else x for n in SIZES for x in OUTCOMES)]
    about = wrapped(
        f"Percent of {given.runs:,} splits on which two equally good models were held against each other. "
        "By the value: the sign of the difference decides. Shown: the whole paired interval has to keep "
        "it. On other rows: the value of the release before, on rows of its own, is the limit of the value."
    )
    write(f"{table(head, lines)}\n\n{about}\n", given.out / "gates.md")
    plans = [(s, of_plan(s).rows, max(2, given.runs // 2)) for s in PLANS]
    results = in_order(simulated, plans, given.processes, "plans")
    lines = []
    for (s, rows, _), (mean, error) in zip(plans, results, strict=True):
        goal, target = next(iter(s.goal.items()))
        wanted = target if goal == "half_width" else 0.8
        word = {"half_width": f"{s.name} ±{target}", "require": f"{target}"}
        lines.append([
            word.get(goal, f"{s.name} {target} apart"), f"{s.value:g}", f"{s.prevalence:g}", f"{rows:,}",
            f"{wanted:g}", f"{mean:.4f}", f"{error:.4f}", f"{100 * (mean / wanted - 1):+.1f}",
        ])  # fmt: skip
    head = ["goal", "value", "prevalence", "rows", "wanted", "found", "error", "off by %"]
    runs = max(2, given.runs // 2)
    about = wrapped(
        f"{runs:,} data sets of as many rows as were planned. Wanted is the half-width, or a power of 0.8; "
        "found is its mean, or how often the difference was shown or the gate passed; error is that of the "
        "simulation."
    )
    write(f"{table(head, lines)}\n\n{about}\n", given.out / "plan.md")
