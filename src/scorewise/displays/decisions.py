"""What thresholds decide: the precision-recall curve, and the table of decisions against labels."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from scorewise.columns.classes import is_wide
from scorewise.curves.thresholds import precision_band, precision_recall
from scorewise.displays import canvas
from scorewise.displays.canvas import CHANCE, UNIT, BandName
from scorewise.errors import BadInput
from scorewise.estimate import number
from scorewise.inference.shares import wilson
from scorewise.measures import average_precision
from scorewise.tallies import ClassTally, Confusion, Tally

SHARED = 6  # classes up to which cells also have shares
PR_AXES = ("recall", "precision")


class PrecisionRecallDisplay(canvas.PredictionDisplay):
    """The precision-recall curve of a tally, its average precision with the interval in the legend.

    The dotted line is the prevalence, which scores without meaning get at every recall. After `plot`:
    `line_`, `chance_` (None where another curve of the axes has brought it), and `band_`, None unless
    asked for.
    """

    def __init__(
        self, t: Tally, name: str | None = None, *, level: float = 0.95, seed: int = 0
    ) -> None:
        if not t.positives:
            raise BadInput(f"no precision-recall curve: {t.why_not_ranked}")
        self.tally, self.name, self.level, self.seed = t, name, level, seed
        self.curve = precision_recall(t)
        self.area = average_precision(t, level=level)

    def plot(self, ax: Any = None, *, band: BandName | None = None, **line: Any) -> Self:
        """Draw the curve, and if asked a "pointwise" or "simultaneous" band.

        `line` goes to matplotlib's `plot`, such as `color="k"`.
        """
        (ax,) = self._axes(ax, (5.2, 5.2))
        c, label = self.curve, self._named(f"AP {self.area}")
        # no threshold lies between two points: the precision of a recall is that of the next one
        self.line_ = canvas.curve(ax, c.x, c.y, label, line, drawstyle="steps-pre")
        self.band_ = self.chance_ = None
        if band is not None:
            find = partial(precision_band, self.tally, level=self.level, seed=self.seed)
            self.band_ = canvas.curve_band(ax, find, band, self.line_.get_color())
        share = self.area.baseline
        if share is not None and not any(
            np.isclose(old.get_ydata()[0], share) for old in canvas.drawn(ax, CHANCE)
        ):
            label = f"no skill: prevalence {number(share)}"
            self.chance_ = canvas.dotted(ax, [0, 1], [share, share], label, zorder=1, gid=CHANCE)
        low = share is not None and share < 0.4
        ax.set(xlim=UNIT, ylim=UNIT, **canvas.EQUAL)
        canvas.frame(ax, *PR_AXES, "upper right" if low and self.area.value < 0.6 else "lower left")
        return self


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
        t = Tally.of(y, s, **canvas.taken(Tally.of, options))
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
        c = self.confusion
        names = [canvas.literal(name) for name in c.classes]
        few = len(names) <= SHARED
        side = min(4.4 if few else 2.5 + 0.42 * len(names), 12.0)
        (ax,) = self._axes(ax, (side, side))
        weight = c.weight.astype(np.float64)
        rows = weight.sum(1, keepdims=True)
        share = np.divide(weight, rows, out=np.zeros_like(weight), where=rows > 0)
        texts = [[f"{w:.4g}" if w else "" for w in row] for row in weight.tolist()]
        if few:
            at = range(len(names))
            texts = [[self._cell(i, j, share) for j in at] for i in at]
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
