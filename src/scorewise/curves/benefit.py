"""What decisions at thresholds are worth: net benefit, cost, gain and lift, and the risk of rows kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import check, is_number
from scorewise.columns import binary_rows
from scorewise.curves.thresholds import Curve, cumulative_above, lowest_scores, roc, thresholds
from scorewise.errors import BadInput, Option, short
from scorewise.inference.means import cluster_mean
from scorewise.inference.scales import normal_quantile, t_quantile
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.losses import logit

GRID = np.arange(1, 100) / 100


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefit at each threshold probability with its limits, beside alerting on everybody.

    Alerting on nobody has a net benefit of 0. Of a difference of two models, `treat_all` is NaN.
    """

    threshold: Floats
    net_benefit: Floats
    low: Floats
    high: Floats
    treat_all: Floats
    level: float


def decision_curve(t: Tally, at: Any = None, *, level: float = 0.95) -> DecisionCurve:
    """The net benefit of alerting from each threshold probability on (Vickers and Elkin 2006).

    (tp - fp * pt / (1 - pt)) / n: true alerts a row, less false ones, of which (1 - pt) / pt are worth one
    true alert to somebody who would alert from the probability pt on. `at` are such probabilities, 0.01 to
    0.99 unless given. The interval is normal, as net benefit is a mean over rows.

    >>> curve = decision_curve(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]), [0.2, 0.5])
    >>> curve.net_benefit, curve.treat_all
    (array([0.4375, 0.25  ]), array([0.375, 0.   ]))
    """
    if why := t.why_not_ranked:
        raise BadInput(f"no decision curve: {why}")
    if t.kind == "score":
        raise BadInput(
            f"no decision curve: scores go {t.written_ends}, but thresholds are probabilities; calibrate "
            f"them, or pass ", Option("kind", "logit"), " for log-odds",
        )  # fmt: skip
    pt = _probabilities(at)
    cuts = logit(pt) if t.kind == "logit" else pt
    place = np.searchsorted(lowest_scores(t), cuts.astype(t.precision).astype(t.score.dtype))
    tp, fp, tp2, fp2 = (
        cumulative_above(w)[place].astype(np.float64) for w in (t.pos, t.neg, t.pos2, t.neg2)
    )
    n, squares, odds = float(t.negatives + t.positives), float(sum(t.squares)), pt / (1 - pt)
    benefit = (tp - odds * fp) / n
    rest = squares - tp2 - fp2
    variance = tp2 * (1 - benefit) ** 2 + fp2 * (odds + benefit) ** 2 + rest * benefit**2
    half = normal_quantile(level) * np.sqrt(variance) / n
    share = float(t.positives) / n
    everybody = share - (1 - share) * odds
    return DecisionCurve(pt, benefit, benefit - half, benefit + half, everybody, level)


def net_benefit_difference(
    y: Any,
    first: Any,
    second: Any,
    at: Any = None,
    *,
    positive: Any = None,
    weight: Any = None,
    cluster: Any = None,
    level: float = 0.95,
) -> DecisionCurve:
    """The net benefit of one model less that of another on the same rows, with paired limits.

    Probabilities of both; with `cluster`, rows of a cluster count together, and limits are Student's.

    >>> y, a, b = [1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1], [0.8, 0.6, 0.3, 0.1]
    >>> net_benefit_difference(y, a, b, [0.5]).net_benefit
    array([0.5])
    """
    given: dict[str, Any] = {"positive": positive, "weight": weight, "cluster": cluster}
    scores = {"first": first, "second": second}
    rows = binary_rows(None, label=y, score=scores, kind="probability", **given)
    pt = _probabilities(at)
    mass = rows.mass()
    total = float(mass.sum())
    value, half = np.empty(len(pt)), np.empty(len(pt))
    for k, p in enumerate(pt):
        worth = np.where(rows.y, 1.0, -p / (1 - p))
        a, b = (s >= s.dtype.type(p) for s in rows.scores.values())
        row = worth * (a * 1.0 - b)
        if rows.cluster is None:
            value[k] = (mass * row).sum() / total
            half[k] = normal_quantile(level) * np.linalg.norm(mass * (row - value[k])) / total
        else:
            value[k], error, many = cluster_mean(row, mass, rows.cluster)
            half[k] = t_quantile(level, many - 1) * error
    none = np.full(len(pt), np.nan)
    return DecisionCurve(pt, value, value - half, value + half, none, level)


