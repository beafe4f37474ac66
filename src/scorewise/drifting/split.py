"""Two samples on common cells: pooled, permuted and resampled.

A permutation deals the rows out anew to the samples. The rows of a cell are alike, so that it is enough to
draw how many of each cell go to the reference: a multivariate hypergeometric draw, the cost of which does
not grow with the number of rows. With weights a cell gets a Poisson number of rows, as many and as heavy as
give it the mean and the variance that its rows would give it in each sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.inference.resampling import resampled_weights
from scorewise.statistics.smroc import climbs, midpoints, why_not_unit
from scorewise.tallies import Tally
from scorewise.tallies.coarse import merge_coarse
from scorewise.tallies.losses import unit
from scorewise.tallies.runs import add_runs, quantile_cells
from scorewise.tallies.sorting import union

MAX_SCORES = 1 << 21  # distinct scores of both samples that are left as they are
_MAX_ROWS = 10**9  # that numpy deals out exactly
_MAX_SHUFFLED = 40_000  # rows up to which it is faster to shuffle them
Held: TypeAlias = Literal["nothing", "class", "score"]


@dataclass(frozen=True)
class Split:
    """The cells of both samples, from the lowest score up, and the weight of each sample there.

    `weight` has the samples (reference, current) along its first axis, the classes (negative, positive)
    along the second and cells along the last; replicates share the scores and stand before the cells.
    `unit` is the score on [0, 1], where it has a place there; `squares` are the sums of squared weights,
    or none where rows are counted.
    """

    score: Floats
    unit: Floats | None
    weight: Floats
    squares: Floats | None = None
    midpoint: str | float = "mean"

    @cached_property
    def by_class(self) -> tuple[Floats, Floats]:
        """The weights of the negatives of both samples, and of their positives."""
        return self.weight[:, 0], self.weight[:, 1]

    @cached_property
    def rows(self) -> Floats:
        """Weight of each cell in each sample, both classes together."""
        return np.asarray(np.add(*self.by_class))

    @cached_property
    def mass(self) -> Floats:
        """Weight of each cell, both samples and classes together."""
        return np.asarray(self.rows[0] + self.rows[1])

    @cached_property
    def shares(self) -> Floats:
        """The share of each sample that lies on each cell."""
        return np.asarray(self.rows / self.rows.sum(-1, keepdims=True))

    @cached_property
    def midpoints(self) -> Floats:
        """The midpoint of each sample by the rule; see `scorewise.statistics.smroc`."""
        assert self.unit is not None
        if not isinstance(self.midpoint, str):
            return np.full(self.rows.shape[:-1], float(self.midpoint))
        rule: Any = self.midpoint
        return np.asarray(midpoints(self.unit, *self.by_class, rule))

    @cached_property
    def steps(self) -> Floats:
        """Climbs and runs of the smROC curves, from the lowest score up; samples are the second axis."""
        assert self.unit is not None
        return np.asarray(climbs(self.unit, *self.by_class, self.midpoints))

    def with_weight(self, weight: Floats) -> Split:
        """The same cells with other weights on them."""
        return replace(self, weight=weight, squares=None)


def split(a: Tally, b: Tally, *, labelled: bool = True, midpoint: str | float = "mean") -> Split:
    """Reference and current sample on the union of their scores.

    Weights, which have no unit, are brought to add up to the number of equally weighted rows that would
    be as uncertain; counts stay as they are. Without labels all rows are put where the negatives are.
    Beyond two million distinct scores neighbours count as tied at their mean, in cells that hold at most
    1 / 2^19 of either sample, or a single score.

    >>> x = split(Tally.of([0, 1], [0.2, 0.7]), Tally.of([1, 1], [0.7, 0.9], positive=1))
    >>> x.score, x.rows[0], x.weight[1, 1]
    (array([0.2, 0.7, 0.9]), array([1., 1., 0.]), array([0., 1., 1.]))
    """
    if (coarse := a.coarse or b.coarse) is not None:
        a, b = (t.coarsen(coarse.grid) for t in (a, b))
    places: Sequence[Ints]
    if a.coarse is not None and b.coarse is not None:
        # scores of one cell are tied, whichever sample they are of
        joined, *places = merge_coarse(a.coarse, b.coarse)
        score = joined.middle
    elif len(a.score) + len(b.score) <= MAX_SCORES:
        score, *places = union(a.score, b.score)
    else:
        parts = [t.score[quantile_cells(MAX_SCORES // 4, t.neg, t.pos)] for t in (a, b)]
        low = np.unique(np.concatenate(parts)).astype(np.float64)
        places = [np.searchsorted(low, t.score, side="right") - 1 for t in (a, b)]
        with np.errstate(over="ignore"):
            sums, rows = np.zeros((2, len(low)))
            for t, at in zip((a, b), places, strict=True):
                rows += np.bincount(at, t.neg + t.pos, len(low))
                sums += np.bincount(at, (t.neg + t.pos) * t.score.astype(np.float64), len(low))
        score = _mean_within(sums, rows, low, np.append(low[1:], np.inf))
    weight = np.zeros((2, 2, len(score)))
    squares = np.zeros_like(weight) if a.weighted or b.weighted else None
    for i, (t, at) in enumerate(zip((a, b), places, strict=True)):
        scale = (t.negatives + t.positives) / sum(t.squares) if t.weighted and len(at) else 1.0
        for side, w, w2 in ((0, t.neg, t.neg2), (int(labelled), t.pos, t.pos2)):
            weight[i, side] += np.bincount(at, w * scale, len(score))
            if squares is not None:
                squares[i, side] += np.bincount(at, w2 * (scale * scale), len(score))
    why = why_not_unit(a) or why_not_unit(b)
    score = score.astype(np.float64, copy=False)
    on_unit = None if why else unit(score, a.kind if len(a.score) else b.kind)
    return Split(score, on_unit, weight, squares, midpoint)


def _mean_within(sums: Floats, weights: Floats, low: Floats, high: Floats) -> Floats:
    """Sums over weights, clipped to limits that rounding and overflow may leave."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean = sums / weights
    return np.asarray(np.clip(np.where(np.isfinite(mean), mean, low), low, high))


