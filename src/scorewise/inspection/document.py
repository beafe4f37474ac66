"""What `inspect` and `raters` write and show: rows to check, gaps between scores, and agreement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from scorewise.columns import Kind
from scorewise.inspection.agreement import Agreement, Instance
from scorewise.inspection.gaps import Gap
from scorewise.inspection.suspects import NamedRow, Set, Suspect
from scorewise.inspection.verdict import inspection_verdict, raters_verdict
from scorewise.show.data import (
    CutRecord,
    DataRecord,
    DensityRecord,
    RowsRecord,
)
from scorewise.show.document import JudgedDocument
from scorewise.show.estimates import record_of
from scorewise.show.fields import (
    Count,
    Number,
    OfTwo,
    Record,
    Share,
    Weight,
    Word,
    means,
    says,
)
from scorewise.show.page import Column, Section, Table
from scorewise.show.words import by_reason, count, counted, cut, written
from scorewise.tallies import Tally
from scorewise.tallies.smroc import FoundBy

if TYPE_CHECKING:
    from scorewise.inspection.inspection import Inspected, Inspection
    from scorewise.inspection.opinions import Raters

LONGEST_ID = 16
LONGEST_FILE = 20
SUCCESSES = 5  # shown; the document has more

Middle: TypeAlias = Annotated[
    Number, says("From here on a score is high; null when there is none.")
]
Tolerance: TypeAlias = Annotated[Weight, says("Scores this near each other agree.")]

READING = [
    (
        "Suspicion",
        "share of rows scored alike that have the other label, by the hull of the ROC curve. Scores should"
        " be out of fold: a model that saw a wrong label may have learned it.",
    ),
    ("Hard success", "a label that its score speaks for, though not by much."),
    (
        "Gap",
        "every threshold in it decides alike; times as wide as the gaps around it; stable: share of"
        " resamples in which it keeps its rank.",
    ),
]


class SettingsRecord(Record):
    """The settings that the result depends on."""

    midpoint: Word = means("How the midpoint was chosen, or the number given.")
    top: Count = means("Rows listed at most.")
    tolerance: Tolerance
    threshold: float
    seed: Count


class SetRecord(Record):
    """Rows of one class with high or with low scores."""

    set: Set
    rows: Count


class NumbersRecord(Record):
    """Rows by whether decisions are the same and scores within the tolerance."""

    both: Count = means("Same decision, scores within the tolerance.")
    apparent: Count
    hidden: Count
    real: Count


class RaterRecord(Record):
    """One rater or model."""

    name: str
    midpoint: Middle
    smauc: Share | None = means("Area under its smROC curve; null when there is none.")
    why: str


class PairRecord(OfTwo):
    """Two raters or models."""

    distance: Share | None = means("Area between their smROC curves; null when one has none.")
    why: str
    same_decisions: Share | None
    within_tolerance: Share | None


class AgreementRecord(Record):
    """How far raters or models agree."""

    tolerance: Tolerance
    same_decisions: Share | None
    within_tolerance: Share | None
    numbers: NumbersRecord
    raters: list[RaterRecord] = means("Each rater or model.", min_length=2)
    pairs: list[PairRecord] = means("Each two of them.", min_length=1)
    apparent: list[Instance]
    real: list[Instance]
    hidden: list[Instance]

    @classmethod
    def of(cls, a: Agreement) -> AgreementRecord:
        """The record of an agreement."""
        return record_of(
            cls,
            a,
            same_decisions=a.decisions,
            within_tolerance=a.within,
            numbers=NumbersRecord(**a.numbers),
            raters=[record_of(RaterRecord, r, r.area, smauc=r.area.value) for r in a.raters],
            pairs=[
                record_of(PairRecord, p, p.distance, distance=p.distance.value) for p in a.pairs
            ],
        )


class ModelRecord(Record):
    """One column of scores."""

    name: str
    kind: Kind
    distinct: Count = means("Distinct scores.")
    why: str
    midpoint: Middle
    rule: FoundBy | None = means("How the midpoint was found; null when there is none.")
    why_no_midpoint: str = means("Why there is no midpoint; empty when there is one.")
    sets: list[SetRecord] = means("Rows by score and class; empty when there is no midpoint.")
    suspicious: list[Suspect] = means("Rows whose label may be wrong, most suspicious first.")
    successes: list[Suspect] = means("Right scores that were hard to get right, hardest first.")
    gaps: list[Gap] = means("Gaps between scores, most pronounced first.")
    density: DensityRecord | None

    @classmethod
    def of(cls, name: str, model: Inspected) -> ModelRecord:
        """The record of one model."""
        middle = model.midpoint
        return record_of(
            cls,
            model,
            model.tally,
            name=name,
            distinct=len(model.tally.score),
            midpoint=None if middle is None else middle.value,
            rule=None if middle is None else middle.rule,
            sets=[SetRecord(set=kind, rows=rows) for kind, rows in model.sets.items()],
            density=DensityRecord.of(model.tally),
        )


class InspectDocument(JudgedDocument, command="inspect"):
    """The rows of each model that deserve a second look."""

    settings: SettingsRecord
    data: DataRecord
    models: list[ModelRecord] = means(
        "The scores that were inspected, in the order given.", min_length=1
    )
    agreement: AgreementRecord | None = means(
        "How far several models agree; null when there is one."
    )

    def sections(self) -> list[Section]:
        """The data, each model's rows and gaps, and how far models agree."""
        sections = [Section(facts=self.data.facts())]
        for model in self.models:
            sections += _model(model, len(self.models) > 1, len(self.data.sources) > 1)
        if self.agreement is not None:
            sections += _agreement(self.agreement, self.data, "model")
        return [*sections, Section("How to read this", facts=READING)]


