"""What is made of an immutable value once, and kept with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from scorewise.tallies.tally import Tally

Made = TypeVar("Made")
Further = ParamSpec("Further")


def kept(owner: Any, name: Hashable, make: Callable[[], Made]) -> Made:
    """What was made before under that name of an immutable value, or is made now."""
    store: dict[Hashable, Made] = owner.__dict__.setdefault("_kept", {})
    if name not in store:
        store[name] = make()
    return store[name]


def once(
    function: Callable[Concatenate[Tally, Further], Made],
) -> Callable[Concatenate[Tally, Further], Made]:
    """The same function, which keeps its results with the tally."""
    name = f"{function.__module__}.{function.__qualname__}"

    @wraps(function)
    def known(t: Tally, *args: Further.args, **options: Further.kwargs) -> Made:
        return kept(t, (name, *args, *options.items()), lambda: function(t, *args, **options))

    return known  # type: ignore[return-value]  # it takes the tally by any name
