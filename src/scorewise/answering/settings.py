"""What a judgement of answers was asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from scorewise.errors import BadInput
from scorewise.inference.scales import z
from scorewise.tallies.probabilities import check_bins


@dataclass(frozen=True)
class Settings:
    """What a judgement of answers was asked for: an answer is correct when its quality is above `tau`."""

    tau: float = 0.5
    bins: int = 15
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        check_tau(self.tau)
        check_bins(self.bins, "width", None)
        z(self.level)
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise BadInput(f"seed is {self.seed!r}; it must be a whole number from 0 up")


def check_tau(tau: float) -> None:
    """Refuse a quality that no answer, or every answer, is above."""
    if isinstance(tau, bool) or not isinstance(tau, int | float | np.number) or not 0 <= tau < 1:
        said = tau if isinstance(tau, int | float) else repr(tau)
        raise BadInput(
            f"tau is {said}; it must be at least 0 and below 1, such as 0.5 (correct is quality > tau)"
        )
