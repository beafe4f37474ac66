"""Score-weighted ROC curves: their segments, hulls and slopes, midpoints and what others would give."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np

from scorewise.checks import one_of
from scorewise.colours import BLUE, GREEN, GREY, ORANGE, SKY, VERMILION
from scorewise.curves import roc as roc_of
from scorewise.curves.density import Density
from scorewise.curves.smroc import Segments, chance_roc, segments, sensitivity, smooth_roc
from scorewise.displays import canvas
from scorewise.displays.canvas import ROC_AXES, SMROC_AXES, UNIT, AnyMidpoint, BandName, Sides
from scorewise.displays.curves import RocDisplay
from scorewise.errors import BadInput
from scorewise.estimate import number
from scorewise.measures import auroc
from scorewise.statistics.smroc import Rule, why_not_unit
from scorewise.statistics.smroc import midpoint as find_midpoint
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.runs import first_of_runs

Which: TypeAlias = Literal["roc", "smroc"]
MAX_SEGMENTS = 400  # that can be told apart

# share of appropriate scores from which on, what it is called, colour, width and dash
ONE_CELL = (
    (1.0, "appropriate scores", BLUE, 2.2, "-"),
    (1e-12, "ties of both", ORANGE, 3.2, "-."),
    (0.0, "inappropriate scores", VERMILION, 4.2, (0, (1, 0.6))),
)
MANY_CELLS = (
    (0.95, "95 % or more appropriate", BLUE, 1.5, "-"),
    (0.8, "80 to 95 %", SKY, 2.8, "-"),
    (0.5, "50 to 80 %", ORANGE, 4.4, "-"),
    (0.0, "below 50 %", VERMILION, 6.0, (0, (1, 0.6))),
)


class HullDisplay(canvas.PredictionDisplay):
    """The ROC curve (or smROC) under its hull, and beside it the slopes of the hull for each score.

    The slopes of the ROC hull, as shares of positives, are the isotonic regression of the labels on
    the scores; those of smROC the regression of the climbs. After `plot`: `line_`, `hull_`, `gap_`
    (the polygon between), and with two panels `slopes_`.
    """

    def __init__(
        self,
        t: Tally,
        of: Which = "roc",
        *,
        midpoint: AnyMidpoint = "mean",
        name: str | None = None,
    ) -> None:
        one_of("of", of, get_args(Which))
        if why := t.why_not_ranked or (of == "smroc" and why_not_unit(t)):
            raise BadInput(f"no hull: {why}")
        self.tally, self.of, self.name = t, of, name
        at = 0.0 if of == "roc" else find_midpoint(t, midpoint).value
        self.curve = roc_of(t) if of == "roc" else smooth_roc(t, at)
        self.hull = self.curve.hull()

    @property
    def gap(self) -> float:
        """The area between the curve and its hull: how far the scores are from calibration."""
        return self.curve.gap

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curve with its hull, and the calibrated scores; on one given `ax` only the first."""
        return self._panels(ax, (10.4, 5.2), partial(self._curve, line), self._slopes)

    def _curve(self, line: dict[str, Any], ax: Any) -> None:
        word, axes = ("ROC", ROC_AXES) if self.of == "roc" else ("smROC", SMROC_AXES)
        look = {"color": BLUE, "lw": 1.8, "label": self._named(f"{word} curve")}
        (self.line_,) = ax.plot(self.curve.x, self.curve.y, **canvas.styled(look, line))
        top = self.hull
        (self.hull_,) = ax.plot(top.x, top.y, "--", color=VERMILION, lw=1.6, label="convex hull")
        self.gap_ = self._gap(ax)
        corner = canvas.free_corner(self.curve.area)
        canvas.unit_square(ax, axes, corner, chance=self.of == "roc")

    def _gap(self, ax: Any) -> Any:
        from matplotlib.collections import PolyCollection

        outward = np.column_stack((self.hull.x, self.hull.y))
        back = np.column_stack((self.curve.x, self.curve.y))[::-1]
        # not ax.fill, which takes ten seconds for 200,000 points
        polygon, label = np.concatenate((outward, back)), f"gap {number(self.gap)}"
        patch = PolyCollection([polygon], facecolors=ORANGE, alpha=0.45, lw=0, label=label)
        return ax.add_collection(patch, autolim=False)

    def _slopes(self, ax: Any) -> None:
        value, score = self.curve.slopes()[::-1], unit(self.tally.score, self.tally.kind)
        steps = np.append(first_of_runs(value), -1)  # the last holds up to the highest score
        look = {"drawstyle": "steps-post", "color": VERMILION, "lw": 1.8}
        (self.slopes_,) = ax.plot(score[steps], value[steps], **look, label="isotonic regression")
        ax.set_ylim(UNIT)
        if self.of == "roc" and not why_not_unit(self.tally):
            canvas.dotted(ax, [0, 1], [0, 1], "calibrated already")
            ax.set(xlim=UNIT, **canvas.EQUAL)
        share = "share of positives" if self.of == "roc" else "share of climbs"
        canvas.frame(ax, "score", f"slope of the hull, as {share}", "upper left")


