"""Samples of very many distinct scores on fewer cells, fine enough for every measure of drift."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.tallies import Tally
from scorewise.tallies.coarse import pool
from scorewise.tallies.sorting import add_runs

MANY = 1 << 21  # distinct scores of both samples that are left as they are


def thinned(a: Tally, b: Tally) -> tuple[Tally, Tally]:
    """Both as they are, up to two million distinct scores; beyond, on cells that they share.

    A cell holds at most 1 / 2^19 of either sample, or a single score. Its rows count as tied at the mean
    of their scores.
    """
    if len(a.score) + len(b.score) <= MANY or a.coarse is not None:
        return a, b
    edges = np.unique(np.concatenate([pool(t, MANY // 4).score for t in (a, b)]))
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
