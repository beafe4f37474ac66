"""The midpoint among the scores of the two classes, drawn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from scorewise.curves.density import ClassDensities, Density
from scorewise.displays.canvas import BLUE, GREY, VERMILION, legend, named, over_grid, panels
from scorewise.displays.display import MidpointedDisplay
from scorewise.displays.marks import draw_midpoint, draw_others

_STEEP = 6  # how many times a class may peak above the other before its top is cut off


class MidpointDisplay(MidpointedDisplay):
    """The densities of the scores of both classes, where they overlap, and the midpoint.

    After `plot`: `negatives_`, `positives_`, `overlap_`, `midpoint_`, and `rules_` by their names.
    """

    negatives_: Any
    positives_: Any
    overlap_: Any
    midpoint_: Any
    rules_: dict[str, Any]

    def plot(self, ax: Any = None, *, overlap: bool = True, rules: bool = True) -> Self:
        """Draw the densities with the midpoint, their `overlap`, and what other `rules` would say."""
        (ax,) = panels(ax, 1, (6.4, 4.4))
        d, origin = Density.of(self.tally, bandwidth="silverman"), self.tally.origin
        classes = [
            named(self.name, f"{word} ({label})" if label else word)
            for word, label in (("negatives", origin.negative), ("positives", origin.positive))
        ]
        (self.negatives_,) = ax.plot(
            d.neg.x, d.neg.y, "--", color=VERMILION, lw=1.8, label=classes[0]
        )
        (self.positives_,) = ax.plot(d.pos.x, d.pos.y, "-", color=BLUE, lw=1.8, label=classes[1])
        self.overlap_ = _overlap(ax, d) if overlap else None
        self.midpoint_ = draw_midpoint(ax, self.found)
        self.rules_ = draw_others(ax, self.tally, self.found) if rules else {}
        ax.set_xlim(0, 1)
        peaks = sorted((d.neg.y.max(), d.pos.y.max()))
        cut = peaks[1] > _STEEP * peaks[0]
        ax.set_ylim(0, _STEEP * peaks[0] if cut else 1.05 * peaks[1])
        over_grid(ax, "score", f"density of each class{' (top cut off)' if cut else ''}")
        legend(ax, "above", columns=3)
        return self._drew([ax])


def _overlap(ax: Any, d: ClassDensities) -> Any:
    lower = np.minimum(d.neg.y, d.pos.y)
    label = f"overlap {100 * d.overlap:.0f} %"
    return ax.fill_between(d.neg.x, 0, lower, facecolor=GREY, alpha=0.35, lw=0, label=label)
