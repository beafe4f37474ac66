"""A judge against the truth: accuracy, kappa, base rates, and each category."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.agreeing.judges.kappas import kappa_of
from scorewise.agreeing.judges.panel import Panel
from scorewise.agreeing.judges.taking import Codes
from scorewise.arrays import Bools
from scorewise.estimate import Estimate
from scorewise.inference.shares import sign_test, wilson
from scorewise.tallies import Confusion


@dataclass(frozen=True)
class Category:
    """One category: how often each uses it, whether that differs, and how far the judge's use holds."""

    category: str
    truth: float
    judge: float
    p: float
    precision: Estimate
    recall: Estimate


@dataclass(frozen=True)
class Against:
    """Two columns on the same items; `name` is that of the human or of the majority."""

    name: str
    items: int
    accuracy: Estimate
    kappa: Estimate
    confusion: Confusion


def against(panel: Panel, name: str, truth: Codes, judge: Codes, level: float) -> Against:
    """How far a judge says what the truth is."""
    c = panel.confusion(truth, judge)
    return Against(
        name,
        panel.items((truth >= 0) & (judge >= 0)),
        accuracy(c, level),
        kappa_of(c, panel.agreement, level),
        c,
    )


def accuracy(c: Confusion, level: float) -> Estimate:
    """Share of items on which both say the same; the baseline always says what is most frequent.

    >>> accuracy(Confusion.counts(tp=20, fp=5, fn=10, tn=15), 0.95)
    0.700 [0.562, 0.809]
    """
    if not c.weight.any():
        return Estimate.undefined("no item is rated by both", level)
    right: Bools = np.eye(len(c.weight), dtype=bool)
    found = _share(c, right, ~right, level)
    most = float(c.weight.sum(1).max() / c.weight.sum())
    return Estimate(found.value, found.low, found.high, level, "Wilson", baseline=most)


def categories(c: Confusion, level: float) -> tuple[Category, ...]:
    """The base rates of each category, and the judge's precision and recall in it."""
    w, w2 = c.weight.astype(float), c.weight2.astype(float)
    total = w.sum() or np.nan
    found = []
    for k, name in enumerate(c.classes):
        row, column, own = (np.zeros(w.shape, bool) for _ in range(3))
        row[k], column[:, k], own[k, k] = True, True, True
        more, less = column & ~own, row & ~own
        p = sign_test(*(float(x[at].sum()) for x in (w, w2) for at in (more, less)))
        found.append(
            Category(
                name,
                float(w[k].sum() / total),
                float(w[:, k].sum() / total),
                p,
                _share(c, own, more, level, f"never says {name}"),
                _share(c, own, less, level, f"no item is {name}"),
            )
        )
    return tuple(found)


def _share(
    c: Confusion, hit: Bools, miss: Bools, level: float, why: str = "no item is rated by both"
) -> Estimate:
    """The share of some cells among those and others, with its Wilson interval."""
    w: NDArray[np.float64] = c.weight.astype(float)
    w2: NDArray[np.float64] = c.weight2.astype(float)
    if not w[hit | miss].any():
        return Estimate.undefined(why, level)
    one, two, one2, two2 = (float(x[at].sum()) for x in (w, w2) for at in (hit, miss))
    value, low, high = wilson(one, two, one2, two2, level)
    return Estimate(value, low, high, level, "Wilson")
