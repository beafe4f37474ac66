"""What `evaluate` writes: data, models with their decisions and measures, classes, differences, hints."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from msgspec import Meta

from scorewise.columns.rows import Kind, nearly_inside
from scorewise.computing import on_threads
from scorewise.estimate import Estimate
from scorewise.evaluation.curves import CurvesRecord
from scorewise.evaluation.result import (
    FIRST,
    FIRST_OF_CLASSES,
    AnyEvaluation,
    ClassEvaluation,
    Evaluation,
    OfModels,
    Settings,
)
from scorewise.registry import CLASS_MEASURES, MEASURES, Measure
from scorewise.show.data import (
    Cells,
    ClusterRecord,
    CutRecord,
    DataRecord,
    SpreadRecord,
    spread,
)
from scorewise.show.document import JudgedDocument, cautions
from scorewise.show.page import Page
from scorewise.show.records import (
    Estimated,
    MeasureRow,
    OfMeasure,
    PValue,
    Record,
    Repeatable,
    Weight,
    Word,
    field,
    record_of,
)
from scorewise.show.words import listed, plural, quoted, whole_percent
from scorewise.statistics.smroc import far_from_half, midpoint
from scorewise.subgroups import ComparedGroups, GroupsRecord
from scorewise.tallies import ClassTally, Confusion, Tally

CLASS_DECISIONS = ("sensitivity", "precision", "f1")
CLASS_SCORES = ("auroc", "average_precision", "brier", "ece")
MAX_SCORED_CLASSES = 50  # classes of which also the scores are judged one by one
MAX_CURVES = 10  # classes of which curves are written


class SettingsRecord(Repeatable):
    """The settings that the numbers depend on."""

    threshold: float | None = field(
        "A score at or above this is a positive decision; null where there are several classes."
    )
    clip: float | None = field("Distance from 0 and 1 to which log loss clips; null: no clipping.")


class ModelRecord(SpreadRecord):
    """The scores of one model: a column, or one for each class."""

    name: str
    kind: Kind | None = field(
        "What the scores are said to be; null where only decisions and confidence are known."
    )
    confidence: Word | None = field(
        "Of several classes, the confidence: max, margin, entropy, energy, or its column."
    )
    confidence_kind: Kind | None = field(
        "What the confidence can be read as; null where there are two classes."
    )
    exact: bool
    cut: CutRecord | None = field("Where the scores of two classes are cut.")
    confusion: Cells | list[Annotated[list[Weight], Meta(min_length=2)]] = field(
        "Weight per true class and decision; of several classes a table, in the order of `classes`."
    )
    measures: list[MeasureRow]

    @classmethod
    def of(cls, name: str, e: AnyEvaluation, only: Collection[str] | None = None) -> ModelRecord:
        """The record of scores, or of decisions of several classes, with every measure or only some."""
        t, c, register = e.tally, e.confusion, CLASS_MEASURES
        own: dict[str, Any] = {"confidence": None, "confidence_kind": None, "cut": None}
        if isinstance(t, Tally):
            register = MEASURES
            own |= {"kind": t.kind, "cut": record_of(CutRecord, t.cut(e.settings.threshold))}
            own["confusion"] = record_of(Cells, c)
        else:
            own |= {"kind": t.kind if t.each else None, "confusion": c.weight.tolist()}
            t = t.ranked
            own |= {"confidence": t.origin.score, "confidence_kind": t.kind}
        estimates = e.items() if only is None else ((x, e[x]) for x in e if x in only)
        rows = [MeasureRow.of(register[x], estimate) for x, estimate in estimates]
        return cls(name=name, **own, **spread(t), exact=t.coarse is None, measures=rows)


class DifferenceRecord(Estimated, OfMeasure):
    """One model minus another, paired."""

    first: str = field("Name of the model that is subtracted from.")
    second: str = field("Name of the model that is subtracted.")
    p_adjusted: PValue

    @classmethod
    def of(cls, m: Measure, models: tuple[str, str], e: Estimate, q: float) -> DifferenceRecord:
        """The record of a difference, with its adjusted p-value."""
        pair = {"measure": m.name, "title": m.title, "first": models[0], "second": models[1]}
        return record_of(cls, e, p_adjusted=q, **pair)

    @property
    def has_interval(self) -> bool:
        """Whether there is a difference with an interval."""
        return None not in (self.value, self.low, self.high)

    @property
    def excludes_zero(self) -> bool:
        """Whether its interval excludes 0."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high

    @property
    def significant(self) -> bool:
        """Whether its adjusted p-value says that the models differ."""
        return self.p_adjusted is not None and self.p_adjusted <= 1 - self.level

    def with_first(self, first: str) -> Estimate:
        """The difference with this model first."""
        sign = 1 if first == self.first else -1
        low, high = sorted(sign * (x or 0.0) for x in (self.low, self.high))
        return Estimate(sign * (self.value or 0.0), low, high, self.level)


