"""Every measure once more, by packages that this project did not write.

Each oracle takes labels, scores, weights and a threshold. A new measure needs a line in ORACLES:
that is the one thing about it that has to be said by hand.
"""

import warnings

import hmeasure
import numpy as np
from scipy.stats import binned_statistic
from sklearn import metrics as sk
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics.pairwise import laplacian_kernel
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM
from statsmodels.stats.contingency_tables import Table2x2

import calibration_loops as loops
import smooth_loops
from scorewise import Tally
from scorewise.inference.folds import deal_cells
from scorewise.inference.folds import deal_rows as folds_of
from scorewise.statistics.probabilities import probability_cells


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


def spherical_loss(y, s, w, threshold):
    given = np.column_stack([1 - s, s])
    cosine = given[np.arange(len(y)), y.astype(int)] / np.linalg.norm(given, axis=1)
    return np.average(1 - cosine, weights=w)


def recalibrated_brier(y, s, w, threshold):
    fit = IsotonicRegression().fit(s, y, sample_weight=w).predict(s)
    return sk.brier_score_loss(y, fit.clip(0, 1), sample_weight=w)


def constant_brier(y, s, w, threshold):
    return sk.brier_score_loss(y, np.full(len(y), prevalence(y, s, w, 0)), sample_weight=w)


def crossfitted(y, s, w, threshold, folds=10):
    """The folds of this project; fits and losses of scikit-learn."""
    w = np.ones(len(y)) if w is None else w
    score, cell = np.unique(s, return_inverse=True)
    square, share = np.bincount(cell, w * w), np.bincount(cell, w * y) / np.bincount(cell, w)
    rng, dealt = np.random.default_rng(0), []
    for side, part in ((~y, 1 - share), (y, share)):
        dealt.append(folds_of(np.bincount(cell, w * side), square * part, folds, rng)[0])
    label, at = np.repeat([0, 1], len(score)), np.tile(score, 2)
    saved = 0.0
    for k in range(folds):
        here, rest = (
            np.concatenate([d[k] if own else d.sum(0) - d[k] for d in dealt]) for own in (1, 0)
        )
        seen = rest > 1e-9
        model = IsotonicRegression(out_of_bounds="clip")
        model.fit(at[seen], label[seen], sample_weight=rest[seen])
        saved += (here * ((at - label) ** 2 - (model.predict(at) - label) ** 2)).sum()
    return saved / w.sum()


def cox(which):
    def oracle(y, s, w, threshold):
        x = np.log(s) - np.log1p(-s)
        ones = np.ones((len(y), 1))
        line = (ones, x) if which == "intercept" else (np.column_stack([ones, x]), None)
        weights = np.ones(len(y)) if w is None else w
        model = GLM(y.astype(float), line[0], Binomial(), offset=line[1], freq_weights=weights)
        return model.fit(tol=1e-15, maxiter=200).params[-1]

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
    c = probability_cells(Tally.of(y, p, weight=w, kind="probability"))
    values, at = np.unique(p, return_inverse=True)
    weight, squares = np.bincount(at, w), np.bincount(at, w * w)
    return loops.directed(values, weight, squares, *deal_cells(c, 5, 0), 5)


def spiegelhalter(y, s, w, threshold):
    w = np.ones(len(y)) if w is None else w
    above = variance = 0.0
    for label, p, weight in zip(y, s, w, strict=True):
        above += weight * ((label - p) ** 2 - p * (1 - p))
        variance += weight**2 * (1 - 2 * p) ** 2 * p * (1 - p)
    return above / np.sqrt(variance)


def hosmer_lemeshow(y, s, w, threshold, groups=10):
    """A group is told by where the middle of the mass of a score lies."""
    w = np.ones(len(y)) if w is None else w
    middle = [w[s < p].sum() + w[s == p].sum() / 2 for p in s]
    group = np.minimum(np.array(middle) / w.sum() * groups + 1e-9, groups - 1).astype(int)
    if len(set(s)) <= groups:  # each a group
        group = np.unique(s, return_inverse=True)[1]
    total = 0.0
    for g in np.unique(group):
        of = group == g
        p = np.average(s[of], weights=w[of])
        gap = (w[of] * (y[of] - s[of])).sum()
        total += gap**2 / ((w[of] ** 2).sum() * p * (1 - p))
    return total


def smooth_distances(y, s, w, threshold):
    """Distances from a local quadratic fit, by numpy's least squares at each row, and their weights."""
    w = np.ones(len(y)) if w is None else w
    found = []
    for at in s:
        far = np.abs(s - at)
        order = np.argsort(far, kind="stable")
        width = far[order][np.searchsorted(w[order].cumsum(), 0.75 * w.sum() * (1 - 1e-9))]
        u = (s - at) / width if width else s - at
        near = np.where(far < width, (1 - np.abs(u) ** 3) ** 3, 0.0) if width else far == 0
        root = np.sqrt(w * near)
        columns = np.stack([np.ones(len(s)), u, u * u], 1) * root[:, None]
        # as many columns as there are scores to tell them apart
        columns = columns[:, : len(np.unique(s[root > 1e-7]))]
        fit = np.linalg.lstsq(columns, root * y)[0][0]
        found.append(abs(np.clip(fit, 0, 1) - at))
    return np.array(found), w


def far_from_curve(share=None):
    def oracle(*case):
        far, w = smooth_distances(*case)
        if share is None:
            return np.average(far, weights=w)
        return np.quantile(far, share, weights=w, method="inverted_cdf")

    return oracle


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
    "spherical": spherical_loss,
    "mcb": of_parts(lambda a, b: a - b, scored(sk.brier_score_loss), recalibrated_brier),
    "dsc": of_parts(lambda a, b: a - b, constant_brier, recalibrated_brier),
    "unc": constant_brier,
    "mcb_crossfit": crossfitted,
    "calibration_slope": cox("slope"),
    "calibration_intercept": cox("intercept"),
    "spiegelhalter": spiegelhalter,
    "hosmer_lemeshow": hosmer_lemeshow,
    "oe_ratio": of_parts(
        lambda a, b: a / b, prevalence, lambda y, s, w, at: np.average(s, weights=w)
    ),
    "ici": far_from_curve(),
    "e50": far_from_curve(0.5),
    "e90": far_from_curve(0.9),
}
WITHIN = {"smece": 1e-4}  # where the oracle is not exact
WITHOUT_WEIGHTS = {"h_measure"}
