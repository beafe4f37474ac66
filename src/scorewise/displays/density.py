"""Densities, drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from scorewise.curves.density import Density, density
from scorewise.displays.canvas import legend, named, next_look, over_grid, panels, styled
from scorewise.displays.display import PredictionDisplay
from scorewise.errors import BadInput
from scorewise.tallies import Tally


class DensityDisplay(PredictionDisplay):
    """One density, or several by name, over each other; `unit` says what of.

    After `plot`: `lines_` by name, and `line_`, the first of them.
    """

    lines_: dict[str, Any]
    line_: Any

    def __init__(
        self,
        densities: Density | Mapping[str, Density],
        name: str | None = None,
        unit: str = "value",
    ) -> None:
        self.densities = {"": densities} if isinstance(densities, Density) else dict(densities)
        if not self.densities:
            raise BadInput("no densities were given; pass one, or {name: density}")
        self.name, self.unit = name, unit

    @classmethod
    def from_samples(cls, samples: Mapping[str, Any], *, ax: Any = None, **options: Any) -> Self:
        """Draw the density of each sample under its name; the options are those of `density`."""
        return cls({name: density(x, **options) for name, x in samples.items()}).plot(ax=ax)

    @classmethod
    def from_tally(
        cls,
        t: Tally,
        *,
        name: str | None = None,
        ax: Any = None,
        kernel: str = "gaussian",
        bandwidth: Any = "isj",
        points: int = 1024,
        **line: Any,
    ) -> Self:
        """Draw the scores of each class of a tally; `line` goes to matplotlib's `plot`."""
        found = Density.of(t, kernel=kernel, bandwidth=bandwidth, points=points)
        words = [
            f"{word} ({label})" if label else word
            for word, label in (("negatives", t.origin.negative), ("positives", t.origin.positive))
        ]
        return cls(dict(zip(words, found, strict=True)), name, "score").plot(ax=ax, **line)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curves; `line` goes to matplotlib's `plot`, such as `lw=3`."""
        (ax,) = panels(ax, 1, (6.4, 4.0))
        self.lines_ = {}
        for word, d in self.densities.items():
            label = named(self.name, word) if word else self.name
            look = next_look(ax) | {"lw": 1.8} | ({"label": label} if label else {})
            (self.lines_[word],) = ax.plot(d.x, d.y, **styled(look, line))
        self.line_ = next(iter(self.lines_.values()))
        ax.set_xlim(*ax.dataLim.intervalx)
        ax.set_ylim(bottom=0)
        over_grid(ax, self.unit, "density")
        if ax.get_legend_handles_labels()[1]:
            legend(ax, "above", columns=2)
        return self._drew([ax])
