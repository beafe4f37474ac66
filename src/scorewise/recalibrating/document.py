"""What `calibrate fit` writes, shows and reads back: the map, what it was chosen from, before and after."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from scorewise.columns.classes import ClassRows
from scorewise.errors import BadInput, plain
from scorewise.estimate import Estimate
from scorewise.recalibrating.cells import MAX_COMPARED, Clip
from scorewise.recalibrating.choosing import ClassTriedRecord, TriedRecord
from scorewise.recalibrating.maps import ClassMap, Map, Seal
from scorewise.show.data import ClusterRecord, DataRecord, WeightedRows
from scorewise.show.document import JudgedDocument, document_type, from_dict, sealed, with_cautions
from scorewise.show.page import Column, Heads, Section, section
from scorewise.show.records import Count, Level, Record, Word, field, record_of
from scorewise.show.verdict import Claim, claim, figure, next_command, with_ci
from scorewise.show.words import Sentence, count, formatted, listed, percent, value
from scorewise.tallies import Tally
from scorewise.writing import read_sealed, seal

if TYPE_CHECKING:
    from scorewise.recalibrating.recalibrator import Recalibrator

NAMED = 5  # classes whose rows are given one by one
TABLE = "Each method that was tried, on rows that it had not seen."
BEFORE_AND_AFTER = {
    "log_loss": "Log loss",
    "brier": "Brier score",
    "accuracy": "Accuracy",
    "in_the_large": "Calibration in the large",
    "slope": "Calibration slope",
}


class SettingsRecord(Record):
    """The settings that the map and the numbers depend on."""

    method: Word = field("The method asked for; auto where it was to be chosen.")
    folds: Count = field("Folds of the cross-fitting.")
    seed: Count
    clip: Clip = field("Probabilities are kept this far from 0 and 1.")
    level: Level


class MapDocument(JudgedDocument):
    """A map, and what it was chosen from."""

    settings: SettingsRecord
    clusters: ClusterRecord | None = None
    chosen: Word = field("The method of the map.")
    meaning: Word = field("What that method does.")
    reason: Word = field("Why this method was taken.")
    sha256: Seal = ""


class CalibrateDocument(MapDocument, command="calibrate"):
    """A map from scores to probabilities, and what it was chosen from."""

    data: DataRecord
    outside: Word = field("What becomes of scores beyond those seen.")
    table: list[TriedRecord] = field(TABLE, min_length=1)
    map: Map

    def sections(self) -> list[Section]:
        """Data, the map, the methods that were tried, and before and after."""
        m = self.map
        low, high = (formatted(end, "number") for end in (m.low, m.high))
        numbers = [
            f"{name} {formatted(x, 'number')}"
            for name, x in m.parameters.items()
            if not isinstance(x, list)
        ]
        facts = [
            ("Scores", f"{m.kind}, from {low} to {high}"),
            ("Chosen", self.chosen),
            ("Map", "; ".join([self.meaning, *([", ".join(numbers)] if numbers else [])])),
        ]
        if self.chosen != "identity":
            facts.append(("Beyond", f"scores outside that range are {self.outside}"))
        legend = "Calibrated scores have 0 in the large and slope 1; a slope below 1 means overconfident."
        return _sections(self, facts, "brier", "scores", [legend])


class ClassRecord(Record):
    """One of the classes."""

    name: str
    column: str | None = field("The column of its scores; null when given as arrays.")
    rows: Count
    weight: float = field("Their weight.", ge=0)


class ClassDataRecord(WeightedRows):
    """The rows of several classes that the map was learned from."""

    label: str = field("Column of the labels.")
    classes: list[ClassRecord] = field("The classes in the order of the columns.", min_length=2)

    @classmethod
    def of(cls, rows: ClassRows) -> ClassDataRecord:
        """The rows and the weight of each class, and their columns."""
        counts, weights = (
            np.bincount(rows.y, w, len(rows.classes)) for w in (rows.count, rows.mass())
        )
        return cls(
            sources=list(rows.sources),
            label=rows.names.label,
            classes=[
                ClassRecord(name=name, column=rows.columns.get(name), rows=int(n), weight=float(w))
                for name, n, w in zip(rows.classes, counts, weights, strict=True)
            ],
            rows=int(counts.sum()),
            dropped=rows.dropped,
            weight=None if rows.weight is None else rows.names.weight,
        )

    @property
    def columns(self) -> dict[str, str]:
        """The column of each class, by its own name where none was named."""
        return {c.name: c.column or c.name for c in self.classes}

    def facts(self) -> list[tuple[str, str]]:
        """The rows in words, as pairs of a key and a sentence."""
        facts = [("Data", listed([f"'{s}'" for s in self.sources]))] if self.sources else []
        each = [f"{count(c.rows)} '{c.name}'" for c in self.classes]
        if len(each) > NAMED:
            rows = [c.rows for c in self.classes]
            each = [f"{count(min(rows))} to {count(max(rows))} of each"]
        total = f"{count(self.rows)} of {len(self.classes)} classes"
        facts.append(("Rows", f"{total}: {', '.join(each)}"))
        facts += self.dropped_facts()
        if self.weight is not None:
            facts.append(("Weights", f"'{self.weight}'"))
        return facts


class CalibrateClassesDocument(MapDocument, command="calibrate-classes"):
    """A map of several classes, and what it was chosen from."""

    data: ClassDataRecord
    table: list[ClassTriedRecord] = field(TABLE, min_length=1)
    map: ClassMap

    def sections(self) -> list[Section]:
        """Data, the map, the methods that were tried, and before and after."""
        m, meaning = self.map, self.meaning
        if "slope" in m.parameters:
            meaning += f"; slope {formatted(m.parameters['slope'], 'number')}"
        if self.chosen in ("structured", "dirichlet"):
            meaning += f"; strength {m.strength:g}"
        facts = [("Scores", m.kind), ("Chosen", self.chosen), ("Map", meaning)]
        return _sections(self, facts, "accuracy", "probabilities")


Calibrated: TypeAlias = CalibrateDocument | CalibrateClassesDocument


def calibrate_document(r: Recalibrator) -> Calibrated:
    """The document of a fitted map."""
    m, choice, data = r.map_, r.choice_, r.data_
    kind: type[Calibrated]
    if isinstance(data, Tally):
        kind, hints = CalibrateDocument, _hints(m, data)
    else:
        kind, hints = CalibrateClassesDocument, _class_hints(m, choice.compared)
    doc: Calibrated = record_of(
        kind,
        *(choice, m.traits),
        settings=record_of(SettingsRecord, r),
        data=r.record_,
        clusters=ClusterRecord.of(r.clusters_),
        map=sealed(m),
        hints=[*hints, *r.hints],
        verdict=[],  # written below, from all the rest
    )
    return _with_verdict(with_cautions(doc))


def _with_verdict(doc: Calibrated) -> Calibrated:
    """The same document with the sentences that follow from it, and its seal."""
    rows: dict[str, Any] = {row.method: row for row in doc.table}
    claims = [_chosen(doc, rows), *_before(doc, rows)]
    if doc.chosen != "identity":
        claims.append(_next(doc))
    return sealed(replace(doc, verdict=claims))


def read_map(path: str | Path) -> Calibrated:
    """The document in a file; a sentence says what is wrong with any other file."""
    doc = read_sealed(path, ("calibrate", "calibrate-classes"), "map", "calibrate fit")
    try:
        # numbers that are not finite have no seal
        if all(part["sha256"] == seal(part) for part in (doc, doc["map"])):
            # the sentences are written anew: maps were saved before there were any
            made: Any = from_dict(document_type(doc["command"]), {**doc, "verdict": []})
            if made.map.sound:
                return _with_verdict(made)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise BadInput(f"{plain(Path(path).name)} is damaged or was edited; fit the map again")


def _hints(m: Any, t: Tally) -> Iterator[str]:
    if m.smoothed:
        yield (
            "A threshold tells the classes apart, so that no slope is steep enough: the labels were "
            "smoothed as if there were one more row of each class (Platt 1999)."
        )
    slopes = [m.parameters[n] for n in ("slope", "a", "b", "first", "last") if n in m.parameters]
    if slopes and not any(slopes):
        yield "Higher scores do not go with positives: the best map that does not fall is flat."
    if t.coarse is not None:
        yield "The tally is coarse: the map was fitted to the middles of its cells."
    elif len(t.score) > MAX_COMPARED:
        yield "Methods were compared on 8,192 pooled cells; the map is fitted to all scores."
    if m.method == "isotonic":
        yield "This map may say 0 or 1, and be certain and wrong; isotonic_strict never does."


def _class_hints(m: Any, compared: int) -> Iterator[str]:
    if m.absent and m.method != "identity":
        yield (
            f"No row has the class {', '.join(m.absent)}: its own slope and intercept stay as in the "
            f"identity."
        )
    if compared < m.rows:
        yield (
            f"Methods were compared on {count(compared)} rows drawn at random; the map is fitted to all."
        )
    if m.parameters.get("slope") == 0:
        yield "Higher probabilities do not go with the class: the best map that does not fall is flat."


def _sections(
    doc: Calibrated,
    facts: Sequence[tuple[str, Sentence]],
    beside: str,
    scores: str,
    lines: Sequence[str] = (),
) -> list[Section]:
    """Facts, the methods that were tried, best first, and the scores before and after the map.

    Another measure stands `beside` log loss; `scores` is what the map is applied to.
    """
    interval = Column(percent(doc.settings.level), "interval")
    clusters = [] if doc.clusters is None else [("Clusters", str(doc.clusters))]
    heads: Heads = [
        ("Method", "text"), ("Log loss", "value"), interval, (beside.capitalize(), "value"),
        ("Saved", "value"), interval,
    ]  # fmt: skip
    table: list[Any] = sorted(doc.table, key=lambda row: row.log_loss.value)
    rows = [
        (row.method, row.log_loss, row.log_loss, getattr(row, beside))
        + (("", "") if row.method == "identity" else (row.gain, row.gain))
        for row in table
    ]
    clustered = " of whole clusters" if clusters else ""
    legend = f"On rows not seen in fitting ({doc.settings.folds} folds{clustered})."
    if not all(row.gain.why for row in table):
        legend += f" Saved: log loss of the {scores} as they are, less that of the method; paired."
    all_facts = [*doc.data.facts(), *clusters, *facts]
    sections = [Section(facts=all_facts), *section("Tried", heads, rows, [legend])]
    by_method = {row.method: row for row in table}
    if doc.chosen != "identity" and "identity" in by_method:
        before, after = by_method["identity"], by_method[doc.chosen]
        heads = [("", "text"), ("Before", "value"), interval, ("After", "value"), interval]
        rows = [
            (title, *(getattr(row, key) for row in (before, before, after, after)))
            for key, title in BEFORE_AND_AFTER.items()
            if hasattr(before, key)
        ]
        sections += section("Before and after", heads, rows, lines)
    return sections


# What a fitted map means: which was chosen, what it saves on rows not seen, and whether that is shown.


def _next(doc: Calibrated) -> Claim:
    """How the map is applied."""
    if not doc.data.sources:
        text = "Next: predict_proba(scores) of the fitted map"
        return claim("next", "predict_proba", text)
    column = ("score", "COLUMN") if doc.command == "calibrate" else ("classes", "COLUMNS")
    options = [column, ("out", "calibrated.csv")]
    return next_command("calibrate apply MAP NEW_FILE", [], options)


def _chosen(doc: Calibrated, rows: dict[str, Any]) -> Claim:
    """Which map was chosen, why, and what it saves on rows not seen."""
    if doc.chosen == "identity":
        others = (row for row in rows.values() if row.method != "identity")
        best = min(others, key=lambda row: _number(row.log_loss.value, math.inf), default=None)
        text = f"The scores stay as they are: {doc.reason}"
        if best is not None:
            text += f"; with {best.method} log loss changes by {_change(best.gain)}"
        finding = "asked for" if doc.reason == "asked for" else "not shown"
        figures = [] if best is None else [figure("gain", best.gain, best.method)]
        return claim("repair", finding, f"{text}.", figures)
    gain, loss = rows[doc.chosen].gain, rows[doc.chosen].log_loss
    if gain.why:
        text = f"{doc.chosen} was taken ({doc.reason}): log loss {with_ci(loss)} on rows not seen."
        return claim("repair", "taken", text, [figure("log_loss", loss, doc.chosen)])
    figures = [figure("gain", gain, doc.chosen)]
    if doc.reason != "asked for":
        text = f"{doc.chosen} is {doc.reason}; it lowers log loss by {with_ci(gain)}."
        return claim("repair", "helps", text, figures)
    finding = "helps" if _number(gain.low) > 0 else "not shown"
    that = "" if finding == "helps" else ", which does not show that it helps"
    text = f"{doc.chosen} was asked for: on rows not seen it changes log loss by {_change(gain)}{that}."
    return claim("repair", finding, text, figures)


def _change(gain: Any) -> str:
    """What a map does to the loss, which is less by what it saves."""
    value, low, high = (-_number(x) for x in (gain.value, gain.high, gain.low))
    return with_ci(Estimate(value, low, high))


def _number(x: float | None, other: float = math.nan) -> float:
    """A finite number; documents have null in place of others."""
    return x if x is not None and math.isfinite(x) else other


def _before(doc: Calibrated, rows: dict[str, Any]) -> Iterator[Claim]:
    """How the scores were wrong as they are, and what the map makes of it."""
    before, after = (getattr(rows.get(name), "slope", None) for name in ("identity", doc.chosen))
    if before is None or after is None or before.value is None or before.why:
        return
    if _number(before.high) < 1:
        words, finding = "overconfident", "too sure"
    elif _number(before.low) > 1:
        words, finding = "underconfident", "not sure enough"
    else:
        return
    then = f"; with the map {value(after)}" if doc.chosen != "identity" and not after.why else ""
    figures = [figure("calibration_slope", e, n) for e, n in ((before, "before"), (after, "after"))]
    text = f"The scores are {words}: slope {with_ci(before)}{then}."
    yield claim("probabilities", finding, text, figures)
