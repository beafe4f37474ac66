"""What `threshold` writes, shows and reads back: the rule, its operating points, and how sure they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns import Kind
from scorewise.errors import BadInput, plain
from scorewise.inference.scales import z
from scorewise.show.data import (
    Cells,
    CutRecord,
    DataRecord,
    GroupOfRows,
    SeenRecord,
)
from scorewise.show.document import JudgedDocument, from_dict
from scorewise.show.estimates import EstimateField
from scorewise.show.fields import Level, Number, Record, Share, Word, means, says
from scorewise.show.page import Column, Section, Table, section, undefined
from scorewise.show.words import count, percent, written
from scorewise.thresholds.constraints import SHARES, constraints
from scorewise.thresholds.cuts import Table as CutTable
from scorewise.writing import read_sealed, seal

CELLS = ("tp", "fp", "fn", "tn")
POINTS = 101  # of all cuts, at most
LowerEnds: TypeAlias = Annotated[list[Number], says("Lower ends of their intervals (Wilson).")]
UpperEnds: TypeAlias = Annotated[list[Number], says("Upper ends.")]
NoGuarantee: TypeAlias = Annotated[str, says("Why there is no guarantee; empty when there is one.")]
Best: TypeAlias = Literal["youden", "f1", "f2", "kappa", "cost"]
Promise: TypeAlias = Literal["kept", "broken", "open", "not asked"]
TITLES = {
    "sensitivity": "Sensitivity (recall)",
    "specificity": "Specificity",
    "precision": "Precision (PPV)",
    "npv": "NPV",
    "alert_rate": "Alert rate",
}


class SettingsRecord(Record):
    """What was asked for."""

    at: list[Word] = means("The constraints, such as recall >= 0.9.")
    best: Best | None = means("What was to be largest; null where constraints say enough.")
    cost: Number = means("False alarms that a missed positive costs as much as.")
    review: Number = means("What a review by hand costs, in false alarms.")
    prevalence: Share | None = means("Prevalence to decide for; null: that of the rows.")
    guarantee: Level | None = means("Confidence of the guarantee; null: none asked for.")
    cluster: bool = means("Whether rows come in clusters.")
    level: Level


class RuleRecord(SeenRecord):
    """The rule that is applied: a row is an alert when its score >= threshold."""

    threshold: float
    kind: Kind
    score: str
    guaranteed: bool = means("Whether the promise holds beyond the rows, with confidence.")
    promise: str = means("What the cut keeps; empty where it is the best of something.")
    why: NoGuarantee


class RangeRecord(Record):
    """Cuts from one to another."""

    low: float = means("The lowest.")
    high: float = means("The highest.")
    meaning: Word = means("What these cuts have in common.")


class FoundCut(Record):
    """A cut, and how it was found."""

    name: Literal["guaranteed", "plain"] = means("Which cut it is.")
    cut: CutRecord = means("The cut, and all that decide alike on these rows.")
    method: Word = means("How it was found.")
    near: RangeRecord | None = means(
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

    common: CutPoint | None = means("The common cut on these rows; null: one class only.")
    promise: Promise = means(
        "Whether the common cut keeps the constraints in the group, with confidence."
    )
    own: CutPoint | None = means("The group's own cut, guaranteed where that is shown.")
    why: NoGuarantee


class ElsewhereRecord(Record):
    """What alerts are worth where positives are rarer or more frequent than in these rows."""

    prevalence: Share = means("The share of positives there.")
    ppv: EstimateField = means("Share of alerts that are right there (PPV).")
    npv: EstimateField
    alert_rate: float


class RejectRecord(Record):
    """Two cuts: alert from the higher on, clear below the lower, review between them."""

    low: float = means("Below this, rows are cleared.")
    high: float = means("From this on, rows are alerts.")
    reviewed: Share = means("Share of rows that are reviewed.")
    cost: float = means("Cost of a row, in false alarms.", ge=0)
    alone: float = means("The same with the best single cut and no review.", ge=0)


class PointsRecord(Record):
    """Operating points of all cuts, from the highest down, thinned out where there are many."""

    cuts: int = means("Distinct cuts in the data.", ge=1)
    error: Share = means(
        "The most by which sensitivity or specificity of a cut left out differs from a kept one."
    )
    threshold: list[float] = means("The cuts.")
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
        kept = table.thinned(POINTS)
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
    made: dict[str, Floats] = {"threshold": table.threshold}
    made |= {n: np.asarray(c, np.float64) for n, c in zip(CELLS, table.cells, strict=True)}
    worth = [rows[0], rows[1], rows[0], rows[1]]
    for name in ("alert_rate", "sensitivity", "specificity", "precision", "npv"):
        hit, of = (np.sum([made[CELLS[i]] for i in part], axis=0) for part in SHARES[name])
        n = np.sum([made[CELLS[i]] * worth[i] for i in SHARES[name][1]], axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            p, q = hit / of, z(level) ** 2 / n
            centre = (p + q / 2) / (1 + q)
            half: Floats = np.sqrt(q * (p * (1 - p) + q / 4)) / (1 + q)
        made[name] = p
        made[f"{name}_low"] = np.where(p == 0, 0.0, np.clip(centre - half, 0.0, 1.0))
        made[f"{name}_high"] = np.where(p == 1, 1.0, np.clip(centre + half, 0.0, 1.0))
    return made


class ThresholdDocument(JudgedDocument, command="threshold"):
    """A rule that turns scores into alerts, and what it was chosen from."""

    settings: SettingsRecord
    data: DataRecord
    rule: RuleRecord
    cuts: list[CutPoint] = means(
        "The guaranteed cut, where there is one, and the plain.", min_length=1
    )
    elsewhere: ElsewhereRecord | None = means(
        "The rule at another prevalence; null where none was given."
    )
    reject: RejectRecord | None = means(
        "Two cuts with reviews between; null where not asked or not paying."
    )
    by: list[str] = means(
        "Columns of the groups; empty where none were named.", default_factory=list
    )
    groups: list[GroupCuts] = means(
        "The common cut in each group, and the group's own.", default_factory=list
    )
    points: PointsRecord = means("What every cut would give.")
    sha256: str = ""

    def sections(self) -> list[Section]:
        """Verdict, data, the cuts side by side, another prevalence, reviews."""
        r = self.rule
        facts = [
            *self.data.facts(),
            ("Scores", f"{r.score} ({r.kind}), from {_n(r.low)} to {_n(r.high)}"),
        ]
        asked = [*self.settings.at, *([f"best {self.settings.best}"] if self.settings.best else [])]
        facts.append(("Asked", "; ".join(asked)))
        sections = [Section(facts=facts), self._table()]
        if self.elsewhere is not None:
            e = self.elsewhere
            rows = [("Precision (PPV)", e.ppv, e.ppv), ("NPV", e.npv, e.npv)]
            sections += self._measures(f"At a prevalence of {percent(e.prevalence)}", rows)
        if self.reject is not None:
            j = self.reject
            between = f"from {_n(j.low)} to below {_n(j.high)}: {percent(j.reviewed)} of rows"
            cost = f"{_n(j.cost)} false alarms a row, {_n(j.alone)} without reviews"
            cut = [
                ("Clear", f"below {_n(j.low)}"),
                ("Review", between),
                ("Alert", f"from {_n(j.high)} on"),
            ]
            sections.append(Section("With reviews", facts=[*cut, ("Cost", cost)]))
        if self.groups:
            from scorewise.thresholds.groups import group_section

            sections.append(group_section(self.groups, self.by, self.asked_of_groups[0]))
        reasons = [(getattr(c, m).why, TITLES[m]) for c in self.cuts for m in TITLES]
        return [*sections, *undefined(reasons)]

    @property
    def asked_of_groups(self) -> tuple[str, float | None]:
        """The measure by which groups are told apart, and what is asked of it."""
        from scorewise.thresholds.groups import asked_of

        return asked_of(constraints(self.settings.at))

    def _measures(self, title: str, rows: list[Any]) -> list[Section]:
        level = Column(percent(self.settings.level), "interval")
        return section(title, [("", "text"), ("Value", "value"), level], rows)

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
    return f"{x:.4g}" if abs(x) < 1000 else written(x, "number")


def read_rule(path: str | Path) -> ThresholdDocument:
    """The document in a file; a sentence says what is wrong with any other file."""
    doc = read_sealed(path, ("threshold",), "rule", "threshold")
    try:
        if doc["sha256"] == seal(doc):
            return from_dict(ThresholdDocument, doc)
    except (KeyError, TypeError, ValueError):
        pass
    raise BadInput(f"{plain(Path(path).name)} is damaged or was edited; choose the threshold again")
