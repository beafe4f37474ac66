"""How estimates of two models on the same rows vary together.

By the influence of rows, or of clusters of them, on both estimates; where that is not known, by groups of
rows that are left out in turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.columns import Rows
from scorewise.columns.classes import ClassRows
from scorewise.columns.labels import Labels
from scorewise.columns.rows import CheckedRows
from scorewise.computing import once
from scorewise.inference.influence import GROUPS, Settings, deal_groups, left_out, row_influence
from scorewise.inference.means import cluster_sums
from scorewise.registry import MEASURES, Measure
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.losses import class_probabilities

MAX_LEFT_OUT = 2000  # rows of which groups are left out: how two models vary together shows in few
MAX_CLASS_LEFT_OUT = 1000  # the same of several classes
MAX_ROWS = 100_000  # rows of a class of which the influence is looked at, where there are more
MAX_CLASSES = 50  # classes of which the areas are looked at one by one
# measures of the confidence against whether the decision was right, as of two classes
TOP = ("ece", "max_ce", "ce_l2_debiased", "smece", "ece_sweep")
# means over classes of measures of each class against the rest
MACRO = {
    "macro_auroc": "auroc", "macro_average_precision": "average_precision", "classwise_ece": "ece",
}  # fmt: skip
SLOW = ("canonical_ce", "calibration_gain", "skce")
AnyRows = TypeVar("AnyRows", bound=CheckedRows)


def correlation_of_models(
    m: Measure, rows: Rows, tallies: Sequence[Tally], settings: Settings, cluster: Any = None
) -> float:
    """The correlation of what a measure finds for two models on the same rows.

    By the influence of rows, or of clusters of them; else by leaving out groups. 0 where one of them is not
    seen to vary. Of very many rows, an even sample of each class tells it: an interval is off by less than
    1 % then.
    """
    rows, times = _thinned(rows) if cluster is None else (rows, np.ones(1))
    influence = [row_influence(m, rows, t, settings) for t in tallies]
    if any(x is None for x in influence):
        names = sorted(t.origin.score for t in tallies)
        if cluster is None:
            rows = spaced(rows, [rows.scores[n] for n in names], MAX_LEFT_OUT)
        group = deal_groups(rows, seed=settings["seed"], cluster=cluster)
        values = (left_out(m, rows, t.origin.score, settings, group) for t in tallies)
        return _of_left_out(*values)
    heavy = (rows.mass(2) / times) ** 0.5
    effects = [heavy * x for x in influence if x is not None]
    if cluster is not None:
        effects = [cluster_sums(x, cluster) for x in effects]
    return correlation(*effects)


def correlation_of_classes(
    m: Measure,
    rows: Sequence[ClassRows],
    tallies: Sequence[Callable[[], Sequence[ClassTally]]],
    settings: Settings,
) -> float:
    """The same of a measure of several classes.

    `tallies` give those of each model without each group in turn; see `groups_left_out`. Of measures that
    take long, 0, which makes the interval of the difference too wide rather than too narrow.
    """
    first, second = (_class_influence(m, r, settings) for r in rows)
    if first is not None and second is not None:
        heavy = np.sqrt(rows[0].mass(2))
        return correlation(heavy * first, heavy * second)
    if m.name in SLOW:
        return 0.0
    return _of_left_out(*(np.array([m.under(settings, t).value for t in of()]) for of in tallies))


def _of_left_out(first: Floats, second: Floats) -> float:
    """The correlation of values without each group, where both are defined."""
    both = ~np.isnan(first + second)
    return correlation(*(x[both] - x[both].mean() for x in (first, second))) if both.any() else 0.0


def correlation(first: Floats, second: Floats) -> float:
    """The correlation of effects, whose mean is 0; 0 where one of them is not seen to vary.

    >>> round(correlation(np.array([1.0, -1, 0]), np.array([1.0, 0, -1])), 9)
    0.5
    """
    size = math.sqrt(float((first * first).sum())) * math.sqrt(float((second * second).sum()))
    return float(np.clip((first * second).sum() / size, -1.0, 1.0)) if size > 0 else 0.0


def correlation_by_cluster(cluster: Ints, *sides: tuple[Any, Floats]) -> float:
    """The correlation of two sides, each the places of rows and their effects, by clusters in both."""
    clusters = int(cluster.max()) + 1
    return correlation(
        *(np.bincount(cluster[at], x, clusters).astype(np.float64) for at, x in sides)
    )


def ordered(rows: Any, scores: Sequence[Any]) -> Ints:
    """Places of the rows in an order that their values decide, not how they came."""
    w = rows.weight
    columns = [rows.y, *scores, *([] if w is None or not len(w) else [w / w.max()])]
    factor = np.random.default_rng(0).uniform(1, 2, len(columns))  # so that no other rows tie
    key = np.zeros(len(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        for k, column in enumerate(columns):
            key += factor[k] * column
    return np.argsort(key)


def spaced(rows: AnyRows, scores: Sequence[Any], limit: int) -> AnyRows:
    """At most so many rows, evenly along their order; one that stands for several comes as often."""
    order = ordered(rows, scores)
    ends = np.arange(1, len(rows) + 1) if rows.count is None else np.cumsum(rows.count[order])
    total = int(ends[-1]) if len(ends) else 0
    steps = np.arange(0, total, max(-(-total // limit), 1))
    return replace(rows.at(order[np.searchsorted(ends, steps, "right")]), count=None)


@once
def _thinned(rows: Rows) -> tuple[Rows, Floats]:
    """At most so many rows of each class, evenly along the rows, and how many each stands for.

    Their weights are as much larger.
    """
    if len(rows) <= 2 * MAX_ROWS:
        return rows, np.ones(1)
    at, times = [], []
    order = ordered(rows, [rows.scores[name] for name in sorted(rows.scores)])
    for side in (rows.y, ~rows.y):
        there = order[side[order]]
        step = -(-len(there) // MAX_ROWS) if len(there) else 1
        at.append(there[step // 2 :: step])
        times.append(np.full(len(at[-1]), float(step)))
    thinned, repeats = rows.at(np.concatenate(at)), np.concatenate(times)
    weight = np.ones(len(thinned)) if thinned.weight is None else thinned.weight
    return replace(thinned, weight=weight * repeats), repeats


def groups_left_out(rows: ClassRows, models: Iterable[ClassRows], seed: int) -> list[ClassTally]:
    """The tallies of a sample of rows without each of forty groups in turn, the same for all models."""
    sample = spaced(
        rows, [m.scores[:, k] for m in models for k in range(len(m.classes))], MAX_CLASS_LEFT_OUT
    )
    group = np.random.default_rng(seed).permutation(len(sample)) % GROUPS
    return [ClassTally.of_rows(sample.at(group != g)) for g in range(min(GROUPS, len(sample)))]


def _class_influence(m: Measure, rows: ClassRows, settings: Settings) -> Floats | None:
    """The influence of each row, up to a factor; None where it is not known."""
    p = class_probabilities(rows.scores, rows.kind)
    if m.name in TOP:
        right = _binary(rows, p.argmax(1) == rows.y, p.max(1))
        return row_influence(MEASURES[m.name], right, Tally.of_rows(right, "score"), settings)
    if m.name in MACRO and len(rows.classes) <= MAX_CLASSES:
        of = MEASURES[MACRO[m.name]]
        total = np.zeros(len(rows))
        for k in np.unique(rows.y).tolist():
            binary = _binary(rows, rows.y == k, p[:, k])
            influence = row_influence(of, binary, Tally.of_rows(binary, "score"), settings)
            assert influence is not None
            total += influence
        return total
    of_truth = p[np.arange(len(rows)), rows.y]
    if m.name in ("accuracy", "balanced_accuracy"):
        values = (p.argmax(1) == rows.y).astype(np.float64)
    elif m.name == "log_loss":
        values = -np.log(np.maximum(of_truth, settings.get("clip") or 1e-300))
    elif m.name == "brier":
        values = (p * p).sum(1) - 2 * of_truth
    else:
        return None
    weight = rows.mass()
    side = rows.y if m.name == "balanced_accuracy" else np.zeros(len(rows), np.int64)
    size = np.bincount(side, weight)[side]
    return np.asarray((values - np.bincount(side, weight * values)[side] / size) / size)


def _binary(rows: ClassRows, y: Any, s: Floats) -> Rows:
    """Rows of two classes with the same weights."""
    labels = Labels("1", "0", "")
    return Rows(
        y=y, scores={"score": s}, weight=rows.weight, count=rows.count, labels=labels, names=rows.names,
        dropped=0, kinds={"score": "probability"},
    )  # fmt: skip
