"""Coarse tallies, where tallies come from, and tallies made of tallies.

A coarse tally lies on a grid, the same cells whatever the data, so that shards merge; beside the weights
of its cells it keeps the ends and sums of their scores, and exact losses. Grids:

`probability`: 55,440 equal cells, whose edges contain i/B for B = 10, 12, 15, 16, 20 and more, refined
geometrically (128 cells an octave) towards 0 and towards 1, where rare events live; 0 and 1 have cells
of their own. `relative`: the leading bits of the float, 1,024 cells an octave, for any real score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from scorewise.columns import Kind
from scorewise.errors import BadInput
from scorewise.tallies.losses import CLIP, LOSSES, NOTHING, Loss, Moments, charges, unit
from scorewise.tallies.sorting import add_runs, first_of_runs, on_threads, quantile_cells

if TYPE_CHECKING:
    from scorewise.tallies.tally import Block, Tally


Grid = Literal["probability", "relative"]
EQUAL_CELLS = 55_440
_DROPPED_BITS = 42  # of the 52 bits of a float64's fraction; 10 stay
ByClass = NDArray[np.float64]  # shape (2, K): row 0 the negatives, row 1 the positives


@cache
def probability_edges() -> NDArray[np.float64]:
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


def cell_of(score: NDArray[np.floating], grid: Grid) -> NDArray[np.int64]:
    """The number of the cell in which each score lies; non-decreasing in the score.

    >>> cell_of(np.array([-1.0, 0.0, 1.0, 1.0001, 1.001]), "relative") - (1023 << 10)
    array([-2095105, -1047552,        0,        0,        1])
    """
    if grid == "probability":
        if len(score) and (score.min() < 0 or score.max() > 1):
            raise BadInput("scores lie outside [0, 1]; coarsen with grid='relative'")
        edges = probability_edges()
        return np.searchsorted(edges, score.astype(np.float64), side="right") - 1
    if grid == "relative":
        # + 0.0 folds -0.0 into 0.0
        s = score.astype(np.float64) + 0.0
        size = (np.abs(s).view(np.int64)) >> _DROPPED_BITS
        return np.where(s < 0, -size - 1, size)
    raise BadInput(f"unknown grid {grid!r}; known are 'probability' and 'relative'")


@dataclass(frozen=True)
class Origin:
    """What is known of the rows that a tally was made of; added up when tallies are merged."""

    label: str | None = None
    score: str = "score"
    weight: str | None = None
    positive: str = "1"
    negative: str = "0"
    rule: str = ""
    negatives: int = 0
    positives: int = 0
    dropped: int = 0
    sources: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        """Rows used, of both classes."""
        return self.negatives + self.positives

    def __add__(self, other: Origin) -> Origin:
        """The origin of a merged tally; the classes must be the same."""
        if not other.rows:
            return replace(self, dropped=self.dropped + other.dropped)
        if not self.rows:
            return replace(other, dropped=self.dropped + other.dropped)
        if self.positive != other.positive:
            raise BadInput(
                f"the tallies have different positive classes, {self.positive!r} and "
                f"{other.positive!r}; make them with the same positive="
            )
        if self.score != other.score:
            raise BadInput(
                f"the tallies are of different scores, {self.score!r} and {other.score!r}; only "
                f"rows of one and the same model add up"
            )
        return replace(
            min(
                self,
                other,
                key=lambda o: (o.label or "", o.score, o.rule, o.negative, o.weight or ""),
            ),
            negatives=self.negatives + other.negatives,
            positives=self.positives + other.positives,
            dropped=self.dropped + other.dropped,
            sources=tuple(sorted({*self.sources, *other.sources})),
        )


def merged_kind(a: Kind, b: Kind) -> Kind:
    """Probabilities and other scores together are scores; logits go with logits only."""
    if a == b:
        return a
    if "logit" in (a, b):
        raise BadInput(
            f"cannot merge a tally of {a}s with one of {b}s; make both of the same kind="
        )
    return "score"


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

    def ends(self, kind: Kind) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The lowest and the highest score of each cell on [0, 1], where it has a place there."""
        return unit(self.low.min(0), kind), unit(self.high.max(0), kind)


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

    def of_block(b: Block) -> tuple[Moments, Moments]:
        on_neg, on_pos = charges(b.score, t.kind, loss, **clip)
        return Moments.of(on_neg, b.neg, b.neg2), Moments.of(on_pos, b.pos, b.pos2)

    both = on_threads(of_block, list(t.blocks()))
    return sum((neg for neg, _ in both), NOTHING), sum((pos for _, pos in both), NOTHING)


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


