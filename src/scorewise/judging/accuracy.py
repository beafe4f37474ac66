"""Judges against the truth, against humans and against each other: accuracy, kappa, categories, grades."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Annotated, Any, TypeAlias

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.columns.ratings import Scale
from scorewise.estimate import Estimate
from scorewise.inference.clusters import cluster_gap, cluster_mean, widened_mean
from scorewise.inference.paired import holm
from scorewise.inference.scales import effective, limits, pooled_spread, student_chance, wald
from scorewise.inference.shares import matched_difference, share_of_cells, sign_test
from scorewise.judging.kappas import Term, clustered_kappa, combined, kappa_of, why_no_kappa
from scorewise.judging.reading import Codes, Panel
from scorewise.show.estimates import EstimateField, ShareOrNaN
from scorewise.show.fields import Count, OfTwo, Record, Share, means, says
from scorewise.tallies import Confusion
from scorewise.tallies.formulas import mid_ranks

Items: TypeAlias = Annotated[Count, says("Items that both rated.")]
Accuracy: TypeAlias = Annotated[EstimateField, says("Share of items on which both say the same.")]
Adjusted: TypeAlias = Annotated[ShareOrNaN, says("Its p-value adjusted for all pairs (Holm).")]


class Category(Record):
    """How often a judge uses a category, and how far that use is right."""

    category: str
    truth: ShareOrNaN = means("Share of items that are in it in truth.")
    judge: ShareOrNaN = means("Share of items that the judge puts in it.")
    p: ShareOrNaN = means("P-value of both being the same (McNemar).")
    precision: EstimateField = means("Share of the judge's uses that are right.")
    recall: EstimateField = means("Share of its items that the judge finds.")


def agreement(panel: Panel, first: Codes, second: Codes, level: float) -> dict[str, Any]:
    """Two columns on the items that have both: their number, accuracy and kappa."""
    c, both = panel.confusion(first, second), (first >= 0) & (second >= 0)
    right, kappa = accuracy(c, level), kappa_of(c, panel.agreement, level)
    if panel.cluster is not None:
        columns = (np.asarray(panel.weight[both], np.float64), panel.cluster[both])
        if right.defined:
            same = (first == second)[both].astype(np.float64)
            right = widened_mean(right, same, *columns, (0.0, 1.0))
        kappa = clustered_kappa(kappa, c, panel, first[both], second[both], *columns)
    return {"items": panel.items(both), "accuracy": right, "kappa": kappa}


def accuracy(c: Confusion, level: float) -> Estimate:
    """Share of items on which both say the same; the baseline always says what is most frequent.

    >>> accuracy(Confusion.counts(tp=20, fp=5, fn=10, tn=15), 0.95)
    0.700 [0.562, 0.809]
    """
    right: Bools = np.eye(len(c.weight), dtype=bool)
    found = _share(c, right, ~right, level, "no item is rated by both")
    most = c.weight.sum(1).max() / c.weight.sum() if found.defined else None
    return replace(found, baseline=None if most is None else float(most))


def categories(c: Confusion, level: float) -> list[Category]:
    """The base rates of each category, and the judge's precision and recall in it."""
    w, w2 = c.weight.astype(float), c.weight2.astype(float)
    total = w.sum() or np.nan
    found = []
    for k, name in enumerate(c.classes):
        own, more, less = np.zeros((3, *w.shape), bool)
        own[k, k], more[:, k], less[k] = True, True, True
        more[k, k], less[k, k] = False, False
        p = sign_test(*(float(x[at].sum()) for x in (w, w2) for at in (more, less)))
        found.append(
            Category(
                category=name,
                truth=float(w[k].sum() / total),
                judge=float(w[:, k].sum() / total),
                p=p,
                precision=_share(c, own, more, level, f"never says {name}"),
                recall=_share(c, own, less, level, f"no item is {name}"),
            )
        )
    return found


def _share(c: Confusion, hit: Bools, miss: Bools, level: float, why: str) -> Estimate:
    """The share of some cells among those and others, with its Wilson interval."""
    w, w2 = c.weight.astype(float), c.weight2.astype(float)
    if not w[hit | miss].any():
        return Estimate.undefined(why, level)
    return Estimate(*share_of_cells(w, w2, hit, miss, level), level, "Wilson")


