"""Normal and Student's intervals on the scale on which an estimate is closest to normal."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from statistics import NormalDist
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.checks import check
from scorewise.estimate import Estimate
from scorewise.tallies import Tally
from scorewise.tallies.losses import expit_of, unit
from scorewise.tallies.smroc import class_sums
from scorewise.tallies.sorting import Numbers

Scale = Literal["identity", "logit", "log", "atanh"]


def z(level: float) -> float:
    """The normal quantile of a two-sided interval.

    >>> round(z(0.95), 6)
    1.959964
    """
    check(level=level)
    return NormalDist().inv_cdf(0.5 + level / 2)


def halved(
    holds: Callable[[float], bool], near: float, far: float, steps: int = 60
) -> tuple[float, float]:
    """The ends between which a condition that holds near and not far away turns, by halving.

    >>> [round(x, 6) for x in halved(lambda x: x * x < 2, 0.0, 2.0)]
    [1.414214, 1.414214]
    """
    for _ in range(steps):
        middle = (near + far) / 2
        near, far = (middle, far) if holds(middle) else (near, middle)
    return near, far


def fewest(
    enough: Callable[[int], bool], first: int, most: int, *, least: int = 1, rough: bool = False
) -> int | None:
    """The smallest number from `least` up that is enough, where larger ones are too; None beyond `most`.

    Tried are `first` and what it takes to double and halve from there, exact, or where that is
    `rough` within 0.1 %.

    >>> fewest(lambda n: n >= 35, 1, 1000), fewest(lambda n: n >= 35, 16, 30)
    (35, None)
    """
    high = first
    while not enough(high):
        high *= 2
        if high > most:
            return None
    low = high // 2 if high > first else least - 1
    while high - low > max(1, high // 1000 if rough else 1):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class Part(NamedTuple):
    """A variance as if the mean were known, the rows that it is taken over, and its degrees of freedom.

    These are no more than rows - 1; see `freedom` for where they are fewer.
    """

    variance: float
    rows: float
    df: float = math.inf


class Spread(NamedTuple):
    """The variance of an estimate, and the degrees of freedom with which it is known."""

    variance: float
    df: float

    def says_something(self, size: float = 1.0) -> bool:
        """Whether an interval can be made of it: it is more than rounding of values of that size."""
        return 1e-13 * size < math.sqrt(max(self.variance, 0.0)) < math.inf and self.df > 0


def effective(total: float, squares: float) -> float:
    """The number of equally weighted rows that are worth as much (Kish); the count, for counts.

    >>> effective(4.0, 4.0), effective(40.0, 400.0)
    (4.0, 4.0)
    """
    # of counts beyond 2**31 the square is beyond integers
    return float(total) ** 2 / float(squares) if squares else 0.0


def effective_rows(weight: Numbers, squares: Numbers) -> NDArray[np.float64]:
    """The same of each class, or of each cell.

    >>> effective_rows(np.array([4.0, 0.0]), np.array([8.0, 0.0]))
    array([2., 0.])
    """
    return np.array([effective(*w) for w in zip(weight, squares, strict=True)])


def freedom(weight: Numbers, squares: Numbers, effect: NDArray[np.float64]) -> float:
    """Degrees of freedom of a sum of squared effects of rows: few where few rows bring most of it.

    Twice the square of the sum over its variance (Satterthwaite 1946), which for normal effects of equal
    weight is the number of rows; five at least, because the variance is itself unsure. Rows are those of
    cells, of equal weight within each; `effect` is what a unit of weight does there.

    >>> one = np.ones(100)
    >>> round(freedom(one, one, np.linspace(-1, 1, 100))), freedom(one, one, np.linspace(0, 1, 100) ** 99)
    (250, 5.0)
    """
    most = float(max(effect.max(initial=0.0), -effect.min(initial=0.0)))
    if not 0 < most < math.inf:
        return math.inf
    square = effect / most
    square *= square
    part = squares * square
    total = float(part.sum())
    if not total > 0:
        return math.inf
    mean = float(squares.sum()) / float(weight.sum())
    if squares is not weight:
        heavy = np.divide(squares, weight, out=np.zeros(len(square)), where=weight > 0)
        heavy /= mean
        part *= heavy
        part *= heavy
    part *= square
    fourth = float(part.sum())
    uneven = fourth / total * (mean * mean / total)
    uneven -= 1 / effective(float(weight.sum()), float(squares.sum()))
    return max(2 / uneven, 5.0) if uneven > 0 else math.inf


def one_row(rows: float) -> bool:
    """Whether a class has no more than one row, up to the rounding of weights."""
    return rows < 1 + 1e-9


def pooled_spread(*parts: tuple[float, float] | Part) -> Spread:
    """Sum of independent variances, each known from so many rows (Welch 1947, Satterthwaite 1946).

    Each part is (the variance as if the mean were known, rows); it is scaled by rows / (rows - 1).

    >>> [round(x, 4) for x in pooled_spread((0.01, 5), (0.001, 45))]
    [0.0135, 4.6785]
    """
    known, most = [], 0.0
    for part in parts:
        v, n, df = part if len(part) == 3 else (*part, math.inf)
        if v > 0:
            if one_row(n):
                return Spread(math.nan, math.nan)
            known.append((v * n / (n - 1), min(n - 1, df)))
            most = max(most, known[-1][0])
    if not known:
        return Spread(0.0, math.nan)
    if most == math.inf:
        return Spread(math.inf, math.nan)
    # as shares of the largest, so that squares neither vanish nor overflow
    whole = unsure = 0.0
    for v, df in known:
        share = v / most
        whole += share
        unsure += share * share / df
    return Spread(most * whole, whole * whole / unsure)


@cache
def _special() -> Any:
    """Scipy's special functions, imported where they are first used."""
    from scipy import special

    return special


