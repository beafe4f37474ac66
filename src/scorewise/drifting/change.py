"""A measure of drift between two samples, with what chance alone would do."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scorewise.drifting.statistics import Statistic
from scorewise.estimate import Estimate, number


@dataclass(frozen=True)
class Change:
    """An estimate, its p-value, the same adjusted for the number of tests, and the size of chance.

    `by_chance` is the size that chance alone stays below as often as `level` says, when nothing has
    changed; `needed` is the size from which on a change is seen, given that many things are tested.
    """

    statistic: Statistic
    estimate: Estimate
    p: float = math.nan
    p_adjusted: float = math.nan
    by_chance: float = math.nan
    needed: float = math.nan

    @property
    def value(self) -> float:
        """The value; NaN where undefined."""
        return self.estimate.value

    @property
    def seen(self) -> bool:
        """Whether the change is more than chance would do, given all the tests made."""
        return self.p_adjusted < 1 - self.estimate.level

    def __repr__(self) -> str:
        if math.isnan(self.p):
            return repr(self.estimate)
        return f"{self.estimate}, p = {number(self.p)} ({number(self.p_adjusted)} adjusted)"
