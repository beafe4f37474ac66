"""What `evaluate` shows: the data, the decisions, every measure, each class, and differences of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from scorewise.estimate import number
from scorewise.evaluation.document import (
    ClassRecord,
    DifferenceRecord,
    EvaluationDocument,
    ModelRecord,
)
from scorewise.evaluation.groups import group_section
from scorewise.evaluation.result import FIRST, FIRST_OF_CLASSES
from scorewise.show.page import (
    Column,
    Heading,
    Matrix,
    Page,
    Section,
    Table,
    hints,
    section,
    undefined,
    verdict,
)
from scorewise.show.words import (
    DASH,
    Compared,
    Name,
    Sentence,
    count,
    listed_names,
    percent,
    plural,
    quoted,
    value,
)
from scorewise.subgroups.pooling import pooled_section

if TYPE_CHECKING:
    from scorewise.show.data import ClusterRecord, DataRecord
    from scorewise.show.records import MeasureRow

TITLES = {
    "decisions": "Decisions",
    "order": "Ranking",
    "scores": "Scores (smROC)",
    "probability": "Probabilities",
    "calibration": "Calibration",
}
BASELINE = "Baseline: chance or the best constant"
CALIBRATED = "; under Calibration, calibrated scores"
SKILL = "Skill: share of the way from there to the best value."
CHANCE = "p: chance of as much or more if calibrated."
MORE = "Every measure: --all, or .all() in Python."
METHOD = Column("Method", "text", optional=True)  # which the first screen does without
COARSE = "±: certified half-width left by coarsening; the interval contains it."
MAX_CLASSES = 10  # whose confusion is shown whole
WORST, BEST = 15, 5  # classes listed where there are many
LISTED = 10  # confusions listed otherwise
# under the headings of the first screen, where models stand side by side
FIRST_TITLES = {
    "calibration_intercept": "In the large", "calibration_slope": "Slope", "sensitivity": "Sensitivity",
    "precision": "Precision",
}  # fmt: skip
SHORT = {
    "sensitivity": "Recall",
    "precision": "Precision",
    "f1": "F1",
    "auroc": "AUROC",
    "average_precision": "AP",
    "brier": "Brier",
    "ece": "ECE",
}


def evaluation_page(doc: EvaluationDocument) -> Page:
    """The page of one model, of several side by side, or of a model of several classes."""
    whole, level = _is_whole(doc), doc.settings.level
    line = Section(facts=data_line(doc.data, len(doc.classes), doc.clusters))
    sections = [
        *([] if whole else [line]),
        *verdict(doc.verdict),
        *(_of_classes(doc, whole) if doc.classes else _of_two(doc, whole)),
        *(differences(doc, whole) if whole or len(doc.models) > 2 else []),
    ]
    for g in doc.groups:
        sections += [group_section(g, level, len(doc.groups) > 1)]
        sections += pooled_section(g.summary, g.by, level)
    sections += hints(doc.hints)
    return Page(doc.command, sections, conventions(doc))


def conventions(doc: EvaluationDocument) -> list[str]:
    """What the numbers depend on."""
    clip = doc.settings.clip
    clipped = [] if clip is None else [f"Log loss clips at {clip:g}."]
    seed = f"Seed {doc.settings.seed}."
    return [seed, *clipped, "Ties count half; row order does not matter."]


def _is_whole(doc: EvaluationDocument) -> bool:
    """Whether it has more than the first screen."""
    first = {*FIRST, *FIRST_OF_CLASSES}
    return any(m.name not in first for model in doc.models for m in model.measures)


def data_line(
    d: DataRecord, classes: int, clusters: ClusterRecord | None
) -> list[tuple[str, Sentence]]:
    """The rows in a line: how many, of which files and classes (none: two)."""
    of = [" of ", *listed_names(d.sources)] if d.sources else []
    if classes:
        line: list[str] = [count(d.rows), *of, f", {classes} classes"]
    else:
        up, down = d.positives or 0, d.negatives or 0
        part = f" ({percent(up / (up + down))})" if up + down else ""
        yes, no = (DASH if c is None else Name(c) for c in (d.positive, d.negative))
        line = [count(d.rows), *of, f": {count(up)} ", yes, f"{part}, {count(down)} ", no]
        rule = "" if d.rule == "given" else f" ({d.rule})"
        line += ["; ", yes, f" is positive{rule}"] if d.rule else []
    if clusters is not None:
        line.append(f"; in {clusters}")
    line += [f"; {plural(d.dropped, 'row')} dropped as missing"] if d.dropped else []
    line += ["; weights ", Name(d.weight)] if d.weight is not None else []
    return [("Rows", line)]


def _of_two(doc: EvaluationDocument, whole: bool) -> list[Section]:
    models = doc.models
    facts = [*doc.data.facts(), *(fact for model in models for fact in scores_of(model))]
    matrices = Section(matrices=[matrix(doc.data, model) for model in models])
    return [
        *([Section(facts=facts)] if whole else []),
        *([matrices] if whole or len(models) == 1 else []),
        Section(table=table_of(doc)),
        *_without_value(models),
    ]


def _of_classes(doc: EvaluationDocument, whole: bool) -> list[Section]:
    measures = doc.models[0].measures
    defined = [m for m in measures if not m.why]
    notes = [COARSE] if any(m.bound for m in defined) else []
    table = _measure_table(doc, defined, notes if whole else [*notes, MORE])
    return [
        *([Section(facts=class_facts(doc))] if whole else []),
        *confusion_sections(doc),
        *([Section(table=table)] if defined else []),
        *undefined((m.why, m.title) for m in measures),
        each_class(doc.classes),
    ]


def scores_of(model: ModelRecord) -> list[tuple[str, Sentence]]:
    """What kind of scores it has, and where they are cut."""
    ends = ""
    if model.distinct and model.lowest is not None and model.highest is not None:
        ends = f" from {number(model.lowest)} to {number(model.highest)}"
    coarse = "" if model.exact else "; coarsened"
    scores = f": {model.kind}, {plural(model.distinct, 'distinct value')}{ends}{coarse}"
    what = "probability" if model.kind == "logit" else "score"
    assert model.cut is not None
    cut = f"{what} >= {model.cut.threshold!r} is positive; the same for any cut in "
    return [("Model", [Name(model.name), scores]), ("", cut + model.cut.same_decisions())]


def differences(doc: EvaluationDocument, whole: bool = True) -> list[Section]:
    """Models compared on the same rows, pair by pair, by every measure or by AUROC alone.

    With adjusted p-values where there are several pairs.
    """
    measures = dict.fromkeys(d.measure for d in doc.differences if whole or d.measure == "auroc")
    title, several = "Differences, on the same rows", len(doc.models) > 2
    return difference_section(title, doc.differences, measures, holm=several)


def difference_section(
    title: str,
    differences: Sequence[DifferenceRecord],
    measures: Iterable[str],
    *,
    holm: bool = True,
    starred: bool = False,
) -> list[Section]:
    """The differences in some measures pair by pair; with a star where the interval excludes 0."""
    rows: list[tuple[object, ...] | Heading] = []
    for name in measures:
        of = [d for d in differences if d.measure == name and not d.why]
        rows += [Heading(d.title) for d in of[:1]]
        for d in of:
            cells = difference_cell(d) if starred else d, d, d.p, *[d.p_adjusted] * holm
            rows.append((f"{quoted(d.first)} - {quoted(d.second)}", *cells))
    star = starred and any(d.excludes_zero for d in differences)
    columns = [Column("Models", "text"), Column("Difference", "number" if starred else "value")]
    columns += [Column("Interval", "interval"), Column("p", "p"), *[Column("Holm", "p")] * holm]
    return section(title, columns, rows, ["*: the interval excludes 0."] * star)


def difference_cell(d: DifferenceRecord | None) -> str:
    """A difference in a cell, with a star where its interval excludes 0."""
    return "" if d is None or d.value is None else value(d) + ("*" if d.excludes_zero else " ")


def matrix(data: DataRecord, model: ModelRecord) -> Matrix:
    """Labels against decisions of a model."""
    positive, negative = (None if c is None else str(c) for c in (data.positive, data.negative))
    c = model.confusion
    assert not isinstance(c, list)
    return Matrix(model.name, (positive, negative), ((c.tp, c.fn), (c.fp, c.tn)))


def table_of(doc: EvaluationDocument) -> Table:
    """The measures of one model, or of several side by side."""
    notes = [] if all(model.exact for model in doc.models) else [COARSE]
    notes += [] if _is_whole(doc) else [MORE]
    if len(doc.models) > 1:
        return _side_by_side(doc, notes)
    listed = _listed_below(doc.models)
    return _measure_table(doc, [m for m in doc.models[0].measures if m.name not in listed], notes)


def _listed_below(models: Sequence[ModelRecord]) -> set[str]:
    """Measures that no model has, for a reason that two or more share, which is told once."""
    names = []
    for model in models:
        reasons = Counter(m.why for m in model.measures if m.why)
        names.append({m.name for m in model.measures if reasons[m.why] > 1})
    return set.intersection(*names)


def _without_value(models: Sequence[ModelRecord]) -> list[Section]:
    listed = _listed_below(models)
    pairs = [(model.name, m) for model in models for m in model.measures if m.name in listed]
    reasons = {frozenset(m.why for n, m in pairs if n == name) for name, _ in pairs}
    alike = len(reasons) == 1
    return undefined((m.why if alike else f"'{name}': {m.why}", m.title) for name, m in pairs)


def _measure_table(
    doc: EvaluationDocument, measures: Sequence[MeasureRow], notes: Sequence[str]
) -> Table:
    """One row for each measure, group by group: value, interval, baseline, skill and method."""
    expected = CALIBRATED if any(m.expected is not None for m in measures) else ""
    tested = [CHANCE] if any(m.p is not None for m in measures) else []
    columns = [
        Column("Measure", "title"),
        Column("Value", "value", point=True),
        Column(f"{percent(doc.settings.level)} interval", "interval or reason"),
        Column("Baseline", "baseline", point=True, meaning=f"{BASELINE}{expected}."),
        Column("Skill", "skill", meaning=" ".join([SKILL, *tested])),
        *[METHOD] * _is_whole(doc),
    ]

    def row(m: MeasureRow) -> tuple[object, ...]:
        return (m.title, m, m, m, m, m.method)[: len(columns)]

    return Table(columns, by_question(measures, doc.settings.threshold, row), notes)


def _side_by_side(doc: EvaluationDocument, notes: Sequence[str]) -> Table:
    """Models side by side, a winner marked; a baseline where all have the same.

    On the first screen two models have their difference in place of it.
    """
    models, whole, listed = doc.models, _is_whole(doc), _listed_below(doc.models)
    by_name = [{m.name: m for m in model.measures} for model in models]
    measures = [m for m in models[0].measures if m.name not in listed]
    pair = len(models) == 2 and not whole
    gaps = {d.measure: d for d in doc.differences} if pair else {}

    def row(m: MeasureRow) -> tuple[object, ...]:
        each = [of[m.name] for of in by_name]
        winner = None if gaps else _winner(doc, m)
        cells = [Compared(x, i == winner) for i, x in enumerate(each)]
        baselines = {x.baseline for x in each}
        common = baselines.pop() if len(baselines) == 1 else None
        last = difference_cell(gaps.get(m.name)) if gaps else "" if common is None else common
        methods = dict.fromkeys(x.method for x in each if x.method)
        name = FIRST_TITLES.get(m.name, m.title) if pair else m.title
        return (name, *cells, last, *["; ".join(methods)] * whole)

    rows = by_question(measures, doc.settings.threshold, row)
    if pair:
        tables = [matrix(doc.data, model).counts for model in models]
        counts = [" ".join(map(count, (tp, fp, fn, tn))) for (tp, fn), (fp, tn) in tables]
        rows.append(("TP FP FN TN", *counts, ""))
    last = Column("Baseline", optional=True, point=True, meaning=f"{BASELINE}.")
    if gaps:
        clear = any(d.excludes_zero for d in gaps.values())
        star = "; *: the paired interval excludes 0" * clear
        last = Column("Diff.", meaning=f"Diff.: the first less the second{star}.")
    brackets = f"Brackets: {percent(doc.settings.level)} interval."
    columns = [Column("Measure", "title")]
    columns += [Column(Name(m.name), "compared", meaning=brackets) for m in models[:1]]
    columns += [Column(Name(m.name), "compared") for m in models[1:]]
    return Table([*columns, last, *[METHOD] * whole], rows, notes)


def _winner(doc: EvaluationDocument, m: MeasureRow) -> int | None:
    """The model that is shown to be better than every other: by paired intervals, and p-values by Holm."""
    sign = {"high": 1, "low": -1}.get(m.better, 0)
    beaten: dict[str, set[str]] = {}
    for d in doc.differences:
        clear = d.has_interval and d.excludes_zero and (d.significant or d.p_adjusted is None)
        if d.measure == m.name and clear and sign:
            better = sign * (d.low or 0.0) > 0
            first, second = (d.first, d.second) if better else (d.second, d.first)
            beaten.setdefault(first, set()).add(second)
    names = [model.name for model in doc.models]
    return next((i for i, n in enumerate(names) if {n} | beaten.get(n, set()) == {*names}), None)


def by_question(
    measures: Sequence[MeasureRow],
    threshold: float | None,
    row: Callable[[MeasureRow], tuple[object, ...]],
) -> list[tuple[object, ...] | Heading]:
    """The row of each measure, under the headings of groups; on the first screen, decisions come last."""
    titles = TITLES
    if threshold is not None and all(m.name in FIRST for m in measures):
        measures = [m for name in FIRST for m in measures if m.name == name]
        titles = {**TITLES, "decisions": f"At the threshold {threshold:g}"}
    groups: dict[str, list[tuple[object, ...] | Heading]] = {}
    for m in measures:
        heading = Heading(titles.get(m.group, m.group.capitalize()))
        groups.setdefault(m.group, [heading]).append(row(m))
    return [x for rows in groups.values() for x in rows]


def class_facts(doc: EvaluationDocument) -> list[tuple[str, Sentence]]:
    """What a page says of rows and scores of several classes."""
    data, classes, model = doc.data, doc.classes, doc.models[0]
    facts: list[tuple[str, Sentence]] = (
        [("Data", listed_names(data.sources))] if data.sources else []
    )
    total = sum(c.weight for c in classes)
    column = [] if data.label is None else [" in column ", Name(data.label)]
    facts.append(("Rows", [f"{count(data.rows)} of {len(classes)} classes", *column]))
    shares: list[str] = []
    for c in classes[:MAX_CLASSES]:
        part = f" ({percent(c.weight / total)})" if total else ""
        shares += [", ", Name(c.name), f" {count(c.weight)}{part}"]
    more = f" and {len(classes) - MAX_CLASSES} more" if len(classes) > MAX_CLASSES else ""
    facts.append(("Classes", [*shares[1:], more]))
    facts += data.dropped_facts()
    if data.weight is not None:
        facts.append(("Weights", [Name(data.weight), f": {count(total)} in all"]))
    taken = f", columns in the order {data.rule}" if data.rule else ""
    known = (
        "only the decision and the confidence in it are known"
        if model.kind is None
        else f"a {model.kind} for each class{taken}; the highest is the decision"
    )
    facts.append(("Scores", known))
    distinct = plural(model.distinct, "distinct value")
    facts.append(("Confidence", [Name(model.confidence or ""), f", {distinct}"]))
    return facts


def confusion_sections(doc: EvaluationDocument) -> list[Section]:
    """The confusion, whole where it is small and has room, else its largest entries off the diagonal."""
    table, classes = doc.models[0].confusion, doc.classes
    assert isinstance(table, list)
    listed = _most_confused(classes, table)
    if len(classes) > MAX_CLASSES:
        return listed
    columns = [Column("true \\ predicted", "name")]
    columns += [Column(Name(c.name), "count") for c in classes]
    rows = [(c.name, *line) for c, line in zip(classes, table, strict=True)]
    narrow = listed[0] if listed else None
    return [Section("Confusion", table=Table(columns, rows), narrow=narrow)]


def _most_confused(
    classes: Sequence[ClassRecord], table: Sequence[Sequence[float]]
) -> list[Section]:
    pairs = sorted(
        (-weight, i, j)
        for i, line in enumerate(table)
        for j, weight in enumerate(line)
        if i != j and weight
    )
    rows = [
        (classes[i].name, classes[j].name, -w, -w / classes[i].weight) for w, i, j in pairs[:LISTED]
    ]
    more = len(pairs) - len(rows)
    lines = [f"{count(more)} further pairs of classes are confused less often."] if more > 0 else []
    columns = [Column("True", "name"), Column("Predicted", "name"), Column("Rows", "count")]
    heads = [*columns, Column("Of the class", "percent")]
    return section("Most frequent confusions", heads, rows, lines)


def each_class(classes: Sequence[ClassRecord]) -> Section:
    """One line for each class; of many, the worst and the best by F1."""
    titles = {m.name: SHORT[m.name] for m in classes[0].measures if m.name in SHORT}
    values = {c.name: {m.name: m.value for m in c.measures} for c in classes}
    lines: list[str] = []
    if len(classes) > WORST + BEST + MAX_CLASSES:
        f1 = {name: of["f1"] for name, of in values.items() if of["f1"] is not None}
        ranked = sorted((c for c in classes if c.name in f1), key=lambda c: f1[c.name])
        shown = [*ranked[:WORST], *ranked[WORST:][-BEST:]]
        lines = [
            f"The {WORST} classes of the lowest F1 and the {BEST} of the highest; the JSON document has "
            f"the {len(classes) - len(shown):,} others too."
        ]
        classes = shown
    rows = [
        (c.name, c.weight, c.called, *(values[c.name][name] for name in titles)) for c in classes
    ]
    columns = [Column("Class", "name"), Column("Rows", "count"), Column("Predicted", "count")]
    columns += [Column(title) for title in titles.values()]
    return Section("Each class against the rest", table=Table(columns, rows), lines=lines)
