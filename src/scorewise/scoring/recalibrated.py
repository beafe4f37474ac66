"""Scores read off the slopes of the convex hull of the ROC curve."""

from __future__ import annotations

from dataclasses import replace

from scorewise.curves.hull import pooled
from scorewise.tallies import Tally
from scorewise.tallies.sorting import add_runs


def recalibrated(t: Tally) -> Tally:
    """The same rows, scored by the slopes of the hull: 0.5 where both classes are equally frequent.

    The slope is the share of positives that lie there over the share of negatives, and the score is
    slope / (1 + slope). This is isotonic regression, if both classes had the same weight: a rare class
    does not push all scores towards 0. The map is fitted to the very rows that it is applied to, and
    flatters them somewhat.

    >>> recalibrated(Tally.of([0, 0, 0, 0, 1, 0, 1], [0.01, 0.02, 0.03, 0.05, 0.04, 0.06, 0.07])).score
    array([0.        , 0.55555556, 1.        ])
    """
    start = pooled(t)
    neg, pos, neg2, pos2 = (add_runs(w, start) for w in (t.neg, t.pos, t.neg2, t.pos2))
    up, along = pos / t.positives, neg / t.negatives
    return replace(
        t,
        score=up / (up + along),
        neg=neg,
        pos=pos,
        neg2=neg2,
        pos2=pos2,
        kind="probability",
        coarse=None,
    )
