"""The report of an evaluation: what its page has, sorted by the question that it answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from scorewise.estimate import Estimate, number
from scorewise.evaluation.document import EvaluationDocument, ModelRecord
from scorewise.evaluation.groups import group_section
from scorewise.evaluation.page import (
    MORE,
    class_facts,
    confusion_sections,
    conventions,
    differences,
    each_class,
    matrix,
    scores_of,
    table_of,
)
from scorewise.inference.shares import wilson_of
from scorewise.registry import MEASURES
from scorewise.show.page import Column, Page, Section, Table, verdict
from scorewise.show.words import Compared, Name, percent
from scorewise.subgroups.pooling import pooled_section

QUESTIONS = {
    "ranking": ("order", "scores"),
    "probabilities": ("probability", "calibration"),
    "threshold": ("decisions",),
}
RATES = ("sensitivity", "specificity", "precision", "npv", "f1", "accuracy")


def evaluation_report(doc: EvaluationDocument) -> Page:
    """The sections of a report, each with the name that links have for it."""
    of_two = not doc.classes
    facts = doc.data.facts() if of_two else class_facts(doc)
    facts += [("Clusters", str(doc.clusters))] if doc.clusters else []
    sections = [
        *verdict(doc.verdict),
        Section(facts=facts, anchor="data"),
        *_summary(doc),
        *(_of_two(doc) if of_two else _of_classes(doc)),
        *_questions(doc),
        *_slices(doc),
        *(replace(s, anchor="comparison", folded=True) for s in differences(doc)),
        Section(lines=_absent(doc), anchor="missing"),
        *_methods(doc),
    ]
    return Page(doc.command, sections, conventions(doc))


def _summary(doc: EvaluationDocument) -> Iterator[Section]:
    """The measures of the first screen, and remarks."""
    if table := _table(doc.first_screen):
        yield Section(table=table, anchor="summary")
    of_curve = [hint for hint in doc.hints if hint.startswith("smAUC ")]
    hints = [hint for hint in doc.hints if hint not in of_curve]
    if hints:
        yield Section("Hints", lines=hints, anchor="summary")
    if of_curve:
        yield Section(lines=of_curve, anchor="ranking")


def _table(doc: EvaluationDocument) -> Table | None:
    """The table of its measures; none where there are none."""
    if not doc.models[0].measures:
        return None
    table = table_of(doc)
    return replace(table, notes=[note for note in table.notes if note != MORE])


def _of_two(doc: EvaluationDocument) -> Iterator[Section]:
    facts = [fact for model in doc.models for fact in scores_of(model)]
    yield Section(facts=facts, anchor="scores")
    yield Section(matrices=[matrix(doc.data, model) for model in doc.models], anchor="threshold")
    yield Section("Rates", table=_rates(doc), anchor="threshold")


def _of_classes(doc: EvaluationDocument) -> Iterator[Section]:
    yield from (replace(s, anchor="threshold", narrow=None) for s in confusion_sections(doc))
    yield replace(each_class(doc.classes), anchor="threshold")


def _questions(doc: EvaluationDocument) -> Iterator[Section]:
    """Every measure, under the question that it answers."""
    for anchor, groups in QUESTIONS.items():
        names = {m.name for m in doc.models[0].measures if m.group in groups}
        if table := _table(doc.with_measures(names)):
            title = f"All measures of {'decisions' if anchor == 'threshold' else anchor}"
            # of one model they have room beside its only figure
            folded = anchor != "probabilities" or len(doc.models) > 1
            yield Section(title, table=table, anchor=anchor, folded=folded)


def _slices(doc: EvaluationDocument) -> Iterator[Section]:
    level = doc.settings.level
    for g in doc.groups:
        yield replace(group_section(g, level, len(doc.groups) > 1), anchor="slices", narrow=None)
        for s in pooled_section(g.summary, g.by, level):
            yield replace(s, anchor="slices", title=s.title or "Over groups", folded=True)


def _rates(doc: EvaluationDocument) -> Table:
    """What the decisions come to, model by model; a form that can move follows the threshold."""
    by_name = [{m.name: m for m in model.measures} for model in doc.models]
    rows: list[tuple[object, ...]] = [
        (
            MEASURES[name].title,
            *(Compared(of[name], False) if name in of else None for of in by_name),
        )
        for name in RATES
    ]
    rows.append(("Alert rate", *(_alert_rate(doc, model) for model in doc.models)))
    up, down = doc.data.weight_positives or 0.0, doc.data.weight_negatives or 0.0
    share = up / (up + down) if up + down else math.nan
    # at the prevalence of the data these are the precision and the NPV, without an interval
    for name, title in (("precision", "PPV"), ("npv", "NPV")):
        values = [of[name].value if name in of else None for of in by_name]
        cells = (None if x is None else Compared(Estimate(x), False) for x in values)
        rows.append((f"{title} at prevalence {number(share)}", *cells))
    columns = [Column("Rate", "title"), *(Column(Name(m.name), "compared") for m in doc.models)]
    rates = [*RATES, "alert_rate", "at-prevalence@ppv", "at-prevalence@npv"]
    return Table(columns, rows, rates=rates)


def _alert_rate(doc: EvaluationDocument, model: ModelRecord) -> Compared | None:
    """The share of rows that are called positive."""
    c = model.confusion
    assert not isinstance(c, list)
    total = c.tp + c.fp + c.fn + c.tn
    if not total:
        return None
    share = (c.tp + c.fp) / total
    if doc.data.weight is not None or doc.clusters is not None:
        return Compared(Estimate(share), False)
    return Compared(Estimate(*wilson_of(share, total, doc.settings.level)), False)


def _methods(doc: EvaluationDocument) -> Iterator[Section]:
    """What the numbers were asked with, and what the measures of the first screen mean."""
    s = doc.settings
    facts = [("Intervals", f"{percent(s.level)}; how each was made stands below its table")]
    if s.threshold is not None:
        facts.append(("Decisions", f"a score at or above {s.threshold:g} is called positive"))
    facts.append(("Differences", "paired: on the same rows, the first model less the second"))
    yield Section(facts=facts, anchor="methods")
    rows = [(m.title, m.meaning) for m in doc.first_screen.models[0].measures]
    columns = [Column("Measure", "title"), Column("What it says", "text")]
    yield Section("Measures in words", table=Table(columns, rows), anchor="methods", folded=True)


def _absent(doc: EvaluationDocument) -> list[str]:
    """What the report of an evaluation lacks, and which input would bring it."""
    lines = [] if doc.groups else ["Groups: name a column of groups (by)."]
    if len(doc.models) == 1 and not doc.classes:
        lines.append("Comparison: name the scores of a second model (score).")
    return [*lines, "Instances, drift and recalibration: see report, inspect, drift and calibrate."]
