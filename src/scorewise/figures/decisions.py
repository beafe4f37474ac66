"""What decisions give: confusion, rates over thresholds, and net benefit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, permutations
from typing import Any

from scorewise.colours import GREY, colour_of
from scorewise.figures import layout
from scorewise.figures.layout import ci_text
from scorewise.figures.svg import DASHES, INK, Drawing, Key, element, label
from scorewise.show.page import Figure
from scorewise.show.words import count, percent, whole_percent

MOST_CLASSES = 20
RATES = ("sensitivity", "specificity", "precision")
CHOSEN = ("sensitivity", "precision", "alert_rate")
UP_TO = "threshold: alert from this score on"
CELL, HEAD = (120.0, 78.0), (92.0, 54.0)  # sizes of a cell of two classes, and of what names it


def confusion(doc: Any) -> Iterator[Figure]:
    """Labels against decisions of each model."""
    if doc.classes:
        yield class_confusion(doc)
        return
    classes = {"positive": doc.data.positive, "negative": doc.data.negative}
    names = [word if label is None else str(label) for word, label in classes.items()]
    decided = [_decided(m.confusion) for m in doc.models]
    summary = layout.by_model([m.name for m in doc.models], decided)
    text = f"Labels against decisions, with the share of each label. {summary}."
    (wide, high), (left, top) = CELL, HEAD
    each, deep = left + 2 * wide + 26, 2 * high + top + 20

    def draw() -> Drawing:
        per_row = min(len(doc.models), 2)
        drawing = Drawing(each * per_row + 10, -(-len(doc.models) // per_row) * deep + 4)
        for i, m in enumerate(doc.models):
            x, y = (i % per_row) * each + left + 6, (i // per_row) * deep + top
            with drawing.group(data_model=i):
                if len(doc.models) > 1:
                    drawing.add(label(x - left, y - 36, m.name, room=each - 20, font_weight="600"))
                drawing.add(*_cells(x, y, names, m.confusion, i))
        return drawing

    cells = ("tp", "fp", "fn", "tn")
    heads: Any = [("Model", "name"), *((cell.upper(), "count") for cell in cells)]
    rows = [(m.name, *(getattr(m.confusion, cell) for cell in cells)) for m in doc.models]
    title = f"Decisions at the threshold {doc.settings.threshold:.4g}"
    yield layout.figure("confusion", title, text, heads, [("", rows)], draw)


def _decided(c: Any) -> str:
    return f"{count(c.tp)} of {count(c.tp + c.fn)} positives found; false alarms: {count(c.fp)}"


def _cells(x: float, y: float, names: Sequence[str], c: Any, i: int) -> Iterator[str]:
    """The four cells of a model, from this corner on, under the names of the classes."""
    wide, high = CELL
    for k, name in enumerate(names):
        middle, low = x + (k + 0.5) * wide, y + (k + 0.5) * high
        yield label(middle, y - 8, f"called {name}", room=wide - 4, anchor="middle")
        yield label(x - 8, low + 4, f"is {name}", room=HEAD[0] - 10, anchor="end")
    for row, cells in enumerate((("tp", "fn"), ("fp", "tn"))):
        weights = [getattr(c, cell) for cell in cells]
        total = sum(weights)
        for col, (cell, weight) in enumerate(zip(cells, weights, strict=True)):
            share = weight / total if total else 0.0
            left, top = x + col * wide, y + row * high
            shade = {"fill": colour_of(i), "fill_opacity": f"{0.06 + 0.34 * share:.2f}"}
            yield element("rect", x=left + 1, y=top + 1, width=wide - 2, height=high - 2, **shade)
            middle, low = left + wide / 2, top + high / 2
            anchors: Any = {"anchor": "middle", "data_model": i}
            yield label(middle, low + 2, count(weight), size=20, data_cell=cell, **anchors)
            part = whole_percent(share) if total else ""
            yield label(middle, low + 22, part, size=12, data_share=cell, **anchors)


def class_confusion(doc: Any) -> Figure:
    """Labels against decisions of several classes, shaded by the share of each label."""
    weights = doc.models[0].confusion
    names = [c.name for c in doc.classes]
    totals = [sum(row) for row in weights]
    order = sorted(sorted(range(len(names)), key=lambda k: -totals[k])[:MOST_CLASSES])
    pairs = permutations(range(len(names)), 2)
    worst = sorted(((weights[a][b], a, b) for a, b in pairs), reverse=True)
    text = (
        "Labels (rows) against decisions (columns); the darker, the larger the share of the label."
    )
    if worst and worst[0][0]:
        w, a, b = worst[0]
        pair = f"{layout.quoted_name(names[a])} is taken for {layout.quoted_name(names[b])}"
        text += f" Most often {pair}: {count(w)} of {count(totals[a])}."
    if len(order) < len(names):
        text += f" Shown are the {len(order)} most frequent of {len(names)} classes."

    def draw() -> Drawing:
        shares = [[weights[a][b] / totals[a] if totals[a] else 0.0 for b in order] for a in order]
        texts = [[count(weights[a][b]) if weights[a][b] else "" for b in order] for a in order]
        return layout.heat_map([names[a] for a in order], shares, texts, ("decision", "label"))

    heads: Any = [("Label", "name"), ("Taken for", "name"), ("Weight", "count")]
    rows = [(names[a], names[b], w) for w, a, b in worst[:20] if w]
    return layout.figure("confusion", "Decisions, class by class", text, heads, [("", rows)], draw)


def threshold_curves(doc: Any) -> Iterator[Figure]:
    """Sensitivity, specificity and precision over the threshold, a panel each."""
    drawn = [
        (i, c) for i, c in enumerate(doc.curves) if len(c.threshold) > 2 and c.tp[-1] and c.fp[-1]
    ]
    if not drawn:
        return
    threshold, titles = doc.settings.threshold, _titles(RATES)
    summary = layout.by_model(
        [c.model for _, c in drawn], [_measured(doc.models[i]) for i, _ in drawn]
    )
    text = f"Sensitivity, specificity and precision, as the threshold moves. At {threshold:.4g}: {summary}."
    keys = layout.model_keys([(i, c.model) for i, c in drawn]) if len(drawn) > 1 else []
    keys.append(layout.threshold_key(threshold))
    ends = _ends([t for _, c in drawn for t in c.threshold[1:]])

    def draw() -> Drawing:
        drawing, axes_of = layout.panels(
            keys, titles, ends, [(0.0, 1.0)] * 3, (UP_TO, ""), high=100.0
        )
        for k, axes in enumerate(axes_of, 1):
            for c, of in drawing.each_model(drawn):
                drawing.add(axes.line(c.threshold[1:], [rates[k] for rates in _rates(c)], **of))
            drawing.add(axes.vertical_line(threshold, data_threshold=""))
        return drawing

    blocks = [(c.model, _rates(c)) for _, c in drawn]
    heads = ["Threshold", *titles]
    yield layout.figure("threshold_curves", "Rates over thresholds", text, heads, blocks, draw)


def _titles(names: Sequence[str]) -> list[str]:
    return [name.replace("_", " ").capitalize() for name in names]


def _ends(thresholds: Sequence[float]) -> tuple[float, float]:
    """Those of an axis of thresholds: from 0 to 1 where all lie there."""
    low, high = min(thresholds), max(thresholds)
    return (0.0, 1.0) if low >= 0 and high <= 1 else (low, high)


def _measured(model: Any) -> str:
    measures = ((rate, layout.defined_measure(model, rate)) for rate in RATES)
    return ", ".join(f"{rate} {ci_text(m)}" for rate, m in measures if m)


def _rates(c: Any) -> list[tuple[float | None, ...]]:
    """Each threshold after the first with its sensitivity, specificity and precision."""
    pos, neg = c.tp[-1], c.fp[-1]
    points = [*zip(c.threshold, c.tp, c.fp, strict=True)][1:]
    return [(t, a / pos, 1 - b / neg, a / (a + b) if a + b else None) for t, a, b in points]


def decision_curve(doc: Any) -> Iterator[Figure]:
    """Net benefit over the threshold probability, beside alerting on everybody and on nobody."""
    drawn = [(i, c) for i, c in enumerate(doc.curves) if c.benefit is not None]
    if not drawn:
        return
    first, banded = drawn[0][1].benefit, len(drawn) <= layout.MAX_BANDED
    bands = f" Bands: {percent(doc.settings.level)} intervals." if banded else ""
    text = (
        "Net benefit: true alerts a row, less false ones at the exchange rate that the threshold "
        f"implies.{bands} {_useful(drawn)}"
    )
    keys = [
        *layout.model_keys([(i, c.model) for i, c in drawn]),
        Key("alert on everybody", colour=GREY, dash=DASHES[1]),
        layout.reference_key("on nobody"),
        layout.threshold_key(doc.settings.threshold),
    ]
    best = max(0.01, *(max(c.benefit.value) for _, c in drawn), max(first.treat_all))
    titles = ("threshold probability", "net benefit")

    def draw() -> Drawing:
        ends = (-0.15 * best, 1.12 * best)
        drawing, (axes,) = layout.panels(keys, [""], (0.0, 1.0), [ends], titles, high=260.0)
        drawing.add(axes.line(first.threshold, first.treat_all, GREY, dash=DASHES[1], width=1.5))
        drawing.add(layout.reference_line(axes, (0, 1), (0, 0)))
        for c, of in drawing.each_model(drawn):
            b = c.benefit
            if banded:
                drawing.add(axes.band(b.threshold, b.low, b.high, of["colour"], opacity=0.13))
            drawing.add(axes.line(b.threshold, b.value, **of))
        drawing.add(axes.vertical_line(doc.settings.threshold, data_threshold=""))
        return drawing

    heads = ["Threshold probability", "Net benefit", "From", "To", "Everybody"]
    names = ("threshold", "value", "low", "high", "treat_all")
    blocks = [(c.model, layout.columns_as_rows(c.benefit, *names)) for _, c in drawn]
    yield layout.figure("decision_curve", "Decision curve", text, heads, blocks, draw)


def _useful(drawn: Sequence[tuple[int, Any]]) -> str:
    """Between which thresholds each model is shown to be worth more than everybody and nobody."""
    sentences = []
    for _, c in drawn[: layout.MAX_NAMED]:
        b = c.benefit
        points = zip(b.threshold, b.low, b.treat_all, strict=True)
        runs = groupby(points, lambda p: p[1] > max(p[2], 0.0))
        useful = ([t for t, *_ in run] for better, run in runs if better)
        run = max(useful, key=len, default=[])
        name = f"{layout.quoted_name(c.model)} is" if len(drawn) > 1 else "The scores are"
        where = f" from {run[0]:g} to {run[-1]:g}" if run else ""
        sentences.append(f"{name}{'' if run else ' not'} shown to be worth more than either{where}")
    return "; ".join(sentences) + "."


def chosen_cuts(doc: Any) -> Iterator[Figure]:
    """Sensitivity, precision and alert rate over thresholds, with the cuts that were chosen."""
    points = doc.points
    x = [t for t in points.threshold if t is not None]
    if len(x) < 2:
        return
    summary = "; ".join(
        f"{c.name} cut {c.cut.threshold:.4g}: sensitivity {ci_text(c.sensitivity)}, precision "
        f"{ci_text(c.precision)}, alerts on {whole_percent(c.alert_rate.value or 0.0)} of rows"
        for c in doc.cuts
    )
    text = f"Bands: {percent(doc.settings.level)} intervals, pointwise. {summary[:1].upper()}{summary[1:]}."
    dashes = {"guaranteed": "", "plain": "5 3"}
    cuts = [(f"{c.name} cut", c.cut.threshold, dashes.get(c.name, DASHES[2])) for c in doc.cuts]
    if doc.reject is not None:
        ends = (("clear below", doc.reject.low), ("alert from", doc.reject.high))
        cuts += [(word, at, DASHES[2]) for word, at in ends]
    keys = [Key(word, f"{at:.4g}", INK, dash) for word, at, dash in cuts]
    titles = _titles(CHOSEN)

    def draw() -> Drawing:
        drawing, axes_of = layout.panels(
            keys, titles, _ends(x), [(0.0, 1.0)] * 3, (UP_TO, ""), high=100.0
        )
        for i, (name, axes) in enumerate(zip(CHOSEN, axes_of, strict=True)):
            colour = colour_of(i)
            if name != "alert_rate":
                low, high = getattr(points, f"{name}_low"), getattr(points, f"{name}_high")
                drawing.add(axes.band(points.threshold, low, high, colour))
            drawing.add(axes.line(points.threshold, getattr(points, name), colour))
            drawing.add(*(axes.vertical_line(at, dash=dash) for _, at, dash in cuts))
        return drawing

    rows = layout.columns_as_rows(points, "threshold", *CHOSEN)
    title, heads = "Rates over thresholds, and the cuts chosen", ["Threshold", *titles]
    yield layout.figure("chosen_cuts", title, text, heads, [("", rows)], draw)
