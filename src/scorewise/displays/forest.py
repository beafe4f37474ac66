"""Estimates with their intervals below each other, of groups or of differences, and of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from scorewise.colours import GREY, colour_of
from scorewise.displays import canvas
from scorewise.displays.canvas import CHANCE, MARKERS
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate, decimals, number
from scorewise.inference.differences import holm
from scorewise.registry import CLASS_MEASURES, MEASURES, title_of, unknown

if TYPE_CHECKING:
    from scorewise.answering import Answers

MAX_ROWS = 30  # of a plot
MAX_PANEL_ROWS = 16  # of a panel among others
LINE = 0.3  # inches for a row
# measures whose differences share an axis: those of shares and losses; a slope would dwarf them
COMPARED = (
    "auroc", "average_precision", "sensitivity", "specificity", "precision", "brier", "log_loss", "ece"
)  # fmt: skip


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
        several = isinstance(evaluations, Mapping) and not hasattr(evaluations, "tally")
        by_name = dict(evaluations) if several else {"": evaluations}
        if not all(e.groups for e in by_name.values()):
            no_groups = "there are no groups to draw; name a column of groups with "
            raise BadInput(no_groups, Option("by"))
        records = {name: e.groups.record for name, e in by_name.items()}
        return cls.from_records(records, by_name, measure, most=most, title=title, ax=ax)

    @classmethod
    def from_records(
        cls,
        by_name: Mapping[str, Any],
        whole: Mapping[str, Any],
        measure: str,
        *,
        most: int | None = None,
        title: str = "",
        ax: Any = None,
    ) -> Self:
        """Draw a measure of records of groups by model, with lines at that of the `whole` by model."""
        records = list(by_name.values())
        first = records[0]
        measures = [m.name for m in first.groups[0].measures]
        if measure not in measures:
            raise BadInput(unknown(measure, measures, "measure of groups"))
        estimates = [{g.name: _estimate(g, measure) for g in record.groups} for record in records]
        drawn = [g for g in first.groups if estimates[0][g.name].defined]
        most = most or (MAX_ROWS if ax is None else max(MAX_PANEL_ROWS // len(estimates), 1))
        drawn = sorted(drawn, key=lambda g: (not g.judged, -g.rows))[:most]
        drawn.sort(key=lambda g: -estimates[0][g.name].value)
        bars = [
            Bar(f"{g.name} ({g.rows:,})", of[g.name], k, not g.judged)
            for g in drawn
            for k, of in enumerate(estimates)
        ]
        for k, r in ((k, r) for k, record in enumerate(records) for r in record.summary):
            if r.measure == measure and r.value is not None:
                bars.append(Bar("mean of groups", r.estimate(), k))
                bars.append(Bar("a new group", r.prediction(), k))
        totals = {
            name or "all rows": (_value_of_all(whole[name], measure), k)
            for k, name in enumerate(by_name)
        }
        many, names = len(first.groups), list(by_name) if len(by_name) > 1 else []
        left = f"the {len(drawn)} largest of {many:,} groups" if len(drawn) < many else ""
        title = f"{title}{title_of(measure, measure)}, by {' / '.join(first.by)}"
        return cls(bars, what=title, lines=totals, series=names, left_out=left).plot(ax=ax)

    @classmethod
    def from_differences(
        cls,
        comparison: Any,
        measures: Sequence[str] = COMPARED,
        *,
        most: int | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the paired differences of models; where one is better, in the colour of that model.

        Of three and more models, one is better where that holds after Holm's correction too.
        """
        models = list(comparison)
        registry = CLASS_MEASURES if getattr(comparison, "several", False) else MEASURES
        pairs = list(combinations(models, 2))
        several, bars, alpha = len(pairs) > 1, [], 1 - comparison.settings.level
        for name in measures:
            differences = [comparison.difference(name, a, b) for a, b in pairs]
            adjusted = holm([e.p for e in differences])
            for (a, b), e, p in zip(pairs, differences, adjusted, strict=True):
                if e.defined:
                    title = registry[name].title + (f": {a} - {b}" if several else "")
                    better = a if (e.low > 0) == (registry[name].better == "high") else b
                    apart = (e.low > 0 or e.high < 0) and (not several or p <= alpha)
                    bars.append(Bar(title, e, models.index(better), not apart))
        what = "difference" if several else f"{pairs[0][0]} less {pairs[0][1]}"
        most = most or (MAX_ROWS if ax is None else MAX_PANEL_ROWS)
        left = f"the first {most} of {len(bars)} differences" if len(bars) > most else ""
        zero = {"no difference": (0.0, -1)}
        series = [f"{name} is better" for name in models]
        return cls(bars[:most], what=what, lines=zero, series=series, left_out=left).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the rows, the first at the top, and write their numbers on the right."""
        names = list(dict.fromkeys(bar.name for bar in self.bars))
        (ax,) = self._axes(ax, (7.6, max(2.6, 1.4 + LINE * len(self.bars))))
        self.points_, self.intervals_, self.lines_ = [], [], {}
        for name, (x, k) in self.lines.items():
            look = {"color": GREY, "ls": ":"} if k < 0 else {"color": colour_of(k), "ls": "--"}
            label = f"{name} {number(x)}" if k >= 0 else "_line"
            self.lines_[name] = ax.axvline(x, lw=1.2, zorder=1, gid=CHANCE, label=label, **look)
        many = max((sum(b.name == n for b in self.bars) for n in names), default=1)
        shifts = [0.6 * (bar.series - (many - 1) / 2) / many * (many > 1) for bar in self.bars]
        at = [names.index(bar.name) + up for bar, up in zip(self.bars, shifts, strict=True)]
        for bar, y in zip(self.bars, at, strict=True):
            if bar.estimate.defined:
                self._bar(ax, bar, y)
        for k in sorted({bar.series for bar in self.bars if not bar.grey}) if self.series else []:
            look = {"color": colour_of(k), "marker": MARKERS[k % len(MARKERS)]}
            ax.plot([], [], ls="-", ms=5.5, lw=1.8, label=self.series[k], **look)
        if any(bar.grey for bar in self.bars):
            differences = self.series and self.lines_.keys() == {"no difference"}
            label = "not told apart" if differences else "too few rows to judge"
            ax.plot([], [], "o-", color=GREY, ms=5.5, lw=1.2, label=label)
        ax.set_yticks(range(len(names)), [canvas.literal(name) for name in names])
        ax.locator_params(axis="x", nbins=6)
        canvas.frame(ax, self.what, "", "above", 2, ylim=(len(names) - 0.4, -0.6))
        right = ax.secondary_yaxis("right")
        right.set_yticks(at, [_text(bar.estimate) for bar in self.bars])
        right.tick_params(length=0, labelsize="small")
        right.spines["right"].set_visible(False)
        if self.left_out:
            ax.set_xlabel(f"{canvas.literal(self.what)}\n({self.left_out})")
        return self

    def _bar(self, ax: Any, bar: Bar, y: float) -> None:
        e = bar.estimate
        colour, marker, wide = colour_of(bar.series), MARKERS[bar.series % len(MARKERS)], 1.8
        if bar.grey:
            colour, marker, wide = GREY, "o", 1.2
        if np.isfinite([e.low, e.high]).all():
            ends = [e.low, e.high], [y, y]
            self.intervals_ += ax.plot(*ends, color=colour, lw=wide, zorder=3)
        self.points_ += ax.plot([e.value], [y], marker, color=colour, ms=5.5, zorder=4)


def _text(e: Estimate) -> str:
    """Value and interval, with as many decimals as the interval needs."""
    if not e.defined:
        return ""
    digits = decimals(e.low, e.high)
    # + 0.0 folds -0.0 into 0.0
    value, low, high = (f"{round(x, digits) + 0.0:.{digits}f}" for x in (e.value, e.low, e.high))
    return f"{value} [{low}, {high}]" if np.isfinite(e.low) else value


def _value_of_all(result: Any, measure: str) -> float:
    """That of all rows: results have measures by name, and judges have them as attributes."""
    e = result[measure] if hasattr(result, "__getitem__") else getattr(result, measure)
    return float(e.value)


def _estimate(group: Any, measure: str) -> Estimate:
    m = next(m for m in group.measures if m.name == measure)
    value, low, high = (np.nan if x is None else x for x in (m.value, m.low, m.high))
    return Estimate(value, low, high, why=m.why)


GROUP_LINE = 0.26  # inches for a group and confidence


class AnswersDisplay(canvas.Display):
    """Answers over the threshold of quality, or group by group.

    `over_tau` draws a measure with its band for each confidence, the tau of the answers as a line;
    `by_group` the measure of each group with its interval and, of a measure of calibration, what a
    calibrated confidence would get as a tick. After drawing: `lines_` and `bands_`, or `points_` and
    `expected_`, by the name of the confidence.
    """

    def __init__(self, answers: Answers) -> None:
        self.answers = answers
        self._level = canvas.percent(answers.settings.level)

    @classmethod
    def over_tau(cls, answers: Answers, measure: str = "ece", *, ax: Any = None) -> Self:
        """Draw a measure over the threshold above which an answer is correct."""
        self = cls(answers)
        (ax,) = self._axes(ax, (6.0, 4.2))
        self.lines_, self.bands_ = {}, {}
        for name, judged in answers.items():
            c = judged.curve(measure)
            x, *points = c.tau, c.value, c.low, c.high
            look: dict[str, Any] = {"marker": ".", "ms": 5}
            if c.exact:  # the last value holds up to 1
                look, x = {"drawstyle": "steps-post"}, np.append(x, 1.0)
                points = [np.append(y, y[-1]) for y in points]
            value, low, high = points
            line = canvas.curve(ax, x, value, f"{name}, {self._level} band", **look)
            step, self.lines_[name] = "post" if c.exact else None, line
            self.bands_[name] = canvas.shade(ax, x, low, high, line.get_color(), step=step)
        tau = answers.settings.tau
        ax.axvline(tau, color=GREY, ls=":", lw=1, gid=CHANCE, label=f"tau {tau:g}")
        words = ("tau: correct is a quality above", _title(measure))
        columns = min(3, len(self.lines_) + 1) if sum(map(len, self.lines_)) < 20 else 1
        canvas.frame(ax, *words, "above", columns, xlim=(0, 1))
        return self

    @classmethod
    def by_group(cls, answers: Answers, measure: str = "ece", *, ax: Any = None) -> Self:
        """Draw a measure of each group with its interval."""
        self, groups = cls(answers), answers.groups
        if not groups:
            pass_by = Option("by"), " with the columns that make them"
            raise BadInput("there are no groups to draw; pass ", *pass_by)
        tall = max(2.4, 1.0 + GROUP_LINE * sum(len(part) for part in groups.values()))
        (ax,) = self._axes(ax, (7.0, min(tall, 60.0)))
        self.points_, self.expected_ = {}, {}
        for k, name in enumerate(answers):
            self._points(ax, measure, name, k)
        keys = [canvas.literal(key) for key in groups]
        ax.set_yticks(range(len(keys)), keys, fontsize="small")
        if self.expected_:
            ax.set_xlim(left=0)
        elif ax.get_xlim()[0] < 0:
            ax.axvline(0, color=GREY, ls=":", lw=1, gid=CHANCE)
        canvas.frame(ax, _title(measure), "", "above", ylim=(len(keys) - 0.4, -0.6))
        return self

    def _points(self, ax: Any, measure: str, name: str, k: int) -> None:
        """The points of the k-th confidence, beside those of the others."""
        many = len(self.answers)
        shift = 0.6 * (k - (many - 1) / 2) / many
        estimates = {
            i + shift: part[name][measure]
            for i, part in enumerate(self.answers.groups.values())
            if name in part and part[name][measure].defined
        }
        y, colour, marker = list(estimates), colour_of(k), MARKERS[k % len(MARKERS)]
        low, value, high = canvas.intervals(estimates.values())
        ax.hlines(y, low, high, color=colour, lw=1.4, alpha=0.7)
        label = f"{name}, {self._level} interval"
        (self.points_[name],) = ax.plot(value, y, marker, color=colour, ms=4.5, label=label)
        if ticks := {at: e.expected for at, e in estimates.items() if e.expected is not None}:
            label = "_" if self.expected_ else "expected if calibrated"
            look = {"color": canvas.ink(ax), "ms": 8, "mew": 1.4, "label": label}
            (self.expected_[name],) = ax.plot([*ticks.values()], [*ticks], "|", **look)


def _title(measure: str) -> str:
    return title_of(measure, measure.replace("_", " "))
