"""Normal and Student's intervals on the scale on which an estimate is closest to normal.

Variances, degrees of freedom and limits are those of one estimate, or of many: then they are arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from statistics import NormalDist
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from scorewise.checks import check
from scorewise.tallies.runs import ALL_CELLS, AllCells

Scale = Literal["identity", "logit", "log", "atanh"]


def normal_quantile(level: float) -> float:
    """The normal quantile of a two-sided interval.

    >>> round(normal_quantile(0.95), 6)
    1.959964
    """
    check(level=level)
    return NormalDist().inv_cdf(0.5 + level / 2)


def bisection(
    holds: Callable[[float], bool], holding: float, failing: float, steps: int = 60
) -> tuple[float, float]:
    """The ends between which a condition that holds near and not far away turns, by halving.

    >>> [round(x, 6) for x in bisection(lambda x: x * x < 2, 0.0, 2.0)]
    [1.414214, 1.414214]
    """
    for _ in range(steps):
        middle = (holding + failing) / 2
        holding, failing = (middle, failing) if holds(middle) else (holding, middle)
    return holding, failing


def smallest(
    enough: Callable[[int], bool], first: int, limit: int, *, least: int = 1, rough: bool = False
) -> int | None:
    """The smallest number from `least` up that is enough, where larger ones are too; None beyond `limit`.

    Tried are `first` and what it takes to double and halve from there, exact, or where that is
    `rough` within 0.1 %.

    >>> smallest(lambda n: n >= 35, 1, 1000), smallest(lambda n: n >= 35, 16, 30)
    (35, None)
    """
    high = first
    while not enough(high):
        high *= 2
        if high > limit:
            return None
    low = high // 2 if high > first else least - 1
    while high - low > max(1, high // 1000 if rough else 1):
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


class Component(NamedTuple):
    """A variance as if the mean were known, the rows that it is taken over, and its degrees of freedom.

    These are no more than rows - 1; see `sandwich` for where they are fewer.
    """

    variance: Any
    rows: Any
    df: Any = math.inf


class Variance(NamedTuple):
    """The variance of an estimate, and the degrees of freedom with which it is known; or those of many."""

    variance: Any
    df: Any

    def informative(self, size: Any = 1.0) -> Any:
        """Whether an interval can be made of it: it is more than rounding of values of that size."""
        error = np.sqrt(np.maximum(self.variance, 0.0))
        return (1e-13 * size < error) & (error < np.inf) & (self.df > 0)


def effective_size(weight: Any, squares: Any) -> Any:
    """The number of equally weighted rows that are worth as much (Kish); the count, for counts.

    Or those of each class, cell or group.

    >>> effective_size(4.0, 4.0), effective_size(40.0, 400.0)
    (4.0, 4.0)
    >>> effective_size(np.array([4.0, 0.0]), np.array([8.0, 0.0]))
    array([2., 0.])
    """
    # of counts beyond 2**31 the square is beyond integers
    total = np.asarray(weight, np.float64)
    squares = np.asarray(squares, np.float64)
    return number(np.divide(total * total, squares, out=np.zeros(total.shape), where=squares > 0))


Side: TypeAlias = tuple[Any, Any, Any]  # weights of cells, of their squares, what a unit does there


@np.errstate(all="ignore")
def sandwich(*sides: Side, by: AllCells = ALL_CELLS) -> Variance:
    """The sum of the squared effects of rows, and its degrees of freedom: few where few rows bring most.

    These are twice the square of the sum over its variance (Satterthwaite 1946), which for normal effects
    of equal weight is the number of rows; five at least, because the variance is itself unsure. Rows are
    those of cells, of equal weight within each.

    >>> one = np.ones(100)
    >>> round(sandwich((one, one, np.linspace(-1, 1, 100))).df)
    250
    >>> sandwich((one, one, np.linspace(0, 1, 100) ** 99)).df
    5.0
    """
    largest = float(np.max([(x.max(initial=0.0), -x.min(initial=0.0)) for *_, x in sides]))
    # as shares of the largest, where fourth powers might vanish or overflow
    largest = largest if 0 < largest < 1e-50 or 1e50 < largest < math.inf else 1.0
    weight, squares = (sum(by.add(side[i]) * 1.0 for side in sides) for i in (0, 1))
    usual = float(np.sum(squares)) / (float(np.sum(weight)) or 1.0)
    total = fourth = 0.0
    for w, w2, x in sides:
        square = np.square(x if largest == 1.0 else x / largest)
        part = w2 * square
        total = total + by.add(part)
        if w2 is not w:
            heavy = np.divide(w2, w, out=np.zeros(len(square)), where=w > 0)
            heavy /= usual
            part *= heavy
            part *= heavy
        part *= square
        fourth = fourth + by.add(part)
    uneven = fourth / total * (usual * usual / total) - squares / weight / weight
    df = np.where(uneven > 0, np.maximum(2 / uneven, 5.0), np.inf)
    return Variance(number(total * largest * largest), number(df))


def number(x: Any) -> Any:
    """What is an array as it is, one number as one of Python."""
    return x if np.ndim(x) else float(x)


def single_row(rows: Any) -> Any:
    """Whether a class has no more than one row, up to the rounding of weights."""
    return rows < 1 + 1e-9


@np.errstate(all="ignore")
def pooled_variance(*components: tuple[Any, Any] | Component) -> Variance:
    """Sum of independent variances, each known from so many rows (Welch 1947, Satterthwaite 1946).

    Each part is (the variance as if the mean were known, rows), of one estimate or of many; it is scaled
    by rows / (rows - 1).

    >>> [round(x, 4) for x in pooled_variance((0.01, 5), (0.001, 45))]
    [0.0135, 4.6785]
    """
    variances = []
    for part in components:
        v, n, df = part if len(part) == 3 else Component(*part)
        scaled = np.where(single_row(n), np.nan, np.divide(v * n, n - 1))
        variances.append(Variance(np.where(v > 0, scaled, 0.0), np.minimum(n - 1, df)))
    return sum_of_variances(*variances)


@np.errstate(all="ignore")
def sum_of_variances(*variances: Variance) -> Variance:
    """The sum of independent variances, each known with so many degrees of freedom (Welch 1947)."""
    largest: Any = 0.0
    total: Any = 0.0
    unsure: Any = 0.0
    for v, _ in variances:
        largest = np.maximum(largest, v)
    for v, df in variances:
        share = v / largest  # of the largest, so that squares neither vanish nor overflow
        total = total + share
        unsure = unsure + np.where(share > 0, share * share / df, 0.0)
    variance = np.where(largest > 0, largest * total, largest)
    return Variance(
        number(np.where(largest == np.inf, largest, variance)), number(total * total / unsure)
    )


@cache
def _special() -> Any:
    """Scipy's special functions, imported where they are first used."""
    from scipy import special

    return special


