"""How measures of two models of several classes vary together on the same rows.

Measures of the confidence are those of two classes, right and wrong; means over rows and over classes are
taken apart into what each row adds. Where no such effect is known, groups of rows are left out in turn.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns import Rows
from scorewise.columns.classes import ClassRows
from scorewise.columns.labels import Labels
from scorewise.inference.effects import GROUPS, correlation, effects
from scorewise.registry import MEASURES, Measure
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.losses import softmax

# measures of the confidence against whether the decision was right, as of two classes
TOP = ("ece", "max_ce", "ce_l2_debiased", "smece", "ece_sweep")
# means over classes of measures of each class against the rest
MACRO = {
    "macro_auroc": "auroc", "macro_average_precision": "average_precision", "classwise_ece": "ece",
}  # fmt: skip
SLOW = ("canonical_ce", "calibration_gain", "skce")
SOME = 1000  # rows of which groups are left out
FEW = 50  # classes of which the areas are looked at one by one


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


def groups_left_out(rows: ClassRows, seed: int) -> list[ClassTally]:
    """The tallies of a sample of rows without each of forty groups in turn."""
    some = np.arange(0, len(rows), -(-len(rows) // SOME))
    group = np.random.default_rng(seed).permutation(len(some)) % GROUPS
    return [
        ClassTally.of_rows(picked(rows, some[group != g])) for g in range(min(GROUPS, len(some)))
    ]


def picked(rows: ClassRows, at: Any) -> ClassRows:
    """Some of the rows, in that order."""
    return rows.at(at)


def _effects(m: Measure, rows: ClassRows, settings: Mapping[str, Any]) -> Floats | None:
    """The effect of a unit of weight on each row, up to a factor; None where it is not known."""
    p = softmax(rows.scores) if rows.kind == "logit" else rows.scores
    if m.name in TOP:
        right = _binary(rows, p.argmax(1) == rows.y, p.max(1))
        return effects(MEASURES[m.name], right, Tally.of_rows(right, "score"), settings)
    if m.name in MACRO and len(rows.classes) <= FEW:
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
