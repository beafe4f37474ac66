"""What `evaluate` shows: the data, the decisions, every measure, each class, and differences of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from scorewise.estimate import number
from scorewise.evaluation.document import (
    FIRST,
    FIRST_OF_CLASSES,
    ClassRecord,
    DifferenceRecord,
    EvaluationDocument,
    ModelRecord,
)
from scorewise.evaluation.groups import group_section
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
from scorewise.show.sites import pooled_section
from scorewise.show.words import (
    DASH,
    Compared,
    Name,
    Sentence,
    count,
    counted,
    names,
    percent,
    quoted,
    value,
)

if TYPE_CHECKING:
    from scorewise.show.data import ClusterRecord, DataRecord
    from scorewise.show.estimates import MeasureRow

TITLES = {
    "decisions": "Decisions",
    "order": "Ranking",
    "scores": "Scores (smROC)",
    "probability": "Probabilities",
    "calibration": "Calibration",
}
SHARED = 2  # measures without a value for one reason, from which on it is told once
BASELINE = "Baseline: chance or the best constant"
CALIBRATED = "; under Calibration, calibrated scores"
SKILL = "Skill: share of the way from there to the best value."
CHANCE = "p: chance of as much or more if calibrated."
MORE = "Every measure: --all, or .all() in Python."
COARSE = "±: certified half-width left by coarsening; the interval contains it."
MANY = 10  # classes whose confusion is still shown whole
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
    every = _is_whole(doc)
    sections = [
        *([] if every else [Section(facts=data_line(doc.data, len(doc.classes), doc.clusters))]),
        *verdict(doc.verdict),
        *(_of_classes(doc, every) if doc.classes else _of_two(doc, every)),
        *(differences(doc, every) if every or len(doc.models) > 2 else []),
        *(
            part
            for g in doc.groups
            for part in (
                group_section(g, doc.settings.level, len(doc.groups) > 1),
                *pooled_section(g.summary, g.by, doc.settings.level),
            )
        ),
        *hints(doc.hints),
    ]
    return Page(doc.command, sections, conventions(doc))


def conventions(doc: EvaluationDocument) -> list[str]:
    """What the numbers depend on."""
    clip = doc.settings.clip
    clipped = [] if clip is None else [f"Log loss clips at {clip:g}."]
    seed = f"Seed {doc.settings.seed}."
    return [seed, *clipped, "Ties count half; row order does not matter."]


def _is_whole(doc: EvaluationDocument) -> bool:
    """Whether it has more than the first screen."""
    return any(_is_more(model.measures) for model in doc.models)


def _is_more(measures: Sequence[MeasureRow]) -> bool:
    return any(m.name not in FIRST + FIRST_OF_CLASSES for m in measures)


def data_line(
    d: DataRecord, classes: int, clusters: ClusterRecord | None
) -> list[tuple[str, Sentence]]:
    """The rows in a line: how many, of which files and classes (none: two)."""
    of = [" of ", *names(d.sources)] if d.sources else []
    if classes:
        line: list[str] = [count(d.rows), *of, f", {classes} classes"]
    else:
        up, down = d.positives or 0, d.negatives or 0
        part = f" ({percent(up / (up + down))})" if up + down else ""
        sides = [DASH if c is None else Name(c) for c in (d.positive, d.negative)]
        line = [
            count(d.rows),
            *of,
            f": {count(up)} ",
            sides[0],
            f"{part}, {count(down)} ",
            sides[1],
        ]
        rule = "" if d.rule == "given" else f" ({d.rule})"
        line += ["; ", sides[0], f" is positive{rule}"] if d.rule else []
    if clusters is not None:
        line.append(f"; in {clusters}")
    line += [f"; {counted(d.dropped, 'row')} dropped as missing"] if d.dropped else []
    line += ["; weights ", Name(d.weight)] if d.weight is not None else []
    return [("Rows", line)]


def _of_two(doc: EvaluationDocument, every: bool) -> list[Section]:
    models = doc.models
    if not every:
        one = [Section(matrices=[matrix(doc.data, models[0])])] if len(models) == 1 else []
        return [*one, Section(table=table_of(doc)), *_without_value(models)]
    facts = [*doc.data.facts(), *(fact for model in models for fact in scores_of(model))]
    return [
        Section(facts=facts),
        Section(matrices=[matrix(doc.data, model) for model in models]),
        Section(table=table_of(doc)),
        *_without_value(models),
    ]


def _of_classes(doc: EvaluationDocument, every: bool) -> list[Section]:
    measures = doc.models[0].measures
    defined = [m for m in measures if not m.why]
    notes = [COARSE] if any(m.bound for m in defined) else []
    notes += [] if every else [MORE]
    table = _measure_table(defined, doc.settings.level, notes)
    return [
        *([Section(facts=class_facts(doc))] if every else []),
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
    scores = f": {model.kind}, {counted(model.distinct, 'distinct value')}{ends}{coarse}"
    what = "probability" if model.kind == "logit" else "score"
    assert model.cut is not None
    cut = f"{what} >= {model.cut.threshold!r} is positive; the same for any cut in "
    return [("Model", [Name(model.name), scores]), ("", cut + model.cut.same_decisions())]


def differences(doc: EvaluationDocument, every: bool = True) -> list[Section]:
    """Models compared on the same rows, pair by pair, by every measure or by AUROC alone.

    With adjusted p-values where there are several pairs.
    """
    several = len(doc.models) > 2
    rows: list[tuple[object, ...] | Heading] = []
    for title in dict.fromkeys(d.title for d in doc.differences):
        of = [d for d in doc.differences if d.title == title and not d.why]
        if of and (every or of[0].measure == "auroc"):
            rows.append(Heading(title))
            rows += [
                (f"{quoted(d.first)} - {quoted(d.second)}", d, d, d.p)
                + ((d.p_adjusted,) if several else ())
                for d in of
            ]
    columns = [Column("Models", "text"), Column("Difference", "value")]
    columns += [Column("Interval", "interval"), Column("p", "p"), *[Column("Holm", "p")] * several]
    return section("Differences, on the same rows", columns, rows)


def matrix(data: DataRecord, model: ModelRecord) -> Matrix:
    """Labels against decisions of a model."""
    positive, negative = (None if c is None else str(c) for c in (data.positive, data.negative))
    c = model.confusion
    assert not isinstance(c, list)
    return Matrix(model.name, (positive, negative), ((c.tp, c.fn), (c.fp, c.tn)))


def table_of(doc: EvaluationDocument) -> Table:
    """The measures of one model, or of several side by side."""
    models = doc.models
    notes = [] if all(model.exact for model in models) else [COARSE]
    notes += [] if _is_whole(doc) else [MORE]
    if len(models) == 1:
        shown = [m for m in models[0].measures if m.name not in _told_once(models)]
        return _measure_table(shown, doc.settings.level, notes, doc.settings.threshold)
    return _side_by_side(doc, notes)


def _told_once(models: Sequence[ModelRecord]) -> set[str]:
    """Measures that no model has, for a reason that two or more share; it is told once, below."""
    found = []
    for model in models:
        shared = Counter(m.why for m in model.measures if m.why)
        found.append({m.name for m in model.measures if shared[m.why] >= SHARED})
    return set.intersection(*found)


def _without_value(models: Sequence[ModelRecord]) -> list[Section]:
    told = _told_once(models)
    pairs = [(model.name, m) for model in models for m in model.measures if m.name in told]
    reasons = {name: {m.why for n, m in pairs if n == name} for name in {n for n, _ in pairs}}
    alike = len({frozenset(whys) for whys in reasons.values()}) == 1
    return undefined((m.why if alike else f"'{name}': {m.why}", m.title) for name, m in pairs)


def _measure_table(
    measures: Sequence[MeasureRow],
    level: float,
    notes: Sequence[str] = (),
    threshold: float | None = None,
) -> Table:
    """One row for each measure, group by group: value, interval, baseline, skill and method."""
    expected = CALIBRATED if any(m.expected is not None for m in measures) else ""
    tested = [CHANCE] if any(m.p is not None for m in measures) else []
    columns = [
        Column("Measure", "title"),
        Column("Value", "value", point=True),
        Column(f"{percent(level)} interval", "interval or reason"),
        Column("Baseline", "baseline", point=True, meaning=f"{BASELINE}{expected}."),
        Column("Skill", "skill", meaning=" ".join([SKILL, *tested])),
        *_method(measures),
    ]
    rows: list[tuple[object, ...] | Heading] = []
    for title, group in by_question(measures, threshold):
        cells = ((m.title, m, m, m, m, m.method) for m in group)
        rows += [Heading(title), *(row[: len(columns)] for row in cells)]
    return Table(columns, rows, notes)


def _side_by_side(doc: EvaluationDocument, notes: Sequence[str]) -> Table:
    """Models side by side, a winner marked; a baseline where all have the same."""
    models = doc.models
    by_name = [{m.name: m for m in model.measures} for model in models]
    every: dict[str, MeasureRow] = {}
    told = _told_once(models)
    for m in (m for model in models for m in model.measures if m.name not in told):
        every.setdefault(m.name, m)
    brief = len(models) == 2 and not _is_whole(doc)
    pair = {d.measure: d for d in doc.differences} if brief else {}
    rows: list[tuple[object, ...] | Heading] = []
    for title, group in by_question(list(every.values()), doc.settings.threshold):
        rows.append(Heading(title))
        for m in group:
            winner = None if pair else _winner(doc, m)
            *cells, baseline, method = _compared([of.get(m.name) for of in by_name], winner)
            last = gap_cell(pair.get(m.name)) if pair else baseline
            name = FIRST_TITLES.get(m.name, m.title) if brief else m.title
            rows.append((name, *cells, last, method))
    if brief:
        decided = [matrix(doc.data, model).counts for model in models]
        cells = [" ".join(map(count, (tp, fp, fn, tn))) for (tp, fn), (fp, tn) in decided]
        rows.append(("TP FP FN TN", *cells, "", ""))
    brackets = f"Brackets: {percent(doc.settings.level)} interval."
    apart = "Diff.: the first less the second"
    apart += "; *: the paired interval excludes 0." if any(map(clear, pair.values())) else "."
    columns = [
        Column("Measure", "title"),
        *(
            Column(Name(m.name), "compared", meaning="" if i else brackets)
            for i, m in enumerate(models)
        ),
        Column("Diff.", meaning=apart)
        if pair
        else Column("Baseline", optional=True, point=True, meaning=f"{BASELINE}."),
        *_method(list(every.values())),
    ]
    cut = [row if isinstance(row, Heading) else row[: len(columns)] for row in rows]
    return Table(columns, cut, notes)


def _method(measures: Sequence[MeasureRow]) -> list[Column]:
    """The column of methods, which the first screen does without."""
    return [Column("Method", "text", optional=True)] * _is_more(measures)


def gap_cell(d: DifferenceRecord | None) -> str:
    """A difference in a cell, with a star where its interval excludes 0."""
    if d is None or d.value is None:
        return ""
    return value(d) + ("*" if clear(d) else " ")


def clear(d: DifferenceRecord) -> bool:
    """Whether the interval of a difference excludes 0."""
    return d.low is not None and d.high is not None and not d.low <= 0 <= d.high


def _winner(doc: EvaluationDocument, m: MeasureRow) -> int | None:
    """The model that is shown to be better than every other: by paired intervals, and p-values by Holm."""
    sign = {"high": 1, "low": -1}.get(m.better, 0)
    beaten: dict[str, set[str]] = {}
    for d in doc.differences:
        sure = d.p_adjusted is None or d.p_adjusted <= 1 - d.level
        if d.measure == m.name and d.low is not None and d.high is not None and sure:
            if min(sign * d.low, sign * d.high) > 0:
                beaten.setdefault(d.first, set()).add(d.second)
            elif max(sign * d.low, sign * d.high) < 0:
                beaten.setdefault(d.second, set()).add(d.first)
    names = [model.name for model in doc.models]
    return next((i for i, n in enumerate(names) if {n} | beaten.get(n, set()) == {*names}), None)


def _compared(rows: Sequence[MeasureRow | None], winner: int | None) -> list[object]:
    """The cells of one measure: that of each model, the baseline and the method."""
    there = [m for m in rows if m is not None]
    cells: list[object] = [
        "" if m is None else Compared(m, i == winner) for i, m in enumerate(rows)
    ]
    baselines = {m.baseline for m in there}
    common = baselines.pop() if len(baselines) == 1 else None
    methods = dict.fromkeys(m.method for m in there if m.method)
    return [*cells, "" if common is None else common, "; ".join(methods)]


def by_question(
    measures: Sequence[MeasureRow], threshold: float | None = None
) -> list[tuple[str, list[MeasureRow]]]:
    """Each group's title and its measures; on the first screen, decisions at the threshold come last."""
    groups: dict[str, list[MeasureRow]] = {}
    titles = TITLES
    if threshold is not None and all(m.name in FIRST for m in measures):
        measures = sorted(measures, key=lambda m: FIRST.index(m.name))
        titles = {**TITLES, "decisions": f"At the threshold {threshold:g}"}
    for m in measures:
        groups.setdefault(m.group, []).append(m)
    return [(titles.get(g, g.capitalize()), ms) for g, ms in groups.items()]


