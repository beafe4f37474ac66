"""A share of what items count, over items that count differently much."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorewise.estimate import Estimate
from scorewise.intervals.scales import effective, one_row, student, z
from scorewise.intervals.shares import wilson


def share_over_items(hit: Any, of: Any, weight: Any, weight2: Any, *, level: float) -> Estimate:
    """The sum of `hit` over the sum of `of`, both of items (or patterns of them), with its interval.

    Wilson's interval. Where items are hit wholly or not at all and count the same, for the items; else for
    as many independent trials as would vary as much as a ratio of means over items (delta method, with
    Student's quantile), or for the items where none differ.

    >>> share_over_items([2, 1, 0], [2, 2, 2], np.ones(3), np.ones(3), level=0.95)
    0.500 [0.036, 0.964]
    """
    z(level)
    hit, of = np.asarray(hit, np.float64), np.asarray(of, np.float64)
    weight, weight2 = np.asarray(weight, np.float64), np.asarray(weight2, np.float64)
    used = of > 0
    if not used.any():
        return Estimate.undefined("nothing to count", level)
    hit, of, weight, weight2 = hit[used], of[used], weight[used], weight2[used]
    unit = float(weight.max())
    weight, weight2 = weight / unit, weight2 / unit / unit
    whole = float((weight * of).sum())
    p = min(1.0, max(0.0, float((weight * hit).sum()) / whole))
    items = effective(float(weight.sum()), float(weight2.sum()))
    variance = float((weight2 * (hit - p * of) ** 2).sum()) / whole**2
    plain = bool((of == of[0]).all() and ((hit == 0) | (hit == of)).all())
    if one_row(items) and not plain:
        return Estimate(p, level=level, method="none: one item")
    trials = p * (1 - p) / variance if variance > 1e-26 else items
    if not plain and variance > 1e-26:
        trials *= (items - 1) / items * (z(level) / student(level, items - 1)) ** 2
    trials = max(trials, 1e-9)  # next to one item says next to nothing
    yes, no = p * trials, (1 - p) * trials
    low, high = wilson(yes, no, yes, no, level)[1:]
    return Estimate(p, low, high, level, "Wilson" if plain else "Wilson, delta over items")
