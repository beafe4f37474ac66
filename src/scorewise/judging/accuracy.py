"""A judge against the truth, against other judges, and beside humans: accuracy, kappa, base rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools
from scorewise.estimate import Estimate
from scorewise.inference.paired import holm
from scorewise.inference.scales import effective
from scorewise.inference.shares import matched_difference, sign_test, wilson_of_cells
from scorewise.judging.kappas import Term, combined, kappa_of, why_no_kappa
from scorewise.judging.panel import Panel
from scorewise.judging.reading import Codes
from scorewise.tallies import Confusion

Columns: TypeAlias = Sequence[tuple[Codes, Codes]]


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
    value, low, high = wilson_of_cells(w, w2, hit, miss, level)
    return Estimate(value, low, high, level, "Wilson")


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


@dataclass(frozen=True)
class HumanPair:
    """Two humans on the items that both rated."""

    first: str
    second: str
    found: Against


@dataclass(frozen=True)
class Ceiling:
    """The pairs of humans, and the mean of their kappas; `columns` are the pairs that have one."""

    pairs: tuple[HumanPair, ...]
    mean: Estimate
    columns: Columns


@dataclass(frozen=True)
class BesideHumans:
    """A judge where each human stood: against the humans one by one, and against most of the others.

    `single` is the mean kappa of the judge with each human, `single_gap` that minus the mean kappa of two
    humans. `human` is the mean kappa of each human with most of the others, `judge` that of the judge with
    the same, on the same items; `gap` is judge minus human.
    """

    single: Estimate
    single_gap: Estimate
    human: Estimate
    judge: Estimate
    gap: Estimate


def ceiling(panel: Panel, draws: dict[str, Any]) -> Ceiling | None:
    """How well humans agree with one another; None where there is one of them."""
    if len(panel.humans) < 2:
        return None
    pairs = tuple(
        HumanPair(a, b, against(panel, a, panel.humans[a], panel.humans[b], draws["level"]))
        for a, b in combinations(panel.humans, 2)
    )
    columns = [
        (panel.humans[p.first], panel.humans[p.second]) for p in pairs if p.found.kappa.defined
    ]
    return Ceiling(pairs, _mean(panel, columns, draws), columns)


def beside_humans(
    panel: Panel, judge: Codes, between: Columns, draws: dict[str, Any]
) -> BesideHumans:
    """A judge against the ceiling: each item resampled for humans and judge together."""
    single = _defined(panel, [(judge, codes) for codes in panel.humans.values()])
    human, own = [], []
    for name, codes in panel.humans.items():
        rest = panel.others(name)
        shared = np.where((codes >= 0) & (judge >= 0), rest, -1).astype(np.int32)
        if len(_defined(panel, [(shared, codes), (shared, judge)])) == 2:
            human.append((shared, codes))
            own.append((shared, judge))
    return BesideHumans(
        _mean(panel, single, draws),
        _gap(panel, single, between, draws),
        _mean(panel, human, draws),
        _mean(panel, own, draws),
        _gap(panel, own, human, draws),
    )


def _defined(panel: Panel, pairs: Columns) -> Columns:
    """Those pairs that have a kappa."""
    return [pair for pair in pairs if not why_no_kappa(panel.confusion(*pair), panel.agreement)]


def _terms(pairs: Columns, sign: float) -> list[Term]:
    return [Term(sign / len(pairs), a, b) for a, b in pairs]


def _mean(panel: Panel, pairs: Columns, draws: dict[str, Any]) -> Estimate:
    if not pairs:
        return Estimate.undefined("no two have a kappa", draws["level"])
    return combined(panel, _terms(pairs, 1.0), **draws, tested=False)


def _gap(panel: Panel, first: Columns, second: Columns, draws: dict[str, Any]) -> Estimate:
    if not first or not second:
        return Estimate.undefined("no two have a kappa", draws["level"])
    return combined(panel, [*_terms(first, 1.0), *_terms(second, -1.0)], **draws)
