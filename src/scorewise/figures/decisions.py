"""What decisions give: confusion, rates over thresholds, and net benefit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scorewise.colours import GREY
from scorewise.figures import shared
from scorewise.figures.svg import DASHES, INK, Drawing, Key, element, line, look, said
from scorewise.show.page import Figure
from scorewise.show.words import count, quoted, whole_percent

MOST_CLASSES = 20
RATES = ("sensitivity", "specificity", "precision")


def confusion(doc: Any) -> Figure | None:
    """Labels against decisions of each model."""
    if doc.classes:
        return class_confusion(doc)
    title = f"Decisions at the threshold {doc.settings.threshold:.4g}"
    names = [
        str(x) if x is not None else w
        for x, w in ((doc.data.positive, "positive"), (doc.data.negative, "negative"))
    ]
    told = shared.by_model(
        [m.name for m in doc.models], [_decided(m.confusion) for m in doc.models]
    )
    text = f"Labels against decisions, with the share of each label. {told}."
    wide, high, left = 120.0, 78.0, 92.0
    each = left + 2 * wide + 26

    def draw() -> Drawing:
        per_row = min(len(doc.models), 2)
        rows = -(-len(doc.models) // per_row)
        drawing = Drawing("confusion", title, text, each * per_row + 10, rows * (2 * high + 74) + 4)
        for i, m in enumerate(doc.models):
            x, y = (i % per_row) * each + left + 6, (i // per_row) * (2 * high + 74) + 54
            c, colour = m.confusion, look(i)["colour"]
            with drawing.group(data_model=i):
                if len(doc.models) > 1:
                    drawing.add(said(x - left, y - 36, m.name, room=each - 20, font_weight="600"))
                for k, name in enumerate(names):
                    drawing.add(
                        said(
                            x + k * wide + wide / 2,
                            y - 8,
                            f"called {name}",
                            room=wide - 4,
                            anchor="middle",
                        )
                    )
                    drawing.add(
                        said(
                            x - 8,
                            y + k * high + high / 2 + 4,
                            f"is {name}",
                            room=left - 10,
                            anchor="end",
                        )
                    )
                for row, (pair, total) in enumerate(
                    (((c.tp, c.fn), c.tp + c.fn), ((c.fp, c.tn), c.fp + c.tn))
                ):
                    for col, weight in enumerate(pair):
                        cell = (("tp", "fn"), ("fp", "tn"))[row][col]
                        share = weight / total if total else 0.0
                        drawing.add(
                            _cell(
                                x + col * wide,
                                y + row * high,
                                wide,
                                high,
                                weight,
                                share,
                                total,
                                colour,
                                cell,
                                i,
                            )
                        )
        return drawing

    columns: Any = {"Model": "name", "TP": "count", "FP": "count", "FN": "count", "TN": "count"}
    rows = [
        (m.name, m.confusion.tp, m.confusion.fp, m.confusion.fn, m.confusion.tn) for m in doc.models
    ]
    return shared.figure("confusion", title, text, draw, shared.table(columns, [("", rows)]))


def _decided(c: Any) -> str:
    return f"{count(c.tp)} of {count(c.tp + c.fn)} positives found; false alarms: {count(c.fp)}"


def _cell(
    x: float,
    y: float,
    wide: float,
    high: float,
    weight: float,
    share: float,
    total: float,
    colour: str,
    cell: str,
    i: int,
) -> str:
    part = whole_percent(share) if total else ""
    return (
        element(
            "rect",
            x=x + 1,
            y=y + 1,
            width=wide - 2,
            height=high - 2,
            fill=colour,
            fill_opacity=f"{0.06 + 0.34 * share:.2f}",
        )
        + said(
            x + wide / 2,
            y + high / 2 + 2,
            count(weight),
            anchor="middle",
            size=20,
            data_cell=cell,
            data_model=i,
        )
        + said(
            x + wide / 2,
            y + high / 2 + 22,
            part,
            anchor="middle",
            size=12,
            data_share=cell,
            data_model=i,
        )
    )


def class_confusion(doc: Any) -> Figure | None:
    """Labels against decisions of several classes, shaded by the share of each label."""
    weights = doc.models[0].confusion
    names = [c.name for c in doc.classes]
    totals = [sum(row) for row in weights]
    order = sorted(sorted(range(len(names)), key=lambda k: -totals[k])[:MOST_CLASSES])
    few = len(order) < len(names)
    title = "Decisions, class by class"
    worst = sorted(
        ((weights[a][b], a, b) for a in range(len(names)) for b in range(len(names)) if a != b),
        reverse=True,
    )
    text = (
        "Labels (rows) against decisions (columns); the darker, the larger the share of the label."
    )
    if worst and worst[0][0]:
        w, a, b = worst[0]
        pair = f"{quoted(shared.shortened(names[a]))} is taken for {quoted(shared.shortened(names[b]))}"
        text += f" Most often {pair}: {count(w)} of {count(totals[a])}."
    if few:
        text += f" Shown are the {len(order)} most frequent of {len(names)} classes."
    shares = [[weights[a][b] / totals[a] if totals[a] else 0.0 for b in order] for a in order]
    texts = [[count(weights[a][b]) if weights[a][b] else "" for b in order] for a in order]

    def draw() -> Drawing:
        drawing = Drawing("confusion", title, text, 0, 0)
        return shared.heat_map(
            drawing, [names[a] for a in order], shares, texts, ("decision", "label")
        )

    columns: Any = {"Label": "name", "Taken for": "name", "Weight": "count"}
    rows = [(names[a], names[b], w) for w, a, b in worst[:20] if w]
    return shared.figure("confusion", title, text, draw, shared.table(columns, [("", rows)]))


def threshold_curves(doc: Any) -> Figure | None:
    """Sensitivity, specificity and precision over the threshold, a panel each."""
    drawn = [
        (i, c) for i, c in enumerate(doc.curves) if len(c.threshold) > 2 and c.tp[-1] and c.fp[-1]
    ]
    if not drawn:
        return None
    title = "Rates over thresholds"
    threshold = doc.settings.threshold
    told = shared.by_model(
        [c.model for _, c in drawn],
        [
            ", ".join(
                f"{r} {shared.estimate(shared.measure(doc.models[i], r))}"
                for r in RATES
                if shared.measure(doc.models[i], r)
            )
            for i, _ in drawn
        ],
    )
    text = f"Sensitivity, specificity and precision, as the threshold moves. At {threshold:.4g}: {told}."
    keys = shared.model_keys(drawn)
    keys = (keys if len(drawn) > 1 else []) + [shared.threshold_key(threshold)]
    unit = all(0 <= t <= 1 for _, c in drawn for t in c.threshold[1:])
    ends = (
        (0.0, 1.0)
        if unit
        else (min(c.threshold[-1] for _, c in drawn), max(c.threshold[1] for _, c in drawn))
    )

    def draw() -> Drawing:
        drawing, made = shared.panels(
            "threshold_curves", title, text, keys, [r.capitalize() for r in RATES], ends,
            [(0.0, 1.0)] * 3, "threshold: alert from this score on", "", high=100.0,
        )  # fmt: skip
        for rate, axes in zip(RATES, made, strict=True):
            for i, c in drawn:
                colour, dash = look(i).values()
                with drawing.group(data_model=i):
                    drawing.add(axes.line(c.threshold[1:], _rates(c)[rate][1:], colour, dash=dash))
            drawing.add(axes.upright(threshold, data_threshold=""))
        return drawing

    columns: Any = {
        "Threshold": "number",
        **dict.fromkeys([r.capitalize() for r in RATES], "number"),
    }
    blocks = [
        (c.model, [*zip(c.threshold, *(_rates(c)[r] for r in RATES), strict=True)][1:])
        for _, c in drawn
    ]
    return shared.figure("threshold_curves", title, text, draw, shared.table(columns, blocks))


def _rates(c: Any) -> dict[str, list[float | None]]:
    pos, neg = c.tp[-1], c.fp[-1]
    return {
        "sensitivity": [tp / pos for tp in c.tp],
        "specificity": [1 - fp / neg for fp in c.fp],
        "precision": [
            tp / (tp + fp) if tp + fp else None for tp, fp in zip(c.tp, c.fp, strict=True)
        ],
    }


def decision_curve(doc: Any) -> Figure | None:
    """Net benefit over the threshold probability, beside alerting on everybody and on nobody."""
    drawn = [(i, c) for i, c in enumerate(doc.curves) if c.benefit is not None]
    if not drawn:
        return None
    title, first, banded = "Decision curve", drawn[0][1].benefit, len(drawn) <= shared.BANDED
    bands = f" Bands: {shared.level(doc.settings.level)} intervals." if banded else ""
    text = (
        "Net benefit: true alerts a row, less false ones at the exchange rate that the threshold "
        f"implies.{bands} {_useful(drawn)}"
    )
    keys = shared.model_keys(drawn)
    keys += [
        Key("alert on everybody", colour=GREY, dash=DASHES[1]),
        Key("on nobody", colour=GREY, dash=DASHES[2]),
        shared.threshold_key(doc.settings.threshold),
    ]
    best = max(0.01, *(max(c.benefit.value) for _, c in drawn), max(first.treat_all))
    ends = (-0.15 * best, 1.12 * best)

    def draw() -> Drawing:
        drawing, (axes,) = shared.panels(
            "decision_curve", title, text, keys, [""], (0.0, 1.0), [ends], "threshold probability",
            "net benefit", high=260.0,
        )  # fmt: skip
        drawing.add(axes.line(first.threshold, first.treat_all, GREY, dash=DASHES[1], width=1.5))
        drawing.add(shared.grey_line(axes, (0, 1), (0, 0)))
        for i, c in drawn:
            b, (colour, dash) = c.benefit, look(i).values()
            with drawing.group(data_model=i):
                if banded:
                    drawing.add(axes.band(b.threshold, b.low, b.high, colour, opacity=0.13))
                drawing.add(axes.line(b.threshold, b.value, colour, dash=dash))
        drawing.add(axes.upright(doc.settings.threshold, data_threshold=""))
        return drawing

    columns: Any = {
        "Threshold probability": "number",
        "Net benefit": "number",
        "From": "number",
        "To": "number",
        "Everybody": "number",
    }
    names = ("threshold", "value", "low", "high", "treat_all")
    blocks = [(c.model, shared.rows_of(c.benefit, *names)) for _, c in drawn]
    return shared.figure("decision_curve", title, text, draw, shared.table(columns, blocks))


def _useful(drawn: Sequence[tuple[int, Any]]) -> str:
    """Between which thresholds each model is shown to be worth more than everybody and nobody."""
    told = []
    for _, c in drawn[: shared.NAMED]:
        b = c.benefit
        runs: list[list[float]] = [[]]
        for t, low, everybody in zip(b.threshold, b.low, b.treat_all, strict=True):
            if low > max(everybody, 0.0):
                runs[-1].append(t)
            elif runs[-1]:
                runs.append([])
        run = max(runs, key=len)
        name = f"{quoted(shared.shortened(c.model))} is" if len(drawn) > 1 else "The scores are"
        where = f" from {run[0]:g} to {run[-1]:g}" if run else ""
        told.append(f"{name}{'' if run else ' not'} shown to be worth more than either{where}")
    return "; ".join(told) + "."


CHOSEN = ("sensitivity", "precision", "alert_rate")


def chosen_cuts(doc: Any) -> Figure | None:
    """Sensitivity, precision and alert rate over thresholds, with the cuts that were chosen."""
    points = doc.points
    x = [t for t in points.threshold if t is not None]
    if len(x) < 2:
        return None
    title = "Rates over thresholds, and the cuts chosen"
    told = "; ".join(
        f"{c.name} cut {c.cut.threshold:.4g}: sensitivity {shared.estimate(c.sensitivity)}, precision "
        f"{shared.estimate(c.precision)}, alerts on {whole_percent(c.alert_rate.value or 0.0)} of rows"
        for c in doc.cuts
    )
    text = f"Bands: {shared.level(doc.settings.level)} intervals, pointwise. {told[:1].upper()}{told[1:]}."
    dashes = {"guaranteed": "", "plain": "5 3"}
    keys = [
        Key(f"{c.name} cut", f"{c.cut.threshold:.4g}", INK, dashes.get(c.name, "2 2.4"))
        for c in doc.cuts
    ]
    cuts = [(c.cut.threshold, dashes.get(c.name, "2 2.4")) for c in doc.cuts]
    if doc.reject is not None:
        both = (("clear below", doc.reject.low), ("alert from", doc.reject.high))
        keys += [Key(word, f"{at:.4g}", INK, "2 2.4") for word, at in both]
        cuts += [(at, "2 2.4") for _, at in both]
    unit = min(x) >= 0 and max(x) <= 1
    ends = (0.0, 1.0) if unit else (min(x), max(x))

    def draw() -> Drawing:
        names = [s.replace("_", " ").capitalize() for s in CHOSEN]
        drawing, made = shared.panels(
            "chosen_cuts", title, text, keys, names, ends, [(0.0, 1.0)] * 3,
            "threshold: alert from this score on", "", high=100.0,
        )  # fmt: skip
        for i, (name, axes) in enumerate(zip(CHOSEN, made, strict=True)):
            colour = look(i)["colour"]
            y = getattr(points, name)
            if name != "alert_rate":
                low, high = getattr(points, f"{name}_low"), getattr(points, f"{name}_high")
                drawing.add(axes.band(points.threshold, low, high, colour))
            drawing.add(axes.line(points.threshold, y, colour))
            for cut, dash in cuts:
                if axes.x.holds(cut):
                    at = axes.x.place(cut)
                    ends_ = [(at, axes.y.range[0]), (at, axes.y.range[1])]
                    drawing.add(line(ends_, INK, dash=dash, width=1.5, class_="sw-line"))
        return drawing

    columns: Any = {
        "Threshold": "number",
        **{s.replace("_", " ").capitalize(): "number" for s in CHOSEN},
    }
    rows = [*zip(points.threshold, *(getattr(points, s) for s in CHOSEN), strict=True)]
    return shared.figure("chosen_cuts", title, text, draw, shared.table(columns, [("", rows)]))
