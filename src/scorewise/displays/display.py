"""How displays are made and where they leave what they drew, as scikit-learn's do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from scorewise.columns import Kind, Missing
from scorewise.errors import BadInput
from scorewise.tallies import Tally
from scorewise.tallies.smroc import Rule, why_not_unit
from scorewise.tallies.smroc import midpoint as find_midpoint


class Display:
    """A picture: once drawn, `figure_` is the figure, `axes_` its panels and `ax_` the first of them."""

    figure_: Any
    axes_: list[Any]
    ax_: Any

    def _drew(self, axes: Sequence[Any]) -> Self:
        self.axes_ = list(axes)
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        return self


class PredictionDisplay(Display, ABC):
    """A picture of labels and scores: `from_predictions(y, s)` or `from_tally(t)` draws it."""

    @classmethod
    def from_predictions(
        cls,
        y: Any,
        s: Any,
        *,
        weight: Any = None,
        count: Any = None,
        positive: Any = None,
        kind: Kind | None = None,
        missing: Missing = "refuse",
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw labels `y` and scores `s`; the options are those of `from_tally`."""
        t = Tally.of(
            y, s, weight=weight, count=count, positive=positive, kind=kind, missing=missing
        )
        return cls.from_tally(t, name=name, ax=ax, **options)

    @classmethod
    @abstractmethod
    def from_tally(
        cls, t: Tally, *, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw a tally."""


class MidpointedDisplay(PredictionDisplay):
    """A picture of scores on [0, 1] with their midpoint."""

    plot: Any  # each draws with options of its own

    def __init__(
        self, t: Tally, midpoint: Rule | float | Tally = "mean", name: str | None = None
    ) -> None:
        if why := t.why_not_ranked or why_not_unit(t):
            raise BadInput(f"no midpoint: {why}")
        self.tally, self.name = t, name
        self.found = find_midpoint(t, midpoint)

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
        drawn: Self = cls(t, midpoint, name).plot(ax=ax, **options)
        return drawn
