"""What an inspection was asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scorewise.errors import BadInput
from scorewise.tallies import Tally
from scorewise.tallies.smroc import Rule


@dataclass(frozen=True)
class Settings:
    """What an inspection was asked for."""

    midpoint: Rule | float | Tally = "mean"
    top: int = 20
    tolerance: float = 0.1
    threshold: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        check_top(self.top)
        check_tolerance(self.tolerance)
        if not math.isfinite(self.threshold):
            raise BadInput(
                f"threshold is {self.threshold}; it must be a finite number, such as 0.5"
            )


def check_top(top: Any) -> None:
    """Refuse a number of rows that is none."""
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise BadInput(f"top is {top}; it must be a whole number of rows, 0 or more")


def check_tolerance(tolerance: Any) -> None:
    """Refuse a tolerance that is no distance."""
    if not isinstance(tolerance, int | float) or not 0 <= tolerance < math.inf:
        raise BadInput(f"tolerance is {tolerance}; it must be a distance, 0 or more, such as 0.1")
