"""Scores and probabilities: their density in each class, suspicious rows, calibration, recalibration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

from scorewise.colours import BLUE, GREY, NEGATIVE, POSITIVE, VERMILION
from scorewise.figures import layout
from scorewise.figures.forest import Forest, Mark, ReferenceLine, Row
from scorewise.figures.layout import ci_text, defined_measure
from scorewise.figures.scale import Kind, Scale
from scorewise.figures.svg import (
    DASHES,
    Axes,
    Drawing,
    Key,
    area,
    axis_line,
    dot,
    element,
    escaped,
    label,
)
from scorewise.show.page import Figure
from scorewise.show.words import count, percent, whole_percent
from scorewise.tallies.losses import expit_of

# times that a class may peak above the other, or the rest, before its top is cut off
MAX_PEAK_RATIO = 6
MIN_PEAK_LEFT = 1 / 12  # of a peak that is cut off
MIN_SHARE_BELOW = 0.25  # of a class, for which the peak beside it is cut off
HISTOGRAM_HEIGHT = 44.0  # of those below a reliability curve


def densities(doc: Any) -> Iterator[Figure]:
    """How the scores of each class are spread, a panel for each model."""
    drawn = [(i, c) for i, c in enumerate(doc.curves) if c.density is not None]
    if not drawn:
        return
    summary = layout.by_model(
        [c.model for _, c in drawn], [_above_threshold(doc.models[i]) for i, _ in drawn]
    )
    text = f"Density of the scores of each class, each of area 1. At or above the threshold: {summary}."
    keys = [*class_keys(doc.data), layout.threshold_key(doc.settings.threshold)]
    tops = [density_top(c.density) for _, c in drawn]
    cut = " (tops cut off)" if any(c for _, c in tops) else ""

    def draw() -> Drawing:
        drawing, axes_of = density_panels(
            [(c.model, c.density) for _, c in drawn],
            keys,
            [(0.0, top) for top, _ in tops],
            f"density{cut}",
            (200.0, 120.0),
        )
        for (i, c), axes in zip(drawn, axes_of, strict=True):
            with drawing.group(data_model=i):
                drawing.add(class_densities(axes, c.density))
            drawing.add(axes.vertical_line(doc.settings.threshold, data_threshold=""))
        return drawing

    blocks = [
        (c.model, layout.columns_as_rows(c.density, "x", "negative", "positive")) for _, c in drawn
    ]
    heads = ["Score", "Negatives", "Positives"]
    yield layout.figure("density", "Scores of each class", text, heads, blocks, draw)


def suspects(doc: Any) -> Iterator[Figure]:
    """The most suspicious rows of each model, below the densities of the scores of both classes."""
    drawn = [(i, m) for i, m in enumerate(doc.models) if m.suspicious and m.density is not None]
    if not drawn:
        return
    worst = max((r for _, m in drawn for r in m.suspicious), key=lambda r: r.suspicion)
    text = (
        "Density of the scores of each class; dots below are the most suspicious rows in the colour of "
        f"their label. First: row {worst.row}, {worst.reason}."
    )
    keys = [*class_keys(doc.data), Key("midpoint", colour=GREY, dash=DASHES[1])]
    tops = [density_top(m.density)[0] for _, m in drawn]

    def draw() -> Drawing:
        named, ends = [(m.name, m.density) for _, m in drawn], [(-0.26 * top, top) for top in tops]
        drawing, axes_of = density_panels(named, keys, ends, "density", (220.0, 140.0))
        for (m, _), axes, top in zip(drawing.each_model(drawn), axes_of, tops, strict=True):
            drawing.add(class_densities(axes, m.density))
            if m.midpoint is not None and axes.x.holds(m.midpoint):
                drawing.add(axes.line((m.midpoint, m.midpoint), (0, top), GREY, dash=DASHES[1]))
            for r in m.suspicious:
                up = r.set.endswith("positive") if r.set else str(r.label) == str(doc.data.positive)
                x = axes.x.inside(expit_of(r.score) if m.kind == "logit" else r.score)
                y = axes.y.place((-0.17 if up else -0.08) * top)
                look = {"fill": POSITIVE if up else NEGATIVE, "fill_opacity": "0.75"}
                tip = element("title", escaped(f"row {r.row}: {r.reason}"))
                drawing.add(element("circle", tip, cx=x, cy=y, r=4.5, **look))
        return drawing

    heads: Any = [("Row", "count"), ("Label", "name"), "Score", "Suspicion", ("Why", "text")]
    blocks = [
        (m.name, [(r.row, str(r.label), r.score, r.suspicion, r.reason) for r in m.suspicious])
        for _, m in drawn
    ]
    title = "Rows whose label contradicts the score"
    yield layout.figure("suspects", title, text, heads, blocks, draw)


def density_panels(
    named: Sequence[tuple[str, Any]],
    keys: Sequence[Key],
    ends: Sequence[tuple[float, float]],
    title: str,
    highs: tuple[float, float],
) -> tuple[Drawing, list[Axes]]:
    """A panel for the densities of each model, so high where it is the only one, or else so high."""
    several = len(named) > 1
    x = min(d.x[0] for _, d in named), max(d.x[-1] for _, d in named)
    names = [name if several else "" for name, _ in named]
    return layout.panels(keys, names, x, ends, ("score", title), up=False, high=highs[several])


def class_keys(data: Any) -> list[Key]:
    """The classes in the legend, with their labels where these are known, each in its colour."""
    negative, positive = (
        word if label is None else f"{word} ({label})"
        for word, label in (("negatives", data.negative), ("positives", data.positive))
    )
    return [Key(negative, colour=NEGATIVE), Key(positive, colour=POSITIVE, dash=DASHES[1])]


def class_densities(axes: Axes, d: Any) -> str:
    """The densities of negatives and positives, each shaded down to 0."""
    foot, drawn = axes.y.place(0.0), []
    for y, colour, dash in ((d.negative, NEGATIVE, ""), (d.positive, POSITIVE, DASHES[1])):
        shape = [*axes.points(d.x, y)]
        drawn.append(
            area([(shape[0][0], foot), *shape, (shape[-1][0], foot)], colour, opacity=0.13)
        )
        drawn.append(axes.line(d.x, [min(v, axes.y.domain[1]) for v in y], colour, dash=dash))
    return "".join(drawn)


def _above_threshold(model: Any) -> str:
    up, down = (defined_measure(model, name) for name in ("sensitivity", "specificity"))
    if up is None or down is None:
        return ""
    return f"{whole_percent(up.value)} of positives, {whole_percent(1 - down.value)} of negatives"


def density_top(d: Any) -> tuple[float, bool]:
    """How high the axis of densities has to be, and whether the top of one is cut off."""
    low, high = sorted((max(d.negative), max(d.positive)))
    steep = high > MAX_PEAK_RATIO * low > 0
    top = MAX_PEAK_RATIO * low if steep else 1.08 * high or 1.0
    # both classes may peak at one end, above where many rows of one lie
    usual = sorted(map(max, d.negative, d.positive))[len(d.x) * 4 // 5]
    less = max(MAX_PEAK_RATIO * usual, MIN_PEAK_LEFT * high)
    share_below = max(_share_below(d.x, y, less) for y in (d.negative, d.positive))
    return (less, True) if less < top / 1.5 and share_below > MIN_SHARE_BELOW else (top, steep)


def _share_below(x: Sequence[float], y: Sequence[float], top: float) -> float:
    """The share of the area under a line that lies where it is below a height."""
    parts = [(b - a) * (v + w) / 2 for (a, v), (b, w) in pairwise(zip(x, y, strict=True))]
    below = [part for part, v in zip(parts, y, strict=False) if v < top]
    return sum(below) / (sum(parts) or 1.0)


def reliability(doc: Any) -> Iterator[Figure]:
    """The share of positives over the probability with its band, and histograms of the probabilities."""
    drawn = [(i, c) for i, c in enumerate(doc.curves) if c.reliability and c.reliability.x]
    if not drawn:
        return
    texts, shorts = zip(*(_calibration(doc.models[i]) for i, _ in drawn), strict=True)
    summary = layout.by_model([c.model for _, c in drawn], texts)
    banded, level = len(drawn) <= layout.MAX_BANDED, percent(doc.settings.level)
    where = f"Bands: where {level} of the curves of calibrated scores lie. " if banded else ""
    text = (
        "Share of positives over the predicted probability (isotonic regression); on the dotted line "
        f"scores are calibrated. {where}Below: how many rows got each probability, dark the positives. "
        f"{summary[:1].upper()}{summary[1:]}."
    )
    keys = layout.model_keys([(i, c.model) for i, c in drawn], shorts)
    keys += [layout.band_key(f"{level} band if calibrated")] if banded else []
    keys += [layout.reference_key("calibrated"), layout.threshold_key(doc.settings.threshold)]

    def draw(axis: Kind) -> Drawing:
        below = (HISTOGRAM_HEIGHT + 8) * len(drawn) + 10
        words = ("", "share of positives")
        drawing, axes = layout.unit_square(keys, words, scale=axis, below=below, data_axis=axis)
        drawing.add(layout.reference_line(axes, axes.x.domain, axes.y.domain))
        for c, of in drawing.each_model(drawn) if banded else ():
            r = c.reliability
            drawing.add(axes.band(r.x, r.low, r.high, of["colour"], opacity=0.14))
        for c, of in drawing.each_model(drawn):
            drawing.add(axes.line(c.reliability.x, c.reliability.y, **of))
        drawing.add(axes.vertical_line(doc.settings.threshold, data_threshold=""))
        top = axes.y.range[0] + 30
        for c, of in drawing.each_model(drawn):
            drawing.add(_histogram(axes.x, top, c.reliability, of["colour"]))
            top += HISTOGRAM_HEIGHT + 8
        middle = layout.LEFT + layout.SIDE / 2
        drawing.add(label(middle, top + 14, "predicted probability", anchor="middle", size=14))
        return drawing

    heads = ["Probability", "Share of positives", "Band from", "to"]
    blocks = [
        (c.model, layout.columns_as_rows(c.reliability, "x", "y", "low", "high")) for _, c in drawn
    ]
    straight, logit = partial(draw, "linear"), partial(draw, "logit")
    yield layout.figure("reliability", "Reliability", text, heads, blocks, straight, logit=logit)


def _calibration(m: Any) -> tuple[str, str]:
    """Slope and ECE of a model in a sentence, and one of them in the legend."""
    texts, short = [], ""
    if ece := defined_measure(m, "ece"):
        expected = "" if ece.expected is None else f" (calibrated scores get {ece.expected:.3f})"
        texts, short = [f"ECE {ece.value:.3f}{expected}"], f"ECE {ci_text(ece)}"
    if slope := defined_measure(m, "calibration_slope"):
        short = f"slope {ci_text(slope)}"
        texts.insert(0, short)
    return ", ".join(texts), short


def _histogram(x: Scale, top: float, r: Any, colour: str) -> str:
    """Bars of all rows, the positives among them dark, over a line."""
    totals = [a + b for a, b in zip(r.positives, r.negatives, strict=True)]
    most, foot = max(totals) or 1.0, top + HISTOGRAM_HEIGHT

    def stairs(heights: Sequence[float]) -> list[tuple[float, float]]:
        points = [(x.range[0], foot)]
        for k, high in enumerate(heights):
            y = foot - (max(high / most * HISTOGRAM_HEIGHT, 0.7) if high else 0.0)
            points += [(x.inside(r.edges[k]), y), (x.inside(r.edges[k + 1]), y)]
        return [*points, (x.range[1], foot)]

    return (
        area(stairs(totals), colour, opacity=0.3)
        + area(stairs(r.positives), colour, opacity=0.9)
        + axis_line(*x.range, foot)
        + label(x.range[0] - 8, foot, "0", anchor="end", size=11)
        + label(x.range[0] - 8, top + 9, count(most), anchor="end", size=11)
    )


def recalibration(doc: Any) -> Iterator[Figure]:
    """Log loss of each method on rows not seen, and calibration before and after."""
    rows = [r for r in doc.table if r.log_loss.value is not None]
    if not rows:
        return
    before = next((r for r in rows if r.method == "identity"), None)
    after = next((r for r in rows if r.method == doc.chosen), None)
    saved = f", which saves {ci_text(after.gain)}" if after and doc.chosen != "identity" else ""
    text = (
        f"Log loss on rows not seen in fitting, with {percent(doc.settings.level)} intervals. "
        f"Chosen: {doc.chosen}{saved}."
    )
    marks = []
    for r in rows:
        colour = BLUE if r is after else GREY
        mark = Mark.of(r.log_loss, colour, r is after)
        marks.append(Row("as they are" if r is before else str(r.method), [mark]))
    lines = [ReferenceLine(before.log_loss.value, "as they are")] if before else []
    forest = Forest(marks, "log loss", lines)
    yield forest.figure("recalibration", "Methods of recalibration", text)
    if before and after and before is not after and hasattr(before, "slope"):
        yield from _before_and_after(before, after)


def _before_and_after(before: Any, after: Any) -> Iterator[Figure]:
    pairs = {
        "Slope (ideal: 1)": (before.slope, after.slope),
        "In the large (ideal: 0)": (before.in_the_large, after.in_the_large),
    }
    rows = [
        Row(title, [Mark.of(a, VERMILION, False), Mark.of(b, BLUE)])
        for title, (a, b) in pairs.items()
        if a.value is not None and b.value is not None
    ]
    if rows:
        text = (
            f"Before: slope {ci_text(before.slope)}; after {after.method}: {ci_text(after.slope)}."
        )
        lines = [ReferenceLine(0.0), ReferenceLine(1.0)]
        keys = [dot("before", VERMILION), dot("after", BLUE)]
        forest = Forest(rows, "on the scale of log-odds", lines, keys=keys)
        yield forest.figure("before_after", "Calibration before and after", text)