def pool(x: Split, cells: int) -> Split:
    """The same with neighbouring cells pooled to at most so many of about equal mass, as if tied.

    Which cells are pooled depends on both samples together alone, so that it is the same for every way
    to deal out the rows; the score of a pooled cell is the mean of the scores in it.
    """
    if len(x.score) <= cells:
        return x
    start = quantile_cells(cells, x.mass)
    last, mass = np.append(start[1:], len(x.score)) - 1, add_runs(x.mass, start)

    def mean(score: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            sums = add_runs(score * x.mass, start)
        return _mean_within(sums, mass, score[start], score[last])

    return replace(
        x,
        score=mean(x.score),
        unit=None if x.unit is None else mean(x.unit),
        weight=add_runs(x.weight, start),
        squares=None if x.squares is None else add_runs(x.squares, start),
    )


def permuted(x: Split, held: Held, replicates: int, rng: np.random.Generator) -> Split:
    """Replicates under the null hypothesis that only chance decided which row is in which sample.

    `held="nothing"`: any row may be in either. "class": among rows of the same class, so that both
    samples keep their prevalence. "score": among rows of the same cell, so that they keep their scores.
    """
    if x.squares is not None or x.mass.sum() >= _MAX_ROWS:
        return x.with_weight(_weights_by_chance(x, held, replicates, rng))
    reference, both = x.weight[0], x.weight[0] + x.weight[1]
    if held == "score":
        neg, pos, rows = (np.rint(w).astype(np.int64) for w in (*both, x.rows[0]))
        hit = rng.hypergeometric(pos, neg, rows, (replicates, len(pos))).astype(np.float64)
        first = np.stack((x.rows[0] - hit, hit))
    else:
        strata = (1, -1) if held == "nothing" else (2, -1)
        cells = zip(both.reshape(strata), reference.reshape(strata), strict=True)
        drawn = np.stack([_dealt(w, part.sum(), replicates, rng) for w, part in cells], axis=1)
        first = drawn.reshape(replicates, *both.shape).swapaxes(0, 1)
    return x.with_weight(np.stack((first, both[:, None] - first)))


def _dealt(both: Floats, rows: float, replicates: int, rng: np.random.Generator) -> Floats:
    """How many rows of each cell are drawn, of so many in all, without replacement."""
    counts = np.rint(both).astype(np.int64)
    few = counts.sum() <= _MAX_SHUFFLED
    drawn = rng.multivariate_hypergeometric(
        counts, round(rows), size=replicates, method="count" if few else "marginals"
    )
    return np.asarray(drawn, np.float64)


def _weights_by_chance(x: Split, held: Held, replicates: int, rng: np.random.Generator) -> Floats:
    """The same for weighted rows: each cell of a sample gets its share of both samples, by chance."""
    squares = x.weight if x.squares is None else x.squares

    def drawn(weight: Floats, square: Floats) -> Floats:
        """Poisson draws of the rows that weights are worth, of the mean and variance that these have."""
        each = np.divide(square, weight, out=np.zeros_like(weight), where=weight > 0)
        rows = np.divide(weight, each, out=np.zeros_like(weight), where=each > 0)
        return np.asarray(rng.poisson(rows, (replicates, len(rows))) * each)

    if held == "score":
        hits = x.weight[0, 1] + x.weight[1, 1]
        positive = np.divide(hits, x.mass, out=np.zeros_like(x.mass), where=x.mass > 0)
        samples = []
        for w, w2 in zip(x.rows, squares[:, 0] + squares[:, 1], strict=True):
            pos, neg = (drawn(w * share, w2 * share) for share in (positive, 1 - positive))
            total = pos + neg
            hit = w * np.divide(pos, total, out=np.zeros_like(pos), where=total > 0)
            samples.append((w - hit, hit))
        return np.array(samples)
    axes = (-1,) if held == "class" else (1, -1)
    means, variances = (
        (w[0] + w[1]) * (w.sum(axes, keepdims=True) / w.sum((0, *axes), keepdims=True))
        for w in (x.weight, squares)
    )
    cells = zip(means.reshape(4, -1), variances.reshape(4, -1), strict=True)
    return np.reshape([drawn(*cell) for cell in cells], (2, 2, replicates, -1))


def bootstrapped(x: Split, replicates: int, rng: np.random.Generator) -> Split:
    """Replicates of both samples, each drawn anew from its own rows: the bootstrap of cells."""
    squares = x.weight if x.squares is None else x.squares
    cells = zip(x.weight.reshape(4, -1), squares.reshape(4, -1), strict=True)
    drawn = [resampled_weights(*cell, replicates, rng) for cell in cells]
    return x.with_weight(np.reshape(drawn, (2, 2, replicates, -1)))
