"""Curves over all thresholds, of two classes or of each of several: ROC, precision-recall, risk, lift."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np

from scorewise.colours import COLOURS, ORANGE
from scorewise.curves import roc
from scorewise.curves.benefit import confidence_tally, cost_curve, gain, lift, risk_coverage
from scorewise.curves.thresholds import Curve, precision_band, precision_recall, roc_steps
from scorewise.curves.thresholds import band as roc_band
from scorewise.displays import canvas
from scorewise.displays.canvas import CHANCE, ROC_AXES, UNIT, BandName
from scorewise.errors import BadInput
from scorewise.estimate import number
from scorewise.inference.ranking import auroc_value
from scorewise.measures import aurc, auroc, average_precision
from scorewise.tallies import ClassTally, Tally

PR_AXES = ("recall", "precision")
MAX_CLASSES = len(COLOURS)  # that colours tell apart
MAX_RANKED = 50  # classes of which all are ranked by their AUROC


class RocDisplay(canvas.PredictionDisplay):
    """The ROC curve of a tally, its area with the interval in the legend.

    After `plot`: `line_`, `hull_` and `band_`, the last two None unless asked for.
    """

    def __init__(
        self, t: Tally, name: str | None = None, *, level: float = 0.95, seed: int = 0
    ) -> None:
        if why := t.why_not_ranked:
            raise BadInput(f"no ROC curve: {why}")
        self.tally, self.name, self.level, self.seed = t, name, level, seed
        self.curve = roc(t)
        self.area = auroc(t, level=level)

    def plot(
        self, ax: Any = None, *, hull: bool = False, band: BandName | None = None, **line: Any
    ) -> Self:
        """Draw the curve, and if asked its hull and a "pointwise" or "simultaneous" band.

        `line` goes to matplotlib's `plot`, such as `color="k"`.
        """
        (ax,) = self._axes(ax, (5.2, 5.2))
        c, label = self.curve, self._named(f"AUROC {self.area}")
        self.line_ = canvas.curve(ax, c.x, c.y, label, line)
        self.hull_ = None
        if hull:
            top, label = c.hull(), self._named("convex hull")
            (self.hull_,) = ax.plot(top.x, top.y, "--", color=ORANGE, lw=1.2, label=label)
        find = partial(roc_band, self.tally, c, roc_steps, level=self.level, seed=self.seed)
        self.band_ = canvas.curve_band(ax, find, band, self.line_.get_color())
        canvas.unit_square(ax, ROC_AXES, canvas.free_corner(self.area.value))
        return self


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
        find = partial(precision_band, self.tally, level=self.level, seed=self.seed)
        self.band_ = canvas.curve_band(ax, find, band, self.line_.get_color())
        self.chance_, share = None, self.area.baseline
        if share is not None and not any(
            np.isclose(old.get_ydata()[0], share) for old in canvas.marked_lines(ax, CHANCE)
        ):
            label = f"no skill: prevalence {number(share)}"
            self.chance_ = canvas.dotted(ax, [0, 1], [share, share], label, zorder=1, gid=CHANCE)
        low = share is not None and share < 0.4 and self.area.value < 0.6
        ax.set(xlim=UNIT, ylim=UNIT, **canvas.EQUAL)
        canvas.frame(ax, *PR_AXES, "upper right" if low else "lower left")
        return self


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
        self.tally, self.name = confidence_tally(t), name
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
        rate = self.curve.y[-1]
        # if every wrong row came last
        x = np.linspace(1 - rate, 1, 257)
        risk = np.divide(x - (1 - rate), x, out=np.ones_like(x), where=x > 0)
        look = {"color": self.line_.get_color(), "lw": 0.8, "alpha": 0.7}
        (self.best_,) = ax.plot([0, *x], [risk[0], *risk], **look)
        canvas.dotted(ax, [0, 1], [rate, rate], None, zorder=1, gid=CHANCE)
        words = ("coverage: share of rows kept", "risk: share of them wrong")
        canvas.frame(ax, *words, "upper left", xlim=UNIT, ylim=(0, None))
        return self


class _CurveDisplay(canvas.PredictionDisplay):
    """A curve over all thresholds, by its function, label, words and limits, beside alerts at random."""

    _of: Callable[[Tally], Curve]
    _label: str
    _words: tuple[str, str]
    _corner = "upper right"
    _random: ClassVar[Any] = ([0, 1], [1, 1], "chance")
    _height: tuple[float, float | None] = (0, None)
    _size = (5.6, 4.2)

    def __init__(self, t: Tally, name: str | None = None) -> None:
        self.name, self.curve = name, self._of(t)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curve beside what alerts at random would have."""
        (ax,) = self._axes(ax, self._size)
        self.line_ = canvas.curve(ax, self.curve.x, self.curve.y, self._named(self._label), line)
        self._frame(ax)
        return self

    def _frame(self, ax: Any) -> None:
        if not canvas.marked_lines(ax, CHANCE):
            canvas.dotted(ax, *self._random, gid=CHANCE)
        canvas.frame(ax, *self._words, self._corner, xlim=UNIT, ylim=self._height)


