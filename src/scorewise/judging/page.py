"""The page of `judge`: judges against the truth, the human level, each other and themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scorewise.estimate import number
from scorewise.judging.kappas import LEAST
from scorewise.show.page import (
    DASH,
    Column,
    Page,
    Section,
    Table,
    count,
    hints,
    interval,
    named,
    p_value,
    percent,
    quoted,
    undefined,
    value,
    written,
)

if TYPE_CHECKING:
    from scorewise.estimate import Estimate
    from scorewise.judging.accuracy import Difference
    from scorewise.judging.document import JudgeDocument
    from scorewise.judging.judgement import Judge

WIDTH = 80  # within which a table of categories is shown
CATEGORIES, HUMANS = 30, 12  # rows of a table at most


def judge_page(doc: JudgeDocument) -> Page:
    """Judges against humans."""
    sections = [
        Section(facts=_facts(doc)),
        _overview(doc),
        *_grades(doc),
        *_one_by_one(doc),
        *_human_level(doc),
        *_differences(doc),
        *_swaps(doc),
        *(section for j in doc.judges if j.items for section in [_categories(j)]),
        *_prevalence(doc),
        *_needed(doc),
        *_undefined(doc),
    ]
    return Page(doc.command, [*sections, *hints(doc.hints)])


def _facts(doc: JudgeDocument) -> list[tuple[str, str]]:
    data, s = doc.data, doc.settings
    facts = [("Data", named([quoted(x) for x in data.sources]))] if data.sources else []
    parts = [f"{count(data.labelled)} with a truth"]
    parts += [f"{count(data.tied)} on which humans tie"] if data.tied else []
    parts += [f"{count(data.unlabelled)} unlabelled"] if data.unlabelled else []
    weighted = "; weighted" if data.weighted else ""
    facts.append(("Items", f"{count(data.items)}: {', '.join(parts)}{weighted}"))
    who = ", ".join(quoted(h.name) for h in data.humans)
    facts.append(("Truth", who if len(data.humans) == 1 else f"{data.truth}: {who}"))
    words = [quoted(c) for c in data.categories]
    kappa = {"own": "own weights", "identity": "unweighted"}.get(s.weights, s.weights)
    facts.append(("Ratings", f"{named(words, 6)} ({s.scale}; kappa {kappa})"))
    if any(j.silent for j in doc.judges):
        silence = {"drop": "left out", "wrong": "counts as wrong"}[s.no_answer]
        facts.append(("No answer", silence))
    return facts


def _overview(doc: JudgeDocument) -> Section:
    columns = [
        Column("Judge", "text"),
        Column("Items", "count"),
        Column("Accuracy", "value"),
        Column(percent(doc.settings.level), "interval"),
        Column("Kappa", "value"),
        Column("Interval", "interval"),
    ]
    rows = [(j.name, j.items, j.accuracy, j.accuracy, j.kappa, j.kappa) for j in doc.judges]
    known = [j.accuracy.baseline for j in doc.judges]
    ends = sorted({written(b, "number") for b in known if b is not None})
    lines = []
    if ends:
        span = " to ".join(dict.fromkeys((ends[0], ends[-1])))
        lines = [f"Always saying what is most frequent: accuracy {span}."]
    return Section("Against the truth", table=Table(columns, rows), lines=lines)


def _grades(doc: JudgeDocument) -> list[Section]:
    """Judges that grade, against the grades of the truth."""
    ordinal = doc.settings.scale == "ordinal"
    columns = [
        Column("Judge", "text"),
        Column("Of", "text"),
        Column("Value", "value"),
        Column(percent(doc.settings.level), "interval"),
        Column("p", "p"),
    ]
    rows: list[tuple[Any, ...]] = []
    for j in doc.judges:
        if (g := j.grades) is not None:
            step = "one place" if ordinal else f"one step ({written(g.step, 'number')})"
            sides = " : ".join(percent(round(x, 2)) for x in (g.higher, g.lower))
            rows += [
                (j.name, "mean of judge - truth", g.difference, g.difference, ""),
                ("", "higher : lower", sides, "", g.p),
                ("", f"within {step}", g.near, g.near, ""),
                ("", "rank correlation", g.ranks, g.ranks, ""),
            ]
    unit = "The mean is of places. " if ordinal else ""
    meaning = (
        f"{unit}Higher : lower: items that the judge grades so, by the sign test. Ranks: Spearman."
    )
    return [Section("Grades", table=Table(columns, rows), lines=[meaning])] if rows else []


def _one_by_one(doc: JudgeDocument) -> list[Section]:
    """Each two humans, then each judge with each human."""
    if doc.ceiling is None:
        return []
    pairs = doc.ceiling.pairs
    rows: list[tuple[Any, ...]] = [
        (f"{p.first}, {p.second}", p.items, _cell(p.accuracy), _cell(p.kappa))
        for p in pairs[:HUMANS]
    ]
    rows += [("mean", "", "", _cell(doc.ceiling.kappa))] if len(pairs) > 1 else []
    for j in doc.judges:
        rows += [
            (f"{j.name}, {a.name}", a.items, _cell(a.accuracy), _cell(a.kappa))
            for a in j.humans[:HUMANS]
        ]
        rows += [(f"mean of {j.name}", "", "", _cell(j.ceiling.single))] if j.ceiling else []
    columns = [Column("Pair", "text"), Column("Items", "count"), Column("Same"), Column("Kappa")]
    return [Section("One by one", table=Table(columns, rows))]


def _human_level(doc: JudgeDocument) -> list[Section]:
    beside = [(j.name, j.ceiling) for j in doc.judges if j.ceiling is not None]
    if not beside:
        return []
    columns = [
        Column("Judge", "text"),
        Column("Kappa", "value"),
        Column("Humans", "value"),
        Column("Gap", "value"),
        Column("Interval", "interval"),
        Column("p", "p"),
    ]
    rows = [(name, b.judge, b.human, b.gap, b.gap, _p(b.gap)) for name, b in beside]
    meaning = (
        "Kappa with the most frequent rating of all humans but one, for the judge and for that human, on "
        f"the same items; the mean over humans. Gap: {_methods([b.gap for _, b in beside])}."
    )
    return [Section("Human level", table=Table(columns, rows), lines=[meaning])]


def _methods(estimates: Sequence[Estimate]) -> str:
    """How the intervals of estimates were made."""
    return ", ".join(dict.fromkeys(e.method.removesuffix(LEAST) or "undefined" for e in estimates))


def _p(e: Estimate, adjusted: float | None = None) -> str:
    """A p-value, or the one given of the same test; no smaller one than the resamples can show."""
    p = e.p if adjusted is None or math.isnan(adjusted) else adjusted
    if p is None:
        return DASH
    return p_value(p, least=e.method.endswith(LEAST))


def _differences(doc: JudgeDocument) -> list[Section]:
    pairs = doc.differences
    if not pairs:
        return []
    several = len(pairs) > 1
    columns = [
        Column("Pair", "text"),
        Column("Of", "text"),
        Column("Items", "count"),
        Column("Gap", "value"),
        Column(percent(doc.settings.level), "interval"),
        Column("p", "p"),
        *([Column("Holm", "p")] if several else []),
    ]
    rows = [row[: len(columns)] for d in pairs for row in _difference(d)]
    kappa = _methods([d.kappa for d in pairs])
    lines = [f"Accuracy: Tango's interval and McNemar's exact test. Kappa: {kappa}."]
    if several:
        lines.append("Holm: p adjusted for all pairs by Holm's correction, for each measure.")
    return [Section("Judges compared on the same items", table=Table(columns, rows), lines=lines)]


def _difference(d: Difference) -> list[tuple[Any, ...]]:
    a, k = d.accuracy, d.kappa
    name = f"{d.first} - {d.second}"
    return [
        (name, "accuracy", d.items, a, a, _p(a), _p(a, d.accuracy_adjusted)),
        ("", "kappa", "", k, k, _p(k), _p(k, d.kappa_adjusted)),
    ]


def _swaps(doc: JudgeDocument) -> list[Section]:
    columns = [
        Column("Judge", "text"),
        Column("Items", "count"),
        Column("Consistent"),
        Column("Kappa", "value"),
        Column("Lean"),
        Column("p", "p"),
    ]
    rows = [
        (j.name, s.items, _cell(s.consistent), s.kappa, " : ".join(map(count, s.leaning)), _p(s.first))
        for j in doc.judges
        if (s := j.swap) is not None
    ]  # fmt: skip
    meaning = "Lean: verdicts that change with the order, to the first : to the second position."
    table = Table(columns, rows)
    return [Section("Positions exchanged", table=table, lines=[meaning])] if rows else []


def _categories(j: Judge) -> Section:
    used = [c for c in j.categories if c.truth or c.judge][:CATEGORIES]
    weights = {(c.truth, c.judge): c.weight for c in j.confusion}
    names = [c.category for c in used]
    cells = [[count(weights.get((a, b), 0)) for b in names] for a in names]
    beside = _fits(names, cells)
    columns = [
        Column("Category", "text"),
        Column("Truth", "percent"),
        Column("Judge", "percent"),
        Column("Precision", "value"),
        Column("Recall", "value"),
        *([Column(f"'{name}'", "count") for name in names] if beside else []),
    ]
    rows = [
        (c.category, c.truth, c.judge, c.precision, c.recall, *(across if beside else []))
        for c, across in zip(used, cells, strict=True)
    ]
    lines = ["On the right: items by truth (down) and by what the judge says."] if beside else []
    return Section(f"Categories of {quoted(j.name)}", table=Table(columns, rows), lines=lines)


def _fits(names: list[str], cells: list[list[str]]) -> bool:
    """Whether the table of truth and judge has room beside the rates."""
    widths = [
        2 + max(len(name) + 2, *(len(line[k]) for line in cells)) for k, name in enumerate(names)
    ]
    return 33 + max(8, *map(len, names)) + sum(widths) <= WIDTH


def _prevalence(doc: JudgeDocument) -> list[Section]:
    """The share of votes of each category, by judge."""
    columns = [
        Column("Category", "text"),
        Column("Judge", "value"),
        Column("Labelled alone"),
        Column("Corrected"),
        Column("Power"),
        Column("R-G", "value"),
    ]
    sections = []
    for j in doc.judges:
        rows = [
            (p.category, p.judge, _cell(p.labelled), _cell(p.tuned), number(p.tuning, 2), p.rates)
            for p in j.prevalence[:CATEGORIES]
        ]
        title = f"Shares of votes on all items, with {quoted(j.name)}"
        sections += [Section(title, table=Table(columns, rows))] if rows else []
    if sections:
        meaning = (
            "The share of human votes: an item counts for a category as the share of its humans who say "
            "it. Judge: its answers, uncorrected. Corrected: prediction-powered (PPI++), the judge "
            "counting with the power beside it. R-G: corrected by sensitivity and specificity "
            "(Rogan-Gladen). These hold where the labelled items are a random part of all."
        )
        sections[-1] = replace(sections[-1], lines=[meaning])
    return sections


def _cell(e: Estimate) -> str:
    """A value with its interval."""
    return f"{value(e)} {interval(e)}".rstrip()


def _needed(doc: JudgeDocument) -> list[Section]:
    if not doc.needed:
        return []
    columns = [Column("Of", "text"), Column("Judge", "text"), Column("Items", "count")]
    rows = [(n.of, n.name, n.items) for n in doc.needed]
    title = f"Items with a truth for an interval {doc.settings.width:g} wide"
    return [Section(title, table=Table(columns, rows))]


def _undefined(doc: JudgeDocument) -> list[Section]:
    """What has no value, by the reason."""
    found = []
    for j in doc.judges:
        measures = {"accuracy": j.accuracy, "kappa": j.kappa}
        measures |= {"gap to humans": j.ceiling.gap} if j.ceiling else {}
        found += [(e.why, f"{title} of {quoted(j.name)}") for title, e in measures.items()]
    for d in doc.differences:
        pair = f"{quoted(d.first)} and {quoted(d.second)}"
        measures = {"accuracy": d.accuracy, "kappa": d.kappa}
        found += [(e.why, f"difference in {of} of {pair}") for of, e in measures.items()]
    return undefined(found, "Not defined")
