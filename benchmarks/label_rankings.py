"""Rankings of rows by suspicion that the label is wrong: ours, those tried beside it, and cleanlab's.

Each takes labels (True for positive) and scores, and gives row numbers, the most suspicious first.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scorewise.columns import take
from scorewise.inspection.suspects import most, suspicion
from scorewise.tallies import Tally
from scorewise.tallies.smroc import cell_climbs, midpoint

Ranking = Callable[[np.ndarray, np.ndarray], np.ndarray]


def by(suspicion: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> Ranking:
    return lambda y, p: np.argsort(-suspicion(y, p), kind="stable")


def middle(y: np.ndarray, p: np.ndarray, rule: str) -> float:
    return midpoint(Tally.of(y, p, positive=True), rule).value


def inspected(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """What `sw.inspect` does."""
    rows = take(y, {"p": p}, positive=True)
    found = suspicion(rows, Tally.of_rows(rows, "p"))
    return most(found, np.ones(len(y), bool), len(y))


def hull(rule: str) -> Ranking:
    """The slopes of the hull of the smROC curve in place of those of the ROC curve's."""

    def slopes(y: np.ndarray, p: np.ndarray) -> np.ndarray:
        from scipy.optimize import isotonic_regression

        t = Tally.of(y, p, positive=True)
        climb, run = cell_climbs(t, midpoint(t, rule).value)
        fitted = isotonic_regression(climb / (climb + run), weights=climb + run).x
        at = fitted[np.searchsorted(t.score, p)]
        return error(y, at).round(12) + 1e-9 * error(y, p)

    return by(slopes)


def error(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.abs(y - p)


def segment(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Inappropriate scores before all appropriate ones."""
    wrong = (p >= middle(y, p, "mean")) != y
    return error(y, p) - ~wrong


def beyond(rule: str) -> Ranking:
    """How far the score lies beyond the midpoint, of the way to the end of the scale."""

    def far(y: np.ndarray, p: np.ndarray) -> np.ndarray:
        m = middle(y, p, rule)
        return np.where(y, (m - p) / m, (p - m) / (1 - m))

    return by(far)


def place(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Share of the other class that the row is placed wrongly against, ties half."""

    def below(scores: np.ndarray) -> np.ndarray:
        s = np.sort(scores)
        return (np.searchsorted(s, p) + np.searchsorted(s, p, "right")) / 2 / len(s)

    return np.where(y, 1 - below(p[~y]), below(p[y]))


def margin(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Probability over the prior of the other class minus that of its own."""
    other, own = p / y.mean(), (1 - p) / (1 - y.mean())
    return np.where(y, own - other, other - own)


def calibrated(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """The error of scores that were calibrated by isotonic regression, ties by place."""
    from sklearn.isotonic import IsotonicRegression

    fitted = IsotonicRegression().fit_transform(p, y.astype(float))
    return error(y, fitted).round(12) + 1e-9 * place(y, p)


def cleanlab(method: str, adjust: bool = False) -> Ranking:
    from cleanlab.rank import get_label_quality_scores

    return by(
        lambda y, p: (
            -get_label_quality_scores(
                y.astype(int), np.c_[1 - p, p], method=method, adjust_pred_probs=adjust
            )
        )
    )


def issues(y: np.ndarray, p: np.ndarray) -> np.ndarray:
    """cleanlab's list, which may be shorter than what was planted."""
    from cleanlab.filter import find_label_issues

    found = find_label_issues(
        y.astype(int), np.c_[1 - p, p], return_indices_ranked_by="self_confidence", n_jobs=1
    )
    return np.asarray(found, int)


OURS = "`inspect`: hull of the ROC curve"
RANKINGS: dict[str, Ranking] = {
    OURS: inspected,
    "hull of the ROC curve, ties by place": by(calibrated),
    "smROC hull, balanced midpoint": hull("balanced"),
    "smROC hull, mean midpoint": hull("mean"),
    "smROC signed segment": by(segment),
    "beyond the midpoint (mean)": beyond("mean"),
    "beyond the midpoint (balanced)": beyond("balanced"),
    "place among the other class": by(place),
    "place times plain error": by(lambda y, p: place(y, p) * error(y, p)),
    "margin over the prior": by(margin),
    "plain error, abs(y - p)": by(error),
    "cleanlab self_confidence": cleanlab("self_confidence"),
    "cleanlab normalized_margin": cleanlab("normalized_margin"),
    "cleanlab confidence_weighted_entropy": cleanlab("confidence_weighted_entropy"),
    "cleanlab self_confidence, adjusted": cleanlab("self_confidence", adjust=True),
    "cleanlab normalized_margin, adjusted": cleanlab("normalized_margin", adjust=True),
    "cleanlab find_label_issues": issues,
}
