"""Coefficients of agreement with their intervals, drawn over the bands that have names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

import scorewise.measures  # noqa: F401 - fills the register
from scorewise.displays.canvas import BLUE, GREY, ink, literal, panels, percent
from scorewise.displays.display import Display
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.agreement_exact import BANDS
from scorewise.registry import RATER_MEASURES
from scorewise.tallies import Ratings

SHADES = ("#FFFFFF", "#F2F2F2", "#E6E6E6", "#DADADA", "#CECECE", "#C2C2C2")
OF_TWO = "cohen_kappa", "scott_pi", "krippendorff_alpha", "gwet_ac", "brennan_prediger"
OF_MORE = "fleiss_kappa", "conger_kappa", *OF_TWO[2:]


class CoefficientsDisplay(Display):
    """A dot with its interval for each coefficient, over the bands from none to almost perfect.

    `estimates` are by the name to write. After `plot`: `dots_` and `lines_` by name, and `bands_`.
    """

    dots_: dict[str, Any]
    lines_: dict[str, Any]
    bands_: dict[str, Any]

    def __init__(self, estimates: Mapping[str, Estimate]) -> None:
        if not estimates:
            raise BadInput("no coefficients to draw")
        self.estimates = dict(estimates)

    @classmethod
    def from_ratings(
        cls, r: Ratings, *, names: Sequence[str] | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw measures of agreement, all usual ones unless named.

        The options are those of the measures, such as weights= and level=.
        """
        if names is None:
            names = OF_TWO if r.raters is not None and len(r.raters) == 2 else OF_MORE
        unknown = [name for name in names if name not in RATER_MEASURES]
        if unknown:
            known = ", ".join(sorted(RATER_MEASURES))
            raise BadInput(f"no measure of raters is named {unknown[0]!r}; there are {known}")
        of = [RATER_MEASURES[name] for name in names]
        return cls({m.title: m(r, **options) for m in of}).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw all of them, the first at the top."""
        many = len(self.estimates)
        (ax,) = panels(ax, 1, (7.6, 1.5 + 0.42 * many))
        found = list(self.estimates.values())
        ends = [x for e in found for x in (e.value, e.low) if np.isfinite(x)]
        left = max(-1.0, min([-0.12, *(x - 0.05 for x in ends)]))
        self._shade(ax, left)
        self.dots_, self.lines_ = {}, {}
        for y, (name, e) in enumerate(self.estimates.items()):
            self._row(ax, y, name, e)
        ax.set_xlim(left, 1.02)
        ax.set_ylim(many - 0.4, -0.6)
        ax.set_yticks(range(many), [literal(name) for name in self.estimates])
        ax.set_xticks(np.round(np.arange(np.ceil(left / 0.2) * 0.2, 1.01, 0.2), 1))
        levels = sorted({e.level for e in found})
        ax.set_xlabel(f"agreement, with {' and '.join(map(percent, levels))} intervals")
        return self._drew([ax])

    def _shade(self, ax: Any, left: float) -> None:
        self.bands_, low = {}, left
        place = ax.get_xaxis_transform()
        for (name, edge), shade in zip(BANDS.items(), SHADES, strict=True):
            high = float(edge)
            # at 1 the axis ends a little later
            end = high if high < 1 else 1.02
            self.bands_[name] = ax.axvspan(low, end, color=shade, lw=0, zorder=0)
            ax.text(
                (low + min(end, 1.0)) / 2, 1.01, name.replace(" ", "\n"), transform=place, va="bottom",
                ha="center", fontsize="small", color=ink(ax),
            )  # fmt: skip
            low = high

    def _row(self, ax: Any, y: int, name: str, e: Estimate) -> None:
        if not e.defined:
            self.dots_[name] = ax.text(
                0.01, y, literal(f"undefined: {e.why}"), va="center", fontsize="small", color=GREY
            )
            return
        if np.isfinite(e.low) and np.isfinite(e.high):
            (self.lines_[name],) = ax.plot([e.low, e.high], [y, y], color=BLUE, lw=2.4, zorder=3)
        (self.dots_[name],) = ax.plot(
            [e.value], [y], "o", color=BLUE, ms=8, mec="white", mew=1.2, zorder=4
        )
