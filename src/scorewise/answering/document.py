"""What `answers` writes and shows: each confidence on all answers, over thresholds, and by group."""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from scorewise.answering.confidence import Judged, Settings, Tau
from scorewise.answering.measures import ALL_MEASURES, PAGE_MEASURES, thresholds
from scorewise.answering.result import FROM_COLUMN, WORDING, ConfidentError
from scorewise.answering.verdict import hints, verdict
from scorewise.show.data import ClusterRecord, SpreadRecord, spread
from scorewise.show.document import JudgedDocument, with_cautions
from scorewise.show.page import Column, Heads, Section, Table, columns, section
from scorewise.show.records import (
    Count,
    Estimated,
    EstimateField,
    NamedMeasure,
    Record,
    Word,
    field,
    record_of,
)
from scorewise.show.words import (
    by_reason,
    count,
    formatted,
    has_smallest_p,
    interval,
    listed,
    p_value,
    percent,
    plural,
    truncated,
)
from scorewise.subgroups import GroupsRecord, group_section

if TYPE_CHECKING:
    from scorewise.answering.result import Answers

LETTERS, LETTERS_IN_TABLE = 80, 24  # of an answer
TAU_MEASURES = ("accuracy", "ece", "smece", "brier", "mcb", "auroc", "aurc")
RULES = {
    "anls": "ANLS, 1 less the share of letters to be edited, or 0 where that is 0.5 or more",
    "exact": "exact match",
    "f1": "F1 of the words shared",
}
FORMS = {
    "plain": "without case and extra blanks",
    "squad": "without case, punctuation, articles and extra blanks",
    "none": "as they stand",
}
CASES = {
    "unanswerable": "with no gold answer",
    "said unanswerable": "that say there is none",
    "several gold": "with several gold answers",
    "lists": "that are lists",
}
EXPECTED = (
    "Expected: what a calibrated confidence would get on average. p: the chance that it would get as "
    "much or more. Baseline: what the best constant, or chance, would get."
)
SAME = ("mean_quality", "soft_brier")  # as accuracy and Brier score, where quality is 0 or 1


class CaseRecord(Record):
    """Answers that are special."""

    name: Word = field("What is special about them.")
    answers: Count = field("How many there are.")


class AnswersRecord(Record):
    """The answers that were judged."""

    sources: list[str]
    answers: Count = field("Answers judged, without those dropped.")
    dropped: Count = field("Answers left out because a value other than a confidence was missing.")
    quality: Literal["anls", "exact", "f1", "own"] = field("How quality was made.")
    normalise: Literal["plain", "squad", "none"] | None = field(
        f"How texts were normalised; {FROM_COLUMN}."
    )
    column: str | None = field("Column of the quality; null where it was made of texts.")
    weight: str | None = field("Column of the weights; null when all answers weigh the same.")
    cases: list[CaseRecord] = field("Special answers, kind by kind.")
    by: list[str]

    @classmethod
    def of(cls, a: Answers) -> AnswersRecord:
        """The record of the answers."""
        rows = a.rows
        return record_of(
            cls,
            a,
            rows,
            answers=len(rows),
            quality=rows.rule,
            weight=None if rows.weight is None else rows.names.weight,
            cases=[CaseRecord(name=name, answers=n) for name, n in rows.cases.items()],
            by=list(rows.groups),
        )


class MeasureRecord(Estimated, NamedMeasure):
    """One measure with its estimate."""


class TauRecord(Record):
    """One threshold of quality; the AUROC ranks correct answers above wrong ones."""

    tau: Tau
    correct: Count = field("How many answers are; the numbers are the same where this is.")
    accuracy: EstimateField = field("Share of correct answers.")
    ece: EstimateField = field("Calibration error in bins.")
    smece: EstimateField = field("Calibration error, smoothed.")
    brier: EstimateField
    mcb: EstimateField = field("Part of the Brier score that recalibration would save.")
    auroc: EstimateField
    aurc: EstimateField = field("Mean share of wrong answers among the surest.")

    @classmethod
    def of(cls, tau: float, j: Judged) -> TauRecord:
        """The record of a confidence judged at a threshold."""
        estimates: dict[str, Any] = {name: j[name] for name in TAU_MEASURES}
        return cls(tau=tau, correct=j.sample.correct(tau), **estimates)


