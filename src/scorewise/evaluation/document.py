"""What `evaluate` writes: data, models with their decisions and measures, classes, differences, hints."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import numpy as np
from msgspec import Meta

from scorewise.columns.binary import Kind, nearly_inside
from scorewise.estimate import Estimate
from scorewise.evaluation.curve_records import CurvesRecord
from scorewise.evaluation.groups import ClassGroups, Groups
from scorewise.evaluation.models import Settings
from scorewise.inference.paired import Difference
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
from scorewise.show.estimates import (
    Estimated,
    MeasureRow,
    OfMeasure,
    Repeatable,
    finite,
    record_of,
)
from scorewise.show.fields import PValue, Record, Weight, Word, means
from scorewise.show.groups import GroupsRecord
from scorewise.show.page import Page
from scorewise.show.words import counted, named, quoted, whole_percent
from scorewise.tallies import ClassTally, Confusion, Tally
from scorewise.tallies.smroc import far, midpoint
from scorewise.tallies.sorting import on_threads

if TYPE_CHECKING:
    from scorewise.evaluation.classes import ClassEvaluation
    from scorewise.evaluation.models import Evaluation

# the measures of the first screen
FIRST = (
    "auroc", "average_precision", "brier", "log_loss", "calibration_intercept", "calibration_slope", "ece",
    "sensitivity", "specificity", "precision",
)  # fmt: skip
FIRST_OF_CLASSES = (
    "accuracy", "balanced_accuracy", "macro_f1", "kappa", "macro_auroc", "log_loss", "brier", "ece",
)  # fmt: skip
DECIDED = ("sensitivity", "precision", "f1")
SCORED = ("auroc", "average_precision", "brier", "ece")
FEW = 50  # classes of which also the scores are judged one by one
DRAWN = 10  # classes of which curves are written


class SettingsRecord(Repeatable):
    """The settings that the numbers depend on."""

    threshold: float | None = means(
        "A score at or above this is a positive decision; null where there are several classes."
    )
    clip: float | None = means("Distance from 0 and 1 to which log loss clips; null: no clipping.")


class ModelRecord(SpreadRecord):
    """The scores of one model: a column, or one for each class."""

    name: str
    kind: Kind | None = means(
        "What the scores are said to be; null where only decisions and confidence are known."
    )
    confidence: Word | None = means(
        "Of several classes, the confidence: max, margin, entropy, energy, or its column."
    )
    confidence_kind: Kind | None = means(
        "What the confidence can be read as; null where there are two classes."
    )
    exact: bool
    cut: CutRecord | None = means("Where the scores of two classes are cut.")
    confusion: Cells | list[Annotated[list[Weight], Meta(min_length=2)]] = means(
        "Weight per true class and decision; of several classes a table, in the order of `classes`."
    )
    measures: list[MeasureRow]

    @classmethod
    def of(cls, name: str, e: Evaluation, only: Collection[str] | None = None) -> ModelRecord:
        """The record of scores of two classes, with every measure or only some."""
        c = e.confusion
        cut = e.tally.cut(e.settings.threshold)
        return cls(
            name=name,
            kind=e.tally.kind,
            confidence=None,
            confidence_kind=None,
            **spread(e.tally),
            exact=e.tally.coarse is None,
            cut=CutRecord(threshold=cut.threshold, above=finite(cut.above), upto=finite(cut.upto)),
            confusion=Cells(tp=c.tp, fp=c.fp, fn=c.fn, tn=c.tn),
            measures=_measured(e, MEASURES, only),
        )

    @classmethod
    def of_classes(
        cls, name: str, e: ClassEvaluation, only: Collection[str] | None = None
    ) -> ModelRecord:
        """The record of scores, or decisions, of several classes."""
        t = e.tally
        return cls(
            name=name,
            kind=t.kind if t.each else None,
            confidence=t.ranked.origin.score,
            confidence_kind=t.ranked.kind,
            **spread(t.ranked),
            exact=t.ranked.coarse is None,
            cut=None,
            confusion=t.confusion.weight.tolist(),
            measures=_measured(e, CLASS_MEASURES, only),
        )


def _measured(
    e: Mapping[str, Estimate], register: Mapping[str, Measure], only: Collection[str] | None
) -> list[MeasureRow]:
    return [MeasureRow.of(register[x], e[x]) for x in e if only is None or x in only]


class DifferenceRecord(Estimated, OfMeasure):
    """One model minus another, paired."""

    first: str = means("Name of the model that is subtracted from.")
    second: str = means("Name of the model that is subtracted.")
    p_adjusted: PValue

    @classmethod
    def of(cls, m: Measure, models: tuple[str, str], d: Difference, q: float) -> DifferenceRecord:
        """The record of a difference, with its adjusted p-value."""
        pair = {"measure": m.name, "title": m.title, "first": models[0], "second": models[1]}
        return record_of(cls, d.estimate, p=d.p, p_adjusted=q, **pair)


class ClassRecord(Record):
    """One class against the rest."""

    name: str
    weight: Weight = means("Weight of the rows of the class; their number without weights.")
    called: Weight = means("Weight of the rows predicted to be of the class.")
    measures: list[MeasureRow] = means(
        "Measures of its decisions (the highest score wins) and of its scores."
    )

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


class EvaluationDocument(JudgedDocument, command="evaluate"):
    """Models judged on the same rows."""

    settings: SettingsRecord
    data: DataRecord
    clusters: ClusterRecord | None
    models: list[ModelRecord] = means(
        "The scores that were judged, in the order given.", min_length=1
    )
    classes: list[ClassRecord] = means(
        "Each class against the rest; empty where there are two classes."
    )
    differences: list[DifferenceRecord] = means("Models compared on the same rows, pair by pair.")
    groups: list[GroupsRecord]
    curves: list[CurvesRecord] = means(
        "The curves of each model, or of at most ten classes, those of the lowest AUROC; empty on the "
        "first screen."
    )

    def page(self) -> Page:
        """The conclusion in tables: data, decisions, measures, classes, differences."""
        from scorewise.evaluation.page import evaluation_page

        return evaluation_page(self)

    def report(self) -> Page:
        """The same for a report: sections by question, every measure in its own."""
        from scorewise.evaluation.report import evaluation_report

        return evaluation_report(self)


def evaluation_document(
    evaluations: Mapping[str, Evaluation],
    s: Settings,
    differences: Sequence[DifferenceRecord] = (),
    every: bool = True,
) -> EvaluationDocument:
    """The document of evaluations of two classes on the same rows."""
    from scorewise.evaluation.verdict import verdict_of

    only = None if every else FIRST
    grouped = [e.groups for e in evaluations.values() if isinstance(e.groups, Groups)]
    groups = on_threads(lambda of: of.record, grouped, enough=1)
    models = [ModelRecord.of(name, e, only) for name, e in evaluations.items()]
    remarks = [hint for name, e in evaluations.items() for hint in model_hints(name, e, every)]
    return EvaluationDocument(
        verdict=verdict_of(evaluations, differences),
        settings=record_of(SettingsRecord, s),
        data=DataRecord.of(next(iter(evaluations.values())).tally),
        clusters=ClusterRecord.of(next(iter(evaluations.values())).clusters),
        models=models,
        classes=[],
        differences=list(differences),
        groups=groups,
        curves=on_threads(
            lambda of: CurvesRecord.of(*of), [*evaluations.items()] * every, enough=1
        ),
        hints=[
            *remarks,
            *next(iter(evaluations.values())).hints,
            *unlike_tests(models),
            *cautions([models, list(differences)]),
        ],
    )


def class_document(e: ClassEvaluation, every: bool = True) -> EvaluationDocument:
    """The document of one model of several classes."""
    from scorewise.evaluation.verdict import class_verdict

    t, only = e.tally, None if every else FIRST_OF_CLASSES
    model = ModelRecord.of_classes("scores", e, only)
    classes = [ClassRecord.of(e, name) for name in t.classes]
    return EvaluationDocument(
        verdict=class_verdict(e),
        settings=record_of(SettingsRecord, e.settings, threshold=None),
        data=class_data(t),
        clusters=None,
        models=[model],
        classes=classes,
        differences=[],
        groups=[e.groups.record] if isinstance(e.groups, ClassGroups) else [],
        curves=[CurvesRecord.of_class(c, t.one(c)) for c in _drawn(t, classes)] if every else [],
        hints=[*_class_hints(e, every), *cautions([model.measures, classes])],
    )


def _drawn(t: ClassTally, classes: Sequence[ClassRecord]) -> Sequence[str]:
    """The classes whose curves are written, if their scores are known: those of the lowest AUROC."""

    def worth(c: ClassRecord) -> float:
        found = next((m.value for m in c.measures if m.name == "auroc"), None)
        return math.inf if found is None else found

    lowest = {c.name for c in sorted(classes, key=worth)[:DRAWN]}
    return [name for name in t.classes if name in lowest] if t.each else ()


def class_data(t: ClassTally) -> DataRecord:
    """The record of rows of several classes; what only two classes have is null."""
    unknown = dict.fromkeys(
        ["positive", "negative", "positives", "negatives", "weight_positives", "weight_negatives"]
    )
    return record_of(DataRecord, t.top.origin, rows=t.rows, rule=t.rule, **unknown)


def model_hints(name: str, e: Evaluation, every: bool) -> Iterator[str]:
    """What a reader should be told in words."""
    c, t = e.confusion, e.tally
    if why := t.why_not_ranked:
        yield f"'{name}': {why}; measures that need both classes are undefined"
    elif e.auroc.value < 0.5:
        yield (
            f"AUROC of '{name}' is below 0.5: a higher score goes with the negative class; is "
            f"'{t.origin.positive}' the positive one, or is it '{t.origin.negative}'?"
        )
    if every and e.smauc.defined and far(middle := midpoint(t.pooled).value):
        yield (
            f"smAUC of '{name}' misleads, because the mean score {middle:.3g} is far from 0.5: judge it "
            f"by its baseline, what the same scores would get at random, or see smroc"
        )
    # of rounding beyond 0 and 1 the verdict tells
    if (
        t.kind == "score"
        and not nearly_inside(*t.ends)
        and e.settings.threshold == Settings.threshold
        and t.origin.rows
    ):
        yield (
            f"'{name}': these scores are not probabilities, and 0.5 may not be a sensible threshold; "
            f"choose one for the decisions"
        )
    yield from _certain(name, e, every)
    if t.kind == "logit" and t.ends[0] >= 0 and t.ends[1] <= 1:
        yield f"'{name}': said to be logits, but all lie in [0, 1] as probabilities do"
    for side, called in (("negative", c.tp + c.fp), ("positive", c.tn + c.fn)):
        if c.table.sum() and not called:
            lowest, highest = t.ends
            yield (
                f"'{name}': every row is called {side}; scores lie in [{lowest:.4g}, {highest:.4g}] "
                f"and the threshold is {e.settings.threshold:g}"
            )


def _certain(name: str, e: Evaluation, every: bool) -> Iterator[str]:
    """Of probabilities of exactly 0 and 1; of what the first screen has no value, the table says why."""
    t = e.tally
    if t.kind == "probability" and len(t.score) == 2 and t.ends == (0.0, 1.0):
        yield (
            f"'{name}': all scores are 0 or 1, as decisions are, and none lies between; if the model gives "
            f"probabilities (predict_proba), pass those"
        )
    elif every and e.calibration_slope.why.startswith("a probability is 0 or 1"):
        yield (
            f"'{name}': probabilities of exactly 0 or 1 leave calibration slope and calibration in the "
            f"large without a value; a clip half as far from 0 and 1 as the nearest other score gives them "
            f"one, and O/E, ICI, E50 and E90 need none"
        )


def unlike_tests(models: Sequence[ModelRecord]) -> Iterator[str]:
    """Tests (they have no interval) whose p-values were not made in the same way for all models."""
    for rows in zip(*(model.measures for model in models), strict=True):
        tested = [m.low is None and m.p is not None for m in rows]
        if len({m.method for m, of in zip(rows, tested, strict=True) if of}) > 1:
            ways = [
                f"'{model.name}' by {m.method}"
                for model, m, of in zip(models, rows, tested, strict=True)
                if of
            ]
            yield f"p-values of {rows[0].title} are not comparable: {', '.join(ways)}"


def _class_hints(e: ClassEvaluation, every: bool) -> Iterator[str]:
    """What a reader should be told in words."""
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
            f"of the classes, {named(list(t.classes), 5)}? If not, name them in the order of the scores"
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
