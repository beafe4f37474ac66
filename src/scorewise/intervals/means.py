"""The mean of all scores, with its interval."""

from __future__ import annotations

from scorewise.estimate import Estimate
from scorewise.intervals.scales import effective, limits, pooled_spread
from scorewise.tallies import Tally
from scorewise.tallies.climbing import class_sums
from scorewise.tallies.losses import unit


def mean_score(t: Tally, *, level: float = 0.95) -> Estimate:
    """The mean of all scores; of logits, of the probabilities. Student's interval.

    >>> mean_score(Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]))
    0.493 [0.132, 0.855]
    """
    total = t.negatives + t.positives
    if not total:
        return Estimate.undefined("no rows", level)
    value = sum(class_sums(t)) / total
    off = unit(t.score, t.kind) - value
    squares = (t.neg2 + t.pos2).astype(float)
    spread = pooled_spread(
        (float((squares * off * off).sum()) / total**2, effective(total, sum(t.squares)))
    )
    if not spread.says_something(max(abs(value), 1.0)):
        return Estimate(value, level=level)
    low, high = limits(value, spread, level, "identity")
    return Estimate(value, low, high, level, "Student")
