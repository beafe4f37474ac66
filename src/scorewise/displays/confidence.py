"""How sure models are near their data and far from it, drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from scorewise.displays.canvas import CHANCE, GREY, legend, next_look, over_grid, panels, styled
from scorewise.displays.display import Display
from scorewise.errors import BadInput

if TYPE_CHECKING:
    from scorewise.models import InAndOut

SIDES = ((0.0, "in"), (0.5, "out"))  # where the rows in and out of distribution stand


class ConfidenceDisplay(Display):
    """The mean confidence of models on rows in and out of distribution, and at radii of the data.

    Points on the left are the rows that were given, the curve to the right of them is of points in
    random directions, with intervals; the dotted line is the share of the commonest class, which is
    all that can be known far from the data. After `plot`: `lines_`, `points_` and `bands_` by name.
    """

    lines_: dict[str, Any]
    points_: dict[str, Any]
    bands_: dict[str, Any]

    def __init__(self, result: InAndOut) -> None:
        self.result = result
        self.radii = np.array(list(next(iter(result.values())).at))
        if not len(self.radii):
            raise BadInput(
                "there are no radii to draw; ask in_and_out for some, such as radii=(1, 5)"
            )

    @classmethod
    def from_result(cls, result: InAndOut, *, ax: Any = None, **line: Any) -> Self:
        """Draw what `sw.models.in_and_out` found."""
        return cls(result).plot(ax=ax, **line)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw a curve for each model; `line` goes to matplotlib's `plot`, such as `lw=3`."""
        (ax,) = panels(ax, 1, (6.4, 4.2))
        self.lines_, self.points_, self.bands_ = {}, {}, {}
        left = self.radii.min() - 1.5
        for name, one in self.result.items():
            look = next_look(ax) | {"lw": 1.8, "marker": ".", "label": name}
            low, value, high = _ends(one.at.values())
            (drawn,) = ax.plot(self.radii, value, **styled(look, line))
            self.lines_[name], colour = drawn, drawn.get_color()
            self.bands_[name] = ax.fill_between(
                self.radii, low, high, color=colour, alpha=0.18, lw=0
            )
            sides = _ends(one[f"confidence_{side}"] for _, side in SIDES)
            at = left + np.array([place for place, _ in SIDES])
            (self.points_[name],) = ax.plot(at, sides[1], "o", color=colour, ms=6)
            ax.vlines(at, sides[0], sides[2], color=colour, lw=1.4)
        self._frame(ax, left)
        return self._drew([ax])

    def _frame(self, ax: Any, left: float) -> None:
        share = next(iter(self.result.values())).largest_share
        ax.axhline(share, ls=":", color=GREY, lw=1, zorder=1, gid=CHANCE, label="commonest class")
        ticks = [(left + place, f"rows\n{side}") for place, side in SIDES]
        ticks += [(radius, f"{radius:g}") for radius in self.radii]
        ax.set_xticks([at for at, _ in ticks], [text for _, text in ticks])
        over_grid(ax, "radii of the data", "mean confidence")
        ax.set_ylim(0, 1.03)
        legend(ax, "above", columns=min(3, len(self.result) + 1))


def _ends(found: Any) -> Any:
    """Lower ends, values and upper ends; a value whose interval is a point stands for its ends."""
    ends = np.array([(e.low, e.value, e.high) for e in found], dtype=float)
    return np.where(np.isnan(ends), ends[:, 1:2], ends).T
