"""What changed: samples over time, scores before and after a map, and rows that stand out."""

from __future__ import annotations

from typing import Any

from scorewise.colours import BLUE, GREY, NEGATIVE, POSITIVE, VERMILION
from scorewise.figures.agreement import mark
from scorewise.figures.forest import Forest, Mark, Row, Upright, forest_figure
from scorewise.figures.scale import step
from scorewise.figures.scores import class_densities, class_keys, class_names, density_top
from scorewise.figures.shared import called, estimate, figure, level, panels, shortened, table
from scorewise.figures.svg import Drawing, Key, element, escaped, line
from scorewise.show.page import Figure
from scorewise.show.words import is_least, p_value, value
from scorewise.tallies.losses import expit_of

WINDOWS = 60
DOTS: tuple[dict[str, Any], ...] = (
    {"fill": NEGATIVE, "fill_opacity": "0.75"},
    {"fill": POSITIVE, "fill_opacity": "0.75"},
)


def drift(doc: Any) -> list[Figure]:
    """How large each change is beside what chance makes of it, and areas over windows."""
    made = [sizes(doc), windows(doc)]
    return [f for f in made if f is not None]


def sizes(doc: Any) -> Figure | None:
    """Each statistic of the last window, in units of what chance alone reaches."""
    last = doc.windows[-1]
    known = [c for c in last.changes if c.value is not None and c.by_chance]
    if not known:
        return None
    title = f"Changes of {shortened(last.name, 40)}"
    alpha = 1 - doc.settings.level
    sure = {c.name for c in known if c.p_adjusted is not None and c.p_adjusted <= alpha}
    told = ", ".join(c.title for c in known if c.name in sure) or "none"
    text = (
        "How large each change is, in units of what chance alone keeps within in "
        f"{level(doc.settings.level)} of cases. Shown to have changed, with all tests allowed for: {told}."
    )
    rows = []
    for c in known:
        size, colour = abs(c.value) / c.by_chance, VERMILION if c.name in sure else GREY
        stem = Mark(size, 0.0, size, colour, c.name in sure, label=f"{size:.2f}\u00d7")
        p = p_value(c.p_adjusted, least=is_least(c.p, doc.settings.replicates))
        rows.append(Row(c.title, [stem], f"{value(c)}, p {p}"))
    keys = [
        Key("changed", colour=VERMILION, shape="mark"),
        Key("not told apart from chance", colour=GREY, shape="mark"),
    ]
    forest = Forest(
        rows,
        "size of the change, as a multiple of chance",
        [Upright(1.0, "chance"), Upright(0.0)],
        (0.0, None),
        keys=keys,
    )
    columns: Any = {
        "Statistic": "title",
        "Change": "number",
        "By chance": "number",
        "p (adjusted)": "p",
    }
    data = [(c.title, c.value, c.by_chance, c.p_adjusted) for c in known]
    return forest_figure("drift", title, text, forest, table(columns, [("", data)]))


def windows(doc: Any) -> Figure | None:
    """AUROC and midpoint of each window in order of time, over those of the reference."""
    if len(doc.windows) < 2:
        return None
    shown = [*doc.windows][-WINDOWS:]
    names = {"auroc": "AUROC", "midpoint": "Mean score", "prevalence": "Prevalence"}
    kept = {k: t for k, t in names.items() if sum(getattr(w, k) is not None for w in shown) > 1}
    if not kept:
        return None
    changed = [w.name for w in shown if w.evidence]
    title = "Windows in order of time"
    told = f" Drift is seen in {called(changed)}." if changed else ""
    text = f"{', '.join(kept.values())} of each window; dashed: the reference.{told}"

    def draw() -> Drawing:
        ranges = []
        for k in kept:
            values = [v for w in (doc.reference, *shown) if (v := getattr(w, k)) is not None]
            low, high = min(values), max(values)
            by = step(max(high - low, 0.02) / 3)
            ranges.append((by * int(low / by), by * (int(high / by) + 1)))
        keys = [
            Key("reference", colour=GREY, dash="7 3"),
            Key("drift", colour=VERMILION, shape="mark"),
        ]
        drawing, made = panels(
            "drift_windows",
            title,
            text,
            keys,
            [*kept.values()],
            (-0.5, len(shown) - 0.5),
            ranges,
            "",
            "",
            high=96.0,
        )
        drawing.attributes = {}
        for k, axes in zip(kept, made, strict=True):
            base = getattr(doc.reference, k)
            if base is not None:
                drawing.add(axes.line(axes.x.domain, (base, base), GREY, dash="7 3", width=1.5))
            drawing.add(axes.line(range(len(shown)), [getattr(w, k) for w in shown], BLUE))
            for i, w in enumerate(shown):
                if (v := getattr(w, k)) is not None:
                    fill = VERMILION if w.name in changed else BLUE
                    drawing.add(
                        element("circle", cx=axes.x.place(i), cy=axes.y.place(v), r=4, fill=fill)
                    )
        return drawing

    columns: Any = {"Window": "name", **dict.fromkeys(kept.values(), "number")}
    data = [(w.name, *(getattr(w, k) for k in kept)) for w in shown]
    return figure("drift_windows", title, text, draw, table(columns, [("", data)]))