class CostCurveDisplay(_CurveDisplay):
    """The least expected cost over the share of it that positives make up; after `plot`: `line_`."""

    _of, _label, _corner = staticmethod(cost_curve), "the best cut", "upper left"
    _words = ("share of the cost that positives make up", "normalised expected cost")
    _random = ([0, 0.5, 1], [0, 0.5, 0], "alert nobody, or all")
    _height = (0, 0.52)


class LiftDisplay(_CurveDisplay):
    """How many times the prevalence the precision is, over the share of alerts; after `plot`: `line_`."""

    _of, _label = staticmethod(lift), "lift"
    _words = ("share of rows with an alert", "lift: precision over prevalence")


class GainDisplay(_CurveDisplay):
    """The share of positives found over the share of rows with an alert; after `plot`: `line_`."""

    _of, _label, _size = staticmethod(gain), "gain", (5.2, 5.2)

    def _frame(self, ax: Any) -> None:
        words = ("share of rows with an alert", "share of positives found")
        canvas.unit_square(ax, words, "lower right")


# Several classes: a curve of each against the rest.


def drawn_classes(t: ClassTally, most: int = MAX_CLASSES) -> tuple[list[str], str]:
    """The classes to draw, in the order of the tally, and a word on those that are left out.

    Of many, those of the lowest AUROC; of more than fifty, the largest.
    """
    if not t.each:
        raise BadInput("only the confidence is known; scores of each class are needed")
    weights = {name: w for name, w in zip(t.classes, t.weight.tolist(), strict=True) if w}
    many = len(weights)
    if many <= most:
        return [*weights], ""
    which, order = f"the {most} largest of", {name: -w for name, w in weights.items()}
    if many <= MAX_RANKED:
        which, order = f"the {most} of lowest AUROC of", {n: auroc_value(t.one(n)) for n in weights}
    chosen = sorted(weights, key=lambda name: order[name])[:most]
    return [name for name in weights if name in chosen], f"{which} {many} classes"


class ClassCurvesDisplay(canvas.PredictionDisplay):
    """A curve for each class against the rest, of at most six: those of the lowest AUROC are drawn.

    After `plot`: `lines_` by class, and `left_out`, a word on what is not drawn.
    """

    tally_type = ClassTally
    _one: Any

    def __init__(self, t: ClassTally, *, most: int = MAX_CLASSES, level: float = 0.95) -> None:
        self.tally, self.level = t, level
        self.classes, self.left_out = drawn_classes(t, most)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curves; `line` goes to matplotlib's `plot`, such as `lw=1`."""
        (ax,) = self._axes(ax, (5.2, 5.2))
        self.lines_ = {
            name: self._one(self.tally.one(name), name, level=self.level)
            .plot(ax=ax, **canvas.series_style(k) | line)
            .line_
            for k, name in enumerate(self.classes)
        }
        return self._titled(ax)

    def _titled(self, ax: Any) -> Self:
        if self.left_out:
            ax.set_title(self.left_out, fontsize="medium")
        return self


class ClassRocDisplay(ClassCurvesDisplay):
    """The ROC curve of each class against the rest.

    Of more than six classes, those of the lowest AUROC. After `plot`: `lines_` by class.
    """

    _one = RocDisplay


class ClassPrecisionRecallDisplay(ClassCurvesDisplay):
    """The precision-recall curve of each class against the rest.

    Of more than six classes, those of the lowest AUROC. After `plot`: `lines_` by class.
    """

    _one = PrecisionRecallDisplay

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curves; `line` goes to matplotlib's `plot`, such as `lw=1`."""
        super().plot(ax, **line)
        for old in canvas.marked_lines(self.ax_, CHANCE):  # each class has a prevalence of its own
            old.remove()
        canvas.frame(self.ax_, *PR_AXES, "lower left")
        return self
