"""Judges against the truth, humans, each other and themselves: accuracy, kappa, categories, grades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Annotated, Any, TypeAlias

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.estimate import Estimate
from scorewise.inference.differences import holm
from scorewise.inference.means import (
    cluster_mean,
    cluster_variance,
    mean_estimate,
    row_mean,
    widened_test,
)
from scorewise.inference.scales import effective_size, t_p_value, wald
from scorewise.inference.shares import share_of_cells, sign_test, tango_limits, wilson
from scorewise.judging.kappas import Two, combined
from scorewise.judging.panel import Codes, Panel
from scorewise.show.records import (
    Count,
    EstimateField,
    PairNames,
    Record,
    Share,
    ShareOrNaN,
    doc,
    field,
)
from scorewise.statistics.formulas import category_midranks
from scorewise.tallies import Confusion

Items: TypeAlias = Annotated[Count, doc("Items that both rated.")]
Accuracy: TypeAlias = Annotated[EstimateField, doc("Share of items on which both say the same.")]
Adjusted: TypeAlias = Annotated[ShareOrNaN, doc("Its p-value adjusted for all pairs (Holm).")]


def agreement(two: Two) -> dict[str, Any]:
    """Two columns on the items that have both: their number, accuracy and kappa."""
    panel = two.panel
    found = {"accuracy": accuracy(two.table, panel.settings.level), "kappa": two.kappa()}
    if panel.cluster is not None:
        for measure, bounds in (("accuracy", (0.0, 1.0)), ("kappa", (-1.0, 1.0))):
            e, moved = found[measure], two.influence(measure)[two.both]
            if e.defined:
                variances = cluster_variance(moved, panel.cluster[two.both])
                found[measure] = widened_test(e, *variances, bounds)
    return {"items": panel.items(two.both), **found}


def accuracy(c: Confusion, level: float) -> Estimate:
    """Share of items on which both say the same; the baseline always says what is most frequent.

    >>> accuracy(Confusion.counts(tp=20, fp=5, fn=10, tn=15), 0.95)
    0.700 [0.562, 0.809]
    """
    right: Bools = np.eye(len(c.weight), dtype=bool)
    e = _share(c, right, ~right, level, "no item is rated by both")
    return replace(e, baseline=float(c.weight.sum(1).max() / c.weight.sum())) if e.defined else e


def _share(c: Confusion, hit: Bools, miss: Bools, level: float, why: str) -> Estimate:
    """The share of some cells among those and others, with its Wilson interval."""
    w, w2 = c.weight.astype(float), c.weight2.astype(float)
    if not w[hit | miss].any():
        return Estimate.undefined(why, level)
    return Estimate(*share_of_cells(w, w2, hit, miss, level), level, "Wilson")


class Category(Record):
    """How often a judge uses a category, and how far that use is right."""

    category: str
    truth: ShareOrNaN = field("Share of items that are in it in truth.")
    judge: ShareOrNaN = field("Share of items that the judge puts in it.")
    p: ShareOrNaN = field("P-value of both being the same (McNemar).")
    precision: EstimateField = field("Share of the judge's uses that are right.")
    recall: EstimateField = field("Share of its items that the judge finds.")


def categories(c: Confusion, level: float) -> list[Category]:
    """The base rates of each category, and the judge's precision and recall in it."""
    w, w2 = c.weight.astype(float), c.weight2.astype(float)
    total = w.sum() or np.nan
    each = []
    for k, name in enumerate(c.classes):
        hit, false, missed = np.zeros((3, *w.shape), bool)
        hit[k, k], false[:, k], missed[k] = True, True, True
        false[k, k], missed[k, k] = False, False
        each.append(
            Category(
                category=name,
                truth=float(w[k].sum() / total),
                judge=float(w[:, k].sum() / total),
                p=sign_test(*(float(x[at].sum()) for x in (w, w2) for at in (false, missed))),
                precision=_share(c, hit, false, level, f"never says {name}"),
                recall=_share(c, hit, missed, level, f"no item is {name}"),
            )
        )
    return each


# A judge that grades: whether it grades higher or lower than the truth, how far off, in which order.


