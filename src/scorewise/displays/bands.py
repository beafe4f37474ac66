"""Bands around curves, drawn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, get_args

from scorewise.columns.rows import one_of
from scorewise.displays.canvas import percent

BandName: TypeAlias = Literal["pointwise", "simultaneous"]


def draw_band(
    ax: Any,
    find: Callable[..., Any],
    which: BandName,
    colour: Any,
    sides: tuple[float, float] = (1.0, 1.0),
) -> Any:
    """Shade the band that `find(simultaneous=...)` finds, scaled to a rectangle of these sides."""
    one_of("band", which, get_args(BandName))
    found = find(simultaneous=which == "simultaneous")
    label = f"{percent(found.level)} band, {which}"
    x, low, high = found.x * sides[0], found.low * sides[1], found.high * sides[1]
    return ax.fill_between(x, low, high, color=colour, alpha=0.18, lw=0, label=label)