def t_quantile(level: float, df: Any) -> Any:
    """The quantile of a two-sided interval when the variance is itself an estimate.

    >>> round(t_quantile(0.95, 4), 3), round(t_quantile(0.95, 1e9), 3)
    (2.776, 1.96)
    """
    return number(
        np.where(df > 1e6, normal_quantile(level), _special().stdtrit(df, 0.5 + level / 2))
    )


def t_p_value(statistic: Any, df: Any) -> Any:
    """The two-sided p-value of a statistic when the variance is itself an estimate.

    >>> round(t_p_value(2.776, 4), 3), round(t_p_value(1.96, 1e9), 3)
    (0.05, 0.05)
    """
    below = -np.abs(statistic)
    return number(2 * np.where(df > 1e6, _special().ndtr(below), _special().stdtr(df, below)))


def bootstrap_tail(level: float, n: float) -> float:
    """The share of replicates beyond each end of a percentile interval, for a sample of n items.

    Hesterberg (2015): the normal distribution's chance beyond sqrt(n / (n - 1)) times the quantile of t.

    >>> round(bootstrap_tail(0.95, 1e9), 4), round(bootstrap_tail(0.95, 10), 4)
    (0.025, 0.0086)
    """
    return NormalDist().cdf(-math.sqrt(n / (n - 1)) * t_quantile(level, n - 1))


def bootstrap_p(tail: float, n: float) -> float:
    """The two-sided p-value of the level at which such an interval leaves out that share at one end.

    >>> round(bootstrap_p(bootstrap_tail(0.95, 10), 10), 6)
    0.05
    """
    if tail >= 0.5:
        return 1.0
    size = NormalDist().inv_cdf(tail) / math.sqrt(n / (n - 1))
    return float(min(1.0, 2 * _special().stdtr(n - 1, size)))


def limits(value: Any, variance: Variance, level: float, scale: Scale) -> tuple[Any, Any]:
    """Value -+ Student's quantile of standard errors, taken on a scale and brought back."""
    usual = normal_quantile(level)  # which also refuses an invalid level
    widened = np.sqrt(variance.variance) * t_quantile(level, variance.df) / usual
    return wald(value, widened, level, scale)


def wald(value: Any, se: Any, level: float, scale: Scale) -> tuple[Any, Any]:
    """Value -+ z standard errors, taken on a scale and brought back; of one value or of many.

    >>> [round(x, 4) for x in wald(0.9, 0.05, 0.95, "logit")]
    [0.7518, 0.9639]
    """
    with np.errstate(over="ignore"):  # to infinity, where limits are that far away
        reach = normal_quantile(level) * se
        if scale == "identity":
            ends = value - reach, value + reach
        elif scale == "log":
            # beyond exp(700), or where reach / value leaves the floats, the interval ends at infinity
            finite = reach < 700 * value
            steps = np.where(finite, reach / np.where(finite, value, 1.0), np.inf)
            ends = value * np.exp(-steps), value * np.exp(steps)
        elif scale == "atanh":
            value = np.clip(value, -1 + 2**-53, 1 - 2**-53)
            centre, reach = np.arctanh(value), reach / (1 - value * value)
            ends = np.tanh(centre - reach), np.tanh(centre + reach)
        else:
            centre, reach = np.log(value / (1 - value)), reach / (value * (1 - value))
            ends = _special().expit(centre - reach), _special().expit(centre + reach)
    return number(ends[0]), number(ends[1])
