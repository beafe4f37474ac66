"""Forest plots: estimates with their intervals below each other, of groups or of differences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from scorewise.colours import GREY
from scorewise.displays import canvas
from scorewise.displays.canvas import CHANCE
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate, decimals, number
from scorewise.inference.paired import holm
from scorewise.registry import CLASS_MEASURES, MEASURES, RATER_MEASURES, unknown

MOST = 30  # rows of a plot
ROOM = 16  # rows of a panel among others
LINE = 0.3  # inches for a row
MARKERS = "osD^v<>"
# measures whose differences share an axis: those of shares and losses; a slope would dwarf them
SHARED = (
    "auroc",
    "average_precision",
    "sensitivity",
    "specificity",
    "precision",
    "brier",
    "log_loss",
    "ece",
)


class Bar(NamedTuple):
    """A row of the plot: its name, its estimate, the series it belongs to, and whether it is greyed."""

    name: str
    estimate: Estimate
    series: int = 0
    grey: bool = False


class ForestDisplay(canvas.Display):
    """A point with its interval for each row, and upright lines to compare them with.

    `lines` are by the name to write, `series` the names of what colours and markers tell apart. After
    `plot`: `points_` and `intervals_`, one for each row that has a value, and `lines_` by name.
    """

    def __init__(
        self,
        bars: Sequence[Bar] | Mapping[str, Estimate],
        *,
        what: str = "",
        lines: Mapping[str, tuple[float, int]] | None = None,
        series: Sequence[str] = (),
        left_out: str = "",
    ) -> None:
        if isinstance(bars, Mapping):
            bars = [Bar(name, e) for name, e in bars.items()]
        if not bars:
            raise BadInput("there is nothing to draw: no estimates were given")
        self.bars, self.what, self.lines, self.series = list(bars), what, dict(lines or {}), series
        self.left_out = left_out

    @classmethod
    def from_groups(
        cls,
        evaluations: Any,
        measure: str = "auroc",
        *,
        most: int | None = None,
        title: str = "",
        ax: Any = None,
    ) -> Self:
        """Draw a measure of the groups of a result, or of several models by name.

        The lines are the values of all rows; groups with too few rows to be judged are grey. Of AUROC,
        calibration slope and O/E the mean over groups (random effects) is below them, and the prediction
        interval of a new one. `title` stands before the name of the measure.
        """
        by_name = dict(evaluations) if isinstance(evaluations, Mapping) else {"": evaluations}
        by_name = {"": evaluations} if hasattr(evaluations, "tally") else by_name
        if not all(e.groups for e in by_name.values()):
            raise BadInput(
                "there are no groups to draw; name a column of groups with ", Option("by")
            )
        records = {name: e.groups.record for name, e in by_name.items()}
        first = next(iter(records.values())).groups[0]
        there = any(m.name == measure for m in first.measures)
        totals = {name: e[measure].value for name, e in by_name.items() if there}
        return cls.from_records(records, totals, measure, most=most, title=title, ax=ax)

    @classmethod
    def from_records(
        cls,
        by_name: Mapping[str, Any],
        values: Mapping[str, float],
        measure: str,
        *,
        most: int | None = None,
        title: str = "",
        ax: Any = None,
    ) -> Self:
        """Draw a measure of records of groups by model, with lines at these values of all rows."""
        records = list(by_name.values())
        known = [m.name for m in records[0].groups[0].measures]
        if measure not in known:
            raise BadInput(unknown(measure, known, "measure of groups"))
        found = [{g.name: (g, _of(g, measure)) for g in record.groups} for record in records]
        drawn = [g for g in records[0].groups if found[0][g.name][1].defined]
        most = most or (MOST if ax is None else max(ROOM // len(found), 1))
        drawn = sorted(drawn, key=lambda g: (not g.judged, -g.rows))[:most]
        drawn.sort(key=lambda g: -found[0][g.name][1].value)
        bars = [
            Bar(f"{g.name} ({g.rows:,})", of[g.name][1], k, not g.judged)
            for g in drawn
            for k, of in enumerate(found)
        ]
        for k, record in enumerate(records):
            for r in record.summary:
                if r.measure == measure and r.value is not None:
                    bars.append(Bar("mean of groups", r.estimate(), k))
                    bars.append(Bar("a new group", r.new(), k))
        totals = {(name or "all rows"): (values[name], k) for k, name in enumerate(by_name)}
        gone = len(records[0].groups) - len(drawn)
        word = f"the {len(drawn)} largest of {len(records[0].groups):,} groups" if gone else ""
        names = list(by_name) if len(by_name) > 1 else []
        titles = {**RATER_MEASURES, **CLASS_MEASURES, **MEASURES}
        what = titles[measure].title if measure in titles else measure
        title = f"{title}{what}, by {' / '.join(records[0].by)}"
        return cls(bars, what=title, lines=totals, series=names, left_out=word).plot(ax=ax)

    @classmethod
    def from_differences(
        cls,
        comparison: Any,
        measures: Sequence[str] = SHARED,
        *,
        most: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the paired differences of models; where one is better, in the colour of that model.

        Of three and more models, one is better where that holds after Holm's correction too.
        """
        models = list(comparison)
        known = CLASS_MEASURES if getattr(comparison, "several", False) else MEASURES
        pairs = [(a, b) for i, a in enumerate(models) for b in models[i + 1 :]]
        bars = []
        for name in measures:
            found = [comparison.difference(name, a, b) for a, b in pairs]
            adjusted = holm([math.nan if e.p is None else e.p for e in found])
            for (a, b), e, p in zip(pairs, found, adjusted, strict=True):
                if e.defined:
                    title = known[name].title + (f": {a} - {b}" if len(pairs) > 1 else "")
                    side = e.low > 0 if known[name].better == "high" else e.high < 0
                    told = e.low > 0 or e.high < 0
                    if len(pairs) > 1:
                        told = told and p <= 1 - comparison.settings.level
                    bars.append(Bar(title, e, models.index(a if side else b), not told))
        what = f"{pairs[0][0]} less {pairs[0][1]}" if len(pairs) == 1 else "difference"
        most = most or (MOST if ax is None else ROOM)
        gone = max(len(bars) - most, 0)
        word = f"the first {most} of {len(bars)} differences" if gone else ""
        zero = {"no difference": (0.0, -1)}
        series = [f"{name} is better" for name in models]
        return cls(bars[:most], what=what, lines=zero, series=series, left_out=word).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the rows, the first at the top, and write their numbers on the right."""
        names = list(dict.fromkeys(bar.name for bar in self.bars))
        (ax,) = self._axes(ax, (7.6, max(2.6, 1.4 + LINE * len(self.bars))))
        self.points_: list[Any] = []
        self.intervals_: list[Any] = []
        self.lines_: dict[str, Any] = {}
        told = {bar.series for bar in self.bars if not bar.grey}
        for name, (x, k) in self.lines.items():
            look = {
                "color": GREY if k < 0 else canvas.look(k)["color"],
                "ls": ":" if k < 0 else "--",
            }
            label = f"{name} {number(x)}" if k >= 0 else "_line"
            self.lines_[name] = ax.axvline(x, lw=1.2, zorder=1, gid=CHANCE, label=label, **look)
        many = max((sum(b.name == n for b in self.bars) for n in names), default=1)
        at = []
        for bar in self.bars:
            y = names.index(bar.name) + 0.6 * (bar.series - (many - 1) / 2) / many * (many > 1)
            at.append(y)
            self._bar(ax, bar, y)
        for k in sorted(told) if len(self.series) else []:
            look = {"color": canvas.look(k)["color"], "marker": MARKERS[k % len(MARKERS)]}
            ax.plot([], [], ls="-", ms=5.5, lw=1.8, label=self.series[k], **look)
        if any(bar.grey for bar in self.bars):
            word = (
                "not told apart" if self.series and self.lines_.keys() == {"no difference"} else ""
            )
            word = word or "too few rows to judge"
            ax.plot([], [], "o-", color=GREY, ms=5.5, lw=1.2, label=word)
        ax.set_yticks(range(len(names)), [canvas.literal(name) for name in names])
        ax.locator_params(axis="x", nbins=6)
        canvas.frame(ax, self.what, "", "above", 2, ylim=(len(names) - 0.4, -0.6))
        self._numbers(ax, at)
        if self.left_out:
            ax.set_xlabel(f"{canvas.literal(self.what)}\n({self.left_out})")
        return self

    def _bar(self, ax: Any, bar: Bar, y: float) -> None:
        e = bar.estimate
        if not e.defined:
            return
        colour = GREY if bar.grey else canvas.look(bar.series)["color"]
        if np.isfinite([e.low, e.high]).all():
            look = {"color": colour, "lw": 1.2 if bar.grey else 1.8, "zorder": 3}
            self.intervals_ += ax.plot([e.low, e.high], [y, y], **look)
        marker = MARKERS[max(bar.series, 0) % len(MARKERS)] if not bar.grey else "o"
        self.points_ += ax.plot([e.value], [y], marker, color=colour, ms=5.5, zorder=4)

    def _numbers(self, ax: Any, at: Sequence[float]) -> None:
        """Value and interval of each row, on the right."""
        beside = ax.secondary_yaxis("right")
        beside.set_yticks(at, [_text(bar.estimate) for bar in self.bars])
        beside.tick_params(length=0, labelsize="small")
        beside.spines["right"].set_visible(False)


def _text(e: Estimate) -> str:
    """Value and interval, with as many decimals as the interval needs."""
    if not e.defined:
        return ""
    digits = decimals(e.low, e.high)
    # + 0.0 folds -0.0 into 0.0
    value, low, high = (f"{round(x, digits) + 0.0:.{digits}f}" for x in (e.value, e.low, e.high))
    return f"{value} [{low}, {high}]" if np.isfinite(e.low) else value


def _of(group: Any, measure: str) -> Estimate:
    m = next(m for m in group.measures if m.name == measure)
    value, low, high = (np.nan if x is None else x for x in (m.value, m.low, m.high))
    return Estimate(value, low, high, why=m.why)
