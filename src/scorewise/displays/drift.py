"""Whether data have changed, drawn: scores, curves, and what becomes of them over time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from scorewise.curves import roc
from scorewise.curves.smroc import smooth_roc
from scorewise.curves.thresholds import Curve
from scorewise.displays.canvas import (
    BLUE,
    VERMILION,
    area_text,
    legend,
    over_grid,
    panels,
    percent,
    unit_square,
)
from scorewise.displays.display import Display
from scorewise.errors import BadInput
from scorewise.estimate import Estimate, number
from scorewise.inference.scales import mean_score
from scorewise.measures import auroc, smauc
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import Rule, why_not_unit
from scorewise.tallies.smroc import midpoint as find_midpoint

LOOKS: tuple[dict[str, Any], ...] = (
    {"color": BLUE, "ls": "-"},
    {"color": VERMILION, "ls": (0, (5, 1.5))},
)


class DriftDisplay(Display):
    """A reference sample against a current one: scores, midpoints and smROC curves.

    `windows` are further samples in order of time, as (name, tally); area and mean score of each are
    drawn over the interval of the reference. Scores outside [0, 1] get ROC curves, and samples without
    labels (one class only) none. After `plot`: `histograms_`, `midpoints_` and `lines_`, of the
    reference and of the current sample, and with windows `areas_` and `means_`.
    """

    histograms_: list[Any]
    midpoints_: list[Any]
    lines_: list[Any]
    areas_: Any
    means_: Any

    def __init__(
        self,
        reference: Tally,
        current: Tally,
        windows: Sequence[tuple[str, Tally]] = (),
        *,
        names: tuple[str, str] = ("reference", "current"),
        midpoint: Rule | float | Tally = "mean",
        level: float = 0.95,
    ) -> None:
        self.samples = (reference, current)
        for name, t in zip((*names, *(n for n, _ in windows)), self._all(windows), strict=True):
            if not len(t.score):
                raise BadInput(f"'{name}' has no rows")
        self.windows, self.names = list(windows), names
        self.midpoint, self.level = midpoint, level

    @classmethod
    def from_tallies(
        cls,
        reference: Tally,
        current: Tally,
        windows: Sequence[tuple[str, Tally]] = (),
        *,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw two tallies; the options are those of the display."""
        return cls(reference, current, windows, **options).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw scores, curves and, where there are windows, areas and mean scores over time.

        These are two or four panels; of given axes, as many of them as there are.
        """
        draw = [self._scores, self._curves]
        if self.windows:
            axes = panels(ax, 4, (10.8, 8.6), rows=2)
            draw += [self._areas, self._means]
        else:
            axes = panels(ax, 2, (10.8, 5.2))
        for panel, one in zip(draw, axes, strict=False):
            panel(one)
        return self._drew(axes)

    @cached_property
    def smooth(self) -> bool:
        """Whether all scores lie in [0, 1], so that there are smROC curves."""
        return not any(why_not_unit(t) for t in self._all(self.windows))

    def _all(self, windows: Sequence[tuple[str, Tally]]) -> list[Tally]:
        return [*self.samples, *(t for _, t in windows)]

    def _scores(self, ax: Any) -> None:
        units = [unit(t.score, t.kind) for t in self.samples]
        rows = min(t.origin.rows for t in self.samples)
        edges = np.histogram_bin_edges(np.concatenate(units), int(np.clip(np.sqrt(rows), 8, 40)))
        self.histograms_, self.midpoints_ = [], []
        for s, t, name, look in zip(units, self.samples, self.names, LOOKS, strict=True):
            share, _ = np.histogram(s, edges, weights=(t.neg + t.pos) / (t.neg + t.pos).sum())
            filled = look is LOOKS[0]
            label = f"{name}, {t.origin.rows:,} rows"
            self.histograms_.append(
                ax.stairs(
                    share, edges, fill=filled, alpha=0.35 if filled else 1.0, label=label,
                    color=look["color"], lw=0 if filled else 1.6,
                )
            )  # fmt: skip
        for t, name, look in zip(self.samples, self.names, LOOKS, strict=True):
            value, word = self._middle(t)
            self.midpoints_.append(
                ax.axvline(value, **look, lw=1.6, label=f"{name}: {word} {number(value)}")
            )
        over_grid(ax, "score", "share of rows")
        legend(ax, "above", columns=2)

    def _middle(self, t: Tally) -> tuple[float, str]:
        if t.why_not_ranked or not self.smooth:
            return mean_score(t).value, "mean score"
        return find_midpoint(t, self.midpoint).value, "midpoint"

    def _curves(self, ax: Any) -> None:
        self.lines_ = []
        for t, name, look in zip(self.samples, self.names, LOOKS, strict=True):
            if why := t.why_not_ranked:
                x = y = np.empty(0)
                label = f"{name}: no curve, {why}"
            else:
                curve: Curve = smooth_roc(t, self._middle(t)[0]) if self.smooth else roc(t)
                x, y = curve.x, curve.y
                label = f"{name}: {area_text(self._area_name, self._area(t))}"
            self.lines_.append(ax.plot(x, y, **look, lw=1.8, label=label)[0])
        words = ("share of all runs", "share of all climbs")
        labels = words if self.smooth else ("false positive rate", "true positive rate")
        unit_square(ax, *labels, chance=not self.smooth)
        legend(ax, "lower right")

    @property
    def _area_name(self) -> str:
        return "smAUC" if self.smooth else "AUROC"

    def _area(self, t: Tally) -> Estimate:
        if self.smooth:
            return smauc(t, midpoint=self.midpoint, level=self.level)
        return auroc(t, level=self.level)

    def _areas(self, ax: Any) -> None:
        self.areas_ = self._over_time(ax, self._area, self._area_name)

    def _means(self, ax: Any) -> None:
        self.means_ = self._over_time(ax, self._mean, "mean score")

    def _mean(self, t: Tally) -> Estimate:
        return mean_score(t, level=self.level)

    def _over_time(self, ax: Any, measure: Any, title: str) -> Any:
        """The estimates of the windows with their intervals, over the interval of the reference."""
        found = [measure(t) for _, t in self.windows]
        value, low, high = (
            np.array([getattr(e, f) for e in found]) for f in ("value", "low", "high")
        )
        known = measure(self.samples[0])
        if known.defined:
            label = f"{self.names[0]}, {percent(self.level)} interval"
            ax.axhspan(known.low, known.high, color=BLUE, alpha=0.18, lw=0, label=label)
            ax.axhline(known.value, color=BLUE, lw=1.2)
        at = np.arange(len(found))
        made = ax.errorbar(
            at, value, yerr=np.abs([value - low, high - value]), fmt="o", ms=4.5, lw=1.2, capsize=2.5,
            color=VERMILION, label=f"windows, {percent(self.level)} interval",
        )  # fmt: skip
        every = max(1, -(-len(at) // 12))
        ax.set_xticks(
            at[::every], [name for name, _ in self.windows[::every]], rotation=30, ha="right"
        )
        over_grid(ax, "window", title)
        legend(ax, "above", columns=2)
        return made
