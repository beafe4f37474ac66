"""Coarse tallies and what they leave open, where tallies come from, and pooled tallies.

A coarse tally lies on a grid, the same cells whatever the data, so that shards merge; beside the weights
of its cells it keeps the ends and sums of their scores, and exact losses. Grids:

`probability`: 55,440 equal cells, whose edges contain i/B for B = 10, 12, 15, 16, 20 and more, refined
geometrically (128 cells an octave) towards 0 and towards 1, where rare events live; 0 and 1 have cells
of their own. `relative`: the leading bits of the float, 1,024 cells an octave, for any real score.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import one_of
from scorewise.columns import Kind
from scorewise.errors import BadInput, Option
from scorewise.tallies.exact import Exact, add, rest_of
from scorewise.tallies.losses import CLIP, NOTHING, Loss, Moments, charge, unit
from scorewise.tallies.sorting import (
    AnyFloats,
    Numbers,
    add_runs,
    first_of_runs,
    on_threads,
    quantile_cells,
)

if TYPE_CHECKING:
    from scorewise.tallies.tally import Block, Tally

Grid = Literal["probability", "relative"]
EQUAL_CELLS = 55_440
_DROPPED_BITS = 42  # of the 52 bits of a float64's fraction; 10 stay
ByClass = Floats  # shape (2, K): row 0 the negatives, row 1 the positives
_PIECE = 1 << 20
_PIECES = 64


class Stored:
    """A tally that is written to one small Parquet file, and read from it again."""

    def save(self, path: str | Path) -> None:
        """Write one file; `load` reads it."""
        from scorewise.tallies.store import save

        whole: Any = self
        save(whole, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """What `save` wrote; refused where it is of another kind, of another version or damaged."""
        from scorewise.tallies.store import load

        found: Self = load(Path(path), cls)
        return found


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
    shards: tuple[Shard, ...] = ()  # files of which more than the name is known
    half: bool = False  # whether all scores came with 16 bits

    @property
    def rows(self) -> int:
        """Rows used, of both classes."""
        return self.negatives + self.positives

    def __add__(self, other: Origin) -> Origin:
        """The origin of a merged tally; the classes must be the same, and no file be in both."""
        shards = self._shards(other)
        if not other.rows:
            return replace(self, dropped=self.dropped + other.dropped, shards=shards)
        if not self.rows:
            return replace(other, dropped=self.dropped + other.dropped, shards=shards)
        if self.positive != other.positive:
            raise BadInput(
                f"the tallies have different positive classes, {self.positive!r} and ",
                f"{other.positive!r}; make them with the same ", Option("positive"),
            )  # fmt: skip
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
            shards=shards,
            half=self.half and other.half,
        )

    def _shards(self, other: Origin) -> tuple[Shard, ...]:
        """The files of both; refused where one is in both, by its content."""
        known = {shard.digest: shard for shard in self.shards}
        twice = [shard for shard in other.shards if shard.digest in known]
        if twice:
            one, names = twice[0], known[twice[0].digest].name
            alias = "" if one.name == names else f" (there named {names})"
            more = f" and {len(twice) - 1:,} other files are" if len(twice) > 1 else " is"
            raise BadInput(
                f"{one.name}{alias}{more} in the tally already, with the same content; its "
                f"{one.rows:,} rows would count twice; leave it out, or pass ", Option("again"),
            )  # fmt: skip
        return tuple(sorted((*self.shards, *other.shards)))

    def apart_from(self, other: Origin) -> Origin:
        """The same without the files that the other has too, to be added nevertheless."""
        known = {shard.digest for shard in other.shards}
        return replace(self, shards=tuple(s for s in self.shards if s.digest not in known))


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
        for array in (self.cell, self.low, self.high, self.sum):
            array.flags.writeable = False

    def sums(self, side: int) -> Exact:
        """The sums of the scores of the negatives (0) or the positives (1)."""
        none = np.empty((0, len(self.cell)))
        return Exact(self.sum[side], none if self.rest is None else self.rest[:, side])

    @property
    def middle(self) -> Floats:
        """The middle of the scores seen in each cell, which is increasing."""
        low, high = self.low.min(0), self.high.max(0)
        # not (low + high) / 2, which may overflow, nor low / 2 + high / 2, which may vanish
        middle: Floats = low + (high - low) / 2
        return middle

    def ends(self, kind: Kind) -> tuple[Floats, Floats]:
        """The lowest and the highest score of each cell on [0, 1], where it has a place there."""
        return unit(self.low.min(0), kind), unit(self.high.max(0), kind)


def loss_moments(t: Tally, loss: Loss, **clip: float) -> tuple[Moments, Moments]:
    """Moments of a loss over the negatives and the positives of an exact tally."""

    def of_class(s: AnyFloats, w: Numbers, w2: Numbers, positive: bool) -> Moments:
        if t.distinct:
            s = s[np.flatnonzero(w > 0)]
            return Moments.of(charge(s, t.kind, loss, positive, **clip))
        return Moments.of(charge(s, t.kind, loss, positive, **clip), w, w2)

    def of_block(b: Block) -> tuple[Moments, Moments]:
        return of_class(b.score, b.neg, b.neg2, False), of_class(b.score, b.pos, b.pos2, True)

    both = on_threads(of_block, list(t.blocks()))
    return sum((neg for neg, _ in both), NOTHING), sum((pos for _, pos in both), NOTHING)


def merge_coarse(a: Coarse, b: Coarse) -> tuple[Coarse, Ints, Ints]:
    """The coarse part of a merged tally, and where the cells of a and of b are in it."""
    cell, place = np.unique(np.concatenate((a.cell, b.cell)), return_inverse=True)
    at_a, at_b = place[: len(a.cell)], place[len(a.cell) :]
    low, high = np.full((2, len(cell)), np.inf), np.full((2, len(cell)), -np.inf)
    for part, at in ((a, at_a), (b, at_b)):
        low[:, at] = np.minimum(low[:, at], part.low)
        high[:, at] = np.maximum(high[:, at], part.high)
    losses = {
        loss: (a.losses[loss][0] + b.losses[loss][0], a.losses[loss][1] + b.losses[loss][1])
        for loss in a.losses.keys() & b.losses.keys()
    }
    sums = [add(len(cell), [(a.sums(k), at_a), (b.sums(k), at_b)]) for k in (0, 1)]
    total, rest = np.stack([x.value for x in sums]), rest_of(sums)
    return Coarse(a.grid, cell, low, high, total, losses, rest), at_a, at_b


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
    neg, pos = neg2, pos2 = add_runs(t.neg, start), add_runs(t.pos, start)
    if t.weighted:
        neg2, pos2 = add_runs(t.neg2, start), add_runs(t.pos2, start)
    columns = {"neg": neg, "pos": pos, "neg2": neg2, "pos2": pos2}
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
    made = []
    for above in (order == 1, order >= 0):
        # the lower and the upper half of each cell, one after the other
        sides = (t.neg, ~above), (t.pos, above), (t.neg2, ~above), (t.pos2, above)
        ups = ((w, up & ~tied) for w, up in sides)
        halves = np.stack([np.stack([w * ~up, w * up], 1).ravel() for w, up in ups])
        used = (halves[:2] > 0).any(0)
        neg, pos, neg2, pos2 = halves[:, used]
        score = np.flatnonzero(used).astype(np.float64)
        columns = {"neg": neg, "pos": pos, "neg2": neg2, "pos2": pos2}
        made.append(replace(t, score=score, kind="score", coarse=None, rest=None, **columns))
    return made[0], made[1]


def certified(t: Tally, value: Callable[[Tally], float]) -> tuple[float, float]:
    """A value that only rises with the ROC curve, and its certified half-width.

    For an exact tally that is the value and 0; for a coarse one the middle between the extremes.
    """
    if t.coarse is None:
        return value(t), 0.0
    worst, best = (value(x) for x in extremes(t))
    return (worst + best) / 2, (best - worst) / 2


def why_open(t: Tally) -> str:
    """Why what depends on each score by itself cannot be said of a coarse tally, or nothing."""
    return "" if bool(tied_within(t).all()) else "the cells of the coarse tally leave it open"


class Shard(NamedTuple):
    """A file that rows came from: its name, its size in bytes, its rows, and a digest of its content."""

    name: str
    size: int
    rows: int
    digest: str


def digest_of(path: str | os.PathLike[str]) -> str:
    """BLAKE2b of a file's size and content; of large files, of 64 pieces of 1 MiB spread over it.

    Two files of the same size that differ in no such piece would be taken for one.
    """
    made = hashlib.blake2b(digest_size=32)
    with Path(path).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        made.update(str(size).encode())
        last = max(0, size - _PIECE)
        whole = size <= _PIECE * _PIECES
        steps = -(-size // _PIECE) if whole else _PIECES
        for k in range(steps):
            file.seek(k * _PIECE if whole else last * k // (_PIECES - 1))
            made.update(file.read(_PIECE))
    return made.hexdigest()


def shard_of(path: str | os.PathLike[str], name: str, rows: int) -> Shard:
    """What is recorded of a file."""
    return Shard(name, Path(path).stat().st_size, rows, digest_of(path))