def recalibration(doc: Any) -> list[Figure]:
    """Log loss of each method on rows not seen, and calibration before and after."""
    rows = [r for r in doc.table if r.log_loss.value is not None]
    if not rows:
        return []
    before = next((r for r in rows if r.method == "identity"), None)
    after = next((r for r in rows if r.method == doc.chosen), None)
    title = "Methods of recalibration"
    text = f"Log loss on rows not seen in fitting, with {level(doc.settings.level)} intervals. "
    text += f"Chosen: {doc.chosen}"
    text += f", which saves {estimate(after.gain)}." if after and doc.chosen != "identity" else "."
    marks = [
        Row(
            _method(r),
            [mark(r.log_loss, BLUE if r.method == doc.chosen else GREY, r.method == doc.chosen)],
        )
        for r in rows
    ]
    lines = [Upright(before.log_loss.value, "as they are")] if before else []
    made = [forest_figure("recalibration", title, text, Forest(marks, "log loss", lines))]
    if before and after and before is not after and hasattr(before, "slope"):
        pairs = [
            ("Slope (ideal: 1)", "slope"),
            ("In the large (ideal: 0)", "in_the_large"),
        ]
        both = [
            Row(t, [mark(getattr(before, n), VERMILION, False), mark(getattr(after, n), BLUE)])
            for t, n in pairs
            if getattr(before, n).value is not None and getattr(after, n).value is not None
        ]
        if both:
            title = "Calibration before and after"
            text = f"Before: slope {estimate(before.slope)}; after {doc.chosen}: {estimate(after.slope)}."
            keys = [
                Key("before", colour=VERMILION, shape="mark"),
                Key("after", colour=BLUE, shape="mark"),
            ]
            forest = Forest(
                both, "on the scale of log-odds", [Upright(0.0), Upright(1.0)], keys=keys
            )
            made.append(forest_figure("before_after", title, text, forest))
    return made


def _method(r: Any) -> str:
    return "as they are" if r.method == "identity" else str(r.method)


def suspects(doc: Any) -> Figure | None:
    """The most suspicious rows of each model, below the densities of the scores of both classes."""
    drawn = [(i, m) for i, m in enumerate(doc.models) if m.suspicious and m.density is not None]
    if not drawn:
        return None
    title, names = "Rows whose label contradicts the score", class_names(doc.data)
    worst = max((r for _, m in drawn for r in m.suspicious), key=lambda r: r.suspicion)
    text = (
        "Density of the scores of each class; dots below are the most suspicious rows in the colour of "
        f"their label. First: row {worst.row}, {worst.reason}."
    )
    keys = [*class_keys(names), Key("midpoint", colour=GREY, dash="7 3")]
    ends = min(m.density.x[0] for _, m in drawn), max(m.density.x[-1] for _, m in drawn)
    tops = [density_top(m.density)[0] for _, m in drawn]

    def draw() -> Drawing:
        titles = [m.name if len(drawn) > 1 else "" for _, m in drawn]
        drawing, made = panels(
            "suspects", title, text, keys, titles, ends, [(-0.26 * top, top) for top in tops], "score",
            "density", y_ticks=False, high=220.0 if len(drawn) == 1 else 140.0,
        )  # fmt: skip
        for (i, m), axes, top in zip(drawn, made, tops, strict=True):
            with drawing.group(data_model=i):
                drawing.add(class_densities(axes, m.density))
                if m.midpoint is not None and axes.x.holds(m.midpoint):
                    at = axes.x.place(m.midpoint)
                    drawing.add(
                        line([(at, axes.y.place(0.0)), (at, axes.y.range[1])], GREY, dash="7 3")
                    )
                for r in m.suspicious:
                    up = (
                        r.set.endswith("positive")
                        if r.set
                        else str(r.label) == str(doc.data.positive)
                    )
                    score = expit_of(r.score) if m.kind == "logit" else r.score
                    place = {
                        "cx": axes.x.inside(score),
                        "cy": axes.y.place((-0.17 if up else -0.08) * top),
                    }
                    told = element("title", escaped(f"row {r.row}: {r.reason}"))
                    drawing.add(element("circle", told, **place, r=4.5, **DOTS[up]))
        return drawing

    columns: Any = {
        "Row": "count",
        "Label": "name",
        "Score": "number",
        "Suspicion": "number",
        "Why": "text",
    }
    blocks = [
        (m.name, [(r.row, str(r.label), r.score, r.suspicion, r.reason) for r in m.suspicious])
        for _, m in drawn
    ]
    return figure("suspects", title, text, draw, table(columns, blocks))
