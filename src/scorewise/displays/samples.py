"""Samples over one another: their densities, and whether data have changed over time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Self, TypeAlias

import numpy as np

from scorewise.colours import BLUE, VERMILION
from scorewise.curves.density import Density, density
from scorewise.displays import canvas
from scorewise.displays.canvas import AnyMidpoint
from scorewise.displays.smroc import plain_curves
from scorewise.errors import BadInput
from scorewise.estimate import Estimate, number
from scorewise.inference.means import mean_score
from scorewise.measures import auroc, smauc
from scorewise.statistics.smroc import midpoint as find_midpoint
from scorewise.statistics.smroc import why_not_unit
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit

Windows: TypeAlias = Sequence[tuple[str, Tally]]


class DensityDisplay(canvas.PredictionDisplay):
    """One density, or several by name, over each other; `unit` says what of.

    After `plot`: `lines_` by name, and `line_`, the first of them.
    """

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
    def from_tally(cls, t: Tally, *, ax: Any = None, **options: Any) -> Self:
        """Draw the scores of each class; the options are those of `Density.of`, `name=`, and of `plot`."""
        both = Density.of(t, **canvas.take_options(Density.of, options))
        named = dict(zip(canvas.class_names(t), both, strict=True))
        return cls._plotted(named, ax=ax, unit="score", **options)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curves; `line` goes to matplotlib's `plot`, such as `lw=3`."""
        (ax,) = self._axes(ax, (6.4, 4.0))
        self.lines_ = {}
        for word, d in self.densities.items():
            label = self._named(word) if word else self.name
            self.lines_[word] = canvas.curve(ax, d.x, d.y, label, line)
        self.line_ = next(iter(self.lines_.values()))
        where = "above" if ax.get_legend_handles_labels()[1] else None
        limits = {"xlim": ax.dataLim.intervalx, "ylim": (0, None)}
        canvas.frame(ax, self.unit, "density", where, 2, **limits)
        return self


class SuspectsDisplay(canvas.Display):
    """The densities of the scores of both classes, and below them rows whose label may be wrong.

    `suspects` are pairs of a score and whether its label is positive. After `plot`: `lines_` of the
    classes, and `marks_`, the rows of each.
    """

    def __init__(
        self, t: Tally, suspects: Sequence[tuple[float, bool]], name: str | None = None
    ) -> None:
        if why := t.why_not_ranked:
            raise BadInput(f"no rows can be suspicious: {why}")
        self.tally, self.suspects, self.name = t, list(suspects), name

    def plot(self, ax: Any = None) -> Self:
        """Draw the densities, and a mark for each row."""
        (ax,) = self._axes(ax, (6.4, 4.2))
        t = self.tally
        shown = DensityDisplay.from_tally(t, ax=ax)
        self.lines_ = list(shown.lines_.values())
        foot = -0.06 * ax.get_ylim()[1]
        self.marks_ = []
        for positive, word in enumerate(("negative", "positive")):
            at = unit(np.array([s for s, y in self.suspects if y == positive], np.float64), t.kind)
            label = f"{len(at)} suspicious, labelled {word}"
            look = {"color": self.lines_[positive].get_color(), "ms": 7, "alpha": 0.7}
            y = np.full(len(at), foot * (1 + positive))
            self.marks_ += ax.plot(at, y, "os"[positive], ls="", **look, label=label)
        ax.set_ylim(3 * foot, ax.get_ylim()[1])
        if self.name:
            ax.set_title(canvas.literal(self.name), fontsize="medium")
        canvas.frame(ax, "score", "density of each class", "best")
        return self


