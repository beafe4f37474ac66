"""A map from scores to probabilities, drawn: itself, and reliability before and after."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np

from scorewise.displays.canvas import BLUE, GREY, VERMILION, legend, over_grid, panels
from scorewise.displays.display import Display
from scorewise.displays.recalibration_of_classes import ClassRecalibrationDisplay
from scorewise.errors import BadInput
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.sorting import add_runs

BINS = 15


class RecalibrationDisplay(Display):
    """The map over the scores, and the share of positives in bins of equal mass, before and after.

    Scores of any scale have no "before". After `plot`: `map_`, `before_` (None for such scores) and
    `after_`.
    """

    map_: Any
    before_: Any
    after_: Any

    def __init__(
        self,
        t: Tally,
        mapped: Callable[[Any], Any],
        *,
        name: str | None = None,
        bins: int = BINS,
    ) -> None:
        if why := t.why_not_ranked:
            raise BadInput(f"no reliability: {why}")
        self.tally, self.mapped, self.name, self.bins = t, mapped, name, bins

    @classmethod
    def from_recalibrator(
        cls, r: Any, *, ax: Any = None, bins: int = BINS
    ) -> Self | ClassRecalibrationDisplay:
        """Draw a fitted `Recalibrator` on the rows that it was fitted to."""
        if hasattr(r.map_, "classes"):
            t = r.rows_
            q = r.map_.of_table(t)
            return ClassRecalibrationDisplay(t.p, q, t.y, t.w, bins=bins).plot(ax=ax)
        return cls(r.tally_, r.map_, name=r.chosen, bins=bins).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the map and the reliability, on two panels or on as many as are given."""
        axes = panels(ax, 2, (10.8, 5.2))
        for panel, one in zip((self._map, self._reliability), axes, strict=False):
            panel(one)
        return self._drew(axes)

    def _map(self, ax: Any) -> None:
        t = self.tally
        low, high = t.ends
        if t.kind == "probability":
            low, high = 0.0, 1.0
            ax.plot([0, 1], [0, 1], ":", color=GREY, lw=1, label="unchanged")
        x = np.linspace(low, high, 1001)
        (self.map_,) = ax.plot(x, self.mapped(x), color=BLUE, lw=1.8, label=self.name or "map")
        over_grid(ax, t.kind, "probability after")
        legend(ax, "upper left")

    def _reliability(self, ax: Any) -> None:
        t = self.tally
        self.before_ = None
        after = self.mapped(t.score)
        if t.kind != "score":
            self.before_ = self._points(ax, unit(t.score, t.kind), "before", VERMILION, "s")
        self.after_ = self._points(ax, after, "after", BLUE, "o")
        ax.plot([0, 1], [0, 1], ":", color=GREY, lw=1, label="calibrated")
        ax.set_aspect("equal", adjustable="box")
        over_grid(ax, "mean probability in the bin", "share of positives")
        legend(ax, "upper left")

    def _points(self, ax: Any, p: Any, label: str, colour: str, mark: str) -> Any:
        t = self.tally
        order = np.argsort(p, kind="stable")  # a map need not rise
        p, neg, pos = p[order], t.neg[order], t.pos[order]
        mass = neg + pos
        group = ((mass.cumsum() - mass / 2) * (self.bins / mass.sum())).astype(int)
        # ties stay together, in the bin of the first of them
        first = np.concatenate(([True], p[1:] != p[:-1]))
        group = group[np.maximum.accumulate(np.where(first, np.arange(len(p)), 0))]
        start = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
        total = add_runs(mass, start)
        x, y = add_runs(mass * p, start) / total, add_runs(pos, start) / total
        return ax.plot(x, y, mark, ls="-", lw=1, ms=5, color=colour, label=label)[0]
