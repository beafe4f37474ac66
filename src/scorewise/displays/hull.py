"""The convex hull of a curve, and the calibrated scores that its slopes are, drawn."""

from __future__ import annotations

from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.rows import one_of
from scorewise.curves import roc
from scorewise.curves.hull import calibrated
from scorewise.curves.smroc import SmoothRoc, smooth_roc
from scorewise.curves.thresholds import Roc
from scorewise.displays.canvas import (
    BLUE,
    GREY,
    ORANGE,
    VERMILION,
    free_corner,
    legend,
    named,
    over_grid,
    panels,
    styled,
    unit_square,
)
from scorewise.displays.display import PredictionDisplay
from scorewise.errors import BadInput
from scorewise.estimate import number
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import Rule, why_not_unit
from scorewise.tallies.smroc import midpoint as find_midpoint
from scorewise.tallies.sorting import first_of_runs

Which: TypeAlias = Literal["roc", "smroc"]


class HullDisplay(PredictionDisplay):
    """The ROC curve (or smROC) under its hull, and beside it the slopes of the hull for each score.

    The slopes of the ROC hull, as shares of positives, are the isotonic regression of the labels on
    the scores; those of smROC the regression of the climbs. After `plot`: `line_`, `hull_`, `gap_`
    (the polygon between), and with two panels `slopes_`.
    """

    line_: Any
    hull_: Any
    gap_: Any
    slopes_: Any

    def __init__(
        self,
        t: Tally,
        of: Which = "roc",
        *,
        midpoint: Rule | float | Tally = "mean",
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

    @classmethod
    def from_tally(
        cls,
        t: Tally,
        *,
        of: Which = "roc",
        midpoint: Rule | float | Tally = "mean",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a tally; the options are those of `plot`."""
        return cls(t, of, midpoint=midpoint, name=name).plot(ax=ax, **options)

    @property
    def gap(self) -> float:
        """The area between the curve and its hull: how far the scores are from calibration."""
        return max(0.0, float(np.trapezoid(self.hull.y, self.hull.x)) - self.curve.area)

    @property
    def steps(self) -> tuple[Floats, Floats]:
        """The scores from which on each calibrated score holds, and these; the last is said twice."""
        value = (
            self.curve.slopes()[::-1]
            if isinstance(self.curve, SmoothRoc)
            else calibrated(self.tally)
        )
        start = first_of_runs(value)
        score = unit(self.tally.score, self.tally.kind)
        return np.append(score[start], score[-1:]), np.append(value[start], value[-1:])

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curve with its hull, and the calibrated scores; on one given `ax` only the first."""
        axes = panels(ax, 2, (10.4, 5.2))
        self._curve(axes[0], line)
        if len(axes) > 1:
            self._slopes(axes[1])
        return self._drew(axes)

    def _curve(self, ax: Any, line: dict[str, Any]) -> None:
        word = "ROC" if self.of == "roc" else "smROC"
        look = {"color": BLUE, "lw": 1.8, "label": named(self.name, f"{word} curve")}
        (self.line_,) = ax.plot(self.curve.x, self.curve.y, **styled(look, line))
        (self.hull_,) = ax.plot(
            self.hull.x, self.hull.y, "--", color=VERMILION, lw=1.6, label="convex hull"
        )
        self.gap_ = self._gap(ax)
        words = ("false positive rate", "true positive rate")
        smooth = ("share of all runs", "share of all climbs")
        unit_square(ax, *(words if self.of == "roc" else smooth), chance=self.of == "roc")
        legend(ax, free_corner(self.curve.area))

    def _gap(self, ax: Any) -> Any:
        from matplotlib.collections import PolyCollection

        there = np.column_stack((self.hull.x, self.hull.y))
        back = np.column_stack((self.curve.x, self.curve.y))[::-1]
        # not ax.fill, which takes ten seconds for 200,000 points
        made = PolyCollection(
            [np.concatenate((there, back))], facecolors=ORANGE, alpha=0.45, lw=0,
            label=f"gap {number(self.gap)}",
        )  # fmt: skip
        return ax.add_collection(made, autolim=False)

    def _slopes(self, ax: Any) -> None:
        x, y = self.steps
        label = "isotonic regression"
        (self.slopes_,) = ax.plot(
            x, y, drawstyle="steps-post", color=VERMILION, lw=1.8, label=label
        )
        ax.set_ylim(-0.02, 1.02)
        if self.of == "roc" and not why_not_unit(self.tally):
            ax.plot([0, 1], [0, 1], ":", color=GREY, lw=1, label="calibrated already")
            ax.set_xlim(-0.02, 1.02)
            ax.set_aspect("equal", adjustable="box")
        words = "share of positives" if self.of == "roc" else "share of climbs"
        over_grid(ax, "score", f"slope of the hull, as {words}")
        legend(ax, "upper left")
