"""Every measure, as a function of a `Tally`, a `Confusion` or `Ratings`; files are found by themselves."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from scorewise.estimate import Estimate
from scorewise.registry import CLASS_MEASURES, MEASURES, RATER_MEASURES, unknown
from scorewise.tallies import ClassTally

for _name in sorted(f.name for f in iter_modules(__path__, f"{__name__}.")):
    import_module(_name)


def _function(name: str) -> Callable[..., Estimate]:
    """The measure of that name; of two functions, the one that suits what it is given."""
    registers = MEASURES, CLASS_MEASURES, RATER_MEASURES
    two, *others = (register[name].function for register in registers if name in register)
    if not others or others[0] is two:
        return two

    @wraps(two)
    def either(statistic: Any, **options: Any) -> Estimate:
        return (others[0] if isinstance(statistic, ClassTally) else two)(statistic, **options)

    return either


def __dir__() -> list[str]:
    return sorted({*MEASURES, *CLASS_MEASURES, *RATER_MEASURES})


# a measure goes before a file of the same name
globals().update({name: _function(name) for name in __dir__()})


def __getattr__(name: str) -> Callable[..., Estimate]:
    if name in __dir__():
        return _function(name)
    raise AttributeError(unknown(name, __dir__()))
