"""Calibration: the reliability curve, and what recalibration makes of it, for two classes or more."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Self, get_args

import numpy as np

from scorewise.checks import one_of
from scorewise.colours import BLUE, VERMILION
from scorewise.columns import Rows
from scorewise.curves.hull import calibrated, decompose
from scorewise.curves.reliability import Bands, reliability, smooth_reliability
from scorewise.displays import canvas
from scorewise.displays.canvas import CHANCE, UNIT
from scorewise.displays.curves import MAX_CLASSES, ClassCurvesDisplay
from scorewise.errors import BadInput
from scorewise.estimate import number
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.losses import expit, unit
from scorewise.tallies.runs import add_runs, first_of_runs, mass_index

Axis = Literal["linear", "logit"]
HISTOGRAM_BINS, BINS = 40, 15
PARTS = "parts"


class ReliabilityDisplay(canvas.PredictionDisplay):
    """The reliability curve of a tally with its band, the parts of its Brier score, and a histogram.

    After `plot`: `line_`, `band_` (None if not asked for), `smooth_` (the smooth curve and its band, where
    asked for), `text_` and `histogram_`, on a second panel or at the foot of the first. Several models on
    one plot: pass `ax=first.axes_`. `rows` that come in clusters make the band of the smooth curve wider.
    """

    def __init__(
        self,
        t: Tally,
        name: str | None = None,
        *,
        level: float = 0.95,
        bands: Bands = "consistency",
        simultaneous: bool = False,
        seed: int = 0,
        rows: Rows | None = None,
    ) -> None:
        self.tally, self.name, self._rows = t, name, rows
        options: Any = {"bands": bands, "simultaneous": simultaneous, "seed": seed}
        self.curve, self.parts = reliability(t, level=level, **options), decompose(t)

    def plot(
        self,
        ax: Any = None,
        *,
        axis: Axis = "linear",
        band: bool = True,
        parts: bool = True,
        histogram: bool = False,
        smooth: bool = False,
        **line: Any,
    ) -> Self:
        """Draw the curve, and below it how many rows got each probability.

        axis="logit" spreads out what lies near 0 and 1; band=False leaves the band out, and parts=False
        those of the Brier score. smooth=True adds the smooth curve (loess) with its
        band. On a single panel, histogram=True draws the numbers of rows at its foot.
        `line` goes to matplotlib's `plot`, such as `color="k"`.
        """
        one_of("axis", axis, get_args(Axis))
        above, *below = self._axes(ax, (5.2, 6.4), 2, rows=2)
        if ax is None:
            above.get_gridspec().set_height_ratios([5, 1])
        self._curve(above, axis, band, parts, line)
        self.smooth_ = self._smooth(above) if smooth else None
        canvas.frame(above, "probability", "share of positives", self._corner)
        self.histogram_ = None
        if below:
            self.histogram_ = self._histogram(below[0], axis)
            below[0].set_xlim(above.get_xlim())
        elif axis == "linear":
            above.set(**canvas.EQUAL)  # beside other squares
            self.histogram_ = self._foot(above) if histogram else None
        return self

    def _smooth(self, ax: Any) -> tuple[Any, Any]:
        """The smooth curve, dashed, and its band."""
        c = smooth_reliability(self.tally, level=self.curve.level, rows=self._rows)
        colour = VERMILION if self.name is None else self.line_.get_color()
        label = f"loess, {canvas.percent(c.level)} band"
        (curve,) = ax.plot(c.x, c.y, color=colour, ls="--", lw=1.6, zorder=4, label=label)
        return curve, canvas.shade(ax, c.x, c.low, c.high, colour, "_smooth band")

    def _foot(self, ax: Any) -> Any:
        """Shares of the rows along the foot of the curve, the highest bar a seventh of the height."""
        c, colour = self.curve, self.line_.get_color()
        share, edges = np.histogram(c.x, HISTOGRAM_BINS, (0.0, 1.0), weights=c.mass / c.mass.sum())
        bars = share / share.max() / 7
        look = {"color": colour, "zorder": 1}
        ax.stairs(bars, edges, fill=True, alpha=0.18, lw=0, **look)
        return ax.stairs(bars, edges, lw=0.8, alpha=0.8, **look)

    def _curve(self, ax: Any, axis: Axis, band: bool, parts: bool, line: dict[str, Any]) -> None:
        c = self.curve
        self.line_ = canvas.curve(ax, c.x, c.y, self._named("isotonic fit"), line)
        colour, self.band_ = self.line_.get_color(), None
        if band:
            kind = "if calibrated" if c.bands == "consistency" else "of the curve"
            simultaneous = ", simultaneous" if c.simultaneous else ""
            label = f"{canvas.percent(c.level)} band {kind}{simultaneous}"
            if any(old.get_label() == label for old in ax.collections):
                label = "_band"  # is in the legend already
            self.band_ = canvas.shade(ax, c.x, c.low, c.high, colour, label)
        if not canvas.marked_lines(ax, CHANCE):
            ends = [0, 1] if axis == "linear" else [1e-6, 1 - 1e-6]
            canvas.dotted(ax, ends, ends, "calibrated", zorder=1, gid=CHANCE)
        self.text_ = self._parts(ax, colour) if parts else None
        self._scale(ax, axis)
        above = float((c.mass * (c.y - c.x)).sum()) > 0.1 * c.mass.sum()
        self._corner = "above foot" if above and not parts else "upper left"

    def _parts(self, ax: Any, colour: Any) -> Any:
        """The parts of the Brier score; of several curves each has its own place for them."""
        below = 0.03 + 0.16 * sum(text.get_gid() == PARTS for text in ax.texts)
        parts = {"MCB": self.parts.mcb, "DSC": self.parts.dsc, "UNC": self.parts.unc}
        text = "\n".join(f"{name} {number(x, 4)}" for name, x in parts.items())
        look = {"ha": "right", "va": "bottom", "fontsize": "small", "linespacing": 1.4}
        return ax.text(0.97, below, text, gid=PARTS, transform=ax.transAxes, color=colour, **look)

    def _scale(self, ax: Any, axis: Axis) -> None:
        ends = UNIT
        if axis == "logit":
            inside = self.curve.x[(self.curve.x > 0) & (self.curve.x < 1)]
            least = min(inside.min(), 1 - inside.max(), 0.1) / 2 if len(inside) else 1e-3
            ends = max(float(least), 1e-6), 1 - max(float(least), 1e-6)
            ax.set_xscale("logit", nonpositive="clip")
            ax.set_yscale("logit", nonpositive="clip")
        ax.set(xlim=ends, ylim=ends)

    def _histogram(self, ax: Any, axis: Axis) -> Any:
        c = self.curve
        edges = np.linspace(0, 1, HISTOGRAM_BINS + 1)
        if axis == "logit":
            low = max(float(np.min(np.minimum(c.x, 1 - c.x))), 1e-6) / 1.01
            edges = expit((2 * edges - 1) * (np.log(1 - low) - np.log(low)))
        at = np.clip(c.x, edges[0], edges[-1])
        colour = self.line_.get_color()
        drawn = ax.hist(at, bins=edges, weights=c.mass, color=colour, alpha=0.35)
        ax.stairs(drawn[0], edges, color=colour, lw=1)
        canvas.frame(ax, "probability", "weight" if self.tally.weighted else "rows", xscale=axis)
        return drawn[2]


class ClassReliabilityDisplay(ClassCurvesDisplay):
    """How often the decision is right at each confidence, with its band, and each class against the rest.

    Of more than six classes, those of the lowest AUROC. After `plot`: `top_`, the display of the
    confidence, and `lines_` by class.
    """

    def __init__(
        self, t: ClassTally, *, most: int = MAX_CLASSES, level: float = 0.95, seed: int = 0
    ) -> None:
        super().__init__(t, most=most, level=level)
        self.seed = seed

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curves; `line` goes to matplotlib's `plot` of the classes, such as `lw=1`."""
        (ax,) = self._axes(ax, (5.2, 5.2))
        top = ReliabilityDisplay(self.tally.top, "top label", level=self.level, seed=self.seed)
        look = {"color": canvas.ink(ax), "ls": "-", "lw": 2.2, "zorder": 3}
        self.top_ = top.plot(ax=ax, histogram=True, parts=False, **look)
        self.lines_ = {}
        for k, name in enumerate(self.classes):
            one, style = self.tally.one(name), canvas.series_style(k) | {"lw": 1.2, "label": name}
            x, y = unit(one.score, one.kind), calibrated(one)
            (self.lines_[name],) = ax.plot(x, y, **canvas.styled(style, line))
        canvas.frame(ax, "probability", "share that is right", self.top_._corner)
        return self._titled(ax)


