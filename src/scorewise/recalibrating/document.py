"""What `calibrate fit` writes, shows and reads back: the map, what it was chosen from, before and after."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import numpy as np
from msgspec import Meta

from scorewise.columns.classes import ClassRows
from scorewise.errors import BadInput, plain
from scorewise.recalibrating.cells import FEW
from scorewise.recalibrating.classes.methods import CLASS_METHODS, ClassMap
from scorewise.recalibrating.mapping import Clip, Map, Seal, sealed
from scorewise.recalibrating.methods import METHODS
from scorewise.show.data import DataRecord
from scorewise.show.document import (
    COMMAND,
    Count,
    Document,
    Estimated,
    Hints,
    Level,
    Word,
    document_type,
    from_dict,
    record_of,
    says,
    with_cautions,
)
from scorewise.show.page import (
    Column,
    Page,
    Section,
    Table,
    count,
    counted,
    hints,
    named,
    percent,
    written,
)
from scorewise.writing import seal

if TYPE_CHECKING:
    from scorewise.recalibrating.recalibrator import Recalibrator

NAMED = 5  # classes whose rows are given one by one
CHOSEN, MEANING = "The method of the map.", "What that method does."
REASON = "Why this method was taken."
TABLE = "Each method that was tried, on rows that it had not seen."
METHOD, LOG_LOSS = "Name of the method.", "Log loss."
GAIN = "Log loss of the scores as they are, minus that of this method; paired."


@dataclass(frozen=True, kw_only=True)
class SettingsRecord:
    """The settings that the map and the numbers depend on."""

    method: Annotated[Word, says("The method asked for; auto where it was to be chosen.")]
    folds: Annotated[Count, says("Folds of the cross-fitting.")]
    seed: Annotated[Count, says("Seed of the random folds.")]
    clip: Annotated[Clip, says("Probabilities are kept this far from 0 and 1.")]
    level: Annotated[Level, says("Confidence level of the intervals.")]


@dataclass(frozen=True, kw_only=True)
class TriedRecord:
    """One method, cross-fitted."""

    method: Annotated[Word, says(METHOD)]
    log_loss: Annotated[Estimated, says(LOG_LOSS)]
    brier: Annotated[Estimated, says("Brier score.")]
    gain: Annotated[Estimated, says(GAIN)]
    in_the_large: Annotated[Estimated, says("Calibration in the large: 0 is right.")]
    slope: Annotated[Estimated, says("Calibration slope: 1 is right, below 1 is too bold.")]


@dataclass(frozen=True, kw_only=True)
class CalibrateDocument(Document):
    """A map from scores to probabilities, and what it was chosen from."""

    command: Annotated[Literal["calibrate"], says(COMMAND)] = "calibrate"
    settings: SettingsRecord
    data: DataRecord
    chosen: Annotated[Word, says(CHOSEN)]
    meaning: Annotated[Word, says(MEANING)]
    outside: Annotated[Word, says("What becomes of scores beyond those seen.")]
    reason: Annotated[Word, says(REASON)]
    table: Annotated[list[TriedRecord], Meta(min_length=1), says(TABLE)]
    map: Map
    hints: Hints
    sha256: Seal = ""

    def page(self) -> Page:
        """Data, the map, the methods that were tried, and before and after."""
        m = self.map
        low, high = (written(end, "number") for end in (m.low, m.high))
        numbers = [
            f"{name} {written(x, 'number')}"
            for name, x in m.parameters.items()
            if not isinstance(x, list)
        ]
        facts = [
            *self.data.facts(),
            ("Scores", f"{m.kind}, from {low} to {high}"),
            ("Chosen", f"{self.chosen}: {self.reason}"),
            ("Map", "; ".join([self.meaning, *([", ".join(numbers)] if numbers else [])])),
        ]
        if self.chosen != "identity":
            facts.append(("Beyond", f"scores outside that range are {self.outside}"))
        names = {
            "log_loss": "Log loss",
            "brier": "Brier score",
            "in_the_large": "Calibration in the large",
            "slope": "Calibration slope",
        }
        legend = "Calibrated are 0 in the large and slope 1; a slope below 1 is too bold."
        tried = _tried(self, "brier", "Brier", "scores")
        changed = _changed(self, names, [legend])
        return Page(self.command, [Section(facts=facts), tried, *changed, *hints(self.hints)])


@dataclass(frozen=True, kw_only=True)
class ClassRecord:
    """One of the classes."""

    name: Annotated[str, says("Its name.")]
    column: Annotated[str | None, says("The column of its scores; null when given as arrays.")]
    rows: Annotated[Count, says("Rows of this class.")]
    weight: Annotated[float, Meta(ge=0), says("Their weight.")]


@dataclass(frozen=True, kw_only=True)
class ClassDataRecord:
    """The rows of several classes that the map was learned from."""

    sources: Annotated[list[str], says("Files read; empty when given as arrays.")]
    label: Annotated[str, says("Column of the labels.")]
    classes: Annotated[
        list[ClassRecord], Meta(min_length=2), says("The classes in the order of the columns.")
    ]
    rows: Annotated[Count, says("Rows, without those dropped.")]
    dropped: Annotated[Count, says("Rows left out because a value was missing.")]
    weight: Annotated[str | None, says("Column of the weights; null when all rows weigh the same.")]

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
        if self.dropped:
            facts.append(("Dropped", f"{counted(self.dropped, 'row')} with missing values"))
        if self.weight is not None:
            facts.append(("Weights", f"'{self.weight}'"))
        return facts


@dataclass(frozen=True, kw_only=True)
class ClassTriedRecord:
    """One method for several classes, cross-fitted."""

    method: Annotated[Word, says(METHOD)]
    strength: Annotated[
        float, Meta(ge=0), says("Rows that the pull towards simpler maps is worth.")
    ]
    log_loss: Annotated[Estimated, says(LOG_LOSS)]
    brier: Annotated[Estimated, says("Brier score, the sum over classes.")]
    accuracy: Annotated[Estimated, says("Share of rows whose most probable class is right.")]
    gain: Annotated[Estimated, says(GAIN)]


@dataclass(frozen=True, kw_only=True)
class CalibrateClassesDocument(Document):
    """A map of several classes, and what it was chosen from."""

    command: Annotated[Literal["calibrate-classes"], says(COMMAND)] = "calibrate-classes"
    settings: SettingsRecord
    data: ClassDataRecord
    chosen: Annotated[Word, says(CHOSEN)]
    meaning: Annotated[Word, says(MEANING)]
    reason: Annotated[Word, says(REASON)]
    table: Annotated[list[ClassTriedRecord], Meta(min_length=1), says(TABLE)]
    map: ClassMap
    hints: Hints
    sha256: Seal = ""

    def page(self) -> Page:
        """Data, the map, the methods that were tried, and before and after."""
        m, meaning = self.map, self.meaning
        if "slope" in m.parameters:
            meaning += f"; slope {written(m.parameters['slope'], 'number')}"
        if self.chosen in ("structured", "dirichlet"):
            meaning += f"; strength {m.strength:g}"
        facts = [
            *self.data.facts(),
            ("Scores", m.kind),
            ("Chosen", f"{self.chosen}: {self.reason}"),
            ("Map", meaning),
        ]
        names = {"log_loss": "Log loss", "brier": "Brier score", "accuracy": "Accuracy"}
        tried = _tried(self, "accuracy", "Accuracy", "probabilities")
        changed = _changed(self, names)
        return Page(self.command, [Section(facts=facts), tried, *changed, *hints(self.hints)])


Calibrated: TypeAlias = CalibrateDocument | CalibrateClassesDocument


def calibrate_document(r: Recalibrator) -> CalibrateDocument:
    """The document of a map from one score a row."""
    method = METHODS[r.chosen]
    doc = CalibrateDocument(
        settings=r.settings,
        data=DataRecord.of(r.tally_),
        chosen=r.chosen,
        meaning=method.meaning,
        outside=method.outside,
        reason=r.choice_.reason,
        table=[record_of(TriedRecord, row) for row in r.table],
        map=sealed(r.map_),
        hints=list(_hints(r)),
    )
    return sealed(with_cautions(doc))


def class_document(r: Recalibrator) -> CalibrateClassesDocument:
    """The document of a map of several classes."""
    doc = CalibrateClassesDocument(
        settings=r.settings,
        data=r.data_,
        chosen=r.chosen,
        meaning=CLASS_METHODS[r.chosen].meaning,
        reason=r.choice_.reason,
        table=[record_of(ClassTriedRecord, row) for row in r.table],
        map=sealed(r.map_),
        hints=list(_class_hints(r)),
    )
    return sealed(with_cautions(doc))


def read_map(path: str | Path) -> Calibrated:
    """The document in a file; a sentence says what is wrong with any other file."""
    name = plain(Path(path).name)
    try:
        doc = json.loads(Path(path).read_text("utf-8"))
    except OSError as e:
        raise BadInput(f"{name} cannot be read: {e.strerror or e}") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{name} is not JSON; name a file that calibrate fit wrote") from None
    if not isinstance(doc, dict) or doc.get("command") not in ("calibrate", "calibrate-classes"):
        raise BadInput(f"{name} holds no map; name a file that calibrate fit wrote")
    if doc.get("schema") != 1:
        raise BadInput(f"{name} has format {doc.get('schema')!r}, but 1 is known here")
    try:
        # numbers that are not finite have no seal
        whole = all(part["sha256"] == seal(part) for part in (doc, doc["map"]))
        found: Any = from_dict(document_type(doc["command"]), doc) if whole else None
        if whole and found.map.sound:
            checked: Calibrated = found
            return checked
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    raise BadInput(f"{name} is damaged or was edited; fit the map again")


def _hints(r: Recalibrator) -> Iterator[str]:
    t, m = r.tally_, r.map_
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


def _class_hints(r: Recalibrator) -> Iterator[str]:
    m, compared = r.map_, getattr(r.choice_, "compared", 0)
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


def _tried(doc: Calibrated, further: str, title: str, what: str) -> Section:
    """The methods that were tried, best first, with a further measure beside log loss."""
    level = percent(doc.settings.level)
    columns = [
        Column("Method", "text"),
        Column("Log loss", "value"),
        Column(level, "interval"),
        Column(title, "value"),
        Column("Saved", "value"),
        Column(level, "interval"),
    ]
    table: list[Any] = sorted(doc.table, key=lambda row: row.log_loss.value)
    rows = [
        (
            row.method,
            row.log_loss,
            row.log_loss,
            getattr(row, further),
            *(("", "") if row.method == "identity" else (row.gain, row.gain)),
        )
        for row in table
    ]
    legend = f"On rows not seen in fitting ({doc.settings.folds} folds)."
    if any(row.gain.value is not None for row in table):
        legend += f" Saved: log loss of the {what} as they are, less that of the method; paired."
    return Section("Tried", table=Table(columns, rows), lines=[legend])


def _changed(doc: Calibrated, names: Mapping[str, str], lines: Sequence[str] = ()) -> list[Section]:
    """The scores as they are beside what the map makes of them, if it changes them."""
    found: dict[str, Any] = {row.method: row for row in doc.table}
    if doc.chosen == "identity" or "identity" not in found:
        return []
    before, after = found["identity"], found[doc.chosen]
    rows = [
        (title, *(getattr(row, key) for row in (before, before, after, after)))
        for key, title in names.items()
    ]
    level = Column(percent(doc.settings.level), "interval")
    columns = [
        Column("", "text"),
        Column("Before", "value"),
        level,
        Column("After", "value"),
        level,
    ]
    return [Section("Before and after", table=Table(columns, rows), lines=lines)]
