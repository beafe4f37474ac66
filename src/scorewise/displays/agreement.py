"""Whether raters really disagree, drawn: their curves, and the scores of two of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from scorewise.columns import Kind
from scorewise.displays.canvas import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    VERMILION,
    legend,
    next_look,
    over_grid,
    panels,
    unit_square,
)
from scorewise.displays.display import Display
from scorewise.displays.raters import AGREE, APPARENT, HIDDEN, REAL, opinions, read_raters
from scorewise.displays.smroc import Smooth, SmRocDisplay
from scorewise.errors import BadInput
from scorewise.tallies import Tally
from scorewise.tallies.smroc import Rule

# what it is called, colour, marker, size
LOOKS = {
    AGREE: ("agree", BLUE, "o", 14),
    HIDDEN: ("same decision, scores apart", GREEN, "^", 22),
    APPARENT: ("only look like disagreement", ORANGE, "s", 26),
    REAL: ("really disagree", VERMILION, "x", 34),
}


class AgreementDisplay(Display):
    """The smROC curve of each rater, and the scores of two of them against each other.

    `raters` is `{name: (decisions, scores)}`, with scores in [0, 1]; a curve sets the scores against
    the rater's own decisions, or against the labels `y`. Two raters agree on a row when their scores
    lie within the `tolerance`. After `plot`: `lines_` and `points_`, each by name.
    """

    lines_: dict[str, Any]
    points_: dict[str, Any]

    def __init__(
        self,
        raters: Mapping[str, tuple[Any, Any]],
        *,
        tolerance: float = 0.1,
        y: Any = None,
        positive: Any = None,
        kind: Kind | None = None,
        midpoint: Rule | float | Tally = "mean",
    ) -> None:
        if not 0 <= tolerance <= 1:
            raise BadInput(f"tolerance={tolerance!r} is not a number in [0, 1]")
        self.raters = read_raters(raters, y, positive, kind)
        self.tolerance, self.midpoint, self.labelled = tolerance, midpoint, y is not None

    @classmethod
    def from_raters(
        cls,
        raters: Mapping[str, tuple[Any, Any]],
        *,
        pair: tuple[str, str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw raters; the options are those of the display."""
        return cls(raters, **options).plot(ax=ax, pair=pair)

    def plot(self, ax: Any = None, *, pair: tuple[str, str] | None = None) -> Self:
        """Draw all curves, and the scores of a `pair` of raters (the first two unless said).

        On one given `ax` only the curves.
        """
        first, second = self._pair(pair)
        axes = panels(ax, 2, (10.8, 6.2))
        self.lines_, self.points_ = {}, {}
        for name in self.raters:
            self.lines_[name] = self._curve(axes[0], name)
        unit_square(axes[0], "share of all runs", "share of all climbs", chance=False)
        legend(axes[0], "lower right")
        if len(axes) > 1:
            self._scores(axes[1], first, second)
        return self._drew(axes)

    def _pair(self, pair: tuple[str, str] | None) -> tuple[str, str]:
        first, second = pair or tuple(self.raters)[:2]
        for name in (first, second):
            if name not in self.raters:
                known = ", ".join(self.raters)
                raise BadInput(f"no rater is named {name!r}; there are {known}")
        return first, second

    def _curve(self, ax: Any, name: str) -> Any:
        t = self.raters[name].tally
        if why := t.why_not_ranked:
            label = f"{name}: no curve, {why}"
            return ax.plot([], [], **next_look(ax), label=label)[0]
        curve = Smooth.of(t, self.midpoint)
        return SmRocDisplay(curve, name).plot(ax=ax, segments=False).line_

    def _scores(self, ax: Any, first: str, second: str) -> None:
        a, b = self.raters[first], self.raters[second]
        kinds = opinions(a, b, self.tolerance)
        ends = np.array([0.0, 1.0])
        ax.fill_between(
            ends, ends - self.tolerance, ends + self.tolerance, color=GREY, alpha=0.18, lw=0,
            label=f"scores within {self.tolerance:g}",
        )  # fmt: skip
        few = len(kinds) <= 2000
        for kind, (label, colour, marker, size) in LOOKS.items():
            which = kinds == kind
            if which.any():
                self.points_[label] = ax.scatter(
                    a.scores[which], b.scores[which], s=size if few else size / 4, c=colour,
                    marker=marker, alpha=0.8 if few else 0.3, linewidths=1.2 if marker == "x" else 0,
                    label=f"{label} ({np.count_nonzero(which):,})", rasterized=not few,
                )  # fmt: skip
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(-0.02, 1.02)
        ax.set_aspect("equal", adjustable="box")
        over_grid(ax, f"score of {first}", f"score of {second}")
        legend(ax, "above", columns=2)
