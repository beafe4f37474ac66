"""The values that a density is estimated from, and the width of its kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.curves.density.binning import Grid, binned
from scorewise.curves.density.selectors import cross_validation, improved_sheather_jones
from scorewise.errors import BadInput
from scorewise.tallies.bandwidths import scott, silverman

Support: TypeAlias = tuple[float, float]
Rule: TypeAlias = Literal["isj", "scott", "silverman", "cv"]
FEW = 2048  # values up to which kernels are summed one by one
_CELLS, _MOST_CELLS = 1 << 16, 1 << 20
_DIGITS = 1e-9  # of the size of values: what is nearer cannot be told apart well
_SPAN = 16  # cells that a bandwidth should span


class Width(NamedTuple):
    """A bandwidth, the rule that gave it, and what has to be said about that."""

    value: float
    rule: str
    cautions: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Values:
    """Values with their weights, if any, and the number of rows that they are worth."""

    x: NDArray[Any]
    weight: Any
    ends: tuple[float, float]
    rows: float
    name: str = "x"

    @property
    def span(self) -> float:
        """From the least value to the greatest."""
        return self.ends[1] - self.ends[0]

    @property
    def size(self) -> float:
        """The greatest distance from 0."""
        return max(map(abs, self.ends))

    @property
    def few(self) -> bool:
        """Whether kernels can be summed one by one."""
        return len(self.x) <= FEW

    def cells(self, grid: Grid) -> tuple[Floats, Floats]:
        """Increasing values with their shares: each of a few, else those of the grid."""
        if not self.few:
            return grid.nodes, grid.share
        order = np.argsort(self.x, kind="stable")
        weight = np.ones(len(order)) if self.weight is None else self.weight[order]
        return self.x[order].astype(np.float64), weight / weight.sum()

    def grid(self, support: Support, room: float, cells: int = _CELLS) -> Grid:
        """On a grid over the support, or as far beyond the values as there is to be room."""
        low, high = (
            edge if math.isfinite(edge) else end
            for edge, end in zip(support, (self.ends[0] - room, self.ends[1] + room), strict=True)
        )
        return binned(self.x, self.weight, low, high, cells)


def given_width(v: Values, width: float, support: Support) -> tuple[Width, Grid]:
    """The bandwidth that was asked for, and the values on a grid that is fine enough for it."""
    if width > support[1] - support[0]:
        raise BadInput(
            f"bandwidth={width:g} is wider than the support from {support[0]:g} to {support[1]:g}; "
            f"pass a smaller one"
        )
    room = _room(v, width)
    grid = v.grid(support, room)
    if not v.few and width < _SPAN * grid.step:
        grid = v.grid(support, room, _MOST_CELLS)
    return Width(width, "given"), _fine_enough(v, width, grid)


def found_width(v: Values, rule: Rule, support: Support, least: float) -> tuple[Width, Grid]:
    """The bandwidth by a rule, and the values on a grid that is fine enough for it."""
    if v.span <= max(1e-100, _DIGITS * v.size):
        if not least:
            raise BadInput(_all_equal(v))
        width, grid = given_width(v, least, support)
        return width._replace(rule=rule), grid
    room = _room(v, 0.0)
    grid = v.grid(support, room)
    width = _by_rule(v, rule, grid)
    if not v.few and width.value < _SPAN * grid.step:
        grid = v.grid(support, room, _MOST_CELLS)
        width = _by_rule(v, rule, grid)
    width = width._replace(value=max(width.value, least))
    return width, _fine_enough(v, width.value, grid)


def _by_rule(v: Values, rule: Rule, grid: Grid) -> Width:
    s, share = v.cells(grid)
    if rule == "scott":
        return Width(scott(s, share, v.rows), rule)
    thumb = silverman(s, share, v.rows)
    if rule == "silverman":
        return Width(thumb, rule)
    if rule == "isj":
        found = improved_sheather_jones(grid.spectrum(), v.rows)
    else:
        widest = 2 * scott(s, share, v.rows) / grid.length
        found = cross_validation(grid.spectrum(), v.rows, widest) if v.rows > 1 else None
    if found is None:
        why = f"{v.name} gives no bandwidth by the rule {rule}; it is Silverman's instead"
        return Width(thumb, "silverman", (why,))
    return Width(found * grid.length, rule)


def _all_equal(v: Values) -> str:
    low, high = v.ends
    if low == high:
        return (
            f"{v.name} is {low:g} in every row, and a rule needs values that differ; "
            f"pass bandwidth= as a number"
        )
    return f"{v.name} from {low!r} to {high!r} differs in its last digits only; shift or scale it"


def _room(v: Values, least: float) -> float:
    if v.span > 1e100:
        raise BadInput(f"{v.name} from {v.ends[0]:g} to {v.ends[1]:g} is too wide; scale it down")
    return max(v.span / 2, least)


def _fine_enough(v: Values, width: float, grid: Grid) -> Grid:
    if width > _DIGITS * v.size and (v.few or width >= 4 * grid.step):
        return grid
    raise BadInput(
        f"the bandwidth {width:.3g} is too narrow for {v.name} from {v.ends[0]:g} to {v.ends[1]:g}; "
        f"pass a larger bandwidth=, or leave out values that lie far away"
    )