class SmRocDisplay(canvas.PredictionDisplay):
    """The score-weighted ROC curve of `sw.smroc(...)`, or of anything that has what it has.

    That is `tally`, `midpoint`, `area` and `curve`, and `band()` where bands are asked for. After
    `plot`: `line_`, `segments_` (a list of collections), `hull_`, `band_`, `roc_` and `chance_`, the
    curve of the same scores at random.
    """

    def __init__(self, curve: Any, name: str | None = None) -> None:
        self.shown, self.name = curve, name

    @classmethod
    def from_tally(cls, t: Tally, *, ax: Any = None, **options: Any) -> Self:
        """Draw a tally; the options are `midpoint=`, `level=`, `seed=`, `name=` and those of `plot`."""
        known = [name for name in ("midpoint", "level", "seed") if name in options]
        curve = _smroc(t, **{name: options.pop(name) for name in known})
        return cls._plotted(curve, ax=ax, **options)

    @cached_property
    def parts(self) -> Segments:
        """The segments of the curve, one for each cell or, of many, one for several."""
        return segments(self.shown.tally, self.shown.curve, self.shown.midpoint, MAX_SEGMENTS)

    def plot(
        self,
        ax: Any = None,
        *,
        segments: bool = True,
        hull: bool = False,
        band: BandName | None = None,
        roc: bool = False,
        rectangle: bool = False,
        **line: Any,
    ) -> Self:
        """Draw the curve, its segments by whether their scores are appropriate.

        `hull`, `band` and `roc` add the hull, a "pointwise" or "simultaneous" band, and the ROC curve of
        the same rows. `rectangle` leaves the curves unscaled. `segments=False` draws a plain line, for
        several curves on one plot. `line` goes to matplotlib's `plot`.
        """
        (ax,) = self._axes(ax, (5.6, 5.6))
        curve, t = self.shown.curve, self.shown.tally
        sides = (curve.width, curve.height) if rectangle else (1.0, 1.0)
        c = curve.rectangle() if rectangle else curve
        look = {"color": canvas.ink(ax), "lw": 0.8} if segments else {}
        label = self._named(f"smAUC {self.shown.area}")
        self.line_ = canvas.curve(ax, c.x, c.y, label, line, **look)
        self.segments_ = self._segments(ax, sides) if segments else []
        self.hull_ = self._hull(ax, sides) if hull else None
        rows = (t.negatives, t.positives) if rectangle else (1.0, 1.0)
        self.roc_ = self._roc(ax, rows) if roc else None
        colour = BLUE if segments else self.line_.get_color()
        self.band_ = canvas.curve_band(ax, self.shown.band, band, colour, sides) if band else None
        self.chance_ = self._chance(ax, sides) if segments else None
        words = ("all runs", "all climbs") if rectangle else SMROC_AXES
        corner = canvas.free_corner(self.shown.area.value)
        canvas.unit_square(ax, words, corner, sides, chance=False)
        return self

    def _scaled(self, ax: Any, curve: Any, sides: Any, label: str, **look: Any) -> Any:
        x, y = curve.x * sides[0], curve.y * sides[1]
        return ax.plot(x, y, label=self._named(label), **look)[0]

    def _segments(self, ax: Any, sides: Sides) -> list[Any]:
        from matplotlib.collections import LineCollection

        parts = self.parts
        looks = ONE_CELL if len(parts) == len(self.shown.tally.score) else MANY_CELLS
        points = np.stack([parts.x * sides[0], parts.y * sides[1]], axis=1)
        lines = np.stack([points[:-1], points[1:]], axis=1)
        collections, above = [], np.inf
        for least, label, colour, width, dash in looks:
            which = (parts.appropriate >= least) & (parts.appropriate < above)
            above = least
            if which.any():
                look: Any = {"colors": colour, "linewidths": width, "linestyles": [dash]}
                drawn = LineCollection(list(lines[which]), **look, label=label, zorder=3)
                drawn.set_capstyle("butt")
                collections.append(ax.add_collection(drawn))
        return collections

    def _hull(self, ax: Any, sides: Sides) -> Any:
        top = self.shown.curve.hull()
        label = f"convex hull, gap {number(self.shown.curve.gap)}"
        return self._scaled(ax, top, sides, label, ls="--", color=GREEN, lw=1.4, zorder=2.5)

    def _chance(self, ax: Any, sides: Sides) -> Any:
        """What the same scores would give at random, which is not the diagonal."""
        baseline = self.shown.area.baseline
        if baseline is None:
            return None
        curve = chance_roc(self.shown.tally, self.shown.midpoint)
        label = f"same scores at random: {number(baseline)}"
        look = {"ls": (0, (1, 2)), "color": GREY, "lw": 1.4, "zorder": 1.5}
        return self._scaled(ax, curve, sides, label, **look)

    def _roc(self, ax: Any, sides: Sides) -> Any:
        t = self.shown.tally
        label = f"ROC of the same rows: AUROC {auroc(t, level=self.shown.area.level)}"
        look = {"ls": canvas.DASHES[3], "color": canvas.ink(ax), "lw": 1.1, "zorder": 2}
        return self._scaled(ax, roc_of(t), sides, label, **look)


