"""How well scores rank: ROC, score-weighted ROC and precision-recall curves, with the operating point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scorewise.colours import GREY
from scorewise.figures import shared
from scorewise.figures.svg import DASHES, PAPER, Axes, Drawing, Key, element, look
from scorewise.show.page import Figure

HULLS = 1  # models up to which hulls are drawn: more would hide the curves


def ranking(doc: Any) -> list[Figure]:
    """The curves of a document of `evaluate`: of its models, or of its classes against the rest."""
    of = _Curves(doc)
    made = [of.roc(), of.smroc(), of.precision_recall()]
    return [f for f in made if f is not None]


class _Curves:
    """Curves of all models of a document, on squares."""

    def __init__(self, doc: Any) -> None:
        self.doc, self.settings = doc, doc.settings
        self.classes = bool(doc.classes)
        self.records = [c for c in doc.curves if c.tp[-1] > 0 and c.fp[-1] > 0]
        self.places = [doc.curves.index(c) for c in self.records]
        self.names = [c.model for c in self.records]
        self.each = ""
        if self.classes:
            most, of = len(self.records), len(doc.classes)
            few = f"the {most} of lowest AUROC of {of} classes, " if most < of else ""
            self.each = f"s, {few}each {'' if few else 'class '}against the rest"

    def roc(self) -> Figure | None:
        """Sensitivity against the false positive rate."""
        if not self.records:
            return None
        title = f"ROC curve{self.each}"
        banded = any(c.tpr_low for c in self.records) and len(self.records) <= shared.BANDED
        text = (
            f"Sensitivity against false positive rate over all thresholds. {self._areas('auroc', 'AUROC')}."
            f"{self._band(banded)} {self._error()}"
        ).rstrip()
        keys = [*self._keys("auroc", "AUROC"), Key("chance", "", GREY, DASHES[2])]
        if banded:
            keys.insert(
                -1,
                Key(
                    f"{shared.level(self.settings.level)} interval of sensitivity",
                    colour=GREY,
                    shape="band",
                ),
            )

        def draw() -> Drawing:
            drawing, axes = shared.square(
                "roc",
                title,
                text,
                keys,
                ("false positive rate", "true positive rate (sensitivity)"),
            )
            drawing.add(shared.grey_line(axes, (0, 1), (0, 1)))
            for i, c in zip(self.places, self.records, strict=True):
                x, y = _shares(c.fp), _shares(c.tp)
                low, high = (c.tpr_low, c.tpr_high) if banded else ((), ())
                self._model(drawing, axes, i, x, y, low, high, hull=self._hulls)
            return self._marked(
                drawing, axes, lambda c, k: (c.fp[k] / c.fp[-1], c.tp[k] / c.tp[-1])
            )

        columns: Any = {
            "Threshold": "number",
            "False positive rate": "number",
            "Sensitivity": "number",
        }
        blocks = [
            (c.model, [*zip(_thresholds(c), _shares(c.fp), _shares(c.tp), strict=True)])
            for c in self.records
        ]
        return shared.figure("roc", title, text, draw, shared.table(columns, blocks))

    def smroc(self) -> Figure | None:
        """The score-weighted ROC curve."""
        drawn = [c for c in self.records if c.smroc_x]
        if not drawn:
            return None
        title = "smROC: the ROC curve weighted by scores"
        text = (
            "Each row climbs by how far its score agrees with its label and runs by the rest, highest "
            f"scores first. {self._areas('smauc', 'smAUC')}."
        )
        keys = [k for k in self._keys("smauc", "smAUC") if k.name in {c.model for c in drawn}]

        def draw() -> Drawing:
            words = ("share of all runs", "share of all climbs")
            drawing, axes = shared.square("smroc", title, text, keys, words)
            drawing.add(shared.grey_line(axes, (0, 1), (0, 1)))
            for i, c in zip(self.places, self.records, strict=True):
                self._model(drawing, axes, i, c.smroc_x, c.smroc_y)
            return self._marked(
                drawing, axes, lambda c, k: (c.smroc_x[k], c.smroc_y[k]) if c.smroc_x else None
            )

        columns: Any = {
            "Threshold": "number",
            "Share of runs": "number",
            "Share of climbs": "number",
        }
        blocks = [
            (c.model, [*zip(_thresholds(c), c.smroc_x, c.smroc_y, strict=True)]) for c in drawn
        ]
        return shared.figure("smroc", title, text, draw, shared.table(columns, blocks))

    def precision_recall(self) -> Figure | None:
        """Precision against recall."""
        if not self.records:
            return None
        title = f"Precision-recall curve{self.each}"
        shares = {c.tp[-1] / (c.tp[-1] + c.fp[-1]) for c in self.records}
        base = min(shares) if len(shares) == 1 else None
        areas = self._areas("average_precision", "Average precision")
        random = f"; alerting at random has the prevalence, {base:.3g}" if base is not None else ""
        text = f"Precision against recall over all thresholds. {areas}{random}. {self._error()}".rstrip()
        keys = self._keys("average_precision", "AP")
        if base is not None:
            keys.append(Key("prevalence", f"{base:.3g}", GREY, DASHES[2]))

        def draw() -> Drawing:
            drawing, axes = shared.square(
                "precision_recall", title, text, keys, ("recall (sensitivity)", "precision")
            )
            if base is not None:
                drawing.add(shared.grey_line(axes, (0, 1), (base, base)))
            for i, c in zip(self.places, self.records, strict=True):
                self._model(drawing, axes, i, _shares(c.tp), _precision(c))
            return self._marked(
                drawing, axes, lambda c, k: (c.tp[k] / c.tp[-1], _precision(c)[k]) if k else None
            )

        columns: Any = {"Threshold": "number", "Recall": "number", "Precision": "number"}
        blocks = [
            (c.model, [*zip(_thresholds(c), _shares(c.tp), _precision(c), strict=True)][1:])
            for c in self.records
        ]
        return shared.figure("precision_recall", title, text, draw, shared.table(columns, blocks))

    @property
    def _hulls(self) -> bool:
        return len(self.records) <= HULLS and not self.classes

    def _measured(self, name: str) -> list[Any]:
        owners = {o.name: o for o in (self.doc.classes if self.classes else self.doc.models)}
        return [shared.measure(owners[n], name) for n in self.names]

    def _keys(self, name: str, short: str) -> list[Key]:
        texts = [f"{short} {shared.estimate(m)}" if m else "" for m in self._measured(name)]
        keys = shared.model_keys([*zip(self.places, self.records, strict=True)], texts)
        for key in keys:
            key.model = None if self.classes else key.model
        return keys

    def _areas(self, name: str, title: str) -> str:
        found = self._measured(name)
        told = shared.by_model(self.names, [shared.estimate(m) for m in found])
        return f"{title}{':' if len(found) > 1 else ''} {told}" if told else f"{title} has no value"

    def _band(self, there: bool) -> str:
        return (
            f" Bands: {shared.level(self.settings.level)} Wilson intervals of sensitivity."
            if there
            else ""
        )

    def _error(self) -> str:
        error = max(c.error for c in self.records)
        return f"Lines are drawn to within {error:g} of the whole curves." if error else ""

    def _model(
        self,
        drawing: Drawing,
        axes: Axes,
        i: int,
        x: Sequence[float],
        y: Sequence[float],
        low: Sequence[float] = (),
        high: Sequence[float] = (),
        hull: bool = False,
    ) -> None:
        colour, dash = look(i).values()
        with drawing.group(data_model=None if self.classes else i):
            if low:
                drawing.add(axes.band(x, low, high, colour))
            if hull:
                drawing.add(axes.line(*_hull(x, y), colour, width=1.0, opacity="0.7"))
            drawing.add(axes.line(x, y, colour, dash=dash))

    def _marked(self, drawing: Drawing, axes: Axes, place: Any) -> Drawing:
        """The operating point of each model, over all curves."""
        if self.classes:
            return drawing
        for i, c in zip(self.places, self.records, strict=True):
            k = at_threshold(c, self.settings.threshold)
            there = place(c, k)
            x, y = there or (0.0, 0.0)
            with drawing.group(data_model=i):
                drawing.add(
                    element(
                        "circle", cx=axes.x.place(x), cy=axes.y.place(y), r=5.5, data_mark=i,
                        fill=look(i)["colour"], stroke=PAPER, stroke_width=1.5,
                        display=None if there else "none",
                    )
                )  # fmt: skip
        return drawing


def at_threshold(c: Any, threshold: float) -> int:
    """The last point whose threshold is at or above that of the settings."""
    return max(k for k, t in enumerate(c.threshold) if t is None or t >= threshold)


def _shares(weights: Sequence[float]) -> list[float]:
    return [w / weights[-1] for w in weights]


def _precision(c: Any) -> list[float]:
    return [a / (a + b) if a + b else 1.0 for a, b in zip(c.tp, c.fp, strict=True)]


def _thresholds(c: Any) -> list[Any]:
    return ["above all" if t is None else float(f"{t:.4g}") for t in c.threshold]


def _hull(x: Sequence[float], y: Sequence[float]) -> tuple[list[float], list[float]]:
    """The least concave curve above a rising one.

    >>> _hull([0, 0.5, 0.5, 1], [0, 0.2, 0.8, 1])
    ([0, 0.5, 1], [0, 0.8, 1])
    """
    kept: list[tuple[float, float]] = []
    for point in zip(x, y, strict=True):
        while len(kept) > 1:
            (ax, ay), (bx, by) = kept[-2:]
            if (bx - ax) * (point[1] - ay) - (by - ay) * (point[0] - ax) < 0:
                break
            kept.pop()
        kept.append(point)
    return [a for a, _ in kept], [b for _, b in kept]


def smooth(doc: Any) -> Figure | None:
    """The curves of a document of `smroc`."""
    drawn = [(i, c) for i, c in enumerate(doc.curves) if c.curve is not None and len(c.curve.x) > 1]
    if not drawn:
        return None
    title = "smROC: the ROC curve weighted by scores"
    told = shared.by_model([c.name for _, c in drawn], [shared.estimate(c.area) for _, c in drawn])
    text = (
        "Each row climbs by how far its score agrees with its label and runs by the rest, highest scores "
        f"first. smAUC: {told}."
    )
    keys = [Key(c.name, f"smAUC {shared.estimate(c.area)}", **look(i), model=i) for i, c in drawn]

    def draw() -> Drawing:
        words = ("share of all runs", "share of all climbs")
        drawing, axes = shared.square("smroc", title, text, keys, words)
        drawing.add(shared.grey_line(axes, (0, 1), (0, 1)))
        for i, c in drawn:
            with drawing.group(data_model=i):
                drawing.add(axes.line(_shares(c.curve.x), _shares(c.curve.y), **look(i)))
        return drawing

    columns: Any = {"Threshold": "number", "Share of runs": "number", "Share of climbs": "number"}
    blocks = [
        (c.name, [*zip(_thresholds(c.curve), _shares(c.curve.x), _shares(c.curve.y), strict=True)])
        for _, c in drawn
    ]
    return shared.figure("smroc", title, text, draw, shared.table(columns, blocks))
