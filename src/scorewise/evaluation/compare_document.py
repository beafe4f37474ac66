"""What `compare` writes and shows: the ranking, models side by side, differences and tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from scorewise.estimate import Estimate
from scorewise.evaluation.compare_verdict import compare_verdict
from scorewise.evaluation.document import (
    FIRST,
    FIRST_OF_CLASSES,
    DifferenceRecord,
    ModelRecord,
    SettingsRecord,
    class_data,
    model_hints,
    unlike_tests,
)
from scorewise.evaluation.groups import TITLES
from scorewise.evaluation.page import MORE, SHORT, by_question, clear, data_line, gap_cell
from scorewise.inference.paired import McNemarKind, holm, rows_needed
from scorewise.show.data import ClusterRecord, DataRecord, GroupOfRows
from scorewise.show.document import JudgedDocument, cautions
from scorewise.show.estimates import Estimated, OfMeasure, record_of
from scorewise.show.fields import Count, Number, OfTwo, PValue, Record, Share, Word, means
from scorewise.show.page import Column, Heading, Section, Table, section, undefined
from scorewise.show.words import Name, Sentence, count, named, percent, quoted, value

if TYPE_CHECKING:
    from scorewise.evaluation.comparing import ModelComparison

WIDEST = 10  # letters of the name of a model above its column
FEW = 3  # pairs of which the first screen has the difference of every measure


class CompareSettings(SettingsRecord):
    """The settings that the numbers depend on."""

    measure: Word = means("The measure that models are ranked by.")
    margin: Number = means("How much worse than the baseline a model may be; null where not asked.")
    baseline: str | None = means("The model that all others are compared with, if named.")


class JoinedRecord(Record):
    """How many rows of a model were found in all models."""

    model: str
    rows: Count
    joined: Count = means("Rows whose key every model has.")


class PairRecord(OfTwo):
    """Two models by the measure of the comparison, the one with the better value first."""

    finding: Literal["better", "not told apart", "alike"] = means(
        "Better only where the interval excludes 0 and the adjusted p-value says so."
    )
    value: float = means("The value of the first minus that of the second.")
    low: float
    high: float
    p_adjusted: PValue
    rows_missing: Number = means(
        "Rough number of further rows that would show this difference "
        "with a power of 80 %; null where it is shown, or is 0."
    )


class JointRecord(Record):
    """DeLong's test of whether the AUROCs of several models differ at all."""

    statistic: Number
    df: Count = means("Degrees of freedom: the rank of their covariance.")
    p: PValue
    why: str


class McNemarRecord(OfTwo):
    """McNemar's test of the decisions of two models."""

    only_first: Count
    only_second: Count
    kind: McNemarKind = means("Mid-p, exact, or chi-square with continuity correction.")
    statistic: Number
    p: Share
    p_adjusted: PValue


class NonInferiorityRecord(Estimated, OfMeasure):
    """By how much a model is better than the baseline, held against the margin."""

    model: str
    baseline_model: str = means("Name of the model that it is compared with.")
    margin: float = means("How much worse it may be.", gt=0)
    finding: Literal["non-inferior", "inferior", "cannot be told"] = means(
        "Non-inferior where the interval lies above -margin, inferior where it lies below."
    )
    superior: bool = means("Whether the interval lies above 0.")


class CompareGroup(GroupOfRows):
    """The models compared on the rows of one group."""

    differences: list[DifferenceRecord] = means(
        "As for all rows; p-values are adjusted for groups and pairs of a measure (Holm)."
    )


