"""Gaps between scores: where a ranked list may naturally be cut."""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from scorewise.arrays import Floats
from scorewise.columns import Rows
from scorewise.show.records import Count, Record, Share, field
from scorewise.tallies import Tally

MAX_SCORES = 1000  # distinct scores looked at, from the highest down
MIN_RATIO = 3.0  # a gap is this many times as wide as those around it
NEIGHBOURS = 11  # gaps, itself among them, that a gap is compared with
MIN_SPACING = 1e-3  # of the range of scores
REPLICATES = 200


class Gap(Record):
    """A gap between scores: every threshold in (above, upto] gives the same decisions."""

    above: float
    upto: float
    width: float = field("How wide it is.", gt=0)
    ratio: float = field("Its width over that of the gaps around it.", gt=0)
    rows: Count = field("Rows above it.")
    precision: Share = field("Share of the rows above it that are positive.")
    recall: Share | None = field(
        "Share of all positives that lie above it; null without positives."
    )
    stability: Share = field("Share of resamples in which it keeps its rank.")


def gaps(rows: Rows, t: Tally, *, most: int = 5, seed: int = 0) -> list[Gap]:
    """The widest gaps relative to the spacing around them, the most pronounced first.

    Of the highest 1,000 distinct scores, each gap is divided by the median of the 11 around it (or by a
    thousandth of the range of all scores, where they lie closer); those at least 3 times as wide count.
    Stability resamples the rows 200 times, by a Poisson bootstrap: the gap of rank r must be among
    the first r again.

    >>> from scorewise.columns import binary_rows
    >>> s = [0.99, 0.98, 0.97, 0.96, 0.86, 0.85, 0.84, 0.83]
    >>> rows = binary_rows(None, label=[1, 1, 1, 0, 1, 0, 0, 0], score={"p": s})
    >>> best, = gaps(rows, Tally.of_rows(rows, "p"))
    >>> best.above, best.upto, round(best.ratio, 1), best.rows, best.precision, best.recall
    (0.86, 0.96, 10.0, 4, 0.75, 0.75)
    """
    score = t.score[-MAX_SCORES:].astype(np.float64)
    lowest, highest = t.ends
    # Python's floats overflow without a warning: scores may lie further apart than a float can say
    least = MIN_SPACING * (highest - lowest)
    if len(score) < 3 or not math.isfinite(least):
        return []
    width = np.diff(score)
    ratio = ratios(width, least)
    order = np.lexsort((-np.arange(len(ratio)), -ratio))[:most]
    order = order[ratio[order] >= MIN_RATIO - 1e-9]
    if not len(order):
        return []
    stable = _stability(t, score, score[order] + width[order] / 2, least, seed)
    return [
        _gap(rows, t, float(score[i]), float(score[i + 1]), float(ratio[i]), float(share))
        for i, share in zip(order.tolist(), stable, strict=True)
    ]


def ratios(width: Floats, least: float) -> Floats:
    """Each width over the median of those around it, itself among them.

    >>> ratios(np.array([1.0, 1.0, 10.0, 1.0]), 0.01)
    array([ 1.,  1., 10.,  1.])
    """
    near = min(NEIGHBOURS, len(width))
    middle = [(near - 1) // 2, near // 2]
    medians = np.partition(sliding_window_view(width, near), middle, axis=-1)[:, middle].mean(-1)
    at = (np.arange(len(width)) - near // 2).clip(0, len(medians) - 1)
    return np.asarray(width / np.maximum(medians[at], least))


def _stability(t: Tally, score: Floats, middle: Floats, least: float, seed: int) -> Floats:
    """The share of resamples in which the gap at each place, given by rank, is among as many first."""
    rng = np.random.default_rng(seed)
    weight, square = t.neg + t.pos, t.neg2 + t.pos2
    # a cell of n like rows is drawn Poisson(n) times; weights count as the rows they are worth
    n = (weight * (weight / square))[-len(score) :]
    drawn = rng.random((REPLICATES, len(score))) < -np.expm1(-n)
    stable = np.zeros(len(middle))
    rank = np.arange(len(middle))
    for here in drawn:
        resampled = score[here]
        if len(resampled) < 3:
            continue
        ratio = ratios(np.diff(resampled), least)
        at = np.searchsorted(resampled, middle) - 1
        inside = (at >= 0) & (at < len(ratio))
        at_middle = ratio[at.clip(0, len(ratio) - 1)]
        wider = len(ratio) - np.searchsorted(np.sort(ratio), at_middle, side="right")
        stable += inside & (wider <= rank)
    return stable / REPLICATES


def _gap(rows: Rows, t: Tally, above: float, upto: float, ratio: float, stable: float) -> Gap:
    i = int(np.searchsorted(t.score, upto))
    pos, neg = float(t.pos[i:].sum()), float(t.neg[i:].sum())
    over = rows.scores[t.origin.score] >= upto
    count = over.sum() if rows.count is None else rows.count[over].sum()
    return Gap(
        above=above,
        upto=upto,
        width=upto - above,
        ratio=ratio,
        rows=int(count),
        precision=pos / (pos + neg),
        recall=pos / t.positives if t.positives else math.nan,
        stability=stable,
    )
