"""Two samples on the same cells, which is all that measures of drift need of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.tallies import Tally
from scorewise.tallies.coarse import merge_coarse
from scorewise.tallies.coarse import pool as pool_tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import climbs, midpoints, why_not_unit
from scorewise.tallies.sorting import add_runs, first_of_runs, quantile_cells

MANY = 1 << 21  # distinct scores of both samples that are left as they are


@dataclass(frozen=True)
class Split:
    """The cells of both samples together, from the lowest score up, and what each sample has there.

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
    def rows(self) -> Floats:
        """Weight of each cell in each sample, both classes together."""
        return np.asarray(self.weight[:, 0] + self.weight[:, 1])

    @cached_property
    def mass(self) -> Floats:
        """Weight of each cell, both samples and classes together."""
        return np.asarray(self.rows[0] + self.rows[1])

    @cached_property
    def shares(self) -> Floats:
        """The share of each sample that lies on each cell."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.rows / self.rows.sum(-1, keepdims=True))

    @cached_property
    def midpoints(self) -> Floats:
        """The midpoint of each sample by the rule; see `scorewise.tallies.smroc`."""
        assert self.unit is not None
        if not isinstance(self.midpoint, str):
            return np.full(self.rows.shape[:-1], float(self.midpoint))
        rule: Any = self.midpoint
        return np.asarray([midpoints(self.unit, neg, pos, rule) for neg, pos in self.weight])

    @cached_property
    def steps(self) -> Floats:
        """Climbs and runs of the smROC curve of each sample, as shares of their totals.

        Samples lead, then climbs and runs; cells are from the highest score down.
        """
        assert self.unit is not None
        sides = zip(self.weight, self.midpoints, strict=True)
        steps = np.asarray([climbs(self.unit, neg, pos, m) for (neg, pos), m in sides])
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray((steps / steps.sum(-1, keepdims=True))[..., ::-1])

    @property
    def spread(self) -> Floats:
        """Sums of squared weights; counts are their own."""
        return self.weight if self.squares is None else self.squares

    def having(self, weight: Floats) -> Split:
        """The same cells with other weights on them."""
        return replace(self, weight=weight, squares=None)


def split(a: Tally, b: Tally, *, labelled: bool = True, midpoint: str | float = "mean") -> Split:
    """Reference and current sample on the union of their scores.

    Weights, which have no unit, are brought to add up to the number of equally weighted rows that would
    be as uncertain; counts stay as they are. Without labels all rows are put where the negatives are.
    Beyond two million distinct scores, see `thinned`.

    >>> x = split(Tally.of([0, 1], [0.2, 0.7]), Tally.of([1, 1], [0.7, 0.9], positive=1))
    >>> x.score, x.rows[0], x.weight[1, 1]
    (array([0.2, 0.7, 0.9]), array([1., 1., 0.]), array([0., 1., 1.]))
    """
    if (coarse := a.coarse or b.coarse) is not None:
        a, b = (t.coarsen(coarse.grid) for t in (a, b))
    pair = thinned(a, b)
    score, places = _union(*pair)
    weight = np.zeros((2, 2, len(score)))
    squares = np.zeros_like(weight) if a.weighted or b.weighted else None
    for i, (t, at) in enumerate(zip(pair, places, strict=True)):
        scale = (t.negatives + t.positives) / sum(t.squares) if t.weighted and len(at) else 1.0
        for out, sides, factor in (
            (weight, (t.neg, t.pos), scale),
            (squares, (t.neg2, t.pos2), scale * scale),
        ):
            if out is not None:
                for k, side in enumerate(sides):
                    out[i, k if labelled else 0, at] += side if factor == 1 else side * factor
    why = why_not_unit(pair[0]) or why_not_unit(pair[1])
    kind = a.kind if len(a.score) else b.kind
    return Split(score, None if why else unit(score, kind), weight, squares, midpoint)


def _union(a: Tally, b: Tally) -> tuple[Floats, tuple[Ints, Ints]]:
    """Distinct scores of both, increasing, and where those of each are among them."""
    if a.coarse is not None and b.coarse is not None:
        # scores of one cell are tied, whichever sample they are of
        joined, at_a, at_b = merge_coarse(a.coarse, b.coarse)
        return joined.middle, (at_a, at_b)
    score = np.concatenate((a.score, b.score)).astype(np.float64, copy=False)
    order = np.argsort(score, kind="stable")  # merges two increasing runs in one pass
    start = first_of_runs(score[order])
    place = np.empty(len(score), np.int64)
    place[order] = np.repeat(np.arange(len(start)), np.diff(start, append=len(score)))
    return score[order[start]], (place[: len(a.score)], place[len(a.score) :])


def pool(x: Split, cells: int) -> Split:
    """The same with neighbouring cells pooled to at most so many of about equal mass, as if tied.

    Which cells are pooled depends on both samples together alone, so that it is the same for every way
    to deal out the rows; the score of a pooled cell is the mean of the scores in it.
    """
    if len(x.score) <= cells:
        return x
    start = quantile_cells(cells, x.mass)
    mass, last = add_runs(x.mass, start), np.append(start[1:], len(x.score)) - 1

    def mean(score: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            means = add_runs(score * x.mass, start) / mass
        # rounding, and sums beyond the largest float, stay within the cell
        return np.asarray(np.clip(np.nan_to_num(means), score[start], score[last]))

    return replace(
        x,
        score=mean(x.score),
        unit=None if x.unit is None else mean(x.unit),
        weight=add_runs(x.weight, start),
        squares=None if x.squares is None else add_runs(x.squares, start),
    )


def thinned(a: Tally, b: Tally) -> tuple[Tally, Tally]:
    """Both as they are, up to two million distinct scores; beyond, on cells that they share.

    A cell holds at most 1 / 2^19 of either sample, or a single score. Its rows count as tied at the mean
    of their scores.
    """
    if len(a.score) + len(b.score) <= MANY or a.coarse is not None:
        return a, b
    edges = np.unique(np.concatenate([pool_tally(t, MANY // 4).score for t in (a, b)]))
    sums, weights = np.zeros(len(edges)), np.zeros(len(edges))
    made: list[tuple[Tally, Ints]] = []
    for t in (a, b):
        start = np.searchsorted(t.score, edges)
        used = np.flatnonzero(np.diff(start, append=len(t.score)) > 0)
        start, w = start[used], t.neg + t.pos
        with np.errstate(over="ignore"):
            sums[used] += add_runs(w * t.score.astype(np.float64, copy=False), start)
        weights[used] += add_runs(w, start)
        columns: dict[str, Any] = {k: add_runs(getattr(t, k), start) for k in ("neg", "pos")}
        for k, counts in list(columns.items()):
            columns[f"{k}2"] = add_runs(getattr(t, f"{k}2"), start) if t.weighted else counts
        made.append((replace(t, score=edges[used], rest=None, **columns), used))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean = sums / weights
    # rounding, and sums beyond the largest float, stay within the cell
    mean = np.clip(np.where(np.isfinite(mean), mean, edges), edges, np.append(edges[1:], np.inf))
    first, second = (replace(t, score=mean[used]) for t, used in made)
    return first, second
