"""What single rows do to a measure: the base of paired differences and of clusters.

The effect of a row is the derivative of the measure by the weight of that row (its influence). The sum of
squared effects is the variance of the measure; that of effects summed by cluster is its variance where
rows of a cluster are alike; and effects of two models on the same rows tell how their estimates vary
together. Where no derivative is known, the rows are dealt into groups, and what it changes to leave one
group out takes the place of the effects of its rows (delete-a-group jackknife).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from scorewise.arrays import Floats, Ints
from scorewise.columns import Rows
from scorewise.columns.rows import Checked
from scorewise.estimate import Estimate
from scorewise.inference.clusters import deal_classes, deal_clusters, flipped, widened
from scorewise.inference.logistic import log_odds, logistic, odds_of
from scorewise.inference.ranking import area, precision_effects
from scorewise.inference.scales import z
from scorewise.inference.shares import pooled_runs, run_shares
from scorewise.inference.smroc import Influence, influence
from scorewise.registry import Measure
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.formulas import largest_gaps, placed
from scorewise.tallies.losses import Loss, charges, expit, unit
from scorewise.tallies.probabilities import binned, chances
from scorewise.tallies.smroc import midpoint
from scorewise.tallies.sorting import kept, once

GROUPS = 40
MOST = 2000  # rows of which groups are left out: how two models vary together shows in few
MANY = 100_000  # rows of a class of which effects are looked at, where there are more
Settings = Mapping[str, Any]
AnyRows = TypeVar("AnyRows", bound=Checked)
Effects = Callable[[Rows, Tally, Settings], Floats]
Slopes = Callable[[Floats, Floats, float], tuple[Any, Any]]


def effects(m: Measure, rows: Rows, t: Tally, settings: Settings) -> Floats | None:
    """The effect of a unit of weight on each row; None where no derivative is known."""
    if m.group == "decisions":
        return _of_decisions(m, rows, t, settings)
    made = _KNOWN.get(m.name)
    return None if made is None else made(rows, t, settings)


def cells_of(t: Tally, rows: Rows) -> NDArray[np.int64]:
    """The pooled cell of each row: the last that begins at or below its score."""
    name = t.origin.score
    of, known = rows.kept.get(f"cells of {name}", (None, None))
    if of is not t:
        # a row of no weight may lie below all
        known = np.maximum(places(rows, name, t.pooled.score, "right") - 1, 0)
        rows.kept[f"cells of {name}"] = t, known
    found: NDArray[np.int64] = known
    return found


def order_of(rows: Rows, name: str) -> NDArray[np.int64]:
    """The rows from the lowest score up, sorted once."""
    return kept(rows, ("order", name), lambda: np.argsort(rows.scores[name]))


def places(rows: Rows, name: str, edges: Any, side: Literal["left", "right"]) -> NDArray[np.int64]:
    """Where each score is among sorted ones, which are looked up among the sorted rows: they are fewer."""
    s, order = rows.scores[name], order_of(rows, name)
    first = np.searchsorted(s[order], edges, side="left" if side == "right" else "right")
    found = np.empty(len(s), np.int64)
    found[order] = np.repeat(np.arange(len(edges) + 1), np.diff(first, prepend=0, append=len(s)))
    return found


def of_cells(t: Tally, effect: Influence, rows: Rows) -> Floats:
    """What holds for the class and the pooled cell of each row."""
    cell = cells_of(t, rows)
    found: Floats = np.where(rows.y, effect.pos[cell], effect.neg[cell])
    return found


def placements(t: Tally, rows: Rows) -> Floats:
    """For each row the share of the other class that it is placed rightly against.

    Positives: the negatives below, ties half. Negatives: the positives above, ties half.
    """
    few = t.pooled
    below, above = placed(few.neg) / t.negatives, 1 - placed(few.pos) / t.positives
    return of_cells(t, Influence(above, below), rows)


def of_area(rows: Rows, t: Tally) -> Floats:
    """The effect on AUROC of a unit of weight on each row (DeLong et al. 1988)."""
    return (placements(t, rows) - area(t)) / np.where(rows.y, t.positives, t.negatives)


def _of_decisions(m: Measure, rows: Rows, t: Tally, settings: Settings) -> Floats:
    """By the slopes of the measure along the four cells of the table of decisions."""
    at = settings["threshold"]
    table = kept(t, ("decisions", at), lambda: t.confusion(at).weight).astype(np.float64)
    slopes = np.zeros((2, 2))
    step = 1e-5 * table.sum()
    for at in np.ndindex(2, 2):
        ends = []
        for move in (step, -step):
            near = table.copy()
            near[at] = max(near[at] + move, 0.0)
            ends.append((near[at], m.under(settings, Confusion(near, near)).value))
        (right, above), (left, below) = ends
        slopes[at] = (above - below) / (right - left)
    found: Floats = slopes.ravel()[_decisions(rows, t, settings["threshold"])]
    return found


def _decisions(rows: Rows, t: Tally, threshold: float) -> NDArray[np.int64]:
    """The cell of the table of decisions that each row is in: tn, fp, fn, tp."""
    key = f"decisions of {t.origin.score}"
    of, at, known = rows.kept.get(key, (None, None, None))
    if of is not t or at != threshold:
        called = rows.scores[t.origin.score] >= t.cut(threshold).upto
        known = 2 * rows.y.astype(np.int64) + called
        rows.kept[key] = t, threshold, known
    found: NDArray[np.int64] = known
    return found


def _precision(rows: Rows, t: Tally, settings: Settings, trapezoid: bool) -> Floats:
    few = t.pooled
    neg, pos = few.neg.astype(np.float64), few.pos.astype(np.float64)
    gain, loss = precision_effects(neg, pos, trapezoid)
    return of_cells(t, Influence(-loss, gain), rows)


def _smauc(rows: Rows, t: Tally, settings: Settings) -> Floats:
    return of_cells(t, influence(t.pooled, midpoint(t)), rows)


def _loss(rows: Rows, t: Tally, settings: Settings, loss: Loss) -> Floats:
    clip = settings.get("clip")
    how: Any = "log clipped" if loss == "log" and clip is not None else loss
    further = {} if clip is None else {"clip": clip}
    neg, pos = charges(rows.scores[t.origin.score], t.kind, how, **further)
    return _of_mean(rows, np.where(rows.y, pos, neg))


def _of_mean(rows: Rows, own: Floats) -> Floats:
    """Of the mean over rows of what each has."""
    weight = rows.mass()
    total = weight.sum()
    found: Floats = (own - float((weight * own).sum() / total)) / total
    return found


def _coefficient(rows: Rows, t: Tally, settings: Settings, sloped: bool) -> Floats:
    """Of the calibration slope, or of calibration in the large: by the scores of the likelihood."""
    clip = settings.get("clip")
    x = odds_of(rows.scores[t.origin.score], t.kind, clip)
    weight, ones = rows.mass(), np.ones(len(x))
    neg, pos = np.where(rows.y, 0.0, weight), np.where(rows.y, weight, 0.0)
    features, offset = ([ones, x], 0.0) if sloped else ([ones], x)
    fit = logistic(features, neg, pos, offset=offset, start=_near(t, clip, sloped))
    p = expit(sum((c * f for c, f in zip(fit.coef, features, strict=True)), offset + 0 * x))
    bread = np.linalg.pinv(fit.curvature)[-1]
    along = sum((c * f for c, f in zip(bread, features, strict=True)), np.zeros(len(x)))
    return along * (rows.y - p)


@once
def _near(t: Tally, clip: float | None, sloped: bool) -> Floats | None:
    """The coefficients that fit the cells of a tally, to begin from."""
    c = log_odds(t, clip)
    if not np.isfinite(c.x).all():
        return None
    ones = np.ones(len(c.x))
    features, offset = ([ones, c.x], 0.0) if sloped else ([ones], c.x)
    fit = logistic(features, c.neg, c.pos, offset=offset)
    return fit.coef if fit.converged else None


def _ratio(rows: Rows, t: Tally, settings: Settings) -> Floats:
    """Of observed over expected positives."""
    p = unit(rows.scores[t.origin.score].astype(np.float64), t.kind)
    expected = float((rows.mass() * p).sum())
    found: Floats = (rows.y - t.positives / expected * p) / expected
    return found


def _gaps(
    rows: Rows, t: Tally, settings: Settings, slope: Slopes, bins_of: tuple[Any, ...] = ()
) -> Floats:
    """Of a function of the gaps of bins, fifteen of equal width unless said.

    `slope` gives its slopes along the sum of the residuals of each bin and along its weight, from the gaps,
    the weights of the bins and their sum.
    """
    at, residual, many = _residuals(rows, t, *bins_of)
    weight = rows.mass()
    mass = np.bincount(at, weight, many)
    gap = np.bincount(at, weight * residual, many) / np.where(mass > 0, mass, 1.0)
    slopes, along = slope(gap, mass.astype(np.float64), float(mass.sum()))
    found: Floats = slopes[at] * residual + np.broadcast_to(along, len(mass))[at]
    return found


def _residuals(rows: Rows, t: Tally, *bins_of: Any) -> tuple[NDArray[np.int64], Floats, int]:
    """The bin of each row, fifteen of equal width unless said, its residual, and the number of bins."""
    key = f"residuals of {t.origin.score} by {bins_of}"
    of, known = rows.kept.get(key, (None, None))
    if of is not t:
        p = unit(rows.scores[t.origin.score].astype(np.float64), t.kind)
        bins = binned(t, *bins_of)
        # by where bins begin
        at = np.maximum(np.searchsorted(bins.low, p, side="right") - 1, 0)
        rows.kept[key] = t, (known := (at, rows.y - p, len(bins)))
    found: tuple[NDArray[np.int64], Floats, int] = known
    return found


def _mean_gap(gap: Floats, mass: Floats, total: float) -> tuple[Any, Any]:
    return np.sign(gap) / total, -float((mass * np.abs(gap)).sum()) / total**2


def _largest_gap(gap: Floats, mass: Floats, total: float) -> tuple[Any, Any]:
    most = np.arange(len(gap)) == np.abs(gap).argmax()
    along = np.where(most, np.sign(gap) / np.where(mass > 0, mass, 1.0), 0.0)
    return along, -along * gap


def _square_gap(gap: Floats, mass: Floats, total: float) -> tuple[Any, Any]:
    size = math.sqrt(float((mass * gap * gap).sum()) / total) or 1.0
    return gap / (total * size), -(gap * gap + size * size) / (2 * total * size)


def _ks(rows: Rows, t: Tally, settings: Settings) -> Floats:
    """At the threshold of the largest distance of both distribution functions."""
    up, down, at_up, at_down = largest_gaps(t.neg, t.pos)
    side, at = (1.0, at_up) if up >= down else (-1.0, at_down)
    below = rows.scores[t.origin.score] <= t.score[max(int(at) - 1, 0)]
    shares = [float(w[: int(at)].sum()) / float(w.sum()) for w in (t.neg, t.pos)]
    neg, pos = (below - shares[0]) / t.negatives, (below - shares[1]) / t.positives
    found: Floats = side * np.where(rows.y, -pos, neg)
    return found


def _cumulated(rows: Rows, t: Tally, settings: Settings, between: bool) -> Floats:
    """Of the largest sum of residuals from the lowest score up, or of the range of these sums."""
    c = chances(t)
    p = unit(rows.scores[t.origin.score].astype(np.float64), t.kind)
    sums = np.append(0.0, (c.pos - c.weight * c.p).cumsum()) / rows.mass().sum()
    ends = (sums.argmin(), sums.argmax()) if between else (0, np.abs(sums).argmax())
    first, last = sorted(int(x) for x in ends)
    low = np.append(c.low, np.inf)
    inside = (p >= low[first]) & (p < low[last])
    own = np.sign(sums[last] - sums[first]) * np.where(inside, rows.y - p, 0.0)
    return _of_mean(rows, own)


def _partial(rows: Rows, t: Tally, settings: Settings) -> Floats:
    """Of the area up to a false positive rate of 0.1: by what rows add to it on either side."""
    few, width = t.pooled, 0.1
    fpr, tpr = (1 - placed(w) / float(w.sum()) for w in (few.neg, few.pos))
    # the curve at the boundary, straight between cells
    at = np.append(fpr[::-1], 1.0), np.append(tpr[::-1], 1.0)
    top = float(np.interp(width, *at))
    inside = np.maximum(width - fpr, 0.0)
    value = float((few.pos * inside).sum()) / t.positives
    pos = (inside - value) / t.positives
    neg = (width * top - value - np.maximum(top - tpr, 0.0)) / t.negatives
    return of_cells(t, Influence(neg, pos), rows)


def _isotonic(rows: Rows, t: Tally, settings: Settings, sign: float) -> Floats:
    """Of miscalibration, or of discrimination (sign -1): by losses beside those of the isotonic fit."""
    few = t.pooled
    fit = run_shares(few.neg, few.pos, pooled_runs(few.neg, few.pos))
    neg, pos = charges(fit, "probability", "brier")
    own = of_cells(t, Influence(neg, pos), rows)
    if sign > 0:
        losses = charges(rows.scores[t.origin.score], t.kind, "brier")
        other = np.where(rows.y, losses[1], losses[0])
    else:
        q = t.positives / (t.negatives + t.positives)
        other = np.where(rows.y, (1 - q) ** 2, q * q)
    return _of_mean(rows, other - own)


_KNOWN: dict[str, Effects] = {
    "auroc": lambda rows, t, _: of_area(rows, t),
    "average_precision": partial(_precision, trapezoid=False),
    "pr_trapezoid": partial(_precision, trapezoid=True),
    "smauc": _smauc,
    "brier": partial(_loss, loss="brier"),
    "log_loss": partial(_loss, loss="log"),
    "spherical": partial(_loss, loss="spherical"),
    "calibration_slope": partial(_coefficient, sloped=True),
    "calibration_intercept": partial(_coefficient, sloped=False),
    "oe_ratio": _ratio,
    "ece": partial(_gaps, slope=_mean_gap),
    "max_ce": partial(_gaps, slope=_largest_gap),
    "ce_l2_debiased": partial(_gaps, slope=_square_gap),
    "ks": _ks,
    # whose own cells and kernels are about as wide
    "ece_sweep": partial(_gaps, slope=_mean_gap, bins_of=(20, "mass")),
    "smece": partial(_gaps, slope=_mean_gap, bins_of=(20, "mass")),
    "ce_variational": partial(_gaps, slope=_mean_gap, bins_of=(20, "mass")),
    **dict.fromkeys(("ici", "e50", "e90"), partial(_gaps, slope=_mean_gap, bins_of=(5, "mass"))),
    "ecce_mad": partial(_cumulated, between=False),
    "ecce_range": partial(_cumulated, between=True),
    "partial_auroc": _partial,
    "mcb_crossfit": partial(_isotonic, sign=1.0),
    "mcb": partial(_isotonic, sign=1.0),
    "dsc": partial(_isotonic, sign=-1.0),
}


def dealt(rows: Rows, groups: int = GROUPS, seed: int = 0, by: Any = None) -> NDArray[np.int64]:
    """The group of each row, dealt at random, both classes evenly; clusters stay whole."""
    if by is not None:
        return deal_clusters(np.unique(by, return_inverse=True)[1], groups, seed)
    return deal_classes((~rows.y).astype(np.int64), groups, np.random.default_rng(seed))


def left_out(
    m: Measure, rows: Rows, name: str, settings: Settings, group: NDArray[np.int64]
) -> Floats:
    """The measure without each group in turn; NaN where it is undefined then."""
    values, groups = [], int(group.max(initial=-1)) + 1
    if m.replicated is not None:
        t = Tally.of_rows(rows, name)
        if t.coarse is None:
            return np.asarray(m.replicated(t, *_without(rows, t, group, groups)))
    for g in range(groups):
        t = Tally.of_rows(rows.at(group != g), name)
        of: Any = t.confusion(settings["threshold"]) if m.group == "decisions" else t
        values.append(m.under(settings, of).value)
    return np.array(values)


def _without(rows: Rows, t: Tally, group: NDArray[np.int64], groups: int) -> list[Floats]:
    """The weights of negatives and of positives, and their squares, without each group (group by cell)."""
    cells, found = len(t.pooled.score), []
    at = group * cells + cells_of(t, rows)
    for weight in (rows.mass(), rows.mass(2)):
        for side in (~rows.y, rows.y):
            own = np.bincount(at, weight * side, groups * cells).reshape(groups, cells)
            total = own.sum(0)
            found.append(total - own + 1e-12 * total)  # no cell is empty
    return found


def together(
    m: Measure, rows: Rows, tallies: Sequence[Tally], settings: Settings, by: Any = None
) -> float:
    """The correlation of what a measure finds for two models on the same rows.

    By the effects of rows, or of clusters of them; else by leaving out groups. 0 where one of them is not
    seen to vary. Of very many rows, an even sample of each class tells it: an interval is off by less than
    1 % then.
    """
    rows, times = _thinned(rows) if by is None else (rows, np.ones(1))
    moved = [effects(m, rows, t, settings) for t in tallies]
    if any(x is None for x in moved):
        names = sorted(t.origin.score for t in tallies)
        few = rows if by is not None else spaced(rows, [rows.scores[n] for n in names], MOST)
        group = dealt(few, seed=settings["seed"], by=by)
        found = [left_out(m, few, t.origin.score, settings, group) for t in tallies]
        both = ~np.isnan(found[0] + found[1])
        first, second = (x[both] - x[both].mean() if both.any() else x[both] for x in found)
    else:
        first, second = (
            summed((rows.mass(2) / times) ** 0.5 * x, by) for x in moved if x is not None
        )
    return correlation(first, second)


def ordered(rows: Checked, scores: Sequence[Any]) -> Ints:
    """Places of the rows in an order that their values decide, not how they came."""
    w = rows.weight
    columns = [rows.y, *scores, *([] if w is None or not len(w) else [w / w.max()])]
    factor = np.random.default_rng(0).uniform(1, 2, len(columns))  # so that no other rows tie
    key = np.zeros(len(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        for k, column in enumerate(columns):
            key += factor[k] * column
    return np.argsort(key)


def spaced(rows: AnyRows, scores: Sequence[Any], most: int) -> AnyRows:
    """At most so many rows, evenly along their order; one that stands for several comes as often."""
    order = ordered(rows, scores)
    ends = np.arange(1, len(rows) + 1) if rows.count is None else np.cumsum(rows.count[order])
    total = int(ends[-1]) if len(ends) else 0
    steps = np.arange(0, total, max(-(-total // most), 1))
    return replace(rows.at(order[np.searchsorted(ends, steps, "right")]), count=None)


def _thinned(rows: Rows) -> tuple[Rows, Floats]:
    """At most so many rows of each class, evenly along the rows, and how many each stands for.

    Their weights are as much larger.
    """
    if len(rows) <= 2 * MANY:
        return rows, np.ones(1)
    return kept(rows, "thinned", lambda: _thin(rows))


def _thin(rows: Rows) -> tuple[Rows, Floats]:
    at, times = [], []
    order = ordered(rows, [rows.scores[name] for name in sorted(rows.scores)])
    for side in (rows.y, ~rows.y):
        there = order[side[order]]
        step = -(-len(there) // MANY) if len(there) else 1
        at.append(there[step // 2 :: step])
        times.append(np.full(len(at[-1]), float(step)))
    few, many = rows.at(np.concatenate(at)), np.concatenate(times)
    weight = np.ones(len(few)) if few.weight is None else few.weight
    return replace(few, weight=weight * many), many


def correlation(first: Floats, second: Floats) -> float:
    """The correlation of effects, whose mean is 0; 0 where one of them is not seen to vary.

    >>> round(correlation(np.array([1.0, -1, 0]), np.array([1.0, 0, -1])), 9)
    0.5
    """
    spread = math.sqrt(float((first * first).sum())) * math.sqrt(float((second * second).sum()))
    return float(np.clip((first * second).sum() / spread, -1.0, 1.0)) if spread > 0 else 0.0


def correlation_by_cluster(cluster: Ints, *sides: tuple[Any, Floats]) -> float:
    """The correlation of two sides, each the places of rows and their effects, by clusters in both."""
    many = int(cluster.max()) + 1
    return correlation(*(np.bincount(cluster[at], x, many).astype(np.float64) for at, x in sides))


def summed(x: Floats, by: Any) -> Floats:
    """The sums of each cluster; the numbers themselves where there are no clusters."""
    if by is None:
        return x
    _, cluster = np.unique(by, return_inverse=True)
    found: Floats = np.bincount(cluster, x).astype(np.float64)
    return found


def told_apart(
    first: Estimate,
    second: Estimate,
    level: float,
    correlation: Callable[[], float] = lambda: 0.0,
) -> bool:
    """Whether the interval of the difference of two estimates excludes 0."""
    gap = difference(first, second, level, correlation)
    return gap.low > 0 or gap.high < 0


def difference(
    first: Estimate, second: Estimate, level: float, correlation: Callable[[], float]
) -> Estimate:
    """The first less the second, or why there is no difference."""
    for e in (first, second):
        if not e.defined:
            return Estimate.undefined(e.why, level, 0.0)
    if not all(math.isfinite(x) for e in (first, second) for x in (e.low, e.high)):
        value = first.value - second.value
        return Estimate(value, level=level, method="none: a value has no interval", baseline=0.0)
    shared = correlation()
    if shared > 1 - 1e-9 and (first.value, first.low, first.high) == (
        second.value,
        second.low,
        second.high,
    ):
        method = "none: the models do not differ"
        return Estimate(0.0, 0.0, 0.0, level, method, baseline=0.0, p=1.0)
    return paired(first, second, shared, level)


def paired(first: Estimate, second: Estimate, correlation: float, level: float) -> Estimate:
    """The difference of two estimates that vary together so much, by the intervals that each has.

    The distances of the limits from the values are added as standard errors are, less what they share
    (MOVER: Newcombe 1998, Zou and Donner 2008), so the interval is as skewed as those it is made of. The
    p-value is that of the standard error on the side of no difference.

    >>> paired(Estimate(0.8, 0.7, 0.9), Estimate(0.7, 0.6, 0.8), 0.5, 0.95)
    0.100 [0.000, 0.200]
    """
    a, b = (np.array([e.value, e.low, e.high]) for e in (first, second))
    value, low, high, p = (float(x) for x in mover(a, b, correlation, level))
    return Estimate(value, low, high, level, "MOVER, paired", baseline=0.0, p=p)


def mover(first: Floats, second: Floats, correlation: Any, level: float) -> tuple[Any, ...]:
    """The difference of values, each with its limits, its own limits and p-value; of many at once.

    Limits that are skewed would leave a distance between two models that do not differ, one's lower and the
    other's upper. The more alike they vary, the less skewed their difference is, so that the distances come
    near to half the widths.
    """
    (a, a_low, a_high), (b, b_low, b_high) = first, second
    value, alike = a - b, np.maximum(correlation, 0.0) ** 4

    def mixed(side: Any, low: Any, high: Any) -> Any:
        return side + alike * ((high - low) / 2 - side)

    sides = (
        (mixed(a - a_low, a_low, a_high), mixed(b_high - b, b_low, b_high)),
        (mixed(a_high - a, a_low, a_high), mixed(b - b_low, b_low, b_high)),
    )
    down, up = (np.sqrt(np.maximum(x * x + y * y - 2 * correlation * x * y, 0.0)) for x, y in sides)
    near = np.where(value > 0, down, up)
    steps = np.divide(np.abs(value), near, out=np.zeros_like(near), where=near > 0)
    return value, value - down, value + up, 2 * ndtr(-steps * z(level))


def clustered(
    e: Estimate, m: Measure, rows: Rows, t: Tally, settings: Settings, by: NDArray[np.int64]
) -> Estimate:
    """The estimate of rows that come in clusters: its interval widened by what rows of one share.

    The distances of the limits grow as the standard error does when effects are added up by cluster before
    they are squared (of AUROC: Obuchowski 1997; of a share, the design effect of Korn and Graubard
    1998), and by Student's quantile with one degree of freedom less than there are clusters. A p-value
    that knows nothing of clusters is left out.
    """
    if not e.defined or not e.high > e.low:
        return e
    many, level = int(by.max()) + 1, settings["level"]
    if many < 2:
        return widened(e, 0.0, 0.0, many, m.bounds)
    x = effects(m, rows, t, settings)
    if x is None:
        group = dealt(rows, min(GROUPS, many), settings["seed"], by)
        found = left_out(m, rows, t.origin.score, settings, group)
        groups = len(found)
        variance = (groups - 1) / groups * float(((found - found.mean()) ** 2).sum())
        own = ((e.high - e.low) / (2 * z(level))) ** 2
    else:
        moved = rows.mass() * x
        total = np.bincount(by, moved, many)
        variance = float((total * total).sum()) * many / (many - 1)
        own = float((rows.mass(2) * x * x).sum())
    wide = widened(e, variance, own, many, m.bounds)
    if m.name == "ece":
        at, residual, bins = _residuals(rows, t)
        sums = np.bincount(by * bins + at, rows.mass() * residual, many * bins).astype(np.float64)
        all_of = float(rows.mass().sum())
        p, expected = flipped(
            sums.reshape(many, bins), lambda x: np.abs(x).sum(1) / all_of, settings["seed"]
        )
        return replace(wide, p=p, expected=expected)
    near = abs(e.value - m.target) * z(level) / max((wide.high - wide.low) / 2, 1e-300)
    return replace(
        wide, p=float(2 * ndtr(-near)) if e.p is not None and m.better == "near" else None
    )
