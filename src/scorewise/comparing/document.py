"""What `compare` writes and shows: the ranking, models side by side, differences and tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from scorewise.comparing.verdict import compare_verdict
from scorewise.evaluation.document import (
    DifferenceRecord,
    ModelRecord,
    SettingsRecord,
    hints_of,
    unlike_tests,
)
from scorewise.evaluation.groups import TITLES
from scorewise.evaluation.page import (
    MORE,
    SHORT,
    by_question,
    data_line,
    difference_cell,
    difference_section,
)
from scorewise.evaluation.result import FIRST, FIRST_OF_CLASSES
from scorewise.inference.differences import McNemarKind, holm, rows_needed
from scorewise.show.data import ClusterRecord, DataRecord, GroupOfRows
from scorewise.show.document import JudgedDocument, cautions
from scorewise.show.page import Column, Section, Table, section, undefined
from scorewise.show.records import (
    Count,
    Estimated,
    MeasureRow,
    Number,
    OfMeasure,
    PairNames,
    PValue,
    Record,
    Share,
    Word,
    field,
    finite,
    record_of,
)
from scorewise.show.words import Name, Sentence, count, listed, percent, quoted, value

if TYPE_CHECKING:
    from scorewise.comparing.comparison import ModelComparison

MAX_LETTERS = 10  # of the name of a model above its column
BY_GROUP = ("auroc", "average_precision", "brier", "ece", "sensitivity", "specificity")
FEW_PAIRS = 3  # of which the first screen has the difference of every measure


class CompareSettings(SettingsRecord):
    """The settings that the numbers depend on."""

    measure: Word = field("The measure that models are ranked by.")
    margin: Number = field("How much worse than the baseline a model may be; null where not asked.")
    baseline: str | None = field("The model that all others are compared with, if named.")


class JoinedRecord(Record):
    """How many rows of a model were found in all models."""

    model: str
    rows: Count
    joined: Count = field("Rows whose key every model has.")


class PairRecord(PairNames):
    """Two models by the measure of the comparison, the one with the better value first."""

    finding: Literal["better", "not told apart", "alike"] = field(
        "Better only where the interval excludes 0 and the adjusted p-value says so."
    )
    value: float = field("The value of the first minus that of the second.")
    low: float
    high: float
    p_adjusted: PValue
    rows_missing: Number = field(
        "Rough number of further rows that would show this difference "
        "with a power of 80 %; null where it is shown, or is 0."
    )


class JointRecord(Record):
    """DeLong's test of whether the AUROCs of several models differ at all."""

    statistic: Number
    df: Count = field("Degrees of freedom: the rank of their covariance.")
    p: PValue
    why: str


class McNemarRecord(PairNames):
    """McNemar's test of the decisions of two models."""

    only_first: Count
    only_second: Count
    kind: McNemarKind = field("Mid-p, exact, or chi-square with continuity correction.")
    statistic: Number
    p: Share
    p_adjusted: PValue


class NonInferiorityRecord(Estimated, OfMeasure):
    """By how much a model is better than the baseline, held against the margin."""

    model: str
    baseline_model: str = field("Name of the model that it is compared with.")
    margin: float = field("How much worse it may be.", gt=0)
    finding: Literal["non-inferior", "inferior", "cannot be told"] = field(
        "Non-inferior where the interval lies above -margin, inferior where it lies below."
    )
    superior: bool = field("Whether the interval lies above 0.")


class CompareGroup(GroupOfRows):
    """The models compared on the rows of one group."""

    differences: list[DifferenceRecord] = field(
        "As for all rows; p-values are adjusted for groups and pairs of a measure (Holm)."
    )


class CompareDocument(JudgedDocument, command="compare"):
    """Models compared with each other."""

    settings: CompareSettings
    data: DataRecord
    clusters: ClusterRecord | None
    classes: Count = field("Number of classes.")
    paired: bool = field("Whether all models were judged on the same rows.")
    joined: list[JoinedRecord] = field(
        "Rows of each model that joined; empty where there was no key."
    )
    models: list[ModelRecord] = field("The models, in the order in which they came.", min_length=2)
    ranking: list[PairRecord] = field(
        "Pairs of models by the measure of the comparison, best first."
    )
    differences: list[DifferenceRecord] = field("Each measure, pair by pair.")
    joint: JointRecord | None = field("Test of three or more AUROCs; null of fewer.")
    mcnemar: list[McNemarRecord] = field(
        "Tests of decisions; empty where rows have weights or clusters."
    )
    noninferiority: list[NonInferiorityRecord] = field(
        "Models held against a margin; empty where none is named."
    )
    groups: list[CompareGroup]
    min_rows: Count = field("Groups of fewer rows are left out.")

    def opening(self) -> list[Section]:
        """The data."""
        return [Section(facts=_facts(self))]

    def sections(self) -> list[Section]:
        """Ten measures side by side with their differences, and tests."""
        more = {m.name for x in self.models for m in x.measures} - {*FIRST, *FIRST_OF_CLASSES}
        whole, pairs = len(more) > 1, {(d.first, d.second) for d in self.differences}
        one = len(pairs) == 1 and len(self.models) == 2
        title = f"Differences, on {'the same rows' if self.paired else 'different rows'}"
        measures = self.models[0].measures
        rows = by_question(measures, self.settings.threshold, lambda m: (m.name,))
        names = [str(row[0]) for row in rows if isinstance(row, tuple)]
        if not whole and len(pairs) > FEW_PAIRS:
            names = [self.settings.measure]
        differences = difference_section(title, self.differences, names, starred=True)
        return [
            Section(table=_table(self, one, whole)),
            *undefined(_reasons(self)),
            *([] if one else differences),
            *(_mcnemar(self) if whole or not one else []),
            *_by_group(self),
        ]

    def footnotes(self) -> list[str]:
        """The seed, and how p-values are adjusted."""
        correction = "p-values of several pairs are adjusted by Holm's method within a measure."
        return [f"Seed {self.settings.seed}.", correction]


