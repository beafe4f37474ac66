"""What `raters` writes and shows: how far raters or models agree, and on which rows they do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from scorewise.estimate import Estimate
from scorewise.inference.shares import wilson
from scorewise.inspection.suspects import NamedRow
from scorewise.show.data import DataRecord, RowsRecord
from scorewise.show.document import JudgedDocument
from scorewise.show.page import Column, Section, Table
from scorewise.show.records import (
    Count,
    Number,
    PairNames,
    Record,
    Share,
    Weight,
    doc,
    field,
    record_of,
)
from scorewise.show.verdict import Claim, as_percent, claim, figure, next_command
from scorewise.show.words import by_reason, count, formatted, plural, truncated

if TYPE_CHECKING:
    from scorewise.inspection.agreement import Agreement, Raters

MAX_ID = 16  # letters that are shown
MAX_FILE_NAME = 20
LEVEL = 0.95  # of the share of rows with the same decision
Middle: TypeAlias = Annotated[Number, doc("Scores from here on are high; null when there is none.")]
Tolerance: TypeAlias = Annotated[Weight, doc("Largest difference of scores that agree.")]


class Rating(Record):
    """What one rater says of a row."""

    name: str
    positive: bool = field("Whether it decides for the positive class.")
    score: float = field("Its score; of logits, the probability.")


class Instance(NamedRow):
    """A row on which raters differ."""

    apart: float = field("How far the highest and the lowest score lie apart.", ge=0)
    ratings: list[Rating] = field("What each of them says.", min_length=2)

    @property
    def decisions(self) -> tuple[bool, ...]:
        """Who decides for the positive class, in the order of the raters."""
        return tuple(rating.positive for rating in self.ratings)

    @property
    def scores(self) -> tuple[float, ...]:
        """The scores, in the order of the raters."""
        return tuple(rating.score for rating in self.ratings)


class NumbersRecord(Record):
    """Rows by whether decisions are the same and scores within the tolerance."""

    both: Count = field("Same decision, scores within the tolerance.")
    apparent: Count
    hidden: Count
    real: Count


class RaterRecord(Record):
    """One rater or model."""

    name: str
    midpoint: Middle
    smauc: Share | None = field("Area under its smROC curve; null when there is none.")
    why: str


class PairRecord(PairNames):
    """Two raters or models."""

    distance: Share | None = field("Area between their smROC curves; null when one has none.")
    why: str
    same_decisions: Share | None
    within_tolerance: Share | None


class AgreementRecord(Record):
    """How far raters or models agree."""

    tolerance: Tolerance
    same_decisions: Share | None
    within_tolerance: Share | None
    numbers: NumbersRecord
    raters: list[RaterRecord] = field("Each rater or model.", min_length=2)
    pairs: list[PairRecord] = field("Each two of them.", min_length=1)
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

    def sections(self, data: DataRecord | RatedRecord, who: str) -> list[Section]:
        """What a page says of it: the shares of rows, the curves, the pairs, and the rows themselves."""
        near = f"within {self.tolerance:g}"
        same, within = (
            formatted(x, "percent") for x in (self.same_decisions, self.within_tolerance)
        )
        n = self.numbers
        facts = [
            ("Decisions", f"the same on {same} of the rows"),
            ("Scores", f"{near} of each other on {within} of the rows"),
            (
                "Agree",
                f"{plural(n.both + n.apparent, 'row')}: scores {near}; on {count(n.apparent)} of these "
                f"decisions differ (apparent disagreement)",
            ),
            ("Differ", f"{plural(n.hidden, 'row')}: same decision, but scores further apart"),
            ("Disagree", f"{plural(n.real, 'row')}: different decisions, and scores further apart"),
        ]
        curves = [Column("score of", "text"), Column("midpoint"), Column("smAUC")]
        each = [(f"'{r.name}'", r.midpoint, r.smauc) for r in self.raters]
        absent = by_reason((r.why, f"'{r.name}'") for r in self.raters)
        heads = [Column("pair", "text"), Column("area between curves")]
        heads += [Column("same decision", "percent"), Column(near, "percent")]
        pairs = [
            (f"'{p.first}', '{p.second}'", p.distance, p.same_decisions, p.within_tolerance)
            for p in self.pairs
        ]
        rows = {
            "Rows that only look like disagreement": self.apparent,
            "Rows on which they disagree": self.real,
            "Rows with the same decision, but scores apart": self.hidden,
        }
        return [
            Section(f"Agreement of {who}s", facts=facts),
            Section("smROC curves", table=Table(curves, each), lines=absent),
            Section(table=Table(heads, pairs)),
            *(_instances(title, instances, data) for title, instances in rows.items() if instances),
        ]


class RatedRecord(RowsRecord):
    """The rows that raters were compared on."""

    positive: str = field("The decision that high scores stand for.")
    negative: str = field("The other decision.")
    rule: str = field("How it was decided which of them is positive.")
    truth: bool = field("Whether the curves are against known labels, not a rater's own decisions.")


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
        return [Section(facts=facts), *self.agreement.sections(data, "rater")]


def raters_document(r: Raters) -> RatersDocument:
    """The document of raters."""
    return RatersDocument(
        data=record_of(RatedRecord, r, r.labels),
        verdict=_verdict(r),
        agreement=AgreementRecord.of(r.agreement),
        hints=list(r.hints),
    )


def _verdict(r: Raters) -> list[Claim]:
    """The sentences on raters who decide and score."""
    a = r.agreement
    if not r.rows:
        return []
    claims, n = [same_decisions(a.decisions, r.rows, "Raters")], a.numbers
    if other := n["apparent"] + n["real"]:
        text = (
            f"Of {plural(other, 'row')} with different decisions, {n['apparent']:,} only "
            f"look{'s' * (n['apparent'] == 1)} like disagreement: the scores are "
            f"within {a.tolerance:g} of each other."
        )
        claims.append(claim("agreement", "apparent", text))
    if same := n["both"] + n["hidden"]:
        text = (
            f"Of {plural(same, 'row')} with the same decision, {n['hidden']:,} "
            f"hide{'s' * (n['hidden'] == 1)} a difference: the scores differ by more than "
            f"{a.tolerance:g}."
        )
        claims.append(claim("agreement", "hidden", text))
    if r.sources:
        return [*claims, next_command("agree", r.sources, [("rater", x.name) for x in a.raters])]
    return [*claims, claim("next", "agree", "Next: sw.agree(decisions), agreement beyond chance")]


def same_decisions(share: float, rows: int, who: str) -> Claim:
    """On what share of the rows all decide the same."""
    counts = (share * rows, (1 - share) * rows)
    e = Estimate(*wilson(*counts, *counts, LEVEL))
    text = f"{who} make the same decision on {as_percent(e)} of {plural(rows, 'row')}."
    return claim("agreement", "same decisions", text, [figure("same_decisions", e)])


def _instances(title: str, rows: Sequence[Instance], data: DataRecord | RatedRecord) -> Section:
    names: dict[bool, Any] = {True: data.positive, False: data.negative}
    lines = []
    for row in rows:
        each = (f"{r.name}: {names[r.positive]} at {r.score:.3g}" for r in row.ratings)
        lines.append((row, row.apart, "; ".join(each)))
    return listed_rows(title, "apart", "decisions and scores", lines, len(data.sources) > 1)


def listed_rows(
    title: str, number: str, text: str, rows: Sequence[tuple[NamedRow, float, str]], files: bool
) -> Section:
    """Single rows, each with a number and a text; `files` where they come from several."""
    if not rows:
        return Section(title, lines=["none"])
    ids = any(row.id is not None for row, _, _ in rows)
    columns = [Column("row"), *[Column("id", "text")] * ids, Column(number), Column(text, "text")]
    lines = []
    for row, x, words in rows:
        file = str(row.file)
        file = file if len(file) <= MAX_FILE_NAME else f"…{file[1 - MAX_FILE_NAME :]}"
        name = truncated("" if row.id is None else str(row.id), MAX_ID)
        place = f"{file}:{row.row}" if files else str(row.row)
        lines.append((place, *[name] * ids, x, words))
    return Section(title, table=Table(columns, lines))
