"""Every measure once more, by packages that this project did not write.

Each oracle takes labels, scores, weights and a threshold. A new measure needs a line in ORACLES:
that is the one thing about it that has to be said by hand.
"""

import warnings

import hmeasure
import numpy as np
from scipy.stats import binned_statistic
from sklearn import metrics as sk
from sklearn.metrics.pairwise import laplacian_kernel
from statsmodels.stats.contingency_tables import Table2x2

import calibration_loops as loops
import smooth_loops
from scorewise import Tally
from scorewise.tallies.chances import chances
from scorewise.tallies.folds import dealt


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


def in_bins(formula):
    """An oracle of fifteen equal bins: [lo, hi), the last closed, as scipy cuts them."""

    def oracle(y, s, w, threshold):
        index = binned_statistic(s, s, "count", bins=np.arange(16) / 15).binnumber
        return formula(y, s, loops.ones(y, w), index)

    return oracle


def of_rows(formula):
    """An oracle that takes labels, probabilities and weights."""
    return lambda y, s, w, threshold: formula(y, s, loops.ones(y, w))


def kernel_pairs(y, p, w):
    pairs = np.outer(w * (y - p), w * (y - p)) * laplacian_kernel(p[:, None], gamma=1 / 0.25)
    weights = np.outer(w, w)
    apart = ~np.eye(len(y), dtype=bool)
    return pairs[apart].sum() / weights[apart].sum()


def directed(y, p, w):
    c = chances(Tally.of(y, p, weight=w, kind="probability"))
    return loops.directed(y, p, w, *dealt(c, 5, 0), 5)


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
    "ece": in_bins(loops.binned_error),
    "max_ce": in_bins(lambda *case: loops.binned_error(*case, norm=np.inf)),
    "ce_l2_debiased": in_bins(lambda *case: max(0.0, loops.debiased(*case)) ** 0.5),
    "ece_sweep": of_rows(loops.sweep),
    "smece": of_rows(lambda *case: loops.smooth_error(*case, points=300)),
    "skce": of_rows(kernel_pairs),
    "ecce_mad": of_rows(lambda *case: np.abs(loops.cumulative(*case)).max()),
    "ecce_range": of_rows(lambda *case: np.ptp(loops.cumulative(*case))),
    "ce_variational": of_rows(directed),
}
WITHIN = {"smece": 1e-4}  # where the oracle is not exact
WITHOUT_WEIGHTS = {"h_measure"}
