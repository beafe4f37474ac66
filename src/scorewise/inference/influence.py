"""The influence of single rows on a measure: the base of paired differences and of clusters.

The influence of a row is the derivative of the measure by the weight of that row. The sum of squares is the
variance of the measure; that of influences summed by cluster is its variance where rows of a cluster are
alike; and influences on two models of the same rows tell how their estimates vary together. Where no
derivative is known, the rows are dealt into groups, and what it changes to leave one group out takes the
place of the influence of its rows (delete-a-group jackknife).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats, Ints
from scorewise.columns import Rows
from scorewise.computing import cached
from scorewise.estimate import Estimate
from scorewise.inference.folds import deal_classes, deal_clusters
from scorewise.inference.logistic import as_log_odds, last_effects, logistic
from scorewise.inference.means import widened, wild_bootstrap
from scorewise.inference.ranking import auroc_value, precision_influence
from scorewise.inference.scales import normal_quantile
from scorewise.inference.shares import isotonic_runs, run_shares
from scorewise.inference.smroc import CellInfluence, smauc_influence
from scorewise.registry import Measure
from scorewise.statistics.formulas import largest_gaps, midranks
from scorewise.statistics.probabilities import binned, probability_cells
from scorewise.statistics.smroc import midpoint
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.losses import Loss, score_losses, unit

GROUPS = 40
Settings = Mapping[str, Any]
Result = TypeVar("Result")
Influence = Callable[[Rows, Tally, Settings], Floats]
Slopes = Callable[[Floats, Floats, float], tuple[Any, Any]]


def row_influence(m: Measure, rows: Rows, t: Tally, settings: Settings) -> Floats | None:
    """The influence of a unit of weight on each row; None where no derivative is known."""
    if m.group == "decisions":
        return _of_decisions(m, rows, t, settings)
    of_rows = _INFLUENCE.get(m.name)
    return None if of_rows is None else of_rows(rows, t, settings)


def _known(rows: Rows, t: Tally, name: Any, make: Callable[[], Result]) -> Result:
    """What was made before under that name of the rows and this tally of them, or is made now."""
    by_name: dict[Any, Any] = cached(rows, "of tallies", dict)
    of, value = by_name.get((name, t.origin.score), (None, None))
    if of is not t:
        by_name[name, t.origin.score] = t, (value := make())
    found: Result = value
    return found


def cell_of_rows(t: Tally, rows: Rows) -> NDArray[np.int64]:
    """The pooled cell of each row: the last that begins at or below its score."""

    def made() -> NDArray[np.int64]:
        # a row of no weight may lie below all
        return np.maximum(places(rows, t.origin.score, t.pooled.score, "right") - 1, 0)

    return _known(rows, t, "cells", made)


def order_of(rows: Rows, name: str) -> NDArray[np.int64]:
    """The rows from the lowest score up, sorted once."""
    return cached(rows, ("order", name), lambda: np.argsort(rows.scores[name]))


def places(rows: Rows, name: str, edges: Any, side: Literal["left", "right"]) -> NDArray[np.int64]:
    """Where each score is among sorted ones, which are looked up among the sorted rows: they are fewer."""
    s, order = rows.scores[name], order_of(rows, name)
    first = np.searchsorted(s[order], edges, side="left" if side == "right" else "right")
    place = np.empty(len(s), np.int64)
    place[order] = np.repeat(np.arange(len(edges) + 1), np.diff(first, prepend=0, append=len(s)))
    return place


def at_cells(t: Tally, influence: CellInfluence, rows: Rows) -> Floats:
    """What holds for the class and the pooled cell of each row."""
    cell = cell_of_rows(t, rows)
    return np.asarray(np.where(rows.y, influence.pos[cell], influence.neg[cell]))


def placements(t: Tally, rows: Rows) -> Floats:
    """For each row the share of the other class that it is placed rightly against.

    Positives: the negatives below, ties half. Negatives: the positives above, ties half.
    """
    pooled = t.pooled
    below, above = midranks(pooled.neg) / t.negatives, 1 - midranks(pooled.pos) / t.positives
    return at_cells(t, CellInfluence(above, below), rows)


def auroc_influence(rows: Rows, t: Tally) -> Floats:
    """That on AUROC (DeLong et al. 1988)."""
    return (placements(t, rows) - auroc_value(t)) / np.where(rows.y, t.positives, t.negatives)


def _of_decisions(m: Measure, rows: Rows, t: Tally, settings: Settings) -> Floats:
    """By the slopes of the measure along the four cells of the table of decisions."""
    at = settings["threshold"]
    table = cached(t, ("decisions", at), lambda: t.confusion(at).weight).astype(np.float64)
    slopes = np.zeros((2, 2))
    step = 1e-5 * table.sum()
    for at in np.ndindex(2, 2):
        ends = []
        for move in (step, -step):
            moved_table = table.copy()
            moved_table[at] = max(moved_table[at] + move, 0.0)
            ends.append(
                (moved_table[at], m.under(settings, Confusion(moved_table, moved_table)).value)
            )
        (right, above), (left, below) = ends
        slopes[at] = (above - below) / (right - left)
    cut, name = t.cut(settings["threshold"]).upto, t.origin.score
    predicted = cached(rows, ("predicted", name, cut), lambda: rows.scores[name] >= cut)
    return np.asarray(slopes[rows.y.astype(np.int64), predicted.astype(np.int64)])


def _precision(rows: Rows, t: Tally, settings: Settings, trapezoid: bool) -> Floats:
    pooled = t.pooled
    _, gain, loss = precision_influence(pooled.neg, pooled.pos, trapezoid)
    return at_cells(t, CellInfluence(-loss, gain), rows)


def _loss(rows: Rows, t: Tally, settings: Settings, loss: Loss) -> Floats:
    neg, pos = score_losses(rows.scores[t.origin.score], t.kind, loss, settings.get("clip"))
    return _of_mean(rows, np.where(rows.y, pos, neg))


def _of_mean(rows: Rows, values: Floats) -> Floats:
    """Of the mean over rows of what each has."""
    weight = rows.mass()
    values, total = (
        np.where(weight > 0, values, 0.0),
        weight.sum(),
    )  # losses may be infinite beside it
    return np.asarray((values - float((weight * values).sum() / total)) / total)


def _coefficient(rows: Rows, t: Tally, settings: Settings, sloped: bool) -> Floats:
    """Of the calibration slope, or of calibration in the large: by the scores of the likelihood."""
    x = as_log_odds(rows.scores[t.origin.score], t.kind, settings.get("clip"))
    weight, ones = rows.mass(), np.ones(len(x))
    x = np.where(weight > 0, x, 0.0)  # a row of no weight may have infinite log-odds
    neg, pos = np.where(rows.y, 0.0, weight), np.where(rows.y, weight, 0.0)
    features, offset = ([ones, x], 0.0) if sloped else ([ones], x)
    fit = logistic(features, neg, pos, offset=offset)
    p, effect = last_effects(fit, features, offset)
    return effect * (rows.y - p)


def _chances(rows: Rows, t: Tally) -> Floats:
    return unit(rows.scores[t.origin.score].astype(np.float64), t.kind)


def _ratio(rows: Rows, t: Tally, settings: Settings) -> Floats:
    """Of observed over expected positives."""
    p = _chances(rows, t)
    expected = float((rows.mass() * p).sum())
    return np.asarray((rows.y - t.positives / expected * p) / expected)


def _gaps(
    rows: Rows, t: Tally, settings: Settings, slope: Slopes, bins_of: tuple[Any, ...] = ()
) -> Floats:
    """Of a function of the gaps of bins, fifteen of equal width unless said.

    `slope` gives its slopes along the sum of the residuals of each bin and along its weight, from the gaps,
    the weights of the bins and their sum.
    """
    at, residual, bins = binned_residuals(rows, t, *bins_of)
    weight = rows.mass()
    mass = np.bincount(at, weight, bins)
    gap = np.bincount(at, weight * residual, bins) / np.where(mass > 0, mass, 1.0)
    slopes, along = slope(gap, mass.astype(np.float64), float(mass.sum()))
    return np.asarray(slopes[at] * residual + np.broadcast_to(along, len(mass))[at])


def binned_residuals(rows: Rows, t: Tally, *bins_of: Any) -> tuple[NDArray[np.int64], Floats, int]:
    """The bin of each row, fifteen of equal width unless said, its residual, and the number of bins."""

    def made() -> tuple[NDArray[np.int64], Floats, int]:
        p, bins = _chances(rows, t), binned(t, *bins_of)
        # by where bins begin
        at = np.maximum(np.searchsorted(bins.low, p, side="right") - 1, 0)
        return at, rows.y - p, len(bins)

    return _known(rows, t, ("residuals", bins_of), made)


def _mean_gap(gap: Floats, mass: Floats, total: float) -> tuple[Any, Any]:
    return np.sign(gap) / total, -float((mass * np.abs(gap)).sum()) / total**2


def _largest_gap(gap: Floats, mass: Floats, total: float) -> tuple[Any, Any]:
    largest = np.arange(len(gap)) == np.abs(gap).argmax()
    along = np.where(largest, np.sign(gap) / np.where(mass > 0, mass, 1.0), 0.0)
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
    return np.asarray(side * np.where(rows.y, -pos, neg))


def _cumulated(rows: Rows, t: Tally, settings: Settings, between: bool) -> Floats:
    """Of the largest sum of residuals from the lowest score up, or of the range of these sums."""
    c, p = probability_cells(t), _chances(rows, t)
    sums = np.append(0.0, (c.pos - c.weight * c.p).cumsum()) / rows.mass().sum()
    ends = (sums.argmin(), sums.argmax()) if between else (0, np.abs(sums).argmax())
    first, last = sorted(int(x) for x in ends)
    low = np.append(c.low, np.inf)
    inside = (p >= low[first]) & (p < low[last])
    values = np.sign(sums[last] - sums[first]) * np.where(inside, rows.y - p, 0.0)
    return _of_mean(rows, values)


def _partial_area(rows: Rows, t: Tally, settings: Settings) -> Floats:
    """Of the area up to a false positive rate of 0.1: by what rows add to it on either side."""
    pooled, width = t.pooled, 0.1
    fpr, tpr = (1 - midranks(w) / float(w.sum()) for w in (pooled.neg, pooled.pos))
    # the curve at the boundary, straight between cells
    at = np.append(fpr[::-1], 1.0), np.append(tpr[::-1], 1.0)
    top = float(np.interp(width, *at))
    inside = np.maximum(width - fpr, 0.0)
    value = float((pooled.pos * inside).sum()) / t.positives
    pos = (inside - value) / t.positives
    neg = (width * top - value - np.maximum(top - tpr, 0.0)) / t.negatives
    return at_cells(t, CellInfluence(neg, pos), rows)


def _isotonic(rows: Rows, t: Tally, settings: Settings, sign: float) -> Floats:
    """Of miscalibration, or of discrimination (sign -1): by losses beside those of the isotonic fit."""
    pooled = t.pooled
    fit = run_shares(pooled.neg, pooled.pos, isotonic_runs(pooled.neg, pooled.pos))
    neg, pos = score_losses(fit, "probability", "brier")
    fitted_loss = at_cells(t, CellInfluence(neg, pos), rows)
    if sign > 0:
        losses = score_losses(rows.scores[t.origin.score], t.kind, "brier")
        other = np.where(rows.y, losses[1], losses[0])
    else:
        q = t.positives / (t.negatives + t.positives)
        other = np.where(rows.y, (1 - q) ** 2, q * q)
    return _of_mean(rows, other - fitted_loss)


_INFLUENCE: dict[str, Influence] = {
    "auroc": lambda rows, t, _: auroc_influence(rows, t),
    "average_precision": partial(_precision, trapezoid=False),
    "pr_trapezoid": partial(_precision, trapezoid=True),
    "smauc": lambda rows, t, _: at_cells(t, smauc_influence(t.pooled, midpoint(t)), rows),
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
    "partial_auroc": _partial_area,
    "mcb_crossfit": partial(_isotonic, sign=1.0),
    "mcb": partial(_isotonic, sign=1.0),
    "dsc": partial(_isotonic, sign=-1.0),
}


def deal_groups(
    rows: Rows, groups: int = GROUPS, seed: int = 0, cluster: Any = None
) -> NDArray[np.int64]:
    """The group of each row, dealt at random, both classes evenly; clusters stay whole."""
    if cluster is not None:
        return deal_clusters(np.unique(cluster, return_inverse=True)[1], groups, seed)
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
    cells, weights = len(t.pooled.score), []
    at = group * cells + cell_of_rows(t, rows)
    for weight in (rows.mass(), rows.mass(2)):
        for side in (~rows.y, rows.y):
            by_group = np.bincount(at, weight * side, groups * cells).reshape(groups, cells)
            total = by_group.sum(0)
            weights.append(total - by_group + 1e-12 * total)  # no cell is empty
    return weights


def clustered(
    e: Estimate, m: Measure, rows: Rows, t: Tally, settings: Settings, cluster: Ints
) -> Estimate:
    """The estimate of rows that come in clusters: its interval widened by what rows of one share.

    The distances of the limits grow as the standard error does when influences are added up by cluster
    before they are squared (of AUROC: Obuchowski 1997; of a share, the design effect of Korn and Graubard
    1998), and by Student's quantile with one degree of freedom less than there are clusters. A p-value
    that knows nothing of clusters is left out.
    """
    if not e.defined or not e.high > e.low:
        return e
    clusters, seed = int(cluster.max()) + 1, settings["seed"]
    if clusters < 2:
        return widened(e, 0.0, 0.0, clusters, m.bounds)
    x = row_influence(m, rows, t, settings)
    if x is None:
        group = deal_groups(rows, min(GROUPS, clusters), seed, cluster)
        values = left_out(m, rows, t.origin.score, settings, group)
        groups = len(values)
        variance = (groups - 1) / groups * float(((values - values.mean()) ** 2).sum())
        by_row = ((e.high - e.low) / (2 * normal_quantile(settings["level"]))) ** 2
    else:
        total = np.bincount(cluster, rows.mass() * x, clusters)
        variance = float((total * total).sum()) * clusters / (clusters - 1)
        by_row = float((rows.mass(2) * x * x).sum())
    wide = widened(e, variance, by_row, clusters, m.bounds)
    if m.name == "ece":
        at, residual, bins = binned_residuals(rows, t)
        sums = np.bincount(cluster * bins + at, rows.mass() * residual, clusters * bins)
        total_weight = float(rows.mass().sum())
        p, expected = wild_bootstrap(
            sums.reshape(clusters, bins).astype(np.float64),
            lambda total: np.abs(total).sum(1) / total_weight, seed,
        )  # fmt: skip
        return replace(wide, p=p, expected=expected)
    if e.p is None or m.better != "near":
        return replace(wide, p=None)
    from scipy.special import ndtr

    quantile = (
        abs(e.value - m.target) * normal_quantile(e.level) / max((wide.high - wide.low) / 2, 1e-300)
    )
    return replace(wide, p=float(2 * ndtr(-quantile)))
