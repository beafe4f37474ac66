"""Coarse tallies and what they leave open, and pooled tallies.

A coarse tally lies on a grid, the same cells whatever the data, so that shards merge; beside the weights
of its cells it keeps the ends and sums of their scores, and exact losses. Grids:

`probability`: 55,440 equal cells, whose edges contain i/B for B = 10, 12, 15, 16, 20 and more, refined
geometrically (128 cells an octave) towards 0 and towards 1, where rare events live; 0 and 1 have cells
of their own. `relative`: the leading bits of the float, 1,024 cells an octave, for any real score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints, freeze
from scorewise.checks import one_of
from scorewise.columns import Kind
from scorewise.computing import on_threads
from scorewise.errors import BadInput, Option
from scorewise.tallies.exact import COLUMNS, Exact, add, as_exact, own_columns
from scorewise.tallies.losses import (
    CLIP,
    LOSSES,
    NO_LOSS,
    Loss,
    Moments,
    add_losses,
    clipped,
    score_loss,
    unit,
)
from scorewise.tallies.runs import add_runs, first_of_runs, quantile_cells
from scorewise.tallies.sorting import AnyFloats, Numbers, union

if TYPE_CHECKING:
    from scorewise.tallies.tally import Block, Tally

Grid = Literal["probability", "relative"]
EQUAL_CELLS = 55_440
_DROPPED_BITS = 42  # of the 52 bits of a float64's fraction; 10 stay
ByClass = Floats  # shape (2, K): row 0 the negatives, row 1 the positives


@cache
def probability_edges() -> Floats:
    """The lower edges of the cells on [0, 1]; the last cell holds 1 alone.

    >>> edges = probability_edges()
    >>> 60_000 < len(edges) < 70_000, bool(np.isin(np.arange(16) / 15, edges).all())
    (True, True)
    """
    equal = np.arange(EQUAL_CELLS + 1) / EQUAL_CELLS
    finer = 2.0 ** (-np.arange(8 * 128, 60 * 128 + 1) / 128)
    # 1 - 2^-53 is the last float below 1
    towards_one = 1.0 - finer[finer >= 2.0**-53]
    zero = [0.0, np.nextafter(0.0, 1.0)]
    edges = np.unique(np.concatenate((zero, equal, finer, towards_one, [CLIP, 1.0 - CLIP])))
    edges.flags.writeable = False
    return edges


def grid_of(kind: Kind) -> Grid:
    """The grid that suits a kind of scores."""
    return "probability" if kind == "probability" else "relative"


def cell_of(score: NDArray[np.floating], grid: Grid) -> Ints:
    """The number of the cell in which each score lies; non-decreasing in the score.

    >>> cell_of(np.array([-1.0, 0.0, 1.0, 1.0001, 1.001]), "relative") - (1023 << 10)
    array([-2095105, -1047552,        0,        0,        1])
    """
    if grid == "probability":
        if len(score) and (score.min() < 0 or score.max() > 1):
            raise BadInput("scores lie outside [0, 1]; coarsen with ", Option("grid", "relative"))
        edges = probability_edges()
        return np.searchsorted(edges, score.astype(np.float64), side="right") - 1
    one_of("grid", grid, get_args(Grid))
    # + 0.0 folds -0.0 into 0.0
    s = score.astype(np.float64) + 0.0
    size = (np.abs(s).view(np.int64)) >> _DROPPED_BITS
    return np.where(s < 0, -size - 1, size)


def cells_of(score: NDArray[np.floating], grid: Grid) -> tuple[Ints, Ints]:
    """The numbers of the cells in which increasing scores lie, and where those of each begin.

    >>> cells_of(np.array([0.0, 0.5, 0.500001, 1.0]), "relative")[1]
    array([0, 1, 3])
    """
    edges = probability_edges() if grid == "probability" else np.empty(0)
    if not len(edges) or len(score) < len(edges) or score[0] < 0 or score[-1] > 1:
        number = cell_of(score, grid)
        start = first_of_runs(number)
        return number[start], start
    # of many scores, each edge is looked up among them
    at = np.append(np.searchsorted(score.astype(np.float64, copy=False), edges), len(score))
    cell = np.flatnonzero(at[1:] > at[:-1])
    return cell, at[cell]


@dataclass(frozen=True, eq=False)
class Coarse:
    """Per cell and class the smallest and largest score and the sum of scores; in all, exact losses.

    Where the scores are logits, the sum is that of their probabilities. Of counted rows the sum is exact,
    `rest` being what its float leaves out, shape (terms, 2, K). A class that is absent from a cell has
    `low` inf and `high` -inf there. Losses are sums of floats, whose last digits depend on the order of
    the rows (relative 1e-12).
    """

    grid: Grid
    cell: Ints
    low: ByClass
    high: ByClass
    sum: ByClass
    losses: dict[Loss, tuple[Moments, Moments]]
    rest: Floats | None = None

    def __post_init__(self) -> None:
        freeze(self, "cell", "low", "high", "sum")

    @classmethod
    def of(
        cls, grid: Grid, cell: Ints, low: ByClass, high: ByClass, sums: Exact,
        losses: dict[Loss, tuple[Moments, Moments]],
    ) -> Coarse:  # fmt: skip
        """The same of exact sums of the scores of both classes."""
        return cls(grid, cell, low, high, sums.value, losses, sums.rest if len(sums.rest) else None)

    @property
    def sums(self) -> Exact:
        """The sums of the scores, shape (2, K)."""
        return as_exact(self.sum, self.rest)

    @property
    def middle(self) -> Floats:
        """The middle of the scores seen in each cell, which is increasing."""
        low, high = self.low.min(0), self.high.max(0)
        # not (low + high) / 2, which may overflow, nor low / 2 + high / 2, which may vanish
        return np.asarray(low + (high - low) / 2)

    def ends(self, kind: Kind) -> tuple[Floats, Floats]:
        """The lowest and the highest score of each cell on [0, 1], where it has a place there."""
        return unit(self.low.min(0), kind), unit(self.high.max(0), kind)


def loss_moments(
    t: Tally, losses: Sequence[Loss] = LOSSES, clip: float = CLIP
) -> dict[Loss, tuple[Moments, Moments]]:
    """Moments of losses over the negatives and over the positives of an exact tally."""

    def of_class(s: AnyFloats, w: Numbers, w2: Numbers, positive: bool) -> Any:
        weights: tuple[Numbers, ...] = w, w2
        if t.distinct:
            s, weights = s[np.flatnonzero(w)], ()
        by_loss: dict[Loss, Floats] = {}
        for loss in losses:
            if loss == "log clipped" and "log" in by_loss:
                by_loss[loss] = clipped(by_loss["log"], clip)
            else:
                by_loss[loss] = score_loss(s, t.kind, loss, positive, clip)
        return [Moments.of(x, *weights) for x in by_loss.values()]

    def of_block(b: Block) -> Any:
        return of_class(b.score, b.neg, b.neg2, False), of_class(b.score, b.pos, b.pos2, True)

    done = on_threads(of_block, list(t.blocks()))
    return {
        loss: (sum((neg[k] for neg, _ in done), NO_LOSS), sum((pos[k] for _, pos in done), NO_LOSS))
        for k, loss in enumerate(losses)
    }


def merge_coarse(a: Coarse, b: Coarse) -> tuple[Coarse, Ints, Ints]:
    """The coarse part of a merged tally, and where the cells of a and of b are in it."""
    cell, at_a, at_b = union(a.cell, b.cell)
    low, high = empty_ends(len(cell))
    for part, at in ((a, at_a), (b, at_b)):
        for k in (0, 1):
            np.minimum.at(low[k], at, part.low[k])
            np.maximum.at(high[k], at, part.high[k])
    sums = add(len(cell), [(a.sums, at_a), (b.sums, at_b)])
    return Coarse.of(a.grid, cell, low, high, sums, add_losses(a.losses, b.losses)), at_a, at_b


def empty_ends(cells: int) -> tuple[ByClass, ByClass]:
    """The smallest and the largest score of cells of which no score is known yet."""
    return np.full((2, cells), np.inf), np.full((2, cells), -np.inf)


def pool(t: Tally, cells: int) -> Tally:
    """The same with neighbouring cells pooled to about so many of equal mass, as if tied."""
    if len(t.score) <= cells:
        return t
    if not t.distinct:
        return pooled_at(t, quantile_cells(cells, t.neg, t.pos))
    # as `quantile_cells` would find them
    start = np.maximum(np.ceil(len(t.score) * (np.arange(cells) / cells)).astype(np.int64) - 1, 0)
    return pooled_at(t, start[first_of_runs(start)])


def pooled_at(t: Tally, start: Ints) -> Tally:
    """The same with the cells pooled to runs that begin at `start`, as if tied."""
    columns = {name: add_runs(getattr(t, name), start) for name in own_columns(t)}
    return replace(t, score=t.score[start], coarse=None, rest=None, **columns)


# What is open within the cells of a coarse tally: the order of their scores.


def order_within(t: Tally) -> Ints:
    """For each cell: 1 if its positives lie above its negatives, -1 if below or tied, 0 if unknown."""
    if t.coarse is None:
        return np.full(len(t.score), -1)
    (neg_low, pos_low), (neg_high, pos_high) = t.coarse.low, t.coarse.high
    below = (pos_high < neg_low) | tied_within(t)
    return np.where(below, -1, np.where(pos_low > neg_high, 1, 0))


def tied_within(t: Tally) -> Bools:
    """Whether all scores of a cell are one and the same."""
    if t.coarse is None:
        return np.ones(len(t.score), np.bool_)
    return np.asarray(t.coarse.low.min(0) == t.coarse.high.max(0))


def extremes(t: Tally) -> tuple[Tally, Tally]:
    """Tallies whose ROC curves run below and above the unknown exact one.

    Each cell is cut in two, with all its negatives above its positives, or below.

    >>> from scorewise.tallies import Tally
    >>> worst, best = extremes(Tally.of([1, 0, 1], [0.500001, 0.500002, 0.500003]).coarsen())
    >>> worst.pos, best.pos
    (array([2, 0]), array([0, 2]))
    """
    order, tied = order_within(t), tied_within(t)
    tallies = []
    for above in (order == 1, order >= 0):
        # the lower and the upper half of each cell, one after the other
        sides = (t.neg, ~above), (t.pos, above), (t.neg2, ~above), (t.pos2, above)
        ups = ((w, up & ~tied) for w, up in sides)
        halves = np.stack([np.stack([w * ~up, w * up], 1).ravel() for w, up in ups])
        used = (halves[:2] > 0).any(0)
        score = np.flatnonzero(used).astype(np.float64)
        columns = dict(zip(COLUMNS, halves[:, used], strict=True))
        tallies.append(replace(t, score=score, kind="score", coarse=None, rest=None, **columns))
    return tallies[0], tallies[1]


def certified(t: Tally, value: Callable[[Tally], float]) -> tuple[float, float]:
    """A value that only rises with the ROC curve, and its certified half-width.

    For an exact tally that is the value and 0; for a coarse one the middle between the extremes.
    """
    if t.coarse is None:
        return value(t), 0.0
    worst, best = (value(x) for x in extremes(t))
    return (worst + best) / 2, (best - worst) / 2


def why_undecided(t: Tally) -> str:
    """Why what depends on each score by itself cannot be said of a coarse tally, or nothing."""
    return "" if bool(tied_within(t).all()) else "the cells of the coarse tally leave it open"