# A judge that grades: whether it grades higher or lower than the truth, how far off, in which order.


class Grades(Record):
    """The judge's grades against those of the truth."""

    items: Count = means("Items that both graded.")
    difference: EstimateField = means("Mean of judge minus truth; in places of an ordinal scale.")
    higher: Share = means("Share of items that the judge grades higher.")
    same: Share = means("Share of items that it grades the same.")
    lower: Share = means("Share of items that it grades lower.")
    p: Share = means("P-value of the sign test of higher against lower.")
    near: EstimateField = means("Share of items off by one step at most.")
    step: float = means("The least distance of two ratings that occur.", ge=0)
    ranks: EstimateField = means("Spearman's rank correlation.")


def grades(panel: Panel, judge: str, scale: Scale, level: float) -> Grades | None:
    """The grades of a judge on the items with a truth; None where ratings have no order."""
    codes, truth = panel.answers[judge], panel.truth
    items = panel.items((codes >= 0) & (truth >= 0))
    if scale == "nominal" or not items:
        return None
    many = len(panel.words)
    value = np.arange(many, dtype=np.float64) if scale == "ordinal" else panel.values
    c = panel.confusion(truth, codes)
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
    return Grades(
        items=items,
        difference=_mean_grade(gap, w, w2, level),
        higher=more / total,
        same=same / total,
        lower=less / total,
        p=sign_test(more, less, more2, less2),
        near=Estimate(*share_of_cells(w, w2, near, ~near, level), level, "Wilson"),
        step=step,
        ranks=spearman(w, w2, value, level),
    )


def _mean_grade(gap: Floats, w: Floats, w2: Floats, level: float) -> Estimate:
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
    margins = share.sum(1), share.sum(0)
    ranks = [mid_ranks(m, value) for m in margins]
    a, b = (x - float((m * x).sum()) for m, x in zip(margins, ranks, strict=True))
    spread = float((margins[0] * a * a).sum()) * float((margins[1] * b * b).sum())
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


# Two judges on the same items.


class Difference(OfTwo):
    """The first judge minus the second."""

    items: Count = means("Items that both answered, with a truth.")
    only_first: ShareOrNaN
    only_second: ShareOrNaN
    accuracy: EstimateField = means("Difference in accuracy.")
    accuracy_adjusted: Adjusted = math.nan
    kappa: EstimateField = means("Difference in kappa.")
    kappa_adjusted: Adjusted = math.nan


def differences(panel: Panel, draws: dict[str, Any]) -> list[Difference]:
    """Each two judges on the items that both answered and that have a truth."""
    found = [_difference(panel, a, b, draws) for a, b in combinations(panel.judges, 2)]
    tests = ([math.nan if e.p is None else e.p for e in (d.accuracy, d.kappa)] for d in found)
    adjusted = (holm(list(p)) for p in zip(*tests, strict=True))
    return [
        replace(d, accuracy_adjusted=a, kappa_adjusted=k)
        for d, a, k in zip(found, *adjusted, strict=True)
    ]


def _difference(panel: Panel, first: str, second: str, draws: dict[str, Any]) -> Difference:
    a, b, truth = panel.judges[first], panel.judges[second], panel.truth
    both = (a >= 0) & (b >= 0) & (truth >= 0)
    shared = np.where(both, truth, -1)
    right, other = (a == truth) & both, (b == truth) & both
    one, two = panel.sums(right & ~other), panel.sums(other & ~right)
    everything = total, _ = panel.sums(both)
    return Difference(
        first=first,
        second=second,
        items=panel.items(both),
        only_first=one[0] / total if total else math.nan,
        only_second=two[0] / total if total else math.nan,
        accuracy=_accuracy(one, two, everything, draws["level"])
        if panel.cluster is None or not total
        else _clustered_gap(panel, both, right.astype(np.float64) - other, draws["level"]),
        kappa=combined(panel, [Term(1.0, shared, a), Term(-1.0, shared, b)], **draws),
    )


