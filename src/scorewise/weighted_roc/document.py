"""What `smroc` writes and shows: areas, midpoints, and how scores go with labels and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from msgspec import Meta

from scorewise.curves.thresholds import Curve
from scorewise.inference.ranking import area
from scorewise.show.data import DataRecord
from scorewise.show.document import (
    COMMAND,
    Count,
    Document,
    Estimated,
    Hints,
    Level,
    Number,
    record_of,
    says,
    with_cautions,
)
from scorewise.show.page import (
    Column,
    Page,
    Section,
    Table,
    by_reason,
    count,
    hints,
    interval,
    percent,
    value,
    written,
)
from scorewise.show.verdict import VERDICT, Claim, verdict
from scorewise.weighted_roc.verdict import verdict_of

if TYPE_CHECKING:
    from scorewise.weighted_roc.curve import SmRoc

POINTS = 256  # of a curve, at most


@dataclass(frozen=True, kw_only=True)
class SettingsRecord:
    """The settings that the numbers depend on."""

    level: Annotated[Level, says("Confidence level of the intervals.")]
    seed: Annotated[Count, says("Seed of the random draws.")]
    threshold: Annotated[float, says("A score at or above this is a positive decision.")]


@dataclass(frozen=True, kw_only=True)
class MidpointRecord:
    """Where a score turns from low to high."""

    value: Annotated[float, says("The midpoint, on [0, 1].")]
    rule: Annotated[
        Literal["mean", "balanced", "median", "crossing", "fixed", "learned"],
        says("How it was found."),
    ]


@dataclass(frozen=True, kw_only=True)
class AreasRecord:
    """Between which values the area lies, over all midpoints."""

    lowest: Annotated[float, says("The smallest area.")]
    highest: Annotated[float, says("The largest area.")]


@dataclass(frozen=True, kw_only=True)
class PartRecord:
    """Scores of one class on one side of the midpoint."""

    weight: Annotated[float, Meta(ge=0), says("Their weight; a count when there are no weights.")]
    mean: Annotated[Number, says("Mean of the scores; null when there are none.")]


@dataclass(frozen=True, kw_only=True)
class SetsRecord:
    """High and low scores on positives and negatives."""

    high_positive: Annotated[PartRecord, says("High scores on positives: appropriate.")]
    high_negative: Annotated[PartRecord, says("High scores on negatives: inappropriate.")]
    low_positive: Annotated[PartRecord, says("Low scores on positives: inappropriate.")]
    low_negative: Annotated[PartRecord, says("Low scores on negatives: appropriate.")]


@dataclass(frozen=True, kw_only=True)
class DecisionsRecord:
    """Labels against decisions, by weight."""

    tp: Annotated[float, Meta(ge=0), says("Positives predicted positive.")]
    fp: Annotated[float, Meta(ge=0), says("Negatives predicted positive.")]
    fn: Annotated[float, Meta(ge=0), says("Positives predicted negative.")]
    tn: Annotated[float, Meta(ge=0), says("Negatives predicted negative.")]


@dataclass(frozen=True, kw_only=True)
class TablesRecord:
    """Labels against decisions at the threshold."""

    appropriate: Annotated[DecisionsRecord, says("Among rows with appropriate scores.")]
    inappropriate: Annotated[DecisionsRecord, says("Among rows with inappropriate scores.")]


@dataclass(frozen=True, kw_only=True)
class PointsRecord:
    """Points of the curve, thinned out where there are many."""

    x: Annotated[list[Number], says("Shares of all runs.")]
    y: Annotated[list[Number], says("Shares of all climbs.")]
    threshold: Annotated[list[Number], says("The score down to which each point has come.")]

    @classmethod
    def of(cls, curve: Curve) -> PointsRecord:
        """Points of a curve, at equal distances in its order."""
        at = np.unique(np.linspace(0, len(curve.x) - 1, POINTS).round().astype(int))
        return cls(**{f.name: getattr(curve, f.name)[at].tolist() for f in fields(cls)})


@dataclass(frozen=True, kw_only=True)
class CurveRecord:
    """One score-weighted ROC curve."""

    name: Annotated[str, says("Name of the scores, usually their column.")]
    kind: Annotated[
        Literal["probability", "logit", "score"], says("What the scores are said to be.")
    ]
    area: Annotated[Estimated, says("Area under the curve (smAUC).")]
    auroc: Annotated[float, says("Area under the ROC curve of the same rows.")]
    midpoint: MidpointRecord
    areas: AreasRecord
    height: Annotated[
        float, Meta(ge=0), says("All climbs together: height of the rectangle variant.")
    ]
    width: Annotated[float, Meta(ge=0), says("All runs together: width of the rectangle variant.")]
    sets: SetsRecord
    appropriate: Annotated[float, says("Share of the weight whose scores are appropriate.")]
    rotation: Annotated[float, says("Degrees by which the balance of scores turns that of labels.")]
    gap: Annotated[Number, says("Area between the curve and its convex hull.")]
    recalibrated: Annotated[
        Estimated, says("Area after recalibration by the hull of the ROC curve.")
    ]
    tables: TablesRecord
    curve: PointsRecord

    @classmethod
    def of(cls, name: str, c: SmRoc, threshold: float) -> CurveRecord:
        """The record of a curve."""
        areas = c.sensitivity().area
        known = areas[np.isfinite(areas)]
        right, wrong = (record_of(DecisionsRecord, t) for t in c.tables(threshold))
        sets = {f.name: getattr(c.sets, f.name) for f in fields(SetsRecord)}
        return record_of(
            cls,
            c.curve,
            c.sets,
            name=name,
            kind=c.tally.kind,
            area=c.area,
            auroc=area(c.tally),
            midpoint=record_of(MidpointRecord, c.found),
            areas=AreasRecord(lowest=float(known.min()), highest=float(known.max())),
            sets=SetsRecord(**{key: record_of(PartRecord, part) for key, part in sets.items()}),
            gap=c.gap if c.area.defined else None,
            recalibrated=c.recalibrated().area,
            tables=TablesRecord(appropriate=right, inappropriate=wrong),
            curve=PointsRecord.of(c.curve),
        )


@dataclass(frozen=True, kw_only=True)
class DistanceRecord:
    """Two curves."""

    first: Annotated[str, says("Name of the one.")]
    second: Annotated[str, says("Name of the other.")]
    distance: Annotated[float, Meta(ge=0), says("Area between them.")]


@dataclass(frozen=True, kw_only=True)
class SmRocDocument(Document):
    """Score-weighted ROC curves of the same rows."""

    command: Annotated[Literal["smroc"], says(COMMAND)] = "smroc"
    settings: SettingsRecord
    data: DataRecord
    verdict: Annotated[list[Claim], says(VERDICT)]
    curves: Annotated[
        list[CurveRecord], Meta(min_length=1), says("One curve for each column of scores.")
    ]
    distances: Annotated[list[DistanceRecord], says("How far the curves are apart, pair by pair.")]
    hints: Hints

    def page(self) -> Page:
        """Data, areas, the four sets, the tables and the remarks."""
        several = len(self.curves) > 1
        facts = [*verdict(self.verdict), Section(facts=self.data.facts())]
        sections = [*facts, *([_areas(self)] if several else [])]
        for c in self.curves:
            name = f"'{c.name}': " if several else ""
            sections += [
                Section(f"{name}Curve", facts=_facts(c)),
                _sets(c.sets, f"{name}Scores against labels"),
                _tables(c.tables, self.settings.threshold, f"{name}Scores against decisions"),
            ]
        return Page(self.command, [*sections, *hints(self.hints)])


def smroc_document(curves: Mapping[str, SmRoc], threshold: float = 0.5) -> SmRocDocument:
    """The document of curves on the same rows."""
    from scorewise.weighted_roc.curve import overlap

    first = next(iter(curves.values()))
    doc = SmRocDocument(
        settings=record_of(SettingsRecord, first, threshold=threshold),
        data=DataRecord.of(first.tally),
        verdict=verdict_of(curves),
        curves=[CurveRecord.of(name, c, threshold) for name, c in curves.items()],
        distances=[
            DistanceRecord(first=a, second=b, distance=curves[a].distance(curves[b]))
            for a, b in combinations(curves, 2)
        ],
        hints=by_reason((hint, f"'{name}'") for name, c in curves.items() for hint in overlap(c)),
    )
    return with_cautions(doc)


def _areas(doc: SmRocDocument) -> Section:
    level = f"{percent(doc.settings.level)} interval"
    columns = [
        Column("model", "text"), Column("smAUC", "value"), Column(level, "text"),
        Column("at random"), Column("AUROC"),
    ]  # fmt: skip
    rows = [(f"'{c.name}'", c.area, interval(c.area), c.area.baseline, c.auroc) for c in doc.curves]
    lines = [
        f"'{d.first}' and '{d.second}' are {written(d.distance, 'number')} apart"
        for d in doc.distances
    ]
    return Section("Areas", table=Table(columns, rows), lines=lines)


def _facts(c: CurveRecord) -> list[tuple[str, str]]:
    auroc, at_random, low, high, middle, gap, after, after_at_random = (
        written(x, "number")
        for x in (
            c.auroc, c.area.baseline, c.areas.lowest, c.areas.highest, c.midpoint.value, c.gap,
            c.recalibrated.value, c.recalibrated.baseline,
        )
    )  # fmt: skip
    smauc = c.area.why if c.area.value is None else f"{value(c.area)} {interval(c.area)}"
    sets = {f.name: getattr(c.sets, f.name).weight for f in fields(c.sets)}
    positive, negative, above, below = (
        count(sum(weight for name, weight in sets.items() if part in name))
        for part in ("_positive", "_negative", "high_", "low_")
    )
    return [
        ("smAUC", f"{smauc}; at random {at_random}; AUROC {auroc}"),
        (
            "Midpoint",
            f"{middle} ({c.midpoint.rule}); over all midpoints smAUC lies between {low} and {high}",
        ),
        ("Rectangle", f"{c.height:,.1f} high (climbs) by {c.width:,.1f} wide (runs)"),
        (
            "Balance",
            f"{positive} positive to {negative} negative, {above} high to {below} low: turned by "
            f"{c.rotation:.1f} degrees",
        ),
        (
            "Hull",
            f"{gap} above the curve; after recalibration smAUC is {after} ({after_at_random} at random)",
        ),
    ]


def _sets(sets: SetsRecord, title: str) -> Section:
    parts = [
        ("high on a positive", sets.high_positive, "appropriate"),
        ("low on a negative", sets.low_negative, "appropriate"),
        ("high on a negative", sets.high_negative, "inappropriate"),
        ("low on a positive", sets.low_positive, "inappropriate"),
    ]
    total = sum(part.weight for _, part, _ in parts)
    columns = [
        Column("score", "text"), Column("rows", "count"), Column("share", "percent"),
        Column("mean score"), Column("which is", "text"),
    ]  # fmt: skip
    rows = [(name, p.weight, p.weight / total, p.mean, which) for name, p, which in parts]
    return Section(title, table=Table(columns, rows))


def _tables(tables: TablesRecord, threshold: float, title: str) -> Section:
    heads = ("appropriate: yes", "no", "inappropriate: yes", "no")
    right, wrong = tables.appropriate, tables.inappropriate
    rows = [
        ("positive", right.tp, right.fn, wrong.tp, wrong.fn),
        ("negative", right.fp, right.tn, wrong.fp, wrong.tn),
    ]
    columns = [Column("label", "text"), *(Column(head, "count") for head in heads)]
    legend = f"yes: predicted positive, because the score is {threshold:g} or more"
    return Section(title, table=Table(columns, rows), lines=[legend])
