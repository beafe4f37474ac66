"""A judge that grades: whether it grades higher or lower than the truth, how far off, in which order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.agreeing.judges.panel import Panel
from scorewise.arrays import Floats
from scorewise.columns.ratings import Scale
from scorewise.estimate import Estimate
from scorewise.inference.scales import effective, limits, pooled_spread, wald
from scorewise.inference.shares import sign_test, wilson
from scorewise.tallies import Confusion


@dataclass(frozen=True)
class Grades:
    """The judge's grades against those of the truth.

    `difference` is the mean of judge minus truth: in the units of the ratings, or in places of an ordinal
    scale. `higher`, `same` and `lower` are shares of items, `p` the sign test of higher against lower.
    `near` is the share that is off by one `step` at most, the least distance of two ratings that occur.
    `ranks` is Spearman's rank correlation.
    """

    items: int
    difference: Estimate
    higher: float
    same: float
    lower: float
    p: float
    near: Estimate
    step: float
    ranks: Estimate


def grades(panel: Panel, judge: str, scale: Scale, level: float) -> Grades | None:
    """The grades of a judge on the items with a truth; None where ratings have no order."""
    codes, truth = panel.said.judges[judge], panel.truth
    items = panel.items((codes >= 0) & (truth >= 0))
    if scale == "nominal" or not items:
        return None
    many = len(panel.said.categories)
    value = np.arange(many, dtype=np.float64) if scale == "ordinal" else panel.said.values
    c = panel.confusion(truth, codes)
    w, w2 = (np.asarray(x[:many, :many], np.float64) for x in _scaled(c))
    gap = value[None, :] - value[:, None]
    total, step = float(w.sum()), _step(value, w)
    sides = [(float(w[at].sum()), float(w2[at].sum())) for at in (gap > 0, gap == 0, gap < 0)]
    (more, more2), (same, _), (less, less2) = sides
    near = np.abs(gap) <= step * (1 + 1e-9)
    return Grades(
        items,
        _mean(gap, w, w2, level),
        more / total,
        same / total,
        less / total,
        sign_test(more, less, more2, less2),
        _near(w, w2, near, level),
        step,
        spearman(w, w2, value, level),
    )


def _scaled(c: Confusion) -> tuple[NDArray[Any], NDArray[Any]]:
    """The weights and their squares, neither huge nor tiny."""
    return c.weight * c.scale, c.weight2 * c.scale * c.scale


def _step(value: Floats, w: Floats) -> float:
    used = np.unique(value[(w.sum(0) > 0) | (w.sum(1) > 0)])
    return float(np.diff(used).min()) if len(used) > 1 else 0.0


def _mean(gap: Floats, w: Floats, w2: Floats, level: float) -> Estimate:
    total = float(w.sum())
    value = float((w * gap).sum()) / total
    variance = float((w2 * (gap - value) ** 2).sum()) / total**2
    spread = pooled_spread((variance, effective(total, float(w2.sum()))))
    if not spread.says_something(max(abs(value), 1.0)):
        return Estimate(
            value, level=level, method="none: every difference is the same", baseline=0.0
        )
    low, high = limits(value, spread, level, "identity")
    return Estimate(value, low, high, level, "Student", baseline=0.0)


def _near(w: Floats, w2: Floats, near: NDArray[np.bool_], level: float) -> Estimate:
    one, two, one2, two2 = (float(x[at].sum()) for x in (w, w2) for at in (near, ~near))
    return Estimate(*wilson(one, two, one2, two2, level), level, "Wilson")


def spearman(w: Floats, w2: Floats, value: Floats, level: float) -> Estimate:
    """The correlation of mid-ranks in a table of (truth, judge).

    The interval is that of Bonett and Wright (2000).

    >>> table = np.array([[3.0, 1, 0], [1, 4, 1], [0, 1, 5]])
    >>> spearman(table, table, np.arange(3.0), 0.95)
    0.797 [0.435, 0.937]
    """
    rows, columns = (_ranks(w.sum(k), value) for k in (1, 0))
    share = w / w.sum()
    a, b = (
        rows - float((share.sum(1) * rows).sum()),
        columns - float((share.sum(0) * columns).sum()),
    )
    spread = float((share.sum(1) * a * a).sum()) * float((share.sum(0) * b * b).sum())
    if spread < 1e-24:
        return Estimate.undefined("the judge or the truth always has the same rank", level)
    r = float((share * a[:, None] * b).sum()) / math.sqrt(spread)
    r = min(max(r, -1.0), 1.0)
    n = effective(float(w.sum()), float(w2.sum()))
    if n <= 4 or 1 - abs(r) < 1e-12:
        why = "none: the same order" if n > 4 else "none: too few items"
        return Estimate(r, level=level, method=why, baseline=0.0)
    # wald() divides by 1 - r^2, as the slope of atanh does
    error = math.sqrt((1 + r * r / 2) / (n - 3)) * (1 - r * r)
    low, high = wald(r, error, level, "atanh")
    return Estimate(r, low, high, level, "Bonett-Wright", baseline=0.0)


def _ranks(weight: Floats, value: Floats) -> Floats:
    """The middle of the ranks of each category, as a share."""
    order = np.argsort(value, kind="stable")
    ends = weight[order].cumsum()
    middle = np.empty(len(value))
    middle[order] = (ends - weight[order] / 2) / ends[-1]
    return middle