class Grades(Record):
    """The judge's grades against those of the truth."""

    items: Count = field("Items that both graded.")
    difference: EstimateField = field("Mean of judge minus truth; in places of an ordinal scale.")
    higher: Share = field("Share of items that the judge grades higher.")
    same: Share = field("Share of items that it grades the same.")
    lower: Share = field("Share of items that it grades lower.")
    p: Share = field("P-value of the sign test of higher against lower.")
    near: EstimateField = field("Share of items off by one step at most.")
    step: float = field("The least distance of two ratings that occur.", ge=0)
    ranks: EstimateField = field("Spearman's rank correlation.")


def grades(panel: Panel, judge: str) -> Grades | None:
    """The grades of a judge on the items with a truth; None where ratings have no order."""
    codes, truth, level = panel.answers[judge], panel.truth, panel.settings.level
    items = panel.items((codes >= 0) & (truth >= 0))
    if panel.settings.scale == "nominal" or not items:
        return None
    many = len(panel.words)
    places = panel.settings.scale == "ordinal"
    value = np.arange(many, dtype=np.float64) if places else panel.values
    c = Two(panel, truth, codes).table
    # neither huge nor tiny
    scaled = (c.weight * c.scale, c.weight2 * c.scale * c.scale)
    w, w2 = (np.asarray(x[:many, :many], np.float64) for x in scaled)
    gap, total = value[None, :] - value[:, None], float(w.sum())
    used = np.unique(value[(w.sum(0) > 0) | (w.sum(1) > 0)])
    step = float(np.diff(used).min()) if len(used) > 1 else 0.0
    more, same, less, more2, _, less2 = (
        float(x[at].sum()) for x in (w, w2) for at in (gap > 0, gap == 0, gap < 0)
    )
    near = np.abs(gap) <= step * (1 + 1e-9)
    mean, error, n = row_mean(gap, w, w2)
    difference = Estimate(
        mean, level=level, method="none: every difference is the same", baseline=0.0
    )
    if 1e-13 * max(abs(mean), 1.0) < error < math.inf:
        difference = mean_estimate(mean, error, n, level, "Student")
    return Grades(
        items=items,
        difference=difference,
        higher=more / total,
        same=same / total,
        lower=less / total,
        p=sign_test(more, less, more2, less2),
        near=Estimate(*share_of_cells(w, w2, near, ~near, level), level, "Wilson"),
        step=step,
        ranks=spearman(w, w2, value, level),
    )


def spearman(w: Floats, w2: Floats, value: Floats, level: float) -> Estimate:
    """The correlation of mid-ranks in a table of (truth, judge).

    The interval is that of Bonett and Wright (2000).

    >>> table = np.array([[3.0, 1, 0], [1, 4, 1], [0, 1, 5]])
    >>> spearman(table, table, np.arange(3.0), 0.95)
    0.797 [0.435, 0.937]
    """
    share = w / w.sum()
    margins = share.sum(1), share.sum(0)
    ranks = [category_midranks(m, value) for m in margins]
    a, b = (x - float((m * x).sum()) for m, x in zip(margins, ranks, strict=True))
    variance = float((margins[0] * a * a).sum()) * float((margins[1] * b * b).sum())
    if variance < 1e-24:
        return Estimate.undefined("the judge or the truth always has the same rank", level)
    r = float((share * a[:, None] * b).sum()) / math.sqrt(variance)
    r = min(max(r, -1.0), 1.0)
    n = effective_size(float(w.sum()), float(w2.sum()))
    if n <= 4 or 1 - abs(r) < 1e-12:
        why = "none: the same order" if n > 4 else "none: too few items"
        return Estimate(r, level=level, method=why, baseline=0.0)
    # wald() divides by 1 - r^2, as the slope of atanh does
    error = math.sqrt((1 + r * r / 2) / (n - 3)) * (1 - r * r)
    low, high = wald(r, error, level, "atanh")
    return Estimate(r, low, high, level, "Bonett-Wright", baseline=0.0)


# A judge asked twice, with the two answers in exchanged positions.


