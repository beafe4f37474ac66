"""What cuts give: shares over all cuts, decision curves, cost curves, gain and lift."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from scorewise.curves.benefit import (
    cost_curve,
    decision_curve,
    gain,
    lift,
    net_benefit_difference,
)
from scorewise.displays import canvas
from scorewise.tallies import Tally


class ThresholdDisplay(canvas.Display):
    """Sensitivity, precision and alert rate over all cuts, with the cuts of a rule.

    After `plot`: `lines_` by the name of the share, `cuts_` by the name of the cut.
    """

    SHARES = ("sensitivity", "precision", "alert_rate")

    def __init__(self, document: Any, name: str | None = None) -> None:
        self.doc, self.name = document, name

    @classmethod
    def from_rule(cls, rule: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw a rule that `threshold` chose or `ThresholdRule.load` read."""
        return cls._plotted(rule.document(), ax=ax, **options)

    def plot(self, ax: Any = None, *, band: bool = True) -> Self:
        """Draw the shares, with pointwise intervals unless band=False, and the cuts."""
        (ax,) = self._axes(ax, (6.4, 4.4))
        points = self.doc.points
        x = np.array(points.threshold, np.float64)
        self.lines_ = {}
        for share in self.SHARES:
            y, low, high = (
                np.array(getattr(points, f"{share}{end}", points.alert_rate), np.float64)
                for end in ("", "_low", "_high")
            )
            line = canvas.curve(ax, x, y, self._named(share.replace("_", " ")))
            self.lines_[share] = line
            if band and share != "alert_rate":
                canvas.shade(ax, x, low, high, line.get_color())
        looks = {"guaranteed": "-", "plain": "--"}
        self.cuts_ = {
            c.name: ax.axvline(
                c.cut.threshold, color=canvas.ink(ax), lw=1.2, ls=looks[c.name],
                label=f"{c.name} cut {c.cut.threshold:.4g}",
            )
            for c in self.doc.cuts
        }  # fmt: skip
        canvas.frame(ax, "cut: alert from this score on", "share", "above", 3, ylim=canvas.UNIT)
        return self


class DecisionCurveDisplay(canvas.PredictionDisplay):
    """Net benefit over the threshold probability, beside alerting on everybody and on nobody.

    `from_difference` draws that of one model less another's. After `plot`: `line_` and `band_`.
    """

    def __init__(
        self, t: Tally, name: str | None = None, *, at: Any = None, level: float = 0.95
    ) -> None:
        self.name, self.difference = name, False
        self.curve = decision_curve(t, at, level=level)

    @classmethod
    def from_difference(
        cls,
        y: Any,
        first: Any,
        second: Any,
        *,
        ax: Any = None,
        name: str | None = None,
        **options: Any,
    ) -> Self:
        """Draw the paired difference of two models; the options are those of `net_benefit_difference`."""
        made = cls.__new__(cls)
        made.name, made.difference = name, True
        given = canvas.taken(net_benefit_difference, options)
        made.curve = net_benefit_difference(y, first, second, **given)
        drawn: Self = made.plot(ax=ax, **options)
        return drawn

    def plot(self, ax: Any = None, *, band: bool = True, **line: Any) -> Self:
        """Draw the curve, with its pointwise band unless band=False; `line` goes to matplotlib's `plot`."""
        (ax,) = self._axes(ax, (6.4, 4.4))
        c = self.curve
        first = not canvas.drawn(ax, canvas.CHANCE)
        label = "difference" if self.difference else "alert by the scores"
        self.line_ = canvas.curve(ax, c.threshold, c.net_benefit, self._named(label), line)
        self.band_ = None
        if band:
            name = f"{canvas.percent(c.level)} interval" if first else None
            self.band_ = canvas.shade(ax, c.threshold, c.low, c.high, self.line_.get_color(), name)
        if first:
            ends = [c.threshold[0], c.threshold[-1]]
            none = None if self.difference else "alert nobody"
            canvas.dotted(ax, ends, [0, 0], none, gid=canvas.CHANCE)
            if not self.difference:
                ax.plot(c.threshold, c.treat_all, "--", color=canvas.GREY, lw=1, label="alert all")
        words = "net benefit" + (" gained" if self.difference else "")
        where = "best" if self.difference else "upper right"
        canvas.frame(ax, "threshold probability", words, where)
        if not self.difference:
            high = max(float(c.net_benefit.max()), float(c.treat_all.max()), 0.01)
            ax.set_ylim(-0.15 * high, 1.15 * high)
        return self


class CostCurveDisplay(canvas.PredictionDisplay):
    """The least expected cost over the share of it that positives make up; after `plot`: `line_`."""

    def __init__(self, t: Tally, name: str | None = None) -> None:
        self.name, self.curve = name, cost_curve(t)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curve below what alerting on nobody or on everybody costs."""
        (ax,) = self._axes(ax, (5.6, 4.2))
        label = self._named("the best cut")
        self.line_ = canvas.curve(ax, self.curve.x, self.curve.y, label, line)
        if not canvas.drawn(ax, canvas.CHANCE):
            label = "alert nobody, or all"
            canvas.dotted(ax, [0, 0.5, 1], [0, 0.5, 0], label, gid=canvas.CHANCE)
        words = ("share of the cost that positives make up", "normalised expected cost")
        canvas.frame(ax, *words, "upper left", xlim=canvas.UNIT, ylim=(0, 0.52))
        return self


class GainDisplay(canvas.PredictionDisplay):
    """The share of positives found over the share of rows with an alert; after `plot`: `line_`."""

    def __init__(self, t: Tally, name: str | None = None) -> None:
        self.name, self.curve = name, gain(t)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curve above chance."""
        (ax,) = self._axes(ax, (5.2, 5.2))
        self.line_ = canvas.curve(ax, self.curve.x, self.curve.y, self._named("gain"), line)
        words = ("share of rows with an alert", "share of positives found")
        canvas.unit_square(ax, words, "lower right")
        return self


class LiftDisplay(canvas.PredictionDisplay):
    """How many times the prevalence the precision is, over the share of alerts; after `plot`: `line_`."""

    def __init__(self, t: Tally, name: str | None = None) -> None:
        self.name, self.curve = name, lift(t)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curve above 1, which alerts at random would have."""
        (ax,) = self._axes(ax, (5.6, 4.2))
        self.line_ = canvas.curve(ax, self.curve.x, self.curve.y, self._named("lift"), line)
        if not canvas.drawn(ax, canvas.CHANCE):
            canvas.dotted(ax, [0, 1], [1, 1], "chance", gid=canvas.CHANCE)
        words = ("share of rows with an alert", "lift: precision over prevalence")
        canvas.frame(ax, *words, "upper right", xlim=canvas.UNIT, ylim=(0, None))
        return self
