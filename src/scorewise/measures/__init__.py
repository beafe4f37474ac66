"""Every measure, as a function of a `Tally` or a `Confusion`; each file here is found by itself."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules

from scorewise.estimate import Estimate
from scorewise.registry import MEASURES

for _file in iter_modules(__path__):
    import_module(f"{__name__}.{_file.name}")

# a measure goes before a file of the same name
globals().update({name: m.function for name, m in MEASURES.items()})


def __getattr__(name: str) -> Callable[..., Estimate]:
    if name in MEASURES:
        return MEASURES[name].function
    raise AttributeError(f"no measure is named {name}; there are {', '.join(sorted(MEASURES))}")


def __dir__() -> list[str]:
    return sorted(MEASURES)
