"""The score-weighted ROC curve, drawn: which of its segments come from appropriate scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from scorewise.curves import roc as roc_of
from scorewise.curves.smroc import Segments, SmoothRoc, chance_roc, segments, smooth_roc
from scorewise.curves.thresholds import Band, band, smooth_steps
from scorewise.displays.bands import BandName, draw_band
from scorewise.displays.canvas import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    SKY,
    VERMILION,
    area_text,
    free_corner,
    ink,
    legend,
    named,
    next_look,
    panels,
    styled,
    unit_square,
)
from scorewise.displays.display import PredictionDisplay
from scorewise.errors import BadInput
from scorewise.estimate import Estimate, number
from scorewise.measures import auroc, smauc
from scorewise.tallies import Tally
from scorewise.tallies.smroc import Midpoint, Rule, why_not_unit
from scorewise.tallies.smroc import midpoint as find_midpoint

MOST = 400  # segments that can be told apart

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


@dataclass(frozen=True)
class Smooth:
    """A score-weighted ROC curve, as far as it is drawn."""

    tally: Tally
    found: Midpoint
    area: Estimate
    curve: SmoothRoc
    level: float = 0.95
    seed: int = 0

    @classmethod
    def of(
        cls,
        t: Tally,
        midpoint: Rule | float | Tally = "mean",
        *,
        level: float = 0.95,
        seed: int = 0,
    ) -> Smooth:
        """The curve of a tally whose scores have a place on [0, 1]."""
        if why := t.why_not_ranked or why_not_unit(t):
            raise BadInput(f"no smROC curve: {why}")
        found = find_midpoint(t, midpoint)
        area = smauc(t, midpoint=midpoint, level=level, seed=seed)
        return cls(t, found, area, smooth_roc(t, found.value), level, seed)

    @property
    def midpoint(self) -> float:
        """Where a score turns from low to high."""
        return self.found.value

    def band(self, *, simultaneous: bool = False) -> Band:
        """A band that holds each point, or the whole curve, with the level's confidence."""
        return band(
            self.tally,
            self.curve,
            smooth_steps(self.found),
            level=self.level,
            simultaneous=simultaneous,
            seed=self.seed,
        )


class SmRocDisplay(PredictionDisplay):
    """The score-weighted ROC curve of `sw.smroc(...)`, or of anything that has what it has.

    That is `tally`, `midpoint`, `area` and `curve`, and `band()` where bands are asked for. After
    `plot`: `line_`, `segments_` (a list of collections), `hull_`, `band_`, `roc_` and `chance_`, the
    curve of the same scores at random.
    """

    line_: Any
    segments_: list[Any]
    hull_: Any
    band_: Any
    roc_: Any
    chance_: Any

    def __init__(self, curve: Any, name: str | None = None) -> None:
        self.shown, self.name = curve, name

    @classmethod
    def from_tally(
        cls,
        t: Tally,
        *,
        midpoint: Rule | float | Tally = "mean",
        name: str | None = None,
        level: float = 0.95,
        seed: int = 0,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a tally; the options are those of `plot`."""
        return cls(Smooth.of(t, midpoint, level=level, seed=seed), name).plot(ax=ax, **options)

    @cached_property
    def parts(self) -> Segments:
        """The segments of the curve, one for each cell or, of many, one for several."""
        return segments(self.shown.tally, self.shown.curve, self.shown.midpoint, MOST)

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
        (ax,) = panels(ax, 1, (5.6, 5.6))
        curve = self.shown.curve
        sides = (curve.width, curve.height) if rectangle else (1.0, 1.0)
        drawn = curve.rectangle() if rectangle else curve
        look = {"color": ink(ax), "lw": 0.8} if segments else {"lw": 1.8}
        label = named(self.name, area_text("smAUC", self.shown.area))
        look = styled(next_look(ax) | look | {"label": label}, line)
        (self.line_,) = ax.plot(drawn.x, drawn.y, **look)
        self.segments_ = self._segments(ax, sides) if segments else []
        self.hull_ = self._hull(ax, sides) if hull else None
        self.roc_ = self._roc(ax, rectangle) if roc else None
        colour = BLUE if segments else self.line_.get_color()
        self.band_ = draw_band(ax, self.shown.band, band, colour, sides) if band else None
        words = (
            ("all runs", "all climbs")
            if rectangle
            else ("share of all runs", "share of all climbs")
        )
        self.chance_ = self._chance(ax, sides) if segments else None
        unit_square(ax, *words, *sides, chance=False)
        legend(ax, free_corner(self.shown.area.value))
        return self._drew([ax])

    def _segments(self, ax: Any, sides: tuple[float, float]) -> list[Any]:
        from matplotlib.collections import LineCollection

        parts = self.parts
        looks = ONE_CELL if len(parts) == len(self.shown.tally.score) else MANY_CELLS
        points = np.stack([parts.x * sides[0], parts.y * sides[1]], axis=1)
        lines = np.stack([points[:-1], points[1:]], axis=1)
        made, above = [], np.inf
        for least, label, colour, width, dash in looks:
            which = (parts.appropriate >= least) & (parts.appropriate < above)
            above = least
            if which.any():
                drawn = LineCollection(
                    list(lines[which]), colors=colour, linewidths=width, linestyles=[dash],
                    label=label, zorder=3, capstyle="butt",
                )  # fmt: skip
                made.append(ax.add_collection(drawn))
        return made

    def _hull(self, ax: Any, sides: tuple[float, float]) -> Any:
        top = self.shown.curve.hull()
        gap = max(0.0, float(np.trapezoid(top.y, top.x)) - self.shown.curve.area)
        label = named(self.name, f"convex hull, gap {number(gap)}")
        (made,) = ax.plot(
            top.x * sides[0], top.y * sides[1], "--", color=GREEN, lw=1.4, label=label, zorder=2.5
        )
        return made

    def _chance(self, ax: Any, sides: tuple[float, float]) -> Any:
        """What the same scores would give at random, which is no diagonal."""
        baseline = self.shown.area.baseline
        if baseline is None:
            return None
        curve = chance_roc(self.shown.tally, self.shown.midpoint)
        label = named(self.name, f"same scores at random: {number(baseline)}")
        (made,) = ax.plot(
            curve.x * sides[0], curve.y * sides[1], ls=(0, (1, 2)), color=GREY, lw=1.4,
            label=label, zorder=1.5,
        )  # fmt: skip
        return made

    def _roc(self, ax: Any, rectangle: bool) -> Any:
        t = self.shown.tally
        curve = roc_of(t)
        sides = (t.negatives, t.positives) if rectangle else (1.0, 1.0)
        area = auroc(t, level=self.shown.area.level)
        label = named(self.name, area_text("ROC of the same rows: AUROC", area))
        (made,) = ax.plot(
            curve.x * sides[0], curve.y * sides[1], ls=(0, (6, 1.5, 1, 1.5)), color=ink(ax),
            lw=1.1, label=label, zorder=2,
        )  # fmt: skip
        return made