def _smroc(t: Tally, **options: Any) -> Any:
    import scorewise  # by its public name: no picture depends on a room

    return scorewise.smroc(t, **options)


def plain_curves(
    ax: Any,
    tallies: Iterable[tuple[Tally, str, dict[str, Any]]],
    midpoint: AnyMidpoint,
    *,
    level: float = 0.95,
    smooth: bool = True,
) -> list[Any]:
    """Lines of the smROC or ROC curves of tallies with names and looks; empty without a curve."""
    lines = []
    for t, name, look in tallies:
        if why := t.why_not_ranked:
            line = canvas.curve(ax, [], [], f"{name}: no curve, {why}", look)
        elif smooth:
            curve = _smroc(t, midpoint=midpoint, level=level)
            line = SmRocDisplay(curve, name).plot(ax=ax, segments=False, **look).line_
        else:
            line = RocDisplay(t, name, level=level).plot(ax=ax, **look).line_
        lines.append(line)
    words = SMROC_AXES if smooth else ROC_AXES
    canvas.unit_square(ax, words, "lower right", chance=not smooth)
    return lines


class _MidpointedDisplay(canvas.PredictionDisplay):
    """A picture over [0, 1] with the midpoint as a line, and others as small marks."""

    def __init__(self, t: Tally, midpoint: AnyMidpoint = "mean", name: str | None = None) -> None:
        if why := t.why_not_ranked or why_not_unit(t):
            raise BadInput(f"no midpoint: {why}")
        self.tally, self.name = t, name
        self.found = find_midpoint(t, midpoint)

    def _midpoint(self, ax: Any) -> Any:
        """An upright line at the midpoint."""
        label = f"midpoint {number(self.found.value)} ({self.found.rule})"
        return ax.axvline(self.found.value, color=canvas.ink(ax), lw=1.4, label=label, zorder=4)

    def _rules(self, ax: Any) -> dict[str, Any]:
        """By its name, a short line with a marker where each other rule would put the midpoint."""
        marks: dict[str, Any] = {}
        for rule in get_args(Rule):
            if rule == self.found.rule:
                continue
            try:
                value = find_midpoint(self.tally, rule).value
            except BadInput:  # the densities do not cross
                continue
            look = {"marker": "os^D"[len(marks)], "markevery": [1], "ms": 5, "lw": 0.9, "zorder": 5}
            look |= {"color": canvas.ink(ax), "mfc": ax.get_facecolor()}
            look |= {"transform": ax.get_xaxis_transform(), "label": f"{rule} {number(value)}"}
            (marks[rule],) = ax.plot([value, value], [0, 0.06], **look)
        return marks


