"""Every measure once more, by packages that this project did not write.

Each oracle takes labels, scores, weights and a threshold. A new measure needs a line in ORACLES:
that is the one thing about it that has to be said by hand.
"""

import warnings

import hmeasure
import numpy as np
from sklearn import metrics as sk
from statsmodels.stats.contingency_tables import Table2x2

import smooth_loops


def decided(function, **options):
    """An oracle of scikit-learn that compares labels with decisions."""
    return lambda y, s, w, threshold: function(y, s >= threshold, sample_weight=w, **options)


def scored(function, **options):
    """An oracle of scikit-learn that takes scores."""
    return lambda y, s, w, threshold: function(y, s, sample_weight=w, **options)


def of_parts(formula, *parts):
    """A formula of other oracles."""
    return lambda *case: formula(*(part(*case) for part in parts))


def repeated(function):
    """An oracle without weights: whole weights are that many rows."""

    def oracle(y, s, w, threshold):
        times = np.ones(len(y), int) if w is None else w.astype(int)
        assert w is None or (times == w).all()
        return function(np.repeat(y, times), np.repeat(s, times))

    return oracle


recall = decided(sk.recall_score)
specificity = decided(sk.recall_score, pos_label=0)
precision = decided(sk.precision_score)
npv = decided(sk.precision_score, pos_label=0)


def likelihood_ratio(which):
    def oracle(y, s, w, threshold):
        with warnings.catch_warnings(
            action="ignore"
        ):  # of ratios without a value, which are left out
            return sk.class_likelihood_ratios(y, s >= threshold, sample_weight=w)[which]

    return oracle


def odds_ratio(y, s, w, threshold):
    (tn, fp), (fn, tp) = sk.confusion_matrix(y, s >= threshold, sample_weight=w)
    return Table2x2([[tp, fn], [fp, tn]], shift_zeros=False).oddsratio


def prevalence(y, s, w, threshold):
    return np.average(y, weights=w)


def partial_area(y, s, w, threshold, width=0.1):
    mcclish = sk.roc_auc_score(y, s, sample_weight=w, max_fpr=width)
    chance = width**2 / 2
    return chance + (2 * mcclish - 1) * (width - chance)


def pr_area(y, s, w, threshold):
    height, recall, _ = sk.precision_recall_curve(y, s, sample_weight=w)
    return sk.auc(recall, height)


def largest_distance(y, s, w, threshold):
    fpr, tpr, _ = sk.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    return np.abs(tpr - fpr).max()


# a severity ratio below 0 asks the package for Beta(1 + prevalence, 2 - prevalence)
h_score = repeated(lambda y, s: hmeasure.h_score(y.astype(int), s, severity_ratio=-1.0))


def smooth_area(y, s, w, threshold):
    """No package knows smROC: all pairs of rows, in loops."""
    w = np.ones(len(y)) if w is None else w
    return smooth_loops.area(y, s, w, smooth_loops.midpoint(y, s, w, "mean"))


ORACLES = {
    "accuracy": decided(sk.accuracy_score),
    "balanced_accuracy": decided(sk.balanced_accuracy_score),
    "sensitivity": recall,
    "specificity": specificity,
    "precision": precision,
    "npv": npv,
    "f1": decided(sk.f1_score),
    "f_beta": decided(sk.fbeta_score, beta=2),
    "jaccard": decided(sk.jaccard_score),
    "mcc": decided(sk.matthews_corrcoef),
    "kappa": decided(sk.cohen_kappa_score),
    "youden": decided(sk.balanced_accuracy_score, adjusted=True),
    "markedness": of_parts(lambda a, b: a + b - 1, precision, npv),
    "g_mean": of_parts(lambda a, b: np.sqrt(a * b), recall, specificity),
    "lr_plus": likelihood_ratio(0),
    "lr_minus": likelihood_ratio(1),
    "dor": odds_ratio,
    "lift": of_parts(lambda a, b: a / b, precision, prevalence),
    "auroc": scored(sk.roc_auc_score),
    "partial_auroc": partial_area,
    "average_precision": scored(sk.average_precision_score),
    "pr_trapezoid": pr_area,
    "ks": largest_distance,
    "h_measure": h_score,
    "smauc": smooth_area,
    "log_loss": scored(sk.log_loss),
    "brier": scored(sk.brier_score_loss),
}
WITHOUT_WEIGHTS = {"h_measure"}
