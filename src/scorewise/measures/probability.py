"""Can the scores be read as probabilities? Proper scores: log loss, Brier and spherical."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from scorewise.door.rows import one_of
from scorewise.estimate import Estimate
from scorewise.intervals.scales import Spread, effective, limits, pooled_spread
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.chances import why_not_probable
from scorewise.tallies.losses import Loss, Moments, uncertainty
from scorewise.tallies.mean_loss import check_clip, moments, why_infinite

Convention = Literal["binary", "sum"]


@measure(group="probability", better="low", bounds=(0.0, math.inf), title="Log loss")
def log_loss(t: Tally, *, clip: float | None = None, level: float = 0.95) -> Estimate:
    """Mean of -log of the probability given to what happened (negative log likelihood).

    Infinite as soon as a certain prediction is wrong, unless `clip=1e-15` (or another) is asked for.
    Normal interval on the log scale. The baseline is the best constant, the prevalence.

    >>> log_loss(Tally.of([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1]))
    0.236 [0.015, 3.810]
    >>> log_loss(Tally.of([1, 0, 1, 0], [0.0, 0.2, 0.6, 0.1]))
    inf: a certain prediction was wrong in 1 row; pass clip=1e-15 to bound its loss
    """
    check_clip(clip)
    if why := why_not_probable(t):
        return Estimate.undefined(why, level)
    baseline = _constant(t, "log")
    if clip is None and (why := why_infinite(t)):
        return Estimate(math.inf, level=level, why=why, baseline=baseline)
    return _mean(t, "log" if clip is None else "log clipped", level, baseline, clip)


@measure(group="probability", better="low", title="Brier score")
def brier(t: Tally, *, convention: Convention = "binary", level: float = 0.95) -> Estimate:
    """Mean squared distance of the probability from what happened (0 or 1).

    The binary convention, from 0 to 1; convention="sum" adds up both classes, which is twice that
    (Brier 1950). Normal interval on the log scale. The baseline is the best constant, the prevalence:
    p (1 - p).

    >>> brier(Tally.of([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1]))
    0.055 [0.000668, 1.000]
    """
    one_of("convention", convention, get_args(Convention))
    if why := why_not_probable(t):
        return Estimate.undefined(why, level)
    e = _mean(t, "brier", level, _constant(t, "brier"), None)
    if convention == "binary":
        return e
    assert e.baseline is not None
    return replace(e, value=2 * e.value, low=2 * e.low, high=2 * e.high, baseline=2 * e.baseline)


@measure(group="probability", better="low", title="Spherical loss")
def spherical(t: Tally, *, level: float = 0.95) -> Estimate:
    """Mean of 1 - cosine between the probabilities of both classes and what happened.

    1 - p_truth / sqrt(p^2 + (1 - p)^2), from 0 to 1: the loss of the spherical score (Good 1971), which
    is 1 minus this. Normal interval on the log scale. The baseline is the best constant, the prevalence.

    >>> spherical(Tally.of([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1]))
    0.053 [0.000386, 1.000]
    """
    if why := why_not_probable(t):
        return Estimate.undefined(why, level)
    return _mean(t, "spherical", level, _constant(t, "spherical"), None)


def _constant(t: Tally, loss: Loss) -> float:
    """The loss of the prevalence, given to all rows."""
    share = t.positives / (t.positives + t.negatives)
    return float(uncertainty(np.array([share]), loss)[0])


def _mean(t: Tally, loss: Loss, level: float, baseline: float, clip: float | None) -> Estimate:
    sums = moments(t, loss, clip)
    total = t.negatives + t.positives
    value = (sums[0].first + sums[1].first) / total
    if not math.isfinite(value):
        why = "infinite: the losses add up beyond the largest number"
        return Estimate(math.inf, level=level, why=why, baseline=baseline)
    known = _spread(t, sums)
    if value == 0:
        return Estimate(value, 0.0, 0.0, level, "no loss at all", "", 0.0, baseline)
    if not known.says_something(value):
        reason = (
            "all losses are equal" if known.variance < math.inf else "beyond the largest number"
        )
        return Estimate(value, level=level, method=f"none: {reason}", baseline=baseline)
    low, high = limits(value, known, level, "log")
    if loss in ("brier", "spherical"):
        high = min(high, 1.0)
    return Estimate(value, low, high, level, "Student, log scale", "", 0.0, baseline)


def _spread(t: Tally, sums: tuple[Moments, Moments]) -> Spread:
    """Variance of the mean loss: within each class, and by how many rows of each class there are.

    Kept apart because the rare class, with its few and large losses, decides the degrees of freedom.
    """
    weights = tuple(zip((t.negatives, t.positives), t.squares, strict=True))
    total, squares = (sum(w[i] for w in weights) for i in (0, 1))
    rows = effective(total, squares)
    parts, means = [], []
    for side, (w, w2) in zip(sums, weights, strict=True):
        mean = side.first / w if w else 0.0
        n = effective(w, w2)
        # a class of one row says nothing of its own spread
        parts.append((side.about(mean, w2) / total**2 if n > 1 else 0.0, n))
        means.append(mean)
    if all(w for w, _ in weights):
        overall = sum(m.first for m in sums) / total
        gaps = [m - overall for m in means]
        between = sum(w2 * gap * gap for (_, w2), gap in zip(weights, gaps, strict=True))
        parts.append((between / total**2 * _succession(weights[1][0] / total, rows), rows))
    return pooled_spread(*parts)


def _succession(p: float, n: float) -> float:
    """By how much Laplace's rule (one more row of each class) raises the variance of a small share."""
    if not 0 < p < 1:  # a class beyond floating point
        return 1.0
    q = (n * p + 1) / (n + 2)
    return q * (1 - q) / (p * (1 - p))
