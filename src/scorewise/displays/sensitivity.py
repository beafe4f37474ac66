"""The area for every midpoint there could be, drawn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from scorewise.curves.smroc import sensitivity
from scorewise.displays.canvas import BLUE, legend, named, over_grid, panels, styled
from scorewise.displays.display import MidpointedDisplay
from scorewise.displays.marks import draw_midpoint, draw_others
from scorewise.estimate import number


class SensitivityDisplay(MidpointedDisplay):
    """The area under the score-weighted ROC curve against its midpoint, with the midpoint used.

    After `plot`: `line_`, `midpoint_`, `point_`, and `rules_` by their names.
    """

    line_: Any
    midpoint_: Any
    point_: Any
    rules_: dict[str, Any]

    def plot(self, ax: Any = None, *, rules: bool = True, **line: Any) -> Self:
        """Draw the area with the midpoint, and what other `rules` would say."""
        (ax,) = panels(ax, 1, (6.4, 4.4))
        # an area holds from the midpoint before, which is left out, up to its own
        areas = sensitivity(self.tally)
        x = np.concatenate(([0.0], areas.midpoint[:-1], [1.0]))
        y = np.concatenate((areas.area[:1], areas.area))
        look = {"color": BLUE, "lw": 1.6, "label": named(self.name, "smAUC for each midpoint")}
        (self.line_,) = ax.plot(x, y, drawstyle="steps-pre", **styled(look, line))
        self.midpoint_ = draw_midpoint(ax, self.found)
        used = areas.at(self.found.value)
        (self.point_,) = ax.plot(
            self.found.value, used, "o", color=self.line_.get_color(), ms=7, zorder=6,
            label=f"smAUC used: {number(used)}",
        )  # fmt: skip
        self.rules_ = draw_others(ax, self.tally, self.found) if rules else {}
        ax.set_xlim(0, 1)
        over_grid(ax, "midpoint", "area under smROC")
        legend(ax, "above", columns=3)
        return self._drew([ax])
