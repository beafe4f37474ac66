"""How often the surest answers are correct."""

from __future__ import annotations

import numpy as np

from scorewise.curves.selective import risk_coverage
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.scales import effective
from scorewise.inference.shares import wilson
from scorewise.tallies import Tally

MARGIN = 0.05  # of coverage on both sides, where the last answers kept are judged


def selective_accuracy(t: Tally, *, coverage: float = 0.8, level: float = 0.95) -> Estimate:
    """Share of correct answers among the surest ones, four in five unless `coverage` says another share.

    Of answers with equal confidence the share that fits is kept. Wilson interval of as many answers as
    would be as uncertain; where the cut lies is uncertain too, which matters by how far the answers next
    to it differ from those kept. The baseline is confidence without meaning: the share of all answers.

    >>> selective_accuracy(Tally.of([1, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5]))
    0.750 [0.229, 0.968]
    """
    if isinstance(coverage, bool) or not 0 < coverage <= 1:
        raise BadInput(f"coverage is {coverage!r}; it must lie above 0 and be at most 1")
    total = t.negatives + t.positives
    if not total:
        return Estimate.undefined("no answers", level)
    kept = np.concatenate(([0.0], (t.neg + t.pos)[::-1].cumsum() / total))
    right = np.concatenate(([0.0], t.pos[::-1].cumsum() / total))
    value = min(max(1 - risk_coverage(t).at(coverage), 0.0), 1.0)
    ends = np.array([max(coverage - MARGIN, 0.0), min(coverage + MARGIN, 1.0)])
    near = float(np.diff(np.interp(ends, kept, right))[0] / np.diff(ends)[0])
    rows = effective(total, sum(t.squares)) * coverage
    inside = value * (1 - value)
    # of the sum over the kept of (correct - near), each answer being kept by chance
    variance = inside + (value - near) ** 2 * (1 - coverage)
    n = rows * (inside / variance if inside > 0 else 1.0)
    hit, miss = n * value, n * (1 - value)
    _, low, high = wilson(hit, miss, hit, miss, level)
    baseline = t.positives / total
    return Estimate(value, low, high, level, "Wilson, cut uncertain", "", 0.0, baseline)
