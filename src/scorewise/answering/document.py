"""What `answers` writes and shows: each confidence on all answers, over thresholds, and by group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from scorewise.answering.groups import WORDS, Groups
from scorewise.answering.judged import WHY, Judged, Settings, Tau
from scorewise.answering.measures import ALL, SHOWN, thresholds
from scorewise.answering.result import FROM_COLUMN, ConfidentError
from scorewise.answering.verdict import verdict_of
from scorewise.show.data import ClusterRecord, SpreadRecord, spread
from scorewise.show.document import JudgedDocument, with_cautions
from scorewise.show.estimates import Estimated, NamedMeasure, record_of
from scorewise.show.fields import Count, Record, Word, means
from scorewise.show.groups import GroupsRecord, group_section
from scorewise.show.page import Column, Section, Table, section
from scorewise.show.words import (
    at_floor,
    by_reason,
    count,
    counted,
    cut,
    interval,
    named,
    p_value,
    percent,
    written,
)

if TYPE_CHECKING:
    from scorewise.answering.result import Answers

LONG, BRIEF = 80, 24  # letters of an answer in a document, and in a table
FEW_VALUES, SURE, FEW_ANSWERS = 20, 0.5, 50  # of which hints speak

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

    name: Word = means("What is special about them.")
    answers: Count = means("How many there are.")


class AnswersRecord(Record):
    """The answers that were judged."""

    sources: list[str]
    answers: Count = means("Answers judged, without those dropped.")
    dropped: Count = means("Answers left out because a value other than a confidence was missing.")
    quality: Literal["anls", "exact", "f1", "own"] = means("How quality was made.")
    normalise: Literal["plain", "squad", "none"] | None = means(
        f"How texts were normalised; {FROM_COLUMN}."
    )
    column: str | None = means("Column of the quality; null where it was made of texts.")
    weight: str | None = means("Column of the weights; null when all answers weigh the same.")
    cases: list[CaseRecord] = means("Special answers, kind by kind.")
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
            column=rows.names["quality"] if rows.rule == "own" else None,
            weight=None if rows.weight is None else rows.names["weight"],
            cases=[CaseRecord(name=name, answers=n) for name, n in rows.cases.items()],
            by=list(rows.groups),
        )


class MeasureRecord(Estimated, NamedMeasure):
    """One measure with its estimate."""


class TauRecord(Record):
    """One threshold of quality; the AUROC ranks correct answers above wrong ones."""

    tau: Tau
    correct: Count = means("How many answers are; the numbers are the same where this is.")
    accuracy: Estimated = means("Share of correct answers.")
    ece: Estimated
    smece: Estimated
    brier: Estimated
    mcb: Estimated = means("Part of the Brier score that recalibration would save.")
    auroc: Estimated
    aurc: Estimated = means("Mean share of wrong answers among the surest.")


class ConfidenceRecord(SpreadRecord):
    """One confidence."""

    name: str
    answers: Count = means("Answers that have it.")
    missing: Count = means("Answers that do not; they are left out here.")
    measures: list[MeasureRecord] = means("The measures.", min_length=1)
    confident_errors: list[ConfidentError] = means(
        "Wrong answers said with most confidence, the surest first."
    )
    over_tau: list[TauRecord] = means("Thresholds of quality; none where quality is 0 or 1.")

    @classmethod
    def of(cls, name: str, j: Judged, a: Answers) -> ConfidenceRecord:
        """The record of a confidence on all answers that have it."""
        taus, titles = (
            thresholds(j.sample.quality),
            {"ece": f"{ALL['ece'].title}, {j.settings.bins} bins"},
        )
        return record_of(
            cls,
            j,
            name=name,
            missing=len(a.rows) - j.answers,
            **spread(j.tally),
            measures=[
                record_of(MeasureRecord, ALL[m], j[m], title=titles.get(m, ALL[m].title))
                for m in SHOWN
            ],
            confident_errors=[
                replace(e, gold=_short(e.gold), predicted=_short(e.predicted))
                for e in a.confident_errors(confidence=name)
            ],
            over_tau=[
                _estimated(TauRecord, j.at(tau), tau=tau, correct=j.sample.correct(tau))
                for tau in (taus if len(taus) > 1 else ())
            ],
        )


class AnswersDocument(JudgedDocument, command="answers"):
    """The confidence in answers, on all of them, over thresholds of quality, and by group."""

    settings: Settings
    data: AnswersRecord
    clusters: ClusterRecord | None
    confidences: list[ConfidenceRecord] = means(
        "Each confidence on all answers that have it.", min_length=1
    )
    groups: list[GroupsRecord]

    def sections(self) -> list[Section]:
        """What was judged, each confidence, thresholds of quality, and groups."""
        sections = [Section(facts=_facts(self))]
        for c in self.confidences:
            sections += [_measures(self, c), *_over_tau(self, c), *_confident_errors(self, c)]
        titles = {c.name: _title(self, c, "Groups") for c in self.confidences}
        level = self.settings.level
        groups = [
            replace(group_section(g, level, WORDS, titles[g.model]), anchor="slices")
            for g in self.groups
        ]
        return [*sections, *groups]


def answers_document(a: Answers) -> AnswersDocument:
    """The document of answers."""
    s = a.settings
    doc = AnswersDocument(
        settings=record_of(Settings, s, tau=float(s.tau), bins=int(s.bins), seed=int(s.seed)),
        data=AnswersRecord.of(a),
        clusters=ClusterRecord.of(a.rows.cluster),
        verdict=verdict_of(a),
        confidences=[ConfidenceRecord.of(name, j, a) for name, j in a.items()],
        groups=[*a.groups.records.values()] if isinstance(a.groups, Groups) else [],
        hints=list(_hints(a)),
    )
    return with_cautions(doc)


def _estimated(kind: type[Any], j: Judged, **known: Any) -> Any:
    """A record whose other fields are estimates of the measures that they are named for."""
    measures = [f.name for f in fields(kind) if f.name not in known]
    return record_of(kind, **known, **{name: j[name] for name in measures})


def _short(text: str | None, most: int = LONG) -> str | None:
    """A text on one line, cut short.

    >>> _short("a  b"), len(_short("x" * 200))
    ('a b', 80)
    """
    return None if text is None else cut(" ".join(text.split()), most)


def _hints(a: Answers) -> Iterator[str]:
    """Remarks, confidence by confidence, and on small groups."""
    for name, j in a.items():
        yield from _of(f"'{name}'", j)
    small = {
        key: min(j.answers for j in part.values())
        for key, part in a.groups.items()
        if part and min(j.answers for j in part.values()) < FEW_ANSWERS
    }
    if small:
        groups = named([f"'{key}' ({n})" for key, n in small.items()])
        yield f"fewer than {FEW_ANSWERS} answers: {groups}; there chance alone makes an ECE large"


def _of(name: str, j: Judged) -> Iterator[str]:
    if not j.answers:
        yield f"{name} is missing from every answer"
        return
    t = j.tally
    if why := t.why_not_ranked:
        yield f"{name}: {WHY[why]} at tau {j.settings.tau:g}; measures that need both are undefined"
    if len(t.score) <= FEW_VALUES and j.answers >= FEW_ANSWERS:
        yield (
            f"{name} takes only {counted(len(t.score), 'value')}, so answers are ranked in as many "
            f"steps"
        )
    if t.ends[0] >= SURE and j.answers >= FEW_ANSWERS:
        yield f"{name} is never below {written(t.ends[0], 'number')}"


def _facts(doc: AnswersDocument) -> list[tuple[str, str]]:
    data = doc.data
    facts = [("Data", named([f"'{s}'" for s in data.sources]))] if data.sources else []
    rule = RULES.get(data.quality, f"'{data.column}', as given")
    form = f"; texts {FORMS[data.normalise]}" if data.normalise else ""
    facts += [
        ("Answers", count(data.answers)),
        ("Quality", f"{rule}{form}"),
        ("Correct", f"quality > {doc.settings.tau:g}"),
    ]
    special = [f"{count(c.answers)} {CASES.get(c.name, c.name)}" for c in data.cases if c.answers]
    if special:
        facts.append(("Among them", ", ".join(special)))
    if data.dropped:
        facts.append(("Dropped", f"{counted(data.dropped, 'answer')} with missing values"))
    if data.weight is not None:
        facts.append(("Weights", f"'{data.weight}'"))
    if doc.clusters is not None:
        facts.append(("Clusters", str(doc.clusters)))
    for c in doc.confidences:
        missing = f", missing in {count(c.missing)}" if c.missing else ""
        low, high = (written(end, "number") for end in (c.lowest, c.highest))
        ends = f" from {low} to {high}" if c.distinct else ""
        distinct = f"{counted(c.distinct, 'distinct value')}{ends}"
        facts.append(
            ("Confidence", f"'{c.name}' of {counted(c.answers, 'answer')}{missing}; {distinct}")
        )
    return facts


def _title(doc: AnswersDocument, c: ConfidenceRecord, title: str) -> str:
    return f"{title}: {c.name}" if len(doc.confidences) > 1 else title


def _or_blank(x: float | None) -> Any:
    return "" if x is None else x


def _p(m: Any) -> str:
    return "" if m.p is None else p_value(m.p, least=at_floor(m))


def _measures(doc: AnswersDocument, c: ConfidenceRecord) -> Section:
    """All measures of one confidence; those without a value last, by the reason."""
    same = () if c.over_tau else SAME
    known = [m for m in c.measures if not m.why and m.name not in same]
    columns = [
        Column("", "text"),
        Column("Value", "value", point=True),
        Column(f"{percent(doc.settings.level)} interval", "text"),
        Column("Baseline"),
        Column("Expected"),
        Column("p", "p"),
    ]
    rows = [
        (m.title, m, interval(m), *map(_or_blank, (m.baseline, m.expected)), _p(m)) for m in known
    ]
    absent = ((m.why, m.title) for m in c.measures)
    lines = by_reason(absent, "Without a value: {names} ({why})")
    lines += [EXPECTED] * (c is doc.confidences[-1])
    table = Table(columns, rows) if rows else None
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
    columns = [Column("Row"), Column("Confidence"), Column("Quality")]
    columns += [Column(title, "text") for title in texts]
    rows = [
        (
            count(e.row) + (f" of {e.file}" if len(files) > 1 else ""),
            e.confidence,
            e.quality,
            *(_short(getattr(e, title.lower()), BRIEF) for title in texts),
        )
        for e in errors
    ]
    start = "Rows count from 0." if files == {None} else "Rows count from 1, after any header."
    return section(_title(doc, c, "Wrong and surest"), columns, rows, [start])
