"""The reliability curve, drawn: what happened against what was said, over the scores themselves."""

from __future__ import annotations

from typing import Any, Literal, Self, get_args

import numpy as np

from scorewise.columns.rows import one_of
from scorewise.curves.hull import Parts, decompose
from scorewise.curves.reliability import Bands, Reliability, reliability
from scorewise.displays.canvas import (
    CHANCE,
    GREY,
    legend,
    named,
    next_look,
    over_grid,
    panels,
    percent,
    styled,
)
from scorewise.displays.display import PredictionDisplay
from scorewise.estimate import number
from scorewise.tallies import Tally

Axis = Literal["linear", "logit"]
BINS = 40
PARTS = "parts"


class ReliabilityDisplay(PredictionDisplay):
    """The reliability curve of a tally with its band, the parts of its Brier score, and a histogram.

    After `plot`: `line_`, `band_` (None if not asked for), `text_` and, on a second panel, `histogram_`.
    """

    line_: Any
    band_: Any
    text_: Any
    histogram_: Any

    def __init__(
        self,
        t: Tally,
        name: str | None = None,
        *,
        level: float = 0.95,
        bands: Bands = "consistency",
        simultaneous: bool = False,
        seed: int = 0,
    ) -> None:
        self.tally, self.name = t, name
        self.curve: Reliability = reliability(
            t, level=level, bands=bands, simultaneous=simultaneous, seed=seed
        )
        self.parts: Parts = decompose(t)

    @classmethod
    def from_tally(
        cls,
        t: Tally,
        *,
        name: str | None = None,
        level: float = 0.95,
        bands: Bands = "consistency",
        simultaneous: bool = False,
        seed: int = 0,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a tally; the options are those of `plot`."""
        made = cls(t, name, level=level, bands=bands, simultaneous=simultaneous, seed=seed)
        return made.plot(ax=ax, **options)

    def plot(
        self, ax: Any = None, *, axis: Axis = "linear", band: bool = True, **line: Any
    ) -> Self:
        """Draw the curve, and below it how many rows got each probability.

        axis="logit" spreads out what lies near 0 and 1; band=False leaves the band out. `line` goes to
        matplotlib's `plot`, such as `color="k"`.
        """
        one_of("axis", axis, get_args(Axis))
        axes = panels(ax, 2, (5.2, 6.4), rows=2)
        if ax is None:
            axes[0].get_gridspec().set_height_ratios([5, 1])
        self._curve(axes[0], axis, band, line)
        self.histogram_ = self._histogram(axes[1], axis) if len(axes) > 1 else None
        if len(axes) > 1:
            axes[1].set_xlim(axes[0].get_xlim())
        return self._drew(axes)

    def _curve(self, ax: Any, axis: Axis, band: bool, line: dict[str, Any]) -> None:
        c = self.curve
        look = next_look(ax) | {"lw": 1.8, "label": named(self.name, "isotonic fit")}
        (self.line_,) = ax.plot(c.x, c.y, **styled(look, line))
        self.band_ = self._band(ax) if band else None
        if not any(drawn.get_gid() == CHANCE for drawn in ax.get_lines()):
            ends = [0, 1] if axis == "linear" else [1e-6, 1 - 1e-6]
            ax.plot(ends, ends, ":", color=GREY, lw=1, zorder=1, gid=CHANCE, label="calibrated")
        # of several curves on one axes each has its own place for its parts
        below = 0.03 + 0.16 * sum(text.get_gid() == PARTS for text in ax.texts)
        self.text_ = ax.text(
            0.97, below, self._parts(), transform=ax.transAxes, ha="right", va="bottom", gid=PARTS,
            fontsize="small", linespacing=1.4, color=self.line_.get_color() if below > 0.1 else None,
        )  # fmt: skip
        over_grid(ax, "probability", "share of positives")
        self._scale(ax, axis)
        legend(ax, "upper left")

    def _band(self, ax: Any) -> Any:
        c = self.curve
        kind = f"{c.bands}, {'simultaneous' if c.simultaneous else 'pointwise'}"
        label = f"{percent(c.level)} band, {kind}"
        colour = self.line_.get_color()
        return ax.fill_between(c.x, c.low, c.high, color=colour, alpha=0.18, lw=0, label=label)

    def _parts(self) -> str:
        parts = {"MCB": self.parts.mcb, "DSC": self.parts.dsc, "UNC": self.parts.unc}
        return "\n".join(f"{name} {number(x, 4)}" for name, x in parts.items())

    def _scale(self, ax: Any, axis: Axis) -> None:
        if axis == "linear":
            ax.set_xlim(-0.02, 1.02)
            ax.set_ylim(-0.02, 1.02)
            return
        inside = self.curve.x[(self.curve.x > 0) & (self.curve.x < 1)]
        least = min(inside.min(), 1 - inside.max(), 0.1) / 2 if len(inside) else 1e-3
        ends = max(float(least), 1e-6)
        ax.set_xscale("logit", nonpositive="clip")
        ax.set_yscale("logit", nonpositive="clip")
        ax.set_xlim(ends, 1 - ends)
        ax.set_ylim(ends, 1 - ends)

    def _histogram(self, ax: Any, axis: Axis) -> Any:
        c = self.curve
        edges = np.linspace(0, 1, BINS + 1)
        if axis == "logit":
            low = max(float(np.min(np.minimum(c.x, 1 - c.x))), 1e-6) / 1.01
            reach = np.log(1 - low) - np.log(low)
            edges = 1 / (1 + np.exp(-np.linspace(-reach, reach, BINS + 1)))
        at = np.clip(c.x, edges[0], edges[-1])
        drawn = ax.hist(at, bins=edges, weights=c.mass, color=GREY, alpha=0.7)
        over_grid(ax, "probability", "weight" if self.tally.weighted else "rows")
        if axis == "logit":
            ax.set_xscale("logit")
            ax.set_xlim(edges[0], edges[-1])
        else:
            ax.set_xlim(-0.02, 1.02)
        return drawn[2]
