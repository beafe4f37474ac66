"""How many rows a goal takes: an interval, a difference, a guarantee or a gate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from scipy.special import ndtr, ndtri
from scipy.stats import beta

from scorewise.checks import at_least, check, is_number, refuse_given, refused
from scorewise.columns import Kind, Missing
from scorewise.errors import BadInput, Option, Setting
from scorewise.estimate import Estimate
from scorewise.gating.requirements import Requirement, bonferroni_level, measure_of, parsed
from scorewise.inference.scales import normal_quantile, smallest
from scorewise.planning.document import (
    NeedRecord,
    PlanDocument,
    PointRecord,
    SettingsRecord,
    sentence,
)
from scorewise.planning.populations import Pilot, Population, Supposed
from scorewise.registry import unknown
from scorewise.show.records import record_of
from scorewise.show.result import Pictures, Result
from scorewise.show.verdict import next_command
from scorewise.show.words import in_text
from scorewise.thresholds.goals import Constraint, parse_constraints

MAX_ROWS = 10**12
TIMES = (0.25, 0.5, 1, 2, 4)
ANY = "for any guarantee"
NEAR = (0.05, 0.02)  # how far the share of a guaranteed cut may lie beyond what it promises


class Plan(Result):
    """How many rows it takes: `p.rows`, of which `p.positives` are positive; prints as a table."""

    def __init__(self, doc: PlanDocument, notes: tuple[str, ...] = ()) -> None:
        self._doc, self.notes = doc, notes

    @property
    def rows(self) -> int:
        """Rows (items of raters, positives of a guarantee of recall) that all goals take together."""
        return max(n.rows for n in self._needs)

    @property
    def positives(self) -> int | None:
        """How many of them are positive; None where it is not known."""
        return max(self._needs, key=lambda n: n.rows).positives

    @property
    def _needs(self) -> list[NeedRecord]:
        """Those that have to be met; of a guarantee, that there is one at all."""
        needs = self._doc.needs
        return [n for n in needs if n.goal != "guarantee" or n.text.startswith(ANY)]

    @property
    def detectable(self) -> float:
        """The difference that the rows at hand show; NaN where none was asked for."""
        found = self._doc.needs[0].reach
        return math.nan if found is None else found

    def document(self) -> PlanDocument:
        """What is written and shown; `scorewise schema plan` prints its schema."""
        return self._doc

    def pictures(self) -> Any:
        """Half-width or detectable difference of fewer and more rows."""
        from scorewise.displays import ForestDisplay

        if not self._doc.points:
            raise BadInput("there are no pictures of several goals, or of a guarantee")
        unit, s, bars = self._doc.needs[0].unit, self._doc.settings, {}
        for x in self._doc.points:
            reach = x.reach or 0.0
            level = bonferroni_level(s.level, s.looks)
            bars[f"{x.rows:,} {unit}"] = Estimate(0.0, -reach, reach, level)
        differences = self._doc.points[0].half_width is None
        what = "difference that goes unseen" if differences else "half-width"
        return Pictures({"rows": ForestDisplay(bars, what=what).plot}, ("rows",))


@dataclass(frozen=True)
class Goal:
    """What a plan is for, checked."""

    measure: str | None
    half_width: float | None
    difference: float | None
    constraints: list[Constraint]
    requirements: list[Requirement]
    rows: int | None
    delta: float
    power: float
    level: float
    looks: int

    @property
    def adjusted(self) -> float:
        """The level of one look."""
        return bonferroni_level(self.level, self.looks)

    @property
    def powered(self) -> float:
        """The level whose interval ends where the interval at the level asked for still does, so often."""
        return float(2 * ndtr(normal_quantile(self.adjusted) + ndtri(self.power)) - 1)


def plan(
    source: Any = None, p: Any = None, *, half_width: float | None = None,
    difference: float | None = None, at: str | Sequence[str] | None = None,
    require: str | Sequence[str] | None = None, rows: int | None = None, measure: str | None = None,
    value: float | None = None, delta: float = 0.0, auroc: float | None = None,
    prevalence: float | None = None, correlation: float | None = None, power: float = 0.8,
    level: float = 0.95, looks: int = 1, label: str | None = None,
    score: str | Sequence[str] | None = None, positive: Any = None, cluster: Any = None,
    raters: Sequence[str] = (), threshold: float = 0.5, kind: Kind | None = None,
    missing: Missing = "refuse", encoding: str | None = None,
) -> Plan:  # fmt: skip
    """How many rows a goal takes, from a pilot or from what is supposed.

    The goal is one of: an interval of `measure` no wider than plus or minus `half_width`; a `difference`
    between two models on the same rows that is shown with `power`; a guarantee, `at` "recall >= 0.9", of a
    cut chosen by `threshold`; or a gate, `require` "auroc >= 0.8" or "auroc.delta >= -0.01", that passes
    with `power`. `rows` asks the other way: which difference do so many rows show? With a pilot of
    two models and no goal, that is told of its own rows.

    Without a pilot, `value` is what the measure is expected to be, `delta` what the difference of a gate
    on one is (else 0), `prevalence` the share of positives (else 0.5), and `correlation` that of two
    models' scores within a class, or of their decisions (else 0.5). Of measures of probabilities, `auroc`
    is that of calibrated scores. With a pilot, `source` and `p` are as in `evaluate`; two columns of scores
    tell what differences vary. `raters` are columns of raters whose agreement `measure` tells; without a
    pilot, measure="cohen_kappa" is planned by `items_needed`.

    >>> plan(half_width=0.02, value=0.85, prevalence=0.1).rows
    3792
    >>> plan(half_width=0.05, measure="recall", value=0.9, prevalence=0.1).rows
    1410
    >>> plan(at="recall >= 0.95", prevalence=0.02).positives
    59
    """
    goals = {"half_width": half_width, "difference": difference, "at": at, "require": require}
    _check_goal({**goals, "rows": rows}, power, level, looks, source is not None)
    goal = Goal(
        measure, half_width, difference, parse_constraints(at), parsed(require or []), rows, delta, power,
        level, looks,
    )  # fmt: skip
    if delta and not any(r.delta for r in goal.requirements):
        raise BadInput(
            Option("delta"), " is what a gate on a difference is expected to find; pass ",
            Option("require", "auroc.delta >= -0.01"), " with it, or leave it out",
        )  # fmt: skip
    check(prevalence=prevalence, threshold=threshold)
    for name, share in (("value", value), ("auroc", auroc), ("correlation", correlation)):
        low = {"auroc": 0.5, "correlation": -1.0}.get(name, 0.0)
        if share is not None and not (is_number(share) and low < share < 1):
            raise refused(name, f"lie between {low:g} and 1", share)
    if source is None:
        refuse_given(
            " belongs to a pilot; name its file, or leave it out",
            label=label, score=score, cluster=cluster, positive=positive,
        )  # fmt: skip
        supposed = Supposed(value, prevalence, correlation, auroc)
        return Plan(Planner(supposed, goal).document())
    refuse_given(
        " is supposed without a pilot; leave it out beside one",
        value=value, prevalence=prevalence, correlation=correlation, auroc=auroc,
    )  # fmt: skip
    columns = {"label": label, "positive": positive, "cluster": cluster, "kind": kind}
    columns |= {"missing": missing, "encoding": encoding, "threshold": threshold}
    pilot = Pilot.of(source, p, score, raters, columns)
    if not any((half_width, difference, goal.constraints, goal.requirements, rows)):
        goal = replace(goal, rows=pilot.rows)
    return Plan(Planner(pilot, goal).document(), pilot.notes)


def _check_goal(goals: dict[str, Any], power: float, level: float, looks: int, pilot: bool) -> None:
    """Refuse goals that mean nothing, none, and several at a time."""
    check(level=level, power=power)
    at_least(1, 20, looks=looks)
    for name in ("half_width", "difference"):
        size = goals[name]
        if size is not None and not (is_number(size) and 0 < size < math.inf):
            raise refused(name, "be a positive number, such as 0.02", size)
    if goals["rows"] is not None:
        at_least(2, 1000, rows=goals["rows"])
    named = [name for name, goal in goals.items() if goal is not None]
    if len(named) != 1 and (named or not pilot):
        both = [part for name in named for part in (" and ", Setting(name))][1:] or ["none"]
        raise BadInput(
            "a plan has one goal, but ", *both, f" {'are' if named else 'is'} given; pass one of ",
            Option("half_width", 0.02), ", ", Option("difference", 0.02), ", ",
            Option("at", "recall >= 0.9"), ", ", Option("require", "auroc >= 0.8"), " or ",
            Option("rows", 1000),
        )  # fmt: skip


@dataclass(frozen=True)
class Planner:
    """The rows that a goal takes of a population."""

    population: Population
    goal: Goal

    def document(self) -> PlanDocument:
        """The document of the plan."""
        goal, population = self.goal, self.population
        supposed, points = [*population.supposed], []
        of_two = goal.difference is not None or goal.rows is not None
        if of_two or any(r.delta for r in goal.requirements):
            supposed += population.supposed_of_two
        needs = list(self.needs())
        at_all = (n for n in needs if not goal.constraints or n.text.startswith(ANY))
        claims = [sentence(n, supposed) for n in at_all]
        if len(needs) == 1 and not goal.constraints:
            points = list(self.points(needs[0]))
        elif not goal.constraints:
            most = max(n.rows for n in needs)
            claims.insert(0, replace(claims[0], sentence=f"It takes {most:,} rows for all goals."))
        if goal.requirements:
            options = [("require", r.text) for r in goal.requirements]
            if any(r.delta and not r.baseline for r in goal.requirements):
                options.append(("baseline", "OLD_FILE"))
            claims.append(next_command("gate", ["FILE"], [*population.columns, *options]))
        settings = record_of(SettingsRecord, goal, supposed=supposed)
        return PlanDocument(settings=settings, verdict=claims, needs=needs, points=points, hints=[])

    def needs(self) -> Iterator[NeedRecord]:
        """The rows of each goal."""
        goal = self.goal
        for c in goal.constraints:
            yield from self.for_guarantee(c)
        for r in goal.requirements:
            yield self.for_gate(r)
        if goal.constraints or goal.requirements:
            return
        known = self.population.register
        name = next((n for n in ("auroc", "accuracy", "fleiss_kappa") if n in known), "")
        if goal.measure is not None:
            meant = measure_of(goal.measure.lower(), known)
            if meant is None:
                raise BadInput(unknown(goal.measure, known))
            name = meant[0]
        m, cases = known[name], f"in {100 * goal.power:g}% of cases"
        if goal.half_width is not None:
            wide, (lowest, highest) = goal.half_width, m.bounds
            if wide >= (highest - lowest) / 2:
                raise BadInput(
                    f"{m.title} lies between {lowest:g} and {highest:g}, and any interval is narrower than "
                    f"±{wide:g}; pass ", Option("half_width", 0.02),
                )  # fmt: skip
            rows = least(lambda n: self.half_width(name, n) <= wide, name)
            e = self.population.estimate(name, rows, goal.adjusted)
            text = f"to estimate {in_text(m.title)} to within ±{wide:g}"
            yield self.need("half-width", text, name, rows, e.value, (e.high - e.low) / 2)
        elif goal.difference is not None:
            d = goal.difference
            rows = least(lambda n: self.difference(name, n, d).low >= 0, name)
            text = f"to show a difference of {d:g} in {m.title}, {cases}"
            yield self.need("difference", text, name, rows, d, d)
        elif goal.rows is not None:
            e = self.difference(name, goal.rows)
            d = (e.high - e.low) / 2
            text = f"show a difference of {d:.3g} or more in {m.title}, {cases}"
            yield self.need("rows at hand", text, name, goal.rows, None, d)

    def need(
        self, goal: Any, text: str, name: str, rows: int, value: Any, reach: Any
    ) -> NeedRecord:
        """The record of a goal; of raters, items are counted."""
        raters = name == "cohen_kappa" or "fleiss_kappa" in self.population.register
        positives = None if raters else self.positives(rows)
        return NeedRecord(
            goal=goal, text=text, measure=name, unit="items" if raters else "rows", rows=rows,
            positives=positives, value=value, reach=reach,
        )  # fmt: skip

    def positives(self, rows: int) -> int | None:
        """How many of so many rows are positive; None where that is not known."""
        up = self.population.prevalence
        return None if math.isnan(up) else round(rows * up)

    def half_width(self, name: str, rows: float) -> float:
        """Half the width of the interval of so many rows."""
        e = self.population.estimate(name, rows, self.goal.adjusted)
        if not e.defined or not e.high >= e.low:
            raise BadInput(
                f"{name} has no interval to plan for ({e.why or e.method}); plan without a pilot, by ",
                Option("value", 0.85),
            )
        return (e.high - e.low) / 2

    def difference(self, name: str, rows: float, value: float = 0.0) -> Estimate:
        """The difference of two models with the interval that is to end at 0 as often as asked for."""
        return self.population.difference(name, rows, self.goal.powered, value)

    def for_gate(self, r: Requirement) -> NeedRecord:
        """The rows with which a gate passes, as often as asked for."""
        goal, population = self.goal, self.population
        name, other = r.measure(population.register)
        r.check_limit(population.register[name])
        if r.by:
            raise BadInput(f"'{r.text}' is planned for one group at a time; leave out every ...")
        if r.lenient or r.end == "value" or other:
            how = (
                "its complement" if other else f"{r.word}{'.delta' * r.delta} {r.sign} {r.limit:g}"
            )
            raise BadInput(f"'{r.text}' cannot be planned for; plan for {how}")

        def passes(n: float) -> bool:
            if r.delta:
                e = self.difference(name, n, goal.delta)
            else:
                e = population.estimate(name, n, goal.powered)
            return r.holds(r.ends(e)[0])

        expected = goal.delta if r.delta else population.estimate(name, 1000, goal.adjusted).value
        if not r.holds(expected) or math.isclose(expected, r.limit):
            raise BadInput(
                f"'{r.text}' cannot be planned for: {name}{'.delta' * r.delta} is expected to be "
                f"{expected:.4g}, so that no number of rows passes the gate; ask for less"
            )
        text = f"for the gate '{r.text}' to pass in {100 * goal.power:g}% of cases"
        return self.need("gate", text, name, least(passes, name), expected, None)

    def for_guarantee(self, c: Constraint) -> Iterator[NeedRecord]:
        """The rows of a guarantee at all, and of one whose cut lies near what it promises."""
        if c.why_not_guaranteed:
            raise BadInput(c.why_not_guaranteed)
        needed = c.rows_needed(self.goal.adjusted)
        if needed is None:
            raise BadInput(f"no number of rows guarantees {c.text}; promise less")
        up = self.population.prevalence
        share = {"positives": up, "negatives": 1 - up}.get(c.unit, 1.0)
        if not share:
            raise BadInput(f"the pilot has no {c.unit}, which {c.text} is about; add some")
        unit = "rows" if c.unit in ("positives", "negatives", "rows") else c.unit
        goals = [(needed, f"{ANY} of {c.text}")]
        for near in NEAR:
            if c.least_share + near < 1:
                rows = _rows_near(c.least_share, near, self.goal.adjusted)
                goals.append((rows, f"for a guarantee of {c.text} by a cut within {near:g} of it"))
        for rows, text in goals:
            total = math.ceil(rows / share) if unit == "rows" else rows
            positives = self.positives(total) if unit == "rows" else None
            yield NeedRecord(
                goal="guarantee", text=text, measure=c.measure, unit=unit, rows=total,
                positives=rows if c.unit == "positives" else positives, value=c.limit, reach=None,
            )  # fmt: skip

    def points(self, need: NeedRecord) -> Iterator[PointRecord]:
        """What fewer and more rows would give."""
        one = need.goal == "gate" and not self.goal.requirements[0].delta
        value = (need.value or 0.0) if need.goal == "difference" else 0.0
        for times in TIMES:
            rows = max(2, round(need.rows * times))
            half = detectable = None
            if one or need.goal == "half-width":
                half = self.half_width(need.measure, rows)
            else:
                e = self.difference(need.measure, rows, value)
                detectable = (e.high - e.low) / 2
            yield PointRecord(rows=rows, half_width=half, detectable=detectable)


def _rows_near(share: float, near: float, confidence: float) -> int:
    """The fewest rows whose guaranteed cut has a share of at most so much more than it promises.

    Of m rows, k may be on the wrong side where the quantile of Beta(m - k, k + 1) still reaches the share.
    """

    def enough(m: float) -> bool:
        n = int(m)
        k = math.ceil(n * (1 - share - near))  # wrong ones that the share allows
        return n > k and float(beta.ppf(1 - confidence, n - k, k + 1)) >= share

    return least(enough, "guarantee")


def least(holds: Callable[[float], bool], name: str) -> int:
    """The fewest rows from which on a condition holds, within 0.1 %.

    >>> least(lambda n: n >= 35, "x"), least(lambda n: n >= 123456, "x")
    (35, 123456)
    """
    rows = smallest(holds, 16, MAX_ROWS, least=2, rough=True)
    if rows is None:
        raise BadInput(
            f"the goal for {name} would take more than {MAX_ROWS:.0e} rows; ask for less"
        )
    return rows