class RatedRecord(RowsRecord):
    """The rows that raters were compared on."""

    positive: str = means("The decision that high scores stand for.")
    negative: str = means("The other decision.")
    rule: str = means("How it was decided which of them is positive.")
    truth: bool = means("Whether the curves are against known labels, not a rater's own decisions.")


class RatersDocument(JudgedDocument, command="raters"):
    """Raters compared on the same rows."""

    data: RatedRecord
    agreement: AgreementRecord

    def sections(self) -> list[Section]:
        """What was compared, and how far raters agree."""
        data = self.data
        against = "known labels" if data.truth else "each rater's own decisions"
        facts = [("Data", ", ".join(f"'{s}'" for s in data.sources))] if data.sources else []
        facts += [
            ("Rows", count(data.rows)),
            ("Positive", f"'{data.positive}' ({data.rule}); negative is '{data.negative}'"),
            ("Curves", f"against {against}"),
        ]
        facts += data.dropped_facts()
        return [Section(facts=facts), *_agreement(self.agreement, data, "rater")]


def inspect_document(i: Inspection) -> InspectDocument:
    """The document of an inspection."""
    first = next(iter(i.models.values())).tally
    data = DataRecord.of(first)
    rule = "learned" if isinstance(i.settings.midpoint, Tally) else i.settings.midpoint
    return InspectDocument(
        settings=record_of(
            SettingsRecord,
            i.settings,
            midpoint=rule if isinstance(rule, str) else str(float(rule)),
        ),
        data=data if data.sources else replace(data, label=None),  # arrays have no columns
        verdict=inspection_verdict(i),
        models=[ModelRecord.of(name, model) for name, model in i.models.items()],
        agreement=None if i.agreement is None else AgreementRecord.of(i.agreement),
        hints=[
            *by_reason((hint, f"'{name}'") for name, m in i.models.items() for hint in _hints(m)),
            *_scales(i),
        ],
    )


def raters_document(r: Raters) -> RatersDocument:
    """The document of raters."""
    return RatersDocument(
        data=record_of(RatedRecord, r, r.labels),
        verdict=raters_verdict(r),
        agreement=AgreementRecord.of(r.agreement),
        hints=list(r.hints),
    )


def _hints(model: Inspected) -> Iterator[str]:
    """What a reader should be told of one model."""
    if model.why:
        yield f"rows cannot be ranked by suspicion: {model.why}"
    elif model.why_no_midpoint:
        yield (
            f"rows are not sorted into high and low scores, as there is no midpoint: "
            f"{model.why_no_midpoint}"
        )
    else:
        wrong = model.sets["low positive"] + model.sets["high negative"]
        rows = model.tally.origin.rows
        if 2 * wrong > rows:
            yield (
                f"{wrong:,} of {rows:,} scores lie on the wrong side of the midpoint; "
                f"is '{model.tally.origin.positive}' the positive class?"
            )


def _scales(i: Inspection) -> Iterator[str]:
    """Scores of several models can be compared only on one scale."""
    kinds = {name: model.tally.kind for name, model in i.models.items()}
    if "score" in kinds.values() and len(kinds) > 1:
        beyond = ", ".join(f"'{name}'" for name, kind in kinds.items() if kind == "score")
        yield (
            f"the scores of {beyond} are not probabilities; distances between scores, and agreement within "
            f"the tolerance, mean something only where all models use one scale"
        )


def _model(m: ModelRecord, several: bool, files: bool) -> list[Section]:
    of = f" of '{m.name}'" if several else ""
    by = f" by '{m.name}'" if several else ""
    sections = []
    if not m.why:
        suspicious, successes = (
            _listed(title, "suspicion", "why", [(r, r.suspicion, r.reason) for r in rows], files)
            for title, rows in (
                (f"Labels to check{by}", m.suspicious),
                (f"Hard successes{of}", m.successes[:SUCCESSES]),
            )
        )
        sections += [*_scores(m, f"Scores{of}"), suspicious, successes]
    return [*sections, _gaps(m.gaps, f"Gaps between scores{of}")]


