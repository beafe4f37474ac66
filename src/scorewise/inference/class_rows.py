"""The influence of each row on measures of several classes, and their variances.

The scores of one row for all classes go together, so intervals cannot be put together from those of each
class. Each row's influence is added up over the classes first, and then squared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.inference.ranking import precision_influence
from scorewise.inference.scales import (
    Component,
    Variance,
    effective_size,
    pooled_variance,
    sandwich,
)
from scorewise.inference.shares import Share
from scorewise.inference.tables import mean_share, shrunk
from scorewise.statistics.formulas import midranks
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.losses import class_probabilities

FEW = 100  # rows of a class in a sample, below which they do not stand for it (fewer, of many classes)
STEADY = 4.0  # rows of each class that vary as usual, for the variance of a mean over classes
STEADY_PRECISION = 8.0  # the same for average precision
MAX_SCORES = 1 << 19  # scores that are looked at: all rows that `joint` has, of up to 32 classes


class Sample(NamedTuple):
    """Whole rows: probabilities of all classes, the true class, weights that add up to 1, their squares.

    `there` are the classes that are judged by these rows, `many` is how many occur in all, `known` is by
    what variances shrink from these rows to all.
    """

    p: Floats
    y: NDArray[np.int64]
    w: Floats
    w2: Floats
    there: NDArray[np.int64]
    many: int
    known: float = 1.0


def sampled(t: ClassTally, min_rows: int = FEW) -> Sample:
    """All rows that `joint` has, or the first of them where there are very many classes.

    Where that is a sample, classes of which it has few rows are left out.
    """
    assert t.joint is not None
    k, there = len(t.classes), t.weight > 0
    # rows are in the order of a hash of their content: the first ones are a random sample
    rows = max(MAX_SCORES // k, 1 << 11)
    scores, y = t.joint.scores[:rows], t.joint.y[:rows]
    w, w2 = (x[:rows].astype(np.float64) for x in (t.joint.weight, t.joint.weight2))
    complete = len(t.joint.y) <= rows and t.joint.whole
    if not complete:
        there = np.bincount(y, minlength=k) >= max(1, min(min_rows, len(y) / (4 * k)))
        used = there[y]
        scores, y, w, w2 = scores[used], y[used], w[used], w2[used]
    unit = w.sum()
    w, w2 = w / unit, w2 / unit / unit
    fraction = 1.0 if complete else t.joint.total2 / t.joint.total**2 / float(w2.sum())
    p = class_probabilities(scores, t.kind)
    return Sample(p, y, w, w2, np.flatnonzero(there), int((t.weight > 0).sum()), fraction)


class Terms(NamedTuple):
    """What a mean over classes is made of: a value between 0 and 1 for each class that occurs.

    `part` is by how much the mean follows the rows of each class, `alone` gives the variance of the
    value of one class, and `times` is how much more there is at most if the values of other classes
    depend on the same rows.
    """

    values: Floats
    part: Floats
    alone: Callable[[Tally], Variance]
    times: float = 1.0


def variance_of_rows(
    t: ClassTally, influence: Callable[[Sample], Floats], terms: Terms | None = None
) -> Variance:
    """Variance of a measure, as the sum of squared influences of rows drawn at random.

    `influence` gives what a unit of weight on each row adds. Where only a sample of the rows is
    known, the variance is scaled to all of them. The degrees of freedom are Welch's, by true class, and
    fewer where a few rows bring most of the variance.

    In a mean over classes, `terms`, a rare class counts as much as others, and its few rows say little of
    their variance: see `steadied`.
    """
    if terms is None:
        s = sampled(t, 1)
        # the distance of a single row from its own mean, 0, says nothing; others make up for it
        return pooled_variance(*(p._replace(rows=max(p.rows, 2.0)) for p in _parts(s, influence)))
    components = parts_of_terms(t, influence, terms)
    variance, df = steadied(t, components, terms)
    total = float(variance.sum())
    if not 0 < total < math.inf:
        return Variance(total, math.nan)
    share = variance / total
    df_of_all = sum(
        max(p.rows - 1, 0.0) for p in components
    )  # from which also comes what rows usually do
    return Variance(total, min(1 / float((share * share / df).sum()), df_of_all))


def mean_precision(t: ClassTally, terms: Terms, level: float) -> Share:
    """The mean of average precisions, with the score interval of a mean of shares.

    Each is a share of as many rows as make it as uncertain; where few rows of a class say how much that
    is, of as many as the class has (Boyd, Eng and Page 2013). The lower end starts from the mean less its
    bias: the precision that a positive gets counts the positive; without it, it would have that of the rows
    above. A mean over many classes makes the variance small, but not this.
    """
    variance, _ = steadied(t, parts_of_terms(t, of_average_precisions, terms), terms, 1.0)
    rows = effective_size(t.weight, t.weight2)[t.weight > 0]
    even = shrunk(terms.values, rows)
    binomial = terms.part**2 * even * (1 - even)
    # precisions that are all 1 do not vary, and are shares of the rows themselves
    worth = np.divide(binomial, variance, out=rows, where=(variance > 0) & (binomial > 0))
    seen, s, bias = mean_share(terms.values, worth, level), sampled(t), 0.0
    for c in s.there:
        up = s.y == c
        at, neg, pos = _cells(-s.p[:, c], up, s.w)
        tp, above = (x.cumsum()[at[up]] for x in (pos, neg + pos))
        weight = s.w2[up] / s.w[up]  # of equal rows, the weight of each
        rest = np.where(above - weight > 1e-9 * above, above - weight, np.inf)
        excess = weight * (above - tp) / above / rest
        bias += float((s.w[up] * excess).sum() / s.w[up].sum())
    return seen._replace(low=max(0.0, seen.low - s.known * bias / s.many))


def steadied(
    t: ClassTally, components: list[Component], terms: Terms, usual: float | None = None
) -> tuple[Floats, Floats]:
    """Variances by the rows of each class as if a few more rows of it had been seen, and their df.

    These vary as rows usually do: by value (1 - value) times `usual`, which unless known is what the rows
    of all classes say together. For this alone each value is drawn towards the mean by half a row.
    """
    more = STEADY if usual is None else STEADY_PRECISION
    rows = effective_size(t.weight, t.weight2)[t.weight > 0]
    variance, known, df = (np.array(x) for x in zip(*components, strict=True))
    # of one row, up to rounding, nothing is seen
    free = np.where(known < 1 + 1e-9, 0.0, known - 1)
    seen = variance * np.where(free > 0, known / np.where(free > 0, free, 1), 0)
    even = shrunk(terms.values, rows)
    even_variance = terms.part**2 * even * (1 - even) / rows
    if usual is None:
        there = even_variance > 0
        usual = (
            float((free * seen)[there] @ (1 / even_variance[there]) / free.sum())
            if free.any()
            else 0.0
        )
    return (free * seen + more * usual * even_variance) / (free + more), np.minimum(free, df) + more


def parts_of_terms(
    t: ClassTally, influence: Callable[[Sample], Floats], terms: Terms
) -> list[Component]:
    """The variance by the rows of each class that occurs.

    A class of which the sample has few rows is judged by all its rows, alone.
    """
    s = sampled(t)
    components = dict(zip(s.there.tolist(), _parts(s, influence), strict=True))
    if len(components) == s.many:
        return list(components.values())
    there = np.flatnonzero(t.weight > 0).tolist()
    rows = {c: effective_size(t.weight[c], t.weight2[c]) for c in there}
    rare = [c for c in there if c not in components]
    alone = (*rare, *s.there[: len(components) < 2])
    variances = {c: terms.alone(t.one(t.classes[c])).variance for c in alone}
    if len(components) < 2:
        # all classes but one are rare: its value depends on their rows, at most wholly
        error = sum(math.sqrt(v) for v in variances.values()) / s.many
        fewest = min(rare, key=rows.__getitem__)
        return [Component(error**2 if c == fewest else 0.0, rows[c]) for c in there]
    components |= {c: Component(terms.times * variances[c] / s.many**2, rows[c]) for c in rare}
    return [components[c] for c in there]


def _parts(s: Sample, influence: Callable[[Sample], Floats]) -> list[Component]:
    """The variance by the rows of each class, how many rows that is known from, and its df."""
    added, components = influence(s), []
    for c in s.there:
        of_class = s.y == c
        w, w2, effect = s.w[of_class], s.w2[of_class], added[of_class]
        rows = effective_size(float(w.sum()), float(w2.sum()))
        variance, df = sandwich((w, w2, effect))
        components.append(Component(s.known * variance, rows, df))
    return components


# What a unit of weight on each row adds to a measure.


def of_areas(s: Sample) -> Floats:
    """Of the mean, over classes, of the area of one class against the rest."""
    return np.asarray(sum(_area(s.p[:, c], s.y == c, s.w)[1] for c in s.there) / s.many)


def of_areas_by_frequency(s: Sample) -> Floats:
    """Of the mean by frequency; a row also makes its class more frequent."""
    share = np.bincount(s.y, s.w, s.p.shape[1])
    area, added = np.zeros(s.p.shape[1]), np.zeros(len(s.y))
    for c in s.there:
        area[c], influence = _area(s.p[:, c], s.y == c, s.w)
        added += share[c] * influence
    return np.asarray(added + area[s.y] - (share * area).sum())


def of_pooled_area(s: Sample) -> Floats:
    """Of the area of all scores of all classes in one list; a row is there once for each class."""
    k = s.p.shape[1]
    positive = s.y[:, None] == np.arange(k)
    added = _area(s.p.ravel(), positive.ravel(), np.repeat(s.w, k))[1]
    return np.asarray(added.reshape(positive.shape).sum(1))


def of_pairs(s: Sample) -> Floats:
    """Of the mean of the areas of all pairs of classes (Hand and Till 2001).

    The areas of one class against each other one add up to one area, in which all classes weigh the same.
    """
    share = np.bincount(s.y, s.w, s.p.shape[1])
    even = s.w / share[s.y]
    added = np.zeros(len(s.y))
    for c in s.there:
        up = s.y == c
        below, above = _placements(s.p[:, c], up, even)
        against = np.bincount(s.y, even * above)
        won = (even * below)[up].sum()
        added += np.where(up, below - won, above - against[s.y])
    return np.asarray(added / share[s.y] / (s.many * (len(s.there) - 1)))


def of_average_precisions(s: Sample) -> Floats:
    """Of the mean, over classes, of the average precision of one class against the rest."""
    added = np.zeros(len(s.y))
    for c in s.there:
        up = s.y == c
        at, neg, pos = _cells(s.p[:, c], up, s.w)
        _, gain, loss = precision_influence(neg, pos)
        added += np.where(up, gain[at], -loss[at])
    return added / s.many


def _cells(score: Floats, up: Bools, w: Floats) -> tuple[Ints, Floats, Floats]:
    """The cell of each row, and the weight of negatives and of positives on the cells."""
    _, at = np.unique(score, return_inverse=True)
    neg, pos = (np.bincount(at, np.where(up == side, w, 0.0)) for side in (False, True))
    return at, neg.astype(float), pos.astype(float)


def _placements(score: Floats, up: Bools, w: Floats) -> tuple[Floats, Floats]:
    """For each row: the weight of negatives below it, and of positives above it, ties half."""
    at, neg, pos = _cells(score, up, w)
    return midranks(neg)[at], midranks(pos[::-1])[::-1][at]


def _area(score: Floats, up: Bools, w: Floats) -> tuple[float, Floats]:
    """An area, and what each row adds to it (DeLong et al. 1988)."""
    pos, neg = w[up].sum(), w[~up].sum()
    below, above = _placements(score, up, w)
    area = float((w * below)[up].sum() / pos / neg)
    return area, np.where(up, (below / neg - area) / pos, (above / pos - area) / neg)
