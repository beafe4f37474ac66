"""Midpoints on an axis of scores: the one that is used as a line, the others as small marks."""

from __future__ import annotations

from typing import Any, get_args

from scorewise.displays.canvas import ink
from scorewise.errors import BadInput
from scorewise.estimate import number
from scorewise.tallies import Tally
from scorewise.tallies.smroc import Midpoint, Rule, midpoint

_MARKERS = ("o", "s", "^", "D")


def draw_midpoint(ax: Any, found: Midpoint) -> Any:
    """An upright line at the midpoint."""
    label = f"midpoint {number(found.value)} ({found.rule})"
    return ax.axvline(found.value, color=ink(ax), lw=1.4, label=label, zorder=4)


def draw_others(ax: Any, t: Tally, found: Midpoint) -> dict[str, Any]:
    """A short line with a marker where each other rule would put the midpoint, by its name."""
    place = ax.get_xaxis_transform()
    made = {}
    for (rule, value), marker in zip(other_rules(t, found).items(), _MARKERS, strict=False):
        (made[rule],) = ax.plot(
            [value, value], [0, 0.06], marker=marker, markevery=[1], ms=5, lw=0.9, zorder=5,
            color=ink(ax), mfc=ax.get_facecolor(), transform=place, label=f"{rule} {number(value)}",
        )  # fmt: skip
    return made


def other_rules(t: Tally, found: Midpoint) -> dict[str, float]:
    """The midpoints by the rules that were not used; without those that find none."""
    made = {}
    for rule in get_args(Rule):
        if rule == found.rule:
            continue
        try:
            made[rule] = midpoint(t, rule).value
        except BadInput:  # the densities do not cross
            continue
    return made