def compare_document(c: ModelComparison, every: bool) -> CompareDocument:
    """The document of a comparison, with every measure or those of the first screen."""
    screen = {c.measure, *(FIRST_OF_CLASSES if c.several else FIRST)}
    only = None if every else screen
    first = next(iter(c.values()))
    differences = c.difference_records(only)
    models = [ModelRecord.of(name, e, only) for name, e in c.items()]
    hints = [] if c.several else [hint for n, e in c.items() for hint in hints_of(n, e, False)]
    no_threshold = {"threshold": None} if c.several else {}
    doc = CompareDocument(
        verdict=[],
        settings=record_of(CompareSettings, c.settings, measure=c.measure, **no_threshold),
        data=DataRecord.of(first.tally),
        clusters=ClusterRecord.of(first.clusters),
        classes=len(first.classes) if c.several else 2,
        paired=c.paired,
        joined=[JoinedRecord(model=n, rows=r, joined=j) for n, (r, j) in c.models.joined.items()],
        models=models,
        ranking=ranking_of(c, differences),
        differences=differences,
        joint=None if c.joint is None else record_of(JointRecord, c.joint),
        mcnemar=_mcnemar_records(c),
        noninferiority=_noninferiority(c),
        groups=_groups(c, screen),
        min_rows=c.min_rows,
        hints=[*first.hints, *hints, *unlike_tests(models), *cautions([models, differences])],
    )
    return replace(doc, verdict=compare_verdict(c, doc))


def ranking_of(c: ModelComparison, differences: Sequence[DifferenceRecord]) -> list[PairRecord]:
    """The pairs by the measure of the comparison, best model first, and what is known of them."""
    m, pairs = c.register[c.measure], []
    sign = 1 if m.better == "high" else -1
    rows = len(c.rows) if c.several else next(iter(c.values())).tally.origin.rows
    for d in differences:
        if d.measure != m.name or not d.has_interval:
            continue
        turned = sign * (d.value or 0.0) < 0
        first, second = (d.second, d.first) if turned else (d.first, d.second)
        gap = d.with_first(first)
        finding: Any = "better" if d.excludes_zero and d.significant else "not told apart"
        finding = "alike" if gap.low == gap.high == 0 else finding
        needed = rows_needed(gap, rows) - rows if finding == "not told apart" else None
        fields = {"finding": finding, "p_adjusted": d.p_adjusted, "rows_missing": needed}
        pairs.append(record_of(PairRecord, gap, first=first, second=second, **fields))
    values = {name: -sign * e[m.name].value for name, e in c.items()}
    return sorted(pairs, key=lambda p: (values[p.first], values[p.second]))


def _mcnemar_records(c: ModelComparison) -> list[McNemarRecord]:
    if c.why_not_mcnemar():
        return []
    tests = [c.mcnemar(*pair) for pair in c.pairs]
    kind, adjusted = c.settings.mcnemar, holm([t.p for t in tests])
    return [
        record_of(McNemarRecord, t, first=a, second=b, kind=kind, p_adjusted=q)
        for (a, b), t, q in zip(c.pairs, tests, adjusted, strict=True)
    ]


def _noninferiority(c: ModelComparison) -> list[NonInferiorityRecord]:
    m = c.register[c.measure]
    known = {"measure": m.name, "title": m.title}
    return [
        record_of(NonInferiorityRecord, n.gap, n, **known, baseline_model=n.baseline)
        for n in c.noninferiority
    ]


def _groups(c: ModelComparison, measures: set[str]) -> list[CompareGroup]:
    """The differences in each group, p-values adjusted over groups and pairs of a measure."""
    differences = {name: g.difference_records(measures) for name, g in c.groups.items()}
    for measure in measures:
        every = [(of, k) for of in differences.values() for k in range(len(of))]
        at = [(of, k) for of, k in every if of[k].measure == measure]
        adjusted = holm([of[k].p for of, k in at])
        for (of, k), q in zip(at, adjusted, strict=True):
            of[k] = replace(of[k], p_adjusted=finite(q))
    origins = {name: next(iter(g.values())).tally.origin for name, g in c.groups.items()}
    return [
        CompareGroup(name=name, rows=o.rows, positives=o.positives, differences=differences[name])
        for name, o in origins.items()
    ]


