"""The area for every midpoint there could be, drawn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from scorewise.curves.sensitivity import sensitivity
from scorewise.displays.canvas import BLUE, legend, named, over_grid, panels, styled
from scorewise.displays.display import PredictionDisplay
from scorewise.displays.marks import draw_midpoint, draw_others
from scorewise.errors import BadInput
from scorewise.estimate import number
from scorewise.tallies import Tally
from scorewise.tallies.climbing import why_not_unit
from scorewise.tallies.midpoint import Rule
from scorewise.tallies.midpoint import midpoint as find_midpoint


class SensitivityDisplay(PredictionDisplay):
    """The area under the score-weighted ROC curve against its midpoint, with the midpoint used.

    After `plot`: `line_`, `midpoint_`, `point_`, and `rules_` by their names.
    """

    line_: Any
    midpoint_: Any
    point_: Any
    rules_: dict[str, Any]

    def __init__(
        self, t: Tally, midpoint: Rule | float | Tally = "mean", name: str | None = None
    ) -> None:
        if why := t.why_not_ranked or why_not_unit(t):
            raise BadInput(f"no smROC curve: {why}")
        self.tally, self.name = t, name
        self.found = find_midpoint(t, midpoint)
        self.areas = sensitivity(t)

    @classmethod
    def from_tally(
        cls,
        t: Tally,
        *,
        midpoint: Rule | float | Tally = "mean",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a tally; the options are those of `plot`."""
        return cls(t, midpoint, name).plot(ax=ax, **options)

    def plot(self, ax: Any = None, *, rules: bool = True, **line: Any) -> Self:
        """Draw the area with the midpoint, and what other `rules` would say."""
        (ax,) = panels(ax, 1, (6.4, 4.4))
        # an area holds from the midpoint before, which is left out, up to its own
        x = np.concatenate(([0.0], self.areas.midpoint[:-1], [1.0]))
        y = np.concatenate((self.areas.area[:1], self.areas.area))
        look = {"color": BLUE, "lw": 1.6, "label": named(self.name, "smAUC for each midpoint")}
        (self.line_,) = ax.plot(x, y, drawstyle="steps-pre", **styled(look, line))
        self.midpoint_ = draw_midpoint(ax, self.found)
        used = self.areas.at(self.found.value)
        (self.point_,) = ax.plot(
            self.found.value, used, "o", color=self.line_.get_color(), ms=7, zorder=6,
            label=f"smAUC used: {number(used)}",
        )  # fmt: skip
        self.rules_ = draw_others(ax, self.tally, self.found) if rules else {}
        ax.set_xlim(0, 1)
        over_grid(ax, "midpoint", "area under smROC")
        legend(ax, "above", columns=3)
        return self._drew([ax])
