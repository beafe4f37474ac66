"""Several classes on one plot: ROC, precision-recall and reliability curves of each against the rest."""

from __future__ import annotations

from typing import Any, Self

from scorewise.colours import COLOURS
from scorewise.curves.hull import calibrated
from scorewise.displays import canvas
from scorewise.displays.decisions import PrecisionRecallDisplay
from scorewise.displays.reliability import ReliabilityDisplay
from scorewise.displays.roc import RocDisplay
from scorewise.errors import BadInput
from scorewise.inference.ranking import area
from scorewise.tallies import ClassTally
from scorewise.tallies.losses import unit

MOST = len(COLOURS)  # classes that colours tell apart
FEW = 50  # classes of which all are ranked by their AUROC


def drawn_classes(t: ClassTally, most: int = MOST) -> tuple[list[str], str]:
    """The classes to draw, in the order of the tally, and a word on those that are left out.

    Of many, those of the lowest AUROC; of more than fifty, the largest.
    """
    there = [name for name, w in zip(t.classes, t.weight.tolist(), strict=True) if w]
    if not t.each:
        raise BadInput("only the confidence is known; scores of each class are needed")
    if len(there) <= most:
        return there, ""
    if len(there) <= FEW:
        worth = {name: area(t.one(name)) for name in there}
        why = f"the {most} of lowest AUROC of {len(there)} classes"
    else:
        worth = {n: -w for n, w in zip(t.classes, t.weight.tolist(), strict=True)}
        why = f"the {most} largest of {len(there)} classes"
    kept = sorted(there, key=lambda name: worth[name])[:most]
    return [name for name in there if name in kept], why


class ClassCurvesDisplay(canvas.PredictionDisplay):
    """A curve for each class against the rest, of at most six: those of the lowest AUROC are drawn.

    After `plot`: `lines_` by class, and `left_out`, a word on what is not drawn.
    """

    tally_type = ClassTally
    _one: Any

    def __init__(self, t: ClassTally, *, most: int = MOST, level: float = 0.95) -> None:
        self.tally, self.level = t, level
        self.classes, self.left_out = drawn_classes(t, most)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw the curves; `line` goes to matplotlib's `plot`, such as `lw=1`."""
        (ax,) = self._axes(ax, (5.2, 5.2))
        self.lines_ = {
            name: self._one(self.tally.one(name), name, level=self.level)
            .plot(ax=ax, **canvas.look(k) | line)
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
        for old in canvas.drawn(self.ax_, canvas.CHANCE):  # each class has a prevalence of its own
            old.remove()
        canvas.frame(self.ax_, "recall", "precision", "lower left")
        return self


class ClassReliabilityDisplay(ClassCurvesDisplay):
    """How often the decision is right at each confidence, with its band, and each class against the rest.

    Of more than six classes, those of the lowest AUROC. After `plot`: `top_`, the display of the
    confidence, and `lines_` by class.
    """

    def __init__(
        self, t: ClassTally, *, most: int = MOST, level: float = 0.95, seed: int = 0
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
            one, own = self.tally.one(name), canvas.look(k) | {"lw": 1.2, "label": name}
            x, y = unit(one.score, one.kind), calibrated(one)
            (self.lines_[name],) = ax.plot(x, y, **canvas.styled(own, line))
        canvas.frame(ax, "probability", "share that is right", self.top_._corner)
        return self._titled(ax)
