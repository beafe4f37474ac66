"""What an evaluation was asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scorewise.errors import BadInput


@dataclass(frozen=True)
class Settings:
    """What an evaluation was asked for."""

    threshold: float = 0.5
    level: float = 0.95
    seed: int = 0
    clip: float | None = None

    def __post_init__(self) -> None:
        if not math.isfinite(self.threshold):
            raise BadInput(
                f"threshold is {self.threshold}; it must be a finite number, such as 0.5"
            )
        if not 0 < self.level < 1:
            raise BadInput(f"level is {self.level}; it must lie between 0 and 1, such as 0.95")
