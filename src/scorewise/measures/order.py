"""Is the order right? Measures of the ROC curve, of precision and recall, and of costs of decisions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.hull import fits_elsewhere, pool_rows, pooled
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference.ranking import (
    FEW,
    area,
    area_limits,
    at_and_above,
    least_distance,
    partial,
    partial_spread,
    precision_area,
    precision_spread,
    score_limits,
    sizes,
)
from scorewise.inference.resampling import bootstrap_cells, few_cells
from scorewise.inference.scales import Spread, effective, limits, z
from scorewise.inference.shares import combine, wilson, wilson_of
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.extremes import certified, extremes, order_within, tied_within
from scorewise.tallies.formulas import largest_gaps
from scorewise.tallies.sorting import add_runs, inner

RAREST = 1e-12  # share of a class of which the loss of the best constant keeps some digits
_Charges = Callable[[Floats, Floats], tuple[Floats, Floats]]


@measure(group="order", title="AUROC")
def auroc(t: Tally, *, level: float = 0.95) -> Estimate:
    """Chance that a positive outscores a negative, ties counting half.

    The area under the ROC curve. DeLong's interval on the logit scale, from the counts, ties exact;
    with fewer than ten rows in a class, or all pairs in one order, Newcombe's (2006) score interval, whose
    limit towards 0.5 also serves where a few rows bring most of the variance. Every constant scores 0.5.

    >>> auroc(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1, 0.9, 0.4]))
    0.833 [0.358, 0.976]
    """
    if why := t.why_not_ranked:
        return Estimate.undefined(why, level)
    value, bound = certified(t, area)
    low, high, method = area_limits(t, value, level)
    low, high = max(0.0, low - bound), min(1.0, high + bound)
    return Estimate(value, low, high, level, method, "", bound, 0.5)


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
    if scale not in ("area", "mcclish"):
        raise BadInput(Option("scale", scale), " is not known; it is 'area' or 'mcclish'")
    width = 1 - min_tpr if min_tpr is not None else 0.1 if max_fpr is None else max_fpr
    if not 0 < width <= 1:
        raise BadInput("partial_auroc needs 0 < max_fpr <= 1 or 0 <= min_tpr < 1")
    if why := t.why_not_ranked:
        return Estimate.undefined(why, level)
    across = min_tpr is not None
    part = partial(t, width, across)
    value, bound = certified(t, lambda x: (part if x is t else partial(x, width, across)).area)
    variance, df = partial_spread(t, part, across)
    known = Spread(variance / width**2, df)
    share = value / width
    neg, pos = sizes(t)
    # of the class along the axis, only those rows count that lie within the width
    used = (neg, pos * width) if across else (neg * width, pos)
    low, high, method = _part_limits(share, known, used, pos if not across else neg, level)
    low, high = max(0.0, low * width - bound), min(width, high * width + bound)
    chance = width * width / 2
    if scale == "mcclish":
        way = 2 * (width - chance)
        value, low, high = (0.5 + (x - chance) / way for x in (value, low, high))
        bound, chance = bound / way, 0.5
    return Estimate(value, low, high, level, method, "", bound, chance)


def _part_limits(
    share: float, known: Spread, used: tuple[float, float], climbing: float, level: float
) -> tuple[float, float, str]:
    """Limits of the share of a part that is filled, and their name.

    `used` are the rows of both classes within the part, `climbing` all rows of the class that climbs.
    """
    if share == 0:  # none of the class that climbs lies within the part
        return *wilson(0.0, climbing, 0.0, climbing, level)[1:], "Wilson"
    few = min(used) <= FEW - 1e-9
    seen = known.says_something() and share < 1
    if seen and not few:
        return *limits(share, known, level, "logit"), "DeLong, logit"
    low, high = score_limits(share, *used, level)
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
    if why := t.why_not_ranked:
        return Estimate.undefined(why, level)
    above, below, at, sign = _distances(t)
    # weights may add up to a hair above the whole
    value, bound = min(1.0, max(above, below)), 0.0
    if t.coarse is not None:
        (worst_up, worst_down, *_), (best_up, best_down, *_) = map(_distances, extremes(t))
        ends = max(worst_up, best_down), max(best_up, worst_down)
        value, bound = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    rates = []
    for w, squares, way in zip((t.pos, t.neg), reversed(t.squares), (-1, 1), strict=True):
        # floats, because squares of large counts leave the range of integers
        hit, miss = [float(w[:at].sum()), float(w[at:].sum())][::way]
        # weights as uneven on both sides as on the whole: where heavy rows lie is chance
        each = float(squares) / (hit + miss)
        rates.append(wilson(hit, miss, hit * each, miss * each, level))
    tpr, tnr = rates
    ends = combine(lambda a, b: a + b - 1, tpr, tnr)
    low, high = sorted(sign * x for x in ends)
    low = min(low, value, least_distance(t, level))
    low, high = max(0.0, low - bound), min(1.0, max(high, value) + bound)
    return Estimate(value, low, high, level, "Newcombe; test of the maximum", "", bound, 0.0)


def _distances(t: Tally) -> tuple[float, float, int, int]:
    """max(tpr - fpr), max(fpr - tpr), the cell from which the larger is counted, and its sign."""
    found = largest_gaps(t.neg, t.pos)
    up, down = float(found.up), float(found.down)
    return (up, down, int(found.at_up), 1) if up >= down else (up, down, int(found.at_down), -1)


@measure(group="order", title="H-measure")
def h_measure(
    t: Tally,
    *,
    costs: tuple[float, float] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
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
    if why := t.why_not_ranked:
        return Estimate.undefined(why, level)
    value, bound = certified(t, lambda x: _saved(x, costs))
    rare = min(t.negatives, t.positives) < RAREST * (t.negatives + t.positives)
    if rare or math.isnan(value):
        return Estimate.undefined("a class is too rare for floating point", level)
    drawn = bootstrap_cells(
        t, lambda n, p: _each(n, p, costs), replicates=150, seed=seed, cells=_cells(t)
    )
    reach = z(level) * float(drawn.std())
    if reach > 1e-12:  # more than rounding
        least = min(_saved_elsewhere(few_cells(t, _cells(t)), costs, seed), value)
        low, high = least - reach, value + reach
        if least > 0 and value < 1:  # near 1 the error is too small, but not on the logit scale
            odds = least / (1 - least) * math.exp(-min(reach / (value * (1 - value)), 700.0))
            low = min(low, odds / (1 + odds))
        method = "bootstrap, cross-fitted"
    else:
        low, high, method = *_rare(t, value, level), "rule of three"
    low, high = max(0.0, min(low, value) - bound), min(1.0, max(high, value) + bound)
    return Estimate(value, low, high, level, method, "", bound, 0.0)


def _cells(t: Tally) -> int:
    """How many cells to resample: many rows on few cells leave no bias that more would show."""
    return 256 if t.origin.rows > 1 << 16 else 1024


def _each(neg: Floats, pos: Floats, costs: tuple[float, float] | None) -> Floats:
    """The value of each row of cells."""
    start, row = pool_rows(neg, pos)
    n, p = (add_runs(w.ravel(), start) for w in (neg, pos))
    total = neg.sum(-1) + pos.sum(-1)
    prevalence = pos.sum(-1) / total
    charges = _tabled(prevalence, costs)
    constant = charges(prevalence, prevalence)
    most = (1 - prevalence) * constant[0] + prevalence * constant[1]
    on_neg, on_pos = charges(p / (n + p), prevalence[row])
    loss = np.bincount(row, n * on_neg + p * on_pos, len(neg)) / total
    with np.errstate(divide="ignore", invalid="ignore"):
        saved: Floats = np.where(most > 0, np.maximum(0.0, 1 - loss / most), np.nan)
    return saved


def _tabled(prevalence: Floats, costs: tuple[float, float] | None) -> _Charges:
    """`_charges` of many posteriors and prevalences, read off a table: replicates need no more digits.

    Straight between 129 posteriors; a polynomial through four prevalences of the range.
    """
    low, high = float(prevalence.min()), float(prevalence.max())
    nodes = np.array([low])
    if costs is None and high > low:
        nodes = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(4) + 0.5) / 4)
    grid = np.linspace(0.0, 1.0, 129)
    tables = [_charges(grid, *_shape(x, costs)) for x in nodes]

    def charges(q: Floats, at: Floats) -> tuple[Floats, Floats]:
        found = np.zeros((2, len(q)))
        for k, table in enumerate(tables):
            others = np.delete(nodes, k)
            share = np.prod([(at - x) / (nodes[k] - x) for x in others], axis=0)
            found += share * np.stack([np.interp(q, grid, column) for column in table])
        return found[0], found[1]

    return charges


def _rare(t: Tally, value: float, level: float) -> tuple[float, float]:
    """What luck can hide behind 0 or 1: so large a share of the smaller class."""
    smaller = min(map(effective, (t.negatives, t.positives), t.squares))
    reach = 1 - ((1 - level) / 2) ** (1 / smaller)
    return (1 - reach, 1.0) if value > 0.5 else (0.0, reach)


def _saved(t: Tally, costs: tuple[float, float] | None) -> float:
    start = pooled(t)
    neg, pos = (add_runs(w, start).astype(np.float64) for w in (t.neg, t.pos))
    total = neg.sum() + pos.sum()
    prevalence = float(pos.sum() / total)
    shape = _shape(prevalence, costs)
    constant = _charges(np.array([prevalence]), *shape)
    most = float((1 - prevalence) * constant[0][0] + prevalence * constant[1][0])
    on_neg, on_pos = _charges(pos / (neg + pos), *shape)
    loss = float((inner(neg, on_neg) + inner(pos, on_pos)) / total)
    return max(0.0, 1 - loss / most) if most > 0 else math.nan


def _saved_elsewhere(few: Tally, costs: tuple[float, float] | None, seed: int) -> float:
    """The value of decisions that are the best on all folds but the one that they are judged on."""
    prevalence = np.array([few.positives / (few.negatives + few.positives)])
    charges, loss = _tabled(prevalence, costs), 0.0
    for neg, pos, posterior in fits_elsewhere(few, seed):
        on_neg, on_pos = charges(posterior, prevalence)
        loss += float(inner(neg, on_neg) + inner(pos, on_pos))
    constant = charges(prevalence, prevalence)
    most = float(few.negatives * constant[0][0] + few.positives * constant[1][0])
    return 1 - loss / most if most > 0 else 0.0


def _shape(prevalence: float, costs: tuple[float, float] | None) -> tuple[float, float]:
    return costs if costs is not None else (1 + prevalence, 2 - prevalence)


def _charges(q: Floats, a: float, b: float) -> tuple[Floats, Floats]:
    """Mean cost of a negative and of a positive that are called by "posterior > cost", at posterior q."""
    from scipy.special import betainc, betaincc

    return a / (a + b) * betainc(a + 1, b, q), b / (a + b) * betaincc(a, b + 1, q)


@measure(group="order", title="Average precision")
def average_precision(t: Tally, *, level: float = 0.95) -> Estimate:
    """Mean, over the positives, of the precision at the threshold that just finds them.

    The step sum of the precision-recall curve, tied scores as one step. The interval is linearised
    (each row's influence on the value) on the logit scale, with Student's quantile for as many degrees of
    freedom as there are rows that bring the variance. The baseline is the prevalence.

    >>> average_precision(Tally.of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.833 [0.001, 1.000]
    """
    return _judged(t, level, trapezoid=False)


@measure(group="order", title="PR trapezoid")
def pr_trapezoid(t: Tally, *, level: float = 0.95) -> Estimate:
    """Area under the precision-recall curve when its points are joined by straight lines.

    Offered to reproduce other tools. No threshold reaches the points between, and with many ties the
    value is too kind; `average_precision` does not interpolate. Starts at recall 0 with precision 1.
    The baseline is that of scores without meaning, the prevalence.

    >>> pr_trapezoid(Tally.of([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]))
    0.792 [3.69e-05, 1.000]
    """
    return _judged(t, level, trapezoid=True)


def _judged(t: Tally, level: float, *, trapezoid: bool) -> Estimate:
    if not t.positives:
        return Estimate.undefined(t.why_not_ranked, level)
    pos, neg = t.positives, t.negatives
    prevalence = pos / (pos + neg)
    value, bound, known = precision_area(t, trapezoid), 0.0, precision_spread(t.pooled, trapezoid)
    if t.coarse is not None:
        worst, best = _ends(t, trapezoid)
        value, bound = (worst + best) / 2, (best - worst) / 2
    if known.says_something() and 0 < value < 1:
        low, high = limits(value, known, level, "logit")
        method = "linearised, logit"
    else:
        n = effective(pos, t.squares[1])
        _, low, high = wilson_of(value, n, level)
        method = "Wilson on the positives"
    low, high = max(0.0, low - bound), min(1.0, high + bound)
    return Estimate(value, low, high, level, method, "", bound, prevalence)


def _ends(t: Tally, trapezoid: bool) -> tuple[float, float]:
    """The least and the largest value that the cells of a coarse tally allow."""
    pos, neg = t.pos.astype(np.float64), t.neg.astype(np.float64)
    tp, fp = at_and_above(pos, 0.0)[0], at_and_above(neg, 0.0)[0]
    order, tied = order_within(t), tied_within(t)
    # negatives of the cell itself that may come first: none, or all
    least_fp, most_fp = np.where(order == -1, fp + neg, fp), np.where(order == 1, fp, fp + neg)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = (tp + pos) / (tp + pos + least_fp)
        if not trapezoid:
            group = (tp + pos) / (tp + pos + most_fp)
            tied_pos = tied if t.coarse is None else t.coarse.low[1] == t.coarse.high[1]
            worst = np.where(tied_pos, group, _one_by_one(tp, pos, most_fp, t.weighted))
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


def _one_by_one(tp: Floats, pos: Floats, fp: Floats, weighted: bool) -> Floats:
    """The least mean precision of a cell's positives if they come apart, with all negatives before.

    Precision rises with each of them, ever more slowly, so its mean is no less than that of the first
    and the last. Weights may come in the smallest of steps.
    """
    first = tp if weighted else tp + 1
    return (first / (first + fp) + (tp + pos) / (tp + pos + fp)) / 2