def _scores(m: ModelRecord, title: str) -> list[Section]:
    if not m.sets:
        return []
    rows = {s.set: count(s.rows) for s in m.sets}
    middle = f"{written(m.midpoint, 'number')} ({m.rule}); from here on a score is high"
    facts = [
        ("Midpoint", middle),
        ("High", f"{rows['high positive']} positives, {rows['high negative']} negatives"),
        ("Low", f"{rows['low positive']} positives, {rows['low negative']} negatives"),
    ]
    return [Section(title, facts=facts)]


def _listed(
    title: str, number: str, text: str, rows: Sequence[tuple[NamedRow, float, str]], files: bool
) -> Section:
    """Single rows, each with a number and a text; `files` where they come from several."""
    if not rows:
        return Section(title, lines=["none"])
    named = [Column("id", "text")] if any(row.id is not None for row, _, _ in rows) else []
    columns = [Column("row"), *named, Column(number), Column(text, "text")]
    lines = []
    for row, x, words in rows:
        file, name = str(row.file), "" if row.id is None else str(row.id)
        file = file if len(file) <= LONGEST_FILE else f"…{file[1 - LONGEST_FILE :]}"
        name = cut(name, LONGEST_ID)
        number_of_row = f"{file}:{row.row}" if files else str(row.row)
        lines.append((number_of_row, *([name] if named else []), x, words))
    return Section(title, table=Table(columns, lines))


def _gaps(gaps: Sequence[Gap], title: str) -> Section:
    if not gaps:
        return Section(title, lines=["no gap is three times as wide as those around it"])
    columns = [Column("cut", "text"), Column("times as wide"), Column("rows above", "count")]
    columns += [Column("precision"), Column("recall"), Column("stable", "percent")]
    cuts = [CutRecord(threshold=(g.above + g.upto) / 2, above=g.above, upto=g.upto) for g in gaps]
    rows = [
        (cut.same_decisions(), f"{g.ratio:.1f}", g.rows, g.precision, g.recall, g.stability)
        for g, cut in zip(gaps, cuts, strict=True)
    ]
    return Section(title, table=Table(columns, rows))


def _agreement(a: AgreementRecord, data: DataRecord | RatedRecord, who: str) -> list[Section]:
    near = f"within {a.tolerance:g}"
    same, within = (written(x, "percent") for x in (a.same_decisions, a.within_tolerance))
    n = a.numbers
    facts = [
        ("Decisions", f"the same on {same} of the rows"),
        ("Scores", f"{near} of each other on {within} of the rows"),
        (
            "Agree",
            f"{counted(n.both + n.apparent, 'row')}: scores {near}; of these "
            f"{count(n.apparent)} with different decisions, in apparent disagreement only",
        ),
        ("Differ", f"{counted(n.hidden, 'row')}: same decision, but scores further apart"),
        ("Disagree", f"{counted(n.real, 'row')}: different decisions, and scores further apart"),
    ]
    curves = [Column("score of", "text"), Column("midpoint"), Column("smAUC")]
    each = [(f"'{r.name}'", r.midpoint, r.smauc) for r in a.raters]
    absent = by_reason((r.why, f"'{r.name}'") for r in a.raters)
    compared = [
        Column("pair", "text"), Column("area between curves"),
        Column("same decision", "percent"), Column(near, "percent"),
    ]  # fmt: skip
    pairs = [
        (f"'{p.first}', '{p.second}'", p.distance, p.same_decisions, p.within_tolerance)
        for p in a.pairs
    ]
    rows = {
        "Rows that only look like disagreement": a.apparent,
        "Rows on which they disagree": a.real,
        "Rows with one decision, but scores apart": a.hidden,
    }
    return [
        Section(f"Agreement of {who}s", facts=facts),
        Section("smROC curves", table=Table(curves, each), lines=absent),
        Section(table=Table(compared, pairs)),
        *(_instances(title, found, data) for title, found in rows.items() if found),
    ]


def _instances(title: str, rows: Sequence[Instance], data: DataRecord | RatedRecord) -> Section:
    names: dict[bool, Any] = {True: data.positive, False: data.negative}
    said = (
        "; ".join(f"{r.name}: {names[r.positive]} at {r.score:.3g}" for r in row.ratings)
        for row in rows
    )
    lines = [(row, row.apart, words) for row, words in zip(rows, said, strict=True)]
    return _listed(title, "apart", "decisions and scores", lines, len(data.sources) > 1)
