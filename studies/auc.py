"""How wrong is an AUROC that was made of bins, of thresholds or of the AUROCs of workers?

`make study NAME=auc` or `python -m studies auc [ROWS]` writes docs/tables/auc.md and auc_precision.md.
Scores are binormal: a positive is 1.5 standard deviations above a negative, which gives the probability.
Every rule is written here from its public description:

- Keras, `keras.metrics.AUC()`: 200 thresholds, those between evenly spaced, a row being above a threshold
  when its score is larger; trapezoids (keras.io/api/metrics/classification_metrics).
- equal bins: thresholds k/B, as in Vertica's `ROC` (100), torchmetrics' `thresholds=B + 1`, many queries.
- H2O, hex.AUC2: a histogram of at most 400 bins made in one pass; each row is a bin at first, and the two
  neighbours whose squared error grows least become one; trapezoids (github.com/h2oai/h2o-3).
- XGBoost, `eval_metric="auc"` of several workers: the mean of their AUROCs, by positives times negatives
  (xgboost.readthedocs.io/en/stable/parameter.html).
- Spark, BinaryClassificationEvaluator: all rows sorted, neighbouring distinct scores put together until
  about 1,000 are left; trapezoids (spark.apache.org/docs/latest/api/python, numBins).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np
from scipy.special import expit, logit

import scorewise as sw
from studies._tools import in_order, options, table, write

APART, WORKERS = 1.5, 16
# prevalence, factor on the log-odds, and how much higher those of the last worker are than of the first
SETTINGS = {
    "calibrated, 30 % positive": (0.3, 1.0, 0.0),
    "calibrated, 0.5 % positive": (0.005, 1.0, 0.0),
    "calibrated, 0.05 % positive": (0.0005, 1.0, 0.0),
    "overconfident, 0.5 % positive": (0.005, 4.0, 0.0),
    "scores drift from worker to worker": (0.3, 1.0, 4.0),
}


def draw(setting: str, rows: int) -> tuple[Any, Any]:
    """Labels and probabilities, in the order in which workers have them."""
    prevalence, factor, drift = SETTINGS[setting]
    rng = np.random.default_rng([list(SETTINGS).index(setting), rows])
    y = rng.random(rows) < prevalence
    y[:2] = False, True
    x = rng.normal(size=rows) + APART * y
    z = APART * (x - APART / 2) + logit(prevalence)
    return y, expit(factor * z + drift * np.linspace(-0.5, 0.5, rows))


def area(neg: Any, pos: Any) -> float:
    """Trapezoids under the curve through bins that are ordered from the lowest score up."""
    above = pos.sum() - pos.cumsum()
    return float((neg * (above + pos / 2)).sum() / (neg.sum() * pos.sum()))


def binned(y: Any, p: Any, edges: Any, side: Any = "right") -> float:
    """The area through the counts between edges; `side` is where a score on an edge belongs."""
    cell = np.searchsorted(edges, p, side)
    return area(*(np.bincount(cell[y == k], minlength=len(edges) + 1) for k in (False, True)))


def keras(y: Any, p: Any, thresholds: int = 200) -> float:
    inner = np.arange(1, thresholds - 1) / (thresholds - 1)
    return binned(y, p.astype(np.float32), inner.astype(np.float32), "left")


def equal_bins(y: Any, p: Any, bins: int) -> float:
    return binned(y, p, np.arange(1, bins + 1) / bins)


def spark(y: Any, p: Any, bins: int = 1000) -> tuple[float, float]:
    """The areas under both curves, of which precision-recall starts at the precision of its first point."""
    t = sw.Tally.of(y, p)
    size = len(t.score) // bins
    start = np.arange(0, len(t.score), size if size > 1 else 1)
    neg, pos = (np.add.reduceat(w[::-1], start) for w in (t.neg, t.pos))
    found, called = pos.cumsum(), (neg + pos).cumsum()
    precision, recall = found / called, found / found[-1]
    recall, precision = np.r_[0, recall], np.r_[precision[0], precision]
    return area(neg[::-1], pos[::-1]), float(np.trapezoid(precision, recall))


def xgboost(y: Any, p: Any, workers: int = WORKERS) -> float:
    parts = [(a, sw.measures.auroc(sw.Tally.of(a, b)).value) for a, b in _shares(y, p, workers)]
    areas = np.array([a.sum() * (~a).sum() for a, _ in parts], np.float64)
    each = np.array([v for _, v in parts])
    return float(np.average(each[areas > 0], weights=areas[areas > 0]))


def _shares(y: Any, p: Any, workers: int) -> Any:
    return zip(np.array_split(y, workers), np.array_split(p, workers), strict=True)


class Histogram:
    """H2O's: bins with a centre, a squared error and rows of each class, at most so many."""

    def __init__(self, most: int = 400) -> None:
        self.most = most
        self.centre: list[float] = []
        self.error: list[float] = []
        self.rows: list[list[int]] = []
        self.cost: list[float] = []  # squared error of bins i and i + 1 as one

    def _joined(self, i: int) -> float:
        a, b = sum(self.rows[i]), sum(self.rows[i + 1])
        # to 32 bits, in which H2O compares
        apart = float(np.float32(self.centre[i + 1]) - np.float32(self.centre[i]))
        return self.error[i] + self.error[i + 1] + apart * apart * a * b / (a + b) if apart else 0.0

    def _renew(self, *which: int) -> None:
        for i in which:
            if 0 <= i < len(self.cost):
                self.cost[i] = self._joined(i)

    def add(self, p: float, y: int) -> None:
        i = bisect_left(self.centre, p)
        if i < len(self.centre) and self.centre[i] == p:
            self.rows[i][y] += 1
            self._renew(i - 1, i)
            return
        self.centre.insert(i, p)
        self.error.insert(i, 0.0)
        self.rows.insert(i, [1 - y, y])
        if len(self.centre) > 1:
            self.cost.insert(i, 0.0) if i < len(self.cost) else self.cost.append(0.0)
        self._renew(i - 1, i)
        if len(self.centre) > self.most:
            self._merge(self.cost.index(min(self.cost)))

    def _merge(self, i: int) -> None:
        a, b = sum(self.rows[i]), sum(self.rows[i + 1])
        self.error[i] = self.cost[i]
        self.centre[i] = (self.centre[i] * a + self.centre[i + 1] * b) / (a + b)
        self.rows[i] = [m + n for m, n in zip(self.rows[i], self.rows[i + 1], strict=True)]
        for column in (self.centre, self.error, self.rows):
            del column[i + 1]
        del self.cost[i]
        self._renew(i - 1, i)