class DriftDisplay(canvas.Display):
    """A reference sample against a current one: scores, midpoints and smROC curves.

    `windows` are further samples in order of time, as (name, tally); area and mean score of each are
    drawn over the interval of the reference. Scores outside [0, 1] get ROC curves, and samples without
    labels (one class only) none. After `plot`: `histograms_`, `midpoints_` and `lines_`, of the
    reference and of the current sample, and with windows `areas_` and `means_`.
    """

    def __init__(
        self,
        reference: Tally,
        current: Tally,
        windows: Windows = (),
        *,
        names: tuple[str, str] = ("reference", "current"),
        midpoint: AnyMidpoint = "mean",
        level: float = 0.95,
    ) -> None:
        self.samples, self.windows, self.names = (reference, current), list(windows), names
        self.midpoint, self.level = midpoint, level
        self._both = list(zip(self.samples, names, map(canvas.series_style, (0, 1)), strict=True))
        tallies = [*zip(names, self.samples, strict=True), *self.windows]
        for name, t in tallies:
            if not len(t.score):
                raise BadInput(f"'{name}' has no rows")
        # whether all scores lie in [0, 1], so that there are smROC curves
        self.smooth = not any(why_not_unit(t) for _, t in tallies)

    @classmethod
    def from_tallies(
        cls, reference: Tally, current: Tally, windows: Windows = (), *, ax: Any = None, **own: Any
    ) -> Self:
        """Draw two tallies; the options are those of the display."""
        return cls(reference, current, windows, **own).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw scores, curves and, where there are windows, areas and mean scores over time.

        These are two or four panels; of given axes, as many of them as there are.
        """
        over_time = [self._areas, self._means] if self.windows else []
        size, rows = ((10.8, 8.6), 2) if over_time else ((10.8, 5.2), 1)
        return self._panels(ax, size, self._scores, self._curves, *over_time, rows=rows)

    def _scores(self, ax: Any) -> None:
        units = [unit(t.score, t.kind) for t in self.samples]
        rows = min(t.origin.rows for t in self.samples)
        edges = np.histogram_bin_edges(np.concatenate(units), int(np.clip(np.sqrt(rows), 8, 40)))
        self.histograms_, self.midpoints_ = [], []
        fills = ({"fill": True, "alpha": 0.35, "lw": 0}, {"alpha": 1.0, "lw": 1.6})
        for s, (t, name, look), fill in zip(units, self._both, fills, strict=True):
            share, _ = np.histogram(s, edges, weights=(t.neg + t.pos) / (t.neg + t.pos).sum())
            label = f"{name}, {t.origin.rows:,} rows"
            bars = ax.stairs(share, edges, **fill, label=label, color=look["color"])
            self.histograms_.append(bars)
        for t, name, look in self._both:
            value, word = mean_score(t).value, "mean score"
            if self.smooth and not t.why_not_ranked:
                value, word = find_midpoint(t, self.midpoint).value, "midpoint"
            label = f"{name}: {word} {number(value)}"
            self.midpoints_.append(ax.axvline(value, **look, lw=1.6, label=label))
        canvas.frame(ax, "score", "share of rows", "above", 2)

    def _curves(self, ax: Any) -> None:
        self.lines_ = plain_curves(
            ax, self._both, self.midpoint, level=self.level, smooth=self.smooth
        )

    def _areas(self, ax: Any) -> None:
        if self.smooth:
            smooth = partial(smauc, midpoint=self.midpoint)
            self.areas_ = self._over_time(ax, smooth, "smAUC")
        else:
            self.areas_ = self._over_time(ax, auroc, "AUROC")

    def _means(self, ax: Any) -> None:
        self.means_ = self._over_time(ax, mean_score, "mean score")

    def _over_time(self, ax: Any, measure: Callable[..., Estimate], title: str) -> Any:
        """The estimates of the windows with their intervals, over the interval of the reference."""
        reference, *each = (
            measure(t, level=self.level) for t in (self.samples[0], *(t for _, t in self.windows))
        )
        (low, value, high), text = canvas.intervals(each), f"{canvas.percent(self.level)} interval"
        if reference.defined:
            label = f"{self.names[0]}, {text}"
            ax.axhspan(reference.low, reference.high, color=BLUE, alpha=0.18, lw=0, label=label)
            ax.axhline(reference.value, color=BLUE, lw=1.2)
        at, ends = np.arange(len(value)), np.abs([value - low, high - value])
        look = {"fmt": "o", "ms": 4.5, "lw": 1.2, "capsize": 2.5, "color": VERMILION}
        points = ax.errorbar(at, value, yerr=ends, **look, label=f"windows, {text}")
        step = max(1, -(-len(at) // 12))
        names = [name for name, _ in self.windows[::step]]
        ax.set_xticks(at[::step], names, rotation=30, ha="right")
        canvas.frame(ax, "window", title, "above", 2)
        return points