class CompareDocument(JudgedDocument, command="compare"):
    """Models compared with each other."""

    settings: CompareSettings
    data: DataRecord
    clusters: ClusterRecord | None
    classes: Count = means("Number of classes.")
    paired: bool = means("Whether all models were judged on the same rows.")
    joined: list[JoinedRecord] = means(
        "Rows of each model that joined; empty where there was no key."
    )
    models: list[ModelRecord] = means("The models, in the order in which they came.", min_length=2)
    ranking: list[PairRecord] = means(
        "Pairs of models by the measure of the comparison, best first."
    )
    differences: list[DifferenceRecord] = means("Each measure, pair by pair.")
    joint: JointRecord | None = means("Test of three or more AUROCs; null of fewer.")
    mcnemar: list[McNemarRecord] = means(
        "Tests of decisions; empty where rows have weights or clusters."
    )
    noninferiority: list[NonInferiorityRecord] = means(
        "Models held against a margin; empty where none is named."
    )
    groups: list[CompareGroup]
    min_rows: Count = means("Groups of fewer rows are left out.")

    def opening(self) -> list[Section]:
        """The data."""
        return [Section(facts=_facts(self))]

    def sections(self) -> list[Section]:
        """Ten measures side by side with their differences, and tests."""
        every = {m.name for x in self.models for m in x.measures} - {*FIRST, *FIRST_OF_CLASSES}
        whole = len(every) > 1
        pairs = {(d.first, d.second) for d in self.differences}
        one = len(pairs) == 1 and len(self.models) == 2
        return [
            Section(table=_table(self, one, whole)),
            *undefined(_reasons(self)),
            *([] if one else _differences(self, whole or len(pairs) <= FEW)),
            *(_mcnemar(self) if whole or not one else []),
            *_by_group(self),
        ]

    def footnotes(self) -> list[str]:
        """The seed, and how p-values are adjusted."""
        correction = "p-values of several pairs are adjusted by Holm's method within a measure."
        return [f"Seed {self.settings.seed}.", correction]


def compare_document(c: ModelComparison, every: bool) -> CompareDocument:
    """The document of a comparison, with every measure or those of the first screen."""
    shown = {c.measure, *(FIRST_OF_CLASSES if c.several else FIRST)}
    only = None if every else shown
    differences = c.compared(only)
    record: Any = ModelRecord.of_classes if c.several else ModelRecord.of
    models = [record(name, e, only) for name, e in c.items()]
    ranking = ranking_of(c, differences)
    decided, held, groups = _decided(c), _held(c), _groups(c, shown)
    any_of: Any = next(iter(c.values()))
    test, s, q = c.joint, c.settings, c.question
    remarks = [] if c.several else [h for n, e in c.items() for h in model_hints(n, e, False)]
    columns = () if c.several else any_of.hints
    asked = {"measure": c.measure, "margin": q.margin, "baseline": q.baseline}
    if c.several:
        asked["threshold"] = None
    return CompareDocument(
        verdict=compare_verdict(c, ranking, differences, decided, held, groups),
        settings=record_of(CompareSettings, s, **asked),
        data=class_data(any_of.tally) if c.several else DataRecord.of(any_of.tally),
        clusters=None if c.several else ClusterRecord.of(any_of.clusters),
        classes=len(any_of.classes) if c.several else 2,
        paired=c.paired,
        joined=[JoinedRecord(model=n, rows=r, joined=j) for n, (r, j) in c.models.joined.items()],
        models=models,
        ranking=ranking,
        differences=differences,
        joint=None if test is None else record_of(JointRecord, test),
        mcnemar=decided,
        noninferiority=held,
        groups=groups,
        min_rows=c.min_rows,
        hints=[*columns, *remarks, *unlike_tests(models), *cautions([models, differences])],
    )


