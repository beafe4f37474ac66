"""Can the scores be read as probabilities? Proper scores: log loss, Brier and spherical."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, get_args

from scorewise.checks import check
from scorewise.columns.rows import one_of
from scorewise.curves.hull import constant_loss
from scorewise.estimate import Estimate
from scorewise.inference.paired import mean_loss
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.losses import Loss
from scorewise.tallies.probabilities import moments, why_infinite, why_not_probable

Convention = Literal["binary", "sum"]


@measure(group="probability", better="low", bounds=(0.0, math.inf), title="Log loss")
def log_loss(t: Tally, *, clip: float | None = None, level: float = 0.95) -> Estimate:
    """Mean of -log of the probability given to what happened (negative log likelihood).

    Infinite as soon as a certain prediction is wrong, unless `clip=1e-15` (or another) is asked for.
    Normal interval on the log scale. The baseline is the best constant, the prevalence.

    >>> log_loss(Tally.of([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1]))
    0.236 [0.015, 3.810]
    >>> log_loss(Tally.of([1, 0, 1, 0], [0.0, 0.2, 0.6, 0.1]))
    inf: a certain prediction was wrong in 1 row; a clip of 1e-15 bounds its loss
    """
    check(clip=clip)
    if why := why_not_probable(t):
        return Estimate.undefined(why, level)
    baseline = constant_loss(t, "log")
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
    e = _mean(t, "brier", level, constant_loss(t, "brier"), None)
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
    return _mean(t, "spherical", level, constant_loss(t, "spherical"), None)


def _mean(t: Tally, loss: Loss, level: float, baseline: float, clip: float | None) -> Estimate:
    sums = moments(t, loss, clip)
    most = 1.0 if loss in ("brier", "spherical") else math.inf if clip is None else -math.log(clip)
    return mean_loss(sums, (t.negatives, t.positives), t.squares, level, baseline, most)
