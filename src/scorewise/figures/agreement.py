"""Raters, judges and answers: coefficients of agreement, pairs of raters, ceilings, confidence."""

from __future__ import annotations

from typing import Any

from scorewise.colours import BLUE, VERMILION
from scorewise.figures.forest import MOST, Forest, Mark, Row, Upright, forest_figure
from scorewise.figures.shared import (
    called,
    estimate,
    figure,
    heat_map,
    level,
    measure,
    panels,
    shortened,
    table,
)
from scorewise.figures.svg import INK, Drawing, Key, look
from scorewise.inference.agreement import BANDS
from scorewise.show.page import Figure
from scorewise.show.words import count, counted, quoted

MOST_RATERS = 16


def mark(e: Any, colour: str = INK, filled: bool = True, model: int | None = None) -> Mark:
    """The mark of an estimate."""
    return Mark(e.value, e.low, e.high, colour, filled, model, e.why, e.caution)


def coefficients(doc: Any) -> Figure | None:
    """Coefficients of agreement with their intervals, over the words for them."""
    known = [m for m in doc.measures if m.band is not None and m.value is not None]
    if not known:
        return None
    title = "Agreement beyond chance"
    first = next((m for m in known if m.name == "krippendorff_alpha"), known[0])
    text = (
        f"Coefficients of agreement with {level(doc.settings.level)} intervals, over the words of Landis "
        f"and Koch. {first.title} {estimate(first)}: {first.band}."
    )
    edges = [0.0, *map(float, BANDS.values())]
    low = min(0.0, *(m.value if m.low is None else m.low for m in known))
    bands = [(low, 0.0, "none")] if low < 0 else []
    bands += [
        (a, b, word) for a, b, word in zip(edges[1:], edges[2:], list(BANDS)[1:], strict=False)
    ]
    rows = [Row(m.title, [mark(m, BLUE)]) for m in known]
    forest = Forest(rows, "coefficient", bounds=(None, 1.0), bands=bands)
    return forest_figure("agreement", title, text, forest)


def pairs(doc: Any) -> Figure | None:
    """The kappa of each pair of raters, as a table that is shaded."""
    rows = [p for p in doc.pairs.rows if p.kappa.value is not None]
    names = [n for n in doc.data.raters if any(n in (p.first, p.second) for p in rows)][
        :MOST_RATERS
    ]
    if len(names) < 3:
        return None
    found = {frozenset((p.first, p.second)): p for p in rows}
    title = "Pairs of raters"
    least = min(rows, key=lambda p: p.kappa.value)
    most = max(rows, key=lambda p: p.kappa.value)
    text = (
        f"Kappa of each pair. Lowest: {_pair(least)} {estimate(least.kappa)}; highest: {_pair(most)} "
        f"{estimate(most.kappa)}."
    )
    values = [[found.get(frozenset((a, b))) if a != b else None for b in names] for a in names]
    shares = [[None if p is None else p.kappa.value for p in line] for line in values]
    texts = [["" if p is None else f"{p.kappa.value:.2f}" for p in line] for line in values]

    def draw() -> Drawing:
        return heat_map(Drawing("rater_pairs", title, text, 0, 0), names, shares, texts)

    columns: Any = {"First": "name", "Second": "name", "Items": "count", "Kappa": "text"}
    data = [(p.first, p.second, p.items, estimate(p.kappa)) for p in rows]
    return figure("rater_pairs", title, text, draw, table(columns, [("", data)]))


def _pair(p: Any) -> str:
    return f"{quoted(shortened(p.first, 30))} and {quoted(shortened(p.second, 30))}"


def judges(doc: Any) -> list[Figure]:
    """The kappa of each judge with humans beside that of humans with one another, and accuracy."""
    made = []
    compared = [
        j for j in doc.judges if j.ceiling is not None and j.ceiling.judge.value is not None
    ]
    if compared:
        title = "Judges beside humans"
        text = (
            f"Kappa with humans, and of humans with one another (dark), with {level(doc.settings.level)} "
            "intervals. " + _told(compared)
        )
        rows = [
            Row(
                j.name,
                [mark(j.ceiling.judge, BLUE), mark(j.ceiling.human, INK, False)],
                counted(j.items, "item"),
            )
            for j in compared[:MOST]
        ]
        keys = [
            Key("judge with humans", colour=BLUE, shape="mark"),
            Key("humans with one another", colour=INK, shape="mark"),
        ]
        made.append(
            forest_figure(
                "judges", title, text, Forest(rows, "kappa", bounds=(None, 1.0), keys=keys)
            )
        )
    known = [j for j in doc.judges if j.accuracy.value is not None]
    if known:
        title = "Accuracy of judges"
        text = (
            f"Share of items on which a judge says what humans do ({doc.data.truth}), with "
            f"{level(doc.settings.level)} intervals; dashed: always saying the most frequent category."
        )
        rows = [
            Row(j.name, [mark(j.accuracy, BLUE)], counted(j.items, "item")) for j in known[:MOST]
        ]
        base = known[0].accuracy.baseline
        lines = [Upright(base, "most frequent")] if base is not None else []
        made.append(
            forest_figure(
                "judge_accuracy", title, text, Forest(rows, "accuracy", lines, (0.0, 1.0))
            )
        )
    return made


