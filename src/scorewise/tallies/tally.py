"""The tally: all that a binary problem leaves of its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.door import Kind, Missing, Rows, take
from scorewise.errors import BadInput
from scorewise.tallies.coarse import Coarse, coarsened, merge_coarse
from scorewise.tallies.confusion import Confusion
from scorewise.tallies.grid import Grid
from scorewise.tallies.losses import expit
from scorewise.tallies.origin import Origin, merged_kind
from scorewise.tallies.sorting import (
    Numbers,
    add_runs,
    count_cells,
    first_of_runs,
    sum_cells,
)

_BLOCK = 1 << 15  # cells whose columns fit a core's cache


class Block(NamedTuple):
    """Neighbouring cells of a tally, and the weight of each class below and above them."""

    score: NDArray[np.floating]
    neg: Numbers
    pos: Numbers
    neg2: Numbers
    pos2: Numbers
    neg_below: Any
    pos_below: Any
    neg_above: Any
    pos_above: Any


class Cut(NamedTuple):
    """A threshold, and the scores `above` < s <= `upto` that give the same decisions as it."""

    threshold: float
    above: float
    upto: float


@dataclass(frozen=True, eq=False, repr=False)
class Tally:
    """Weight of negatives and positives on each distinct score, from the lowest up.

    Unweighted rows leave counts (int64). Weighted rows also leave sums of squared weights, because
    intervals need them. Immutable; `a + b` merges, `Tally.empty()` is the zero.

    >>> t = Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1])
    >>> t.score, t.neg, t.pos
    (array([0.1, 0.3, 0.8]), array([1, 1, 0]), array([0, 1, 1]))
    >>> t + Tally.empty() == t
    True
    """

    score: NDArray[np.floating]
    neg: Numbers
    pos: Numbers
    neg2: Numbers
    pos2: Numbers
    kind: Kind = "probability"
    origin: Origin = field(default_factory=Origin)
    coarse: Coarse | None = None

    @classmethod
    def of(
        cls,
        y: Any,
        s: Any,
        *,
        weight: Any = None,
        count: Any = None,
        positive: Any = None,
        kind: Kind | None = None,
        missing: Missing = "refuse",
    ) -> Tally:
        """The tally of labels and scores in any one-dimensional container.

        `weight` says how much a row matters, `count` how many rows it stands for. `kind` is read
        off the scores unless said: "probability" if all lie in [0, 1], otherwise "score"; "logit"
        must be said. See `scorewise.door` for how the positive class is chosen.
        """
        rows = take(
            y,
            {"score": s},
            weight=weight,
            count=count,
            positive=positive,
            kind=kind,
            missing=missing,
        )
        return cls.of_rows(rows, "score")

    @classmethod
    def of_rows(cls, rows: Rows, name: str, sources: tuple[str, ...] = ()) -> Tally:
        """The tally of one column of scores among checked rows."""
        s, y = rows.scores[name], rows.y
        times = np.ones(1, np.int64) if rows.count is None else rows.count
        if rows.weight is None and rows.count is None:
            score, neg, pos = count_cells(y, s)
            neg2: Numbers = neg
            pos2: Numbers = pos
        else:
            w = times * (1 if rows.weight is None else rows.weight)
            w2 = times * (1 if rows.weight is None else rows.weight**2)
            columns = np.stack([np.where(y, 0, w), np.where(y, w, 0)])
            if rows.weight is not None:
                columns = np.concatenate([columns, [np.where(y, 0, w2), np.where(y, w2, 0)]])
            kept = w > 0
            score, sums = sum_cells(s[kept], columns[:, kept])
            neg, pos, neg2, pos2 = sums if rows.weight is not None else (*sums, *sums)
        positives = int(y.sum() if rows.count is None else times[y].sum())
        origin = Origin(
            label=rows.names.label,
            score=name,
            weight=None if rows.weight is None else rows.names.weight,
            positive=rows.labels.positive,
            negative=rows.labels.negative,
            rule=rows.labels.rule,
            negatives=(len(y) if rows.count is None else int(times.sum())) - positives,
            positives=positives,
            dropped=rows.dropped,
            sources=sources,
        )
        return cls(score, neg, pos, neg2, pos2, rows.kinds[name], origin)

    @classmethod
    def empty(cls) -> Tally:
        """No rows: the zero of merging."""
        none = np.empty(0, np.int64)
        return cls(np.empty(0), none, none, none, none)

    @property
    def weighted(self) -> bool:
        """Whether weights, rather than counts, were given."""
        return self.neg.dtype != np.int64

    @property
    def negatives(self) -> float:
        """Weight of the negatives (their number, when unweighted)."""
        total: float = self.neg.sum().item()
        return total

    @property
    def positives(self) -> float:
        """Weight of the positives (their number, when unweighted)."""
        total: float = self.pos.sum().item()
        return total

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest score; NaN when there are no rows."""
        if not len(self.score):
            return math.nan, math.nan
        if self.coarse is None:
            return float(self.score[0]), float(self.score[-1])
        return float(self.coarse.low[:, 0].min()), float(self.coarse.high[:, -1].max())

    @property
    def why_not_ranked(self) -> str:
        """Why no order can be judged, or nothing."""
        return _why_absent(self.negatives, self.positives)

    def blocks(self) -> Iterator[Block]:
        """The cells from the lowest score up, in blocks that fit a core's cache."""
        starts = range(0, len(self.score), _BLOCK)
        sums = [[w[i : i + _BLOCK].sum().item() for i in starts] for w in (self.neg, self.pos)]
        # both directions are added up from their own end, so that neither loses digits to the other
        below = zip(*(accumulate(s, initial=0) for s in sums), strict=True)
        above = zip(*([*accumulate(reversed(s), initial=0)][-2::-1] for s in sums), strict=True)
        for i, outside in enumerate(zip(below, above, strict=False)):
            at = slice(i * _BLOCK, (i + 1) * _BLOCK)
            columns = self.score[at], self.neg[at], self.pos[at], self.neg2[at], self.pos2[at]
            yield Block(*columns, *outside[0], *outside[1])

    def _position(self, threshold: float) -> int:
        """The number of cells whose (middle) score is below a threshold."""
        return int(np.searchsorted(self.score.astype(np.float64, copy=False), self._raw(threshold)))

    def _raw(self, threshold: float) -> float:
        """A threshold on the scale of the scores; for logits it is said as a probability."""
        if self.kind != "logit":
            return threshold
        if not 0 <= threshold <= 1:
            raise BadInput(
                f"threshold {threshold:g} is not a probability; for logits it has to be one"
            )
        with np.errstate(divide="ignore"):
            return float(np.log(threshold) - np.log1p(-threshold))

    def cut(self, threshold: float) -> Cut:
        """The threshold with the whole interval of scores that gives the same decisions.

        >>> Tally.of([1, 0, 1], [0.8, 0.3, 0.2]).cut(0.5)
        Cut(threshold=0.5, above=0.3, upto=0.8)
        """
        raw = self._raw(threshold)
        if self.coarse is None:
            low, high = self.score, self.score
        else:
            low, high = self.coarse.low.min(0), self.coarse.high.max(0)
        below, reached = high[high < raw], low[low >= raw]
        ends = np.array([below[-1:].max(initial=-np.inf), reached[:1].min(initial=np.inf)])
        above, upto = expit(ends) if self.kind == "logit" else ends
        return Cut(threshold, float(above), float(upto))

    def confusion(self, threshold: float = 0.5) -> Confusion:
        """Decisions against labels, a row being called positive when its score >= threshold.

        >>> Tally.of([1, 0, 1], [0.8, 0.3, 0.2]).confusion(0.5).weight
        array([[1, 0],
               [1, 1]])
        """
        if math.isnan(threshold):
            raise BadInput("threshold is NaN; pass a number")
        i = self._position(threshold)
        sides = [[w[:i].sum(), w[i:].sum()] for w in (self.neg, self.pos, self.neg2, self.pos2)]
        w, w2 = np.array(sides[:2]), np.array(sides[2:])
        names = self.origin.negative, self.origin.positive
        if self.coarse is None:
            return Confusion(w, w2, names)
        return self._split_confusion(self._raw(threshold), names)

    def _split_confusion(self, raw: float, names: tuple[str, str]) -> Confusion:
        """The same for a coarse tally: cells that hold the threshold are split in the middle."""
        assert self.coarse is not None
        low, high = self.coarse.low, self.coarse.high
        share = np.where(low >= raw, 1.0, np.where(high < raw, 0.0, 0.5))
        w, w2 = np.stack([self.neg, self.pos]), np.stack([self.neg2, self.pos2])
        doubt = ((share == 0.5) * w).sum(1)
        if not doubt.any():
            share = share.astype(np.int64).astype(w.dtype)
        sides = [np.stack([((1 - share) * v).sum(1), (share * v).sum(1)], 1) for v in (w, w2)]
        return Confusion(sides[0], sides[1], names, (float(doubt[0]), float(doubt[1])))

    def coarsen(self, grid: Grid | None = None) -> Tally:
        """The same on the fixed cells of a grid, small whatever the data.

        The one lossy step. Log loss and Brier stay exact; measures of order get a `bound`.
        """
        if grid is None:
            grid = "probability" if self.kind == "probability" else "relative"
        if self.coarse is not None:
            if self.coarse.grid != grid:
                raise BadInput(f"the tally is coarse already, on the grid {self.coarse.grid!r}")
            return self
        coarse, (neg, pos, neg2, pos2) = coarsened(self, grid)
        return Tally(coarse.middle, neg, pos, neg2, pos2, self.kind, self.origin, coarse)

    def __add__(self, other: Tally) -> Tally:
        """The tally of the rows of both."""
        origin = self.origin + other.origin
        if not len(other.score):
            return replace(self, origin=origin)
        if not len(self.score):
            return replace(other, origin=origin)
        kind = merged_kind(self.kind, other.kind)
        if self.coarse is not None or other.coarse is not None:
            return self._add_coarse(other, kind, origin)
        score = np.concatenate((self.score, other.score))
        # two increasing runs: a stable sort merges them in one pass
        order = np.argsort(score, kind="stable")
        score = score[order]
        start = first_of_runs(score)
        neg, pos, neg2, pos2 = (
            add_runs(np.concatenate((getattr(self, c), getattr(other, c)))[order], start)
            for c in _COLUMNS
        )
        return Tally(score[start], neg, pos, neg2, pos2, kind, origin)

    def _add_coarse(self, other: Tally, kind: Kind, origin: Origin) -> Tally:
        grid = (self.coarse or other.coarse).grid  # type: ignore[union-attr]
        a, b = self.coarsen(grid), other.coarsen(grid)
        assert a.coarse is not None
        assert b.coarse is not None
        coarse, at_a, at_b = merge_coarse(a.coarse, b.coarse)
        sums = []
        for c in _COLUMNS:
            total = np.zeros(len(coarse.cell), np.result_type(getattr(a, c), getattr(b, c)))
            total[at_a] += getattr(a, c)
            total[at_b] += getattr(b, c)
            sums.append(total)
        neg, pos, neg2, pos2 = sums
        return Tally(coarse.middle, neg, pos, neg2, pos2, kind, origin, coarse)

    def __eq__(self, other: object) -> bool:
        """Whether scores, weights, kind and number of rows are the same; no rows are of any kind."""
        if not isinstance(other, Tally):
            return NotImplemented
        if not len(self.score) and not len(other.score):
            return self.origin.rows == other.origin.rows
        same = all(
            np.array_equal(getattr(self, c), getattr(other, c)) for c in ("score", *_COLUMNS)
        )
        marks = (self.kind, self.origin.rows, self.coarse is None)
        return same and marks == (other.kind, other.origin.rows, other.coarse is None)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        o = self.origin
        size = f"{o.rows:,} rows, {o.positives:,} positive, on {len(self.score):,} "
        return f"<Tally: {size}{'cells' if self.coarse else 'scores'} ({self.kind})>"

    def save(self, path: str | Path) -> None:
        """Write one small Parquet file; `Tally.load` reads it."""
        from scorewise.tallies.store import save

        save(self, Path(path))

    @staticmethod
    def load(path: str | Path) -> Tally:
        """The tally that `save` wrote."""
        from scorewise.tallies.store import load

        return load(Path(path))


_COLUMNS = ("neg", "pos", "neg2", "pos2")


def _why_absent(negatives: float, positives: float) -> str:
    if not negatives and not positives:
        return "no rows"
    return "no positives" if not positives else "no negatives" if not negatives else ""
