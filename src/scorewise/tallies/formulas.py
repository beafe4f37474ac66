"""Cohen's kappa of square tables: of labels and decisions, or of two raters."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorewise.arrays import Floats


def table_kappa(table: Any, apart: Floats | None = None) -> Any:
    """Agreement beyond chance, 1 - disagreement seen / disagreement by the margins.

    The last two axes are a table, those before it replicates. `apart` says how far apart two categories
    are, from 0 to 1; without it different ones are 1 apart.

    >>> round(float(table_kappa(np.array([[20.0, 5.0], [10.0, 15.0]]))), 6)
    0.4
    """
    _, seen, by_chance, *_ = _parts(table, apart)
    return 1 - seen / by_chance


def kappa_slope(table: Floats, apart: Floats | None = None) -> Floats:
    """How each cell moves kappa: that of Fleiss, Cohen and Everitt (1969)."""
    away, seen, by_chance, of_row, of_column = _parts(table, apart)
    seen, by_chance = seen[..., None, None], by_chance[..., None, None]
    turned = of_row[..., :, None] + of_column[..., None, :] - 2 * by_chance
    total = table.sum((-2, -1), keepdims=True)
    slope: Floats = (seen / by_chance * turned - (away - seen)) / by_chance / total
    return slope


def _parts(table: Any, apart: Floats | None) -> tuple[Any, Any, Any, Any, Any]:
    """How far categories are apart, the means of it as seen and by chance, and those of each category."""
    away = 1 - np.eye(table.shape[-1]) if apart is None else apart
    share = table / table.sum((-2, -1), keepdims=True)
    row, column = share.sum(-1), share.sum(-2)
    of_row, of_column = column @ away.T, row @ away
    return away, (share * away).sum((-2, -1)), (row * of_row).sum(-1), of_row, of_column


# Decision quantities as formulas of tp, fp, fn, tn; they take numbers, arrays and complex steps.


def accuracy(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of right decisions."""
    return (tp + tn) / (tp + fp + fn + tn)


def sensitivity(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of positives called positive."""
    return tp / (tp + fn)


def specificity(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of negatives called negative."""
    return tn / (tn + fp)


def precision(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of positives among those called positive."""
    return tp / (tp + fp)


def npv(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of negatives among those called negative."""
    return tn / (tn + fn)


def balanced_accuracy(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Mean of sensitivity and specificity."""
    return (tp / (tp + fn) + tn / (tn + fp)) / 2


def youden(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Sensitivity + specificity - 1."""
    return tp / (tp + fn) + tn / (tn + fp) - 1


def markedness(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Precision + npv - 1."""
    return tp / (tp + fp) + tn / (tn + fn) - 1


def g_mean(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Geometric mean of sensitivity and specificity."""
    return (tp / (tp + fn) * (tn / (tn + fp))) ** 0.5


def f_beta(tp: Any, fp: Any, fn: Any, tn: Any, beta: float = 1.0) -> Any:
    """Harmonic mean of precision and sensitivity, sensitivity weighing beta^2 as much."""
    return (1 + beta**2) * tp / ((1 + beta**2) * tp + beta**2 * fn + fp)


def jaccard(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Share of those called positive and positive among those called positive or positive."""
    return tp / (tp + fp + fn)


def mcc(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Correlation of labels and decisions."""
    decided, labelled = (tp + fp) * (tn + fn), (tp + fn) * (tn + fp)
    return (tp * tn - fp * fn) / (decided**0.5 * labelled**0.5)


def kappa(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Agreement of labels and decisions beyond chance, by the margins."""
    cells = np.stack(np.broadcast_arrays(tn, fp, fn, tp), axis=-1)
    return table_kappa(cells.reshape(*cells.shape[:-1], 2, 2))


def lr_plus(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Sensitivity / (1 - specificity)."""
    return tp / (tp + fn) * ((tn + fp) / fp)


def lr_minus(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """(1 - sensitivity) / specificity."""
    return fn / (tp + fn) * ((tn + fp) / tn)


def dor(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Odds of a positive call among positives over those among negatives."""
    return (tp / fp) * (tn / fn)


def lift(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """Precision over prevalence."""
    return tp / (tp + fp) * ((tp + fp + fn + tn) / (tp + fn))
