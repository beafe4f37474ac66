"""Decision quantities as formulas of tp, fp, fn, tn; they take numbers, arrays and complex steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorewise.tallies.kappa import kappa as kappa_of


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
    return kappa_of(cells.reshape(*cells.shape[:-1], 2, 2))


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
