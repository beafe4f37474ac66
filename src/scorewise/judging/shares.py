"""A judge's grades against those of the truth, and how frequent each category is, corrected."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns.ratings import Scale
from scorewise.estimate import Estimate
from scorewise.inference.scales import effective, limits, one_row, pooled_spread, student, wald, z
from scorewise.inference.shares import share_over_items, sign_test, wilson_of, wilson_of_cells
from scorewise.judging.panel import Outcomes, Panel, judged_share, outcomes
from scorewise.tallies import Confusion
from scorewise.tallies.formulas import mid_ranks


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
        Estimate(*wilson_of_cells(w, w2, near, ~near, level), level, "Wilson"),
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


def spearman(w: Floats, w2: Floats, value: Floats, level: float) -> Estimate:
    """The correlation of mid-ranks in a table of (truth, judge).

    The interval is that of Bonett and Wright (2000).

    >>> table = np.array([[3.0, 1, 0], [1, 4, 1], [0, 1, 5]])
    >>> spearman(table, table, np.arange(3.0), 0.95)
    0.797 [0.435, 0.937]
    """
    share = w / w.sum()
    rows, columns = (mid_ranks(share.sum(k), value) for k in (1, 0))
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


@dataclass(frozen=True)
class Prevalence:
    """A category's share of human votes over all items, in four ways.

    `judge` is what the judge says, uncorrected. `labelled` is the share among labelled items alone.
    `powered` is the prediction-powered estimate (Angelopoulos et al. 2023), `tuned` the same with the power
    `tuning` that makes the shares most certain (PPI++, 2024). `rates` corrects by sensitivity and
    specificity (Rogan and Gladen 1978).
    """

    category: str
    judge: Estimate
    labelled: Estimate
    powered: Estimate
    tuned: Estimate
    tuning: float
    rates: Estimate


def prevalences(panel: Panel, judge: str, level: float) -> tuple[Prevalence, ...]:
    """The share of each category; empty where no item is unlabelled.

    The outcome of an item is the share of its human ratings that name the category: a tie of two is half
    of each. A judge that gives no answer is taken to say each category as often as it does elsewhere.
    """
    if not panel.items(panel.labelled) or not panel.items(~panel.labelled):
        return ()
    found = [outcomes(panel, judge, k) for k in range(len(panel.said.categories))]
    power = tuning(found)
    return tuple(
        Prevalence(
            name,
            judged_share(panel, judge, k, level),
            _labelled(o, level),
            powered(o, level),
            tuned(o, power, level),
            power,
            rates(o, level),
        )
        for k, (name, o) in enumerate(zip(panel.said.categories, found, strict=True))
    )


def tuning(found: list[Outcomes]) -> float:
    """The weight of the judge that makes the sum of the variances of all shares least.

    sum cov(votes, judge) / ((1 + n/N) sum var(judge)), one for all categories, so that shares add up to 1.
    Kept within 0, where the judge is not used, and 1, where it is used in full.
    """
    spread = sum(o.spread_of_judge * (1 + o.labelled / o.others) for o in found)
    return float(min(max(sum(o.covariance for o in found) / spread, 0.0), 1.0)) if spread else 0.0


def _labelled(o: Outcomes, level: float) -> Estimate:
    return share_over_items(o.votes, np.ones(len(o.votes)), o.weight, o.weight2, level=level)


def powered(o: Outcomes, level: float) -> Estimate:
    """Votes on labelled items + judge on the others - judge on labelled ones, with a normal interval.

    This is the interval as published. Of rare categories it covers less than it says.
    """
    value = _value(o, 1.0)
    error = math.sqrt(_variance(o, 1.0, padded=False))
    return _inside(value, wald(value, error, level, "identity"), level, "PPI")


def tuned(o: Outcomes, power: float, level: float) -> Estimate:
    """Votes on labelled items + power * (judge on the others - judge on labelled ones).

    The interval is Wilson's, of as many items as would be as uncertain, with Student's quantile. Where
    the judge never errs in one way, or never is right in one, two items are spread over the four ways, for
    the variance alone.
    """
    value = min(max(_value(o, power), 0.0), 1.0)
    variance = _variance(o, power, padded=True)
    n = o.labelled
    if value * (1 - value) and variance and not one_row(o.labelled):
        n = value * (1 - value) / variance * (1 - 1 / o.labelled)
        n = max(n * (z(level) / student(level, o.labelled - 1)) ** 2, 1e-9)
    return Estimate(*wilson_of(value, n, level), level, "PPI++, Wilson")


def _value(o: Outcomes, power: float) -> float:
    return o.mean(o.votes) + power * (o.said - o.mean(o.judge))


def _variance(o: Outcomes, power: float, *, padded: bool) -> float:
    """The variance of votes - power * judge on labelled items, plus that of the judge on the others."""
    left = o.votes - power * o.judge
    n, first, second = o.labelled, o.mean(left), o.mean(left**2)
    if padded and not o.table.all():
        more = np.array([0.0, -power, 1.0, 1.0 - power]) / 2
        first = (first * n + float(more.sum())) / (n + 2)
        second = (second * n + 2 * float((more**2).sum())) / (n + 2)
    return max(second - first**2, 0.0) / n + power**2 * o.spread_of_others / o.others


def _inside(value: float, limits: tuple[float, float], level: float, method: str) -> Estimate:
    """A share and its interval, kept within 0 and 1."""
    value, low, high = (min(max(x, 0.0), 1.0) for x in (value, *limits))
    return Estimate(value, low, high, level, method)


def rates(o: Outcomes, level: float) -> Estimate:
    """(judge's share + specificity - 1) / (sensitivity + specificity - 1), by the delta method.

    A labelled item counts in the judge's share and in both rates; where its humans differ, in part.
    """
    share = o.mean(o.votes)
    if not 1e-100 < share < 1:
        return Estimate.undefined("no labelled item for sensitivity or specificity", level)
    hit = o.mean(o.votes * o.judge) / share
    false = o.mean((1 - o.votes) * o.judge) / (1 - share)
    gain = hit - false
    if gain <= 1e-12:
        return Estimate.undefined("the judge is no better than chance", level)
    n, more = o.labelled, o.others
    said = (n * o.mean(o.judge) + more * o.said) / (n + more)
    value = (said - false) / gain
    # what an item adds to the judge's share, and through the rates
    effect = (o.judge - said) * n / (n + more)
    effect -= value * o.votes / share * (o.judge - hit)
    effect -= (1 - value) * (1 - o.votes) / (1 - share) * (o.judge - false)
    others = o.spread_of_others + (o.said - said) ** 2
    variance = (o.mean(effect**2) / n + others * more / (n + more) ** 2) / gain**2
    limits = wald(value, math.sqrt(variance), level, "identity")
    return _inside(value, limits, level, "Rogan-Gladen, delta")
