"""What thresholds decide, and what that is worth: confusion, rates over cuts, decision curves."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from scorewise.colours import GREY
from scorewise.columns.sources import is_wide
from scorewise.curves.benefit import decision_curve, net_benefit_difference
from scorewise.displays import canvas
from scorewise.displays.canvas import CHANCE, UNIT
from scorewise.errors import BadInput
from scorewise.inference.shares import wilson
from scorewise.tallies import ClassTally, Confusion, Tally

MAX_WITH_SHARES = 6  # classes up to which cells also have shares


class ConfusionDisplay(canvas.PredictionDisplay):
    """Truth down the side, decisions across, each row shaded by its shares.

    Cells have their weight and, of a few classes, the share of their row; on the diagonal, where that is
    the sensitivity of the class (of two classes also the specificity), with its Wilson interval. After
    `plot`: `image_` and `texts_`, the numbers, which are absent where classes are many.
    """

    tally_type = ClassTally

    def __init__(self, c: Confusion, name: str | None = None, *, level: float = 0.95) -> None:
        if not c.weight.any():
            raise BadInput("no confusion to draw: no rows")
        self.confusion, self.name, self.level = c, name, level

    @classmethod
    def from_predictions(
        cls, y: Any, s: Any, *, ax: Any = None, threshold: float = 0.5, **options: Any
    ) -> Self:
        """Draw labels `y` and scores `s`: one a row, cut at the `threshold`, or one for each class."""
        if is_wide(s):
            return super().from_predictions(y, s, ax=ax, **options)
        t = Tally.of(y, s, **canvas.take_options(Tally.of, options))
        return cls.from_tally(t, ax=ax, threshold=threshold, **options)

    @classmethod
    def from_tally(
        cls, t: ClassTally | Tally, *, ax: Any = None, threshold: float = 0.5, **options: Any
    ) -> Self:
        """Draw the decisions of a tally, of two classes at the `threshold`; options are those of `plot`."""
        c = t.confusion(threshold) if isinstance(t, Tally) else t.confusion
        return cls._plotted(c, ax=ax, **options)

    def plot(self, ax: Any = None, *, cmap: str = "Blues") -> Self:
        """Draw the table."""
        names = [canvas.literal(name) for name in self.confusion.classes]
        few, at = len(names) <= MAX_WITH_SHARES, range(len(names))
        side = min(4.4 if few else 2.5 + 0.42 * len(names), 12.0)
        (ax,) = self._axes(ax, (side, side))
        weight = self.confusion.weight.astype(np.float64)
        rows = weight.sum(1, keepdims=True)
        share = np.divide(weight, rows, out=np.zeros_like(weight), where=rows > 0)
        texts = [[f"{w:.4g}" if w else "" for w in row] for row in weight.tolist()]
        texts = [[self._cell(i, j, share) for j in at] for i in at] if few else texts
        self.image_, self.texts_ = canvas.table(ax, share, texts, names, names, cmap=cmap, dark=0.5)
        ax.set(xlabel="predicted", ylabel="true")
        if self.name:
            ax.set_title(canvas.literal(self.name), fontsize="medium")
        return self

    def _cell(self, i: int, j: int, share: Any) -> str:
        """Weight and share of a cell, the interval of the share on the diagonal."""
        w, w2 = (x.astype(np.float64)[i] for x in (self.confusion.weight, self.confusion.weight2))
        if not w.sum():
            return ""
        lines = [f"{w[j]:,.4g}" if w[j] < 1e4 else f"{w[j]:,.0f}", f"{100 * share[i, j]:.0f} %"]
        if i == j:
            _, low, high = wilson(w[i], w.sum() - w[i], w2[i], w2.sum() - w2[i], self.level)
            lines.append(f"[{100 * low:.0f}, {100 * high:.0f}]")
        return "\n".join(lines)


class ThresholdDisplay(canvas.Display):
    """Sensitivity, precision and alert rate over all cuts, with the cuts of a rule.

    After `plot`: `lines_` by the name of the share, `cuts_` by the name of the cut, and `review_`
    where the rule has reviews.
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
        self.cuts_ = {}
        for c in self.doc.cuts:
            at, look = c.cut.threshold, {"color": canvas.ink(ax), "lw": 1.2, "ls": looks[c.name]}
            self.cuts_[c.name] = ax.axvline(at, **look, label=f"{c.name} cut {at:.4g}")
        if self.doc.reject is not None:
            low, high = self.doc.reject.low, self.doc.reject.high
            label = f"review from {low:.4g} to {high:.4g}"
            self.review_ = ax.axvspan(low, high, color=GREY, alpha=0.18, lw=0, label=label)
        canvas.frame(ax, "cut: alert from this score on", "share", "above", 3, ylim=UNIT)
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
        self = cls.__new__(cls)
        self.name, self.difference = name, True
        curve_options = canvas.take_options(net_benefit_difference, options)
        self.curve = net_benefit_difference(y, first, second, **curve_options)
        return self.plot(ax=ax, **options)

    def plot(self, ax: Any = None, *, band: bool = True, **line: Any) -> Self:
        """Draw the curve, with its pointwise band unless band=False; `line` goes to matplotlib's `plot`."""
        (ax,) = self._axes(ax, (6.4, 4.4))
        c = self.curve
        first = not canvas.marked_lines(ax, CHANCE)
        label = "difference" if self.difference else "alert by the scores"
        self.line_ = canvas.curve(ax, c.threshold, c.net_benefit, self._named(label), line)
        self.band_ = None
        if band:
            name = f"{canvas.percent(c.level)} interval" if first else None
            self.band_ = canvas.shade(ax, c.threshold, c.low, c.high, self.line_.get_color(), name)
        if first:
            none = None if self.difference else "alert nobody"
            canvas.dotted(ax, c.threshold[[0, -1]], [0, 0], none, gid=CHANCE)
        if first and not self.difference:
            ax.plot(c.threshold, c.treat_all, "--", color=GREY, lw=1, label="alert all")
        words, where = ("gained", "best") if self.difference else ("", "upper right")
        canvas.frame(ax, "threshold probability", f"net benefit {words}".rstrip(), where)
        if not self.difference:
            high = max(float(c.net_benefit.max()), float(c.treat_all.max()), 0.01)
            ax.set_ylim(-0.15 * high, 1.15 * high)
        return self
