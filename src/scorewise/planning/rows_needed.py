"""How many rows a goal takes: an interval, a difference, a guarantee or a gate."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from scipy.special import ndtr, ndtri
from scipy.stats import beta

from scorewise.agreeing import agree
from scorewise.checks import at_least, check, is_number, refused
from scorewise.columns import Kind, Missing
from scorewise.columns.classes import is_source
from scorewise.errors import BadInput, Option, Setting
from scorewise.estimate import Estimate
from scorewise.evaluation import compare, evaluate
from scorewise.gating.requirements import Requirement, measure_of, parsed
from scorewise.inference.scales import fewest, z
from scorewise.planning.document import (
    NeedRecord,
    PlanDocument,
    PointRecord,
    SettingsRecord,
    sentence,
)
from scorewise.planning.populations import Pilot, Population, Supposed, positives
from scorewise.registry import unknown
from scorewise.show.shown import Shown
from scorewise.show.verdict import command
from scorewise.show.words import within
from scorewise.tallies.merging import is_saved, saved, unread
from scorewise.thresholds.constraints import Constraint, constraints

MOST = 10**12
TIMES = (0.25, 0.5, 1, 2, 4)
ANY = "for any guarantee"
NEAR = (0.05, 0.02)  # how far the share of a guaranteed cut may lie beyond what it promises


class Plan(Shown):
    """How many rows it takes: `p.rows`, of which `p.positives` are positive; prints as a table."""

    def __init__(self, doc: PlanDocument, population: Population | None, asked: Asked) -> None:
        self._doc, self._population, self._asked = doc, population, asked
        self.notes: tuple[str, ...] = population.notes if isinstance(population, Pilot) else ()

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
        from scorewise.displays.overview import Pictures

        if not self._doc.points:
            raise BadInput("there are no pictures of several goals, or of a guarantee")
        unit, bars = self._doc.needs[0].unit, {}
        for x in self._doc.points:
            reach = x.half_width if x.half_width is not None else x.detectable or 0.0
            bars[f"{x.rows:,} {unit}"] = Estimate(0.0, -reach, reach, self._asked.adjusted)
        wide = self._doc.points[0].half_width is not None
        what = "half-width" if wide else "difference that goes unseen"
        return Pictures({"rows": ForestDisplay(bars, what=what).plot}, ("rows",))


@dataclass(frozen=True)
class Asked:
    """What a plan is for, checked."""

    measure: str | None
    half_width: float | None
    difference: float | None
    at: list[Constraint]
    require: list[Requirement]
    rows: int | None
    delta: float
    power: float
    level: float
    looks: int

    @property
    def adjusted(self) -> float:
        """The level of one look."""
        return 1 - (1 - self.level) / self.looks

    @property
    def powered(self) -> float:
        """The level whose interval ends where the interval at the level asked for still does, so often."""
        return float(2 * ndtr(z(self.adjusted) + ndtri(self.power)) - 1)


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
    asked = Asked(
        measure, half_width, difference, constraints(at), parsed(require or []), rows, delta, power,
        level, looks,
    )  # fmt: skip
    if delta and not any(r.delta for r in asked.require):
        raise BadInput(
            Option("delta"), " is what a gate on a difference is expected to find; pass ",
            Option("require", "auroc.delta >= -0.01"), " with it, or leave it out",
        )  # fmt: skip
    check(prevalence=prevalence, threshold=threshold)
    given: dict[str, Any]
    for name, share in (("value", value), ("auroc", auroc), ("correlation", correlation)):
        low = {"auroc": 0.5, "correlation": -1.0}.get(name, 0.0)
        if share is not None and not (is_number(share) and low < share < 1):
            raise refused(name, f"lie between {low:g} and 1", share)
    if source is None:
        given = {"label": label, "score": score, "cluster": cluster, "positive": positive}
        if extra := next((n for n, v in given.items() if v is not None), ""):
            raise BadInput(Option(extra), " belongs to a pilot; name its file, or leave it out")
        population: Population = Supposed(
            value, 0.5 if prevalence is None else prevalence,
            0.5 if correlation is None else correlation, auroc,
        )  # fmt: skip
    else:
        given = {
            "value": value,
            "prevalence": prevalence,
            "correlation": correlation,
            "auroc": auroc,
        }
        if extra := next((n for n, v in given.items() if v is not None), ""):
            raise BadInput(Option(extra), " is supposed without a pilot; leave it out beside one")
        columns = {"label": label, "positive": positive, "cluster": cluster, "kind": kind}
        columns |= {"missing": missing, "encoding": encoding, "threshold": threshold}
        population = pilot = _pilot(source, p, score, raters, columns)
        if not any((half_width, difference, asked.at, asked.require, rows)):
            asked = replace(asked, rows=pilot.rows)
    return Plan(_document(population, asked), population, asked)


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


def _pilot(source: Any, p: Any, score: Any, raters: Any, columns: dict[str, Any]) -> Pilot:
    """The pilot, evaluated at any level that is asked for, each once."""
    if p is None and not is_source(source):
        raise BadInput("scores are missing; call plan(y, p, ...) or name a file")
    if raters:
        at = columns["encoding"]
        return Pilot(cache(lambda level: agree(source, raters=raters, level=level, encoding=at)))
    several = score is not None and not isinstance(score, str) and len(score) > 1
    models = len(p) if isinstance(p, dict) else len(score) if several else 1
    if models > 2:
        raise BadInput(
            f"{models} score columns are named, but a plan is for one model, or for the difference of two"
        )
    if p is not None:
        columns = {n: v for n, v in columns.items() if n not in ("label", "encoding")}
        if isinstance(p, dict):
            first = next(iter(p.values()))
            return Pilot(
                cache(lambda level: evaluate(source, first, level=level, **columns)),
                cache(lambda level: compare(source, p, level=level, **columns)),
            )
        return Pilot(cache(lambda level: evaluate(source, p, level=level, **columns)))
    first = score[0] if several else score
    one = cache(lambda level: evaluate(source, score=first, level=level, **columns))
    two = cache(lambda level: compare(source, score=score, level=level, **columns))
    made = one(0.95)
    if not hasattr(made, "tally"):
        if is_saved(source):
            raise unread(saved(source), "one score is")
        raise BadInput(
            "the pilot has several columns of scores; name one or two, ", Option("score")
        )
    return Pilot(one, two if several else None)


def _named(word: str | None, population: Population) -> str:
    """The name of the measure that is meant."""
    if word is None:
        known = population.register()
        return (
            "auroc" if "auroc" in known else "accuracy" if "accuracy" in known else "fleiss_kappa"
        )
    known = population.register()
    if found := measure_of(word.lower(), known):
        return found[0]
    raise BadInput(unknown(word, known))


def _document(population: Population, asked: Asked) -> PlanDocument:
    supposed, points = population.supposed, []
    compared = asked.difference is not None or asked.rows is not None
    if compared or any(r.delta for r in asked.require):
        supposed += population.shared
    if asked.at:
        needs = [n for c in asked.at for n in _guaranteed(c, population, asked)]
        any_ = [n for n in needs if n.text.startswith(ANY)]
        claims = [sentence(n, supposed) for n in any_]
    else:
        needs = list(_needs(population, asked))
        points = list(_points(population, asked, needs[0])) if len(needs) == 1 else []
        claims = [sentence(n, supposed) for n in needs]
    if len(claims) > 1 and not asked.at:
        most = max(n.rows for n in needs)
        claims.insert(0, replace(claims[0], sentence=f"It takes {most:,} rows for all goals."))
    if asked.require:
        told = [("require", r.text) for r in asked.require]
        if any(r.delta and not r.baseline for r in asked.require):
            told.append(("baseline", "OLD_FILE"))
        if isinstance(population, Pilot):
            told = [*population.columns, *told]
        claims.append(command("gate", ["FILE"], told))
    return PlanDocument(
        settings=SettingsRecord(
            level=asked.level, power=asked.power, looks=asked.looks, supposed=supposed
        ),
        verdict=claims,
        needs=needs,
        points=points,
        hints=[],
    )


def _unit(population: Population, name: str) -> str:
    raters = name == "cohen_kappa" or "fleiss_kappa" in population.register()
    return "items" if raters else "rows"


def _needs(population: Population, asked: Asked) -> Iterator[NeedRecord]:
    """The rows of each goal."""
    if asked.require:
        yield from (_for_gate(population, asked, r) for r in asked.require)
        return
    name = _named(asked.measure, population)
    m = population.register()[name]
    unit = _unit(population, name)
    percent = f"{100 * asked.power:g}%"
    if asked.half_width is not None:
        wide, (lowest, highest) = asked.half_width, m.bounds
        if wide >= (highest - lowest) / 2:
            raise BadInput(
                f"{m.title} lies between {lowest:g} and {highest:g}, and any interval is narrower than "
                f"±{wide:g}; pass ", Option("half_width", 0.02),
            )  # fmt: skip
        many = least(lambda n: _half(population, name, n, asked.adjusted) <= wide, name)
        e = population.estimate(name, many, asked.adjusted)
        text = f"to estimate {within(m.title)} to within ±{wide:g}"
        yield _need("half-width", text, name, unit, many, population, e.value, (e.high - e.low) / 2)
    elif asked.difference is not None:
        d = asked.difference
        many = least(lambda n: population.difference(name, n, asked.powered, d).low >= 0, name)
        text = f"to show a difference of {d:g} in {m.title}, in {percent} of cases"
        yield _need("difference", text, name, unit, many, population, d, d)
    else:
        assert asked.rows is not None
        e = population.difference(name, asked.rows, asked.powered, 0.0)
        d = (e.high - e.low) / 2
        text = f"show a difference of {d:.3g} or more in {m.title}, in {percent} of cases"
        yield _need("rows at hand", text, name, unit, asked.rows, population, None, d)


def _need(
    goal: Any, text: str, name: str, unit: str, rows: int, population: Population, value: Any,
    reach: Any,
) -> NeedRecord:  # fmt: skip
    up = positives(population, rows) if unit == "rows" else None
    return NeedRecord(
        goal=goal, text=text, measure=name, unit=unit, rows=rows, positives=up, value=value,
        reach=reach,
    )  # fmt: skip


def _half(population: Population, name: str, rows: float, level: float) -> float:
    e = population.estimate(name, rows, level)
    if not e.defined or not e.high >= e.low:
        raise BadInput(
            f"{name} has no interval to plan for ({e.why or e.method}); plan without a pilot, by ",
            Option("value", 0.85),
        )
    return (e.high - e.low) / 2


def _for_gate(population: Population, asked: Asked, r: Requirement) -> NeedRecord:
    """The rows with which a gate passes, as often as asked for."""
    name, other = r.measure(population.register())
    r.check_limit(population.register()[name])
    if r.by:
        raise BadInput(f"'{r.text}' is planned for one group at a time; leave out every ...")
    if r.lenient or r.end == "value" or other:
        how = "its complement" if other else f"{r.word}{'.delta' * r.delta} {r.sign} {r.limit:g}"
        raise BadInput(f"'{r.text}' cannot be planned for; plan for {how}")

    def passes(n: float) -> bool:
        if r.delta:
            e = population.difference(name, n, asked.powered, asked.delta)
        else:
            e = population.estimate(name, n, asked.powered)
        return r.holds(e.low if r.upward else e.high)

    found = asked.delta if r.delta else population.estimate(name, 1000, asked.adjusted).value
    if not r.holds(found) or math.isclose(found, r.limit):
        raise BadInput(
            f"'{r.text}' cannot be planned for: {name}{'.delta' * r.delta} is expected to be {found:.4g}, "
            "so that no number of rows passes the gate; ask for less"
        )
    many = least(passes, name)
    text = f"for the gate '{r.text}' to pass in {100 * asked.power:g}% of cases"
    return _need("gate", text, name, _unit(population, name), many, population, found, None)


def _guaranteed(c: Constraint, population: Population, asked: Asked) -> Iterator[NeedRecord]:
    """The rows of a guarantee at all, and of one whose cut lies near what it promises."""
    if c.why_not_guaranteed:
        raise BadInput(c.why_not_guaranteed)
    fewest = c.rows_needed(asked.adjusted)
    if fewest is None:
        raise BadInput(f"no number of rows guarantees {c.text}; promise less")
    share = c.value if c.sign == ">=" else 1 - c.value
    of = {"positives": population.positive, "negatives": 1 - population.positive}.get(c.rows, 1.0)
    unit = "rows" if c.rows in ("positives", "negatives", "rows") else c.rows
    goals = [(fewest, f"{ANY} of {c.text}")]
    goals += [
        (
            _near_guarantee(share, near, asked.adjusted),
            f"for a guarantee of {c.text} by a cut within {near:g} of it",
        )
        for near in NEAR
        if share + near < 1
    ]
    for many, text in goals:
        total = math.ceil(many / of) if unit == "rows" else many
        up = many if c.rows == "positives" else None
        if up is None and unit == "rows":
            up = positives(population, total)
        yield NeedRecord(
            goal="guarantee", text=text, measure=c.measure,
            unit=unit, rows=total, positives=up, value=c.value, reach=None,
        )  # fmt: skip


def _near_guarantee(share: float, near: float, confidence: float) -> int:
    """The fewest rows whose guaranteed cut has a share of at most so much more than it promises.

    Of m rows, k may be on the wrong side where the quantile of Beta(m - k, k + 1) still reaches the share.
    """

    def fine(m: float) -> bool:
        n = int(m)
        k = math.ceil(n * (1 - share - near))  # wrong ones that the share allows
        return n > k and float(beta.ppf(1 - confidence, n - k, k + 1)) >= share

    return least(fine, "guarantee")


def _points(population: Population, asked: Asked, need: NeedRecord) -> Iterator[PointRecord]:
    """What fewer and more rows would give."""
    for times in TIMES:
        rows = max(2, round(need.rows * times))
        half = detectable = None
        one = need.goal == "gate" and not asked.require[0].delta
        if one or need.goal == "half-width":
            half = _half(population, need.measure, rows, asked.adjusted)
        else:
            value = (need.value or 0.0) if need.goal == "difference" else 0.0
            e = population.difference(need.measure, rows, asked.powered, value)
            detectable = (e.high - e.low) / 2
        yield PointRecord(rows=rows, half_width=half, detectable=detectable)


def least(holds: Callable[[float], bool], name: str) -> int:
    """The fewest rows from which on a condition holds, within 0.1 %.

    >>> least(lambda n: n >= 35, "x"), least(lambda n: n >= 123456, "x")
    (35, 123456)
    """
    found = fewest(holds, 16, MOST, least=2, rough=True)
    if found is None:
        raise BadInput(f"the goal for {name} would take more than {MOST:.0e} rows; ask for less")
    return found