class Repeated(Record):
    """A judge asked again with positions exchanged: whether it says the same in either order."""

    items: Count = field("Items with both verdicts.")
    consistent: EstimateField = field("Share of items with the same verdict.")
    kappa: EstimateField = field("Kappa of the two runs.")
    first: EstimateField = field(
        "Share of position-bound verdicts that lean to the first; p-value of an even split."
    )
    leaning: tuple[Count, Count] = field("Items leaning to the first and to the second.")


def repeated(panel: Panel, judge: str) -> Repeated | None:
    """The two runs of a judge; None where there is one."""
    if judge not in panel.swapped or panel.swap is None:
        return None
    level, categories = panel.settings.level, len(panel.categories)
    to = np.append(np.arange(categories), -1).astype(np.int32)
    side = np.zeros(categories + 1, np.int32)
    to[: len(panel.words)], side[: len(panel.words)] = panel.swap
    once, again = panel.judges[judge], to[panel.swapped[judge]]
    both = Two(panel, once, again)
    lean = np.where(both.both & (once != again), side[once] + side[panel.swapped[judge]], 0)
    (one, one2), (two, two2) = panel.sums(lean > 0), panel.sums(lean < 0)
    first = Estimate.undefined("no verdict depends on the position", level)
    if one + two:
        p, how = sign_test(one, two, one2, two2), "Wilson; exact binomial"
        first = Estimate(*wilson(one, two, one2, two2, level), level, how, baseline=0.5, p=p)
    return Repeated(
        items=panel.items(both.both),
        consistent=replace(accuracy(both.table, level), baseline=None),
        kappa=both.kappa(),
        first=first,
        leaning=(panel.items(lean > 0), panel.items(lean < 0)),
    )


# Two judges on the same items.


class Difference(PairNames):
    """The first judge minus the second."""

    items: Count = field("Items that both answered, with a truth.")
    only_first: ShareOrNaN
    only_second: ShareOrNaN
    accuracy: EstimateField = field("Difference in accuracy.")
    accuracy_adjusted: Adjusted = math.nan
    kappa: EstimateField = field("Difference in kappa.")
    kappa_adjusted: Adjusted = math.nan


def differences(panel: Panel) -> list[Difference]:
    """Each two judges on the items that both answered and that have a truth."""
    found = [_difference(panel, a, b) for a, b in combinations(panel.judges, 2)]
    p = [[math.nan if e.p is None else e.p for e in (d.accuracy, d.kappa)] for d in found]
    adjusted = zip(*(holm(list(tests)) for tests in zip(*p, strict=True)), strict=True)
    return [
        replace(d, accuracy_adjusted=a, kappa_adjusted=k)
        for d, (a, k) in zip(found, adjusted, strict=True)
    ]


def _difference(panel: Panel, first: str, second: str) -> Difference:
    a, b, truth, level = (
        *(panel.judges[n] for n in (first, second)),
        panel.truth,
        panel.settings.level,
    )
    both = (a >= 0) & (b >= 0) & (truth >= 0)
    shared, gap = np.where(both, truth, -1), both * ((a == truth) * 1.0 - (b == truth))
    one, two, whole = (panel.sums(x) for x in (gap > 0, gap < 0, both))
    accuracy = _accuracy_gap(one, two, whole, level)
    if panel.cluster is not None and whole[0]:
        weight, cluster = np.asarray(panel.weight[both], np.float64), panel.cluster[both]
        mean, error, many = cluster_mean(gap[both], weight, cluster)
        e = mean_estimate(mean, error, many, level, "t, paired; by cluster")
        p = t_p_value(mean / error, many - 1) if 1e-13 < error < math.inf else None
        accuracy = replace(e, baseline=None, p=1.0 if e.low == e.high else p)
    return Difference(
        first=first,
        second=second,
        items=panel.items(both),
        only_first=one[0] / whole[0] if whole[0] else math.nan,
        only_second=two[0] / whole[0] if whole[0] else math.nan,
        accuracy=accuracy,
        kappa=combined([(1.0, Two(panel, shared, a)), (-1.0, Two(panel, shared, b))]),
    )