def _clustered_gap(panel: Panel, both: Bools, gap: Floats, level: float) -> Estimate:
    """The difference in accuracy on items that come in clusters, by Student's t."""
    assert panel.cluster is not None
    weight, cluster = np.asarray(panel.weight[both], np.float64), panel.cluster[both]
    cluster = np.unique(cluster, return_inverse=True)[1]
    e = cluster_gap(gap[both], weight, cluster, level)
    mean, error, many = cluster_mean(gap[both], weight, cluster)
    p = student_chance(mean / error, many - 1) if 1e-13 < error < math.inf else None
    return replace(e, baseline=None, p=1.0 if e.low == e.high else p)


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


# How well humans agree with one another, and whether a judge agrees with them as well.


Columns: TypeAlias = Sequence[tuple[Codes, Codes]]


class AgainstHuman(Record):
    """A judge against one human."""

    name: str
    items: Items
    accuracy: Accuracy
    kappa: EstimateField


class HumanPair(OfTwo):
    """Two humans on the items that both rated."""

    items: Items
    accuracy: Accuracy
    kappa: EstimateField


class Ceiling(Record):
    """How well humans agree with one another."""

    pairs: list[HumanPair] = means("Each two humans.", min_length=1)
    kappa: EstimateField = means("Mean kappa of the pairs.")


class BesideHumans(Record):
    """A judge where each human stood: against the humans one by one, and against most of the others."""

    single: EstimateField = means("Mean kappa of the judge with each human.")
    single_gap: EstimateField = means("That minus the mean kappa of two humans.")
    human: EstimateField = means(
        "Mean kappa of each human with the most frequent rating of the others."
    )
    judge: EstimateField = means(
        "Mean kappa of the judge with the same ratings, on the same items."
    )
    gap: EstimateField = means("Judge minus human.")


def ceiling(panel: Panel, draws: dict[str, Any]) -> Ceiling | None:
    """How well humans agree with one another; None where there is one of them."""
    humans, level = panel.humans, draws["level"]
    if len(humans) < 2:
        return None
    pairs = [
        HumanPair(first=a, second=b, **agreement(panel, humans[a], humans[b], level))
        for a, b in combinations(humans, 2)
    ]
    return Ceiling(pairs=pairs, kappa=_gap(panel, _with_kappa(panel, pairs), None, draws))


def _with_kappa(panel: Panel, pairs: Sequence[HumanPair]) -> Columns:
    """The columns of each two humans who have a kappa."""
    return [(panel.humans[p.first], panel.humans[p.second]) for p in pairs if p.kappa.defined]


def beside_humans(panel: Panel, judge: Codes, top: Ceiling, draws: dict[str, Any]) -> BesideHumans:
    """A judge against the ceiling: each item resampled for humans and judge together."""
    single = _defined(panel, [(judge, codes) for codes in panel.humans.values()])
    human, own = [], []
    for name, codes in panel.humans.items():
        rest = panel.others(name)
        shared = np.where((codes >= 0) & (judge >= 0), rest, -1)
        if len(_defined(panel, [(shared, codes), (shared, judge)])) == 2:
            human.append((shared, codes))
            own.append((shared, judge))
    return BesideHumans(
        single=_gap(panel, single, None, draws),
        single_gap=_gap(panel, single, _with_kappa(panel, top.pairs), draws),
        human=_gap(panel, human, None, draws),
        judge=_gap(panel, own, None, draws),
        gap=_gap(panel, own, human, draws),
    )


def _defined(panel: Panel, pairs: Columns) -> Columns:
    """Those pairs that have a kappa."""
    return [pair for pair in pairs if not why_no_kappa(panel.confusion(*pair), panel.agreement)]


def _gap(panel: Panel, first: Columns, second: Columns | None, draws: dict[str, Any]) -> Estimate:
    """The mean kappa of pairs of columns, less that of others where there are such, and tested then."""
    if not first or (second is not None and not second):
        return Estimate.undefined("no two have a kappa", draws["level"])
    terms = [
        Term(sign / len(pairs), a, b)
        for sign, pairs in ((1.0, first), (-1.0, second or ()))
        for a, b in pairs
    ]
    return combined(panel, terms, **draws, tested=second is not None)