class MidpointDisplay(_MidpointedDisplay):
    """The densities of the scores of both classes, where they overlap, and the midpoint.

    After `plot`: `negatives_`, `positives_`, `overlap_`, `midpoint_`, and `rules_` by their names.
    """

    _MAX_PEAK_RATIO = 6  # how many times a class may peak above the other before its top is cut off

    def plot(self, ax: Any = None, *, overlap: bool = True, rules: bool = True) -> Self:
        """Draw the densities with the midpoint, their `overlap`, and what other `rules` would give."""
        (ax,) = self._axes(ax, (6.4, 4.4))
        d = Density.of(self.tally, bandwidth="silverman")
        self.negatives_, self.positives_ = (
            ax.plot(one.x, one.y, **canvas.series_style(k), lw=1.8, label=self._named(name))[0]
            for k, (one, name) in enumerate(zip(d, canvas.class_names(self.tally), strict=True))
        )
        self.overlap_ = None
        if overlap:
            lower, label = np.minimum(d.neg.y, d.pos.y), f"overlap {100 * d.overlap:.0f} %"
            look = {"facecolor": GREY, "alpha": 0.35, "lw": 0}
            self.overlap_ = ax.fill_between(d.neg.x, 0, lower, **look, label=label)
        self.midpoint_ = self._midpoint(ax)
        self.rules_ = self._rules(ax) if rules else {}
        low, high = sorted((d.neg.y.max(), d.pos.y.max()))
        cut = high > self._MAX_PEAK_RATIO * low
        top, word = (self._MAX_PEAK_RATIO * low, " (top cut off)") if cut else (1.05 * high, "")
        ax.set(xlim=(0, 1), ylim=(0, top))
        canvas.frame(ax, "score", f"density of each class{word}", "above", 3)
        return self


class SensitivityDisplay(_MidpointedDisplay):
    """The area under the score-weighted ROC curve against its midpoint, with the midpoint used.

    After `plot`: `line_`, `midpoint_`, `point_`, and `rules_` by their names.
    """

    def plot(self, ax: Any = None, *, rules: bool = True, **line: Any) -> Self:
        """Draw the area with the midpoint, and what other `rules` would give."""
        (ax,) = self._axes(ax, (6.4, 4.4))
        # an area holds from the midpoint before, which is left out, up to its own
        areas = sensitivity(self.tally)
        x = np.concatenate(([0.0], areas.midpoint[:-1], [1.0]))
        y = np.concatenate((areas.area[:1], areas.area))
        look = {"color": BLUE, "lw": 1.6, "label": self._named("smAUC for each midpoint")}
        (self.line_,) = ax.plot(x, y, drawstyle="steps-pre", **canvas.styled(look, line))
        self.midpoint_ = self._midpoint(ax)
        used = areas.at(self.found.value)
        look = {"color": self.line_.get_color(), "label": f"smAUC used: {number(used)}"}
        (self.point_,) = ax.plot(self.found.value, used, "o", ms=7, zorder=6, **look)
        self.rules_ = self._rules(ax) if rules else {}
        canvas.frame(ax, "midpoint", "area under smROC", "above", 3, xlim=(0, 1))
        return self
