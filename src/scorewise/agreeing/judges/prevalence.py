"""How frequent each category is: judged on all items, corrected by those that humans labelled."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.agreeing.judges.panel import Bools, Panel
from scorewise.estimate import Estimate
from scorewise.intervals.scales import effective, wald
from scorewise.intervals.shares import wilson

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Prevalence:
    """A category's share of all items, in four ways.

    `judge` is what the judge says, uncorrected. `labelled` is the share among labelled items alone.
    `powered` is the prediction-powered estimate (Angelopoulos et al. 2023), `tuned` the same with the power
    `tuning` that makes it narrowest (PPI++, 2024). `rates` corrects by sensitivity and specificity
    (Rogan and Gladen 1978).
    """

    category: str
    judge: Estimate
    labelled: Estimate
    powered: Estimate
    tuned: Estimate
    tuning: float
    rates: Estimate


@dataclass(frozen=True)
class Moments:
    """Shares of a category in the labelled items and in the others, with what they vary by.

    `table` are the labelled items by (truth, judge), `said` the others by judge; both are weights that add
    up to 1, for `labelled` and `others` items of equal weight.
    """

    table: Floats
    said: float
    labelled: float
    others: float


def prevalences(panel: Panel, judge: str, level: float) -> tuple[Prevalence, ...]:
    """The share of each category; empty where no item is unlabelled.

    Items on which humans tie have no truth and serve neither side.
    """
    told, other = panel.truth >= 0, ~panel.labelled
    if not panel.items(told) or not panel.items(other):
        return ()
    codes = panel.judges[judge]
    return tuple(
        _prevalence(panel, name, panel.truth == k, codes == k, (told, other), level)
        for k, name in enumerate(panel.said.categories)
    )


def _prevalence(
    panel: Panel, name: str, truth: Bools, judge: Bools, parts: tuple[Bools, Bools], level: float
) -> Prevalence:
    told, other = parts
    m = _moments(panel, truth, judge, told, other)
    best = tuning(m)
    return Prevalence(
        name,
        _share(panel, judge, told | other, level),
        _share(panel, truth & told, told, level),
        powered(m, level),
        tuned(m, best, level),
        best,
        rates(m, level),
    )


def _share(panel: Panel, hit: Bools, among: Bools, level: float) -> Estimate:
    (one, one2), (two, two2) = panel.sums(hit & among), panel.sums(among & ~hit)
    return Estimate(*wilson(one, two, one2, two2, level), level, "Wilson")


def _moments(panel: Panel, truth: Bools, judge: Bools, told: Bools, other: Bools) -> Moments:
    cells = [[told & (truth == t) & (judge == j) for j in (False, True)] for t in (False, True)]
    table = np.array([[panel.sums(cell)[0] for cell in row] for row in cells])
    labelled, others = panel.sums(told), panel.sums(other)
    said = panel.sums(judge & other)[0] / others[0]
    return Moments(table / table.sum(), said, effective(*labelled), effective(*others))


def tuning(m: Moments) -> float:
    """The weight of the judge that makes the variance least: cov(truth, judge) / ((1 + n/N) var(judge)).

    Kept within 0, where the judge is not used, and 1, where it is used in full.

    >>> perfect = np.array([[0.5, 0.0], [0.0, 0.5]])
    >>> tuning(Moments(perfect, 0.5, 100, 900)).__round__(6)
    0.9
    """
    truth, judge = m.table[1].sum(), m.table[:, 1].sum()
    share = (m.labelled * judge + m.others * m.said) / (m.labelled + m.others)
    spread = share * (1 - share) * (1 + m.labelled / m.others)
    return float(min(max((m.table[1, 1] - truth * judge) / spread, 0.0), 1.0)) if spread else 0.0


def powered(m: Moments, level: float) -> Estimate:
    """Truth on labelled items + judge on the others - judge on labelled ones, with a normal interval.

    This is the interval as published. Of rare categories it covers less than it says.

    >>> table = np.array([[0.6, 0.1], [0.1, 0.2]])
    >>> powered(Moments(table, 0.35, 100, 900), 0.95)
    0.350 [0.257, 0.443]
    """
    value = _value(m, 1.0)
    error = math.sqrt(_variance(m.table, m, 1.0))
    return _inside(value, wald(value, error, level, "identity"), level, "PPI")


def tuned(m: Moments, power: float, level: float) -> Estimate:
    """Truth on labelled items + power * (judge on the others - judge on labelled ones).

    The interval is Wilson's, of as many items as would be as uncertain; with no power it is that of the
    labelled items. Where a cell of these is empty two are spread over the four, for the variance alone.
    """
    value = min(max(_value(m, power), 0.0), 1.0)
    table = m.table
    if (table == 0).any():
        table = (table * m.labelled + 0.5) / (m.labelled + 2)
    variance = _variance(table, m, power)
    n = value * (1 - value) / variance if value * (1 - value) and variance else m.labelled
    _, low, high = wilson(value * n, (1 - value) * n, value * n, (1 - value) * n, level)
    return Estimate(value, low, high, level, "PPI++, Wilson")


def _value(m: Moments, power: float) -> float:
    return float(m.table[1].sum() + power * (m.said - m.table[:, 1].sum()))


def _variance(table: Floats, m: Moments, power: float) -> float:
    """The variance of truth - power * judge on labelled items, plus that of the judge on the others."""
    errors = np.array([[0.0, -power], [1.0, 1.0 - power]])
    mean = float((table * errors).sum())
    spread = float((table * (errors - mean) ** 2).sum())
    return spread / m.labelled + power**2 * m.said * (1 - m.said) / m.others


def _inside(value: float, limits: tuple[float, float], level: float, method: str) -> Estimate:
    """A share and its interval, kept within 0 and 1."""
    value, low, high = (min(max(x, 0.0), 1.0) for x in (value, *limits))
    return Estimate(value, low, high, level, method)


def rates(m: Moments, level: float) -> Estimate:
    """(judge's share + specificity - 1) / (sensitivity + specificity - 1), by the delta method."""
    truth = m.table.sum(1)
    if not truth.all():
        return Estimate.undefined("no labelled item for sensitivity or specificity", level)
    right = m.table.diagonal() / truth
    gain = float(right.sum() - 1)
    if gain <= 0:
        return Estimate.undefined("the judge is no better than chance", level)
    n, more = m.labelled, m.others
    said = (n * float(m.table[:, 1].sum()) + more * m.said) / (n + more)
    value = (said + float(right[0]) - 1) / gain
    parts = np.array([1 - value, value]) ** 2 * right * (1 - right) / (n * truth)
    variance = (said * (1 - said) / (n + more) + float(parts.sum())) / gain**2
    return _inside(
        value, wald(value, math.sqrt(variance), level, "identity"), level, "Rogan-Gladen, delta"
    )
