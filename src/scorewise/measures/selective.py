"""Is the model surer where it is right? Measures of selective prediction, from confidence alone.

Each takes a tally of several classes, or a tally of confidence against correct (1) or wrong (0).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from scorewise.arrays import Floats
from scorewise.computing import inner
from scorewise.curves.benefit import confidence_tally
from scorewise.curves.thresholds import cumulative_above
from scorewise.estimate import Estimate, undefined_if
from scorewise.inference.ranking import auroc_value
from scorewise.inference.scales import (
    Component,
    Variance,
    effective_size,
    limits,
    pooled_variance,
    sandwich,
)
from scorewise.inference.shares import wilson
from scorewise.registry import measure
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.coarse import certified
from scorewise.tallies.runs import ALL_CELLS

ASYMPTOTIC = 64.0  # from here on the series of the digamma holds to the last digit


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
    return _estimate_of_area(t, level, risk_area, _area_influence, lambda r, _: r)


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

    return _estimate_of_area(t, level, excess, _excess_influence, lambda r, best: r - best)


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
    return _estimate_of_area(
        t, level, generalised_area, _generalised_influence, lambda r, _: r / 2, most=0.5
    )


def _estimate_of_area(
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
    t = confidence_tally(tally)
    total = t.negatives + t.positives
    undefined_if("" if total else "no rows")
    value, bound = certified(t, lambda x: -area(x))
    share, known = -value / most, _variance(t.pooled, influence)
    if 0 < share < 1 and known.informative():
        low, high = limits(share, Variance(known.variance / most**2, known.df), level, "logit")
        method = "linearised, logit"
    else:
        _, low, high = wilson(t.negatives, t.positives, *t.squares, level)
        method = "Wilson on the error rate"
    ends = share * most, low * most, min(1.0, high) * most
    baseline = chance(t.negatives / total, best_risk_area(t))
    return Estimate.within((0.0, most), *ends, level, method, bound=bound, baseline=baseline)


def _variance(t: Tally, influence: Callable[[Tally], tuple[Floats, Floats]]) -> Variance:
    """Variance as the sum of squared influences of wrong and of right rows; few may bring most of it."""
    (wrong, right), total = influence(t), t.negatives + t.positives
    squares, df = sandwich((t.neg, t.neg2, wrong), (t.pos, t.pos2, right))
    return pooled_variance(Component(squares / total**2, effective_size(total, sum(t.squares)), df))


def risk_area(t: Tally) -> float:
    """The mean, over the rows from the surest down, of the share wrong among those kept so far.

    Within ties it is the expected value over their random orders: the counts run straight.

    >>> round(risk_area(Tally.of([1, 0, 1], [0.9, 0.8, 0.7])), 4)  # (0/1 + 1/2 + 1/3) / 3
    0.2778
    """
    total = 0.0
    for b in t.blocks():
        wrong, mass = b.neg.astype(np.float64), b.neg + b.pos.astype(np.float64)
        # the sums of what comes after each cell
        missed, kept = (cumulative_above(w)[1:] for w in (wrong, mass))
        missed, kept = b.neg_above + missed, b.neg_above + b.pos_above + kept
        # of unequal weights on one cell, that of as many equal rows as are worth as much
        unit = (b.neg2 + b.pos2) / mass
        step = harmonic(kept / unit + 1, mass / unit)
        total += float((wrong + (missed - wrong * (kept / mass)) * step).sum())
    return min(1.0, max(0.0, total / (t.negatives + t.positives)))


def best_risk_area(t: Tally) -> float:
    """The same if every wrong row were less sure than every right one.

    >>> round(best_risk_area(Tally.of([1, 0, 1], [0.9, 0.8, 0.7])), 4)  # (0/1 + 0/2 + 1/3) / 3
    0.1111
    """
    if not t.negatives:
        return 0.0
    used = t.neg > 0
    wrong, squares = (c[used].astype(np.float64)[::-1] for c in (t.neg, t.neg2))
    missed = wrong.cumsum() - wrong
    unit = squares / wrong
    kept = missed + t.positives
    step = harmonic(kept / unit + 1, wrong / unit)
    total = float((wrong + (missed - kept) * step).sum())
    return max(0.0, total / (t.negatives + t.positives))


def generalised_area(t: Tally) -> float:
    """The area below the share of all rows that are kept and wrong, over coverage.

    >>> round(generalised_area(Tally.of([1, 0, 1], [0.9, 0.8, 0.7])), 4)  # (0 + 1/2 + 1) / 9
    0.1667
    """
    total = t.negatives + t.positives
    wrong, right = t.negatives / total, t.positives / total
    lost = (1 - auroc_value(t)) * wrong * right if wrong and right else 0.0
    return float(lost + wrong * wrong / 2)


def harmonic(x: Floats, m: Floats) -> Floats:
    """1/x + 1/(x + 1) + ... of m terms, for any m: the difference of digammas, without cancellation.

    >>> harmonic(np.array([2.0, 1e9]), np.array([3.0, 1.0]))
    array([1.08333333e+00, 1.00000000e-09])
    """
    from scipy.special import digamma

    end = x + m
    # the asymptotic series, each of its terms as a difference of its own
    first = m / x / end
    second = first * (1 / x + 1 / end)
    fourth = second * ((1 / x) * (1 / x) + (1 / end) * (1 / end))
    total = np.log1p(m / x) + first / 2 + second / 12 - fourth / 120
    small = x < ASYMPTOTIC
    total[small] = digamma(end[small]) - digamma(x[small])
    return np.where(m == 1, 1 / x, total)


def _area_influence(t: Tally) -> tuple[Floats, Floats]:
    """The influence of a wrong and of a right row of each cell on the area of risk.

    A cell adds the integral of (E + e u / m) / (K + u) over u from 0 to m, its mass, where K is kept
    and E wrong above it and e is wrong on it. A row has a share in m and e of its own cell, and in K
    and E of every cell below.
    """
    total = t.negatives + t.positives
    e, m = t.neg / total, (t.neg + t.pos) / total
    kept, missed = ALL_CELLS.downto(m) - m, ALL_CELLS.downto(e) - e
    above = kept > 0.5 * m.min()  # nothing is, but for rounding, above the surest
    k = np.where(above, kept, 1.0)
    log = np.where(above, np.log1p(m / k), 0.0)
    rest = np.where(above, missed - e * (k / m), 0.0)
    by_mass = e / m * (k / m) * log + rest / (k + m)
    by_kept = -e / m * log - rest / k * (m / (k + m))
    area = float((e + rest * log).sum())
    right = by_mass + _strictly_below(by_kept) - area
    return right + 1 - k / m * log + _strictly_below(log), right


def _excess_influence(t: Tally) -> tuple[Floats, Floats]:
    """The same, less the influence on the best area, r + (1 - r) log(1 - r) of the error rate r."""
    wrong, right = _area_influence(t)
    rate = t.negatives / (t.negatives + t.positives)
    slope = -math.log1p(-rate) if rate < 1 else 0.0
    return wrong - slope * (1 - rate), right + slope * rate


def _generalised_influence(t: Tally) -> tuple[Floats, Floats]:
    """The same on the area of generalised risk."""
    total = t.negatives + t.positives
    e, m = t.neg / total, (t.neg + t.pos) / total
    missed, below = ALL_CELLS.downto(e) - e / 2, _strictly_below(m) + m / 2
    area = inner(m, missed)
    return missed + below - 2 * area, missed - 2 * area


def _strictly_below(w: Floats) -> Floats:
    """The sum over all cells below each."""
    return np.asarray(w.cumsum() - w)
