"""What a method of recalibration is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from scorewise.arrays import Floats
from scorewise.columns import Kind
from scorewise.recalibrating.cells import Cells
from scorewise.recalibrating.scale import Points

Parameters: TypeAlias = dict[str, float | list[float]]
ANY: tuple[Kind, ...] = ("probability", "logit", "score")
LOG_ODDS: tuple[Kind, ...] = ("probability", "logit")


@dataclass(frozen=True)
class Method:
    """A family of maps: how one is fitted to cells, and how it is applied to scores.

    `single` and `many` name its parameters, numbers and lists of numbers; `least` is how many rows of
    the smaller class it wants before `auto` tries it; `outside` is what becomes of scores beyond those
    seen in fitting; `likely` says that it is fitted by maximum likelihood.
    """

    name: str
    meaning: str
    fit: Callable[[Cells], Parameters]
    apply: Callable[[Parameters, Points], Floats]
    single: tuple[str, ...] = ()
    many: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = LOG_ODDS
    least: int = 0
    outside: Literal["extrapolated", "clamped", "left as they are"] = "extrapolated"
    likely: bool = True


def number(parameters: Parameters, name: str) -> float:
    """A parameter that is one number."""
    value = parameters[name]
    assert not isinstance(value, list)
    return value


def numbers(parameters: Parameters, name: str) -> Floats:
    """A parameter that is a list of numbers."""
    import numpy as np

    return np.asarray(parameters[name], np.float64)