def _told(judges: Any) -> str:
    below = [j.name for j in judges if j.ceiling.gap.high is not None and j.ceiling.gap.high < 0]
    above = [j.name for j in judges if j.ceiling.gap.low is not None and j.ceiling.gap.low > 0]
    parts = [
        f"{called(names)} agree{'s' if len(names) == 1 else ''} {way}"
        for names, way in ((below, "less than humans do"), (above, "more than humans do"))
        if names
    ]
    return "; ".join(parts) + "." if parts else "None is told apart from humans."


def answers(doc: Any) -> list[Figure]:
    """Confidence beside accuracy, of each confidence and group, and over thresholds of quality."""
    rows = []
    for c in doc.confidences[:MOST]:
        both = measure(c, "accuracy"), measure(c, "mean_confidence")
        if all(both):
            rows.append(
                Row(
                    c.name,
                    [mark(both[0], BLUE), mark(both[1], VERMILION, False)],
                    f"n = {count(c.answers)}",
                )
            )
    for g in doc.groups if len(doc.groups) == 1 else ():
        for one in g.groups[: MOST - len(rows)]:
            found = {m.name: m for m in one.measures}
            pair = [found.get(n) for n in ("accuracy", "mean_confidence")]
            if all(m is not None and m.value is not None for m in pair):
                marks = [
                    Mark(m.value, m.low, m.high, colour, filled)  # type: ignore[union-attr]
                    for m, colour, filled in zip(
                        pair, (BLUE, VERMILION), (True, False), strict=True
                    )
                ]
                rows.append(
                    Row(one.name, marks, f"n = {count(one.rows)}", one.name, not one.judged)
                )
    if not rows:
        return []
    title = "Confidence beside accuracy"
    gaps = [(c.name, measure(c, "overconfidence")) for c in doc.confidences]
    told = [
        f"Mean confidence of {quoted(shortened(n))} less accuracy: {estimate(m)}"
        for n, m in gaps
        if m
    ]
    text = (
        f"Share of correct answers, and mean confidence, with {level(doc.settings.level)} intervals. "
        + "; ".join(told[:3]) + ("." if told else "")
    )  # fmt: skip
    keys = [
        Key("accuracy", colour=BLUE, shape="mark"),
        Key("mean confidence", colour=VERMILION, shape="mark"),
    ]
    made = [
        forest_figure(
            "confidence", title, text, Forest(rows, "share", bounds=(0.0, 1.0), keys=keys)
        )
    ]
    return made + [f for f in [over_tau(doc)] if f is not None]


def over_tau(doc: Any) -> Figure | None:
    """Accuracy and calibration error, as the quality that counts as correct rises."""
    drawn = [(i, c) for i, c in enumerate(doc.confidences) if len(c.over_tau) > 1]
    if not drawn:
        return None
    title, shown = "Over thresholds of quality", ("accuracy", "ece")
    text = "Accuracy and ECE, where answers of at least that quality count as correct; bands: intervals."
    keys = [Key(c.name, **look(i)) for i, c in drawn] if len(drawn) > 1 else []
    keys.append(Key("quality used", f"{doc.settings.tau:g}", INK, "5 3"))
    taus = [t.tau for _, c in drawn for t in c.over_tau]
    tops = [
        1.0,
        max(0.05, *(t.ece.high or t.ece.value or 0.0 for _, c in drawn for t in c.over_tau)),
    ]

    def draw() -> Drawing:
        drawing, made = panels(
            "over_tau", title, text, keys, ["Accuracy", "ECE"], (min(taus), max(taus)),
            [(0.0, top) for top in tops], "quality from which on an answer counts as correct", "",
        )  # fmt: skip
        for name, axes in zip(shown, made, strict=True):
            for i, c in drawn:
                at = [t for t in c.over_tau if getattr(t, name).value is not None]
                e = [getattr(t, name) for t in at]
                x = [t.tau for t in at]
                if all(m.low is not None and m.high is not None for m in e) and e:
                    drawing.add(
                        axes.band(x, [m.low for m in e], [m.high for m in e], look(i)["colour"])
                    )
                drawing.add(axes.line(x, [m.value for m in e], **look(i)))
            drawing.add(axes.upright(doc.settings.tau))
        return drawing

    columns: Any = {"Quality": "number", "Accuracy": "number", "ECE": "number"}
    blocks = [
        (c.name, [(t.tau, t.accuracy.value, t.ece.value) for t in c.over_tau]) for _, c in drawn
    ]
    return figure("over_tau", title, text, draw, table(columns, blocks))
