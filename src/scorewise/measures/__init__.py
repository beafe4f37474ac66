"""Every measure, as a function of a `Tally`, a `Confusion` or `Ratings`; files are found by themselves."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pkgutil import walk_packages
from typing import Any

from scorewise.estimate import Estimate
from scorewise.registry import CLASS_MEASURES, MEASURES, RATER_MEASURES, unknown
from scorewise.tallies import ClassTally

# files of two classes first, so that what a file of several classes imports keeps its place
for _name in sorted(
    (f.name for f in walk_packages(__path__, f"{__name__}.")), key=lambda n: n.count(".")
):
    import_module(_name)


def _function(name: str) -> Callable[..., Estimate]:
    """The measure of that name; of two functions, the one that suits what it is given."""
    if name in RATER_MEASURES:
        return RATER_MEASURES[name].function
    if name not in MEASURES or name not in CLASS_MEASURES:
        return (MEASURES.get(name) or CLASS_MEASURES[name]).function
    two, several = MEASURES[name].function, CLASS_MEASURES[name].function

    @wraps(two)
    def either(statistic: Any, **options: Any) -> Estimate:
        return (several if isinstance(statistic, ClassTally) else two)(statistic, **options)

    return either


def _names() -> list[str]:
    return sorted({*MEASURES, *CLASS_MEASURES, *RATER_MEASURES})


# a measure goes before a file of the same name
globals().update({name: _function(name) for name in _names()})


def __getattr__(name: str) -> Callable[..., Estimate]:
    if name in _names():
        return _function(name)
    raise AttributeError(unknown(name, __dir__()))


def __dir__() -> list[str]:
    return _names()