def ranking_of(c: ModelComparison, differences: Sequence[DifferenceRecord]) -> list[PairRecord]:
    """The pairs by the measure of the comparison, best model first, and what is known of them."""
    m, found = c._register[c.measure], []
    better = 1 if m.better == "high" else -1
    rows = next(iter(c.values())).tally.origin.rows if not c.several else len(c._rows)
    for d in differences:
        if d.measure != m.name or d.value is None or d.low is None or d.high is None:
            continue
        turned = better * d.value < 0
        first, second = (d.second, d.first) if turned else (d.first, d.second)
        sign = -1 if turned else 1
        low, high = sorted((sign * d.low, sign * d.high))
        gap = Estimate(sign * d.value, low, high, d.level)
        sure = d.p_adjusted is not None and d.p_adjusted <= 1 - d.level
        finding: Any = "better" if (low > 0 or high < 0) and sure else "not told apart"
        finding = "alike" if low == high == 0 else finding
        needed = rows_needed(gap, rows) - rows if finding == "not told apart" else None
        fields = {
            "value": gap.value, "low": low, "high": high, "p_adjusted": d.p_adjusted,
            "rows_missing": needed,
        }  # fmt: skip
        found.append(record_of(PairRecord, first=first, second=second, finding=finding, **fields))
    worth = {n: -better * c[n][m.name].value for n in c}
    return sorted(found, key=lambda p: (worth[p.first], worth[p.second]))


def _decided(c: ModelComparison) -> list[McNemarRecord]:
    if c.why_not_mcnemar():
        return []
    tests = [c.mcnemar(*pair) for pair in c.pairs]
    kind, adjusted = c.question.mcnemar, holm([t.p for t in tests])
    return [
        record_of(McNemarRecord, t, first=a, second=b, kind=kind, p_adjusted=q)
        for (a, b), t, q in zip(c.pairs, tests, adjusted, strict=True)
    ]


def _held(c: ModelComparison) -> list[NonInferiorityRecord]:
    m = c._register[c.measure]
    return [
        record_of(
            NonInferiorityRecord, n.gap, n, measure=m.name, title=m.title, baseline_model=n.baseline,
            finding=n.finding, superior=n.superior,
        )
        for n in c.noninferiority
    ]  # fmt: skip


def _groups(c: ModelComparison, shown: set[str]) -> list[CompareGroup]:
    """The differences in each group, p-values adjusted over groups and pairs of a measure."""
    if not c.groups:
        return []
    made = {name: g.compared(shown) for name, g in c.groups.items()}
    lines = [(name, d) for name, ds in made.items() for d in ds]
    adjusted: dict[tuple[str, str, str, str], float] = {}
    for measure in shown:
        of = [(name, d) for name, d in lines if d.measure == measure]
        p = holm([float("nan") if d.p is None else d.p for _, d in of])
        adjusted |= {(n, measure, d.first, d.second): q for (n, d), q in zip(of, p, strict=True)}
    found = []
    for name, ds in made.items():
        keys = [(name, d.measure, d.first, d.second) for d in ds]
        differences = [
            record_of(DifferenceRecord, d, p_adjusted=adjusted[key])
            for d, key in zip(ds, keys, strict=True)
        ]
        t: Any = next(iter(c.groups[name].values())).tally
        found.append(
            CompareGroup(
                name=name, rows=t.origin.rows, positives=t.origin.positives, differences=differences
            )
        )
    return found


def _reasons(doc: CompareDocument) -> Iterator[tuple[str, str]]:
    """Why measures have no value, each with its title; with the model where not all have the reason."""
    for line in zip(*(x.measures for x in doc.models), strict=True):
        whys = dict.fromkeys(m.why for m in line)
        if len(whys) == 1:
            yield line[0].why, line[0].title
            continue
        for why in filter(None, whys):
            of = [quoted(x.name) for x, m in zip(doc.models, line, strict=True) if m.why == why]
            yield f"{named(of)}: {why}", line[0].title


