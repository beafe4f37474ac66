"""What is made of a tally once, and kept with it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from scorewise.tallies.tally import Tally

Made = TypeVar("Made")


def once(function: Callable[[Tally], Made]) -> Callable[[Tally], Made]:
    """The same function, which keeps its result with the tally: a tally does not change."""
    key = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def kept(t: Tally) -> Made:
        if key not in t.__dict__:
            t.__dict__[key] = function(t)
        made: Made = t.__dict__[key]
        return made

    return kept
