"""The ROC curve, drawn."""

from __future__ import annotations

from typing import Any, Self

from scorewise.curves import roc
from scorewise.curves.thresholds import band as find_band
from scorewise.curves.thresholds import roc_steps
from scorewise.displays.bands import BandName, draw_band
from scorewise.displays.canvas import (
    ORANGE,
    area_text,
    free_corner,
    legend,
    named,
    next_look,
    panels,
    styled,
    unit_square,
)
from scorewise.displays.display import PredictionDisplay
from scorewise.errors import BadInput
from scorewise.measures import auroc
from scorewise.tallies import Tally


class RocDisplay(PredictionDisplay):
    """The ROC curve of a tally, its area with the interval in the legend.

    After `plot`: `line_`, `hull_` and `band_`, the last two None unless asked for.
    """

    line_: Any
    hull_: Any
    band_: Any

    def __init__(
        self, t: Tally, name: str | None = None, *, level: float = 0.95, seed: int = 0
    ) -> None:
        if why := t.why_not_ranked:
            raise BadInput(f"no ROC curve: {why}")
        self.tally, self.name, self.level, self.seed = t, name, level, seed
        self.curve = roc(t)
        self.area = auroc(t, level=level)

    @classmethod
    def from_tally(
        cls,
        t: Tally,
        *,
        name: str | None = None,
        level: float = 0.95,
        seed: int = 0,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a tally; the options are those of `plot`."""
        return cls(t, name, level=level, seed=seed).plot(ax=ax, **options)

    def plot(
        self, ax: Any = None, *, hull: bool = False, band: BandName | None = None, **line: Any
    ) -> Self:
        """Draw the curve, and if asked its hull and a "pointwise" or "simultaneous" band.

        `line` goes to matplotlib's `plot`, such as `color="k"`.
        """
        (ax,) = panels(ax, 1, (5.2, 5.2))
        look = next_look(ax) | {"lw": 1.8}
        label = named(self.name, area_text("AUROC", self.area))
        (self.line_,) = ax.plot(self.curve.x, self.curve.y, **styled(look | {"label": label}, line))
        self.hull_ = self.band_ = None
        if hull:
            top = self.curve.hull()
            (self.hull_,) = ax.plot(
                top.x, top.y, "--", color=ORANGE, lw=1.2, label=named(self.name, "convex hull")
            )
        if band is not None:
            self.band_ = draw_band(ax, self._band, band, self.line_.get_color())
        unit_square(ax, "false positive rate", "true positive rate")
        legend(ax, free_corner(self.area.value))
        return self._drew([ax])

    def _band(self, *, simultaneous: bool) -> Any:
        return find_band(
            self.tally,
            self.curve,
            roc_steps,
            level=self.level,
            simultaneous=simultaneous,
            seed=self.seed,
        )
