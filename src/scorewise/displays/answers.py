"""Judged answers, drawn: a measure over the threshold of quality, and the error of each group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from scorewise.displays.canvas import (
    CHANCE,
    COLOURS,
    GREY,
    ink,
    legend,
    literal,
    next_look,
    over_grid,
    panels,
    percent,
    styled,
)
from scorewise.displays.display import Display
from scorewise.errors import BadInput

if TYPE_CHECKING:
    from scorewise.answering import Answers
    from scorewise.answering.measures import TauCurve

LINE = 0.26  # inches for a group and confidence
MARKERS = "osD^v<>"


class AnswersDisplay(Display):
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

    @classmethod
    def over_tau(cls, answers: Answers, measure: str = "ece", *, ax: Any = None) -> Self:
        """Draw a measure over the threshold above which an answer is correct."""
        return cls(answers)._over_tau(measure, ax)

    @classmethod
    def by_group(cls, answers: Answers, measure: str = "ece", *, ax: Any = None) -> Self:
        """Draw a measure of each group with its interval."""
        return cls(answers)._by_group(measure, ax)

    def _over_tau(self, measure: str, ax: Any) -> Self:
        (ax,) = panels(ax, 1, (6.0, 4.2))
        level = percent(self.answers.settings.level)
        self.lines_, self.bands_ = {}, {}
        for name, judged in self.answers.items():
            curve = judged.curve(measure)
            x, value, low, high = _ends(curve)
            look = {**next_look(ax), "lw": 1.8, "label": f"{name}, {level} band"}
            look |= {"drawstyle": "steps-post"} if curve.exact else {"marker": ".", "ms": 5}
            (line,) = ax.plot(x, value, **styled(look, {}))
            self.bands_[name] = ax.fill_between(
                x, low, high, step="post" if curve.exact else None, color=line.get_color(),
                alpha=0.18, lw=0,
            )  # fmt: skip
            self.lines_[name] = line
        tau = self.answers.settings.tau
        ax.axvline(tau, color=GREY, ls=":", lw=1, gid=CHANCE, label=f"tau {tau:g}")
        over_grid(ax, "tau: an answer is correct when its quality is above", _title(measure))
        ax.set_xlim(0, 1)
        legend(ax, "above", columns=min(3, len(self.lines_) + 1))
        return self._drew([ax])

    def _by_group(self, measure: str, ax: Any) -> Self:
        groups = self.answers.groups
        if not groups:
            raise BadInput("there are no groups to draw; pass by= with the columns that make them")
        names = list(self.answers)
        tall = max(2.4, 1.0 + LINE * sum(len(part) for part in groups.values()))
        (ax,) = panels(ax, 1, (7.0, min(tall, 60.0)))
        self.points_, self.expected_ = {}, {}
        for k, name in enumerate(names):
            self._points(ax, measure, name, k - (len(names) - 1) / 2, len(names), k)
        keys = [" / ".join(key) for key in groups]
        ax.set_yticks(range(len(keys)), [literal(key) for key in keys], fontsize="small")
        ax.set_ylim(len(keys) - 0.4, -0.6)
        over_grid(ax, _title(measure), "")
        if self.expected_:
            ax.set_xlim(left=0)
        elif ax.get_xlim()[0] < 0:
            ax.axvline(0, color=GREY, ls=":", lw=1, gid=CHANCE)
        legend(ax, "above")
        return self._drew([ax])

    def _points(self, ax: Any, measure: str, name: str, off: float, many: int, k: int) -> None:
        """The points of one confidence, beside those of the others."""
        found = [
            (i + 0.6 * off / many, part[name][measure])
            for i, part in enumerate(self.answers.groups.values())
            if name in part and part[name][measure].defined
        ]
        y = np.array([at for at, _ in found])
        colour, level = COLOURS[k % len(COLOURS)], percent(self.answers.settings.level)
        ends = np.array([(e.low, e.value, e.high) for _, e in found]).reshape(-1, 3)
        ax.hlines(y, ends[:, 0], ends[:, 2], color=colour, lw=1.4, alpha=0.7)
        (self.points_[name],) = ax.plot(
            ends[:, 1], y, MARKERS[k % len(MARKERS)], color=colour, ms=4.5,
            label=f"{name}, {level} interval",
        )  # fmt: skip
        ticks = [(at, e.expected) for at, e in found if e.expected is not None]
        if ticks:
            (self.expected_[name],) = ax.plot(
                [x for _, x in ticks], [at for at, _ in ticks], "|", color=ink(ax), ms=8, mew=1.4,
                label="expected if calibrated" if len(self.expected_) == 0 else "_",
            )  # fmt: skip


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
