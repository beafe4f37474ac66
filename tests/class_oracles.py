"""Every measure of several classes once more, by packages that this project did not write.

Each oracle takes labels (0 to K - 1), probabilities and weights. A new measure of several classes needs a
line in CLASS_ORACLES.
"""

from itertools import combinations, permutations

import numpy as np
from scipy import optimize, stats
from scipy.spatial.distance import cosine
from scipy.special import digamma, log_softmax, logsumexp
from sklearn import metrics as sk

import oracles


def decided(function, **options):
    """An oracle of scikit-learn that compares labels with decisions."""
    return lambda y, p, w: function(y, p.argmax(1), sample_weight=w, **options)


def own(y, p):
    """The indicators of the true class, one column a class."""
    return (y[:, None] == np.arange(p.shape[1])).astype(int)


def each(function):
    """A function of scikit-learn for each class that occurs against the rest, and its frequency."""

    def values(y, p, w):
        there = np.unique(y)
        share = np.array([np.average(y == c, weights=w) for c in there])
        return np.array([function(y == c, p[:, c], sample_weight=w) for c in there]), share

    return values


areas, precisions = each(sk.roc_auc_score), each(sk.average_precision_score)


def precision_of_called(y, p, w):
    called = p.argmax(1)
    return sk.precision_score(
        y, called, labels=np.unique(called), average="macro", sample_weight=w, zero_division=0
    )


def ordered_pairs(y, p, w):
    """Hand and Till's M by looking at every pair of rows."""
    w = np.ones(len(y)) if w is None else w
    found = []
    for a, b in permutations(np.unique(y), 2):
        won = total = 0.0
        for i in np.flatnonzero(y == a):
            for j in np.flatnonzero(y == b):
                ahead = (p[i, a] > p[j, a]) + (p[i, a] == p[j, a]) / 2
                won, total = won + w[i] * w[j] * ahead, total + w[i] * w[j]
        found.append(won / total)
    return np.mean(found)


def log_loss(y, p, w):
    return np.average(-np.log(p[np.arange(len(y)), y]), weights=w)


def brier(y, p, w):
    return p.shape[1] * sk.mean_squared_error(own(y, p), p, sample_weight=w)


def angles(y, p, w):
    return np.average([cosine(a, b) for a, b in zip(own(y, p), p, strict=True)], weights=w)


def cuts(y, p, w):
    below = [
        sk.mean_squared_error(y <= k, p[:, : k + 1].sum(1), sample_weight=w)
        for k in range(p.shape[1] - 1)
    ]
    return np.mean(below)


def risks(y, p, w):
    """By falling confidence: weight and squared weight of all rows on it, and weight of the wrong ones."""
    w = np.ones(len(y)) if w is None else w
    sure, wrong = np.minimum(p.max(1), 1.0), p.argmax(1) != y
    for c in sorted(set(sure[w > 0]), reverse=True):
        at = sure == c
        yield w[at].sum(), (w[at] ** 2).sum(), w[at & wrong].sum()


def mean_risk(cells):
    """The mean risk over rows; on ties, of as many equal rows as are worth as much, in random order."""
    kept = missed = total = 0.0
    for mass, squares, wrong in cells:
        row = squares / mass
        start, stop = kept / row + 1, (kept + mass) / row + 1
        total += wrong + (missed - wrong * kept / mass) * (digamma(stop) - digamma(start))
        kept, missed = kept + mass, missed + wrong
    return total / kept


def best_last(y, p, w):
    """The cells of the same rows if all right ones came first."""
    w = np.ones(len(y)) if w is None else w
    right = w * (p.argmax(1) == y)
    wrong = risks(y[right == 0], p[right == 0], w[right == 0])
    first = [(right.sum(), (right**2).sum(), 0.0)] if right.any() else []
    return [*first, *wrong]


def generalised(y, p, w):
    """By the ROC curve of confidence against correct (Traub et al. 2024)."""
    right = p.argmax(1) == y
    a = np.average(right, weights=w)
    if a in (0, 1):
        return (1 - a) / 2
    area = sk.roc_auc_score(right, np.minimum(p.max(1), 1.0), sample_weight=w)
    return (1 - area) * a * (1 - a) + (1 - a) ** 2 / 2


def confident(name):
    """The oracle of two classes, of the confidence against being right."""

    def oracle(y, p, w):
        return oracles.ORACLES[name](p.argmax(1) == y, np.minimum(p.max(1), 1.0), w, 0.5)

    return oracle


def each_class_in_bins(y, p, w):
    found = [oracles.ORACLES["ece"](y == k, p[:, k], w, 0.5) for k in range(p.shape[1])]
    return np.mean(found)


