"""Is the order right, whatever the costs? Hand's H-measure."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.curves.hull import pool, pooled
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.bootstrap import bootstrap_cells
from scorewise.intervals.scales import effective, z
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.extremes import certified
from scorewise.tallies.sorting import add_runs, inner

Floats = NDArray[np.float64]


@measure(group="order", title="H-measure")
def h_measure(
    t: Tally,
    *,
    costs: tuple[float, float] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Share of the loss of the best constant decision that is saved, averaged over misclassification costs.

    The cost of a false positive, as a share of both costs, is spread as Beta(1 + prevalence,
    2 - prevalence) (Hand and Anagnostopoulos 2014), or as Beta(*costs). The decisions are the best for
    each cost, those of the hull of the ROC curve, chosen on the same rows: in small samples the value is
    too high. The interval, by the bootstrap of cells, therefore reaches down by twice the bias seen
    there.

    >>> h_measure(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1, 0.9, 0.4]))
    0.561 [0.010, 0.997]
    """
    if costs is not None and not min(costs) > 0:
        raise BadInput(
            f"costs are {costs}; both shapes of the Beta must be positive, such as (2, 2)"
        )
    if why := t.why_not_ranked:
        return Estimate.undefined(why, level)
    value, bound = certified(t, lambda x: _saved(_hull(x), costs))
    if math.isnan(value):
        return Estimate.undefined("a class is too rare for floating point", level)
    drawn, centre = bootstrap_cells(t, lambda n, p: _each(n, p, costs), replicates=200, seed=seed)
    bias, reach = float(drawn.mean() - centre), z(level) * float(drawn.std())
    if reach > 1e-12:  # more than rounding
        low, high = value - 2 * max(bias, 0.0) - reach, value + reach
        method = "bootstrap, bias-widened"
    else:
        low, high, method = *_rare(t, value, level), "rule of three"
    low, high = max(0.0, min(low, value) - bound), min(1.0, max(high, value) + bound)
    return Estimate(value, low, high, level, method, "", bound, 0.0)


def _each(neg: Floats, pos: Floats, costs: tuple[float, float] | None) -> Floats:
    """The value of each row of cells."""
    return np.array([_saved(_pooled_row(n, p), costs) for n, p in zip(neg, pos, strict=True)])


def _pooled_row(neg: Floats, pos: Floats) -> _Hull:
    start = pool(neg, pos)
    return _Hull(add_runs(neg, start), add_runs(pos, start))


def _rare(t: Tally, value: float, level: float) -> tuple[float, float]:
    """What luck can hide behind 0 or 1: so large a share of the smaller class."""
    smaller = min(map(effective, (t.negatives, t.positives), t.squares))
    reach = 1 - ((1 - level) / 2) ** (1 / smaller)
    return (1 - reach, 1.0) if value > 0.5 else (0.0, reach)


class _Hull(NamedTuple):
    """Weights of the runs of the hull, and the posterior on each."""

    neg: Floats
    pos: Floats

    @property
    def posterior(self) -> Floats:
        return self.pos / (self.neg + self.pos)

    @property
    def prevalence(self) -> float:
        return float(self.pos.sum() / (self.neg.sum() + self.pos.sum()))


def _hull(t: Tally) -> _Hull:
    start = pooled(t)
    return _Hull(*(add_runs(w, start).astype(np.float64) for w in (t.neg, t.pos)))


def _charges(q: Floats, a: float, b: float) -> tuple[Floats, Floats]:
    """Mean cost of a negative and of a positive that are called by "posterior > cost", at posterior q."""
    from scipy.special import betainc, betaincc

    return a / (a + b) * betainc(a + 1, b, q), b / (a + b) * betaincc(a, b + 1, q)


def _shape(prevalence: float, costs: tuple[float, float] | None) -> tuple[float, float]:
    return costs if costs is not None else (1 + prevalence, 2 - prevalence)


def _loss(h: _Hull, shape: tuple[float, float]) -> float:
    on_neg, on_pos = _charges(h.posterior, *shape)
    return float((inner(h.neg, on_neg) + inner(h.pos, on_pos)) / (h.neg.sum() + h.pos.sum()))


def _constant(prevalence: float, shape: tuple[float, float]) -> float:
    """Loss of the best constant decision for each cost."""
    on_neg, on_pos = _charges(np.array([prevalence]), *shape)
    return float((1 - prevalence) * on_neg[0] + prevalence * on_pos[0])


def _saved(h: _Hull, costs: tuple[float, float] | None) -> float:
    shape = _shape(h.prevalence, costs)
    most = _constant(h.prevalence, shape)
    return max(0.0, 1 - _loss(h, shape) / most) if most > 0 else math.nan
