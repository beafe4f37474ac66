"""Tallies made of tallies: merged, on the cells of a grid, or pooled to a few cells."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.errors import BadInput
from scorewise.tallies.coarse import coarsened, merge_coarse
from scorewise.tallies.grid import Grid
from scorewise.tallies.origin import merged_kind
from scorewise.tallies.sorting import add_runs, first_of_runs

if TYPE_CHECKING:
    from scorewise.tallies.tally import Tally


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
    wanted = (t.negatives + t.positives) * (np.arange(1, cells) / cells)
    edges, first = [np.zeros(1, np.int64)], 0
    for b in t.blocks():
        below = b.neg_below + b.pos_below
        mass = (b.neg + b.pos).cumsum() + below
        inside = wanted[(wanted > below) & (wanted <= mass[-1])]
        edges.append(first + np.searchsorted(mass, inside))
        first += len(mass)
    start = np.concatenate(edges)
    start = start[first_of_runs(start)]
    return replace(t, score=t.score[start], coarse=None, **_summed(t, start))


def _summed(t: Tally, start: Any) -> dict[str, Any]:
    return _columns(t, t, lambda x, _: add_runs(x, start))
