"""What a coarse tally keeps beside the weights of its cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from scorewise.tallies.grid import Grid, cell_of
from scorewise.tallies.losses import LOSSES, Loss, Moments, charges, unit
from scorewise.tallies.sorting import first_of_runs

if TYPE_CHECKING:
    from scorewise.tallies.tally import Tally

ByClass = NDArray[np.float64]  # shape (2, K): row 0 the negatives, row 1 the positives


@dataclass(frozen=True, eq=False)
class Coarse:
    """Per cell and class the smallest and largest score and the sum of scores; in all, exact losses.

    Where the scores are logits, the sum is that of their probabilities. A class that is absent from a
    cell has `low` inf and `high` -inf there.
    """

    grid: Grid
    cell: NDArray[np.int64]
    low: ByClass
    high: ByClass
    sum: ByClass
    losses: dict[Loss, tuple[Moments, Moments]]

    def __post_init__(self) -> None:
        for array in (self.cell, self.low, self.high, self.sum):
            array.flags.writeable = False

    @property
    def middle(self) -> NDArray[np.float64]:
        """The middle of the scores seen in each cell, which is increasing."""
        low, high = self.low.min(0), self.high.max(0)
        # not (low + high) / 2, which may overflow, nor low / 2 + high / 2, which may vanish
        middle: NDArray[np.float64] = low + (high - low) / 2
        return middle


def coarsened(t: Tally, grid: Grid) -> tuple[Coarse, NDArray[np.int64]]:
    """The coarse part of an exact tally, and the first score of each of its cells."""
    number = cell_of(t.score, grid)
    start = first_of_runs(number)
    s, p = t.score.astype(np.float64), unit(t.score, t.kind)
    low, high, total = (np.empty((2, len(start))) for _ in range(3))
    for k, w in enumerate((t.neg, t.pos) if len(start) else ()):
        low[k] = np.minimum.reduceat(np.where(w > 0, s, np.inf), start)
        high[k] = np.maximum.reduceat(np.where(w > 0, s, -np.inf), start)
        with np.errstate(over="ignore"):  # the sum of scores near the largest float is infinite
            total[k] = np.add.reduceat(w * p, start)
    return Coarse(grid, number[start], low, high, total, exact_losses(t)), start


def exact_losses(t: Tally) -> dict[Loss, tuple[Moments, Moments]]:
    """The sums that proper scores need, for each class; none for scores of no scale."""
    if t.kind == "score":
        return {}
    return {loss: loss_moments(t, loss) for loss in LOSSES}


def loss_moments(t: Tally, loss: Loss, **clip: float) -> tuple[Moments, Moments]:
    """Moments of a loss over the negatives and the positives of an exact tally."""
    neg, pos = Moments(0.0, 0.0, 0.0), Moments(0.0, 0.0, 0.0)
    for b in t.blocks():
        on_neg, on_pos = charges(b.score, t.kind, loss, **clip)
        neg += Moments.of(on_neg, b.neg, b.neg2)
        pos += Moments.of(on_pos, b.pos, b.pos2)
    return neg, pos


def merge_coarse(a: Coarse, b: Coarse) -> tuple[Coarse, NDArray[np.int64], NDArray[np.int64]]:
    """The coarse part of a merged tally, and where the cells of a and of b are in it."""
    cell, place = np.unique(np.concatenate((a.cell, b.cell)), return_inverse=True)
    at_a, at_b = place[: len(a.cell)], place[len(a.cell) :]
    low, high = np.full((2, len(cell)), np.inf), np.full((2, len(cell)), -np.inf)
    total = np.zeros((2, len(cell)))
    for part, at in ((a, at_a), (b, at_b)):
        low[:, at] = np.minimum(low[:, at], part.low)
        high[:, at] = np.maximum(high[:, at], part.high)
        with np.errstate(over="ignore"):
            total[:, at] += part.sum
    losses = {
        loss: (a.losses[loss][0] + b.losses[loss][0], a.losses[loss][1] + b.losses[loss][1])
        for loss in a.losses.keys() & b.losses.keys()
    }
    return Coarse(a.grid, cell, low, high, total, losses), at_a, at_b
