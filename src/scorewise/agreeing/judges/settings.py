"""What a judgement was asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from scorewise.agreeing.judges.resampling import Interval
from scorewise.agreeing.judges.taking import NoAnswer
from scorewise.columns.ratings import Scale
from scorewise.columns.rows import one_of
from scorewise.errors import BadInput
from scorewise.inference.scales import z


@dataclass(frozen=True)
class Settings:
    """What a judgement was asked for."""

    scale: Scale = "nominal"
    no_answer: NoAnswer = "drop"
    level: float = 0.95
    seed: int = 0
    replicates: int = 2000
    width: float | None = None
    interval: Interval = "formula"

    def __post_init__(self) -> None:
        one_of("no_answer", self.no_answer, get_args(NoAnswer))
        one_of("interval", self.interval, get_args(Interval))
        z(self.level)
        _whole("seed", self.seed, 0)
        _whole("replicates", self.replicates, 100)
        if self.width is not None:
            check_width(self.width)

    @property
    def draws(self) -> dict[str, Any]:
        """What intervals of sums of kappas take."""
        return {
            "interval": self.interval,
            "level": self.level,
            "replicates": self.replicates,
            "seed": self.seed,
        }


def check_width(width: Any) -> None:
    """Refuse a width that no interval has."""
    number = isinstance(width, int | float | np.number) and not isinstance(width, bool)
    if not number or not 0 < width < 2:
        raise BadInput(f"width is {width}; it must lie between 0 and 2, such as 0.1")


def _whole(name: str, given: Any, least: int) -> None:
    if isinstance(given, bool) or not isinstance(given, int | np.integer) or given < least:
        raise BadInput(f"{name} is {given}; it must be a whole number, {least} or more")