class ClassRecord(Record):
    """One class against the rest."""

    name: str
    weight: Weight = field("Weight of the rows of the class; their number without weights.")
    called: Weight = field("Weight of the rows predicted to be of the class.")
    measures: list[MeasureRow] = field(
        "Measures of its decisions (the highest score wins) and of its scores."
    )

    @classmethod
    def of(cls, e: ClassEvaluation, name: str) -> ClassRecord:
        """Its rows, its decisions and, where they are known, its scores."""
        t, settings = e.tally, vars(e.settings)
        at = t.classes.index(name)
        decided = t.decided(name)
        of: list[tuple[str, Confusion | Tally]] = [(key, decided) for key in CLASS_DECISIONS]
        if t.each and len(t.classes) <= MAX_SCORED_CLASSES:
            scores = t.one(name)
            of += [(key, scores) for key in CLASS_SCORES]
        measures = [(MEASURES[key], what) for key, what in of]
        rows = [MeasureRow.of(m, m.under(settings, what)) for m, what in measures]
        called = float(t.confusion.weight[:, at].sum())
        return cls(name=name, weight=float(t.weight[at]), called=called, measures=rows)


class EvaluationDocument(JudgedDocument, command="evaluate"):
    """Models judged on the same rows."""

    settings: SettingsRecord
    data: DataRecord
    clusters: ClusterRecord | None
    models: list[ModelRecord] = field(
        "The scores that were judged, in the order given.", min_length=1
    )
    classes: list[ClassRecord] = field(
        "Each class against the rest; empty where there are two classes."
    )
    differences: list[DifferenceRecord] = field("Models compared on the same rows, pair by pair.")
    groups: list[GroupsRecord]
    curves: list[CurvesRecord] = field(
        "The curves of each model, or of at most ten classes, those of the lowest AUROC; empty on the "
        "first screen."
    )

    @property
    def first_screen(self) -> EvaluationDocument:
        """The same with the measures of the first screen."""
        return self.with_measures(FIRST_OF_CLASSES if self.classes else FIRST)

    def with_measures(self, names: Collection[str]) -> EvaluationDocument:
        """The same with some of the measures of its models."""
        rows = [[x for x in m.measures if x.name in names] for m in self.models]
        models = [replace(m, measures=of) for m, of in zip(self.models, rows, strict=True)]
        return replace(self, models=models)

    def page(self) -> Page:
        """The conclusion in tables: data, decisions, measures, classes, differences."""
        from scorewise.evaluation.page import evaluation_page

        return evaluation_page(self)

    def report(self) -> Page:
        """The same for a report: sections by question, every measure in its own."""
        from scorewise.evaluation.report import evaluation_report

        return evaluation_report(self)


def evaluation_document(of: OfModels, every: bool = True) -> EvaluationDocument:
    """The document of one model or of several, with every measure or those of the first screen."""
    from scorewise.evaluation.calibration import recalibration_gains, worth_recalibrating
    from scorewise.evaluation.verdict import verdict_of

    models = of.evaluations
    first = next(iter(models.values()))
    binary = {name: e for name, e in models.items() if isinstance(e, Evaluation)}
    classes: list[ClassRecord] = []
    curves: list[CurvesRecord] = []
    if isinstance(first, ClassEvaluation):
        classes = [ClassRecord.of(first, name) for name in first.classes]
        curves = _class_curves(first.tally, classes) if every else []
        hints = [*_class_hints(first, every)]
    else:
        if every and len(models) > 1:
            # each model on a thread of its own, before what they share is computed
            on_threads(
                lambda e: (dict(e), worth_recalibrating(e) and recalibration_gains(e)),
                [*binary.values()],
                enough=1,
            )
        if every:
            curves = on_threads(lambda item: CurvesRecord.of(*item), [*binary.items()], enough=1)
        hints = [hint for name, e in binary.items() for hint in hints_of(name, e, every)]
    only = None if every else FIRST if binary else FIRST_OF_CLASSES
    differences = of.difference_records(only)
    groups = [e.groups for e in models.values() if isinstance(e.groups, ComparedGroups)]
    rows = [ModelRecord.of(name, e, only) for name, e in models.items()]
    return EvaluationDocument(
        verdict=verdict_of(models, differences),
        settings=record_of(SettingsRecord, of.settings, **({} if binary else {"threshold": None})),
        data=DataRecord.of(first.tally),
        clusters=ClusterRecord.of(first.clusters),
        models=rows,
        classes=classes,
        differences=differences,
        groups=on_threads(lambda g: g.record, groups, enough=1),
        curves=curves,
        hints=[*hints, *first.hints, *unlike_tests(rows), *cautions([rows, classes, differences])],
    )


def _class_curves(t: ClassTally, classes: Sequence[ClassRecord]) -> list[CurvesRecord]:
    """The curves of those classes that have the lowest AUROC."""
    areas = {c.name: m.value for c in classes for m in c.measures if m.name == "auroc"}
    known = {name: math.inf if (area := areas.get(name)) is None else area for name in t.classes}
    lowest = sorted(known, key=known.__getitem__)[:MAX_CURVES]
    names = [name for name in t.classes if name in lowest] if t.each else []
    return [CurvesRecord.of_class(name, t.one(name)) for name in names]


