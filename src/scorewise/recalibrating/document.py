"""What `calibrate fit` writes, shows and reads back: the map, what it was chosen from, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from scorewise.columns.classes import ClassRows
from scorewise.errors import BadInput, plain
from scorewise.recalibrating.cells import FEW
from scorewise.recalibrating.choosing import ClassTriedRecord, TriedRecord
from scorewise.recalibrating.maps import CLASS_METHODS, ClassMap, Clip, Map, Seal
from scorewise.recalibrating.methods import METHODS
from scorewise.recalibrating.verdict import verdict_of
from scorewise.show.data import ClusterRecord, DataRecord, WeightedRows
from scorewise.show.document import JudgedDocument, document_type, from_dict, sealed, with_cautions
from scorewise.show.fields import Count, Level, Record, Word, means
from scorewise.show.page import Column, Section, section
from scorewise.show.words import Sentence, count, named, percent, written
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

    method: Word = means("The method asked for; auto where it was to be chosen.")
    folds: Count = means("Folds of the cross-fitting.")
    seed: Count
    clip: Clip = means("Probabilities are kept this far from 0 and 1.")
    level: Level


class MapDocument(JudgedDocument):
    """A map, and what it was chosen from."""

    settings: SettingsRecord
    clusters: ClusterRecord | None = None
    chosen: Word = means("The method of the map.")
    meaning: Word = means("What that method does.")
    reason: Word = means("Why this method was taken.")
    sha256: Seal = ""


class CalibrateDocument(MapDocument, command="calibrate"):
    """A map from scores to probabilities, and what it was chosen from."""

    data: DataRecord
    outside: Word = means("What becomes of scores beyond those seen.")
    table: list[TriedRecord] = means(TABLE, min_length=1)
    map: Map

    def sections(self) -> list[Section]:
        """Data, the map, the methods that were tried, and before and after."""
        m = self.map
        low, high = (written(end, "number") for end in (m.low, m.high))
        numbers = [
            f"{name} {written(x, 'number')}"
            for name, x in m.parameters.items()
            if not isinstance(x, list)
        ]
        facts = [
            *_facts(self),
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
    column: str | None = means("The column of its scores; null when given as arrays.")
    rows: Count
    weight: float = means("Their weight.", ge=0)


class ClassDataRecord(WeightedRows):
    """The rows of several classes that the map was learned from."""

    label: str = means("Column of the labels.")
    classes: list[ClassRecord] = means("The classes in the order of the columns.", min_length=2)

    @classmethod
    def of(cls, rows: ClassRows, columns: Mapping[str, str] | None = None) -> ClassDataRecord:
        """The rows and the weight of each class, and their columns."""
        times = np.ones(len(rows), np.int64) if rows.count is None else rows.count
        mass = times.astype(float) if rows.weight is None else times * rows.weight
        k = len(rows.classes)
        counts, weights = np.bincount(rows.y, times, k), np.bincount(rows.y, mass, k)
        known = columns or {}
        return cls(
            sources=[name for name, _ in rows.place.files],
            label=rows.names.label,
            classes=[
                ClassRecord(name=name, column=known.get(name), rows=int(n), weight=float(w))
                for name, n, w in zip(rows.classes, counts, weights, strict=True)
            ],
            rows=int(times.sum()),
            dropped=rows.dropped,
            weight=None if rows.weight is None else rows.names.weight,
        )

    def facts(self) -> list[tuple[str, str]]:
        """The rows in words, as pairs of a key and a sentence."""
        facts = [("Data", named([f"'{s}'" for s in self.sources]))] if self.sources else []
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
    table: list[ClassTriedRecord] = means(TABLE, min_length=1)
    map: ClassMap

    def sections(self) -> list[Section]:
        """Data, the map, the methods that were tried, and before and after."""
        m, meaning = self.map, self.meaning
        if "slope" in m.parameters:
            meaning += f"; slope {written(m.parameters['slope'], 'number')}"
        if self.chosen in ("structured", "dirichlet"):
            meaning += f"; strength {m.strength:g}"
        facts = [*_facts(self), ("Scores", m.kind), ("Chosen", self.chosen), ("Map", meaning)]
        return _sections(self, facts, "accuracy", "probabilities")


Calibrated: TypeAlias = CalibrateDocument | CalibrateClassesDocument


def calibrate_document(r: Recalibrator) -> Calibrated:
    """The document of a fitted map."""
    m, choice = r.map_, r.choice_
    known: dict[str, Any] = {
        "settings": r.settings,
        "clusters": ClusterRecord.of(r.clusters_),
        "chosen": m.method,
        "reason": choice.reason,
        "table": list(choice.table),
        "map": sealed(m),
        "verdict": [],  # written below, from all the rest
    }
    if isinstance(m, ClassMap):
        meaning, remarks = CLASS_METHODS[m.method].meaning, _class_hints(m, choice.compared)
        made = CalibrateClassesDocument(
            data=r.data_, meaning=meaning, hints=[*remarks, *r.hints], **known
        )
        return _judged(with_cautions(made))
    method, t = METHODS[m.method], r.tally_
    doc = CalibrateDocument(
        data=DataRecord.of(t),
        meaning=method.meaning,
        outside=method.outside,
        hints=[*_hints(m, t), *r.hints],
        **known,
    )
    return _judged(with_cautions(doc))


def _judged(doc: Calibrated) -> Calibrated:
    """The same document with the sentences that follow from it, and its seal."""
    return sealed(replace(doc, verdict=verdict_of(doc)))


def read_map(path: str | Path) -> Calibrated:
    """The document in a file; a sentence says what is wrong with any other file."""
    doc = read_sealed(path, ("calibrate", "calibrate-classes"), "map", "calibrate fit")
    try:
        # numbers that are not finite have no seal
        whole = all(part["sha256"] == seal(part) for part in (doc, doc["map"]))
        # the sentences are written anew: maps were saved before there were any
        known = {**doc, "verdict": []}
        found: Any = from_dict(document_type(doc["command"]), known) if whole else None
        if whole and found.map.sound:
            return _judged(found)
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise BadInput(f"{plain(Path(path).name)} is damaged or was edited; fit the map again")


def _hints(m: Map, t: Tally) -> Iterator[str]:
    if m.smoothed:
        yield (
            "A threshold tells the classes apart, so that no slope is steep enough: the labels were "
            "smoothed as if there were one more row of each class (Platt 1999)."
        )
    slopes = [m.parameters.get(name) for name in ("slope", "a", "b", "first", "last")]
    known = [s for s in slopes if s is not None]
    if known and not any(known):
        yield "Higher scores do not go with positives: the best map that does not fall is flat."
    if t.coarse is not None:
        yield "The tally is coarse: the map was fitted to the middles of its cells."
    elif len(t.score) > FEW:
        yield "Methods were compared on 8,192 pooled cells; the map is fitted to all scores."
    if m.method == "isotonic":
        yield "This map may say 0 or 1, and be certain and wrong; isotonic_strict never does."


def _class_hints(m: ClassMap, compared: int) -> Iterator[str]:
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


def _facts(doc: Calibrated) -> list[tuple[str, Sentence]]:
    """What is said of the rows, and of the clusters that they come in."""
    clusters = [] if doc.clusters is None else [("Clusters", str(doc.clusters))]
    return [*doc.data.facts(), *clusters]


def _sections(
    doc: Calibrated,
    facts: Sequence[tuple[str, Sentence]],
    further: str,
    what: str,
    lines: Sequence[str] = (),
) -> list[Section]:
    """Facts, the methods that were tried, best first, and the scores before and after the map.

    A `further` measure stands beside log loss; `what` the map is applied to.
    """
    interval = Column(percent(doc.settings.level), "interval")
    columns = [Column("Method", "text"), Column("Log loss", "value"), interval]
    columns += [Column(further.capitalize(), "value"), Column("Saved", "value"), interval]
    table: list[Any] = sorted(doc.table, key=lambda row: row.log_loss.value)
    rows = [
        (row.method, row.log_loss, row.log_loss, getattr(row, further))
        + (("", "") if row.method == "identity" else (row.gain, row.gain))
        for row in table
    ]
    whole = "" if doc.clusters is None else " of whole clusters"
    legend = f"On rows not seen in fitting ({doc.settings.folds} folds{whole})."
    if not all(row.gain.why for row in table):
        legend += f" Saved: log loss of the {what} as they are, less that of the method; paired."
    sections = [Section(facts=facts), *section("Tried", columns, rows, [legend])]
    found = {row.method: row for row in table}
    if doc.chosen != "identity" and "identity" in found:
        before, after = found["identity"], found[doc.chosen]
        heads = [Column("", "text")]
        heads += [c for title in ("Before", "After") for c in (Column(title, "value"), interval)]
        rows = [
            (title, *(getattr(row, key) for row in (before, before, after, after)))
            for key, title in BEFORE_AND_AFTER.items()
            if hasattr(before, key)
        ]
        sections += section("Before and after", heads, rows, lines)
    return sections
