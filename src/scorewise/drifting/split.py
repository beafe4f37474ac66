"""Two samples on the same cells, which is all that measures of drift need of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.tallies import Tally
from scorewise.tallies.coarse import coarsen, merge_coarse
from scorewise.tallies.coarse import pool as pool_tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import why_not_unit
from scorewise.tallies.sorting import add_runs, first_of_runs, quantile_cells

MANY = 1 << 21  # distinct scores of both samples that are left as they are


class Classes(NamedTuple):
    """Weight of negatives and of positives; cells are the last axis, replicates may come before."""

    neg: Floats
    pos: Floats

    @property
    def all(self) -> Floats:
        """Weight of both."""
        return self.neg + self.pos

    def of_cells(self, start: Any) -> Classes:
        """The sums of neighbouring cells."""
        return Classes(*(add_runs(w, start) for w in self))


@dataclass(frozen=True)
class Split:
    """The cells of both samples together, from the lowest score up, and what each sample has there.

    `unit` is the score on [0, 1], where it has a place there; `squares` are the sums of squared weights,
    or none where rows are counted. Replicates share the scores and stand along the first axis.
    """

    score: Floats
    unit: Floats | None
    reference: Classes
    current: Classes
    squares: tuple[Classes, Classes] | None = None
    midpoint: str | float = "mean"

    @cached_property
    def known(self) -> dict[str, Any]:
        """What was computed before and serves again."""
        return {}

    @cached_property
    def rows(self) -> tuple[Floats, Floats]:
        """Weight of each cell in each sample, both classes together."""
        return self.reference.all, self.current.all

    @cached_property
    def mass(self) -> Floats:
        """Weight of each cell, both samples and classes together."""
        a, b = self.rows
        return a + b

    @cached_property
    def shares(self) -> tuple[Floats, Floats]:
        """The share of each sample that lies on each cell."""
        a, b = self.rows
        return _share(a), _share(b)

    @property
    def sides(self) -> tuple[Classes, Classes]:
        """The reference and the current sample."""
        return self.reference, self.current

    def having(self, reference: Classes, current: Classes) -> Split:
        """The same cells with other weights on them."""
        return replace(self, reference=reference, current=current, squares=None)


def _share(w: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(w / w.sum(-1, keepdims=True))


def split(a: Tally, b: Tally, *, labelled: bool = True, midpoint: str | float = "mean") -> Split:
    """Reference and current sample on the union of their scores.

    Weights, which have no unit, are brought to add up to the number of equally weighted rows that would
    be as uncertain; counts stay as they are. Without labels all
    rows are put where the negatives are. Beyond two million distinct scores, see `thinned`.

    >>> x = split(Tally.of([0, 1], [0.2, 0.7]), Tally.of([1, 1], [0.7, 0.9], positive=1))
    >>> x.score, x.reference.all, x.current.pos
    (array([0.2, 0.7, 0.9]), array([1., 1., 0.]), array([0., 1., 1.]))
    """
    a, b = thinned(*_alike(a, b))
    score, places = _union(a, b)
    weighted = a.weighted or b.weighted
    columns = (False, True) if weighted else (False,)
    sides = [
        [_classes(t, at, len(score), labelled, squared) for squared in columns]
        for t, at in zip((a, b), places, strict=True)
    ]
    why = why_not_unit(a) or why_not_unit(b)
    kind = a.kind if len(a.score) else b.kind
    return Split(
        score,
        None if why else unit(score, kind),
        sides[0][0],
        sides[1][0],
        squares=(sides[0][1], sides[1][1]) if weighted else None,
        midpoint=midpoint,
    )


def _union(a: Tally, b: Tally) -> tuple[Floats, list[Any]]:
    """Distinct scores of both, increasing, and where those of each are among them."""
    if a.coarse is not None:
        return _union_of_cells(a, b)
    score = np.concatenate((a.score, b.score)).astype(np.float64, copy=False)
    order = np.argsort(score, kind="stable")  # merges two increasing runs in one pass
    start = first_of_runs(score[order])
    place = np.empty(len(score), np.int64)
    place[order] = np.repeat(np.arange(len(start)), np.diff(start, append=len(score)))
    return score[order[start]], [place[: len(a.score)], place[len(a.score) :]]


def _union_of_cells(a: Tally, b: Tally) -> tuple[Floats, list[Any]]:
    """The same for coarse tallies: scores of one cell are tied, whichever sample they are of."""
    assert a.coarse is not None
    assert b.coarse is not None
    joined, at_a, at_b = merge_coarse(a.coarse, b.coarse)
    return joined.middle, [at_a, at_b]


def _alike(a: Tally, b: Tally) -> tuple[Tally, Tally]:
    """Both coarse if one is."""
    coarse = a.coarse or b.coarse
    return (a, b) if coarse is None else (coarsen(a, coarse.grid), coarsen(b, coarse.grid))


def _classes(t: Tally, at: Any, cells: int, labelled: bool, squared: bool) -> Classes:
    """Weights of a sample, or their squares, on the cells of both."""
    scale = 1.0
    if t.weighted and len(at):
        scale = (t.negatives + t.positives) / sum(t.squares)
    if squared:
        scale *= scale
    w = Classes(np.zeros(cells), np.zeros(cells))
    for out, given in zip(w, (t.neg2, t.pos2) if squared else (t.neg, t.pos), strict=True):
        out[at] = given if scale == 1 else given * scale
    return w if labelled else Classes(w.all, np.zeros(cells))


def pool(x: Split, cells: int) -> Split:
    """The same with neighbouring cells pooled to at most so many of about equal mass, as if tied.

    Which cells are pooled depends on both samples together alone, so that it is the same for every way
    to deal out the rows; the score of a pooled cell is the mean of the scores in it.
    """
    if len(x.score) <= cells:
        return x
    start = quantile_cells(cells, x.mass)
    return replace(
        x,
        score=_mean(x.score, x.mass, start),
        unit=None if x.unit is None else _mean(x.unit, x.mass, start),
        reference=x.reference.of_cells(start),
        current=x.current.of_cells(start),
        squares=None
        if x.squares is None
        else (x.squares[0].of_cells(start), x.squares[1].of_cells(start)),
    )


def _mean(score: Floats, mass: Floats, start: Any) -> Floats:
    last = np.append(start[1:], len(score)) - 1
    with np.errstate(over="ignore", invalid="ignore"):
        mean = add_runs(score * mass, start) / add_runs(mass, start)
    # rounding, and sums beyond the largest float, stay within the cell
    return np.asarray(np.clip(np.nan_to_num(mean), score[start], score[last]))


def thinned(a: Tally, b: Tally) -> tuple[Tally, Tally]:
    """Both as they are, up to two million distinct scores; beyond, on cells that they share.

    A cell holds at most 1 / 2^19 of either sample, or a single score. Its rows count as tied at the mean
    of their scores.
    """
    if len(a.score) + len(b.score) <= MANY or a.coarse is not None:
        return a, b
    edges = np.unique(np.concatenate([pool_tally(t, MANY // 4).score for t in (a, b)]))
    (first, at_a, sum_a, w_a), (second, at_b, sum_b, w_b) = (_celled(t, edges) for t in (a, b))
    sums, weights = np.zeros(len(edges)), np.zeros(len(edges))
    for at, s, w in ((at_a, sum_a, w_a), (at_b, sum_b, w_b)):
        sums[at] += s
        weights[at] += w
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean = sums / weights
    # rounding, and sums beyond the largest float, stay within the cell
    mean = np.clip(np.where(np.isfinite(mean), mean, edges), edges, np.append(edges[1:], np.inf))
    return replace(first, score=mean[at_a]), replace(second, score=mean[at_b])


def _celled(
    t: Tally, edges: Any
) -> tuple[Tally, NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The tally on cells, which cells those are, and the sums of scores and weights on them."""
    start = np.searchsorted(t.score, edges)
    used = np.flatnonzero(np.diff(start, append=len(t.score)) > 0)
    start = start[used]
    w = t.neg + t.pos
    with np.errstate(over="ignore"):
        sums = add_runs(w * t.score.astype(np.float64, copy=False), start)
    names = ("neg", "pos", "neg2", "pos2") if t.weighted else ("neg", "pos")
    columns = {name: add_runs(getattr(t, name), start) for name in names}
    if not t.weighted:
        columns |= {"neg2": columns["neg"], "pos2": columns["pos"]}
    few = replace(t, score=edges[used], **columns)
    return few, used, sums, add_runs(w, start).astype(np.float64)
