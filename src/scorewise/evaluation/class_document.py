"""What `evaluate` of several classes writes and shows: all classes together, and each against the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from msgspec import Meta

from scorewise.evaluation.document import (
    COARSE,
    Clip,
    IntervalLevel,
    Seed,
    footnotes,
    measure_table,
)
from scorewise.registry import CLASS_MEASURES, MEASURES
from scorewise.show.data import Weight
from scorewise.show.document import (
    COMMAND,
    Count,
    Document,
    Hints,
    MeasureRow,
    Word,
    cautions,
    says,
)
from scorewise.show.page import (
    Column,
    Name,
    Page,
    Section,
    Sentence,
    Table,
    count,
    counted,
    hints,
    named,
    names,
    percent,
    undefined,
    whole_percent,
)
from scorewise.tallies import ClassTally, Confusion, Tally

if TYPE_CHECKING:
    from scorewise.evaluation.classes import ClassEvaluation

DECIDED = ("sensitivity", "precision", "f1")
SCORED = ("auroc", "average_precision", "brier", "ece")
FEW = 50  # classes of which also the scores are judged one by one


@dataclass(frozen=True, kw_only=True)
class ClassSettingsRecord:
    """The settings that the numbers depend on."""

    level: IntervalLevel
    seed: Seed
    clip: Clip


@dataclass(frozen=True, kw_only=True)
class ClassDataRecord:
    """The data that the model was judged on."""

    sources: Annotated[list[str], says("Files read; empty when given as arrays.")]
    label: Annotated[str | None, says("Column of the labels; null when it has no name.")]
    rows: Annotated[Count, says("Rows judged, without those dropped.")]
    dropped: Annotated[Count, says("Rows left out because a value was missing.")]
    weight: Annotated[str | None, says("Column of the weights; null when all rows weigh the same.")]
    kind: Annotated[
        Literal["probability", "logit"] | None,
        says("What the scores of each class are; null where only the confidence is known."),
    ]
    rule: Annotated[
        str,
        says("The labels that columns without names were taken for; empty where they have names."),
    ]
    confidence: Annotated[
        Word, says("The confidence: max, margin, entropy, energy, or its column.")
    ]
    confidence_kind: Annotated[
        Literal["probability", "logit", "score"], says("What the confidence can be read as.")
    ]
    distinct: Annotated[Count, says("Distinct values of the confidence.")]

    @classmethod
    def of(cls, t: ClassTally) -> ClassDataRecord:
        """The record of the rows of a tally."""
        o = t.top.origin
        kind: Any = t.kind if t.each else None
        return cls(
            sources=list(o.sources),
            label=o.label,
            rows=t.rows,
            dropped=o.dropped,
            weight=o.weight,
            kind=kind,
            rule=t.rule,
            confidence=t.ranked.origin.score,
            confidence_kind=t.ranked.kind,
            distinct=len(t.ranked.score),
        )


@dataclass(frozen=True, kw_only=True)
class ClassRecord:
    """One class against the rest."""

    name: Annotated[str, says("Name of the class.")]
    weight: Annotated[
        Weight, says("Weight of the rows of the class; their number without weights.")
    ]
    called: Annotated[Weight, says("Weight of the rows predicted to be of the class.")]
    measures: Annotated[
        list[MeasureRow],
        says("Measures of its decisions (the highest score wins) and of its scores."),
    ]

    @classmethod
    def of(cls, e: ClassEvaluation, name: str) -> ClassRecord:
        """Its rows, its decisions and, where they are known, its scores."""
        t = e.tally
        at = t.classes.index(name)
        decided = t.decided(name)
        found: list[tuple[str, Confusion | Tally]] = [(key, decided) for key in DECIDED]
        if t.each and len(t.classes) <= FEW:
            scores = t.one(name)
            found += [(key, scores) for key in SCORED]
        measures = ((MEASURES[key], what) for key, what in found if key in MEASURES)
        return cls(
            name=name,
            weight=float(t.weight[at]),
            called=float(t.confusion.weight[:, at].sum()),
            measures=[MeasureRow.of(m, m.under(vars(e.settings), what)) for m, what in measures],
        )


@dataclass(frozen=True, kw_only=True)
class ClassDocument(Document):
    """A model of several classes, overall and class by class."""

    command: Annotated[Literal["evaluate-classes"], says(COMMAND)] = "evaluate-classes"
    settings: ClassSettingsRecord
    data: ClassDataRecord
    confusion: Annotated[
        list[Annotated[list[Weight], Meta(min_length=2)]],
        Meta(min_length=2),
        says("Weight per true class (outer) and decision (inner), in the order of `classes`."),
    ]
    measures: Annotated[
        list[MeasureRow], says("The measures of all classes together, group by group.")
    ]
    classes: Annotated[list[ClassRecord], Meta(min_length=2), says("Each class against the rest.")]
    hints: Hints

    def page(self) -> Page:
        """The data, the decisions, every measure, and each class."""
        defined = [m for m in self.measures if not m.why]
        notes = [COARSE] if any(m.bound for m in defined) else []
        table = measure_table(defined, self.settings.level, notes)
        sections = [
            Section(facts=_facts(self)),
            *_decisions(self),
            *([Section(table=table)] if defined else []),
            *undefined((m.why, m.title) for m in self.measures),
            _each(self),
        ]
        record = footnotes(self.settings.seed, self.settings.clip)
        return Page(self.command, [*sections, *hints(self.hints)], record)


def class_document(e: ClassEvaluation) -> ClassDocument:
    """The document of one model on all its rows."""
    s, t = e.settings, e.tally
    measures = [MeasureRow.of(CLASS_MEASURES[key], estimate) for key, estimate in e.items()]
    classes = [ClassRecord.of(e, name) for name in t.classes]
    return ClassDocument(
        settings=ClassSettingsRecord(level=s.level, seed=s.seed, clip=s.clip),
        data=ClassDataRecord.of(t),
        confusion=t.confusion.weight.tolist(),
        measures=measures,
        classes=classes,
        hints=[*_hints(e), *cautions([measures, classes])],
    )


def _hints(e: ClassEvaluation) -> Iterator[str]:
    """What a reader should be told in words."""
    t = e.tally
    if not t.rows:
        return
    absent = t.weight == 0
    never = (t.confusion.weight.sum(0) == 0) & ~absent
    if absent.any():
        yield f"{_named(t, absent)} occurs in no row; averages over classes leave out what occurs nowhere"
    if never.any():
        yield f"{_named(t, never)} occurs, but is never the decision; it has no precision"
    a = e.accuracy
    if a.defined and a.baseline is not None and a.value < a.baseline:
        yield (
            f"decisions are worse than always saying the most frequent class: are the scores in the order "
            f"of the classes, {named(list(t.classes), 5)}? If not, name them in the order of the scores"
        )
    yield from _ties(t)
    if e.aurc.defined and e.aurc.baseline is not None and e.aurc.low > e.aurc.baseline:
        yield "confidence is higher where the decision is wrong: keeping the surest rows raises the risk"
    if e.canonical_ce.p is not None and e.canonical_ce.p > 0.95:
        yield (
            "the canonical error is below what calibrated scores get: its wide kernel hides scores that "
            "are too unsure; measures.canonical_ce with smoothed='gaps' sees them"
        )
    if len(t.classes) == 2 and t.each:
        yield "two classes have measures of their own: evaluate the scores of one of them alone for those"
    if t.kind == "logit" and t.joint is not None and _like_probabilities(t.joint.scores):
        yield "the scores are said to be logits, but are from 0 to 1 and add up to 1, as probabilities do"


def _named(t: ClassTally, which: np.ndarray) -> str:
    words = [f"'{c}'" for c, there in zip(t.classes, which, strict=True) if there]
    return named(words) if len(words) == 1 else f"each of {named(words)}"


def _ties(t: ClassTally) -> Iterator[str]:
    """Rows in which several classes share the highest score."""
    if t.joint is None:
        return
    scores = t.joint.scores
    shared = (scores == scores.max(1, keepdims=True)).sum(1) > 1
    if not shared.any():
        return
    if t.joint.whole and not t.top.weighted:
        where = f"in {counted(int(t.joint.weight[shared].sum()), 'row')}"
    else:
        part = float(t.joint.weight[shared].sum() / t.joint.weight.sum())
        where = f"in about {whole_percent(part)} of the rows"
    yield f"several classes share the highest score {where}; the first of them is the decision"


def _like_probabilities(scores: np.ndarray) -> bool:
    if not len(scores) or scores.min() < 0 or scores.max() > 1:
        return False
    return bool((np.abs(scores.sum(1) - 1) < 0.01).all())


# The page.


MANY = 10  # classes whose confusion is still shown whole
WORST, BEST = 15, 5  # classes listed where there are many
LISTED = 10  # confusions listed otherwise
SHORT = {
    "sensitivity": "Recall",
    "precision": "Precision",
    "f1": "F1",
    "auroc": "AUROC",
    "average_precision": "AP",
    "brier": "Brier",
    "ece": "ECE",
}


def _facts(doc: ClassDocument) -> list[tuple[str, Sentence]]:
    data, classes = doc.data, doc.classes
    facts: list[tuple[str, Sentence]] = [("Data", names(data.sources))] if data.sources else []
    total = sum(c.weight for c in classes)
    column = [] if data.label is None else [" in column ", Name(data.label)]
    facts.append(("Rows", [f"{count(data.rows)} of {len(classes)} classes", *column]))
    shares: list[str] = []
    for c in classes[:MANY]:
        part = f" ({percent(c.weight / total)})" if total else ""
        shares += [", ", Name(c.name), f" {count(c.weight)}{part}"]
    more = f" and {len(classes) - MANY} more" if len(classes) > MANY else ""
    facts.append(("Classes", [*shares[1:], more]))
    if data.dropped:
        facts.append(("Dropped", f"{counted(data.dropped, 'row')} with missing values"))
    if data.weight is not None:
        facts.append(("Weights", [Name(data.weight), f": {count(total)} in all"]))
    taken = f", columns in the order {data.rule}" if data.rule else ""
    known = (
        "only the decision and the confidence in it are known"
        if data.kind is None
        else f"a {data.kind} for each class{taken}; the highest is the decision"
    )
    facts.append(("Scores", known))
    distinct = counted(data.distinct, "distinct value")
    facts.append(("Confidence", [Name(data.confidence), f", {distinct}"]))
    return facts


def _decisions(doc: ClassDocument) -> list[Section]:
    """The confusion, whole where it is small and has room, else its largest entries off the diagonal."""
    listed = _confused(doc)
    if len(doc.classes) > MANY:
        return listed
    columns = [Column("true \\ predicted", "name")]
    columns += [Column(Name(c.name), "count") for c in doc.classes]
    rows = [(c.name, *line) for c, line in zip(doc.classes, doc.confusion, strict=True)]
    narrow = listed[0] if listed else None
    return [Section("Confusion", table=Table(columns, rows), narrow=narrow)]


def _confused(doc: ClassDocument) -> list[Section]:
    found = sorted(
        (-weight, i, j)
        for i, line in enumerate(doc.confusion)
        for j, weight in enumerate(line)
        if i != j and weight
    )
    if not found:
        return []
    classes = doc.classes
    rows = [
        (classes[i].name, classes[j].name, -w, -w / classes[i].weight) for w, i, j in found[:LISTED]
    ]
    more = len(found) - len(rows)
    lines = [f"{count(more)} further pairs of classes are confused less often."] if more > 0 else []
    columns = [
        Column("True", "name"),
        Column("Predicted", "name"),
        Column("Rows", "count"),
        Column("Of the class", "percent"),
    ]
    return [Section("Most frequent confusions", table=Table(columns, rows), lines=lines)]


def _each(doc: ClassDocument) -> Section:
    """One line for each class; of many, the worst and the best by F1."""
    titles = {m.name: SHORT[m.name] for m in doc.classes[0].measures if m.name in SHORT}
    chosen, lines = doc.classes, []
    if len(chosen) > WORST + BEST + MANY:
        ranked = sorted((c for c in chosen if _f1(c) is not None), key=_f1)
        shown = [*ranked[:WORST], *ranked[WORST:][-BEST:]]
        lines = [
            f"The {WORST} classes of the lowest F1 and the {BEST} of the highest; the JSON document has "
            f"the {len(chosen) - len(shown):,} others too."
        ]
        chosen = shown
    rows = []
    for c in chosen:
        values = {m.name: m.value for m in c.measures}
        rows.append((c.name, c.weight, c.called, *(values[name] for name in titles)))
    columns = [Column("Class", "name"), Column("Rows", "count"), Column("Predicted", "count")]
    columns += [Column(title) for title in titles.values()]
    return Section("Each class against the rest", table=Table(columns, rows), lines=lines)


def _f1(c: ClassRecord) -> Any:
    """F1 of a class, where it has one."""
    return next((m.value for m in c.measures if m.name == "f1"), None)