def _reasons(doc: CompareDocument) -> Iterator[tuple[str, str]]:
    """Why measures have no value, each with its title; with the model where not all have the reason."""
    for line in zip(*(x.measures for x in doc.models), strict=True):
        whys = dict.fromkeys(m.why for m in line)
        if len(whys) == 1:
            yield line[0].why, line[0].title
            continue
        for why in filter(None, whys):
            of = [quoted(x.name) for x, m in zip(doc.models, line, strict=True) if m.why == why]
            yield f"{listed(of)}: {why}", line[0].title


def _facts(doc: CompareDocument) -> list[tuple[str, Sentence]]:
    data = doc.data
    if not doc.paired and len(data.sources) == len(doc.models):
        data = replace(data, sources=data.sources[:1])  # the rows are those of the first
    facts = data_line(data, doc.classes if doc.classes > 2 else 0, doc.clusters)
    lost: list[str] = []
    for j in doc.joined:
        if j.rows > j.joined:
            lost += [", ", f"{count(j.rows - j.joined)} of {count(j.rows)} rows of ", Name(j.model)]
    if lost:
        facts.append(("Left out", [*lost[1:], ", which did not join"]))
    if not doc.paired:
        sizes: list[str] = []
        for model in doc.models:
            c = model.confusion
            total = sum(map(sum, c)) if isinstance(c, list) else c.tp + c.fp + c.fn + c.tn
            sizes += [", ", Name(model.name), f" on {count(total)}"]
        facts.append(("Unpaired", ["judged on different rows: ", *sizes[1:]]))
    return facts


def _table(doc: CompareDocument, one: bool, whole: bool) -> Table:
    """The values of the models side by side; of two also the difference, its interval and p."""
    by_name = {of[0].name: of for of in zip(*(x.measures for x in doc.models), strict=True)}
    defined = [next((m for m in of if not m.why), None) for of in by_name.values()]
    gaps = {d.measure: d for d in doc.differences} if one else {}

    def row(m: MeasureRow) -> tuple[object, ...]:
        cells = [None if x.why else value(x) for x in by_name[m.name]]
        d = gaps.get(m.name)
        gap = ("", "", "") if d is None else (difference_cell(d), d, d.p)
        return (m.title, *cells, *(gap if one else ()))

    rows = by_question([m for m in defined if m], doc.settings.threshold, row)
    names = [x.name for x in doc.models]
    short = [n if len(n) <= MAX_LETTERS else f"{n[:5]}…{n[-4:]}" for n in names]
    columns = [Column("Measure", "title")]
    columns += [Column(Name(n)) for n in (short if len({*short}) == len(names) else names)]
    if one:
        how, d = "paired" if doc.paired else "unpaired", doc.differences[0]
        pair = f"{quoted(d.first)} - {quoted(d.second)}"
        means = f"Difference: {pair}, {how}, with its {percent(doc.settings.level)} interval."
        if any(d.excludes_zero for d in gaps.values()):
            means += " *: the interval excludes 0."
        columns += [Column("Difference", meaning=means), Column("Interval", "interval")]
        columns.append(Column("p", "p"))
    return Table(columns, rows, [] if whole else [MORE])


def _mcnemar(doc: CompareDocument) -> list[Section]:
    rows = [
        (f"{quoted(t.first)}, {quoted(t.second)}", t.only_first, t.only_second, t.p, t.p_adjusted)
        for t in doc.mcnemar
    ]
    kind = doc.mcnemar[0].kind if doc.mcnemar else ""
    at = "" if doc.settings.threshold is None else f" at {doc.settings.threshold:g}"
    counts = [Column(f"Only {which} right", "count") for which in ("first", "second")]
    columns = [Column("Models", "text"), *counts, Column("p", "p"), Column("Holm", "p")]
    return section(f"Decisions{at} (McNemar, {kind})", columns, rows)


def _by_group(doc: CompareDocument) -> list[Section]:
    """The differences of the first pair in each group."""
    if not doc.groups:
        return []
    pair = doc.differences[0].first, doc.differences[0].second
    rows = []
    for g in doc.groups:
        own = {d.measure: d for d in g.differences if (d.first, d.second) == pair}
        known = [own.get(name) for name in BY_GROUP]
        cells = (
            "" if d is None or d.value is None else f"{d.value:.3f}{' *'[d.significant]}"
            for d in known
        )
        rows.append((g.name, g.rows, *cells))
    star = "*: the models differ, p adjusted for the groups by Holm."
    columns = [Column("Group", "name"), Column("Rows", "count")]
    titles = {**SHORT, **TITLES}
    columns += [Column(titles[name], meaning="" if k else star) for k, name in enumerate(BY_GROUP)]
    lines = [f"Groups of fewer than {count(doc.min_rows)} rows are left out."]
    return section(f"Groups: {quoted(pair[0])} - {quoted(pair[1])}", columns, rows, lines)
