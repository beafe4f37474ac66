"""What `threshold` writes, shows and reads back: the rule, its operating points, and how sure they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from msgspec import Meta

from scorewise.arrays import Floats
from scorewise.errors import BadInput, plain
from scorewise.inference.scales import z
from scorewise.show.data import CutRecord, DataRecord
from scorewise.show.document import (
    COMMAND,
    Count,
    Document,
    EstimateField,
    Hints,
    Level,
    Number,
    Share,
    Word,
    from_dict,
    says,
    to_dict,
)
from scorewise.show.page import (
    Column,
    Page,
    Section,
    Table,
    count,
    hints,
    percent,
    undefined,
    written,
)
from scorewise.show.verdict import VERDICT, Claim, verdict
from scorewise.thresholds.constraints import SHARES
from scorewise.thresholds.cuts import Table as CutTable
from scorewise.writing import seal

CELLS = ("tp", "fp", "fn", "tn")
POINTS = 101  # of all cuts, at most
Best: TypeAlias = Literal["youden", "f1", "f2", "kappa", "cost"]
Promise: TypeAlias = Literal["kept", "broken", "open", "not asked"]
Weight: TypeAlias = Annotated[float, Meta(ge=0)]
TITLES = {
    "sensitivity": "Sensitivity (recall)",
    "specificity": "Specificity",
    "precision": "Precision (PPV)",
    "npv": "NPV",
    "alert_rate": "Alert rate",
}


@dataclass(frozen=True, kw_only=True)
class SettingsRecord:
    """What was asked for."""

    at: Annotated[list[Word], says("The constraints, such as recall >= 0.9.")]
    best: Annotated[Best | None, says("What was to be largest; null where constraints say enough.")]
    cost: Annotated[Number, says("False alarms that a missed positive costs as much as.")]
    review: Annotated[Number, says("What a review by hand costs, in false alarms.")]
    prevalence: Annotated[Share | None, says("Prevalence to decide for; null: that of the rows.")]
    guarantee: Annotated[Level | None, says("Confidence of the guarantee; null: none asked for.")]
    cluster: Annotated[bool, says("Whether rows come in clusters.")]
    level: Annotated[Level, says("Confidence level of the intervals.")]


@dataclass(frozen=True, kw_only=True)
class RuleRecord:
    """The rule that is applied: a row is an alert when its score >= threshold."""

    threshold: Annotated[float, says("The cut, on the scale of the scores.")]
    kind: Annotated[Literal["probability", "logit", "score"], says("What the scores are.")]
    score: Annotated[str, says("Name of the scores, usually their column.")]
    guaranteed: Annotated[bool, says("Whether the promise holds beyond the rows, with confidence.")]
    promise: Annotated[str, says("What the cut keeps; empty where it is the best of something.")]
    why: Annotated[str, says("Why there is no guarantee; empty where there is one.")]
    low: Annotated[float, says("Lowest score seen.")]
    high: Annotated[float, says("Highest score seen.")]


@dataclass(frozen=True, kw_only=True)
class RangeRecord:
    """Cuts from one to another."""

    low: Annotated[float, says("The lowest.")]
    high: Annotated[float, says("The highest.")]
    meaning: Annotated[Word, says("What these cuts have in common.")]


@dataclass(frozen=True, kw_only=True)
class CutPoint:
    """A cut and what it does on these rows."""

    name: Annotated[Literal["guaranteed", "plain"], says("Which cut it is.")]
    cut: Annotated[CutRecord, says("The cut, and all that decide alike on these rows.")]
    method: Annotated[Word, says("How it was found.")]
    near: Annotated[
        RangeRecord | None, says("Cuts that the data do not tell from it; null where not known.")
    ]
    tp: Annotated[Weight, says("Positives with an alert.")]
    fp: Annotated[Weight, says("Negatives with an alert.")]
    fn: Annotated[Weight, says("Positives without an alert.")]
    tn: Annotated[Weight, says("Negatives without an alert.")]
    sensitivity: Annotated[EstimateField, says("Share of positives with an alert (recall).")]
    specificity: Annotated[EstimateField, says("Share of negatives without an alert.")]
    precision: Annotated[EstimateField, says("Share of alerts that are right (PPV).")]
    npv: Annotated[EstimateField, says("Share of rows without an alert that are negative.")]
    alert_rate: Annotated[EstimateField, says("Share of rows with an alert.")]


@dataclass(frozen=True, kw_only=True)
class GroupCuts:
    """The common cut in one group, and the cut that the group would have by itself."""

    name: Annotated[str, says("The words of the group, with slashes between.")]
    rows: Annotated[Count, says("Rows of the group.")]
    positives: Annotated[Count, says("Positives among them.")]
    common: Annotated[CutPoint | None, says("The common cut on these rows; null: one class only.")]
    promise: Annotated[
        Promise,
        says("Whether the common cut keeps the constraints in the group, with confidence."),
    ]
    own: Annotated[CutPoint | None, says("The group's own cut, guaranteed where that is shown.")]
    why: Annotated[str, says("Why the own cut has no guarantee; empty if it has.")]


@dataclass(frozen=True, kw_only=True)
class ElsewhereRecord:
    """What alerts are worth where positives are rarer or more frequent than in these rows."""

    prevalence: Annotated[Share, says("The share of positives there.")]
    ppv: Annotated[EstimateField, says("Share of alerts that are right there (PPV).")]
    npv: Annotated[EstimateField, says("Share of rows without alert that are negative there.")]
    alert_rate: Annotated[float, says("Share of rows with an alert there.")]


@dataclass(frozen=True, kw_only=True)
class RejectRecord:
    """Two cuts: alert from the higher on, clear below the lower, review between them."""

    low: Annotated[float, says("Below this, rows are cleared.")]
    high: Annotated[float, says("From this on, rows are alerts.")]
    reviewed: Annotated[Share, says("Share of rows that are reviewed.")]
    cost: Annotated[float, says("Cost of a row, in false alarms.")]
    alone: Annotated[float, says("The same with the best single cut and no review.")]


@dataclass(frozen=True, kw_only=True)
class PointsRecord:
    """Operating points of all cuts, from the highest down, thinned out where there are many."""

    cuts: Annotated[int, Meta(ge=1), says("Distinct cuts in the data.")]
    error: Annotated[
        Share,
        says(
            "The most by which sensitivity or specificity of a cut left out differs from a kept one."
        ),
    ]
    threshold: Annotated[list[float], says("The cuts.")]
    alert_rate: Annotated[list[Number], says("Shares of rows with an alert.")]
    sensitivity: Annotated[list[Number], says("Shares of positives with an alert.")]
    sensitivity_low: Annotated[list[Number], says("Lower ends of their intervals (Wilson).")]
    sensitivity_high: Annotated[list[Number], says("Upper ends.")]
    specificity: Annotated[list[Number], says("Shares of negatives without an alert.")]
    specificity_low: Annotated[list[Number], says("Lower ends of their intervals (Wilson).")]
    specificity_high: Annotated[list[Number], says("Upper ends.")]
    precision: Annotated[list[Number], says("Shares of alerts that are right.")]
    precision_low: Annotated[list[Number], says("Lower ends of their intervals (Wilson).")]
    precision_high: Annotated[list[Number], says("Upper ends.")]
    npv: Annotated[list[Number], says("Shares of rows without alert that are negative.")]
    npv_low: Annotated[list[Number], says("Lower ends of their intervals (Wilson).")]
    npv_high: Annotated[list[Number], says("Upper ends.")]

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


@dataclass(frozen=True, kw_only=True)
class ThresholdDocument(Document):
    """A rule that turns scores into alerts, and what it was chosen from."""

    command: Annotated[Literal["threshold"], says(COMMAND)] = "threshold"
    settings: SettingsRecord
    data: DataRecord
    verdict: Annotated[list[Claim], says(VERDICT)]
    rule: RuleRecord
    cuts: Annotated[
        list[CutPoint],
        Meta(min_length=1),
        says("The guaranteed cut, where there is one, and the plain."),
    ]
    elsewhere: Annotated[
        ElsewhereRecord | None, says("The rule at another prevalence; null where none was given.")
    ]
    reject: Annotated[
        RejectRecord | None,
        says("Two cuts with reviews between; null where not asked or not paying."),
    ]
    by: Annotated[list[str], says("Columns of the groups; empty where none were named.")] = field(
        default_factory=list
    )
    groups: Annotated[
        list[GroupCuts], says("The common cut in each group, and the group's own.")
    ] = field(default_factory=list)
    points: Annotated[PointsRecord, says("What every cut would give.")]
    hints: Hints
    sha256: Annotated[str, says("Fingerprint of all the above.")] = ""

    def page(self) -> Page:
        """Verdict, data, the cuts side by side, another prevalence, reviews."""
        r = self.rule
        facts = [
            *self.data.facts(),
            ("Scores", f"{r.score} ({r.kind}), from {_n(r.low)} to {_n(r.high)}"),
        ]
        asked = [*self.settings.at, *([f"best {self.settings.best}"] if self.settings.best else [])]
        facts.append(("Asked", "; ".join(asked)))
        sections = [*verdict(self.verdict), Section(facts=facts), self._table()]
        if self.elsewhere is not None:
            e = self.elsewhere
            rows = [("Precision (PPV)", e.ppv, e.ppv), ("NPV", e.npv, e.npv)]
            sections.append(self._measures(f"At a prevalence of {percent(e.prevalence)}", rows))
        if self.reject is not None:
            j = self.reject
            sections.append(
                Section(
                    "With reviews",
                    facts=[
                        ("Clear", f"below {_n(j.low)}"),
                        (
                            "Review",
                            f"from {_n(j.low)} to below {_n(j.high)}: {percent(j.reviewed)} of rows",
                        ),
                        ("Alert", f"from {_n(j.high)} on"),
                        ("Cost", f"{_n(j.cost)} false alarms a row, {_n(j.alone)} without reviews"),
                    ],
                )
            )
        if self.groups:
            from scorewise.thresholds.groups import group_section

            sections.append(group_section(self.groups, self.by, self.settings.at))
        reasons = [(getattr(c, m).why, TITLES[m]) for c in self.cuts for m in TITLES]
        return Page(self.command, [*sections, *undefined(reasons), *hints(self.hints)])

    def _measures(self, title: str, rows: list[Any]) -> Section:
        columns = [
            Column("", "text"),
            Column("Value", "value"),
            Column(percent(self.settings.level), "interval"),
        ]
        return Section(title, table=Table(columns, rows))

    def _table(self) -> Section:
        """The cuts side by side."""
        columns, level = [Column("", "text")], percent(self.settings.level)
        for c in self.cuts:
            columns += [Column(c.name.capitalize(), "value"), Column(level, "interval")]
        rows = [("Alert from", *(x for c in self.cuts for x in (f"{c.cut.threshold:.15g}", "")))]
        for name, title in TITLES.items():
            each = [getattr(c, name) for c in self.cuts]
            rows.append((title, *(x for e in each for x in (e, e))))
        for name, title in (
            ("tp", "True alerts"),
            ("fp", "False alarms"),
            ("fn", "Missed"),
            ("tn", "Cleared"),
        ):
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


def sealed(doc: ThresholdDocument) -> ThresholdDocument:
    """The same document with its seal."""
    return replace(doc, sha256=seal(to_dict(doc)))


def read_rule(path: str | Path) -> ThresholdDocument:
    """The document in a file; a sentence says what is wrong with any other file."""
    name = plain(Path(path).name)
    try:
        doc = json.loads(Path(path).read_text("utf-8"))
    except OSError as e:
        raise BadInput(f"{name} cannot be read: {e.strerror or e}") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{name} is not JSON; name a file that threshold wrote") from None
    if not isinstance(doc, dict) or doc.get("command") != "threshold":
        raise BadInput(f"{name} holds no rule; name a file that threshold wrote")
    if doc.get("schema") != 1:
        raise BadInput(f"{name} has format {doc.get('schema')!r}, but 1 is known here")
    try:
        if doc["sha256"] == seal(doc):
            return from_dict(ThresholdDocument, doc)
    except (KeyError, TypeError, ValueError):
        pass
    raise BadInput(f"{name} is damaged or was edited; choose the threshold again")