def _probabilities(at: Any) -> Floats:
    """Threshold probabilities, checked."""
    if at is None:
        return GRID
    found = np.atleast_1d(np.asarray(at))
    if found.dtype.kind not in "fiu" or not ((found > 0) & (found < 1)).all():
        wrong = next((x for x in found.ravel().tolist() if not is_number(x) or not 0 < x < 1), at)
        raise BadInput(f"threshold probabilities lie between 0 and 1, but {short(wrong)} is given")
    return found.astype(np.float64).ravel()


def cost_curve(t: Tally, points: int = 101) -> Curve:
    """The least normalised cost (y) over the share of cost that positives make up (x).

    x is prevalence times the cost of a miss, over the same plus that of false alarms; y is
    fnr * x + fpr * (1 - x) at the cut where that is least, which is `threshold` (Drummond and Holte 2006).

    >>> curve = cost_curve(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]), 3)
    >>> curve.x, curve.y, curve.threshold
    (array([0. , 0.5, 1. ]), array([0.  , 0.25, 0.  ]), array([inf, 0.8, 0.3]))
    """
    if why := t.why_not_ranked:
        raise BadInput(f"no cost curve: {why}")
    x, hull = np.linspace(0, 1, points), roc(t).hull()
    cost = np.outer(x, 1 - hull.y) + np.outer(1 - x, hull.x)
    at = cost.argmin(1)
    return Curve(x, cost[np.arange(points), at], hull.threshold[at])


def gain(t: Tally) -> Curve:
    """The share of positives found (y) over the share of rows with an alert (x), the highest scores first.

    >>> curve = gain(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> curve.x, curve.y
    (array([0.  , 0.25, 0.75, 1.  ]), array([0. , 0.5, 1. , 1. ]))
    """
    if not t.positives:
        raise BadInput("no gain: no positives")
    table = thresholds(t)
    n = float(t.negatives + t.positives)
    return Curve((table.tp + table.fp) / n, table.tp / float(t.positives), table.threshold)


def lift(t: Tally) -> Curve:
    """How many times the prevalence the precision is (y), over the share of rows with an alert (x).

    >>> lift(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1])).y.round(3)
    array([2.   , 1.333, 1.   ])
    """
    g = gain(t)
    return Curve(g.x[1:], g.y[1:] / g.x[1:], g.threshold[1:])


@dataclass(frozen=True, eq=False)
class RiskCoverage(Curve):
    """Coverage (x), the share of rows kept, against risk (y), the share of them that is wrong.

    From the surest rows down to all of them; `threshold` is the least confidence that is kept.
    """

    def at(self, coverage: float) -> float:
        """The risk at a coverage; within ties, what keeping some of them at random gives on average."""
        check(coverage=coverage)
        if not len(self.x):
            raise BadInput("there are no rows, and so no risk")
        return float(self.risk(coverage))

    def risk(self, coverage: Any) -> Any:
        """The risk at coverages above 0: along ties, the counts run straight."""
        kept, wrong = (np.concatenate(([0.0], x)) for x in (self.x, self.x * self.y))
        return np.interp(coverage, kept, wrong) / coverage


def risk_coverage(t: Tally | ClassTally) -> RiskCoverage:
    """The risk-coverage curve of a tally of confidence against correct, or of several classes.

    Rows of equal confidence are kept or left together: each distinct confidence is one point.

    >>> curve = risk_coverage(Tally.of([1, 1, 0, 1, 0], [0.9, 0.8, 0.8, 0.6, 0.5]))
    >>> curve.x, curve.y.round(3)
    (array([0.2, 0.6, 0.8, 1. ]), array([0.   , 0.333, 0.25 , 0.4  ]))
    """
    t = confidence_tally(t)
    wrong, kept = t.neg[::-1].cumsum(), (t.neg + t.pos)[::-1].cumsum()
    with np.errstate(invalid="ignore"):
        share = kept / kept[-1:]
    return RiskCoverage(share, wrong / kept, lowest_scores(t)[::-1].astype(np.float64))


def confidence_tally(t: Tally | ClassTally) -> Tally:
    """The tally of confidence against whether it was right."""
    return t.ranked if isinstance(t, ClassTally) else t
