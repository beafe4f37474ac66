"""How well scores rank: ROC, score-weighted ROC and precision-recall curves, with the operating point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from scorewise.colours import colour_of
from scorewise.curves.thresholds import Roc
from scorewise.figures import layout
from scorewise.figures.svg import PAPER, Axes, Drawing, Key, element, model_style
from scorewise.show.page import Figure
from scorewise.show.words import percent

MAX_HULLS = 1  # models up to which hulls are drawn: more would hide the curves
Points: TypeAlias = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class _Curves:
    """Curves on squares: places among all models, names and records, and the threshold to mark."""

    drawn: Sequence[tuple[int, str, Any]]
    threshold: float | None = None
    classes: bool = False  # rather than models, which can be switched off

    def figure(
        self,
        kind: str,
        title: str,
        text: str,
        words: tuple[str, str],
        heads: Sequence[str],
        keys: Sequence[Key],
        points: Callable[[Any], Points],
        *,
        first: int = 0,
        grey: Points | None = ((0, 1), (0, 1)),
        under: Callable[[Axes, Any, str], str] | None = None,
    ) -> Figure:
        """The curves through the points of each record, of which the data leave out those before `first`.

        `grey` is a line to compare with, and `under` draws what lies below a curve.
        """

        def draw() -> Drawing:
            drawing, axes = layout.unit_square(keys, words)
            if grey:
                drawing.add(layout.reference_line(axes, *grey))
            for i, _, c in self.drawn:
                colour, dash = model_style(i).values()
                with drawing.group(data_model=None if self.classes else i):
                    drawing.add(under(axes, c, colour) if under else "")
                    drawing.add(axes.line(*points(c), colour, dash=dash))
            if self.threshold is not None:
                for i, _, c in self.drawn:
                    # the last point whose threshold is at or above that of the settings
                    cuts = (t is None or t >= self.threshold for t in c.threshold)
                    at = max(k for k, above in enumerate(cuts) if above)
                    with drawing.group(data_model=i):
                        drawing.add(_mark(axes, i, points(c), at, first))
            return drawing

        rows = [(name, _table(c, points(c))[first:]) for _, name, c in self.drawn]
        return layout.figure(kind, title, text, heads, [x for x in rows if x[1]], draw)

    def weighted(self, areas: str, keys: Sequence[Key], points: Callable[[Any], Points]) -> Figure:
        """The score-weighted ROC curves."""
        text = (
            "Each row climbs by how far its score agrees with its label and runs by the rest, highest "
            f"scores first. {areas}."
        )
        words = ("share of all runs", "share of all climbs")
        heads = ["Threshold", "Share of runs", "Share of climbs"]
        title = "smROC: the ROC curve weighted by scores"
        return self.figure("smroc", title, text, words, heads, keys, points)


def _mark(axes: Axes, i: int, points: Points, at: int, first: int) -> str:
    """The operating point of a model, hidden where the curve has none."""
    drawn = at >= first and len(points[0]) > 0
    x, y = (of[at] if drawn else 0.0 for of in points)
    look = {"fill": colour_of(i), "stroke": PAPER, "stroke_width": 1.5}
    place = {"cx": axes.x.place(x), "cy": axes.y.place(y), "r": 5.5, "data_mark": i}
    return element("circle", **place, **look, display=None if drawn else "none")


def smroc(doc: Any) -> Iterator[Figure]:
    """The curves of a document of `smroc`."""
    drawn = [(i, c) for i, c in enumerate(doc.curves) if c.curve is not None and len(c.curve.x) > 1]
    if drawn:
        areas = [layout.ci_text(c.area) for _, c in drawn]
        names = [(i, c.name) for i, c in drawn]
        keys = layout.model_keys(names, [f"smAUC {area}" for area in areas])
        areas_of = f"smAUC: {layout.by_model([name for _, name in names], areas)}"
        curves = _Curves([(i, c.name, c.curve) for i, c in drawn])
        yield curves.weighted(areas_of, keys, lambda c: (_shares(c.x), _shares(c.y)))


def ranking(doc: Any) -> Iterator[Figure]:
    """The curves of a document of `evaluate`: of its models, or of its classes against the rest."""
    of = _Evaluated(doc)
    if of.drawn:
        yield of.roc()
        yield from of.smroc()
        yield of.precision_recall()


class _Evaluated(_Curves):
    """The curves of an evaluation, with their areas."""

    def __init__(self, doc: Any) -> None:
        drawn = [(i, c.model, c) for i, c in enumerate(doc.curves) if c.tp[-1] > 0 and c.fp[-1] > 0]
        classes, many, level = bool(doc.classes), len(doc.classes or ()), doc.settings.level
        super().__init__(drawn, None if classes else doc.settings.threshold, classes)
        self.level, self.records = percent(level), [c for _, _, c in drawn]
        self.owners = {o.name: o for o in (doc.classes if classes else doc.models)}
        each = "each class"
        if len(drawn) < many:
            each = f"the {len(drawn)} of lowest AUROC of {many} classes, each"
        self.each = f"s, {each} against the rest" if classes else ""

    def roc(self) -> Figure:
        """Sensitivity against the false positive rate."""
        areas, keys = self._areas("auroc", "AUROC")
        banded = any(c.tpr_low for c in self.records) and len(self.records) <= layout.MAX_BANDED
        bands = f" Bands: {self.level} Wilson intervals of sensitivity." if banded else ""
        text = f"Sensitivity against false positive rate over all thresholds. {areas}.{bands}"
        keys += [layout.band_key(f"{self.level} interval of sensitivity")] if banded else []
        keys.append(layout.reference_key("chance"))
        hulls = len(self.records) <= MAX_HULLS and not self.classes

        def under(axes: Axes, c: Any, colour: str) -> str:
            x, limits = _shares(c.fp), banded and c.tpr_low
            band = axes.band(x, c.tpr_low, c.tpr_high, colour) if limits else ""
            return band + (axes.line(*_hull(c), colour, width=1.0, opacity="0.7") if hulls else "")

        words = ("false positive rate", "true positive rate (sensitivity)")
        heads = ["Threshold", "False positive rate", "Sensitivity"]
        return self.figure(
            "roc", f"ROC curve{self.each}", text + self._drawn_to(), words, heads, keys,
            lambda c: (_shares(c.fp), _shares(c.tp)), under=under,
        )  # fmt: skip

    def smroc(self) -> Iterator[Figure]:
        """The score-weighted ROC curve, of those that have one."""
        weighted = {c.model for c in self.records if c.smroc_x}
        if weighted:
            areas, keys = self._areas("smauc", "smAUC")
            keys = [key for key in keys if key.name in weighted]
            yield self.weighted(areas, keys, lambda c: (c.smroc_x, c.smroc_y))

    def precision_recall(self) -> Figure:
        """Precision against recall."""
        areas, keys = self._areas("average_precision", "Average precision", "AP")
        shares = {c.tp[-1] / (c.tp[-1] + c.fp[-1]) for c in self.records}
        grey, random = None, ""
        if len(shares) == 1:
            (base,) = shares
            grey = (0, 1), (base, base)
            random = f"; alerting at random has the prevalence, {base:.3g}"
            keys.append(layout.reference_key("prevalence", f"{base:.3g}"))
        text = f"Precision against recall over all thresholds. {areas}{random}."
        words, heads = ("recall (sensitivity)", "precision"), ["Threshold", "Recall", "Precision"]
        title = f"Precision-recall curve{self.each}"
        return self.figure(
            "precision_recall", title, text + self._drawn_to(), words, heads, keys,
            lambda c: (_shares(c.tp), _precision(c)), first=1, grey=grey,
        )  # fmt: skip

    def _areas(self, name: str, title: str, short: str = "") -> tuple[str, list[Key]]:
        """The areas in a sentence, and in the legend."""
        names = [model for _, model, _ in self.drawn]
        areas = [layout.ci_text(layout.defined_measure(self.owners[n], name)) for n in names]
        texts = [f"{short or title} {area}" if area else "" for area in areas]
        keys = layout.model_keys([(i, model) for i, model, _ in self.drawn], texts)
        if self.classes:
            keys = [replace(key, model=None) for key in keys]
        text = layout.by_model(names, areas) or "has no value"
        return f"{title}{':' if len(areas) > 1 and any(areas) else ''} {text}", keys

    def _drawn_to(self) -> str:
        error = max(c.error for c in self.records)
        return f" Lines are drawn to within {error:g} of the whole curves." if error else ""


def _shares(weights: Sequence[float]) -> list[float]:
    return [w / weights[-1] for w in weights]


def _precision(c: Any) -> list[float]:
    return [a / (a + b) if a + b else 1.0 for a, b in zip(c.tp, c.fp, strict=True)]


def _hull(c: Any) -> Points:
    """The least concave curve above the ROC curve of a record."""
    climb, run = (np.diff(x)[::-1] for x in (c.tp, c.fp))
    hull = Roc.walk(climb, run, np.zeros(len(run))).hull()
    return hull.x.tolist(), hull.y.tolist()


def _table(c: Any, points: Points) -> list[tuple[Any, ...]]:
    """The points of a record with their thresholds."""
    at = ["above all" if t is None else float(f"{t:.4g}") for t in c.threshold]
    return [*zip(at, *points, strict=True)] if points[0] else []