def one_by_one(y, p, w):
    """Rows and their shares of weight; equal rows are as many as their weights are worth (Kish)."""
    w = np.ones(len(y)) if w is None else w
    joined = {}
    for label, row, weight in zip(y, p, w, strict=True):
        mass, squares = joined.get((label, *row), (0.0, 0.0))
        joined[label, *row] = mass + weight, squares + weight**2
    rows = []
    for key, (mass, squares) in joined.items():
        times = max(round(mass**2 / squares), 1)
        rows += [(*key, mass / times)] * times
    table = np.array(rows)
    return table[:, 0].astype(int), table[:, 1:-1], table[:, -1] / table[:, -1].sum()


def dirichlet_error(y, p, w):
    """Dirichlet kernels on the other rows, at the bandwidth that makes rows likeliest."""
    y, p, w = one_by_one(y, p, w)
    n, happened = len(y), own(y, p)

    def log_kernels(h):
        found = np.array([stats.dirichlet.logpdf(p.T, q / h + 1) for q in p]).T + np.log(w)
        np.fill_diagonal(found, -np.inf)
        return found

    widths = [*np.logspace(-5, -1, 15), *np.linspace(0.2, 1, 5)]
    kernels = max(map(log_kernels, widths), key=lambda log: w @ logsumexp(log, axis=1))
    far = 0.0
    for i in range(n):
        share = np.exp(kernels[i] - logsumexp(kernels[i]))
        far += w[i] * np.abs(share @ happened - p[i]).sum()
    return far


def pairs_alike(y, p, w):
    """Over all pairs of rows: how alike their errors are, times how near their probabilities."""
    y, p, w = one_by_one(y, p, w)
    pairs = list(combinations(range(len(y)), 2))
    far = [np.abs(p[i] - p[j]).sum() / 2 for i, j in pairs]
    width, gap = max(np.median(far), 0.05), own(y, p) - p
    weight = [w[i] * w[j] for i, j in pairs]
    alike = [np.exp(-d / width) * gap[i] @ gap[j] for (i, j), d in zip(pairs, far, strict=True)]
    return np.average(alike, weights=weight)


def tempered(y, p, w):
    """What each row saves by the temperature that is best for all others."""
    y, p, w = one_by_one(y, p, w)
    log, row = np.log(p), np.arange(len(y))

    def loss(b):
        return -log_softmax(b * log, axis=1)[row, y]

    saved = loss(1.0)
    for i in row:
        rest = np.where(row == i, 0.0, w)
        fit = optimize.minimize_scalar(
            lambda x, rest=rest: rest @ loss(np.exp(x)), bounds=(-np.log(32), np.log(32)),
            method="bounded", options={"xatol": 1e-9},
        )  # fmt: skip
        saved[i] -= loss(np.exp(fit.x))[i]
    return w @ saved


def every_row_a_fold(y, p, w):
    """Then it does not matter in which order rows are dealt to folds."""
    return {"folds": len(one_by_one(y, p, w)[0])}


CLASS_ORACLES = {
    "accuracy": decided(sk.accuracy_score),
    "balanced_accuracy": decided(sk.balanced_accuracy_score),
    "macro_precision": precision_of_called,
    "macro_f1": decided(sk.f1_score, average="macro", zero_division=0),
    "weighted_f1": decided(sk.f1_score, average="weighted", zero_division=0),
    "kappa": decided(sk.cohen_kappa_score),
    "mcc": decided(sk.matthews_corrcoef),
    "macro_auroc": lambda y, p, w: areas(y, p, w)[0].mean(),
    "weighted_auroc": lambda y, p, w: np.dot(*areas(y, p, w)),
    "micro_auroc": lambda y, p, w: sk.roc_auc_score(own(y, p).ravel(), p.ravel(), sample_weight=(
        None if w is None else np.repeat(w, p.shape[1]))),
    "hand_till": ordered_pairs,
    "macro_average_precision": lambda y, p, w: precisions(y, p, w)[0].mean(),
    "aurc": lambda y, p, w: mean_risk(risks(y, p, w)),
    "excess_aurc": lambda y, p, w: mean_risk(risks(y, p, w)) - mean_risk(best_last(y, p, w)),
    "augrc": generalised,
    "log_loss": log_loss,
    "brier": brier,
    "spherical": angles,
    "rps": cuts,
    "classwise_ece": each_class_in_bins,
    "ece": confident("ece"),
    "max_ce": confident("max_ce"),
    "ce_l2_debiased": confident("ce_l2_debiased"),
    "smece": confident("smece"),
    "ece_sweep": confident("ece_sweep"),
    "canonical_ce": dirichlet_error,
    "skce": pairs_alike,
    "calibration_gain": tempered,
}  # fmt: skip
OPTIONS = {"calibration_gain": every_row_a_fold}
# where the oracle (a sum over a grid) or the measure (temperatures by a table) is not exact
WITHIN = {"smece": 1e-4, "calibration_gain": 1e-3}
