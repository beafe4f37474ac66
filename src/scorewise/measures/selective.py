"""Is the model surer where it is right? Measures of selective prediction, from confidence alone.

Each takes a tally of several classes, or a tally of confidence against correct (1) or wrong (0).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.selective import best_risk_area, confident, generalised_area, risk_area
from scorewise.estimate import Estimate
from scorewise.inference.scales import Part, Spread, effective, freedom, limits, pooled_spread
from scorewise.inference.shares import wilson
from scorewise.registry import measure
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.coarse import certified
from scorewise.tallies.sorting import inner


@measure(group="order", better="low", title="AURC", of="several classes")
def aurc(t: ClassTally | Tally, *, level: float = 0.95) -> Estimate:
    """Mean error rate of the rows kept, over all shares kept, the surest rows first.

    The area under the risk-coverage curve (Geifman, Uziel and El-Yaniv 2019): the mean over k of the
    share wrong among the k surest rows; within ties its expected value over their random orders. The
    interval is linearised (each row's influence on the value) on the logit scale. The baseline is
    confidence without meaning: the error rate.

    >>> aurc(Tally.of([1, 1, 0, 1, 0, 1], [0.95, 0.9, 0.6, 0.8, 0.5, 0.7]))
    0.089 [0.006, 0.595]
    """
    return _judged(t, level, risk_area, _of_area, lambda r, _: r)


@measure(group="order", better="low", title="Excess AURC", of="several classes")
def excess_aurc(t: ClassTally | Tally, *, level: float = 0.95) -> Estimate:
    """What AURC has beyond that of the best order, in which every wrong row is less sure.

    E-AURC (Geifman, Uziel and El-Yaniv 2019): the part that the error rate does not explain. The
    interval is linearised, on the logit scale; the baseline is confidence without meaning.

    >>> excess_aurc(Tally.of([1, 0, 1, 1, 0, 1], [0.95, 0.9, 0.6, 0.8, 0.5, 0.7]))
    0.181 [0.009, 0.841]
    """

    def excess(x: Tally) -> float:
        return max(0.0, risk_area(x) - best_risk_area(x))

    return _judged(t, level, excess, _of_excess, lambda r, best: r - best)


@measure(group="order", better="low", bounds=(0.0, 0.5), title="AUGRC", of="several classes")
def augrc(t: ClassTally | Tally, *, level: float = 0.95) -> Estimate:
    """Chance that a row is wrong and kept, averaged over all shares kept, the surest rows first.

    The area under the generalised risk-coverage curve (Traub et al. 2024), which counts each error
    alike: (1 - AUROC) a (1 - a) + (1 - a)^2 / 2, where a is the accuracy and AUROC that of confidence
    against correct. The interval is linearised, on the logit scale of twice the value; the baseline is
    confidence without meaning, half the error rate.

    >>> augrc(Tally.of([1, 0, 1, 1, 0, 1], [0.95, 0.9, 0.6, 0.8, 0.5, 0.7]))
    0.139 [0.009, 0.445]
    """
    return _judged(t, level, generalised_area, _of_generalised, lambda r, _: r / 2, most=0.5)


def _judged(
    tally: ClassTally | Tally,
    level: float,
    area: Callable[[Tally], float],
    influence: Callable[[Tally], tuple[Floats, Floats]],
    chance: Callable[[float, float], float],
    most: float = 1.0,
) -> Estimate:
    """An area that is at most so much, by the influence of rows on it.

    `chance` gives what meaningless confidence gets, by the error rate and the best area.
    """
    t = confident(tally)
    total = t.negatives + t.positives
    if not total:
        return Estimate.undefined("no rows", level)
    value, bound = certified(t, lambda x: -area(x))
    share, known = -value / most, _spread(t.pooled, influence)
    if 0 < share < 1 and known.says_something():
        low, high = limits(share, Spread(known.variance / most**2, known.df), level, "logit")
        method = "linearised, logit"
    else:
        _, low, high = wilson(t.negatives, t.positives, *t.squares, level)
        method = "Wilson on the error rate"
    ends = share * most, low * most, min(1.0, high) * most
    baseline = chance(t.negatives / total, best_risk_area(t))
    return Estimate.within((0.0, most), *ends, level, method, bound=bound, baseline=baseline)


def _spread(t: Tally, influence: Callable[[Tally], tuple[Floats, Floats]]) -> Spread:
    """Variance as the sum of squared influences of wrong and of right rows; few may bring most of it."""
    wrong, right = influence(t)
    total = t.negatives + t.positives
    squares = inner(t.neg2, wrong * wrong) + inner(t.pos2, right * right)
    w, w2 = (np.concatenate(x).astype(float) for x in ((t.neg, t.pos), (t.neg2, t.pos2)))
    df = freedom(w, w2, np.concatenate((wrong, right)))
    return pooled_spread(Part(squares / total**2, effective(total, sum(t.squares)), df))


def _of_area(t: Tally) -> tuple[Floats, Floats]:
    """The influence of a wrong and of a right row of each cell on the area of risk.

    A cell adds the integral of (E + e u / m) / (K + u) over u from 0 to m, its mass, where K is kept
    and E wrong above it and e is wrong on it. A row has a share in m and e of its own cell, and in K
    and E of every cell below.
    """
    total = t.negatives + t.positives
    e, m = t.neg / total, (t.neg + t.pos) / total
    kept, missed = _down(m) - m, _down(e) - e
    above = kept > 0.5 * m.min()  # nothing is, but for rounding, above the surest
    k = np.where(above, kept, 1.0)
    log = np.where(above, np.log1p(m / k), 0.0)
    rest = np.where(above, missed - e * (k / m), 0.0)
    by_mass = e / m * (k / m) * log + rest / (k + m)
    by_kept = -e / m * log - rest / k * (m / (k + m))
    area = float((e + rest * log).sum())
    right = by_mass + _below(by_kept) - area
    return right + 1 - k / m * log + _below(log), right


def _of_excess(t: Tally) -> tuple[Floats, Floats]:
    """The same, less the influence on the best area, r + (1 - r) log(1 - r) of the error rate r."""
    wrong, right = _of_area(t)
    rate = t.negatives / (t.negatives + t.positives)
    slope = -math.log1p(-rate) if rate < 1 else 0.0
    return wrong - slope * (1 - rate), right + slope * rate


def _of_generalised(t: Tally) -> tuple[Floats, Floats]:
    """The same on the area of generalised risk."""
    total = t.negatives + t.positives
    e, m = t.neg / total, (t.neg + t.pos) / total
    missed, below = _down(e) - e / 2, _below(m) + m / 2
    area = inner(m, missed)
    return missed + below - 2 * area, missed - 2 * area


def _down(w: Floats) -> Floats:
    """The sum from the highest score down to each cell."""
    return np.asarray(w[::-1].cumsum()[::-1])


def _below(w: Floats) -> Floats:
    """The sum over all cells below each."""
    return np.asarray(w.cumsum() - w)
