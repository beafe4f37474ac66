"""Is the order right? Areas under ROC, smROC and precision-recall curves, of two classes or several; costs.

Of several classes values are exact, from all rows. Intervals know that the scores of a row for all classes
go together: they are made of what each row adds, on all rows up to 16,384 and beyond that on a sample of
so many. Classes that do not occur have no area and are left out of means.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.checks import one_of
from scorewise.computing import inner
from scorewise.curves.hull import crossfitted_loss, pav_blocks_of, pav_blocks_of_rows
from scorewise.errors import BadInput
from scorewise.estimate import Estimate, Undefined, undefined_if
from scorewise.inference import class_rows, ranking
from scorewise.inference.resampling import bootstrap_cells
from scorewise.inference.scales import (
    Variance,
    effective_size,
    limits,
    normal_quantile,
)
from scorewise.inference.shares import combined_limits, wilson, wilson_of
from scorewise.inference.smroc import chance_area, smooth_area, smooth_bootstrap, smooth_variance
from scorewise.measures.decisions import UNKNOWN, class_count, left_out, occurring, why_one_class
from scorewise.registry import measure
from scorewise.statistics.formulas import auroc as area_of_cells
from scorewise.statistics.smroc import Rule, smooth_bounds, why_not_unit
from scorewise.statistics.smroc import midpoint as find_midpoint
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.coarse import certified, extremes, order_within, pool, tied_within
from scorewise.tallies.runs import add_runs
from scorewise.tallies.sorting import Numbers, sum_cells

UNIT = (0.0, 1.0)
MIN_SHARE = 1e-12  # share of a class of which the loss of the best constant keeps some digits
Costs = tuple[float, float] | None
ALL = slice(None)
_MeanCosts = Callable[[Floats, Ints | slice], tuple[Floats, Floats]]


@measure(group="order", title="AUROC")
def auroc(t: Tally, *, level: float = 0.95) -> Estimate:
    """Chance that a positive outscores a negative, ties counting half.

    The area under the ROC curve. DeLong's interval on the logit scale, from the counts, ties exact;
    with fewer than ten rows in a class, or all pairs in one order, Newcombe's (2006) score interval, whose
    limit towards 0.5 also serves where a few rows bring most of the variance. Every constant scores 0.5.

    >>> auroc(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1, 0.9, 0.4]))
    0.833 [0.358, 0.976]
    """
    undefined_if(t.why_not_ranked)
    value, bound = certified(t, ranking.auroc_value)
    low, high, method = ranking.auroc_limits(t, value, level)
    return Estimate.within(UNIT, value, low, high, level, method, bound=bound, baseline=0.5)


@measure(group="order", bounds=(0.0, 0.1), title="pAUROC, FPR <= 0.1")
def partial_auroc(
    t: Tally,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    scale: Literal["area", "mcclish"] = "area",
    level: float = 0.95,
) -> Estimate:
    """Area under the part of the ROC curve that matters: false positive rates up to `max_fpr`.

    `max_fpr=0.1` unless said; or `min_tpr=`, the area right of the curve above that true positive rate.
    `scale="mcclish"` maps chance to 0.5 and perfection to 1 (McClish 1989). The interval is DeLong's,
    with the boundary quantile estimated (Dodd and Pepe 2003), on the logit scale of the share. With
    fewer than ten rows of a class within the part it is no narrower than Newcombe's (2006), which serves
    alone where the part is perfect; where it is empty, Wilson's of the positives.

    >>> partial_auroc(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1, 0.9, 0.4]), max_fpr=0.5)
    0.347 [0.004, 0.499]
    """
    if max_fpr is not None and min_tpr is not None:
        raise BadInput("partial_auroc takes max_fpr or min_tpr, not both")
    one_of("scale", scale, ("area", "mcclish"))
    width = 1 - min_tpr if min_tpr is not None else 0.1 if max_fpr is None else max_fpr
    if not 0 < width <= 1:
        raise BadInput("partial_auroc needs 0 < max_fpr <= 1 or 0 <= min_tpr < 1")
    undefined_if(t.why_not_ranked)
    across = min_tpr is not None
    part = ranking.partial_area(t, width, across)
    value, bound = certified(
        t, lambda x: (part if x is t else ranking.partial_area(x, width, across)).area
    )
    variance, df = ranking.partial_variance(t, part, across)
    neg, pos = ranking.class_sizes(t)
    # of the class along the axis, only those rows count that lie within the width
    used = (neg, pos * width) if across else (neg * width, pos)
    known = Variance(variance / width**2, df)
    low, high, method = _part_limits(value / width, known, used, neg if across else pos, level)
    chance = width * width / 2
    ends = value, low * width, high * width
    e = Estimate.within((0.0, width), *ends, level, method, bound=bound, baseline=chance)
    if scale == "area":
        return e
    way = 2 * (width - chance)
    value, low, high = (0.5 + (x - chance) / way for x in (e.value, e.low, e.high))
    return replace(e, value=value, low=low, high=high, bound=bound / way, baseline=0.5)


def _part_limits(
    share: float, known: Variance, used: tuple[float, float], climbing: float, level: float
) -> tuple[float, float, str]:
    """Limits of the share of a part that is filled, and their name.

    `used` are the rows of both classes within the part, `climbing` all rows of the class that climbs.
    """
    if share == 0:  # none of the class that climbs lies within the part
        return *wilson(0.0, climbing, 0.0, climbing, level)[1:], "Wilson"
    few = min(used) <= ranking.MIN_ROWS - 1e-9
    seen = known.informative() and share < 1
    if seen and not few:
        return *limits(share, known, level, "logit"), "DeLong, logit"
    low, high = ranking.newcombe_limits(share, *used, level)
    if not seen:
        return low, high, "Newcombe"
    least, most = limits(share, known, level, "logit")
    return min(low, least), max(high, most), "DeLong and Newcombe"


@measure(group="order", title="KS")
def ks(t: Tally, *, level: float = 0.95) -> Estimate:
    """Largest distance between the score distributions of the two classes (Kolmogorov-Smirnov).

    max |tpr - fpr| over all thresholds. Newcombe's interval at the threshold that attains it, which was
    searched for: the lower limit is that of a test of the maximum, where that is lower. It is 0 where the
    Kolmogorov-Smirnov test finds no difference.

    >>> ks(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1, 0.9, 0.4]))
    0.667 [0.000, 0.939]
    """
    undefined_if(t.why_not_ranked)
    up, down, at_up, at_down = ranking.ks_gaps(t)
    at, sign = (at_up, 1) if up >= down else (at_down, -1)
    value, bound = max(up, down), 0.0
    if t.coarse is not None:
        worst, best = (ranking.ks_gaps(x)[:2] for x in extremes(t))
        ends = max(worst[0], best[1]), max(best[0], worst[1])
        value, bound = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    rates = []
    for w, squares, way in zip((t.pos, t.neg), reversed(t.squares), (-1, 1), strict=True):
        # floats, because squares of large counts leave the range of integers
        hit, miss = [float(w[:at].sum()), float(w[at:].sum())][::way]
        # weights as uneven on both sides as on the whole: where heavy rows lie is chance
        each = float(squares) / (hit + miss)
        rates.append(wilson(hit, miss, hit * each, miss * each, level))
    low, high = sorted(sign * x for x in combined_limits(lambda a, b: a + b - 1, *rates))
    low, method = min(low, ranking.ks_lower_limit(t, level)), "Newcombe; test of the maximum"
    return Estimate.within(UNIT, value, low, high, level, method, bound=bound, baseline=0.0)


def _values_of_replicates(t: Tally, neg: Floats, pos: Floats, *_: Floats) -> Floats:
    return _h_values(neg, pos, None)


@measure(group="order", title="H-measure", replicated=_values_of_replicates)
def h_measure(t: Tally, *, costs: Costs = None, level: float = 0.95, seed: int = 0) -> Estimate:
    """Share of the loss of the best constant decision that is saved, averaged over misclassification costs.

    The cost of a false positive, as a share of both costs, is spread as Beta(1 + prevalence,
    2 - prevalence) (Hand and Anagnostopoulos 2014), or as Beta(*costs). The decisions are the best for
    each cost, those of the hull of the ROC curve, chosen on the same rows: in small samples the value is
    too high. The interval, with the error of the bootstrap of cells, therefore reaches down from what
    decisions that were chosen on other rows save, in five folds, dealt twice.

    >>> h_measure(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1, 0.9, 0.4]))
    0.561 [0.000, 0.981]
    """
    if costs is not None and not min(costs) > 0:
        raise BadInput(
            f"costs are {costs}; both shapes of the Beta must be positive, such as (2, 2)"
        )
    undefined_if(t.why_not_ranked)
    value, bound = certified(
        t, lambda x: float(_h_values(x.neg[None], x.pos[None], costs, pav_blocks_of(x))[0])
    )
    rare = min(t.negatives, t.positives) < MIN_SHARE * (t.negatives + t.positives)
    if rare or math.isnan(value):
        raise Undefined("a class is too rare for floating point")
    # many rows on few cells leave no bias that more would show
    cells = 256 if t.origin.rows > 1 << 16 else 512
    drawn = bootstrap_cells(
        t, lambda n, p: _h_values(n, p, costs), replicates=150, seed=seed, cells=cells
    )
    reach = normal_quantile(level) * float(drawn.std())
    if reach > 1e-12:  # more than rounding
        least = min(_crossfitted(pool(t.pooled, cells), costs, seed), value)
        low, high, method = least - reach, value + reach, "bootstrap, cross-fitted"
        if least > 0 and value < 1:  # near 1 the error is too small, but not on the logit scale
            odds = least / (1 - least) * math.exp(-min(reach / (value * (1 - value)), 700.0))
            low = min(low, odds / (1 + odds))
    else:  # what luck can hide behind 0 or 1: so large a share of the smaller class
        hidden = 1 - ((1 - level) / 2) ** (1 / min(ranking.class_sizes(t)))
        low, high = (1 - hidden, 1.0) if value > 0.5 else (0.0, hidden)
        method = "rule of three"
    return Estimate.within(UNIT, value, low, high, level, method, bound=bound, baseline=0.0)


def _h_values(neg: Numbers, pos: Numbers, costs: Costs, hull: Ints | None = None) -> Floats:
    """The share of loss saved, of each replicate of cells; exact where the hull of one is given."""
    start, row = (
        pav_blocks_of_rows(neg, pos) if hull is None else (hull, np.zeros(len(hull), np.int64))
    )
    n, p = (add_runs(w.ravel(), start).astype(np.float64) for w in (neg, pos))
    total = neg.sum(-1) + pos.sum(-1)
    prevalence = pos.sum(-1) / total
    of_one = hull is not None
    charges = _mean_costs(float(prevalence[0]), costs) if of_one else _cost_table(prevalence, costs)
    constant = charges(prevalence, ALL)
    most = (1 - prevalence) * constant[0] + prevalence * constant[1]
    on_neg, on_pos = charges(p / (n + p), row)
    loss = np.bincount(row, n * on_neg + p * on_pos, len(neg)) / total
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(most > 0, np.maximum(0.0, 1 - loss / most), np.nan)


def _mean_costs(prevalence: float, costs: Costs) -> _MeanCosts:
    """Mean costs of a negative and of a positive that are called by "posterior > cost"."""
    from scipy.special import betainc, betaincc

    a, b = costs if costs is not None else (1 + prevalence, 2 - prevalence)
    return lambda q, _: (a / (a + b) * betainc(a + 1, b, q), b / (a + b) * betaincc(a, b + 1, q))


def _cost_table(prevalence: Floats, costs: Costs) -> _MeanCosts:
    """The same of many posteriors and prevalences, read off a table: replicates need no more digits.

    Straight between 129 posteriors; a polynomial through four prevalences of the range. Which
    prevalence a posterior goes with is said by its place.
    """
    low, high = float(prevalence.min()), float(prevalence.max())
    nodes = np.array([low])
    if costs is None and high > low:
        nodes = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(4) + 0.5) / 4)
    grid = np.linspace(0.0, 1.0, 129)
    tables = [_mean_costs(x, costs)(grid, ALL) for x in nodes]
    shares = []
    for k, node in enumerate(nodes):
        others = [(prevalence - x) / (node - x) for x in np.delete(nodes, k)]
        shares.append(np.prod(others, axis=0) if others else np.ones(len(prevalence)))

    def charges(q: Floats, which: Ints | slice) -> tuple[Floats, Floats]:
        found = np.zeros((2, len(q)))
        for share, table in zip(shares, tables, strict=True):
            found += share[which] * np.stack([np.interp(q, grid, column) for column in table])
        return found[0], found[1]

    return charges


def _crossfitted(few: Tally, costs: Costs, seed: int) -> float:
    """The value of decisions that are the best on all folds but the one that they are judged on."""
    prevalence = np.array([few.positives / (few.negatives + few.positives)])
    charges = _cost_table(prevalence, costs)
    loss = crossfitted_loss(few, lambda posterior: charges(posterior, ALL), seed)
    constant = charges(prevalence, ALL)
    most = float(few.negatives * constant[0][0] + few.positives * constant[1][0])
    return 1 - loss / most if most > 0 else 0.0


@measure(group="order", title="Average precision")
def average_precision(t: Tally, *, level: float = 0.95) -> Estimate:
    """Mean, over the positives, of the precision at the threshold that just finds them.

    The step sum of the precision-recall curve, tied scores as one step. The interval is linearised
    (each row's influence on the value) on the logit scale, with Student's quantile for as many degrees of
    freedom as there are rows that bring the variance. The baseline is the prevalence.

    >>> average_precision(Tally.of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.833 [0.001, 1.000]
    """
    return _pr_estimate(t, level, trapezoid=False)


@measure(group="order", title="PR trapezoid")
def pr_trapezoid(t: Tally, *, level: float = 0.95) -> Estimate:
    """Area under the precision-recall curve when its points are joined by straight lines.

    Offered to reproduce other tools. No threshold reaches the points between, and with many ties the
    value is too kind; `average_precision` does not interpolate. Starts at recall 0 with precision 1.
    The baseline is that of scores without meaning, the prevalence.

    >>> pr_trapezoid(Tally.of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.792 [3.69e-05, 1.000]
    """
    return _pr_estimate(t, level, trapezoid=True)


def _pr_estimate(t: Tally, level: float, *, trapezoid: bool) -> Estimate:
    undefined_if("" if t.positives else t.why_not_ranked)
    value, bound = ranking.precision_area(t, trapezoid), 0.0
    known = ranking.precision_variance(t.pooled, trapezoid)
    if t.coarse is not None:
        worst, best = _precision_ends(t, trapezoid)
        value, bound = (worst + best) / 2, (best - worst) / 2
    if known.informative() and 0 < value < 1:
        (low, high), method = limits(value, known, level, "logit"), "linearised, logit"
    else:
        _, low, high = wilson_of(value, effective_size(t.positives, t.squares[1]), level)
        method = "Wilson on the positives"
    prevalence = t.positives / (t.positives + t.negatives)
    return Estimate.within(UNIT, value, low, high, level, method, bound=bound, baseline=prevalence)


def _precision_ends(t: Tally, trapezoid: bool) -> tuple[float, float]:
    """The least and the largest value that the cells of a coarse tally allow."""
    pos, neg = t.pos.astype(np.float64), t.neg.astype(np.float64)
    tp, fp = (ranking.at_and_above(w, 0.0)[0] for w in (pos, neg))
    order, tied = order_within(t), tied_within(t)
    # negatives of the cell itself that may come first: none, or all
    least_fp, most_fp = np.where(order == -1, fp + neg, fp), np.where(order == 1, fp, fp + neg)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = (tp + pos) / (tp + pos + least_fp)
        if not trapezoid:
            group = (tp + pos) / (tp + pos + most_fp)
            tied_pos = tied if t.coarse is None else t.coarse.low[1] == t.coarse.high[1]
            # apart, with all negatives before: precision rises with each positive, ever more slowly, so
            # its mean is no less than that of the first and the last; weights may come in small steps
            first = tp if t.weighted else tp + 1
            alone = first + most_fp == 0  # no negatives so far, and steps that are ever so small
            apart = (np.where(alone, 1.0, first / (first + most_fp)) + group) / 2
            worst = np.where(tied_pos, group, apart)
        else:
            start = np.where(tp + fp > 0, tp / (tp + fp), 1.0)
            end = (tp + pos) / (tp + pos + fp + neg)
            alone = neg == 0
            worst = np.where(alone, (start + end) / 2, tp / (tp + fp + neg))
            best = np.maximum(start, best)
            worst, best = (np.where(tied, (start + end) / 2, x) for x in (worst, best))
    used = pos > 0
    total = t.positives
    return inner(pos[used], worst[used]) / total, inner(pos[used], best[used]) / total


@measure(group="scores", title="smAUC")
def smauc(
    t: Tally, *, midpoint: Rule | float | Tally = "mean", level: float = 0.95, seed: int = 0
) -> Estimate:
    """How well high scores on positives and low ones on negatives are set apart, by their magnitude.

    The area under the score-weighted ROC curve (smROC): each row climbs by its score if that is
    appropriate, and by 1 minus it if not, and runs by the rest. Scores of 0 and 1 alone give AUROC. It is
    no proper score: it rewards bold scores, also too bold ones. The interval is by influence on the
    logit scale, the movement of the midpoint included; with the rules "median" and "crossing" by the
    bootstrap of cells. Every constant scores 0.5. The baseline is what the same scores would get if they
    were dealt out to the rows at random; it is far above 0.5 where most scores are near 0, or near 1.

    >>> smauc(Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]))
    0.843 [0.379, 0.979]
    """
    undefined_if(t.why_not_ranked or why_not_unit(t))
    m = find_midpoint(t, midpoint)
    least, most = (smooth_area(t, m.value).value,) * 2 if t.coarse is None else smooth_bounds(t, m)
    if math.isnan(least + most):
        raise Undefined("all scores are extreme: nothing climbs, or nothing runs")
    # rounding may leave the least above the most, or 1
    value, bound = min(max((least + most) / 2, 0.0), 1.0), abs(most - least) / 2
    if m.rule in ("median", "crossing"):
        known, method = smooth_bootstrap(t, m.rule, seed=seed), "bootstrap, logit"
    else:
        known, method = smooth_variance(t, m), "influence, logit"
    if 0 < value < 1 and known.informative():
        low, high = limits(value, known, level, "logit")
    else:
        (low, high), method = (
            ranking.newcombe_limits(value, *ranking.class_sizes(t), level),
            "Newcombe",
        )
    chance = chance_area(t, m.value)
    baseline = None if math.isnan(chance) else chance  # a class may vanish beside the other
    ends = value, low, high
    return Estimate.within(UNIT, *ends, level, method, bound=bound, baseline=baseline)


@measure(group="order", title="Macro AUROC", of="several classes")
def macro_auroc(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of the AUROC of each class against the rest.

    Over the classes that occur. The interval is DeLong's for the mean, on the logit scale; the variance
    by the rows of a rare class is steadied by what those of all classes say. With all pairs in one order
    it is Newcombe's (2006) score interval, of two classes that of `auroc`. Every constant scores 0.5.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> macro_auroc(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    1.000 [0.356, 1.000]
    """
    undefined_if(_why_not_ranked(t))
    areas, weight = _class_areas(t)[occurring(t)], t.weight[occurring(t)].astype(float)
    weight /= weight.sum()
    # rows of a class are also among the rest of each other class
    rest = (1 / (1 - weight)).sum() - 1 / (1 - weight)
    terms = class_rows.Terms(areas, (1 + weight * rest) / len(areas), _area_variance)
    return _area_estimate(t, float(areas.mean()), class_rows.of_areas, level, 0.5, terms)


@measure(group="order", title="Weighted AUROC", of="several classes")
def weighted_auroc(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of the AUROC of each class against the rest, by how frequent the class is.

    The interval is DeLong's for that mean, on the logit scale, and knows that the frequencies are
    estimates too. Every constant scores 0.5.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> weighted_auroc(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    1.000 [0.356, 1.000]
    """
    undefined_if(_why_not_ranked(t))
    there = occurring(t)
    weight = t.weight[there].astype(float)
    value = float((weight / weight.sum() * _class_areas(t)[there]).sum())
    return _area_estimate(t, value, class_rows.of_areas_by_frequency, level, 0.5)


@measure(group="order", title="Micro AUROC", of="several classes")
def micro_auroc(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Chance that the score of a row's own class exceeds one that any row gives to a class not its own.

    All scores of all classes in one list: it compares scores across classes and rows, so it is no mere
    matter of the order within a class. DeLong's interval for rows that appear once for each class. The
    baseline gives every row the frequencies of the classes, which beats 0.5 when they are unequal.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> micro_auroc(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.938 [0.315, 0.998]
    """
    undefined_if(_why_not_ranked(t))
    own = np.concatenate([marks.true == c for c, marks in enumerate(t.each)])
    score, weight = (np.concatenate([getattr(m, x) for m in t.each]) for x in ("score", "weight"))
    value = _area_of_scores(score, np.stack([np.where(own, 0, weight), np.where(own, weight, 0)]))
    frequent = t.weight.astype(float)
    constant = _area_of_scores(frequent, np.stack([frequent.sum() - frequent, frequent]))
    return _area_estimate(t, value, class_rows.of_pooled_area, level, constant)


def _area_of_scores(score: Floats, columns: Numbers) -> float:
    """The area of scores in any order, given the weight of negatives and of positives on each."""
    return min(1.0, float(area_of_cells(*sum_cells(score, columns)[1])))


@measure(group="order", title="Hand-Till M", of="several classes")
def hand_till(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of the AUROC of all pairs of classes: how well two classes are told apart (Hand and Till 2001).

    For each pair, the mean of the areas of both classes' scores on the rows of the two; unlike the macro
    AUROC it does not depend on how frequent classes are. The interval is DeLong's for the mean, on the
    logit scale, with the variance of rare classes steadied as there. Every constant scores 0.5.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> hand_till(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    1.000 [0.356, 1.000]
    """
    undefined_if(_why_not_ranked(t))
    there = np.flatnonzero(occurring(t))
    weight = t.weight[there].astype(float)
    pairs = t.wins[np.ix_(there, there)] / weight[:, None] / weight[None, :]
    k = len(there)
    of_class = (pairs + pairs.T).sum(1) / (2 * (k - 1))
    # rows of a class are in its own mean over pairs, and as one of a pair in those of all others
    terms = class_rows.Terms(of_class, np.full(k, 2 / k), _area_variance, 4.0)
    return _area_estimate(
        t, float(pairs.sum()) / (k * (k - 1)), class_rows.of_pairs, level, 0.5, terms
    )


@measure(group="order", title="Macro average precision", of="several classes")
def macro_average_precision(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of the average precision of each class against the rest.

    Over the classes that occur. Score interval of a mean of shares, each of as many rows as make it as
    uncertain: by each row's influence, or by the rows of the class where these are few (Boyd, Eng and
    Page 2013). Its lower end starts from the value less its bias, because with few rows of a class
    average precision is too high: each row finds itself. The baseline is 1 / (number of classes).

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> macro_average_precision(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    1.000 [0.417, 1.000]
    """
    undefined_if(_why_not_ranked(t))
    there = np.flatnonzero(occurring(t))
    each = np.array([ranking.precision_area(t.one(t.classes[c])) for c in there])
    k = len(there)
    terms = class_rows.Terms(each, np.full(k, 1 / k), ranking.precision_variance)
    seen = class_rows.mean_precision(t, terms, level)
    method = f"score, {class_count(t, occurring(t), 'occur')}"
    caution = left_out(t, occurring(t), seen)
    return Estimate(*seen, level, method, baseline=1 / k, caution=caution)


def _why_not_ranked(t: ClassTally) -> str:
    return why_one_class(t) or ("" if t.each else UNKNOWN)


def _class_areas(t: ClassTally) -> Floats:
    """The area of each class against the rest; NaN where the class does not occur."""
    own = t.weight.astype(float)
    with np.errstate(invalid="ignore"):
        areas: Floats = t.wins.sum(1) / own / (own.sum() - own)
    return areas


def _area_variance(one: Tally) -> Variance:
    """Variance of the area of one class against the rest."""
    seen = ranking.auroc_value(one)
    known = ranking.auroc_variance(one, seen)
    # of a single row no more is known than between which ends its placement lies
    return known if known.informative() else Variance(seen * (1 - seen), 1.0)


def _area_estimate(
    t: ClassTally,
    value: float,
    influence: Callable[[class_rows.Sample], Floats],
    level: float,
    baseline: float,
    terms: class_rows.Terms | None = None,
) -> Estimate:
    """The value with DeLong's interval, or with Newcombe's where that says nothing."""
    value = min(1.0, value)  # weights may add up to slightly above all pairs
    if len(t.classes) == 2 and influence is not class_rows.of_pooled_area:
        low, high, method = ranking.auroc_limits(t.one(t.classes[1]), value, level)
        return Estimate(value, low, high, level, f"{method}, 2 classes", baseline=baseline)
    # as many rows of equally frequent classes as say as much: classes times the harmonic mean
    rows = effective_size(t.weight, t.weight2)[occurring(t)]
    half, known = float(len(rows) ** 2 / (1 / rows).sum()) / 2, Variance(0.0, 0.0)
    if 0 < value < 1 and (terms is not None or half > ranking.MIN_ROWS - 1e-9):
        known = class_rows.variance_of_rows(t, influence, terms)
    if known.informative():
        (low, high), method = limits(value, known, level, "logit"), "DeLong, logit"
    else:
        (low, high), method = ranking.newcombe_limits(value, half, half, level), "Newcombe"
    method += f", {class_count(t, occurring(t), 'occur')}"
    e = Estimate(value, low, high, level, method, baseline=baseline)
    return replace(e, caution=left_out(t, occurring(t), e)) if terms is not None else e
