"""What each row adds to measures of several classes: their variances, and how two models vary together.

The scores of one row for all classes go together, so intervals cannot be put together from those of each
class. Each row's influence is added up over the classes first, and then squared. Of two models on the
same rows, measures of the confidence are those of two classes, right and wrong; where what a row adds is
not known, groups of rows are left out in turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns import Rows
from scorewise.columns.classes import ClassRows
from scorewise.columns.labels import Labels
from scorewise.inference.effects import GROUPS, correlation, effects, spaced
from scorewise.inference.ranking import precision_effects
from scorewise.inference.scales import (
    Part,
    Spread,
    effective,
    effective_rows,
    freedom,
    pooled_spread,
)
from scorewise.inference.shares import Share
from scorewise.inference.tables import drawn, mean_share
from scorewise.registry import MEASURES, Measure
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.formulas import placed
from scorewise.tallies.losses import class_unit

FEW = 100  # rows of a class in a sample, below which they do not stand for it (fewer, of many classes)
STEADY = 4.0  # rows of each class that vary as usual, for the variance of a mean over classes
STEADY_PRECISION = 8.0  # the same for average precision
MOST = 1 << 19  # scores that are looked at: all rows that `joint` has, of up to 32 classes
# measures of the confidence against whether the decision was right, as of two classes
TOP = ("ece", "max_ce", "ce_l2_debiased", "smece", "ece_sweep")
# means over classes of measures of each class against the rest
MACRO = {
    "macro_auroc": "auroc", "macro_average_precision": "average_precision", "classwise_ece": "ece",
}  # fmt: skip
SLOW = ("canonical_ce", "calibration_gain", "skce")
SOME = 1000  # rows of which groups are left out
FEW_CLASSES = 50  # classes of which the areas are looked at one by one


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


def sampled(t: ClassTally, few: int = FEW) -> Sample:
    """All rows that `joint` has, or the first of them where there are very many classes.

    Where that is a sample, classes of which it has few rows are left out.
    """
    assert t.joint is not None
    k, there = len(t.classes), t.weight > 0
    # rows are in the order of a hash of their content: the first ones are a random sample
    rows = max(MOST // k, 1 << 11)
    scores, y = t.joint.scores[:rows], t.joint.y[:rows]
    w, w2 = (x[:rows].astype(np.float64) for x in (t.joint.weight, t.joint.weight2))
    whole = len(t.joint.y) <= rows and t.joint.whole
    if not whole:
        there = np.bincount(y, minlength=k) >= max(1, min(few, len(y) / (4 * k)))
        kept = there[y]
        scores, y, w, w2 = scores[kept], y[kept], w[kept], w2[kept]
    unit = w.sum()
    w, w2 = w / unit, w2 / unit / unit
    known = 1.0 if whole else t.joint.total2 / t.joint.total**2 / float(w2.sum())
    p = class_unit(scores, t.kind)
    return Sample(p, y, w, w2, np.flatnonzero(there), int((t.weight > 0).sum()), known)


class Terms(NamedTuple):
    """What a mean over classes is made of: a value between 0 and 1 for each class that occurs.

    `part` is by how much the mean follows the rows of each class, `alone` gives the variance of the
    value of one class, and `times` is how much more there is at most if the values of other classes
    depend on the same rows.
    """

    values: Floats
    part: Floats
    alone: Callable[[Tally], Spread]
    times: float = 1.0


def spread_of_rows(
    t: ClassTally, influence: Callable[[Sample], Floats], terms: Terms | None = None
) -> Spread:
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
        return pooled_spread(*(p._replace(rows=max(p.rows, 2.0)) for p in _parts(s, influence)))
    parts = parts_of_terms(t, influence, terms)
    variance, df = steadied(t, parts, terms)
    whole = float(variance.sum())
    if not 0 < whole < math.inf:
        return Spread(whole, math.nan)
    share = variance / whole
    known = sum(max(p.rows - 1, 0.0) for p in parts)  # from which also comes what rows usually do
    return Spread(whole, min(1 / float((share * share / df).sum()), known))


def mean_precision(t: ClassTally, terms: Terms, level: float) -> Share:
    """The mean of average precisions, with the score interval of a mean of shares.

    Each is a share of as many rows as make it as uncertain; where few rows of a class say how much that
    is, of as many as the class has (Boyd, Eng and Page 2013). The lower end starts from the mean less its
    bias: the precision that a positive gets counts the positive; without it, it would have that of the rows
    above. A mean over many classes makes the variance small, but not this.
    """
    variance, _ = steadied(t, parts_of_terms(t, of_average_precisions, terms), terms, 1.0)
    rows = effective_rows(t.weight, t.weight2)[t.weight > 0]
    even = drawn(terms.values, rows)
    spread = terms.part**2 * even * (1 - even)
    # precisions that are all 1 do not vary, and are shares of the rows themselves
    worth = np.divide(spread, variance, out=rows, where=(variance > 0) & (spread > 0))
    seen, s, bias = mean_share(terms.values, worth, level), sampled(t), 0.0
    for c in s.there:
        up = s.y == c
        at, neg, pos = _cells(-s.p[:, c], up, s.w)
        tp, above = (x.cumsum()[at[up]] for x in (pos, neg + pos))
        one = s.w2[up] / s.w[up]  # of equal rows, the weight of each
        others = np.where(above - one > 1e-9 * above, above - one, np.inf)
        found = one * (above - tp) / above / others
        bias += float((s.w[up] * found).sum() / s.w[up].sum())
    return seen._replace(low=max(0.0, seen.low - s.known * bias / s.many))


def steadied(
    t: ClassTally, parts: list[Part], terms: Terms, usual: float | None = None
) -> tuple[Floats, Floats]:
    """Variances by the rows of each class as if a few more rows of it had been seen, and their df.

    These vary as rows usually do: by value (1 - value) times `usual`, which unless known is what the rows
    of all classes say together. For this alone each value is drawn towards the mean by half a row.
    """
    more = STEADY if usual is None else STEADY_PRECISION
    rows = effective_rows(t.weight, t.weight2)[t.weight > 0]
    variance, known, df = (np.array(x) for x in zip(*parts, strict=True))
    # of one row, up to rounding, nothing is seen
    free = np.where(known < 1 + 1e-9, 0.0, known - 1)
    seen = variance * np.where(free > 0, known / np.where(free > 0, free, 1), 0)
    even = drawn(terms.values, rows)
    one = terms.part**2 * even * (1 - even) / rows
    if usual is None:
        there = one > 0
        usual = float((free * seen)[there] @ (1 / one[there]) / free.sum()) if free.any() else 0.0
    return (free * seen + more * usual * one) / (free + more), np.minimum(free, df) + more


def parts_of_terms(
    t: ClassTally, influence: Callable[[Sample], Floats], terms: Terms
) -> list[Part]:
    """The variance by the rows of each class that occurs.

    A class of which the sample has few rows is judged by all its rows, alone.
    """
    s = sampled(t)
    parts = dict(zip(s.there.tolist(), _parts(s, influence), strict=True))
    if len(parts) == s.many:
        return list(parts.values())
    there = np.flatnonzero(t.weight > 0).tolist()
    rows = {c: effective(t.weight[c], t.weight2[c]) for c in there}
    rare = [c for c in there if c not in parts]
    alone = (*rare, *s.there[: len(parts) < 2])
    own = {c: terms.alone(t.one(t.classes[c])).variance for c in alone}
    if len(parts) < 2:
        # all classes but one are rare: its value depends on their rows, at most wholly
        error = sum(math.sqrt(v) for v in own.values()) / s.many
        fewest = min(rare, key=rows.__getitem__)
        return [Part(error**2 if c == fewest else 0.0, rows[c]) for c in there]
    parts |= {c: Part(terms.times * own[c] / s.many**2, rows[c]) for c in rare}
    return [parts[c] for c in there]


def _parts(s: Sample, influence: Callable[[Sample], Floats]) -> list[Part]:
    """The variance by the rows of each class, how many rows that is known from, and its df."""
    added, parts = influence(s), []
    for c in s.there:
        own = s.y == c
        w, w2, effect = s.w[own], s.w2[own], added[own]
        rows = effective(float(w.sum()), float(w2.sum()))
        parts.append(Part(s.known * float((w2 * effect**2).sum()), rows, freedom(w, w2, effect)))
    return parts


# What a unit of weight on each row adds to a measure.


def of_areas(s: Sample) -> Floats:
    """Of the mean, over classes, of the area of one class against the rest."""
    return np.asarray(sum(_area(s.p[:, c], s.y == c, s.w)[1] for c in s.there) / s.many)


def of_areas_by_frequency(s: Sample) -> Floats:
    """Of the mean by frequency; a row also makes its class more frequent."""
    share = np.bincount(s.y, s.w, s.p.shape[1])
    area, added = np.zeros(s.p.shape[1]), np.zeros(len(s.y))
    for c in s.there:
        area[c], one = _area(s.p[:, c], s.y == c, s.w)
        added += share[c] * one
    return np.asarray(added + area[s.y] - (share * area).sum())


def of_pooled_area(s: Sample) -> Floats:
    """Of the area of all scores of all classes in one list; a row is there once for each class."""
    k = s.p.shape[1]
    own = s.y[:, None] == np.arange(k)
    added = _area(s.p.ravel(), own.ravel(), np.repeat(s.w, k))[1]
    return np.asarray(added.reshape(own.shape).sum(1))


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
        gain, loss = precision_effects(neg, pos)
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
    return placed(neg)[at], placed(pos[::-1])[::-1][at]


def _area(score: Floats, up: Bools, w: Floats) -> tuple[float, Floats]:
    """An area, and what each row adds to it (DeLong et al. 1988)."""
    pos, neg = w[up].sum(), w[~up].sum()
    below, above = _placements(score, up, w)
    area = float((w * below)[up].sum() / pos / neg)
    return area, np.where(up, (below / neg - area) / pos, (above / pos - area) / neg)


def class_together(
    m: Measure,
    rows: Sequence[ClassRows],
    left_out: Sequence[Callable[[], Sequence[ClassTally]]],
    settings: Mapping[str, Any],
) -> float:
    """The correlation of what a measure of several classes finds for two models on the same rows.

    `left_out` give the tallies of each model without each group in turn; see `groups_left_out`. Of
    measures that take long, 0, which makes the interval of the difference too wide rather than too narrow.
    """
    moved = [_effects(m, r, settings) for r in rows]
    if moved[0] is not None and moved[1] is not None:
        heavy = np.sqrt(rows[0].mass(2))
        return correlation(heavy * moved[0], heavy * moved[1])
    if m.name in SLOW:
        return 0.0
    found = [np.array([m.under(settings, t).value for t in made()]) for made in left_out]
    both = ~np.isnan(found[0] + found[1])
    return correlation(*(x[both] - x[both].mean() for x in found)) if both.any() else 0.0


def groups_left_out(rows: ClassRows, models: Iterable[ClassRows], seed: int) -> list[ClassTally]:
    """The tallies of a sample of rows without each of forty groups in turn, the same for all models."""
    few = spaced(rows, [m.scores[:, k] for m in models for k in range(len(m.classes))], SOME)
    group = np.random.default_rng(seed).permutation(len(few)) % GROUPS
    return [ClassTally.of_rows(few.at(group != g)) for g in range(min(GROUPS, len(few)))]


def _effects(m: Measure, rows: ClassRows, settings: Mapping[str, Any]) -> Floats | None:
    """The effect of a unit of weight on each row, up to a factor; None where it is not known."""
    p = class_unit(rows.scores, rows.kind)
    if m.name in TOP:
        right = _binary(rows, p.argmax(1) == rows.y, p.max(1))
        return effects(MEASURES[m.name], right, Tally.of_rows(right, "score"), settings)
    if m.name in MACRO and len(rows.classes) <= FEW_CLASSES:
        of = MEASURES[MACRO[m.name]]
        total = np.zeros(len(rows))
        for k in np.unique(rows.y).tolist():
            one = _binary(rows, rows.y == k, p[:, k])
            moved = effects(of, one, Tally.of_rows(one, "score"), settings)
            assert moved is not None
            total += moved
        return total
    made = _MEANS.get(m.name)
    if made is None:
        return None
    own, weight = made(rows.y, p, settings.get("clip")), rows.mass()
    if m.name == "balanced_accuracy":
        size = np.bincount(rows.y, weight, len(rows.classes))[rows.y]
        mean = np.bincount(rows.y, weight * own, len(rows.classes))[rows.y] / size
        return (own - mean) / size
    return own - float((weight * own).sum() / weight.sum())


def _binary(rows: ClassRows, y: Any, s: Floats) -> Rows:
    """Rows of two classes with the same weights."""
    labels = Labels("1", "0", "")
    return Rows(
        y=y, scores={"score": s}, weight=rows.weight, count=rows.count, labels=labels, names=rows.names,
        dropped=0, kinds={"score": "probability"},
    )  # fmt: skip


def _log(y: Any, p: Floats, clip: float | None) -> Floats:
    own = p[np.arange(len(y)), y]
    return np.asarray(-np.log(np.maximum(own, clip or 1e-300)))


def _brier(y: Any, p: Floats, clip: float | None) -> Floats:
    return np.asarray((p * p).sum(1) - 2 * p[np.arange(len(y)), y])


def _right(y: Any, p: Floats, clip: float | None) -> Floats:
    return np.asarray((p.argmax(1) == y).astype(np.float64))


_MEANS: dict[str, Callable[[Any, Floats, float | None], Floats]] = {
    "accuracy": _right,
    "balanced_accuracy": _right,
    "log_loss": _log,
    "brier": _brier,
}
