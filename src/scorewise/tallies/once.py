"""What is made of a tally once, and kept with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from scorewise.tallies.tally import Tally

Made = TypeVar("Made")
Further = ParamSpec("Further")


def once(
    function: Callable[Concatenate[Tally, Further], Made],
) -> Callable[Concatenate[Tally, Further], Made]:
    """The same function, which keeps its results with the tally: a tally does not change."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def kept(t: Tally, *args: Further.args, **options: Further.kwargs) -> Made:
        key = f"{name}{args}{options}"
        if key not in t.__dict__:
            t.__dict__[key] = function(t, *args, **options)
        made: Made = t.__dict__[key]
        return made

    return kept  # type: ignore[return-value]  # it takes the tally by any name