def merge(a: Tally, b: Tally) -> Tally:
    """The tally of the rows of both."""
    origin = a.origin + b.origin
    if not len(b.score):
        return replace(a, origin=origin)
    if not len(a.score):
        return replace(b, origin=origin)
    kind = merged_kind(a.kind, b.kind)
    if a.coarse is not None or b.coarse is not None:
        return replace(_merge_coarse(a, b), kind=kind, origin=origin)
    score = np.concatenate((a.score, b.score))
    # two increasing runs: a stable sort merges them in one pass
    order = np.argsort(score, kind="stable")
    score = score[order]
    start = first_of_runs(score)
    columns = _columns(a, b, lambda x, y: add_runs(np.concatenate((x, y))[order], start))
    return replace(a, score=score[start], kind=kind, origin=origin, **columns)


def _merge_coarse(a: Tally, b: Tally) -> Tally:
    grid = (a.coarse or b.coarse).grid  # type: ignore[union-attr]
    a, b = coarsen(a, grid), coarsen(b, grid)
    assert a.coarse is not None
    assert b.coarse is not None
    coarse, at_a, at_b = merge_coarse(a.coarse, b.coarse)

    def added(x: Any, y: Any) -> Any:
        total = np.zeros(len(coarse.cell), np.result_type(x, y))
        total[at_a] += x
        total[at_b] += y
        return total

    middle = coarse.middle.astype(np.result_type(a.score, b.score))
    return replace(a, score=middle, coarse=coarse, **_columns(a, b, added))


def _columns(a: Tally, b: Tally, joined: Any) -> dict[str, Any]:
    """The weights of both, joined; counts are their own squares and are kept once."""
    neg, pos = joined(a.neg, b.neg), joined(a.pos, b.pos)
    if not a.weighted and not b.weighted:
        return {"neg": neg, "pos": pos, "neg2": neg, "pos2": pos}
    neg2, pos2 = joined(a.neg2, b.neg2), joined(a.pos2, b.pos2)
    return {"neg": neg, "pos": pos, "neg2": neg2, "pos2": pos2}


def coarsen(t: Tally, grid: Grid | None = None) -> Tally:
    """The same on the fixed cells of a grid; unless said, the grid that suits the kind of score."""
    if grid is None:
        grid = "probability" if t.kind == "probability" else "relative"
    if t.coarse is not None:
        if t.coarse.grid != grid:
            raise BadInput(f"the tally is coarse already, on the grid {t.coarse.grid!r}")
        return t
    coarse, start = coarsened(t, grid)
    # in the precision of the scores, in which thresholds are compared
    middle = coarse.middle.astype(t.score.dtype)
    return replace(t, score=middle, coarse=coarse, **_summed(t, start))


def pool(t: Tally, cells: int) -> Tally:
    """The same with neighbouring cells pooled to about so many of equal mass, as if tied."""
    if len(t.score) <= cells:
        return t
    return pooled_at(t, quantile_cells(cells, t.neg, t.pos))


def pooled_at(t: Tally, start: Any) -> Tally:
    """The same with the cells pooled to runs that begin at `start`, as if tied."""
    return replace(t, score=t.score[start], coarse=None, **_summed(t, start))


def _summed(t: Tally, start: Any) -> dict[str, Any]:
    return _columns(t, t, lambda x, _: add_runs(x, start))
