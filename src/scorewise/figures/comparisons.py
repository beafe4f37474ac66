"""Groups, classes, models and samples against each other: forest plots, and windows over time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scorewise.colours import BLUE, GREY, VERMILION, colour_of
from scorewise.figures.forest import MAX_ROWS, Forest, Mark, ReferenceLine, Row
from scorewise.figures.layout import (
    defined_measure,
    figure,
    listed_quoted,
    panels,
    quoted_name,
    shortened,
)
from scorewise.figures.scale import step
from scorewise.figures.svg import DASHES, QUIET, Drawing, Key, dot, element
from scorewise.registry import title_of
from scorewise.show.page import Figure
from scorewise.show.words import count, is_smallest_p, p_value, percent, plural, value

# of groups, each on a figure of its own as far as it was measured
GROUP_MEASURES = ("auroc", "calibration_slope", "sensitivity", "accuracy", "mean_quality", "alpha")
CLASS_MEASURES = ("sensitivity", "precision", "f1", "auroc")
COMPARED = (
    "auroc", "average_precision", "brier", "log_loss", "ece", "sensitivity", "specificity", "precision",
    "accuracy", "balanced_accuracy", "macro_f1", "kappa", "macro_auroc",
)  # fmt: skip
FEW_CLASSES = 8  # of which three measures are shown, of more two
SHARES = {"auroc", "sensitivity", "specificity", "precision", "f1", "accuracy"}
IDEAL = {"calibration_slope": 1.0, "oe_ratio": 1.0, "calibration_intercept": 0.0}
MAX_WINDOWS = 60


def titled(name: str) -> str:
    """What a measure is called.

    >>> titled("auroc"), titled("a_word_of_ours")
    ('AUROC', 'A word of ours')
    """
    return title_of(name, name.replace("_", " ").capitalize())


def groups(doc: Any) -> Iterator[Figure]:
    """Groups of each model beside the value of all rows, a figure for each of some measures."""
    measured = dict.fromkeys(m.name for r in doc.groups for g in r.groups for m in g.measures)
    for name in [n for n in GROUP_MEASURES if n in measured][:3] or [*measured][:1]:
        rows = _group_rows(doc.groups, name, doc.settings.level)
        if any(m.value is not None for r in rows for m in r.marks):
            yield _groups(doc, name, rows)


def _groups(doc: Any, name: str, rows: Sequence[Row]) -> Figure:
    records, title, many = doc.groups, titled(name), len(rows)
    first, several = records[0], len(records) > 1
    overall, dashed = _overall(doc, name), ""
    if name in IDEAL:
        lines = [ReferenceLine(IDEAL[name], "calibrated")]
    elif several:
        lines = [ReferenceLine(x, "", colour_of(i), i) for i, x in overall.items()]
        dashed = " Dashed: all rows." if lines else ""
    else:
        lines = [ReferenceLine(x, "all rows", QUIET, i) for i, x in overall.items()]
    differ = "None is told apart from the rest"
    if names := [r.name for r in rows if any(m.filled for m in r.marks)]:
        differ = f"{listed_quoted(names)} differ{'s' if len(names) == 1 else ''} from the rest"
    text = (
        f"{title} of {plural(many, 'group')} with {percent(doc.settings.level)} intervals. "
        f"{differ} after {first.correction}'s correction for the number of groups."
    )
    note = f"Filled: differs from the rest after correction.{dashed}"
    if many > MAX_ROWS:
        usual = overall.get(0) or 0.0
        gaps = {r.name: [abs((m.value or 0) - usual) for m in r.marks] for r in rows}
        rows = sorted(rows, key=lambda r: -max(gaps[r.name], default=0))[:MAX_ROWS]
    if any(r.quiet for r in rows):
        note += f" Grey: fewer than {first.min_rows} rows, not judged."
    note += f" The {MAX_ROWS} farthest of {many} groups." if many > MAX_ROWS else ""
    keys = [dot(r.model, colour_of(i), i) for i, r in enumerate(records) if several]
    bounds = (0.0, 1.0) if name in SHARES else (None, None)
    heads: Any = [("Group", "name"), ("Model", "name"), ("Rows", "count"), title, "From", "To"]
    data = [
        (g.name, r.model, g.rows, m.value, m.low, m.high)
        for r in records
        for g in r.groups
        for m in g.measures
        if m.name == name
    ]
    forest = Forest(rows, title, lines, bounds, keys=keys, note=note)
    return forest.figure(f"forest_{name}", f"{title} by {_by(first.by)}", text, heads, data)


def _group_rows(records: Sequence[Any], name: str, level: float) -> list[Row]:
    """A row for each group, its marks filled where it differs from the rest."""
    rows = []
    # a model may lack the rows of a group, or all of them
    by_name = [{g.name: g for g in record.groups} for record in records]
    for group in dict.fromkeys(g for named in by_name for g in named):
        models = [(i, named[group]) for i, named in enumerate(by_name) if group in named]
        marks = [
            Mark.of(m, colour_of(i), g.judged and m.differs(level), i)
            for i, g in models
            for m in g.measures
            if m.name == name
        ]
        sizes = [g.rows for _, g in models]
        n = f"n {'=' if min(sizes) == max(sizes) else '≤'} {count(max(sizes))}"
        rows.append(Row(group, marks, n, group, not any(g.judged for _, g in models)))
    return rows


def _overall(doc: Any, name: str) -> dict[int, float]:
    """The value of each model over all rows, by its place, where the document has it."""
    owners = getattr(doc, "models", None) or getattr(doc, "confidences", None) or [doc]
    measured = ((i, o) for i, o in enumerate(owners[: len(doc.groups)]) if hasattr(o, "measures"))
    return {i: m.value for i, owner in measured if (m := defined_measure(owner, name))}


def _by(columns: Sequence[str]) -> str:
    return " and ".join(shortened(b, 30) for b in columns)


def promised(doc: Any) -> Iterator[Figure]:
    """What the common cut of a rule does in each group, beside what is asked."""
    if not doc.groups:
        return
    (name, limit), many, rows = doc.asked_of_groups, len(doc.groups), []
    for g in doc.groups[:MAX_ROWS]:
        e, shown = getattr(g.common, name, None), g.promise in ("kept", "broken")
        mark = Mark(None, why=g.why) if e is None else Mark.of(e, colour_of(0), shown)
        rows.append(Row(g.name, [mark], f"n = {count(g.rows)}"))
    text = f"{plural(many, 'group')} with {percent(doc.settings.level)} intervals."
    note = "Filled: shown to be kept or broken in the group."
    note += f" The first {MAX_ROWS} of {many} groups." if many > MAX_ROWS else ""
    lines = [] if limit is None else [ReferenceLine(limit, "asked")]
    forest = Forest(rows, titled(name), lines, (0.0, 1.0), note=note)
    title = f"{titled(name)} at the common cut, by {_by(doc.by)}"
    yield forest.figure("forest_groups", title, text)


def classes(doc: Any) -> Iterator[Figure]:
    """Measures of each class against the rest."""
    names = [n for n in CLASS_MEASURES if any(defined_measure(c, n) for c in doc.classes)]
    names = names[: 3 if len(doc.classes) <= FEW_CLASSES else 2]
    if not names:
        return
    largest = sorted(doc.classes, key=lambda c: -c.weight)[:MAX_ROWS]
    shown = [c for c in doc.classes if c in largest]
    titles = [titled(n) for n in names]
    rows = []
    for c in shown:
        marks = [Mark.of(defined_measure(c, n), colour_of(i)) for i, n in enumerate(names)]
        rows.append(Row(c.name, marks, f"n = {count(c.weight)}", c.name))
    valued = [(m.value, c.name) for c in shown if (m := defined_measure(c, names[0]))]
    lowest = ""
    if valued:
        least, name = min(valued)
        lowest = f" {titles[0]} is lowest in {quoted_name(name)}: {least:.3f}."
    text = (
        f"{', '.join(titles)} of each class, with {percent(doc.settings.level)} intervals.{lowest}"
    )
    keys = [dot(title, colour_of(i)) for i, title in enumerate(titles)]
    heads: Any = [("Class", "name"), ("Rows", "count"), *((title, "text") for title in titles)]
    texts = ([m.text for m in row.marks] for row in rows)
    data = [(c.name, c.weight, *text) for c, text in zip(shown, texts, strict=True)]
    forest = Forest(rows, "value", bounds=(0.0, 1.0), keys=keys)
    yield forest.figure("forest_classes", "Class by class", text, heads, data)


def differences(doc: Any) -> Iterator[Figure]:
    """Paired differences between models, in the colour of the better one where it is told apart."""
    compared = [d for d in doc.differences if d.measure in COMPARED and d.value is not None]
    if not compared:
        return
    names = [m.name for m in doc.models]
    pairs = list(dict.fromkeys((d.first, d.second) for d in compared))
    one_pair = len(pairs) == 1
    chosen = [n for n in COMPARED if any(d.measure == n for d in compared)]
    if not one_pair:  # few measures of many pairs, or many of one
        chosen = chosen[: max(1, MAX_ROWS // (len(pairs) + 1))]
    rows, wins = [], []
    for d in (d for name in chosen for d in compared if d.measure == name):
        winner = _winner(doc, d)
        colour = GREY if winner is None else colour_of(names.index(winner))
        words = "" if one_pair else f"{shortened(d.first, 16)} - {shortened(d.second, 16)}"
        rows.append(Row(d.title, [Mark(d.value, d.low, d.high, colour, winner is not None)], words))
        if winner is not None:
            loser = d.second if winner == d.first else d.first
            than = "" if one_pair else f" than {quoted_name(loser, 30)}"
            wins.append(f"{quoted_name(winner, 30)} is better{than} in {d.title}")
    more = f" and {len(wins) - 4} more" if len(wins) > 4 else ""
    corrected = "" if one_pair else "; told apart is what Holm's correction for the pairs leaves"
    text = (
        f"Paired differences on the same rows, with {percent(doc.settings.level)} intervals{corrected}. "
        + (f"{'; '.join(wins[:4])}{more}." if wins else "No difference is told apart from 0.")
    )
    keys = [dot(f"{name} better", colour_of(i)) for i, name in enumerate(names)]
    keys.append(dot("not told apart", GREY))
    title, label = "Differences", "difference"
    if one_pair:
        title = f"Differences: {' - '.join(shortened(n, 40) for n in pairs[0])}"
        label = " - ".join(shortened(n, 24) for n in pairs[0])
    names_of_pair: list[Any] = [("Measure", "title"), ("First", "name"), ("Second", "name")]
    heads = [*names_of_pair, "Difference", "From", "To", ("p (Holm)", "p")]
    data = [
        (d.title, d.first, d.second, d.value, d.low, d.high, d.p_adjusted)
        for d in compared
        if d.measure in chosen
    ]
    forest = Forest(rows[:MAX_ROWS], label, [ReferenceLine(0.0)], keys=keys)
    yield forest.figure("differences", title, text, heads, data)


def _winner(doc: Any, d: Any) -> str | None:
    """The model that a difference shows to be better, if it shows one."""
    apart = d.low is not None and d.high is not None and (d.low > 0 or d.high < 0)
    significant = d.p_adjusted is None or d.p_adjusted <= 1 - doc.settings.level
    way = next((m.better for m in doc.models[0].measures if m.name == d.measure), "")
    if not (apart and significant and way in ("high", "low")):
        return None
    return str(d.first if (d.value > 0) == (way == "high") else d.second)


def changes(doc: Any) -> Iterator[Figure]:
    """Each statistic of the last window, in units of what chance alone reaches."""
    last, level = doc.windows[-1], doc.settings.level
    tested = [c for c in last.changes if c.value is not None and c.by_chance]
    if not tested:
        return
    changed = [c for c in tested if c.p_adjusted is not None and c.p_adjusted <= 1 - level]
    text = (
        f"How large each change is, in units of what chance alone keeps within in {percent(level)} of "
        "cases. Shown to have changed, with all tests allowed for: "
        f"{', '.join(c.title for c in changed) or 'none'}."
    )
    rows = []
    for c in tested:
        size, colour = abs(c.value) / c.by_chance, VERMILION if c in changed else GREY
        stem = Mark(size, 0.0, size, colour, c in changed, label=f"{size:.2f}\u00d7")
        p = p_value(c.p_adjusted, least=is_smallest_p(c.p, doc.settings.replicates))
        rows.append(Row(c.title, [stem], f"{value(c)}, p {p}"))
    keys = [dot("changed", VERMILION), dot("not told apart from chance", GREY)]
    lines = [ReferenceLine(1.0, "chance"), ReferenceLine(0.0)]
    label = "size of the change, as a multiple of chance"
    heads: Any = [("Statistic", "title"), "Change", "By chance", ("p (adjusted)", "p")]
    data = [(c.title, c.value, c.by_chance, c.p_adjusted) for c in tested]
    forest = Forest(rows, label, lines, (0.0, None), keys=keys)
    yield forest.figure("drift", f"Changes of {shortened(last.name, 40)}", text, heads, data)


def windows(doc: Any) -> Iterator[Figure]:
    """AUROC, mean score and prevalence of each window in order of time, over those of the reference."""
    shown = [*doc.windows][-MAX_WINDOWS:]
    titles = {"auroc": "AUROC", "midpoint": "Mean score", "prevalence": "Prevalence"}
    titles = {k: t for k, t in titles.items() if sum(getattr(w, k) is not None for w in shown) > 1}
    if not titles:
        return
    changed = [w.name for w in shown if w.evidence]
    seen = f" Drift is seen in {listed_quoted(changed)}." if changed else ""
    text = f"{', '.join(titles.values())} of each window; dashed: the reference.{seen}"
    keys = [Key("reference", colour=GREY, dash=DASHES[1]), dot("drift", VERMILION)]

    def draw() -> Drawing:
        ends = []
        for k in titles:
            values = [v for w in (doc.reference, *shown) if (v := getattr(w, k)) is not None]
            low, high = min(values), max(values)
            by = step(max(high - low, 0.02) / 3)
            ends.append((by * int(low / by), by * (int(high / by) + 1)))
        x = (-0.5, len(shown) - 0.5)
        drawing, axes_of = panels(keys, [*titles.values()], x, ends, high=96.0)
        drawing.attributes = {}
        for k, axes in zip(titles, axes_of, strict=True):
            base = getattr(doc.reference, k)
            if base is not None:
                drawing.add(axes.line(x, (base, base), GREY, dash=DASHES[1], width=1.5))
            drawing.add(axes.line(range(len(shown)), [getattr(w, k) for w in shown], BLUE))
            for i, w in enumerate(shown):
                if (v := getattr(w, k)) is not None:
                    look = {"r": 4, "fill": VERMILION if w.name in changed else BLUE}
                    drawing.add(element("circle", cx=axes.x.place(i), cy=axes.y.place(v), **look))
        return drawing

    heads: Any = [("Window", "name"), *titles.values()]
    data = [(w.name, *(getattr(w, k) for k in titles)) for w in shown]
    yield figure("drift_windows", "Windows in order of time", text, heads, [("", data)], draw)
