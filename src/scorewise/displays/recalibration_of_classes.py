"""A map of several classes, drawn: the confidence before and after, and how often it is right."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from scorewise.displays.canvas import BLUE, GREY, VERMILION, legend, over_grid, panels
from scorewise.displays.display import Display
from scorewise.tallies.sorting import add_runs


class ClassRecalibrationDisplay(Display):
    """The share of right decisions over the highest probability, and how that is spread.

    `p` and `q` are the probabilities before and after, `y` the place of the true class, `w` the weights.
    After `plot`: `before_` and `after_`.
    """

    before_: Any
    after_: Any

    def __init__(self, p: Any, q: Any, y: Any, w: Any, *, bins: int = 15) -> None:
        self.p, self.q, self.y, self.w, self.bins = p, q, y, w, bins

    def plot(self, ax: Any = None) -> Self:
        """Draw the reliability and the spread, on two panels or on as many as are given."""
        axes = panels(ax, 2, (10.8, 5.2))
        for panel, one in zip((self._reliability, self._spread), axes, strict=False):
            panel(one)
        return self._drew(axes)

    def _reliability(self, ax: Any) -> None:
        self.before_ = self._points(ax, self.p, "before", VERMILION, "s")
        self.after_ = self._points(ax, self.q, "after", BLUE, "o")
        ax.plot([0, 1], [0, 1], ":", color=GREY, lw=1, label="calibrated")
        ax.set_aspect("equal", adjustable="box")
        over_grid(ax, "mean confidence in the bin", "share that is right")
        legend(ax, "upper left")

    def _spread(self, ax: Any) -> None:
        edges = np.linspace(0, 1, self.bins + 1)
        for values, label, colour in ((self.p, "before", VERMILION), (self.q, "after", BLUE)):
            share = np.histogram(values.max(1), edges, weights=self.w)[0] / self.w.sum()
            ax.stairs(share, edges, color=colour, lw=1.8, label=label)
        over_grid(ax, "confidence", "share of rows")
        legend(ax, "upper left")

    def _points(self, ax: Any, p: Any, label: str, colour: str, mark: str) -> Any:
        """Bins of equal mass of the highest probability."""
        top = p.max(1)
        order = np.argsort(top, kind="stable")
        top, w = top[order], self.w[order]
        right = (p.argmax(1) == self.y)[order]
        group = ((w.cumsum() - w / 2) * (self.bins / w.sum())).astype(int)
        # ties stay together, in the bin of the first of them
        first = np.concatenate(([True], top[1:] != top[:-1]))
        group = group[np.maximum.accumulate(np.where(first, np.arange(len(top)), 0))]
        start = np.flatnonzero(np.concatenate(([True], group[1:] != group[:-1])))
        total = add_runs(w, start)
        x, share = add_runs(w * top, start) / total, add_runs(w * right, start) / total
        return ax.plot(x, share, mark, ls="-", lw=1, ms=5, color=colour, label=label)[0]
