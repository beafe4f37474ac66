"""How large a calibration error may be, given what was seen: tests inverted along the observed gaps.

A plug-in calibration error is never 0, even for calibrated scores: noise alone makes gaps between
labels and probabilities. So a bootstrap around it covers badly. Instead, the gaps are supposed to be
`step` times those seen, noise is drawn anew, and the interval holds the steps under which the value seen
is not extreme. At step 0 that is consistency resampling, which gives the p-value: the interval reaches
down to 0 exactly when the p-value is above (1 - level) / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np

from scorewise.intervals.consistency import drawn_gaps
from scorewise.tallies.chances import Chances, Floats

Statistic = Callable[[Floats], Floats]  # of gaps, replicates by cells, as shares of the whole


class Inverted(NamedTuple):
    """A statistic seen, its interval, and what calibrated scores would give."""

    value: float
    low: float
    high: float
    expected: float
    p: float


class Gaps(Protocol):
    """The gaps seen, and replicates of what they would be if they were a number of times as large."""

    gap: Floats
    null: Floats

    def at(self, step: float) -> Floats:
        """Replicates of the gaps; at step 0 they are `null`."""
        ...  # a protocol


class Noise:
    """Replicates of what chance adds to gaps that are a number of times as large as those seen.

    `drawn` are replicates of the gaps of calibrated scores, where cells do not vary independently.
    """

    def __init__(
        self, c: Chances, replicates: int, seed: int, *, drawn: Floats | None = None
    ) -> None:
        rng = np.random.default_rng(seed)
        self.total = c.total
        self.gap = c.gap / c.total
        self.null = (drawn_gaps(c, replicates, rng) if drawn is None else drawn) / c.total
        self._cells, self._rng = c, rng
        self._more: Floats | None = None

    def at(self, step: float) -> Floats:
        """Replicates of the gaps, as shares of the whole."""
        if step == 0:
            return self.null
        c = self._cells
        rate = np.clip(c.p + step * c.gap / c.weight, 0.0, 1.0)
        # what differing chances within a cell take off the variance of its mean chance
        within = c.squares * c.p * (1 - c.p) - c.noise
        variance = np.maximum(c.squares * rate * (1 - rate) - within, 0.0)
        less = np.sqrt(
            np.divide(variance, c.noise, out=np.ones(len(c)), where=c.noise > 0).clip(0, 1)
        )
        more = np.sqrt(np.maximum(variance - c.noise, 0.0)) / self.total
        if self._more is None:
            self._more = self._rng.standard_normal(self.null.shape)
        drawn: Floats = step * self.gap + less * self.null + more * self._more
        return drawn


def inverted(
    noise: Gaps,
    statistic: Statistic,
    level: float,
    *,
    size: Statistic | None = None,
    value: float | None = None,
) -> Inverted:
    """The statistic of the gaps seen, with interval, expected value and p-value.

    `size` is the error itself, as a function of gaps without noise, where the statistic corrects for
    noise; `value` is the statistic where it is known better than from these cells.
    """
    size = size or statistic
    tail = (1 - level) / 2
    seen = float(statistic(noise.gap[None])[0])
    null = statistic(noise.null)
    # equal up to rounding counts as equal
    p = (1 + np.count_nonzero(null >= seen * (1 - 1e-9) - 1e-15)) / (1 + len(null))
    low = 0.0 if p >= tail else _solve(noise, statistic, seen, 1 - tail)
    high = _solve(noise, statistic, seen, tail)
    ends = [float(size(step * noise.gap[None])[0]) for step in (low, high)]
    exact = seen if value is None else value
    return Inverted(exact, min(ends[0], exact), max(ends[1], exact), float(null.mean()), float(p))


def _solve(noise: Gaps, statistic: Statistic, seen: float, share: float) -> float:
    """The step at which that quantile of the statistic is what was seen."""

    def above(step: float) -> float:
        return float(np.quantile(statistic(noise.at(step)), share)) - seen

    low, high = 0.0, 1.0
    at_low = above(low)
    if at_low >= 0:
        return 0.0
    at_high = above(high)
    while at_high < 0 and high < 64:
        low, at_low, high = high, at_high, 2 * high
        at_high = above(high)
    for _ in range(8):
        # the Illinois variant of false position: the quantile is close to linear in the step
        middle = low - at_low * (high - low) / (at_high - at_low)
        at_middle = above(middle)
        if abs(at_middle) <= 1e-3 * abs(seen) or high - low < 1e-3:
            return middle
        if at_middle < 0:
            low, at_low, at_high = middle, at_middle, at_high / 2
        else:
            high, at_high, at_low = middle, at_middle, at_low / 2
    return (low + high) / 2
