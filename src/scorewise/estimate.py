"""A measured value with its uncertainty."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scorewise.errors import plain

NAN = math.nan


class Undefined(Exception):  # noqa: N818
    """There is no value, for the reason given: a measure that raises it gives `Estimate.undefined`."""


def undefined_if(why: str) -> None:
    """Raise `Undefined` where there is a reason."""
    if why:
        raise Undefined(why)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value, its interval, how the interval was made, and the reason when there is no value.

    `why` is empty exactly when the value is finite. `bound` is the certified half-width that
    coarsening has left around the value (0.0 when exact; the interval already contains it).
    `baseline` is what the best constant prediction, or chance, would get. Of a measure of calibration,
    `expected` is what calibrated scores would get on average, and `p` the chance that they would get as
    much or more; of a measure of agreement, `p` is that of the test that raters are independent.
    `caution` says why the interval is unreliable: the data lie outside the range in which simulations
    found it to hold, such as "3 rows of class 'c'". It is empty where the interval can be relied on.

    >>> Estimate(0.8234, 0.7491, 0.8989, method="DeLong, logit", baseline=0.5)
    0.823 [0.749, 0.899]
    >>> Estimate.undefined("no positives")
    undefined: no positives
    >>> Estimate(0.5, 0.2, 0.8, caution="3 rows of class 'c'")
    0.500 [0.200, 0.800] (interval unreliable: 3 rows of class 'c')
    """

    value: float
    low: float = NAN
    high: float = NAN
    level: float = 0.95
    method: str = ""
    why: str = ""
    bound: float = 0.0
    baseline: float | None = None
    expected: float | None = None
    p: float | None = None
    caution: str = ""

    def __post_init__(self) -> None:
        """An end that rounding put beyond the value is the value."""
        rounding = 1e-12 * abs(self.value)
        if 0 < self.low - self.value <= rounding < math.inf:
            object.__setattr__(self, "low", self.value)
        if 0 < self.value - self.high <= rounding < math.inf:
            object.__setattr__(self, "high", self.value)

    @classmethod
    def undefined(cls, why: str, level: float = 0.95, baseline: float | None = None) -> Estimate:
        """No value, and the reason."""
        return cls(NAN, level=level, why=why, baseline=baseline)

    @classmethod
    def within(
        cls,
        bounds: tuple[float, float],
        value: float,
        low: float,
        high: float,
        level: float,
        method: str,
        *,
        bound: float = 0.0,
        baseline: float | None = None,
        expected: float | None = None,
        p: float | None = None,
        caution: str = "",
    ) -> Estimate:
        """A value and its limits kept within bounds; limits hold the value, and lie `bound` further out.

        >>> Estimate.within((0.0, 1.0), 1.0000001, 0.8, 0.9, 0.95, "Wilson", bound=0.1).low.__round__(3)
        0.7
        """
        least, most = bounds
        value = min(max(value, least), most)  # rounding may lead a little beyond
        low, high = max(least, min(low, value) - bound), min(most, max(high, value) + bound)
        return cls(value, low, high, level, method, "", bound, baseline, expected, p, caution)

    @property
    def defined(self) -> bool:
        """Whether there is a finite value."""
        return math.isfinite(self.value)

    def __float__(self) -> float:
        return self.value

    def __format__(self, spec: str) -> str:
        return format(self.value, spec) if spec else str(self)

    def __str__(self) -> str:
        if not self.defined:
            return f"{'undefined' if math.isnan(self.value) else number(self.value)}: {plain(self.why)}"
        digits = decimals(self.low, self.high)
        text = number(self.value, digits)
        if math.isfinite(self.low) or math.isfinite(self.high):
            text += f" [{number(self.low, digits)}, {number(self.high, digits)}]"
        text += f" (certified to ±{self.bound:.1g})" if self.bound else ""
        return text + (f" (interval unreliable: {plain(self.caution)})" if self.caution else "")

    __repr__ = __str__


def decimals(low: float, high: float) -> int:
    """How many decimals an interval needs to be seen: three, more where it is narrow.

    >>> decimals(0.749, 0.899), decimals(0.80181, 0.80235), decimals(math.nan, 1.0)
    (3, 5, 3)
    """
    width = high - low
    if not 0 < width < 1:
        return 3
    return min(max(3, math.ceil(-math.log10(width)) + 1), 8)


def number(x: float, digits: int = 3) -> str:
    """Three decimals; three significant digits where that would say too little.

    >>> [number(x) for x in (0.5, 0.00012345, 0.0, 12345.678, float("inf"), float("nan"))]
    ['0.500', '0.000123', '0.000', '12346', 'inf', '—']
    """
    if not math.isfinite(x):
        return "—" if math.isnan(x) else ("inf" if x > 0 else "-inf")
    size = abs(x)
    if size >= 1000:
        return f"{x:.0f}" if size < 1e9 else f"{x:.3g}"
    # + 0.0 folds -0.0 into 0.0
    return f"{x:.3g}" if 0 < size < 10**-digits else f"{x + 0.0:.{digits}f}"
