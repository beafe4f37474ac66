"""Selective prediction: how often the rows that are kept are wrong, keeping the surest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import check
from scorewise.curves.thresholds import Curve, lowest, sums
from scorewise.errors import BadInput
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.sorting import inner
from scorewise.tallies.tally import Block

FAR = 64.0


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
    t = confident(t)
    wrong, kept = t.neg[::-1].cumsum(), (t.neg + t.pos)[::-1].cumsum()
    with np.errstate(invalid="ignore"):
        share = kept / kept[-1:]
    return RiskCoverage(share, wrong / kept, lowest(t)[::-1].astype(np.float64))


def confident(t: Tally | ClassTally) -> Tally:
    """The tally of confidence against whether it was right."""
    return t.ranked if isinstance(t, ClassTally) else t


def risk_area(t: Tally) -> float:
    """The mean, over the rows from the surest down, of the share wrong among those kept so far.

    Within ties it is the expected value over their random orders: the counts run straight.

    >>> round(risk_area(Tally.of([1, 0, 1], [0.9, 0.8, 0.7])), 4)  # (0/1 + 1/2 + 1/3) / 3
    0.2778
    """
    total = 0.0
    for b in t.blocks():
        wrong, mass, kept, missed, unit = _walked(b)
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
    total = 0.0
    for b in t.blocks():
        wrong, mass, _, missed, _ = _walked(b)
        total += inner(mass, missed + wrong / 2)
    whole = t.negatives + t.positives
    # weights may add up to slightly more than the whole
    return min(0.5, total / whole / whole)


def _walked(b: Block) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Of each cell: weight wrong, weight, what is kept and what is wrong above, and a row's weight."""
    wrong, right = b.neg.astype(np.float64), b.pos.astype(np.float64)
    mass = wrong + right
    # the sums of what comes after each
    missed, kept = (sums(w[::-1])[-2::-1] for w in (wrong, mass))
    missed, kept = b.neg_above + missed, b.neg_above + b.pos_above + kept
    # of unequal weights on one cell, that of as many equal rows as are worth as much
    unit = (b.neg2 + b.pos2) / mass
    return wrong, mass, kept, missed, unit


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
    near = x < FAR
    total[near] = digamma(end[near]) - digamma(x[near])
    return np.where(m == 1, 1 / x, total)
