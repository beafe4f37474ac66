"""What `judge` writes and shows: judges against the truth, the human level, each other and themselves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from scorewise.estimate import Estimate, number
from scorewise.judging.accuracy import Ceiling, Difference
from scorewise.judging.judgement import WORDING, Judge
from scorewise.judging.kappas import AT_MOST
from scorewise.judging.panel import Settings
from scorewise.judging.verdict import hints, verdict
from scorewise.show.data import ClusterRecord
from scorewise.show.document import JudgedDocument, with_cautions
from scorewise.show.page import Section, section, undefined
from scorewise.show.records import Count, Record, field
from scorewise.show.verdict import with_ci
from scorewise.show.words import DASH, Format, count, formatted, listed, p_value, percent, quoted
from scorewise.subgroups import GroupsRecord, group_section

if TYPE_CHECKING:
    from scorewise.judging.judgement import Judgement

IntervalOf: TypeAlias = Literal["kappa", "accuracy", "difference"]
PAGE_WIDTH = 80  # within which a table of categories is shown
MAX_CATEGORIES, MAX_HUMANS = 30, 12  # rows of a table


class HumanRecord(Record):
    """A human who rated items."""

    name: str
    rated: Count = field("Items that the human rated.")


class DataRecord(Record):
    """The items that were rated."""

    sources: list[str]
    items: Count
    labelled: Count = field("Items with a truth.")
    tied: Count = field("Items on which humans tie, which have none.")
    single: Count = field("Items with the vote of one of several humans.")
    unlabelled: Count = field("Items that no human rated.")
    weighted: bool
    truth: str = field("What stands for the truth.")
    categories: list[str] = field("The categories, in order.", min_length=1)
    humans: list[HumanRecord] = field("The humans.", min_length=1)


class NeededRecord(Record):
    """Labelled items for an interval of the width asked for."""

    of: IntervalOf = field("What the interval is of.")
    name: str = field("Judge, or pair of judges.")
    items: Count


class JudgeDocument(JudgedDocument, command="judge"):
    """Automatic judges against humans."""

    settings: Settings
    data: DataRecord
    clusters: ClusterRecord | None
    ceiling: Ceiling | None = field("How well humans agree with one another; null for one human.")
    judges: list[Judge] = field("The judges, in the order given.", min_length=1)
    differences: list[Difference] = field("Each two judges on the same items.")
    needed: list[NeededRecord] = field("Items for intervals of the width asked for.")
    groups: list[GroupsRecord]

    @classmethod
    def of(cls, j: Judgement) -> JudgeDocument:
        """The document of a judgement."""
        panel, width = j.panel, j.settings.width
        has_truth = panel.truth >= 0
        kinds: tuple[IntervalOf, ...] = () if width is None else get_args(IntervalOf)
        data = DataRecord(
            sources=[name for name, _ in panel.place.files],
            items=int(panel.count.sum()),
            labelled=panel.items(has_truth),
            tied=panel.items(panel.labelled & ~has_truth),
            single=panel.items(panel.votes == 1) if len(panel.humans) > 1 else 0,
            unlabelled=panel.items(~panel.labelled),
            weighted=panel.item_weight is not None,
            truth=j.truth,
            categories=list(panel.words),
            humans=[
                HumanRecord(name=n, rated=panel.items(c >= 0)) for n, c in panel.humans.items()
            ],
        )
        doc = cls(
            settings=j.settings,
            data=data,
            clusters=ClusterRecord.of(panel.cluster),
            verdict=verdict(j),
            ceiling=j.ceiling,
            judges=list(j.judges.values()),
            differences=j.differences,
            needed=[
                NeededRecord(of=of, name=name, items=items)
                for of in kinds
                for name, items in j.items_needed(width or math.nan, of).items()
            ],
            groups=list(j.groups.records.values()),
            hints=list(hints(j)),
        )
        return with_cautions(doc)

    def sections(self) -> list[Section]:
        """Judges against the truth, the human level, each other and themselves."""
        parts = (
            _overview, _groups, _grades, _one_by_one, _human_level, _differences, _swaps, _categories,
            _prevalence, _needed_items, _undefined,
        )  # fmt: skip
        return [Section(facts=_facts(self)), *(s for part in parts for s in part(self))]


def _facts(doc: JudgeDocument) -> list[tuple[str, str]]:
    data, s = doc.data, doc.settings
    parts = f"{count(data.labelled)} with a truth"
    parts += f", {count(data.tied)} on which humans tie" if data.tied else ""
    parts += f", {count(data.unlabelled)} unlabelled" if data.unlabelled else ""
    parts += "; weighted" if data.weighted else ""
    who = ", ".join(quoted(h.name) for h in data.humans)
    words = [quoted(c) for c in data.categories]
    kappa = {"own": "own weights", "identity": "unweighted"}.get(s.weights, s.weights)
    silence = {"drop": "left out", "wrong": "counts as wrong"}[s.no_answer]
    facts = [
        ("Data", listed([quoted(x) for x in data.sources])),
        ("Items", f"{count(data.items)}: {parts}"),
        *(doc.clusters.facts("item") if doc.clusters is not None else []),
        ("Truth", who if len(data.humans) == 1 else f"{data.truth}: {who}"),
        ("Ratings", f"{listed(words, 6)} ({s.scale}; kappa {kappa})"),
        ("No answer", silence if any(j.silent for j in doc.judges) else ""),
    ]
    return [(name, text) for name, text in facts if text]


def _overview(doc: JudgeDocument) -> list[Section]:
    rows = [(j.name, j.items, j.accuracy, j.accuracy, j.kappa, j.kappa) for j in doc.judges]
    known = [j.accuracy.baseline for j in doc.judges]
    ends = sorted({formatted(b, "number") for b in known if b is not None})
    span = " to ".join(dict.fromkeys((*ends[:1], *ends[-1:])))
    lines = [f"Always giving the most frequent rating: accuracy {span}."] if ends else []
    columns: dict[str, Format] = {"Judge": "text", "Items": "count", "Accuracy": "value"}
    columns |= {**_level(doc), "Kappa": "value", "Interval": "interval"}
    return section("Against the truth", columns, rows, lines)


def _groups(doc: JudgeDocument) -> list[Section]:
    level, title = doc.settings.level, "Groups of {}"
    made = (group_section(g, level, WORDING, title.format(quoted(g.model))) for g in doc.groups)
    return [replace(s, anchor="slices") for s in made]


def _level(doc: JudgeDocument) -> dict[str, Format]:
    """The column of intervals."""
    return {percent(doc.settings.level): "interval"}


def _grades(doc: JudgeDocument) -> list[Section]:
    """Judges that grade, against the grades of the truth."""
    ordinal = doc.settings.scale == "ordinal"
    rows: list[tuple[Any, ...]] = []
    for j in doc.judges:
        if (g := j.grades) is not None:
            step = "one place" if ordinal else f"one step ({formatted(g.step, 'number')})"
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
    columns: dict[str, Format] = {"Judge": "text", "Of": "text", "Value": "value"}
    return section("Grades", {**columns, **_level(doc), "p": "p"}, rows, [meaning])


def _one_by_one(doc: JudgeDocument) -> list[Section]:
    """Each two humans, then each judge with each human."""
    if doc.ceiling is None:
        return []
    pairs = doc.ceiling.pairs
    rows: list[tuple[Any, ...]] = [
        (f"{p.first}, {p.second}", p.items, with_ci(p.accuracy), with_ci(p.kappa))
        for p in pairs[:MAX_HUMANS]
    ]
    rows += [("mean", "", "", with_ci(doc.ceiling.kappa))] if len(pairs) > 1 else []
    for j in doc.judges:
        rows += [
            (f"{j.name}, {a.name}", a.items, with_ci(a.accuracy), with_ci(a.kappa))
            for a in j.humans[:MAX_HUMANS]
        ]
        rows += [(f"mean of {j.name}", "", "", with_ci(j.ceiling.single))] if j.ceiling else []
    columns: dict[str, Format] = {"Pair": "text", "Items": "count"}
    return section("One by one", {**columns, "Same": "number", "Kappa": "number"}, rows)


def _human_level(doc: JudgeDocument) -> list[Section]:
    beside = [(j.name, j.ceiling) for j in doc.judges if j.ceiling is not None]
    rows = [(name, b.judge, b.human, b.gap, b.gap, _p(b.gap)) for name, b in beside]
    meaning = (
        "Kappa with the most frequent rating of all humans but one, for the judge and for that human, on "
        f"the same items; the mean over humans. Gap: {_methods([b.gap for _, b in beside])}."
    )
    columns: dict[str, Format] = {"Judge": "text", "Kappa": "value", "Humans": "value"}
    columns |= {"Gap": "value", "Interval": "interval", "p": "p"}
    return section("Human level", columns, rows, [meaning])


def _methods(estimates: Sequence[Estimate]) -> str:
    """How the intervals of estimates were made."""
    return ", ".join(
        dict.fromkeys(e.method.removesuffix(AT_MOST) or "undefined" for e in estimates)
    )


def _p(e: Estimate, adjusted: float | None = None) -> str:
    """A p-value, or the one given of the same test; no smaller one than the resamples can show."""
    p = e.p if adjusted is None or math.isnan(adjusted) else adjusted
    if p is None:
        return DASH
    return p_value(p, least=e.method.endswith(AT_MOST))


def _differences(doc: JudgeDocument) -> list[Section]:
    columns: dict[str, Format] = {"Pair": "text", "Of": "text", "Items": "count", "Gap": "value"}
    columns |= {**_level(doc), "p": "p"}
    pairs = doc.differences
    lines = [
        "Accuracy: Tango's interval and McNemar's exact test. "
        f"Kappa: {_methods([d.kappa for d in pairs])}."
    ]
    if len(pairs) > 1:
        columns["Holm"] = "p"
        lines.append("Holm: p adjusted for all pairs by Holm's correction, for each measure.")
    rows: list[tuple[Any, ...]] = []
    for d in pairs:
        name, a, k = f"{d.first} - {d.second}", d.accuracy, d.kappa
        rows += [
            (name, "accuracy", d.items, a, a, _p(a), _p(a, d.accuracy_adjusted))[: len(columns)],
            ("", "kappa", "", k, k, _p(k), _p(k, d.kappa_adjusted))[: len(columns)],
        ]
    return section("Judges compared on the same items", columns, rows, lines)


def _swaps(doc: JudgeDocument) -> list[Section]:
    rows = [
        (j.name, s.items, with_ci(s.consistent), s.kappa, " : ".join(map(count, s.leaning)), _p(s.first))
        for j in doc.judges
        if (s := j.swap) is not None
    ]  # fmt: skip
    meaning = "Lean: verdicts that change with the order, to the first : to the second position."
    columns: dict[str, Format] = {"Judge": "text", "Items": "count", "Consistent": "number"}
    columns |= {"Kappa": "value", "Lean": "number", "p": "p"}
    return section("Positions exchanged", columns, rows, [meaning])


def _categories(doc: JudgeDocument) -> list[Section]:
    """The categories of each judge, and beside them the table of truth and judge if it has room."""
    made: list[Section] = []
    for j in doc.judges:
        used = [c for c in j.categories if c.truth or c.judge][:MAX_CATEGORIES] if j.items else []
        weights = {(c.truth, c.judge): c.weight for c in j.confusion}
        names = [c.category for c in used]
        cells = [[count(weights.get((a, b), 0)) for b in names] for a in names]
        widths = [
            2 + max(len(name) + 2, *map(len, column))
            for name, *column in zip(names, *cells, strict=True)
        ]
        beside = 33 + max([8, *map(len, names)]) + sum(widths) <= PAGE_WIDTH
        rows = [
            (c.category, c.truth, c.judge, c.precision, c.recall, *(across if beside else []))
            for c, across in zip(used, cells, strict=True)
        ]
        columns: dict[str, Format] = {"Category": "text", "Truth": "percent", "Judge": "percent"}
        columns |= {"Precision": "value", "Recall": "value"}
        columns |= {f"'{name}'": "count" for name in names if beside}
        line = "On the right: items by truth (down) and by what the judge says."
        title = f"Categories of {quoted(j.name)}"
        made += section(title, columns, rows, [line] if beside else [])
    return made


def _prevalence(doc: JudgeDocument) -> list[Section]:
    """The share of votes of each category, by judge."""
    columns: dict[str, Format] = {"Category": "text", "Judge": "value", "Labelled alone": "number"}
    columns |= {"Corrected": "number", "Power": "number", "R-G": "value"}
    sections: list[Section] = []
    for j in doc.judges:
        rows = [
            (
                p.category,
                p.judge,
                with_ci(p.labelled),
                with_ci(p.tuned),
                number(p.tuning, 2),
                p.rates,
            )
            for p in j.prevalence[:MAX_CATEGORIES]
        ]
        sections += section(f"Shares of votes on all items, with {quoted(j.name)}", columns, rows)
    if sections:
        meaning = (
            "The share of human votes: an item counts for a category as the share of its humans who say "
            "it. Judge: its answers, uncorrected. Corrected: prediction-powered (PPI++), the judge "
            "counting with the power beside it. R-G: corrected by sensitivity and specificity "
            "(Rogan-Gladen). These hold where the labelled items are a random part of all."
        )
        sections[-1] = replace(sections[-1], lines=[meaning])
    return sections


def _needed_items(doc: JudgeDocument) -> list[Section]:
    rows = [(n.of, n.name, n.items) for n in doc.needed]
    title = f"Items with a truth for an interval {doc.settings.width or 0:g} wide"
    return section(title, {"Of": "text", "Judge": "text", "Items": "count"}, rows)


def _undefined(doc: JudgeDocument) -> list[Section]:
    """Measures without a value, by the reason."""
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
