"""The tally: all that a binary problem leaves of its rows."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats, freeze
from scorewise.columns import Kind, Missing, Rows, binary_rows
from scorewise.columns.classes import ClassRows, DecidedRows, positive_column
from scorewise.columns.sources import only_column
from scorewise.computing import cached, once
from scorewise.errors import BadInput, Option
from scorewise.tallies import exact
from scorewise.tallies.coarse import (
    Coarse,
    Grid,
    cells_of,
    empty_ends,
    grid_of,
    loss_moments,
    merge_coarse,
    pool,
)
from scorewise.tallies.confusion import Confusion, Cut, threshold_on_scale
from scorewise.tallies.losses import expit, unit
from scorewise.tallies.origin import Origin, Stored
from scorewise.tallies.runs import add_runs
from scorewise.tallies.sorting import (
    AnyFloats,
    Numbers,
    count_cells,
    sort_cells,
    total_weight,
    union,
)

_BLOCK = 1 << 15  # cells whose columns fit a core's cache


class Block(NamedTuple):
    """Neighbouring cells of a tally, and the weight of each class below and above them."""

    score: AnyFloats
    neg: Numbers
    pos: Numbers
    neg2: Numbers
    pos2: Numbers
    neg_below: Any
    pos_below: Any
    neg_above: Any
    pos_above: Any


@dataclass(frozen=True, eq=False, repr=False)
class Tally(Stored):
    """Weight of negatives and positives on each distinct score, from the lowest up.

    Unweighted rows leave counts (int64), which are their own squares. Weighted rows also leave sums of
    squared weights, because intervals need them; those sums are exact, `rest` being what their floats
    leave out, so that they are the same whatever the order of the rows. Immutable; `a + b` merges,
    `Tally.empty()` is the zero.

    >>> t = Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1])
    >>> t.score, t.neg, t.pos
    (array([0.1, 0.3, 0.8]), array([1, 1, 0]), array([0, 1, 1]))
    >>> t + Tally.empty() == t
    True
    """

    score: AnyFloats
    neg: Numbers
    pos: Numbers
    neg2: Numbers = None  # type: ignore[assignment]  # without them, the same as neg and pos
    pos2: Numbers = None  # type: ignore[assignment]
    kind: Kind = "probability"
    origin: Origin = field(default_factory=Origin)
    coarse: Coarse | None = None
    rest: Floats | None = None  # of the four columns of weights, shape (terms, 4, K)

    def __post_init__(self) -> None:
        here = (4, len(self.score)) if self.weighted else ()
        if self.rest is not None and (not len(self.rest) or self.rest.shape[1:] != here):
            object.__setattr__(self, "rest", None)  # nothing, or of weights that were replaced
        shared = self.neg2 is None or (self.neg2 is self.neg and self.pos2 is self.pos)
        freeze(self, "score", "neg", "pos")
        if shared or not self.weighted:
            object.__setattr__(self, "neg2", self.neg)
            object.__setattr__(self, "pos2", self.pos)
        else:
            freeze(self, "neg2", "pos2")

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

        Probabilities may have a column for each of the two classes, in the order of the sorted labels.
        `weight` says how much a row matters, `count` how many rows it stands for. `kind` is read
        off the scores unless said: "probability" if all lie in [0, 1], otherwise "score"; "logit"
        must be said. See `scorewise.columns` for how the positive class is chosen.
        """
        rows = binary_rows(
            None,
            label=only_column(y),
            score={"score": positive_column(y, s, positive, kind)},
            weight=weight,
            count=count,
            positive=positive,
            kind=kind,
            missing=missing,
        )
        return cls.of_rows(rows, "score").unlabelled()

    def unlabelled(self) -> Tally:
        """The same without a name of the labels, which arrays do not have."""
        return replace(self, origin=replace(self.origin, label=None))

    @classmethod
    def of_rows(cls, rows: Rows, name: str, sources: tuple[str, ...] = ()) -> Tally:
        """The tally of one column of scores among checked rows."""
        labels = rows.labels
        classes = {"positive": labels.positive, "negative": labels.negative, "rule": labels.rule}
        origin = origin_of(rows, name, sources, **classes, half=name in rows.half)
        return cls.of_labels(rows.y, rows.scores[name], rows, rows.kinds[name], origin)

    @classmethod
    def of_labels(
        cls, y: Bools, s: Any, rows: Rows | ClassRows | DecidedRows, kind: Kind, origin: Origin
    ) -> Tally:
        """The tally of labels and scores with the weights of checked rows."""
        w, w2 = masses(rows)
        positives = int(np.count_nonzero(y) if rows.count is None else rows.count[y].sum())
        total = len(y) if rows.count is None else int(rows.count.sum())
        origin = replace(origin, negatives=total - positives, positives=positives)
        if w is None:
            tally = cls(*count_cells(y, s), kind=kind, origin=origin)
            vars(tally).update(negatives=total - positives, positives=positives)  # not summed again
            return tally
        used = w > 0
        order, score, start = sort_cells(s[used])
        columns = [
            np.where(y == up, c, 0)[used][order]
            for c in ((w,) if w2 is w else (w, w2))
            for up in (0, 1)
        ]
        if w2 is w:
            neg, pos = (add_runs(c, start) for c in columns)
            return cls(score, neg, pos, kind=kind, origin=origin)
        sums = exact.stacked([exact.sum_runs(c, start) for c in columns])
        return cls(score, kind=kind, origin=origin, **exact.as_columns(sums))

    @classmethod
    def empty(cls) -> Tally:
        """No rows: the zero of merging."""
        none = np.empty(0, np.int64)
        return cls(np.empty(0), none, none)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.origin.rows

    @property
    def cells(self) -> int:
        """The number of distinct scores, or of cells of the grid."""
        return len(self.score)

    @property
    def weighted(self) -> bool:
        """Whether weights, rather than counts, were given."""
        return self.neg.dtype != np.int64

    @cached_property
    def distinct(self) -> bool:
        """Whether each row has a score of its own."""
        return not self.weighted and self.negatives + self.positives == len(self.score)

    @cached_property
    def negatives(self) -> float:
        """Weight of the negatives (their number, when unweighted)."""
        return total_weight(self.neg)

    @cached_property
    def positives(self) -> float:
        """Weight of the positives (their number, when unweighted)."""
        return total_weight(self.pos)

    @cached_property
    def squares(self) -> tuple[float, float]:
        """Sums of squared weights of the negatives and of the positives."""
        if self.neg2 is self.neg and self.pos2 is self.pos:
            return self.negatives, self.positives
        return total_weight(self.neg2), total_weight(self.pos2)

    @property
    def precision(self) -> np.dtype[Any]:
        """That in which the scores came, and thresholds are compared: 16, 32 or 64 bits."""
        return np.dtype(np.float16) if self.origin.half else self.score.dtype

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest score; NaN when there are no rows."""
        if not len(self.score):
            return math.nan, math.nan
        if self.coarse is None:
            return float(self.score[0]), float(self.score[-1])
        return float(self.coarse.low[:, 0].min()), float(self.coarse.high[:, -1].max())

    @property
    def written_ends(self) -> str:
        """The same in words, with more digits where few would hide that a score lies outside [0, 1]."""
        low, high = map(_end, self.ends)
        return f"from {low} to {high}"

    @property
    def why_not_ranked(self) -> str:
        """Why no order can be judged, or nothing."""
        if not self.negatives and not self.positives:
            return "no rows"
        return (
            "no positives" if not self.positives else "no negatives" if not self.negatives else ""
        )

    def blocks(self) -> Iterator[Block]:
        """The cells from the lowest score up, in blocks that fit a core's cache."""
        for i, outside in enumerate(self._outside()):
            at = slice(i * _BLOCK, (i + 1) * _BLOCK)
            neg, pos = self.neg[at], self.pos[at]
            neg2 = neg if self.neg2 is self.neg else self.neg2[at]
            pos2 = pos if self.pos2 is self.pos else self.pos2[at]
            yield Block(self.score[at], neg, pos, neg2, pos2, *outside)

    @once  # not a cached property, for whose lock other tallies would wait
    def _outside(self) -> list[tuple[Any, Any, Any, Any]]:
        """The weights of both classes below and above each block.

        Both directions are added up from their own end, so that neither loses digits to the other.
        """
        starts = range(0, len(self.score), _BLOCK)
        sums = [[w[i : i + _BLOCK].sum().item() for i in starts] for w in (self.neg, self.pos)]
        below = [[*accumulate(s, initial=0)][:-1] for s in sums]
        above = [[*accumulate(reversed(s), initial=0)][-2::-1] for s in sums]
        return list(zip(*below, *above, strict=True))

    @property
    def pooled(self) -> Tally:
        """The same with neighbouring cells pooled to at most 65,536 of about equal mass.

        For variances and replicates, which need no more cells than that; never for values.
        """
        return cached(self, "pooled", lambda: pool(self, 1 << 16))

    def cut(self, threshold: float) -> Cut:
        """The threshold with the whole interval of scores that gives the same decisions.

        >>> Tally.of([1, 0, 1], [0.8, 0.3, 0.2]).cut(0.5)
        Cut(threshold=0.5, above=0.3, upto=0.8)
        """
        raw = threshold_on_scale(self, threshold)
        low = high = self.score
        if self.coarse is not None:
            low, high = self.coarse.low.min(0), self.coarse.high.max(0)
        below, reached = int(np.searchsorted(high, raw)), int(np.searchsorted(low, raw))
        ends = [-np.inf if not below else high[below - 1], *low[reached:][:1], np.inf][:2]
        if self.kind == "logit":
            above, upto = expit(np.array(ends, np.float64)).tolist()
        else:  # 0.7 rather than 0.699999988 for 32 bits
            above, upto = (float(str(self.precision.type(x))) for x in ends)
        # in the precision of the scores the threshold is never above the score that reaches it
        return Cut(threshold, above, max(upto, threshold))

    def confusion(self, threshold: float = 0.5) -> Confusion:
        """Decisions against labels, a row being called positive when its score >= threshold.

        For logits the threshold is said as a probability. It is rounded to the precision of the
        scores, so that a 32-bit score of 0.7 is at the threshold 0.7.

        >>> Tally.of([1, 0, 1], [0.8, 0.3, 0.2]).confusion(0.5).weight
        array([[1, 0],
               [1, 1]])
        """
        raw = threshold_on_scale(self, threshold)
        names = self.origin.negative, self.origin.positive
        if self.coarse is None:
            i = int(np.searchsorted(self.score, raw))
            columns = (self.neg, self.pos, self.neg2, self.pos2)
            table = np.array([[w[:i].sum(), w[i:].sum()] for w in columns])
            return Confusion(table[:2], table[2:], names)
        w, w2 = np.stack([self.neg, self.pos]), np.stack([self.neg2, self.pos2])
        # cells that hold the threshold are split in the middle
        low, high = self.coarse.low, self.coarse.high
        share = np.where(low >= raw, 1.0, np.where(high < raw, 0.0, 0.5))
        doubt = ((share == 0.5) * w).sum(1)
        if not doubt.any():
            share = share.astype(w.dtype)
        sides = [np.stack([((1 - share) * v).sum(1), (share * v).sum(1)], 1) for v in (w, w2)]
        return Confusion(sides[0], sides[1], names, (float(doubt[0]), float(doubt[1])))

    def coarsen(self, grid: Grid | None = None) -> Tally:
        """The same on the fixed cells of a grid, small whatever the data.

        The one lossy step. Log loss and Brier stay exact; measures of order get a `bound`. The grid is
        the one that suits the kind of score, unless given.

        >>> Tally.of([0, 1, 1], [0.1, 0.1000001, 0.7]).coarsen()
        <Tally: 3 rows, 2 positive, on 2 cells (probability)>
        """
        grid = grid or grid_of(self.kind)
        if self.coarse is not None:
            if self.coarse.grid != grid:
                raise BadInput(f"the tally is coarse already, on the grid {self.coarse.grid!r}")
            return self
        number, start = cells_of(self.score, grid)
        s, p = self.score.astype(np.float64), unit(self.score, self.kind)
        low, high = empty_ends(len(start))
        sums = []
        for k, w in enumerate((self.neg, self.pos)):
            rows = np.flatnonzero(w)  # of the class
            first = np.searchsorted(rows, start)
            there = np.flatnonzero(np.diff(first, append=len(rows)))
            first = first[there]
            low[k, there] = s[rows[first]]
            high[k, there] = s[rows[np.append(first, len(rows))[1:] - 1]]
            if self.weighted:
                # sums of scores near the largest float are infinite
                with np.errstate(over="ignore"):
                    sums.append(exact.as_exact(add_runs(w * p, start)))
            else:
                counts = None if self.distinct else w[rows]
                digits, top = exact.run_digits(p[rows], first, counts)
                full = np.zeros((len(digits), len(start)), np.int64)
                full[:, there] = digits
                sums.append(exact.from_digits(full, top))
        losses = {} if self.kind == "score" else loss_moments(self)
        coarse = Coarse.of(grid, number, low, high, exact.stacked(sums), losses)
        # in the precision of the scores, in which thresholds are compared
        middle = coarse.middle.astype(self.score.dtype)
        return replace(self, score=middle, coarse=coarse, **exact.joined_runs(self, start))

    def __add__(self, other: Tally) -> Tally:
        """The tally of the rows of both."""
        a, b, origin = self, other, self.origin + other.origin
        if not len(a.score) or not len(b.score):
            return replace(a if len(a.score) else b, origin=origin)
        if a.kind != b.kind and "logit" in (a.kind, b.kind):
            raise BadInput(
                f"cannot merge a tally of {a.kind}s with one of {b.kind}s; make both of the same ",
                Option("kind"),
            )
        coarse: Coarse | None = None
        if either := a.coarse or b.coarse:
            a, b = a.coarsen(either.grid), b.coarsen(either.grid)
            assert a.coarse is not None
            assert b.coarse is not None
            coarse, *places = merge_coarse(a.coarse, b.coarse)
            score: Any = coarse.middle.astype(np.result_type(a.score, b.score))
        else:
            score, *places = union(a.score, b.score)
        columns = exact.merged(len(score), list(zip((a, b), places, strict=True)))
        # probabilities and other scores together are scores
        kind = a.kind if a.kind == b.kind else "score"
        return Tally(score, kind=kind, origin=origin, coarse=coarse, **columns)

    def __eq__(self, other: object) -> bool:
        """Whether scores, weights, kind and number of rows are the same; no rows are of any kind.

        Of coarse tallies also the ends of the cells and, of counts, the sums of the scores; not the losses,
        and neither sums of weights times scores nor of probabilities of logits, which are floats.
        """
        if not isinstance(other, Tally):
            return NotImplemented
        if not len(self.score) and not len(other.score):
            return self.origin.rows == other.origin.rows
        marks = self.kind, self.origin.rows, self.coarse is None
        if marks != (other.kind, other.origin.rows, other.coarse is None):
            return False
        columns = ("score", *exact.COLUMNS, "rest")
        pairs = [(getattr(self, c), getattr(other, c)) for c in columns]
        if self.coarse is not None and other.coarse is not None:
            summed = not self.weighted and self.kind != "logit"
            parts = ("cell", "low", "high", *(["sum", "rest"] if summed else []))
            pairs += [(getattr(self.coarse, c), getattr(other.coarse, c)) for c in parts]
        return all(np.array_equal(a, b) for a, b in pairs)

    def __repr__(self) -> str:
        o = self.origin
        size = f"{o.rows:,} rows, {o.positives:,} positive, on {len(self.score):,} "
        return f"<Tally: {size}{'cells' if self.coarse else 'scores'} ({self.kind})>"


def masses(rows: Rows | ClassRows | DecidedRows) -> tuple[Any, Any]:
    """Weight times count of each row, and with the weight squared; none where each row counts once."""
    if rows.weight is None:
        return rows.count, rows.count
    w: Any = rows.weight if rows.count is None else rows.count * rows.weight
    return w, w * rows.weight


def origin_of(
    rows: Rows | ClassRows | DecidedRows, score: str, sources: tuple[str, ...], **classes: Any
) -> Origin:
    """Where checked rows come from."""
    weight = None if rows.weight is None else rows.names.weight
    return Origin(rows.names.label, score, weight, **classes, dropped=rows.dropped, sources=sources)


def _end(x: float) -> str:
    """A score in four digits, or as many as tell on which side of 0 and of 1 it lies.

    >>> _end(1.00001), _end(1.0000003e-05), _end(5.0), _end(419.19)
    ('1.00001', '1e-05', '5', '419.2')
    """
    texts = (f"{x:.{digits}g}" for digits in range(4, 17))
    return next((w for w in texts if (float(w) < 0, float(w) > 1) == (x < 0, x > 1)), repr(x))
