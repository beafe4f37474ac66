"""Answers and predicted classes: the risk of those kept, and errors by threshold or group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from scorewise.colours import COLOURS, GREY
from scorewise.curves.selective import confident, risk_coverage
from scorewise.displays import canvas
from scorewise.displays.canvas import CHANCE
from scorewise.errors import BadInput, Option
from scorewise.measures import aurc
from scorewise.tallies import ClassTally, Tally

if TYPE_CHECKING:
    from scorewise.answering import Answers
    from scorewise.answering.judged import TauCurve

LINE = 0.26  # inches for a group and confidence
MARKERS = "osD^v<>"


class RiskCoverageDisplay(canvas.PredictionDisplay):
    """The share wrong among the rows kept, over the share kept, the surest first.

    The area with its interval is in the legend; the dotted line is the error rate of all rows, where
    confidence without meaning would stay, and the thin line the best order of the same rows. After
    `plot`: `line_` and `best_`. `from_tally` also takes a tally of confidence against correct.
    """

    tally_type = ClassTally

    def __init__(
        self, t: ClassTally | Tally, name: str | None = None, *, level: float = 0.95
    ) -> None:
        self.tally, self.name = confident(t), name
        if not self.tally.negatives and not self.tally.positives:
            raise BadInput("no risk-coverage curve: no rows")
        self.curve = risk_coverage(self.tally)
        self.area = aurc(self.tally, level=level)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curve; `line` goes to matplotlib's `plot`, such as `color="k"`."""
        (ax,) = self._axes(ax, (5.6, 4.2))
        # along runs of ties the counts run straight, and the risk does not
        x = np.unique(np.concatenate((self.curve.x, np.linspace(0, 1, 513)[1:])))
        self.line_ = canvas.curve(ax, x, self.curve.risk(x), self._named(f"AURC {self.area}"), line)
        kept, risk = self._best()
        (self.best_,) = ax.plot(kept, risk, color=self.line_.get_color(), lw=0.8, alpha=0.7)
        rate = self.curve.y[-1]
        canvas.dotted(ax, [0, 1], [rate, rate], None, zorder=1, gid=canvas.CHANCE)
        words = ("coverage: share of rows kept", "risk: share of them wrong")
        canvas.frame(ax, *words, "upper left", xlim=canvas.UNIT, ylim=(0, None))
        return self

    def _best(self) -> tuple[Any, Any]:
        """The same if every wrong row came last."""
        rate = self.curve.y[-1]
        x = np.linspace(1 - rate, 1, 257)
        with np.errstate(divide="ignore", invalid="ignore"):
            risk = np.where(x > 0, (x - (1 - rate)) / x, 1.0)
        return np.concatenate(([0.0], x)), np.concatenate((risk[:1], risk))


class AnswersDisplay(canvas.Display):
    """Answers over the threshold of quality, or group by group.

    `over_tau` draws a measure with its band for each confidence, the tau of the answers as a line;
    `by_group` the measure of each group with its interval and, of a measure of calibration, what a
    calibrated confidence would get as a tick. After drawing: `lines_` and `bands_`, or `points_` and
    `expected_`, by the name of the confidence.
    """

    lines_: dict[str, Any]
    bands_: dict[str, Any]
    points_: dict[str, Any]
    expected_: dict[str, Any]

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
            curve = judged.curve(measure)
            x, value, low, high = _ends(curve)
            look = {"drawstyle": "steps-post"} if curve.exact else {"marker": ".", "ms": 5}
            line = canvas.curve(ax, x, value, f"{name}, {self._level} band", **look)
            step, self.lines_[name] = "post" if curve.exact else None, line
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
            raise BadInput(
                "there are no groups to draw; pass ", Option("by"), " with the columns that make them",
            )  # fmt: skip
        tall = max(2.4, 1.0 + LINE * sum(len(part) for part in groups.values()))
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
        y, colour = list(estimates), COLOURS[k % len(COLOURS)]
        low, value, high = canvas.intervals(estimates.values())
        ax.hlines(y, low, high, color=colour, lw=1.4, alpha=0.7)
        marker, label = MARKERS[k % len(MARKERS)], f"{name}, {self._level} interval"
        (self.points_[name],) = ax.plot(value, y, marker, color=colour, ms=4.5, label=label)
        ticks = {at: e.expected for at, e in estimates.items() if e.expected is not None}
        if ticks:
            label = "_" if self.expected_ else "expected if calibrated"
            look = {"color": canvas.ink(ax), "ms": 8, "mew": 1.4}
            (self.expected_[name],) = ax.plot(
                list(ticks.values()), list(ticks), "|", **look, label=label
            )


def _ends(curve: TauCurve) -> list[Any]:
    """The points of a curve; the last value of an exact one holds up to 1."""
    parts = [curve.tau, curve.value, curve.low, curve.high]
    if not curve.exact:
        return parts
    ends = (1.0, *(part[-1] for part in parts[1:]))
    return [np.append(part, end) for part, end in zip(parts, ends, strict=True)]


def _title(measure: str) -> str:
    from scorewise.registry import CLASS_MEASURES, MEASURES

    known = MEASURES.get(measure) or CLASS_MEASURES.get(measure)
    return measure.replace("_", " ") if known is None else known.title
