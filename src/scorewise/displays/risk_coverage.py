"""The risk-coverage curve, drawn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from scorewise.curves.selective import confident, risk_coverage
from scorewise.displays.canvas import (
    CHANCE,
    GREY,
    area_text,
    legend,
    named,
    next_look,
    over_grid,
    panels,
    styled,
)
from scorewise.displays.display import Display
from scorewise.errors import BadInput
from scorewise.measures import aurc
from scorewise.tallies import ClassTally, Tally


class RiskCoverageDisplay(Display):
    """The share wrong among the rows kept, over the share kept, the surest first.

    The area with its interval is in the legend; the dotted line is the error rate of all rows, where
    confidence without meaning would stay, and the thin line the best order of the same rows. After
    `plot`: `line_` and `best_`.
    """

    line_: Any
    best_: Any

    def __init__(
        self, t: ClassTally | Tally, name: str | None = None, *, level: float = 0.95
    ) -> None:
        self.tally, self.name = confident(t), name
        if not self.tally.negatives and not self.tally.positives:
            raise BadInput("no risk-coverage curve: no rows")
        self.curve = risk_coverage(self.tally)
        self.area = aurc(self.tally, level=level)

    @classmethod
    def from_predictions(
        cls, y: Any, p: Any, *, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw labels `y` and scores `p` of each class; the options are those of `ClassTally.of`."""
        return cls(ClassTally.of(y, p, **options), name).plot(ax=ax)

    @classmethod
    def from_tally(
        cls,
        t: ClassTally | Tally,
        *,
        name: str | None = None,
        level: float = 0.95,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw a tally of several classes, or of confidence against correct."""
        return cls(t, name, level=level).plot(ax=ax, **options)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curve; `line` goes to matplotlib's `plot`, such as `color="k"`."""
        (ax,) = panels(ax, 1, (5.6, 4.2))
        look = next_look(ax) | {"lw": 1.8, "label": named(self.name, area_text("AURC", self.area))}
        x, y = self._points()
        (self.line_,) = ax.plot(x, y, **styled(look, line))
        kept, risk = self._best()
        (self.best_,) = ax.plot(kept, risk, color=self.line_.get_color(), lw=0.8, alpha=0.7)
        rate = self.curve.y[-1]
        ax.plot([0, 1], [rate, rate], ":", color=GREY, lw=1, zorder=1, gid=CHANCE)
        over_grid(ax, "coverage: share of rows kept", "risk: share of them wrong")
        ax.set_xlim(-0.02, 1.02)
        ax.set_ylim(bottom=0)
        legend(ax, "upper left")
        return self._drew([ax])

    def _points(self) -> tuple[Any, Any]:
        """The curve with its runs of ties filled in, along which the counts run straight."""
        x = np.unique(np.concatenate((self.curve.x, np.linspace(0, 1, 513)[1:])))
        kept = np.concatenate(([0.0], self.curve.x))
        wrong = np.concatenate(([0.0], self.curve.x * self.curve.y))
        return x, np.interp(x, kept, wrong) / x

    def _best(self) -> tuple[Any, Any]:
        """The same if every wrong row came last."""
        rate = self.curve.y[-1]
        x = np.linspace(1 - rate, 1, 257)
        with np.errstate(divide="ignore", invalid="ignore"):
            risk = np.where(x > 0, (x - (1 - rate)) / x, 1.0)
        return np.concatenate(([0.0], x)), np.concatenate((risk[:1], risk))
