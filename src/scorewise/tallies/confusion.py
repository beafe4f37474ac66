"""Decisions against labels: their table at a threshold, and the scores that would decide alike.

A score is compared in its own precision: the threshold is rounded to 32 bits where the scores have 32, as
numpy, torch, polars and pandas do. So the 32-bit score 0.7 is at the threshold 0.7, not just below it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorewise.arrays import EqualByFields, Floats, Ints, freeze
from scorewise.errors import BadInput
from scorewise.tallies.losses import logit
from scorewise.tallies.sorting import Numbers

if TYPE_CHECKING:
    from scorewise.tallies.tally import Tally


@dataclass(frozen=True, eq=False, repr=False)
class Confusion(EqualByFields):
    """Weight per (true class, predicted class), and the sums of squared weights; `a + b` merges.

    For two classes the first is the negative and the second the positive one, so that `weight` is
    [[tn, fp], [fn, tp]]. `doubt` is the weight of negatives and of positives that a coarse tally could
    not place on one side of the threshold; they are split in the middle.

    >>> c = Confusion.counts(tp=25, fp=10, fn=15, tn=20)
    >>> c.tp, c.fp, c.fn, c.tn
    (25, 10, 15, 20)
    >>> (c + c).tp
    50
    """

    weight: Numbers
    weight2: Numbers
    classes: tuple[str, ...] = ("0", "1")
    doubt: tuple[float, float] = (0.0, 0.0)
    _identity = ("classes", "doubt", "weight", "weight2")

    def __post_init__(self) -> None:
        freeze(self, "weight", "weight2")

    @classmethod
    def counts(cls, *, tp: float, fp: float, fn: float, tn: float) -> Confusion:
        """The confusion of a two-by-two table."""
        table = np.array([[tn, fp], [fn, tp]])
        if (table < 0).any():
            raise BadInput("a count of the confusion is negative; counts are 0 or more")
        return cls(table, table)

    @classmethod
    def of(
        cls,
        true: Ints,
        predicted: Ints,
        weight: Numbers,
        weight2: Numbers,
        classes: tuple[str, ...],
    ) -> Confusion:
        """The confusion of rows, whose true and called classes are places among the classes."""
        k = len(classes)
        tables = []
        for w in (weight,) if weight2 is weight else (weight, weight2):
            table: Any = np.zeros(k * k, w.dtype)
            np.add.at(table, true * k + predicted, w)  # unlike bincount, exact for whole numbers
            tables.append(table.reshape(k, k))
        return cls(tables[0], tables[-1], classes)

    @property
    def table(self) -> Floats:
        """tp, fp, fn, tn as floats."""
        return self._cells(self.weight).astype(np.float64)

    @property
    def squares(self) -> Floats:
        """The sums of squared weights behind tp, fp, fn, tn."""
        return self._cells(self.weight2).astype(np.float64)

    @property
    def evened(self) -> Floats:
        """The same if the weights of a class were as uneven in each of its cells as in all.

        Which rows a heavy one falls in with is chance, and `squares` takes it for a fact. Of counts, and
        of weights that are equal within each class, the two are the same.
        """
        w, w2 = self.weight.astype(np.float64), self.weight2.sum(1, dtype=np.float64)
        total = w.sum(1)
        mean = np.divide(w2, total, out=np.zeros(len(w)), where=total > 0)
        return self._cells(w * mean[:, None]).astype(np.float64)

    @property
    def scale(self) -> float:
        """A power of two that brings the table near 1: no formula depends on the unit of weight."""
        return 2.0 ** -math.frexp(float(self.weight.sum()))[1]

    def _cells(self, table: Numbers) -> Numbers:
        """Those of two classes, from tp to tn."""
        if len(self.classes) != 2:
            raise BadInput(f"the confusion has {len(self.classes)} classes; this needs two")
        return table.ravel()[[3, 1, 2, 0]]

    tp = property(lambda self: self._cells(self.weight)[0].item(), doc="Positives called positive.")
    fp = property(lambda self: self._cells(self.weight)[1].item(), doc="Negatives called positive.")
    fn = property(lambda self: self._cells(self.weight)[2].item(), doc="Positives called negative.")
    tn = property(lambda self: self._cells(self.weight)[3].item(), doc="Negatives called negative.")

    def __add__(self, other: Confusion) -> Confusion:
        """The confusion of the rows of both; the classes must be the same."""
        if self.classes != other.classes:
            raise BadInput(
                f"cannot merge confusions of the classes {self.classes} and {other.classes}"
            )
        doubt = self.doubt[0] + other.doubt[0], self.doubt[1] + other.doubt[1]
        w, w2 = self.weight + other.weight, self.weight2 + other.weight2
        return Confusion(w, w2, self.classes, doubt)

    def __repr__(self) -> str:
        return f"Confusion(classes={self.classes}, weight={self.weight.tolist()})"


class Cut(NamedTuple):
    """A threshold, and the scores `above` < s <= `upto` that give the same decisions as it."""

    threshold: float
    above: float
    upto: float


def threshold_on_scale(t: Tally, threshold: float) -> Any:
    """A threshold on the scale and in the precision of the scores; of logits it is a probability."""
    if math.isnan(threshold):
        raise BadInput("threshold is NaN; pass a number")
    raw = np.float64(threshold)
    if t.kind == "logit":
        if not 0 <= threshold <= 1:
            raise BadInput(
                f"threshold {threshold:g} is not a probability; for logits it has to be one"
            )
        raw = logit(raw)
    with np.errstate(over="ignore"):  # beyond the range of 16 or 32 bits it is infinite
        return t.score.dtype.type(t.precision.type(raw))
