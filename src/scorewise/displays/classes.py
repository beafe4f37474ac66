"""Several classes: their confusion, and the risk of keeping only the rows that are surest."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from scorewise.curves.selective import confident, risk_coverage
from scorewise.displays import canvas
from scorewise.errors import BadInput
from scorewise.measures import aurc
from scorewise.tallies import ClassTally, Confusion, Tally


class ConfusionDisplay(canvas.Display):
    """Truth down the side, decisions across, each row shaded by its shares.

    After `plot`: `image_` and `texts_`, the numbers, which are absent where classes are many.
    """

    def __init__(self, c: Confusion) -> None:
        if not c.weight.any():
            raise BadInput("no confusion to draw: no rows")
        self.confusion = c

    @classmethod
    def from_predictions(cls, y: Any, p: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw labels `y` and scores `p` of each class; the options are those of `ClassTally.of`."""
        return cls.from_tally(ClassTally.of(y, p, **options), ax=ax)

    @classmethod
    def from_tally(cls, t: ClassTally, *, ax: Any = None, **options: Any) -> Self:
        """Draw the decisions of a tally of several classes; the options are those of `plot`."""
        return cls(t.confusion).plot(ax=ax, **options)

    def plot(self, ax: Any = None, *, cmap: str = "Blues") -> Self:
        """Draw the table."""
        names = [canvas.literal(name) for name in self.confusion.classes]
        side = min(2.5 + 0.42 * len(names), 12.0)
        (ax,) = self._axes(ax, (side, side))
        weight = self.confusion.weight.astype(np.float64)
        rows = weight.sum(1, keepdims=True)
        share = np.divide(weight, rows, out=np.zeros_like(weight), where=rows > 0)
        texts = [[f"{w:.4g}" if w else "" for w in row] for row in weight.tolist()]
        self.image_, self.texts_ = canvas.table(ax, share, texts, names, names, cmap=cmap, dark=0.5)
        ax.set(xlabel="predicted", ylabel="true")
        return self


class RiskCoverageDisplay(canvas.Display):
    """The share wrong among the rows kept, over the share kept, the surest first.

    The area with its interval is in the legend; the dotted line is the error rate of all rows, where
    confidence without meaning would stay, and the thin line the best order of the same rows. After
    `plot`: `line_` and `best_`.
    """

    def __init__(
        self, t: ClassTally | Tally, name: str | None = None, *, level: float = 0.95
    ) -> None:
        self.tally, self.name = confident(t), name
        if not self.tally.negatives and not self.tally.positives:
            raise BadInput("no risk-coverage curve: no rows")
        self.curve = risk_coverage(self.tally)
        self.area = aurc(self.tally, level=level)

    @classmethod
    def from_predictions(
        cls, y: Any, p: Any, *, name: str | None = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw labels `y` and scores `p` of each class; the options are those of `ClassTally.of`."""
        return cls.from_tally(ClassTally.of(y, p, **options), name=name, ax=ax)

    @classmethod
    def from_tally(cls, t: ClassTally | Tally, *, ax: Any = None, **options: Any) -> Self:
        """Draw a tally of several classes, or of confidence against correct.

        The options are those of the class, such as `name=`, and of `plot`.
        """
        return cls._plotted(t, ax=ax, **options)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curve; `line` goes to matplotlib's `plot`, such as `color="k"`."""
        (ax,) = self._axes(ax, (5.6, 4.2))
        x, y = self._points()
        self.line_ = canvas.curve(ax, x, y, self._named(f"AURC {self.area}"), line)
        kept, risk = self._best()
        (self.best_,) = ax.plot(kept, risk, color=self.line_.get_color(), lw=0.8, alpha=0.7)
        rate = self.curve.y[-1]
        canvas.dotted(ax, [0, 1], [rate, rate], None, zorder=1, gid=canvas.CHANCE)
        words = ("coverage: share of rows kept", "risk: share of them wrong")
        canvas.frame(ax, *words, "upper left", xlim=canvas.UNIT, ylim=(0, None))
        return self

    def _points(self) -> tuple[Any, Any]:
        """The curve with its runs of ties filled in, along which the counts run straight."""
        x = np.unique(np.concatenate((self.curve.x, np.linspace(0, 1, 513)[1:])))
        kept = np.concatenate(([0.0], self.curve.x))
        wrong = np.concatenate(([0.0], self.curve.x * self.curve.y))
        return x, np.interp(x, kept, wrong) / x

    def _best(self) -> tuple[Any, Any]:
        """The same if every wrong row came last."""
        rate = self.curve.y[-1]
        x = np.linspace(1 - rate, 1, 257)
        with np.errstate(divide="ignore", invalid="ignore"):
            risk = np.where(x > 0, (x - (1 - rate)) / x, 1.0)
        return np.concatenate(([0.0], x)), np.concatenate((risk[:1], risk))
