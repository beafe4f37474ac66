"""The register of measures: what loops (evaluate, views, docs, tests) read; code calls functions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args

from scorewise.estimate import Estimate

Better = Literal["high", "low", "near", "neither"]
Group = Literal["decisions", "order", "scores", "probability", "calibration", "agreement"]
Subject = Literal["two classes", "several classes", "raters"]
Function = TypeVar("Function", bound=Callable[..., Estimate])


@dataclass(frozen=True)
class Measure:
    """A measure's function and its traits."""

    name: str
    function: Callable[..., Estimate]
    group: Group
    better: Better
    bounds: tuple[float, float]
    title: str
    options: frozenset[str]
    target: float = math.nan

    @property
    def best(self) -> float:
        """The better end of the bounds, or the target; NaN where no value is better."""
        if self.better in ("near", "neither"):
            return self.target
        return self.bounds[1] if self.better == "high" else self.bounds[0]

    @property
    def meaning(self) -> str:
        """The first line of the docstring."""
        return (self.function.__doc__ or "").strip().partition("\n")[0]

    def skill(self, e: Estimate) -> float:
        """Share of the way from the baseline to the best value; NaN where there is no such way."""
        if not e.defined or e.baseline is None or not math.isfinite(self.best):
            return math.nan
        way = self.best - e.baseline
        return (e.value - e.baseline) / way if way else math.nan

    def __call__(self, statistic: Any, **settings: Any) -> Estimate:
        """The estimate, given those settings that the function knows."""
        known = {k: v for k, v in settings.items() if k in self.options}
        return self.function(statistic, **known)


MEASURES: dict[str, Measure] = {}
CLASS_MEASURES: dict[str, Measure] = {}
RATER_MEASURES: dict[str, Measure] = {}
_REGISTERS: dict[Subject, dict[str, Measure]] = {
    "two classes": MEASURES,
    "several classes": CLASS_MEASURES,
    "raters": RATER_MEASURES,
}


def measure(
    *,
    group: Group,
    better: Better = "high",
    bounds: tuple[float, float] = (0.0, 1.0),
    title: str = "",
    target: float = math.nan,
    of: Subject = "two classes",
) -> Callable[[Function], Function]:
    """Record a function as a measure, and return it unchanged.

    Measures of the group "decisions" take a `Confusion`, all others a `Tally`; each returns an
    `Estimate` and takes `level=`. Measures of the group "order" depend on the order of the scores
    alone. `bounds` are the ends of the possible values with the default options. Of better="near" the
    best value is the `target`, which the estimate repeats as `expected`; better="neither" says
    something of the rows alone. Measures of="several classes" take a `ClassTally`, those of="raters"
    take `Ratings`, whatever their group.
    """
    register = _REGISTERS[of]
    if group not in get_args(Group) or better not in get_args(Better):
        groups, ways = (", ".join(get_args(words)) for words in (Group, Better))
        raise ValueError(
            f"group is one of {groups}, and better one of {ways}; not {group}, {better}"
        )
    if math.isfinite(target) != (better == "near"):
        raise ValueError(f'a target goes with better="near" and only there; not {target}, {better}')

    def record(function: Function) -> Function:
        name = function.__name__
        known = register.get(name)
        if known is not None and known.function.__module__ != function.__module__:
            raise ValueError(
                f"a measure named {name} exists already, in {known.function.__module__}"
            )
        options = frozenset(list(inspect.signature(function).parameters)[1:])
        register[name] = Measure(
            name, function, group, better, bounds, title or name, options, target
        )
        return function

    return record