def student(level: float, df: float) -> float:
    """The quantile of a two-sided interval when the variance is itself an estimate.

    >>> round(student(0.95, 4), 3), round(student(0.95, 1e9), 3)
    (2.776, 1.96)
    """
    return z(level) if df > 1e6 else float(_special().stdtrit(df, 0.5 + level / 2))


def student_chance(statistic: float, df: float) -> float:
    """The two-sided p-value of a statistic when the variance is itself an estimate.

    >>> round(student_chance(2.776, 4), 3), round(student_chance(1.96, 1e9), 3)
    (0.05, 0.05)
    """
    if df > 1e6:
        return math.erfc(abs(statistic) / math.sqrt(2))
    return float(2 * _special().stdtr(df, -abs(statistic)))


def bootstrap_tail(level: float, n: float) -> float:
    """The share of replicates beyond each end of a percentile interval, for a sample of n items.

    Hesterberg (2015): the normal distribution's chance beyond sqrt(n / (n - 1)) times the quantile of t.

    >>> round(bootstrap_tail(0.95, 1e9), 4), round(bootstrap_tail(0.95, 10), 4)
    (0.025, 0.0086)
    """
    return NormalDist().cdf(-math.sqrt(n / (n - 1)) * student(level, n - 1))


def bootstrap_chance(tail: float, n: float) -> float:
    """The two-sided p-value of the level at which such an interval leaves out that share at one end.

    >>> round(bootstrap_chance(bootstrap_tail(0.95, 10), 10), 6)
    0.05
    """
    if tail >= 0.5:
        return 1.0
    size = NormalDist().inv_cdf(tail) / math.sqrt(n / (n - 1))
    return float(min(1.0, 2 * _special().stdtr(n - 1, size)))


def limits(value: float, spread: Spread, level: float, scale: Scale) -> tuple[float, float]:
    """Value -+ Student's quantile of standard errors, taken on a scale and brought back."""
    usual = z(level)  # which also refuses an invalid level
    widened = math.sqrt(spread.variance) * student(level, spread.df) / usual
    return wald(value, widened, level, scale)


def wald(value: float, se: float, level: float, scale: Scale) -> tuple[float, float]:
    """Value -+ z standard errors, taken on a scale and brought back.

    >>> [round(x, 4) for x in wald(0.9, 0.05, 0.95, "logit")]
    [0.7518, 0.9639]
    """
    reach = z(level) * se
    if scale == "identity":
        return value - reach, value + reach
    if scale == "log":
        # beyond exp(700), or where reach / value leaves the floats, the interval ends at infinity
        steps = reach / value if reach < 700 * value else math.inf
        return value * math.exp(-steps), value * math.exp(steps)
    if scale == "atanh":
        value = min(max(value, -1 + 2**-53), 1 - 2**-53)
        centre, reach = math.atanh(value), reach / (1 - value * value)
        return math.tanh(centre - reach), math.tanh(centre + reach)
    centre, reach = math.log(value / (1 - value)), reach / (value * (1 - value))
    return expit_of(centre - reach), expit_of(centre + reach)


def mean_score(t: Tally, *, level: float = 0.95) -> Estimate:
    """The mean of all scores; of logits, of the probabilities. Student's interval.

    >>> mean_score(Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]))
    0.493 [0.132, 0.855]
    """
    total = t.negatives + t.positives
    if not total:
        return Estimate.undefined("no rows", level)
    value = sum(class_sums(t)) / total
    off = unit(t.score, t.kind) - value
    squares = (t.neg2 + t.pos2).astype(float)
    spread = pooled_spread(
        (float((squares * off * off).sum()) / total**2, effective(total, sum(t.squares)))
    )
    if not spread.says_something(max(abs(value), 1.0)):
        return Estimate(value, level=level)
    low, high = limits(value, spread, level, "identity")
    return Estimate(value, low, high, level, "Student")
