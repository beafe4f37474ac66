"""The mean of a loss over rows, with its interval, from its moments by true class."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scorewise.estimate import Estimate
from scorewise.intervals.scales import Spread, effective, limits, one_row, pooled_spread
from scorewise.tallies.losses import Moments


def mean_loss(
    sums: Sequence[Moments],
    weights: Sequence[float],
    squares: Sequence[float],
    level: float,
    baseline: float,
    most: float = math.inf,
) -> Estimate:
    """The mean loss, given its moments, weights and squared weights for each class.

    Normal interval on the log scale with Student's quantile; `most` is the largest possible loss.

    >>> mean_loss([Moments(0.3, 0.3, 0.05), Moments(0.5, 0.5, 0.13)], (2, 2), (2, 2), 0.95, 0.69)
    0.200 [0.108, 0.371]
    """
    total = sum(weights)
    value = sum(m.first for m in sums) / total
    if not math.isfinite(value):
        why = "infinite: the losses add up beyond the largest number"
        return Estimate(math.inf, level=level, why=why, baseline=baseline)
    value = min(value, most)  # rounding may lead a hair beyond
    known = _spread(sums, weights, squares)
    if value == 0:
        return Estimate(value, 0.0, 0.0, level, "no loss at all", "", 0.0, baseline)
    if not known.says_something(value):
        reason = (
            "all losses are equal" if known.variance < math.inf else "beyond the largest number"
        )
        return Estimate(value, level=level, method=f"none: {reason}", baseline=baseline)
    low, high = limits(value, known, level, "log")
    return Estimate(value, low, min(high, most), level, "Student, log scale", "", 0.0, baseline)


def _spread(sums: Sequence[Moments], weights: Sequence[float], squares: Sequence[float]) -> Spread:
    """Variance of the mean loss: within each class, and by how many rows of each class there are.

    Kept apart because the rare class, with its few and large losses, decides the degrees of freedom.
    """
    total = sum(weights)
    rows = effective(total, sum(squares))
    used = [part for part in zip(sums, weights, squares, strict=True) if part[1]]
    means = [moments.first / w for moments, w, _ in used]
    parts = []
    for mean, (moments, w, w2) in zip(means, used, strict=True):
        n = effective(w, w2)
        # a class of one row says nothing of its own spread
        parts.append((0.0 if one_row(n) else moments.about(mean, w2) / total**2, n))
    if len(used) > 1:
        overall = sum(moments.first for moments in sums) / total
        gaps = [(w2, mean - overall) for mean, (_, _, w2) in zip(means, used, strict=True)]
        between = sum(w2 * gap * gap for w2, gap in gaps)
        raised = _succession([w / total for _, w, _ in used], means, rows)
        parts.append((between / total**2 * raised, rows))
    return pooled_spread(*parts)


def _succession(shares: list[float], means: list[float], n: float) -> float:
    """By how much Laplace's rule (two more rows, dealt out evenly) raises the variance between classes."""
    evened = [(n * p + 2 / len(shares)) / (n + 2) for p in shares]
    plain, raised = _variance(shares, means), _variance(evened, means)
    # with a class beyond floating point, or without a difference, there is nothing to raise
    return raised / plain if 0 < plain < math.inf and raised < math.inf else 1.0


def _variance(shares: list[float], means: list[float]) -> float:
    centre = sum(p * m for p, m in zip(shares, means, strict=True))
    return sum(p * (m - centre) * (m - centre) for p, m in zip(shares, means, strict=True))