def class_facts(doc: EvaluationDocument) -> list[tuple[str, Sentence]]:
    """What a page says of rows and scores of several classes."""
    data, classes, model = doc.data, doc.classes, doc.models[0]
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
    distinct = counted(model.distinct, "distinct value")
    facts.append(("Confidence", [Name(model.confidence or ""), f", {distinct}"]))
    return facts


def confusion_sections(doc: EvaluationDocument) -> list[Section]:
    """The confusion, whole where it is small and has room, else its largest entries off the diagonal."""
    listed = _confused(doc)
    if len(doc.classes) > MANY:
        return listed
    columns = [Column("true \\ predicted", "name")]
    columns += [Column(Name(c.name), "count") for c in doc.classes]
    rows = [(c.name, *line) for c, line in zip(doc.classes, _confusion(doc), strict=True)]
    narrow = listed[0] if listed else None
    return [Section("Confusion", table=Table(columns, rows), narrow=narrow)]


def _confusion(doc: EvaluationDocument) -> list[list[float]]:
    table = doc.models[0].confusion
    assert isinstance(table, list)
    return table


def _confused(doc: EvaluationDocument) -> list[Section]:
    found = sorted(
        (-weight, i, j)
        for i, line in enumerate(_confusion(doc))
        for j, weight in enumerate(line)
        if i != j and weight
    )
    classes = doc.classes
    rows = [
        (classes[i].name, classes[j].name, -w, -w / classes[i].weight) for w, i, j in found[:LISTED]
    ]
    more = len(found) - len(rows)
    lines = [f"{count(more)} further pairs of classes are confused less often."] if more > 0 else []
    columns = [Column("True", "name"), Column("Predicted", "name"), Column("Rows", "count")]
    heads = [*columns, Column("Of the class", "percent")]
    return section("Most frequent confusions", heads, rows, lines)


def each_class(classes: Sequence[ClassRecord]) -> Section:
    """One line for each class; of many, the worst and the best by F1."""
    titles = {m.name: SHORT[m.name] for m in classes[0].measures if m.name in SHORT}
    chosen, lines = classes, []
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
