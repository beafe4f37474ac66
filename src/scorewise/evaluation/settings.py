"""What an evaluation was asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from scorewise.errors import BadInput


@dataclass(frozen=True)
class Settings:
    """What an evaluation was asked for."""

    threshold: float = 0.5
    level: float = 0.95
    seed: int = 0
    clip: float | None = None

    def __post_init__(self) -> None:
        for name, x in (("threshold", self.threshold), ("level", self.level), ("clip", self.clip)):
            if not isinstance(x, int | float | np.number) and not (name == "clip" and x is None):
                raise BadInput(f"{name} is {x!r}; it must be a number")
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise BadInput(f"seed is {self.seed!r}; it must be a whole number from 0 up")
        if not math.isfinite(self.threshold):
            raise BadInput(
                f"threshold is {self.threshold}; it must be a finite number, such as 0.5"
            )
        if not 0 < self.level < 1:
            raise BadInput(f"level is {self.level}; it must lie between 0 and 1, such as 0.95")
