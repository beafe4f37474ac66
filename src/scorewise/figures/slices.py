"""Groups and classes beside each other, and models against each other: forest plots of measures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scorewise.colours import GREY
from scorewise.figures.forest import MOST, Forest, Mark, Row, Upright, forest_figure, model_legend
from scorewise.figures.shared import called, level, measure, shortened, table
from scorewise.figures.svg import INK, QUIET, Key, look
from scorewise.registry import CLASS_MEASURES, MEASURES, RATER_MEASURES
from scorewise.show.page import Figure
from scorewise.show.words import count, counted, quoted

# of groups, each on a figure of its own as far as it was measured
GROUP_MEASURES = ("auroc", "calibration_slope", "sensitivity", "accuracy", "mean_quality", "alpha")
OF_CLASSES = ("sensitivity", "precision", "f1", "auroc")
DIFFERENT = (
    "auroc", "average_precision", "brier", "log_loss", "ece", "sensitivity", "specificity", "precision",
    "accuracy", "balanced_accuracy", "macro_f1", "kappa", "macro_auroc",
)  # fmt: skip
FEW_CLASSES = 8  # of which three measures are shown, of more two
BOUNDED = {"auroc", "sensitivity", "specificity", "precision", "f1", "accuracy"}
IDEAL = {"calibration_slope": 1.0, "oe_ratio": 1.0, "calibration_intercept": 0.0}


def title_of(name: str) -> str:
    """What a measure is called.

    >>> title_of("auroc"), title_of("a_word_of_ours")
    ('AUROC', 'A word of ours')
    """
    known = (r[name].title for r in (MEASURES, CLASS_MEASURES, RATER_MEASURES) if name in r)
    return next(known, name.replace("_", " ").capitalize())


def groups(records: Sequence[Any], overall: Callable[[int, str], Any], doc: Any) -> list[Figure]:
    """Groups of each model, a figure for each of some measures; `overall` has those of all rows."""
    measured = list(dict.fromkeys(m.name for r in records for g in r.groups for m in g.measures))
    chosen = [n for n in GROUP_MEASURES if n in measured][:3] or measured[:1]
    made = [_groups(records, name, overall, doc) for name in chosen]
    return [f for f in made if f is not None]


def _groups(
    records: Sequence[Any], name: str, overall: Callable[[int, str], Any], doc: Any
) -> Figure | None:
    first, confidence = records[0], doc.settings.level
    title = f"{title_of(name)} by {' and '.join(shortened(b, 30) for b in first.by)}"
    rows, differing = [], []
    # a model may lack the rows of a group, or all of them
    by_name = [{g.name: g for g in record.groups} for record in records]
    for group in dict.fromkeys(g for named in by_name for g in named):
        marks, found = [], [named[group] for named in by_name if group in named]
        for i, named in enumerate(by_name):
            g = named.get(group)
            m = next((m for m in g.measures if m.name == name), None) if g else None
            if g is None or m is None:
                continue
            apart = g.judged and m.differs(confidence)
            differing += [group] if apart and group not in differing else []
            marks.append(Mark(m.value, m.low, m.high, look(i)["colour"], apart, i, m.why))
        sizes = [g.rows for g in found]
        n = f"n {'=' if min(sizes) == max(sizes) else '≤'} {count(max(sizes))}"
        rows.append(Row(group, marks, n, group, not any(g.judged for g in found)))
    if not any(m.value is not None for r in rows for m in r.marks):
        return None
    told_of = len(rows)
    left_out = told_of - MOST
    if left_out > 0:
        order = sorted(
            rows,
            key=lambda r: (
                -max((abs((m.value or 0) - _all(overall, 0, name)) for m in r.marks), default=0)
            ),
        )
        rows = order[:MOST]
    several = len(records) > 1
    lines = [
        Upright(v, "" if several else "all rows", look(i)["colour"] if several else QUIET, i)
        for i in range(len(records))
        for v in [_value(overall(i, name))]
        if v is not None and name not in IDEAL
    ]
    lines += [Upright(IDEAL[name], "calibrated")] if name in IDEAL else []
    told = (
        f"{called(differing)} differ{'s' if len(differing) == 1 else ''} from the rest"
        if differing
        else "None is told apart from the rest"
    )
    text = (
        f"{title_of(name)} of {counted(told_of, 'group')} with {level(confidence)} intervals. "
        f"{told} after {first.correction}'s correction for the number of groups."
    )
    grey = any(r.quiet for r in rows)
    dashed = " Dashed: all rows." if lines and several and name not in IDEAL else ""
    note = f"Filled: differs from the rest after correction.{dashed}" + (
        f" Grey: fewer than {first.min_rows} rows, not judged." if grey else ""
    ) + (f" The {MOST} farthest of {told_of} groups." if left_out > 0 else "")  # fmt: skip
    bounds = (0.0, 1.0) if name in BOUNDED else (None, None)
    forest = Forest(
        rows,
        title_of(name),
        lines,
        bounds,
        keys=model_legend([r.model for r in records]),
        note=note,
    )
    columns: Any = {
        "Group": "name",
        "Model": "name",
        "Rows": "count",
        title_of(name): "number",
        "From": "number",
        "To": "number",
    }
    data = [
        (g.name, r.model, g.rows, m.value, m.low, m.high)
        for r in records for g in r.groups for m in g.measures if m.name == name
    ]  # fmt: skip
    return forest_figure(f"forest_{name}", title, text, forest, table(columns, [("", data)]))


def promised(doc: Any) -> Figure | None:
    """What the common cut of a rule does in each group, beside what is asked."""
    if not doc.groups:
        return None
    name, limit = doc.asked_of_groups
    rows = []
    for g in doc.groups[:MOST]:
        e = getattr(g.common, name, None)
        shown = g.promise in ("kept", "broken")
        mark = (
            Mark(None, why=g.why)
            if e is None
            else Mark(e.value, e.low, e.high, look(0)["colour"], shown, why=e.why)
        )
        rows.append(Row(g.name, [mark], f"n = {count(g.rows)}"))
    left_out = len(doc.groups) - len(rows)
    title = (
        f"{title_of(name)} at the common cut, by {' and '.join(shortened(b, 30) for b in doc.by)}"
    )
    text = f"{counted(len(doc.groups), 'group')} with {level(doc.settings.level)} intervals."
    note = "Filled: shown to be kept or broken in the group."
    note += f" The first {MOST} of {MOST + left_out} groups." if left_out else ""
    lines = [] if limit is None else [Upright(limit, "asked")]
    forest = Forest(rows, title_of(name), lines, (0.0, 1.0), note=note)
    return forest_figure("forest_groups", title, text, forest)


def _value(m: Any) -> float | None:
    return None if m is None else m.value


def _all(overall: Callable[[int, str], Any], i: int, name: str) -> float:
    return _value(overall(i, name)) or 0.0


def classes(doc: Any) -> list[Figure]:
    """Measures of each class against the rest."""
    if not doc.classes:
        return []
    names = [n for n in OF_CLASSES if any(measure(c, n) for c in doc.classes)]
    names = names[: 3 if len(doc.classes) <= FEW_CLASSES else 2]
    if not names:
        return []
    shown = sorted(doc.classes, key=lambda c: -c.weight)[:MOST]
    shown = [c for c in doc.classes if c in shown]
    rows = [
        Row(
            c.name,
            [_mark(measure(c, n), i) for i, n in enumerate(names)],
            f"n = {count(c.weight)}",
            c.name,
        )
        for c in shown
    ]
    keys = [Key(title_of(n), **look(i), shape="mark") for i, n in enumerate(names)]
    low = min(((m.value, c.name) for c in shown if (m := measure(c, names[0]))), default=None)
    told = (
        f" {title_of(names[0])} is lowest in {quoted(shortened(low[1]))}: {low[0]:.3f}."
        if low
        else ""
    )
    title = "Class by class"
    intervals = f"of each class, with {level(doc.settings.level)} intervals"
    text = f"{', '.join(title_of(n) for n in names)} {intervals}.{told}"
    forest = Forest(rows, "value", bounds=(0.0, 1.0), keys=keys)
    columns: Any = {"Class": "name", "Rows": "count", **{title_of(n): "text" for n in names}}
    data = [(c.name, c.weight, *(_mark(measure(c, n)).text for n in names)) for c in shown]
    return [forest_figure("forest_classes", title, text, forest, table(columns, [("", data)]))]


def _mark(m: Any | None, i: int | None = None) -> Mark:
    colour = INK if i is None else look(i)["colour"]
    return Mark(None, why="—") if m is None else Mark(m.value, m.low, m.high, colour)


def differences(doc: Any) -> Figure | None:
    """Paired differences between models, in the colour of the better one where it is told apart."""
    known = [d for d in doc.differences if d.measure in DIFFERENT and d.value is not None]
    if not known:
        return None
    order = {m.name: i for i, m in enumerate(doc.models)}
    names = list(order)
    pairs = list(dict.fromkeys((d.first, d.second) for d in known))
    one = len(pairs) == 1
    chosen = [n for n in DIFFERENT if any(d.measure == n for d in known)]
    if len(pairs) > 1:  # few measures of many pairs, or many of one
        chosen = chosen[: max(1, MOST // (len(pairs) + 1))]
    rows, told = [], []
    for name in chosen:
        for d in known:
            if d.measure != name:
                continue
            apart = d.low is not None and d.high is not None and (d.low > 0 or d.high < 0)
            apart = apart and (d.p_adjusted is None or d.p_adjusted <= 1 - doc.settings.level)
            way = _better(doc, name)
            winner = (
                None
                if not apart or way not in ("high", "low")
                else (d.first if (d.value > 0) == (way == "high") else d.second)
            )
            colour = GREY if winner is None else look(order[winner])["colour"]
            words = (
                "" if len(pairs) == 1 else f"{shortened(d.first, 16)} - {shortened(d.second, 16)}"
            )
            rows.append(
                Row(d.title, [Mark(d.value, d.low, d.high, colour, winner is not None)], words)
            )
            told += [_won(winner, d, one)] if winner else []
    rows = rows[:MOST]
    title = (
        "Differences"
        if not one
        else f"Differences: {shortened(pairs[0][0], 40)} - {shortened(pairs[0][1], 40)}"
    )
    rest = f" and {len(told) - 4} more" if len(told) > 4 else ""
    text = (
        f"Paired differences on the same rows, with {level(doc.settings.level)} intervals"
        + (". " if one else "; told apart is what Holm's correction for the pairs leaves. ")
        + (f"{'; '.join(told[:4])}{rest}." if told else "No difference is told apart from 0.")
    )  # fmt: skip
    keys = [Key(f"{n} better", **look(i), shape="mark") for i, n in enumerate(names)]
    keys.append(Key("not told apart", colour=GREY, shape="mark"))
    label = (
        "difference" if not one else f"{shortened(pairs[0][0], 24)} - {shortened(pairs[0][1], 24)}"
    )
    forest = Forest(rows, label, [Upright(0.0)], keys=keys)
    columns: Any = {
        "Measure": "title",
        "First": "name",
        "Second": "name",
        "Difference": "number",
        "From": "number",
        "To": "number",
        "p (Holm)": "p",
    }
    data = [
        (d.title, d.first, d.second, d.value, d.low, d.high, d.p_adjusted)
        for d in known
        if d.measure in chosen
    ]
    return forest_figure("differences", title, text, forest, table(columns, [("", data)]))


def _won(winner: str, d: Any, one: bool) -> str:
    other = d.second if winner == d.first else d.first
    than = "" if one else f" than {quoted(shortened(other, 30))}"
    return f"{quoted(shortened(winner, 30))} is better{than} in {d.title}"


def _better(doc: Any, name: str) -> str:
    return next((m.better for m in doc.models[0].measures if m.name == name), "")
