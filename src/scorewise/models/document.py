"""What `in_and_out` writes and shows: how right models are, and how sure, in and out of distribution."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from msgspec import Meta

from scorewise.show.document import (
    COMMAND,
    Count,
    Document,
    Estimated,
    Hints,
    Level,
    Share,
    Word,
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
    hints,
    percent,
    undefined,
    written,
)

if TYPE_CHECKING:
    from scorewise.models.distributions import FarAndNear, InAndOut, Sets

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


@dataclass(frozen=True, kw_only=True)
class SettingsRecord:
    """The settings that the numbers depend on."""

    points: Annotated[Count, says("Points at each radius.")]
    clip: Annotated[
        float | None, says("Distance from 0 to which log loss clips; null: no clipping.")
    ]
    level: Annotated[Level, says("Confidence level of the intervals.")]
    seed: Annotated[Count, says("Seed of the random draws.")]


@dataclass(frozen=True, kw_only=True)
class RowsRecord:
    """The rows that the models were judged on."""

    rows: Annotated[Count, says("Rows in distribution.")]
    rows_out: Annotated[Count | None, says("Rows out of distribution; null where none were given.")]
    columns: Annotated[Count, says("Numbers that a row has.")]
    classes: Annotated[list[str], Meta(min_length=1), says("The classes.")]
    largest_share: Annotated[Share, says("Share of the commonest class.")]


@dataclass(frozen=True, kw_only=True)
class _Name:
    name: Annotated[Word, says("Name, as in the Python library.")]
    title: Annotated[Word, says("Name, as shown.")]
    of: Annotated[Side, says("Whether it is of rows in or out of distribution.")]


@dataclass(frozen=True, kw_only=True)
class MeasureRecord(Estimated, _Name):
    """One measure with its estimate."""


@dataclass(frozen=True, kw_only=True)
class _Radius:
    radius: Annotated[
        float, Meta(ge=0), says("Multiple of the largest distance of a row from the centre.")
    ]


@dataclass(frozen=True, kw_only=True)
class RadiusRecord(Estimated, _Radius):
    """The mean confidence at one radius."""


@dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """One model."""

    name: Annotated[str, says("Its name.")]
    novelty: Annotated[
        Literal["score_samples", "novelty"] | None,
        says("What told how novel rows are; null where nothing did."),
    ]
    measures: Annotated[list[MeasureRecord], says("Each measure.")]
    radii: Annotated[list[RadiusRecord], says("The mean confidence at radii of the data.")]

    @classmethod
    def of(cls, name: str, one: FarAndNear) -> ModelRecord:
        """The record of a model."""
        measures = [
            record_of(MeasureRecord, one[key], name=key, title=title, of=of)
            for key, (title, of) in SHOWN.items()
        ]
        radii = [record_of(RadiusRecord, e, radius=radius) for radius, e in one.at.items()]
        novelty = one.novelty_by
        return record_of(cls, name=name, novelty=novelty, measures=measures, radii=radii)


@dataclass(frozen=True, kw_only=True)
class InAndOutDocument(Document):
    """How right and sure models are in distribution, and how sure out of it."""

    command: Annotated[Literal["in-and-out"], says(COMMAND)] = "in-and-out"
    settings: SettingsRecord
    data: RowsRecord
    models: Annotated[list[ModelRecord], Meta(min_length=1), says("The models.")]
    hints: Hints

    def page(self) -> Page:
        """Facts, the measures in and out of distribution, and the confidence at radii of the data."""
        data = self.data
        facts = [("In", f"{count(data.rows)} rows of {len(data.classes)} classes")]
        if data.rows_out is not None:
            facts.append(("Out", f"{count(data.rows_out)} rows"))
        share = written(data.largest_share, "number")
        facts.append(("Prior", f"the commonest class has a share of {share}"))
        sections = [
            Section(facts=facts),
            *_measures(self, "in", "In distribution"),
            *_measures(self, "out", "Out of distribution"),
            *_radii(self),
            *undefined(_absent(self)),
        ]
        return Page(self.command, [*sections, *hints(self.hints)])


def in_and_out_document(r: InAndOut, sets: Sets) -> InAndOutDocument:
    """The document of models judged together."""
    first = next(iter(r.values()))
    shape = np.shape(sets.X)
    doc = InAndOutDocument(
        settings=sets.settings,
        data=RowsRecord(
            rows=int(shape[0]),
            rows_out=None if sets.out is None else len(sets.out),
            columns=int(np.prod(shape[1:])),
            classes=[str(c) for c in first.tally.classes],
            largest_share=first.largest_share,
        ),
        models=[ModelRecord.of(name, one) for name, one in r.items()],
        hints=[hint for name, one in r.items() for hint in _hints(name, one)],
    )
    return with_cautions(doc)


def _hints(name: str, one: FarAndNear) -> Iterator[str]:
    """Where a model stays sure of what it cannot know."""
    share = one.largest_share
    places = {"out of distribution": one["confidence_out"]}
    places |= {f"at radius {radius:g}": found for radius, found in list(one.at.items())[-1:]}
    for place, found in places.items():
        least = found.value if math.isnan(found.low) else found.low
        if found.defined and least > share + SURE:
            yield (
                f"'{name}' is {found.value:.2f} sure {place} on average, where the share of the "
                f"commonest class is {share:.2f}"
            )


def _measures(doc: InAndOutDocument, of: Side, title: str) -> list[Section]:
    """One side, measure by measure, each with all models that have a value."""
    titles = {m.name: m.title for m in doc.models[0].measures if m.of == of}
    rows = [
        (titles[name], f"'{model.name}'", m, m)
        for name in titles
        for model in doc.models
        for m in model.measures
        if m.name == name and not m.why
    ]
    columns = [
        Column("Measure", "text"),
        Column("Model", "text"),
        Column("Value", "value"),
        Column(f"{percent(doc.settings.level)} interval", "interval"),
    ]
    return [Section(title, table=Table(columns, rows))] if rows else []


def _radii(doc: InAndOutDocument) -> list[Section]:
    """The mean confidence, one row for each radius and a column for each model."""
    rows = [
        (f"{at[0].radius:g}", *(found.value for found in at))
        for at in zip(*(model.radii for model in doc.models), strict=True)
    ]
    if not rows:
        return []
    columns = [Column("Radius"), *(Column(f"'{model.name}'") for model in doc.models)]
    legend = (
        f"{count(doc.settings.points)} points in random directions, at multiples of the largest "
        f"distance of a row from the centre."
    )
    title = "Mean confidence at radii of the data"
    return [Section(title, table=Table(columns, rows), lines=[legend])]


def _absent(doc: InAndOutDocument) -> Iterator[tuple[str, str]]:
    """What has no value, with the reason; not where there were no rows, or no novelty, to ask for."""
    for model in doc.models:
        for m in model.measures:
            asked = m.of == "in" or doc.data.rows_out is not None
            if asked and (model.novelty is not None or not m.name.endswith("novelty")):
                yield m.why, f"{m.title} of '{model.name}'"
