"""Scales and ticks of axes, as in web/src/scale.ts; web/vectors/scales.json holds the two together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["linear", "logit"]
LOGIT_ENDS = (0.001, 0.999)  # of a logit axis, to which 0 and 1 are pinned
LOGIT_TICKS = (0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999)


@dataclass(frozen=True)
class Scale:
    """From values (the domain) to places on the drawing (the range).

    >>> Scale("linear", (0.0, 1.0), (60.0, 420.0)).place(0.25)
    150.0
    >>> str(Scale("linear", (0, 1), (60, 420)))
    'linear,0,1,60,420'
    """

    kind: Kind
    domain: tuple[float, float]
    range: tuple[float, float]

    def place(self, x: float) -> float:
        """Where a value is drawn; beyond the ends of a linear axis, beyond the drawing."""
        a, b = (self._bent(end) for end in self.domain)
        start, end = self.range
        return start + (self._bent(x) - a) / (b - a) * (end - start)

    def inside(self, x: float) -> float:
        """Where a value is drawn, pinned to the ends of the axis."""
        low, high = sorted(self.domain)
        return self.place(min(max(x, low), high))

    def holds(self, x: float) -> bool:
        """Whether a value lies on the axis."""
        low, high = sorted(self.domain)
        return self.kind == "logit" or low <= x <= high

    def ticks(self, many: int = 5) -> list[float]:
        """Round values on the axis."""
        low, high = sorted(self.domain)
        return ticks(low, high, many, self.kind)

    def _bent(self, x: float) -> float:
        if self.kind == "linear":
            return x
        p = min(max(x, LOGIT_ENDS[0]), LOGIT_ENDS[1])
        return math.log(p / (1 - p))

    def __str__(self) -> str:
        return ",".join([self.kind, *(f"{x:.10g}" for x in (*self.domain, *self.range))])


def step(wish: float) -> float:
    """The next of the steps 1, 2 and 5 times a power of ten, at or above a wish.

    >>> step(0.2), step(0.21), step(7)
    (0.2, 0.5, 10.0)
    """
    power = 10.0 ** math.floor(math.log10(wish))
    # a hair, so that 0.2 of 1 / 5 is 0.2 whatever its last digit
    return _rounded(next(m for m in (1, 2, 5, 10) if m * power >= wish * (1 - 1e-9)) * power)


def ticks(low: float, high: float, many: int = 5, kind: Kind = "linear") -> list[float]:
    """About so many round values from low to high.

    >>> ticks(0, 1), ticks(0.005, 0.6, kind="logit")
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.01, 0.1, 0.5])
    """
    if kind == "logit":
        return [t for t in LOGIT_TICKS if low <= t <= high]
    if not high > low:
        return [low]
    by = step((high - low) / many)
    first, last = math.ceil(low / by - 1e-9), math.floor(high / by + 1e-9)
    # + 0.0 folds -0.0 into 0.0
    return [_rounded(i * by) + 0.0 for i in range(first, last + 1)]


def tick_texts(values: Sequence[float], kind: Kind = "linear") -> list[str]:
    """The ticks of an axis with as many decimals as their step needs; of a logit axis each with its own.

    >>> tick_texts([0.0, 0.5, 1.0]), tick_texts([0.01, 0.1], "logit"), tick_texts([7.0])
    (['0.0', '0.5', '1.0'], ['0.01', '0.1'], ['7'])
    >>> tick_texts([10000, 12000]), tick_texts([-0.25, -0.2])
    (['10,000', '12,000'], ['-0.25', '-0.20'])
    """
    if kind == "logit" or len(values) < 2:
        return [f"{x:g}" for x in values]
    decimals = max(0, -math.floor(math.log10(values[1] - values[0]) + 1e-9))
    return [f"{x + 0.0:,.{decimals}f}" for x in values]  # + 0.0 folds -0.0 into 0.0


def _rounded(x: float) -> float:
    return float(f"{x:.12g}")
