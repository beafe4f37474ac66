"""Every measure of several classes once more, by packages that this project did not write.

Each oracle takes labels (0 to K - 1), probabilities and weights. A new measure of several classes needs a
line in CLASS_ORACLES.
"""

from itertools import permutations

import numpy as np
from scipy.spatial.distance import cosine
from scipy.special import digamma
from sklearn import metrics as sk


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
}  # fmt: skip
