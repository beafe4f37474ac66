"""What `smroc` writes and shows: areas, midpoints, and how scores go with labels and decisions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from scorewise.columns import Kind
from scorewise.curves.smroc import Sets
from scorewise.curves.thresholds import Curve
from scorewise.estimate import Estimate, number
from scorewise.inference.ranking import auroc_value
from scorewise.show.data import Cells, DataRecord
from scorewise.show.document import JudgedDocument, with_cautions
from scorewise.show.page import Section, section
from scorewise.show.records import (
    Estimated,
    Number,
    PairNames,
    Record,
    Repeatable,
    field,
    record_of,
)
from scorewise.show.verdict import Claim, claim, figure, recalibrate_or_evaluate, with_ci
from scorewise.show.words import (
    by_reason,
    count,
    formatted,
    interval,
    percent,
    plural,
    quoted,
    value,
)
from scorewise.statistics.smroc import FoundBy, far_from_half
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit

if TYPE_CHECKING:
    from scorewise.weighted_roc.curve import SmRoc

POINTS = 256  # of a curve, at most
CURVES_IN_WORDS = 3


class SettingsRecord(Repeatable):
    """The settings that the numbers depend on."""

    threshold: float


class MidpointRecord(Record):
    """Where a score turns from low to high."""

    value: float = field("The midpoint.", ge=0, le=1)
    rule: FoundBy = field("How it was found.")


class AreasRecord(Record):
    """Between which values the area lies, over all midpoints."""

    lowest: float = field("The smallest area.")
    highest: float = field("The largest area.")


class PartRecord(Record):
    """Scores of one class on one side of the midpoint."""

    weight: float = field("Their weight; a count when there are no weights.", ge=0)
    mean: Number = field("Mean of the scores; null when there are none.")


class SetsRecord(Record):
    """High and low scores on positives and negatives."""

    high_positive: PartRecord = field("High scores on positives: appropriate.")
    high_negative: PartRecord = field("High scores on negatives: inappropriate.")
    low_positive: PartRecord = field("Low scores on positives: inappropriate.")
    low_negative: PartRecord = field("Low scores on negatives: appropriate.")


class TablesRecord(Record):
    """Labels against decisions at the threshold."""

    appropriate: Cells = field("Among rows with appropriate scores.")
    inappropriate: Cells = field("Among rows with inappropriate scores.")


class PointsRecord(Record):
    """Points of the curve, thinned out where there are many."""

    x: list[Number] = field("Shares of all runs.")
    y: list[Number] = field("Shares of all climbs.")
    threshold: list[Number] = field("The score down to which each point has come.")

    @classmethod
    def of(cls, curve: Curve) -> PointsRecord:
        """Points of a curve, at equal distances in its order."""
        at = np.unique(np.linspace(0, len(curve.x) - 1, POINTS).round().astype(int))
        return cls(**{f.name: getattr(curve, f.name)[at].tolist() for f in fields(cls)})


class CurveRecord(Record):
    """One score-weighted ROC curve."""

    name: str
    kind: Kind
    area: Estimated = field("Area under the curve (smAUC).")
    auroc: float
    midpoint: MidpointRecord
    areas: AreasRecord
    height: float = field("All climbs together: height of the rectangle variant.", ge=0)
    width: float = field("All runs together: width of the rectangle variant.", ge=0)
    sets: SetsRecord
    appropriate: float = field("Share of the weight whose scores are appropriate.")
    rotation: float
    gap: Number = field("Area between the curve and its convex hull.")
    recalibrated: Estimated = field("Area after recalibration by the hull of the ROC curve.")
    tables: TablesRecord
    curve: PointsRecord

    @classmethod
    def of(cls, name: str, c: SmRoc, threshold: float) -> CurveRecord:
        """The record of a curve."""
        areas = c.sensitivity().area
        right, wrong = (record_of(Cells, t) for t in c.tables(threshold))
        sets = {f.name: record_of(PartRecord, getattr(c.sets, f.name)) for f in fields(SetsRecord)}
        return record_of(
            cls,
            c.curve,
            c.sets,
            name=name,
            kind=c.tally.kind,
            area=c.area,
            auroc=auroc_value(c.tally),
            midpoint=record_of(MidpointRecord, c.found),
            areas=AreasRecord(lowest=float(np.nanmin(areas)), highest=float(np.nanmax(areas))),
            sets=SetsRecord(**sets),
            gap=c.gap if c.area.defined else None,
            recalibrated=c.recalibrated().area,
            tables=TablesRecord(appropriate=right, inappropriate=wrong),
            curve=PointsRecord.of(c.curve),
        )

    def sections(self, threshold: float, prefix: str) -> list[Section]:
        """The curve in numbers, the four sets of scores, and the tables of decisions."""
        number, s = partial(formatted, how="number"), self.sets
        four = Sets(**vars(s))
        smauc = self.area.why or f"{value(self.area)} {interval(self.area)}"
        after = self.recalibrated
        positive, negative, high, low = map(count, (*four.by_label, *four.by_score))
        facts = {
            "smAUC": f"{smauc}; at random {number(self.area.baseline)}; AUROC {number(self.auroc)}",
            "Midpoint": f"{number(self.midpoint.value)} ({self.midpoint.rule}); over all midpoints smAUC "
            f"lies between {number(self.areas.lowest)} and {number(self.areas.highest)}",
            "Rectangle": f"{self.height:,.1f} high (climbs) by {self.width:,.1f} wide (runs)",
            "Balance": f"{positive} positive to {negative} negative, {high} high to {low} low: rotated by "
            f"{self.rotation:.1f} degrees",
            "Hull": f"an area of {number(self.gap)} above the curve; after recalibration smAUC is "
            f"{number(after.value)} ({number(after.baseline)} at random)",
        }
        parts = [
            ("high on a positive", s.high_positive, "appropriate"),
            ("low on a negative", s.low_negative, "appropriate"),
            ("high on a negative", s.high_negative, "inappropriate"),
            ("low on a positive", s.low_positive, "inappropriate"),
        ]
        right, wrong = self.tables.appropriate, self.tables.inappropriate
        heads = ("appropriate: yes", "no", "inappropriate: yes", "no")
        return [
            Section(f"{prefix}Curve", facts=[*facts.items()]),
            *section(
                f"{prefix}Scores against labels",
                [
                    ("score", "text"),
                    ("rows", "count"),
                    ("share", "percent"),
                    "mean score",
                    ("which is", "text"),
                ],
                [
                    (name, p.weight, p.weight / sum(four.by_label), p.mean, which)
                    for name, p, which in parts
                ],
            ),
            *section(
                f"{prefix}Scores against decisions",
                [("label", "text"), *((head, "count") for head in heads)],
                [
                    ("positive", right.tp, right.fn, wrong.tp, wrong.fn),
                    ("negative", right.fp, right.tn, wrong.fp, wrong.tn),
                ],
                [f"yes: predicted positive, with a score of {threshold:g} or more"],
            ),
        ]


class DistanceRecord(PairNames):
    """Two curves."""

    distance: float = field("Area between them.", ge=0)


class SmRocDocument(JudgedDocument, command="smroc"):
    """Score-weighted ROC curves of the same rows."""

    settings: SettingsRecord
    data: DataRecord
    curves: list[CurveRecord] = field("One curve for each column of scores.", min_length=1)
    distances: list[DistanceRecord] = field("How far the curves are apart, pair by pair.")

    @classmethod
    def of(cls, curves: Mapping[str, SmRoc], threshold: float) -> SmRocDocument:
        """The document of curves on the same rows."""
        first = next(iter(curves.values()))
        made = cls(
            settings=record_of(SettingsRecord, first, threshold=threshold),
            data=DataRecord.of(first.tally),
            verdict=_verdict(curves),
            curves=[CurveRecord.of(name, c, threshold) for name, c in curves.items()],
            distances=[
                DistanceRecord(first=a, second=b, distance=curves[a].distance(curves[b]))
                for a, b in combinations(curves, 2)
            ],
            hints=by_reason((hint, f"'{n}'") for n, c in curves.items() for hint in overlap(c)),
        )
        return with_cautions(made)

    def sections(self) -> list[Section]:
        """Data, areas, the four sets, the tables and the remarks."""
        sections, several = [Section(facts=self.data.facts())], len(self.curves) > 1
        if several:
            level = f"{percent(self.settings.level)} interval"
            apart = "area between the curves of '{0.first}' and '{0.second}': {1}"
            lines = [apart.format(d, formatted(d.distance, "number")) for d in self.distances]
            sections += section(
                "Areas",
                [("model", "text"), ("smAUC", "value"), (level, "text"), "at random", "AUROC"],
                [
                    (f"'{c.name}'", c.area, interval(c.area), c.area.baseline, c.auroc)
                    for c in self.curves
                ],
                lines,
            )
        for c in self.curves:
            sections += c.sections(self.settings.threshold, f"'{c.name}': " if several else "")
        return sections


# What curves mean: the area beside chance, and whether the midpoint misleads.


def _verdict(curves: Mapping[str, SmRoc]) -> list[Claim]:
    """The sentences on curves of the same rows."""
    claims = [c for name, curve in [*curves.items()][:CURVES_IN_WORDS] for c in _of(name, curve)]
    origin = next(iter(curves.values())).tally.origin
    misleads = any(c.finding == "misleads" for c in claims)
    return [*claims, recalibrate_or_evaluate(origin, misleads)]


def _of(name: str, c: SmRoc) -> Iterator[Claim]:
    """Whether the area is above chance, and whether it misleads."""
    who, e, chance = quoted(name), c.area, c.area.baseline or 0.5
    if not e.defined:
        text = f"smAUC of {who} is undefined: {e.why}."
        yield claim("ranking", "unknown", text, [figure("smauc", e, name)])
        return
    at_random = f"the {number(chance)} expected if the same scores were assigned at random"
    if e.low > chance:
        finding, text = "above chance", f"above {at_random}"
    elif e.high < chance:
        finding, text = "below chance", f"below {at_random}"
    else:
        rows = plural(c.tally.origin.rows, "row")
        finding = "not told from chance"
        text = f"not significantly different from {at_random} ({rows})"
    figures = [figure("smauc", e, name), figure("smauc_at_random", Estimate(chance), name)]
    yield claim("ranking", finding, f"smAUC of {who} is {with_ci(e)}, {text}.", figures)
    for text in unreliable(c, f" of {who}"):
        after, auroc = c.recalibrated().area, auroc_value(c.tally)
        figures = [figure("smauc", after, "recalibrated"), figure("auroc", Estimate(auroc), name)]
        text = f"T{text[1:]}. Report AUROC {number(auroc)} beside it."
        yield claim("data", "misleads", text, figures)


def unreliable(c: SmRoc, of: str = "") -> Iterator[str]:
    """Why the area is undefined, or misleads: the objection of Schubert et al. (2012), where it applies."""
    if not c.area.defined:
        yield f"smAUC is undefined: {c.area.why}"
    elif far_from_half(m := c.midpoint):
        after, side = c.recalibrated().area, "below" if m < 0.5 else "above"
        yield (
            f"the midpoint{of} is {number(m)}, far from 0.5: with most scores {side} 0.5, inappropriate "
            f"ones can climb more than appropriate ones, and smAUC misleads (Schubert et al. 2012); after "
            f"recalibration it is {with_ci(after)} ({formatted(after.baseline, 'number')} at random)"
        )


def overlap(c: SmRoc) -> Iterator[str]:
    """Whether the classes are separable, or the midpoint lies outside their overlap."""
    m = c.midpoint
    (neg_low, neg_high), (pos_low, pos_high) = (class_ends(c.tally, side) for side in (0, 1))
    low, high = max(neg_low, pos_low), min(neg_high, pos_high)
    if high < low:
        below, above = (
            ("negatives", "positives") if neg_high < pos_low else ("positives", "negatives")
        )
        where = "" if high < m <= low else f", and the midpoint {number(m)} is not between them"
        yield (
            f"the classes are separable: all {below} score at most {number(high)}, all {above} at "
            f"least {number(low)}{where}"
        )
    elif not low <= m <= high:
        yield (
            f"the midpoint {number(m)} lies outside [{number(low)}, {number(high)}], where the scores of "
            f"the classes overlap; see whether another rule, such as balanced, suits them better"
        )


def class_ends(t: Tally, side: int) -> tuple[float, float]:
    """The lowest and the highest score, on [0, 1], of a class that has rows."""
    used = (t.neg, t.pos)[side] > 0
    lowest, highest = (
        (t.score, t.score) if t.coarse is None else (t.coarse.low[side], t.coarse.high[side])
    )
    low, high = unit(np.array([lowest[used][0], highest[used][-1]]), t.kind).tolist()
    return low, high