def _facts(doc: CompareDocument) -> list[tuple[str, Sentence]]:
    data = doc.data
    if not doc.paired and len(data.sources) == len(doc.models):
        data = replace(data, sources=data.sources[:1])  # the rows are those of the first
    facts = data_line(data, doc.classes if doc.classes > 2 else 0, doc.clusters)
    lost = [j for j in doc.joined if j.rows > j.joined]
    if lost:
        parts: list[str] = []
        for j in lost:
            lacking = f"{count(j.rows - j.joined)} of {count(j.rows)} rows of "
            parts += [", ", lacking, Name(j.model)]
        facts.append(("Left out", [*parts[1:], ", which did not join"]))
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
    by_name = [{m.name: m for m in x.measures} for x in doc.models]
    rows: list[tuple[object, ...] | Heading] = []
    gaps = {d.measure: d for d in doc.differences} if one else {}
    lines = zip(*(x.measures for x in doc.models), strict=True)
    measures = [m for line in lines for m in [next((m for m in line if not m.why), None)] if m]
    for title, group in by_question(measures, doc.settings.threshold):
        rows.append(Heading(title))
        for m in group:
            cells = [
                value(x[m.name]) if m.name in x and not x[m.name].why else None for x in by_name
            ]
            rows.append((m.title, *cells, *(_gap(gaps.get(m.name)) if one else ())))
    how, d = "paired" if doc.paired else "unpaired", doc.differences[0]
    pair = f"{quoted(d.first)} - {quoted(d.second)}"
    apart = f"Difference: {pair}, {how}, with its {percent(doc.settings.level)} interval."
    star = " *: the interval excludes 0." if any(map(clear, gaps.values())) else ""
    columns = [Column("Measure", "title"), *(Column(Name(n)) for n in _titles(doc))]
    if one:
        columns.append(Column("Difference", meaning=apart + star))
        columns += [Column("Interval", "interval"), Column("p", "p")]
    return Table(columns, rows, [] if whole else [MORE])


def _titles(doc: CompareDocument) -> list[str]:
    """The names of the models, cut in their middle where they are long and stay apart."""
    names = [x.name for x in doc.models]
    cut = [n if len(n) <= WIDEST else f"{n[:5]}…{n[-4:]}" for n in names]
    return cut if len({*cut}) == len(names) else names


def _gap(d: DifferenceRecord | None) -> tuple[object, ...]:
    return ("", "", "") if d is None else (gap_cell(d), d, d.p)


def _differences(doc: CompareDocument, every: bool) -> list[Section]:
    """The differences pair by pair: of every measure that is shown, or of the one that ranks."""
    rows: list[tuple[object, ...] | Heading] = []
    for name in (
        m.name
        for _, group in by_question(doc.models[0].measures, doc.settings.threshold)
        for m in group
    ):
        of = [d for d in doc.differences if d.measure == name and not d.why]
        if of and (every or name == doc.settings.measure):
            rows.append(Heading(of[0].title))
            rows += [
                (f"{quoted(d.first)} - {quoted(d.second)}", *_gap(d), d.p_adjusted) for d in of
            ]
    how = "the same rows" if doc.paired else "different rows"
    lines = ["*: the interval excludes 0."] if any(map(clear, doc.differences)) else []
    columns = [Column("Models", "text"), Column("Difference"), Column("Interval", "interval")]
    return section(f"Differences, on {how}", [*columns, ("p", "p"), ("Holm", "p")], rows, lines)


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
    used = ["auroc", "average_precision", "brier", "ece", "sensitivity", "specificity"]
    rows = []
    for g in doc.groups:
        own = {d.measure: d for d in g.differences if (d.first, d.second) == pair}
        cells = [_group_cell(own.get(n), doc.settings.level) for n in used]
        rows.append((g.name, g.rows, *cells))
    columns = [Column("Group", "name"), Column("Rows", "count")]
    star = "*: the models differ, p adjusted for the groups by Holm."
    columns += [Column({**SHORT, **TITLES}[n], meaning=star if n == used[0] else "") for n in used]
    lines = [f"Groups of fewer than {count(doc.min_rows)} rows are left out."]
    return section(f"Groups: {quoted(pair[0])} - {quoted(pair[1])}", columns, rows, lines)


def _group_cell(d: DifferenceRecord | None, level: float) -> str:
    if d is None or d.value is None:
        return ""
    sure = d.p_adjusted is not None and d.p_adjusted <= 1 - level
    return f"{d.value:.3f}{'*' if sure else ' '}"