def _accuracy_gap(
    one: tuple[float, float], two: tuple[float, float], whole: tuple[float, float], level: float
) -> Estimate:
    """Tango's interval for as many items as are as uncertain, and McNemar's exact test."""
    total = whole[0]
    if not total:
        return Estimate.undefined("no labelled item is answered by both", level)
    p, q = one[0] / total, two[0] / total
    gap = p - q
    # the variance with weights: of items that are 1, -1 or 0
    variance = one[1] * (1 - gap) ** 2 + two[1] * (1 + gap) ** 2
    variance = (variance + (whole[1] - one[1] - two[1]) * gap**2) / total**2
    of_one = p + q - gap**2
    # items that are lighter than rounding say nothing
    n = of_one / variance if of_one > 1e-14 and variance > 0 else effective_size(*whole)
    low, high = tango_limits(n * p, n * q, n, level)
    test = sign_test(one[0], two[0], one[1], two[1])
    return Estimate(gap, min(low, gap), max(high, gap), level, "Tango; McNemar exact", p=test)


# How well humans agree with one another, and whether a judge agrees with them as well.


class AgainstHuman(Record):
    """A judge against one human."""

    name: str
    items: Items
    accuracy: Accuracy
    kappa: EstimateField


class HumanPair(PairNames):
    """Two humans on the items that both rated."""

    items: Items
    accuracy: Accuracy
    kappa: EstimateField


class Ceiling(Record):
    """How well humans agree with one another."""

    pairs: list[HumanPair] = field("Each two humans.", min_length=1)
    kappa: EstimateField = field("Mean kappa of the pairs.")


class BesideHumans(Record):
    """A judge where each human stood: against the humans one by one, and against most of the others."""

    single: EstimateField = field("Mean kappa of the judge with each human.")
    single_gap: EstimateField = field("That minus the mean kappa of two humans.")
    human: EstimateField = field(
        "Mean kappa of each human with the most frequent rating of the others."
    )
    judge: EstimateField = field(
        "Mean kappa of the judge with the same ratings, on the same items."
    )
    gap: EstimateField = field("Judge minus human.")


def ceiling(panel: Panel) -> Ceiling | None:
    """How well humans agree with one another; None where there is one of them."""
    if len(panel.humans) < 2:
        return None
    pairs = [
        HumanPair(first=a, second=b, **agreement(Two(panel, x, y)))
        for (a, x), (b, y) in combinations(panel.humans.items(), 2)
    ]
    return Ceiling(pairs=pairs, kappa=_mean_kappa(panel, _two_humans(panel)))


def _two_humans(panel: Panel) -> list[Two]:
    """Each two humans who have a kappa."""
    pairs = [Two(panel, a, b) for a, b in combinations(panel.humans.values(), 2)]
    return [two for two in pairs if not (two.why or two.coefficient.why)]


def beside_humans(panel: Panel, judge: Codes) -> BesideHumans:
    """A judge against the ceiling: each item resampled for humans and judge together."""
    single = [Two(panel, judge, codes) for codes in panel.humans.values()]
    human, own = [], []
    for name, codes in panel.humans.items():
        shared = np.where((codes >= 0) & (judge >= 0), panel.others(name), -1)
        pair = Two(panel, shared, codes), Two(panel, shared, judge)
        if not any(two.why for two in pair):
            human.append(pair[0])
            own.append(pair[1])
    return BesideHumans(
        single=_mean_kappa(panel, single),
        single_gap=_mean_kappa(panel, single, _two_humans(panel)),
        human=_mean_kappa(panel, human),
        judge=_mean_kappa(panel, own),
        gap=_mean_kappa(panel, own, human),
    )


def _mean_kappa(panel: Panel, pairs: Sequence[Two], less: Sequence[Two] | None = None) -> Estimate:
    """The mean kappa of pairs that have one, less that of others where there are such, tested then."""
    sides = [[two for two in side if not two.why] for side in (pairs, less) if side is not None]
    if not all(sides):
        return Estimate.undefined("no two have a kappa", panel.settings.level)
    signs = zip((1.0, -1.0), sides, strict=False)
    terms = [(sign / len(side), two) for sign, side in signs for two in side]
    return combined(terms, tested=less is not None)
