"""Two judges on the same items."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from scorewise.agreeing.judges.panel import Panel
from scorewise.agreeing.judges.resampling import Term, combined
from scorewise.agreeing.judges.taking import Codes
from scorewise.estimate import Estimate
from scorewise.inference.paired import holm
from scorewise.inference.scales import effective
from scorewise.inference.shares import matched_difference, sign_test


@dataclass(frozen=True)
class Difference:
    """The first judge minus the second; `only_first` is the share of items on which only it is right.

    `accuracy_holm` and `kappa_holm` are the p-values adjusted for all pairs of judges.
    """

    first: str
    second: str
    items: int
    only_first: float
    only_second: float
    accuracy: Estimate
    kappa: Estimate
    accuracy_holm: float = math.nan
    kappa_holm: float = math.nan


def differences(panel: Panel, draws: dict[str, Any]) -> tuple[Difference, ...]:
    """Each two judges on the items that both answered and that have a truth."""
    found = [_difference(panel, a, b, draws) for a, b in combinations(panel.judges, 2)]
    adjusted = [holm([_p(d.accuracy) for d in found]), holm([_p(d.kappa) for d in found])]
    return tuple(
        replace(d, accuracy_holm=a, kappa_holm=k) for d, a, k in zip(found, *adjusted, strict=True)
    )


def _p(e: Estimate) -> float:
    return math.nan if e.p is None else e.p


def _difference(panel: Panel, first: str, second: str, draws: dict[str, Any]) -> Difference:
    a, b, truth = panel.judges[first], panel.judges[second], panel.truth
    both = (a >= 0) & (b >= 0) & (truth >= 0)
    shared = np.where(both, truth, -1).astype(np.int32)
    right, other = (a == truth) & both, (b == truth) & both
    one, two = panel.sums(right & ~other), panel.sums(other & ~right)
    total, squares = panel.sums(both)
    return Difference(
        first,
        second,
        panel.items(both),
        one[0] / total if total else math.nan,
        two[0] / total if total else math.nan,
        _accuracy(one, two, (total, squares), draws["level"]),
        _kappa(panel, shared, a, b, draws),
    )


def _kappa(panel: Panel, truth: Codes, a: Codes, b: Codes, draws: dict[str, Any]) -> Estimate:
    return combined(panel, [Term(1.0, truth, a), Term(-1.0, truth, b)], **draws)


def _accuracy(
    one: tuple[float, float], two: tuple[float, float], all_: tuple[float, float], level: float
) -> Estimate:
    """Tango's interval for as many items as are as uncertain, and McNemar's exact test."""
    total = all_[0]
    if not total:
        return Estimate.undefined("no labelled item is answered by both", level)
    p, q = one[0] / total, two[0] / total
    gap = p - q
    # the variance with weights: of items that are 1, -1 or 0
    spread = one[1] * (1 - gap) ** 2 + two[1] * (1 + gap) ** 2
    spread = (spread + (all_[1] - one[1] - two[1]) * gap**2) / total**2
    varied = p + q - gap**2
    # items that are lighter than rounding say nothing
    n = varied / spread if varied > 1e-14 and spread > 0 else effective(*all_)
    low, high = matched_difference(n * p, n * q, n, level)
    test = sign_test(one[0], two[0], one[1], two[1])
    return Estimate(gap, min(low, gap), max(high, gap), level, "Tango; McNemar exact", p=test)
