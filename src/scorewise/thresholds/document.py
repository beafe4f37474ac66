"""What `threshold` writes, shows and reads back: the rule, its operating points, and how sure they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import numpy as np

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.arrays import Floats
from scorewise.columns import Kind
from scorewise.errors import BadInput, plain
from scorewise.grammar import COMPLEMENTS
from scorewise.inference.scales import normal_quantile
from scorewise.inference.shares import wilson_limits
from scorewise.registry import MEASURES
from scorewise.show.data import Cells, CutRecord, DataRecord, GroupOfRows, SeenRecord
from scorewise.show.document import JudgedDocument, from_dict
from scorewise.show.page import Column, Heads, Section, Table, section, undefined
from scorewise.show.records import EstimateField, Level, Number, Record, Share, Word, doc, field
from scorewise.show.words import count, formatted, percent
from scorewise.thresholds.cuts import CutTable
from scorewise.thresholds.goals import SHARES, Best, Constraint, parse_constraints
from scorewise.writing import read_sealed, seal

CELLS = ("tp", "fp", "fn", "tn")
MAX_POINTS = 101  # of all cuts
LowerEnds: TypeAlias = Annotated[list[Number], doc("Lower ends of their intervals (Wilson).")]
UpperEnds: TypeAlias = Annotated[list[Number], doc("Upper ends.")]
NoGuarantee: TypeAlias = Annotated[str, doc("Why there is no guarantee; empty when there is one.")]
Promise: TypeAlias = Literal["kept", "broken", "open", "not asked"]
TITLES = {n: MEASURES[n].title for n in ("sensitivity", "specificity", "precision", "npv")}
TITLES["alert_rate"] = "Alert rate"
PROMISE = "kept, broken: shown in the group by itself, with the confidence of the guarantee; open: neither."


class SettingsRecord(Record):
    """What was asked for."""

    at: list[Word] = field("The constraints, such as recall >= 0.9.")
    best: Best | None = field("What was to be largest; null where constraints say enough.")
    cost: Number = field("False alarms that a missed positive costs as much as.")
    review: Number = field("What a review by hand costs, in false alarms.")
    prevalence: Share | None = field("Prevalence to decide for; null: that of the rows.")
    guarantee: Level | None = field("Confidence of the guarantee; null: none asked for.")
    cluster: bool = field("Whether rows come in clusters.")
    level: Level


class RuleRecord(SeenRecord):
    """The rule that is applied: a row is an alert when its score >= threshold."""

    threshold: float
    kind: Kind
    score: str
    guaranteed: bool = field("Whether the promise holds beyond the rows, with confidence.")
    promise: str = field("What the cut keeps; empty where it is the best of something.")
    why: NoGuarantee


class RangeRecord(Record):
    """Cuts from one to another."""

    low: float = field("The lowest.")
    high: float = field("The highest.")
    meaning: Word = field("What these cuts have in common.")


class FoundCut(Record):
    """A cut, and how it was found."""

    name: Literal["guaranteed", "plain"] = field("Which cut it is.")
    cut: CutRecord = field("The cut, and all that decide alike on these rows.")
    method: Word = field("How it was found.")
    near: RangeRecord | None = field(
        "Cuts that the data do not tell from it; null where not known."
    )


class CutPoint(Cells, FoundCut):
    """A cut and what it does on these rows."""

    sensitivity: EstimateField
    specificity: EstimateField
    precision: EstimateField
    npv: EstimateField
    alert_rate: EstimateField


class GroupCuts(GroupOfRows):
    """The common cut in one group, and the cut that the group would have by itself."""

    common: CutPoint | None = field("The common cut on these rows; null: one class only.")
    promise: Promise = field(
        "Whether the common cut keeps the constraints in the group, with confidence."
    )
    own: CutPoint | None = field("The group's own cut, guaranteed where that is shown.")
    why: NoGuarantee


class ElsewhereRecord(Record):
    """What alerts are worth where positives are rarer or more frequent than in these rows."""

    prevalence: Share = field("The share of positives there.")
    ppv: EstimateField = field("Share of alerts that are right there (PPV).")
    npv: EstimateField
    alert_rate: float


class RejectRecord(Record):
    """Two cuts: alert from the higher on, clear below the lower, review between them."""

    low: float = field("Below this, rows are cleared.")
    high: float = field("From this on, rows are alerts.")
    reviewed: Share = field("Share of rows that are reviewed.")
    cost: float = field("Cost of a row, in false alarms.", ge=0)
    alone: float = field("The same with the best single cut and no review.", ge=0)


class PointsRecord(Record):
    """Operating points of all cuts, from the highest down, thinned out where there are many."""

    cuts: int = field("Distinct cuts in the data.", ge=1)
    error: Share = field(
        "The most by which sensitivity or specificity of a cut left out differs from a kept one."
    )
    threshold: list[float] = field("The cuts.")
    alert_rate: list[Number]
    sensitivity: list[Number]
    sensitivity_low: LowerEnds
    sensitivity_high: UpperEnds
    specificity: list[Number]
    specificity_low: LowerEnds
    specificity_high: UpperEnds
    precision: list[Number]
    precision_low: LowerEnds
    precision_high: UpperEnds
    npv: list[Number]
    npv_low: LowerEnds
    npv_high: UpperEnds

    @classmethod
    def of(cls, table: CutTable, rows: Floats, level: float) -> PointsRecord:
        """The points of a table, thinned; `rows` as in `points`."""
        kept = table.thinned(MAX_POINTS)
        # a cut left out lies between two that are kept, and so do its rates
        gaps = [np.abs(np.diff(rate[kept])) for rate in table.rates()]
        inside = np.diff(kept) > 1
        error = float(np.where(inside, np.maximum(*gaps), 0.0).max(initial=0.0))
        columns = points(table, rows, level)
        names = {f.name for f in fields(cls)} & columns.keys()
        return cls(
            cuts=len(table),
            error=min(error, 1.0),
            **{name: columns[name][kept].tolist() for name in names},
        )


def points(table: CutTable, rows: Floats, level: float) -> dict[str, Floats]:
    """Cuts, their tp, fp, fn, tn, and shares with Wilson intervals, as columns.

    `rows` are the equally weighted rows that a unit of weight of positives and of negatives is worth.
    """
    columns: dict[str, Floats] = {"threshold": table.threshold}
    columns |= {n: np.asarray(c, np.float64) for n, c in zip(CELLS, table.cells, strict=True)}
    worth = [rows[0], rows[1], rows[0], rows[1]]
    for name in ("alert_rate", "sensitivity", "specificity", "precision", "npv"):
        hit, of = (np.sum([columns[CELLS[i]] for i in part], axis=0) for part in SHARES[name])
        n = np.sum([columns[CELLS[i]] * worth[i] for i in SHARES[name][1]], axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            columns[name] = share = hit / of
            limits = wilson_limits(share, (of - hit) / of, n, normal_quantile(level))
        columns[f"{name}_low"], columns[f"{name}_high"] = limits
    return columns


class ThresholdDocument(JudgedDocument, command="threshold"):
    """A rule that turns scores into alerts, and what it was chosen from."""

    settings: SettingsRecord
    data: DataRecord
    rule: RuleRecord
    cuts: list[CutPoint] = field(
        "The guaranteed cut, where there is one, and the plain.", min_length=1
    )
    elsewhere: ElsewhereRecord | None = field(
        "The rule at another prevalence; null where none was given."
    )
    reject: RejectRecord | None = field(
        "Two cuts with reviews between; null where not asked or not paying."
    )
    by: list[str] = field(
        "Columns of the groups; empty where none were named.", default_factory=list
    )
    groups: list[GroupCuts] = field(
        "The common cut in each group, and the group's own.", default_factory=list
    )
    points: PointsRecord = field("What every cut would give.")
    sha256: str = ""

    def sections(self) -> list[Section]:
        """Verdict, data, the cuts side by side, another prevalence, reviews."""
        r = self.rule
        scores = f"{r.score} ({r.kind}), from {_n(r.low)} to {_n(r.high)}"
        facts = [*self.data.facts(), ("Scores", scores)]
        asked = [*self.settings.at, *([f"best {self.settings.best}"] if self.settings.best else [])]
        facts.append(("Asked", "; ".join(asked)))
        sections = [Section(facts=facts), self._table()]
        if self.elsewhere is not None:
            e = self.elsewhere
            rows = [("Precision (PPV)", e.ppv, e.ppv), ("NPV", e.npv, e.npv)]
            heads: Heads = {"": "text", "Value": "value", percent(self.settings.level): "interval"}
            sections += section(f"At a prevalence of {percent(e.prevalence)}", heads, rows)
        if self.reject is not None:
            j = self.reject
            between = f"from {_n(j.low)} to below {_n(j.high)}: {percent(j.reviewed)} of rows"
            cost = f"{_n(j.cost)} false alarms a row, {_n(j.alone)} without reviews"
            alert = f"from {_n(j.high)} on"
            facts = [("Clear", f"below {_n(j.low)}"), ("Review", between), ("Alert", alert)]
            sections.append(Section("With reviews", facts=[*facts, ("Cost", cost)]))
        if self.groups:
            sections.append(self._groups())
        reasons = [(getattr(c, m).why, TITLES[m]) for c in self.cuts for m in TITLES]
        return [*sections, *undefined(reasons)]

    @property
    def asked_of_groups(self) -> tuple[str, float | None]:
        """The measure by which groups are told apart, and what is asked of it."""
        return measure_of_groups(parse_constraints(self.settings.at))

    def _groups(self) -> Section:
        """One line for each group: the common cut there, by the share that is asked of it, and its own."""
        name, rows = self.asked_of_groups[0], []
        for g in self.groups:
            common = None if g.common is None else getattr(g.common, name)
            rate = None if g.common is None else g.common.alert_rate.value
            own, alerts = "—", None
            if g.own is not None:
                own = f"{g.own.cut.threshold:.4g}{'*' if g.own.name == 'guaranteed' else ' '}"
                alerts = g.own.alert_rate.value
            rows.append((g.name, g.rows, common, common, rate, g.promise, own, alerts))
        columns = [
            Column(" / ".join(self.by), "name"),
            Column("Rows", "count"),
            Column(TITLES[name].partition(" (")[0], "value", meaning="With the common cut."),
            Column("Interval", "interval"),
            Column("Alerts", "percent"),
            Column("Promise", "text", meaning=PROMISE),
            Column("Own cut", meaning="*: guaranteed in the group, by itself."),
            Column("Alerts", "percent"),
        ]
        return Section("By group", table=Table(columns, rows))

    def _table(self) -> Section:
        """The cuts side by side."""
        columns, level = [Column("", "text")], percent(self.settings.level)
        for c in self.cuts:
            columns += [Column(c.name.capitalize(), "value"), Column(level, "interval")]
        rows = [("Alert from", *(x for c in self.cuts for x in (f"{c.cut.threshold:.15g}", "")))]
        for name, title in TITLES.items():
            each = [getattr(c, name) for c in self.cuts]
            rows.append((title, *(x for e in each for x in (e, e))))
        titles = ("True alerts", "False alarms", "Missed", "Cleared")
        for name, title in zip(CELLS, titles, strict=True):
            rows.append((title, *(x for c in self.cuts for x in (count(getattr(c, name)), ""))))
        return Section("Operating point", table=Table(columns, rows), lines=[*self._lines()])

    def _lines(self) -> Iterator[str]:
        for c in self.cuts:
            which = f"{c.name.capitalize()}: " if len(self.cuts) > 1 else ""
            yield f"{which}{c.method}; any cut in {c.cut.same_decisions()} decides alike on these rows"
            if c.near is not None:
                yield f"{c.near.meaning}: {_n(c.near.low)} to {_n(c.near.high)}"


def _n(x: float) -> str:
    """A number with four digits."""
    return f"{x:.4g}" if abs(x) < 1000 else formatted(x, "number")


def measure_of_groups(constraints: Sequence[Constraint]) -> tuple[str, float | None]:
    """The share that the first constraint is about, and its limit; else sensitivity.

    >>> measure_of_groups(parse_constraints("fpr <= 0.1"))
    ('specificity', 0.9)
    """
    if not constraints:
        return "sensitivity", None
    name, limit = constraints[0].measure, constraints[0].limit
    if name in COMPLEMENTS:
        return COMPLEMENTS[name], 1 - limit
    return (name, limit) if name in TITLES else ("sensitivity", None)


def read_rule(path: str | Path) -> ThresholdDocument:
    """The document in a file; a sentence says what is wrong with any other file."""
    doc = read_sealed(path, ("threshold",), "rule", "threshold")
    try:
        if doc["sha256"] == seal(doc):
            return from_dict(ThresholdDocument, doc)
    except (KeyError, TypeError, ValueError):
        pass
    raise BadInput(f"{plain(Path(path).name)} is damaged or was edited; choose the threshold again")
