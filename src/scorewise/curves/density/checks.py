"""What can be asked of a density, and of which values."""

from __future__ import annotations

import math
from typing import Any, get_args

from scorewise.curves.density.values import Rule, Support
from scorewise.door.sample import Sample
from scorewise.errors import BadInput


def check_options(bandwidth: Any, points: int) -> None:
    """Refuse what is neither a rule nor a bandwidth, and less than two points."""
    known = ", ".join(f'"{rule}"' for rule in get_args(Rule))
    if isinstance(bandwidth, str):
        if bandwidth not in get_args(Rule):
            raise BadInput(
                f"bandwidth={bandwidth!r} is not known; pass {known} or a number above 0"
            )
    elif isinstance(bandwidth, bool) or not 1e-150 < bandwidth < 1e150:
        raise BadInput(f"bandwidth={bandwidth!r} is not a number above 0; pass one, or {known}")
    if points < 2:
        raise BadInput(f"points={points!r}; pass 2 or more")


def edges_of(support: tuple[float | None, float | None] | None) -> Support:
    """The ends of the support, infinite where it has none.

    >>> edges_of((0, None))
    (0.0, inf)
    """
    ends = (None, None) if support is None else tuple(support)
    if len(ends) != 2:
        raise BadInput(f"support={support!r} is not a pair (low, high), such as (0, 1)")
    low = -math.inf if ends[0] is None else float(ends[0])
    high = math.inf if ends[1] is None else float(ends[1])
    if not low < high:
        raise BadInput(f"support={support!r} is empty; pass (low, high) with low < high")
    return low, high


def check_inside(taken: Sample, support: Support) -> None:
    """Refuse values outside the support."""
    if support[0] <= taken.ends[0] and taken.ends[1] <= support[1]:
        return
    out = (taken.values < support[0]) | (taken.values > support[1])
    raise BadInput(
        f"x is outside the support [{support[0]:g}, {support[1]:g}] {taken.place.rows(out)} "
        f"({taken.values[out.argmax()]:.6g}); widen support= or leave such rows out"
    )