def h2o(y: Any, p: Any, bins: int = 400) -> float:
    made = Histogram(bins)
    for a, b in zip(p.tolist(), y.astype(int).tolist(), strict=True):
        made.add(a, b)
    return area(*np.array(made.rows).T)


RULES = {
    "Keras, 200 thresholds": keras,
    "100 equal bins": lambda y, p: equal_bins(y, p, 100),
    "1,000 equal bins": lambda y, p: equal_bins(y, p, 1000),
    "H2O, 400 bins": h2o,
    "XGBoost, 16 workers": xgboost,
    "Spark, 1,000 bins": lambda y, p: spark(y, p)[0],
}


def judged(job: tuple[str, int]) -> tuple[list[str], list[str]]:
    """The lines of a setting in both tables."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    setting, rows = job
    y, p = draw(setting, rows)
    t = sum((sw.Tally.of(*x).coarsen() for x in _shares(y, p, WORKERS)), sw.Tally.empty())
    exact, ours = roc_auc_score(y, p), sw.measures.auroc(t)
    assert abs(ours.value - exact) <= ours.bound
    errors = [_error(rule(y, p) - exact) for rule in RULES.values()]
    first = [setting, f"{exact:.4f}", _error(ours.value - exact), f"{ours.bound:.0e}", *errors]
    exact, ours = average_precision_score(y, p), sw.measures.average_precision(t)
    assert abs(ours.value - exact) <= ours.bound
    area = _error(spark(y, p)[1] - exact)
    return first, [
        setting, f"{exact:.4f}", _error(ours.value - exact), f"{ours.bound:.0e}", area
    ]  # fmt: skip


def _error(x: float) -> str:
    """A difference, in bold from a half of the second digit on."""
    text = f"{x:+.0e}" if abs(x) < 1e-3 else f"{x:+.3f}"
    return f"**{text}**" if abs(x) >= 0.005 else text


def main(args: list[str]) -> None:
    given = options(__name__, __doc__, 1_000_000, "rows").parse_args(args)
    jobs = [(setting, max(given.runs, 2000)) for setting in SETTINGS]  # fewer have no positives
    found = in_order(judged, jobs, given.processes, "areas")
    ours = ["scorewise", "its certified bound"]
    text = table(["scores", "exact", *ours, *RULES], [a for a, _ in found])
    write(text + "\n", given.out / "auc.md")
    text = table(["scores", "exact", *ours, "Spark's areaUnderPR"], [b for _, b in found])
    write(text + "\n", given.out / "auc_precision.md")
