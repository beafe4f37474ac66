"""A judge asked twice, with the two answers in exchanged positions."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from scorewise.agreeing.judges.against import accuracy
from scorewise.agreeing.judges.kappas import kappa_of
from scorewise.agreeing.judges.panel import Panel
from scorewise.arrays import Bools
from scorewise.estimate import Estimate
from scorewise.inference.shares import sign_test, wilson


@dataclass(frozen=True)
class Repeated:
    """Whether a judge says the same of the same two answers in either order.

    `first` is the share that leans to the first position among the items on which the verdicts differ and
    lean to one; its p-value is that of an even split. `leaning` are the numbers of such items.
    """

    items: int
    consistent: Estimate
    kappa: Estimate
    first: Estimate
    leaning: tuple[int, int]


def repeated(panel: Panel, judge: str, level: float) -> Repeated | None:
    """The two runs of a judge; None where there is one."""
    swap = panel.said.swap
    if judge not in panel.swapped or swap is None:
        return None
    known = len(panel.said.categories)
    to = np.append(np.arange(len(panel.categories)), -1).astype(np.int32)
    side = np.zeros(len(panel.categories) + 1, np.int32)
    to[:known], side[:known] = swap.to, swap.side
    once, again = panel.judges[judge], panel.swapped[judge]
    c = panel.confusion(once, to[again])
    both = (once >= 0) & (again >= 0)
    lean = np.where(both & (once != to[again]), side[once] + side[again], 0)
    return Repeated(
        panel.items(both),
        replace(accuracy(c, level), baseline=None),
        kappa_of(c, panel.agreement, level),
        _leaning(panel, lean > 0, lean < 0, level),
        (panel.items(lean > 0), panel.items(lean < 0)),
    )


def _leaning(panel: Panel, first: Bools, second: Bools, level: float) -> Estimate:
    one, one2 = panel.sums(first)
    two, two2 = panel.sums(second)
    if not one + two:
        return Estimate.undefined("no verdict depends on the position", level)
    value, low, high = wilson(one, two, one2, two2, level)
    p = sign_test(one, two, one2, two2)
    return Estimate(value, low, high, level, "Wilson; exact binomial", baseline=0.5, p=p)
