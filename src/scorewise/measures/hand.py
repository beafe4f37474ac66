"""Is the order right, whatever the costs? Hand's H-measure."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.curves.hull import pooled
from scorewise.estimate import Estimate
from scorewise.intervals.placements import effective
from scorewise.intervals.scales import wald
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.extremes import certified
from scorewise.tallies.sorting import add_runs

Floats = NDArray[np.float64]


@measure(group="order", title="H-measure")
def h_measure(
    t: Tally, *, costs: tuple[float, float] | None = None, level: float = 0.95
) -> Estimate:
    """Share of the loss of the best constant decision that is saved, averaged over misclassification costs.

    The cost of a false positive, as a share of both costs, is spread as Beta(1 + prevalence,
    2 - prevalence) (Hand and Anagnostopoulos 2014), or as Beta(*costs). The decisions are the best for
    each cost, those of the hull of the ROC curve. The interval is linearised, on the logit scale.

    >>> h_measure(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1, 0.9, 0.4]))
    0.561 [0.137, 0.911]
    """
    if why := t.why_not_ranked:
        return Estimate.undefined(why, level)
    value, bound = certified(t, lambda x: _saved(_hull(x), costs))
    se = math.sqrt(_variance(_hull(t), costs))
    if se > 0 and 0 < value < 1:
        low, high = wald(value, se, level, "logit")
        method = "linearised, logit"
    else:
        low, high, method = *_rare(t, value, level), "rule of three"
    low, high = max(0.0, min(low, value) - bound), min(1.0, max(high, value) + bound)
    return Estimate(value, low, high, level, method, "", bound, 0.0)


def _rare(t: Tally, value: float, level: float) -> tuple[float, float]:
    """What may hide behind a value of 0 or 1: the share of the smaller class that can be all right by luck."""
    smaller = min(
        effective(t.negatives, t.neg2.sum().item()), effective(t.positives, t.pos2.sum().item())
    )
    reach = 1 - ((1 - level) / 2) ** (1 / smaller)
    return (1 - reach, 1.0) if value > 0.5 else (0.0, reach)


class _Hull(NamedTuple):
    """Weights (and squares) of the runs of the hull, and the posterior on each."""

    neg: Floats
    pos: Floats
    neg2: Floats
    pos2: Floats

    @property
    def posterior(self) -> Floats:
        return self.pos / (self.neg + self.pos)

    @property
    def prevalence(self) -> float:
        return float(self.pos.sum() / (self.neg.sum() + self.pos.sum()))


def _hull(t: Tally) -> _Hull:
    start = pooled(t)
    return _Hull(*(add_runs(w, start).astype(np.float64) for w in (t.neg, t.pos, t.neg2, t.pos2)))


def _charges(q: Floats, a: float, b: float) -> tuple[Floats, Floats]:
    """Mean cost of a negative and of a positive that are called by "posterior > cost", at posterior q."""
    from scipy.special import betainc

    negative = a / (a + b) * betainc(a + 1, b, q)
    return negative, b / (a + b) * (1 - betainc(a, b + 1, q))


def _shape(prevalence: float, costs: tuple[float, float] | None) -> tuple[float, float]:
    return costs if costs is not None else (1 + prevalence, 2 - prevalence)


def _loss(h: _Hull, shape: tuple[float, float]) -> float:
    on_neg, on_pos = _charges(h.posterior, *shape)
    return float((h.neg @ on_neg + h.pos @ on_pos) / (h.neg.sum() + h.pos.sum()))


def _constant(prevalence: float, shape: tuple[float, float]) -> float:
    """Loss of the best constant decision for each cost."""
    on_neg, on_pos = _charges(np.array([prevalence]), *shape)
    return float((1 - prevalence) * on_neg[0] + prevalence * on_pos[0])


def _saved(h: _Hull, costs: tuple[float, float] | None) -> float:
    shape = _shape(h.prevalence, costs)
    return 1 - _loss(h, shape) / _constant(h.prevalence, shape)


def _variance(h: _Hull, costs: tuple[float, float] | None) -> float:
    """Sum of squared influences; the best decisions stay best to first order (envelope theorem)."""
    p, n, step = h.prevalence, h.neg.sum() + h.pos.sum(), 1e-6
    shape = _shape(p, costs)
    loss, most = _loss(h, shape), _constant(p, shape)
    on_neg, on_pos = _charges(h.posterior, *shape)
    ends = [_shape(p + side * step, costs) for side in (1, -1)]
    drift = (_loss(h, ends[0]) - _loss(h, ends[1])) / (2 * step)
    top = (_constant(p + step, ends[0]) - _constant(p - step, ends[1])) / (2 * step)
    influence = []
    for charge, moved in ((on_neg, -p), (on_pos, 1 - p)):
        change = charge - loss + drift * moved
        influence.append((change / most - loss / most**2 * top * moved) / n)
    return float(h.neg2 @ influence[0] ** 2 + h.pos2 @ influence[1] ** 2)