class ConfidenceRecord(SpreadRecord):
    """One confidence."""

    name: str
    answers: Count = field("Answers that have it.")
    missing: Count = field("Answers that do not; they are left out here.")
    measures: list[MeasureRecord] = field("The measures.", min_length=1)
    confident_errors: list[ConfidentError] = field(
        "Wrong answers said with most confidence, the surest first."
    )
    over_tau: list[TauRecord] = field("Thresholds of quality; none where quality is 0 or 1.")

    @classmethod
    def of(cls, name: str, j: Judged, a: Answers) -> ConfidenceRecord:
        """The record of a confidence on all answers that have it."""
        titles = {"ece": f"{ALL_MEASURES['ece'].title}, {j.settings.bins} bins"}
        taus = thresholds(j.sample.quality)
        return cls(
            name=name,
            answers=j.answers,
            missing=len(a.rows) - j.answers,
            **spread(j.tally),
            measures=[
                record_of(
                    MeasureRecord, ALL_MEASURES[m], j[m], title=titles.get(m, ALL_MEASURES[m].title)
                )
                for m in PAGE_MEASURES
            ],
            confident_errors=[
                replace(e, gold=_short(e.gold), predicted=_short(e.predicted))
                for e in a.confident_errors(confidence=name)
            ],
            over_tau=[TauRecord.of(tau, j.at(tau)) for tau in taus if len(taus) > 1],
        )


class AnswersDocument(JudgedDocument, command="answers"):
    """The confidence in answers, on all of them, over thresholds of quality, and by group."""

    settings: Settings
    data: AnswersRecord
    clusters: ClusterRecord | None
    confidences: list[ConfidenceRecord] = field(
        "Each confidence on all answers that have it.", min_length=1
    )
    groups: list[GroupsRecord]

    @classmethod
    def of(cls, a: Answers) -> AnswersDocument:
        """The document of answers."""
        s = a.settings
        doc = cls(
            settings=replace(s, tau=float(s.tau), bins=int(s.bins), seed=int(s.seed)),
            data=AnswersRecord.of(a),
            clusters=ClusterRecord.of(a.rows.cluster),
            verdict=verdict(a),
            confidences=[ConfidenceRecord.of(name, j, a) for name, j in a.items()],
            groups=list(a.groups.records.values()),
            hints=list(hints(a)),
        )
        return with_cautions(doc)

    def sections(self) -> list[Section]:
        """What was judged, each confidence, thresholds of quality, and groups."""
        sections = [Section(facts=_facts(self))]
        for c in self.confidences:
            sections += [_measures(self, c), *_over_tau(self, c), *_confident_errors(self, c)]
        titles = {c.name: _title(self, c, "Groups") for c in self.confidences}
        for g in self.groups:
            made = group_section(g, self.settings.level, WORDING, titles[g.model])
            sections.append(replace(made, anchor="slices"))
        return sections


def _short(text: str | None, most: int = LETTERS) -> str | None:
    """A text on one line, cut short.

    >>> _short("a  b"), len(_short("x" * 200))
    ('a b', 80)
    """
    return None if text is None else truncated(" ".join(text.split()), most)


