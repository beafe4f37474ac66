"""What `in_and_out` writes and shows: how right models are, and how sure, in and out of distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np

from scorewise.show.document import Document, with_cautions
from scorewise.show.page import Column, Section, section, undefined
from scorewise.show.records import (
    Count,
    Estimated,
    Record,
    Repeatable,
    Share,
    Titled,
    field,
    record_of,
)
from scorewise.show.verdict import Hints
from scorewise.show.words import count, formatted, percent

if TYPE_CHECKING:
    from scorewise.models.distributions import InAndOut, ModelInAndOut, Sets

SURE = 0.1  # above the largest class share, out of distribution
Side = Literal["in", "out"]
# name -> title, and whether it is of the rows in or out of distribution
SHOWN: dict[str, tuple[str, Side]] = {
    "accuracy": ("Accuracy", "in"),
    "log_loss": ("Log loss", "in"),
    "ece": ("Top-label ECE", "in"),
    "confidence_in": ("Mean confidence", "in"),
    "confidence_out": ("Mean confidence", "out"),
    "auroc_novelty": ("AUROC of novelty", "out"),
    "auroc_confidence": ("AUROC of 1 - confidence", "out"),
    "aurc_novelty": ("AURC, rejecting by novelty", "out"),
    "aurc_confidence": ("AURC, rejecting by confidence", "out"),
}


class SettingsRecord(Repeatable):
    """The settings that the numbers depend on."""

    points: Count = field("Points at each radius.")
    clip: float | None = field("Distance from 0 to which log loss clips; null: no clipping.")


class RowsRecord(Record):
    """The rows that the models were judged on."""

    rows: Count = field("Rows in distribution.")
    rows_out: Count | None = field("Rows out of distribution; null where none were given.")
    columns: Count = field("Numbers that a row has.")
    classes: list[str] = field("The classes.", min_length=1)
    largest_share: Share = field("Share of the commonest class.")


class OfSide(Titled):
    """A measure of rows in or out of distribution."""

    of: Side = field("Whether it is of rows in or out of distribution.")


class MeasureRecord(Estimated, OfSide):
    """One measure with its estimate."""


class AtRadius(Record):
    """Where points lie."""

    radius: float = field("Multiple of the largest distance of a row from the centre.", ge=0)


class RadiusRecord(Estimated, AtRadius):
    """The mean confidence at one radius."""


class ModelRecord(Record):
    """One model."""

    name: str
    novelty: Literal["score_samples", "novelty"] | None = field(
        "What told how novel rows are; null where nothing did."
    )
    measures: list[MeasureRecord]
    radii: list[RadiusRecord] = field("The mean confidence at radii of the data.")


class InAndOutDocument(Document, command="in-and-out"):
    """How right and sure models are in distribution, and how sure out of it."""

    settings: SettingsRecord
    data: RowsRecord
    models: list[ModelRecord] = field("The models.", min_length=1)
    hints: Hints

    def sections(self) -> list[Section]:
        """Facts, the measures in and out of distribution, and the confidence at radii of the data."""
        data = self.data
        facts = [("In", f"{count(data.rows)} rows of {len(data.classes)} classes")]
        if data.rows_out is not None:
            facts.append(("Out", f"{count(data.rows_out)} rows"))
        share = formatted(data.largest_share, "number")
        facts.append(("Prior", f"the commonest class has a share of {share}"))
        return [
            Section(facts=facts),
            *_measures(self, "in", "In distribution"),
            *_measures(self, "out", "Out of distribution"),
            *_radii(self),
            *undefined(_absent(self)),
        ]


def in_and_out_document(r: InAndOut, sets: Sets) -> InAndOutDocument:
    """The document of models judged together."""
    first, (rows, *columns) = next(iter(r.values())), np.shape(sets.X)
    models = [
        ModelRecord(
            name=name,
            novelty=one.novelty_by,
            measures=[
                record_of(MeasureRecord, one[key], name=key, title=title, of=of)
                for key, (title, of) in SHOWN.items()
            ],
            radii=[record_of(RadiusRecord, e, radius=radius) for radius, e in one.at.items()],
        )
        for name, one in r.items()
    ]
    doc = InAndOutDocument(
        settings=sets.settings,
        data=RowsRecord(
            rows=int(rows),
            rows_out=None if sets.out is None else len(sets.out),
            columns=math.prod(columns),
            classes=[str(c) for c in first.tally.classes],
            largest_share=first.largest_share,
        ),
        models=models,
        hints=[hint for name, one in r.items() for hint in _hints(name, one)],
    )
    return with_cautions(doc)


def _hints(name: str, one: ModelInAndOut) -> Iterator[str]:
    """Where a model stays sure of what it cannot know."""
    share = one.largest_share
    places = {"out of distribution": one["confidence_out"]}
    places |= {f"at radius {radius:g}": e for radius, e in list(one.at.items())[-1:]}
    for place, e in places.items():
        least = e.value if math.isnan(e.low) else e.low
        if e.defined and least > share + SURE:
            yield (
                f"'{name}' is {e.value:.2f} sure {place} on average, where the share of the "
                f"commonest class is {share:.2f}"
            )


def _measures(doc: InAndOutDocument, of: Side, title: str) -> list[Section]:
    """One side, measure by measure, each with all models that have a value."""
    rows = [
        (m.title, f"'{model.name}'", m, m)
        for same in zip(*(model.measures for model in doc.models), strict=True)
        for model, m in zip(doc.models, same, strict=True)
        if m.of == of and not m.why
    ]
    level = f"{percent(doc.settings.level)} interval"
    columns = [Column("Measure", "text"), Column("Model", "text"), Column("Value", "value")]
    return section(title, [*columns, Column(level, "interval")], rows)


def _radii(doc: InAndOutDocument) -> list[Section]:
    """The mean confidence, one row for each radius and a column for each model."""
    rows = [
        (f"{at[0].radius:g}", *(found.value for found in at))
        for at in zip(*(model.radii for model in doc.models), strict=True)
    ]
    columns = [Column("Radius"), *(Column(f"'{model.name}'") for model in doc.models)]
    legend = (
        f"{count(doc.settings.points)} points in random directions, at multiples of the largest "
        f"distance of a row from the centre."
    )
    return section("Mean confidence at radii of the data", columns, rows, [legend])


def _absent(doc: InAndOutDocument) -> Iterator[tuple[str, str]]:
    """What has no value, with the reason; not where there were no rows, or no novelty, to ask for."""
    for model in doc.models:
        for m in model.measures:
            expected = m.of == "in" or doc.data.rows_out is not None
            if expected and (model.novelty is not None or not m.name.endswith("novelty")):
                yield m.why, f"{m.title} of '{model.name}'"