class _BeforeAndAfter(canvas.Display):
    """How often what was predicted came true, in bins of equal mass, before and after a map."""

    bins: int

    def _compare(self, ax: Any, before: Any, after: Any, mass: Any, x: str, y: str) -> None:
        """Draw pairs of probabilities and the mass that came true; `before` may be None."""
        self.before_ = before and self._points(ax, before, mass, "before", VERMILION, "s")
        self.after_ = self._points(ax, after, mass, "after", BLUE, "o")
        canvas.dotted(ax, [0, 1], [0, 1], "calibrated")
        canvas.frame(ax, x, y, "upper left", **canvas.EQUAL)

    def _points(self, ax: Any, pair: Any, mass: Any, label: str, colour: str, mark: str) -> Any:
        order = np.argsort(pair[0], kind="stable")  # a map need not rise
        p, true, mass = pair[0][order], pair[1][order], mass[order]
        # ties stay together, in the bin of their middle
        first = first_of_runs(p)
        start = first[first_of_runs(mass_index(add_runs(mass, first), self.bins))]
        total = add_runs(mass, start)
        x, y = add_runs(mass * p, start) / total, add_runs(true, start) / total
        return ax.plot(x, y, mark, ls="-", lw=1, ms=5, color=colour, label=label)[0]


class RecalibrationDisplay(_BeforeAndAfter):
    """The map over the scores, and the share of positives in bins of equal mass, before and after.

    Scores of any scale have no "before". After `plot`: `map_`, `before_` (None for such scores) and
    `after_`.
    """

    def __init__(
        self, t: Tally, mapped: Callable[[Any], Any], *, name: str | None = None, bins: int = BINS
    ) -> None:
        if why := t.why_not_ranked:
            raise BadInput(f"no reliability: {why}")
        self.tally, self.mapped, self.name, self.bins = t, mapped, name, bins

    @classmethod
    def from_recalibrator(
        cls, r: Any, *, ax: Any = None, bins: int = BINS
    ) -> Self | ClassRecalibrationDisplay:
        """Draw a fitted `Recalibrator` on the rows that it was fitted to."""
        t = r.data_
        if not hasattr(r.map_, "classes"):
            return cls(t, r.map_, name=r.chosen, bins=bins).plot(ax=ax)
        return ClassRecalibrationDisplay(t.p, r.map_.of_table(t), t.y, t.w, bins=bins).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the map and the reliability, on two panels or on as many as are given."""
        return self._panels(ax, (10.8, 5.2), self._map, self._reliability)

    def _map(self, ax: Any) -> None:
        t = self.tally
        low, high = t.ends
        if t.kind == "probability":
            low, high = 0.0, 1.0
            canvas.dotted(ax, [0, 1], [0, 1], "unchanged")
        x = np.linspace(low, high, 1001)
        (self.map_,) = ax.plot(x, self.mapped(x), color=BLUE, lw=1.8, label=self.name or "map")
        canvas.frame(ax, t.kind, "probability after", "upper left")

    def _reliability(self, ax: Any) -> None:
        t = self.tally
        before = None if t.kind == "score" else (unit(t.score, t.kind), t.pos)
        words = ("mean probability in the bin", "share of positives")
        self._compare(ax, before, (self.mapped(t.score), t.pos), t.neg + t.pos, *words)


class ClassRecalibrationDisplay(_BeforeAndAfter):
    """The share of right decisions over the highest probability, and how that is spread.

    `p` and `q` are the probabilities before and after, `y` the place of the true class, `w` the weights.
    After `plot`: `before_` and `after_`.
    """

    def __init__(self, p: Any, q: Any, y: Any, w: Any, *, bins: int = BINS) -> None:
        self.p, self.q, self.y, self.w, self.bins = p, q, y, w, bins

    def plot(self, ax: Any = None) -> Self:
        """Draw the reliability and the spread, on two panels or on as many as are given."""
        return self._panels(ax, (10.8, 5.2), self._reliability, self._spread)

    def _reliability(self, ax: Any) -> None:
        before, after = ((p.max(1), self.w * (p.argmax(1) == self.y)) for p in (self.p, self.q))
        words = ("mean confidence in the bin", "share that is right")
        self._compare(ax, before, after, self.w, *words)

    def _spread(self, ax: Any) -> None:
        edges = np.linspace(0, 1, self.bins + 1)
        for values, label, colour in ((self.p, "before", VERMILION), (self.q, "after", BLUE)):
            share = np.histogram(values.max(1), edges, weights=self.w)[0] / self.w.sum()
            ax.stairs(share, edges, color=colour, lw=1.8, label=label)
        canvas.frame(ax, "confidence", "share of rows", "upper left")