def _facts(doc: AnswersDocument) -> list[tuple[str, str]]:
    data = doc.data
    form = f"; texts {FORMS[data.normalise]}" if data.normalise else ""
    special = (f"{count(c.answers)} {CASES.get(c.name, c.name)}" for c in data.cases if c.answers)
    facts = {
        "Data": listed([f"'{s}'" for s in data.sources]),
        "Answers": count(data.answers),
        "Quality": RULES.get(data.quality, f"'{data.column}', as given") + form,
        "Correct": f"quality > {doc.settings.tau:g}",
        "Among them": ", ".join(special),
        "Dropped": f"{plural(data.dropped, 'answer')} with missing values" if data.dropped else "",
        "Weights": "" if data.weight is None else f"'{data.weight}'",
        "Clusters": str(doc.clusters or ""),
    }
    found = [(key, text) for key, text in facts.items() if text]
    for c in doc.confidences:
        missing = f", missing in {count(c.missing)}" if c.missing else ""
        low, high = (formatted(end, "number") for end in (c.lowest, c.highest))
        values = plural(c.distinct, "distinct value") + (
            f" from {low} to {high}" * bool(c.distinct)
        )
        text = f"'{c.name}' of {plural(c.answers, 'answer')}{missing}; {values}"
        found.append(("Confidence", text))
    return found


def _title(doc: AnswersDocument, c: ConfidenceRecord, title: str) -> str:
    return f"{title}: {c.name}" if len(doc.confidences) > 1 else title


def _or_blank(x: float | None) -> Any:
    return "" if x is None else x


def _measures(doc: AnswersDocument, c: ConfidenceRecord) -> Section:
    """All measures of one confidence; those without a value last, by the reason."""
    same = () if c.over_tau else SAME
    known = [m for m in c.measures if not m.why and m.name not in same]
    heads: Heads = [
        ("", "text"), Column("Value", "value", point=True),
        (f"{percent(doc.settings.level)} interval", "text"), "Baseline", "Expected", ("p", "p"),
    ]  # fmt: skip
    rows = []
    for m in known:
        p = "" if m.p is None else p_value(m.p, least=has_smallest_p(m))
        rows.append((m.title, m, interval(m), _or_blank(m.baseline), _or_blank(m.expected), p))
    absent = ((m.why, m.title) for m in c.measures)
    lines = by_reason(absent, "Without a value: {names} ({why})")
    lines += [EXPECTED] * (c is doc.confidences[-1])
    table = Table(columns(heads), rows) if rows else None
    return Section(_title(doc, c, "All answers"), table=table, lines=lines)


def _over_tau(doc: AnswersDocument, c: ConfidenceRecord) -> list[Section]:
    """One line for each run of thresholds that call the same answers correct."""
    rows, level = [], percent(doc.settings.level)
    for _, run in groupby(c.over_tau, key=lambda at: at.correct):
        first, *rest = run
        tau = f"{first.tau:.3g}" + (f" to {rest[-1].tau:.3g}" if rest else "")
        ece = (first.ece, first.ece, _or_blank(first.ece.expected))
        rows.append((tau, first.correct, first.accuracy.value, *ece, first.auroc, first.brier))
    return section(
        _title(doc, c, "Where correct is quality > tau"),
        [("tau", "text"), ("Correct", "count"), "Share", ("ECE", "value"), (level, "interval"), "Expected",
         ("AUROC", "value"), ("Brier", "value")],
        rows,
    )  # fmt: skip


def _confident_errors(doc: AnswersDocument, c: ConfidenceRecord) -> list[Section]:
    """The wrong answers said with most confidence."""
    errors = c.confident_errors
    if not errors:
        return []
    files = {e.file for e in errors}
    texts = ("Gold", "Predicted") if errors[0].gold is not None else ()
    heads: Heads = ["Row", "Confidence", "Quality", *((title, "text") for title in texts)]
    rows = [
        (
            count(e.row) + (f" of {e.file}" if len(files) > 1 else ""),
            e.confidence,
            e.quality,
            *(_short(getattr(e, title.lower()), LETTERS_IN_TABLE) for title in texts),
        )
        for e in errors
    ]
    start = "Rows count from 0." if files == {None} else "Rows count from 1, after any header."
    return section(_title(doc, c, "Wrong and surest"), heads, rows, [start])
