"""Normal intervals on the scale on which an estimate is closest to normal."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

Scale = Literal["identity", "logit", "log", "atanh"]


def z(level: float) -> float:
    """The normal quantile of a two-sided interval.

    >>> round(z(0.95), 6)
    1.959964
    """
    return NormalDist().inv_cdf(0.5 + level / 2)


def wald(value: float, se: float, level: float, scale: Scale) -> tuple[float, float]:
    """Value -+ z standard errors, taken on a scale and brought back.

    >>> [round(x, 4) for x in wald(0.9, 0.05, 0.95, "logit")]
    [0.7518, 0.9639]
    """
    reach = z(level) * se
    if scale == "identity":
        return value - reach, value + reach
    if scale == "log":
        return value * math.exp(-reach / value), value * math.exp(reach / value)
    if scale == "atanh":
        centre, reach = math.atanh(value), reach / (1 - value * value)
        return math.tanh(centre - reach), math.tanh(centre + reach)
    centre, reach = math.log(value / (1 - value)), reach / (value * (1 - value))
    return _expit(centre - reach), _expit(centre + reach)


def _expit(x: float) -> float:
    e = math.exp(-abs(x))
    return (1.0 if x >= 0 else e) / (1.0 + e)
