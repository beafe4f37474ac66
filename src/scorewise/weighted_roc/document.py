"""What `smroc` writes and shows: areas, midpoints, and how scores go with labels and decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from scorewise.columns import Kind
from scorewise.curves.thresholds import Curve
from scorewise.inference.ranking import area
from scorewise.show.data import Cells, DataRecord
from scorewise.show.document import JudgedDocument, with_cautions
from scorewise.show.estimates import Estimated, Repeatable, record_of
from scorewise.show.fields import Number, OfTwo, Record, means
from scorewise.show.page import Column, Section, Table, section
from scorewise.show.words import by_reason, count, interval, percent, value, written
from scorewise.tallies.smroc import FoundBy
from scorewise.weighted_roc.verdict import verdict_of

if TYPE_CHECKING:
    from scorewise.weighted_roc.curve import SmRoc

POINTS = 256  # of a curve, at most


class SettingsRecord(Repeatable):
    """The settings that the numbers depend on."""

    threshold: float


class MidpointRecord(Record):
    """Where a score turns from low to high."""

    value: float = means("The midpoint.", ge=0, le=1)
    rule: FoundBy = means("How it was found.")


class AreasRecord(Record):
    """Between which values the area lies, over all midpoints."""

    lowest: float = means("The smallest area.")
    highest: float = means("The largest area.")


class PartRecord(Record):
    """Scores of one class on one side of the midpoint."""

    weight: float = means("Their weight; a count when there are no weights.", ge=0)
    mean: Number = means("Mean of the scores; null when there are none.")


class SetsRecord(Record):
    """High and low scores on positives and negatives."""

    high_positive: PartRecord = means("High scores on positives: appropriate.")
    high_negative: PartRecord = means("High scores on negatives: inappropriate.")
    low_positive: PartRecord = means("Low scores on positives: inappropriate.")
    low_negative: PartRecord = means("Low scores on negatives: appropriate.")


class TablesRecord(Record):
    """Labels against decisions at the threshold."""

    appropriate: Cells = means("Among rows with appropriate scores.")
    inappropriate: Cells = means("Among rows with inappropriate scores.")


class PointsRecord(Record):
    """Points of the curve, thinned out where there are many."""

    x: list[Number] = means("Shares of all runs.")
    y: list[Number] = means("Shares of all climbs.")
    threshold: list[Number] = means("The score down to which each point has come.")

    @classmethod
    def of(cls, curve: Curve) -> PointsRecord:
        """Points of a curve, at equal distances in its order."""
        at = np.unique(np.linspace(0, len(curve.x) - 1, POINTS).round().astype(int))
        return cls(**{f.name: getattr(curve, f.name)[at].tolist() for f in fields(cls)})


class CurveRecord(Record):
    """One score-weighted ROC curve."""

    name: str
    kind: Kind
    area: Estimated = means("Area under the curve (smAUC).")
    auroc: float
    midpoint: MidpointRecord
    areas: AreasRecord
    height: float = means("All climbs together: height of the rectangle variant.", ge=0)
    width: float = means("All runs together: width of the rectangle variant.", ge=0)
    sets: SetsRecord
    appropriate: float = means("Share of the weight whose scores are appropriate.")
    rotation: float
    gap: Number = means("Area between the curve and its convex hull.")
    recalibrated: Estimated = means("Area after recalibration by the hull of the ROC curve.")
    tables: TablesRecord
    curve: PointsRecord

    @classmethod
    def of(cls, name: str, c: SmRoc, threshold: float) -> CurveRecord:
        """The record of a curve."""
        areas = c.sensitivity().area
        known = areas[np.isfinite(areas)]
        right, wrong = (record_of(Cells, t) for t in c.tables(threshold))
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


class DistanceRecord(OfTwo):
    """Two curves."""

    distance: float = means("Area between them.", ge=0)


class SmRocDocument(JudgedDocument, command="smroc"):
    """Score-weighted ROC curves of the same rows."""

    settings: SettingsRecord
    data: DataRecord
    curves: list[CurveRecord] = means("One curve for each column of scores.", min_length=1)
    distances: list[DistanceRecord] = means("How far the curves are apart, pair by pair.")

    def sections(self) -> list[Section]:
        """Data, areas, the four sets, the tables and the remarks."""
        several = len(self.curves) > 1
        sections = [Section(facts=self.data.facts()), *(_areas(self) if several else [])]
        for c in self.curves:
            name = f"'{c.name}': " if several else ""
            sections += [
                Section(f"{name}Curve", facts=_facts(c)),
                _sets(c.sets, f"{name}Scores against labels"),
                _tables(c.tables, self.settings.threshold, f"{name}Scores against decisions"),
            ]
        return sections


def smroc_document(curves: Mapping[str, SmRoc], threshold: float = 0.5) -> SmRocDocument:
    """The document of curves on the same rows."""
    from scorewise.weighted_roc.verdict import overlap

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


def _areas(doc: SmRocDocument) -> list[Section]:
    level = f"{percent(doc.settings.level)} interval"
    columns = [Column("model", "text"), Column("smAUC", "value"), Column(level, "text")]
    rows = [(f"'{c.name}'", c.area, interval(c.area), c.area.baseline, c.auroc) for c in doc.curves]
    lines = [
        f"'{d.first}' and '{d.second}' are {written(d.distance, 'number')} apart"
        for d in doc.distances
    ]
    return section("Areas", [*columns, "at random", "AUROC"], rows, lines)


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
    columns = [Column("score", "text"), Column("rows", "count"), Column("share", "percent")]
    columns += [Column("mean score"), Column("which is", "text")]
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
