"""Raters, judges and answers: coefficients of agreement, pairs of raters, ceilings, confidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scorewise.colours import BLUE, VERMILION, colour_of
from scorewise.figures.forest import MAX_ROWS, Forest, Mark, ReferenceLine, Row
from scorewise.figures.layout import (
    ci_text,
    defined_measure,
    figure,
    heat_map,
    listed_quoted,
    panels,
    quoted_name,
)
from scorewise.figures.svg import INK, Drawing, Key, dot, model_style
from scorewise.inference.agreement import BANDS
from scorewise.show.page import Figure
from scorewise.show.words import count, percent, plural

MAX_RATERS = 16


def coefficients(doc: Any) -> Iterator[Figure]:
    """Coefficients of agreement with their intervals, over the words for them."""
    defined = [m for m in doc.measures if m.band is not None and m.value is not None]
    if not defined:
        return
    first = next((m for m in defined if m.name == "krippendorff_alpha"), defined[0])
    text = (
        f"Coefficients of agreement with {percent(doc.settings.level)} intervals, over the words of Landis "
        f"and Koch. {first.title} {ci_text(first)}: {first.band}."
    )
    edges = [0.0, *map(float, BANDS.values())]
    low = min(0.0, *(m.value if m.low is None else m.low for m in defined))
    bands = [(low, 0.0, "none")] if low < 0 else []
    bands += zip(edges[1:], edges[2:], list(BANDS)[1:], strict=False)
    rows = [Row(m.title, [Mark.of(m, BLUE)]) for m in defined]
    forest = Forest(rows, "coefficient", bounds=(None, 1.0), bands=bands)
    yield forest.figure("agreement", "Agreement beyond chance", text)


def pairs(doc: Any) -> Iterator[Figure]:
    """The kappa of each pair of raters, as a table that is shaded."""
    rows = [p for p in doc.pairs.rows if p.kappa.value is not None]
    paired = {name for p in rows for name in (p.first, p.second)}
    names = [n for n in doc.data.raters if n in paired][:MAX_RATERS]
    if len(names) < 3:
        return
    lowest, highest = (end(rows, key=lambda p: p.kappa.value) for end in (min, max))
    text = f"Kappa of each pair. Lowest: {_pair(lowest)}; highest: {_pair(highest)}."
    kappas = {frozenset((p.first, p.second)): p.kappa.value for p in rows}

    def draw() -> Drawing:
        values = [[kappas.get(frozenset((a, b))) if a != b else None for b in names] for a in names]
        texts = [["" if x is None else f"{x:.2f}" for x in line] for line in values]
        return heat_map(names, values, texts)

    heads: Any = [("First", "name"), ("Second", "name"), ("Items", "count"), ("Kappa", "text")]
    data = [(p.first, p.second, p.items, ci_text(p.kappa)) for p in rows]
    yield figure("rater_pairs", "Pairs of raters", text, heads, [("", data)], draw)


def _pair(p: Any) -> str:
    return f"{quoted_name(p.first, 30)} and {quoted_name(p.second, 30)} {ci_text(p.kappa)}"


def ceilings(doc: Any) -> Iterator[Figure]:
    """The kappa of each judge with humans beside that of humans with one another."""
    judges = [j for j in doc.judges if j.ceiling is not None and j.ceiling.judge.value is not None]
    if not judges:
        return
    below = [j.name for j in judges if j.ceiling.gap.high is not None and j.ceiling.gap.high < 0]
    above = [j.name for j in judges if j.ceiling.gap.low is not None and j.ceiling.gap.low > 0]
    apart = "; ".join(
        f"{listed_quoted(names)} agree{'s' if len(names) == 1 else ''} {way} than humans do"
        for names, way in ((below, "less"), (above, "more"))
        if names
    )
    text = (
        f"Kappa with humans, and of humans with one another (dark), with {percent(doc.settings.level)} "
        f"intervals. {apart or 'None is told apart from humans'}."
    )
    rows = [
        _judge(j, Mark.of(j.ceiling.judge, BLUE), Mark.of(j.ceiling.human, INK, False))
        for j in judges[:MAX_ROWS]
    ]
    keys = [dot("judge with humans", BLUE), dot("humans with one another", INK)]
    forest = Forest(rows, "kappa", bounds=(None, 1.0), keys=keys)
    yield forest.figure("judges", "Judges beside humans", text)


def accuracies(doc: Any) -> Iterator[Figure]:
    """The share of items on which each judge says what humans do."""
    judges = [j for j in doc.judges if j.accuracy.value is not None]
    if not judges:
        return
    text = (
        f"Share of items on which a judge says what humans do ({doc.data.truth}), with "
        f"{percent(doc.settings.level)} intervals; dashed: always saying the most frequent category."
    )
    rows = [_judge(j, Mark.of(j.accuracy, BLUE)) for j in judges[:MAX_ROWS]]
    base = judges[0].accuracy.baseline
    lines = [ReferenceLine(base, "most frequent")] if base is not None else []
    forest = Forest(rows, "accuracy", lines, (0.0, 1.0))
    yield forest.figure("judge_accuracy", "Accuracy of judges", text)


def _judge(j: Any, *marks: Mark) -> Row:
    return Row(j.name, marks, plural(j.items, "item"))


def confidence(doc: Any) -> Iterator[Figure]:
    """Confidence beside accuracy, of each confidence and group."""
    rows = [Row(c.name, _both(c), f"n = {count(c.answers)}") for c in doc.confidences[:MAX_ROWS]]
    groups = doc.groups[0].groups[: MAX_ROWS - len(rows)] if len(doc.groups) == 1 else ()
    rows += [Row(g.name, _both(g), f"n = {count(g.rows)}", g.name, not g.judged) for g in groups]
    rows = [r for r in rows if r.marks]
    if not rows:
        return
    gaps = [
        f"Mean confidence of {quoted_name(c.name)} less accuracy: {ci_text(m)}"
        for c in doc.confidences
        if (m := defined_measure(c, "overconfidence"))
    ]
    text = (
        f"Share of correct answers, and mean confidence, with {percent(doc.settings.level)} intervals. "
        + "; ".join(gaps[:3])
        + ("." if gaps else "")
    )
    keys = [dot("accuracy", BLUE), dot("mean confidence", VERMILION)]
    forest = Forest(rows, "share", bounds=(0.0, 1.0), keys=keys)
    yield forest.figure("confidence", "Confidence beside accuracy", text)


def _both(record: Any) -> Sequence[Mark]:
    """The marks of accuracy and mean confidence, if both have a value."""
    accuracy, mean = (defined_measure(record, name) for name in ("accuracy", "mean_confidence"))
    return [Mark.of(accuracy, BLUE), Mark.of(mean, VERMILION, False)] if accuracy and mean else []


def over_tau(doc: Any) -> Iterator[Figure]:
    """Accuracy and calibration error, as the quality that counts as correct rises."""
    drawn = [(i, c) for i, c in enumerate(doc.confidences) if len(c.over_tau) > 1]
    if not drawn or not any(_both(c) for _, c in drawn):
        return
    text = "Accuracy and ECE, where answers of at least that quality count as correct; bands: intervals."
    keys = [Key(c.name, **model_style(i)) for i, c in drawn] if len(drawn) > 1 else []
    keys.append(Key("quality used", f"{doc.settings.tau:g}", INK, "5 3"))
    points = [t for _, c in drawn for t in c.over_tau]
    taus = [t.tau for t in points]
    high = max(0.05, *(t.ece.high or t.ece.value or 0.0 for t in points))
    title = "quality from which on an answer counts as correct"

    def draw() -> Drawing:
        ends = [(0.0, 1.0), (0.0, high)]
        drawing, axes_of = panels(
            keys, ["Accuracy", "ECE"], (min(taus), max(taus)), ends, (title, "")
        )
        for name, axes in zip(("accuracy", "ece"), axes_of, strict=True):
            for i, c in drawn:
                at = [(t.tau, e) for t in c.over_tau if (e := getattr(t, name)).value is not None]
                x, values = [tau for tau, _ in at], [e for _, e in at]
                if values and all(m.low is not None and m.high is not None for m in values):
                    low, top = [m.low for m in values], [m.high for m in values]
                    drawing.add(axes.band(x, low, top, colour_of(i)))
                drawing.add(axes.line(x, [m.value for m in values], **model_style(i)))
            drawing.add(axes.vertical_line(doc.settings.tau))
        return drawing

    blocks = [
        (c.name, [(t.tau, t.accuracy.value, t.ece.value) for t in c.over_tau]) for _, c in drawn
    ]
    heads = ["Quality", "Accuracy", "ECE"]
    yield figure("over_tau", "Over thresholds of quality", text, heads, blocks, draw)
