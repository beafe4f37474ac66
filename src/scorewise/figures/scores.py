"""Scores and what they say: how they are spread in each class, and whether they are calibrated."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from scorewise.colours import GREY, NEGATIVE, POSITIVE
from scorewise.figures import shared
from scorewise.figures.scale import Kind, Scale
from scorewise.figures.svg import DASHES, QUIET, Axes, Drawing, Key, area, element, look, said
from scorewise.show.page import Figure
from scorewise.show.words import count, whole_percent

STEEP = 6  # how many times a class may peak above the other, or the rest, before its top is cut off
LEAST, BESIDE = (
    1 / 12,
    0.25,
)  # of a peak that is cut off: the part left; the rows of a class beside it
STRIP = 44.0  # height of a histogram below a reliability curve


def class_names(data: Any) -> list[str]:
    """Negatives and positives, with their labels where these are known."""
    labels = {"negatives": data.negative, "positives": data.positive}
    return [f"{word} ({label})" if label is not None else word for word, label in labels.items()]


def densities(doc: Any) -> Figure | None:
    """How the scores of each class are spread, a panel for each model."""
    drawn = [(i, c) for i, c in enumerate(doc.curves) if c.density is not None]
    if not drawn:
        return None
    title, names = "Scores of each class", class_names(doc.data)
    told = shared.by_model([c.model for _, c in drawn], [_above(doc.models[i]) for i, _ in drawn])
    text = (
        f"Density of the scores of each class, each of area 1. At or above the threshold: {told}."
    )
    keys = [*class_keys(names), shared.threshold_key(doc.settings.threshold)]
    ends = min(c.density.x[0] for _, c in drawn), max(c.density.x[-1] for _, c in drawn)
    tops = [density_top(c.density) for _, c in drawn]

    def draw() -> Drawing:
        titles = [c.model if len(drawn) > 1 else "" for _, c in drawn]
        cut = " (tops cut off)" if any(c for _, c in tops) else ""
        drawing, made = shared.panels(
            "density", title, text, keys, titles, ends, [(0.0, top) for top, _ in tops], "score",
            f"density{cut}", y_ticks=False, high=200.0 if len(drawn) == 1 else 120.0,
        )  # fmt: skip
        for (i, c), axes in zip(drawn, made, strict=True):
            with drawing.group(data_model=i):
                drawing.add(class_densities(axes, c.density))
            drawing.add(axes.upright(doc.settings.threshold, data_threshold=""))
        return drawing

    columns: Any = {"Score": "number", "Negatives": "number", "Positives": "number"}
    blocks = [(c.model, shared.rows_of(c.density, "x", "negative", "positive")) for _, c in drawn]
    return shared.figure("density", title, text, draw, shared.table(columns, blocks))


def class_keys(names: Sequence[str]) -> list[Key]:
    """The classes in the legend, each in its colour everywhere."""
    return [Key(names[0], colour=NEGATIVE), Key(names[1], colour=POSITIVE, dash=DASHES[1])]


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


def _above(model: Any) -> str:
    tpr, tnr = shared.measure(model, "sensitivity"), shared.measure(model, "specificity")
    if tpr is None or tnr is None:
        return ""
    return f"{whole_percent(tpr.value)} of positives, {whole_percent(1 - tnr.value)} of negatives"


def density_top(d: Any) -> tuple[float, bool]:
    """How high the axis of densities has to be, and whether the top of one is cut off."""
    low, high = sorted((max(d.negative), max(d.positive)))
    steep = high > STEEP * low > 0
    top = STEEP * low if steep else 1.08 * high or 1.0
    # both classes may peak at one end, above where many rows of one lie
    usual = sorted(map(max, d.negative, d.positive))[len(d.x) * 4 // 5]
    less = max(STEEP * usual, LEAST * high)
    beside = max(_share_below(d.x, y, less) for y in (d.negative, d.positive))
    return (less, True) if less < top / 1.5 and beside > BESIDE else (top, steep)


def _share_below(x: Sequence[float], y: Sequence[float], top: float) -> float:
    """The share of the area under a line that lies where it is below a height."""
    parts = [(b - a) * (v + w) / 2 for (a, v), (b, w) in pairwise(zip(x, y, strict=True))]
    below = [part for part, v in zip(parts, y, strict=False) if v < top]
    return sum(below) / (sum(parts) or 1.0)


def reliability(doc: Any) -> Figure | None:
    """The share of positives over the probability with its band, and histograms of the probabilities."""
    drawn = [
        (i, c) for i, c in enumerate(doc.curves) if c.reliability is not None and c.reliability.x
    ]
    if not drawn:
        return None
    told = shared.by_model(
        [c.model for _, c in drawn], [_calibrated(doc.models[i]) for i, _ in drawn]
    )
    title, banded = "Reliability", len(drawn) <= shared.BANDED
    where = (
        f"Bands: where {shared.level(doc.settings.level)} of the curves of calibrated scores lie. "
    )
    text = (
        "Share of positives over the predicted probability (isotonic regression); on the dotted line "
        f"scores are calibrated. {where if banded else ''}Below: how many rows got each probability, dark "
        f"the positives. {told[:1].upper()}{told[1:]}."
    )
    keys = shared.model_keys(drawn, [_slope(doc.models[i]) for i, _ in drawn])
    if banded:
        keys.append(
            Key(f"{shared.level(doc.settings.level)} band if calibrated", colour=GREY, shape="band")
        )
    keys += [
        Key("calibrated", colour=GREY, dash=DASHES[2]),
        shared.threshold_key(doc.settings.threshold),
    ]

    def draw(axis: Kind) -> Drawing:
        below = (STRIP + 8) * len(drawn) + 10
        hidden = {"display": "none"} if axis == "logit" else {}
        drawing, axes = shared.square(
            "reliability", title, text, keys, ("", "share of positives"), scale=axis, below=below,
            data_axis=axis, **hidden,
        )  # fmt: skip
        drawing.add(shared.grey_line(axes, axes.x.domain, axes.y.domain))
        for i, c in drawn if banded else ():
            r = c.reliability
            with drawing.group(data_model=i):
                drawing.add(axes.band(r.x, r.low, r.high, look(i)["colour"], opacity=0.14))
        for i, c in drawn:
            r, (colour, dash) = c.reliability, look(i).values()
            with drawing.group(data_model=i):
                drawing.add(axes.line(r.x, r.y, colour, dash=dash))
        drawing.add(axes.upright(doc.settings.threshold, data_threshold=""))
        top = axes.y.range[0] + 30
        for i, c in drawn:
            with drawing.group(data_model=i):
                drawing.add(_histogram(axes.x, top, c.reliability, look(i)["colour"]))
            top += STRIP + 8
        drawing.add(
            said(
                shared.LEFT + shared.SIDE / 2,
                top + 14,
                "predicted probability",
                anchor="middle",
                size=14,
            )
        )
        return drawing

    columns: Any = {
        "Probability": "number",
        "Share of positives": "number",
        "Band from": "number",
        "to": "number",
    }
    blocks = [(c.model, shared.rows_of(c.reliability, "x", "y", "low", "high")) for _, c in drawn]
    data = shared.table(columns, blocks)
    return Figure("reliability", title, text, lambda: f"{draw('linear')}{draw('logit')}", data)


def _slope(m: Any) -> str:
    slope, ece = shared.measure(m, "calibration_slope"), shared.measure(m, "ece")
    return (
        f"slope {shared.estimate(slope)}" if slope else f"ECE {shared.estimate(ece)}" if ece else ""
    )


def _calibrated(m: Any) -> str:
    slope, ece = shared.measure(m, "calibration_slope"), shared.measure(m, "ece")
    words = [f"slope {shared.estimate(slope)}" if slope else ""]
    if ece is not None:
        expected = "" if ece.expected is None else f" (calibrated scores get {ece.expected:.3f})"
        words.append(f"ECE {ece.value:.3f}{expected}")
    return ", ".join(filter(None, words))


def _histogram(x: Scale, top: float, r: Any, colour: str) -> str:
    """Bars of all rows, the positives among them dark, over a line."""
    totals = [a + b for a, b in zip(r.positives, r.negatives, strict=True)]
    most, foot = max(totals) or 1.0, top + STRIP

    def stairs(heights: Sequence[float]) -> list[tuple[float, float]]:
        points = [(x.range[0], foot)]
        for k, high in enumerate(heights):
            y = foot - (max(high / most * STRIP, 0.7) if high else 0.0)
            points += [(x.inside(r.edges[k]), y), (x.inside(r.edges[k + 1]), y)]
        return [*points, (x.range[1], foot)]

    return (
        area(stairs(totals), colour, opacity=0.3)
        + area(stairs(r.positives), colour, opacity=0.9)
        + element(
            "path",
            d=f"M{x.range[0]:.0f} {foot:.1f}H{x.range[1]:.0f}",
            stroke=QUIET,
            class_="sw-axis",
        )
        + said(x.range[0] - 8, foot, "0", anchor="end", size=11)
        + said(x.range[0] - 8, top + 9, count(most), anchor="end", size=11)
    )
