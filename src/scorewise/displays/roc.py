"""The ROC curve, and the convex hull of a curve with the calibrated scores that its slopes are."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.rows import one_of
from scorewise.curves import roc
from scorewise.curves.hull import calibrated
from scorewise.curves.smroc import SmoothRoc, smooth_roc
from scorewise.curves.thresholds import Curve, Roc, roc_steps
from scorewise.curves.thresholds import band as find_band
from scorewise.displays import canvas
from scorewise.displays.canvas import BLUE, ORANGE, UNIT, VERMILION, AnyMidpoint, BandName
from scorewise.errors import BadInput
from scorewise.estimate import number
from scorewise.measures import auroc
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import midpoint as find_midpoint
from scorewise.tallies.smroc import why_not_unit
from scorewise.tallies.sorting import first_of_runs

Which: TypeAlias = Literal["roc", "smroc"]


class RocDisplay(canvas.PredictionDisplay):
    """The ROC curve of a tally, its area with the interval in the legend.

    After `plot`: `line_`, `hull_` and `band_`, the last two None unless asked for.
    """

    def __init__(
        self, t: Tally, name: str | None = None, *, level: float = 0.95, seed: int = 0
    ) -> None:
        if why := t.why_not_ranked:
            raise BadInput(f"no ROC curve: {why}")
        self.tally, self.name, self.level, self.seed = t, name, level, seed
        self.curve = roc(t)
        self.area = auroc(t, level=level)

    def plot(
        self, ax: Any = None, *, hull: bool = False, band: BandName | None = None, **line: Any
    ) -> Self:
        """Draw the curve, and if asked its hull and a "pointwise" or "simultaneous" band.

        `line` goes to matplotlib's `plot`, such as `color="k"`.
        """
        (ax,) = self._axes(ax, (5.2, 5.2))
        c, label = self.curve, self._named(f"AUROC {self.area}")
        self.line_ = canvas.curve(ax, c.x, c.y, label, line)
        self.hull_ = self.band_ = None
        if hull:
            top, label = c.hull(), self._named("convex hull")
            (self.hull_,) = ax.plot(top.x, top.y, "--", color=ORANGE, lw=1.2, label=label)
        if band is not None:
            find = partial(find_band, self.tally, c, roc_steps, level=self.level, seed=self.seed)
            self.band_ = canvas.curve_band(ax, find, band, self.line_.get_color())
        canvas.unit_square(ax, canvas.ROC_AXES, canvas.free_corner(self.area.value))
        return self


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
        self.curve: Roc | SmoothRoc = (
            roc(t) if of == "roc" else smooth_roc(t, find_midpoint(t, midpoint).value)
        )
        self.hull = self.curve.hull()

    @property
    def gap(self) -> float:
        """The area between the curve and its hull: how far the scores are from calibration."""
        return hull_gap(self.curve, self.hull)

    @property
    def steps(self) -> tuple[Floats, Floats]:
        """The scores from which on each calibrated score holds, and these; the last comes twice."""
        c = self.curve
        value = c.slopes()[::-1] if isinstance(c, SmoothRoc) else calibrated(self.tally)
        start = first_of_runs(value)
        score = unit(self.tally.score, self.tally.kind)
        return np.append(score[start], score[-1:]), np.append(value[start], value[-1:])

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curve with its hull, and the calibrated scores; on one given `ax` only the first."""
        return self._panels(ax, (10.4, 5.2), partial(self._curve, line), self._slopes)

    def _curve(self, line: dict[str, Any], ax: Any) -> None:
        word, axes = ("ROC", canvas.ROC_AXES) if self.of == "roc" else ("smROC", canvas.SMROC_AXES)
        look = {"color": BLUE, "lw": 1.8, "label": self._named(f"{word} curve")}
        (self.line_,) = ax.plot(self.curve.x, self.curve.y, **canvas.styled(look, line))
        top = self.hull
        (self.hull_,) = ax.plot(top.x, top.y, "--", color=VERMILION, lw=1.6, label="convex hull")
        self.gap_ = self._gap(ax)
        corner = canvas.free_corner(self.curve.area)
        canvas.unit_square(ax, axes, corner, chance=self.of == "roc")

    def _gap(self, ax: Any) -> Any:
        from matplotlib.collections import PolyCollection

        there = np.column_stack((self.hull.x, self.hull.y))
        back = np.column_stack((self.curve.x, self.curve.y))[::-1]
        # not ax.fill, which takes ten seconds for 200,000 points
        polygon, label = np.concatenate((there, back)), f"gap {number(self.gap)}"
        made = PolyCollection([polygon], facecolors=ORANGE, alpha=0.45, lw=0, label=label)
        return ax.add_collection(made, autolim=False)

    def _slopes(self, ax: Any) -> None:
        look = {"drawstyle": "steps-post", "color": VERMILION, "lw": 1.8}
        (self.slopes_,) = ax.plot(*self.steps, **look, label="isotonic regression")
        ax.set_ylim(UNIT)
        if self.of == "roc" and not why_not_unit(self.tally):
            canvas.dotted(ax, [0, 1], [0, 1], "calibrated already")
            ax.set(xlim=UNIT, **canvas.EQUAL)
        share = "share of positives" if self.of == "roc" else "share of climbs"
        canvas.frame(ax, "score", f"slope of the hull, as {share}", "upper left")


def hull_gap(curve: Roc | SmoothRoc, hull: Curve) -> float:
    """The area between a curve and its convex hull."""
    return max(0.0, float(np.trapezoid(hull.y, hull.x)) - curve.area)