def hints_of(name: str, e: Evaluation, every: bool) -> Iterator[str]:
    """Remarks on a model; without `every`, none that take a measure beyond the first screen."""
    c, t = e.confusion, e.tally
    lowest, highest = t.ends
    if why := t.why_not_ranked:
        yield f"'{name}': {why}; measures that need both classes are undefined"
    elif e.auroc.value < 0.5:
        yield (
            f"AUROC of '{name}' is below 0.5: a higher score goes with the negative class; is "
            f"'{t.origin.positive}' the positive one, or is it '{t.origin.negative}'?"
        )
    if every and e.smauc.defined and far_from_half(middle := midpoint(t.pooled).value):
        yield (
            f"smAUC of '{name}' misleads, because the mean score {middle:.3g} is far from 0.5: judge it "
            f"by its baseline, what the same scores would get at random, or see smroc"
        )
    default = e.settings.threshold == Settings.threshold
    # of rounding beyond 0 and 1 the verdict tells
    if t.kind == "score" and not nearly_inside(lowest, highest) and default and t.origin.rows:
        yield (
            f"'{name}': these scores are not probabilities, and 0.5 may not be a sensible threshold; "
            f"choose one for the decisions"
        )
    if t.kind == "probability" and len(t.score) == 2 and t.ends == (0.0, 1.0):
        yield (
            f"'{name}': all scores are 0 or 1, as decisions are, and none lies between; if the model gives "
            f"probabilities (predict_proba), pass those"
        )
    # of what the first screen has no value, the table says why
    elif every and e.calibration_slope.why.startswith("a probability is 0 or 1"):
        yield (
            f"'{name}': probabilities of exactly 0 or 1 leave calibration slope and calibration in the "
            f"large without a value; a clip half as far from 0 and 1 as the nearest other score gives them "
            f"one, and O/E, ICI, E50 and E90 need none"
        )
    if t.kind == "logit" and lowest >= 0 and highest <= 1:
        yield f"'{name}': said to be logits, but all lie in [0, 1] as probabilities do"
    for side, predicted in (("negative", c.tp + c.fp), ("positive", c.tn + c.fn)):
        if c.table.sum() and not predicted:
            yield (
                f"'{name}': every row is called {side}; scores lie in [{lowest:.4g}, {highest:.4g}] "
                f"and the threshold is {e.settings.threshold:g}"
            )


def _class_hints(e: ClassEvaluation, every: bool) -> Iterator[str]:
    t = e.tally
    if not t.rows:
        return
    absent = t.weight == 0
    never = (t.confusion.weight.sum(0) == 0) & ~absent
    if absent.any():
        yield f"{_named(t, absent)} occurs in no row; averages over classes leave out what occurs nowhere"
    if never.any():
        yield f"{_named(t, never)} is never predicted, and so has no precision"
    first, to, last = t.rule.partition(" to ")
    if to and first.isdecimal() and t.classes[0] != first:
        yield (
            f"labels {t.rule} are the classes in the order of the scores: {first} is "
            f"{quoted(t.classes[0])}, {last} is {quoted(t.classes[-1])}"
        )
    a = e.accuracy
    if a.defined and a.baseline is not None and a.value < a.baseline:
        yield (
            f"decisions are worse than always saying the most frequent class: are the scores in the order "
            f"of the classes, {listed(list(t.classes), 5)}? If not, name them in the order of the scores"
        )
    yield from _ties(t)
    if e.aurc.defined and e.aurc.baseline is not None and e.aurc.low > e.aurc.baseline:
        yield "confidence is higher where the decision is wrong: keeping the surest rows raises the risk"
    if every and e.canonical_ce.p is not None and e.canonical_ce.p > 0.95:
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
    return listed(words) if len(words) == 1 else f"each of {listed(words)}"


def _ties(t: ClassTally) -> Iterator[str]:
    """Rows in which several classes share the highest score."""
    if t.joint is None:
        return
    scores = t.joint.scores
    shared = (scores == scores.max(1, keepdims=True)).sum(1) > 1
    if not shared.any():
        return
    if t.joint.whole and not t.top.weighted:
        where = f"in {plural(int(t.joint.weight[shared].sum()), 'row')}"
    else:
        part = float(t.joint.weight[shared].sum() / t.joint.weight.sum())
        where = f"in about {whole_percent(part)} of the rows"
    yield f"several classes share the highest score {where}; the first of them is the decision"


def _like_probabilities(scores: np.ndarray) -> bool:
    if not len(scores) or scores.min() < 0 or scores.max() > 1:
        return False
    return bool((np.abs(scores.sum(1) - 1) < 0.01).all())


def unlike_tests(models: Sequence[ModelRecord]) -> Iterator[str]:
    """Tests (they have no interval) whose p-values were not made in the same way for all models."""
    for rows in zip(*(model.measures for model in models), strict=True):
        pairs = zip(models, rows, strict=True)
        tested = [(x.name, m.method) for x, m in pairs if m.low is None and m.p is not None]
        if len({method for _, method in tested}) > 1:
            ways = [f"'{name}' by {method}" for name, method in tested]
            yield f"p-values of {rows[0].title} are not comparable: {', '.join(ways)}"
