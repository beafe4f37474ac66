"""How values, and the scores of each class, are spread: smooth densities, for the price of counting."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.checks import at_least
from scorewise.columns import Columns, Missing, read
from scorewise.columns.numbers import in_range
from scorewise.curves.density_sums import (
    Direct,
    Grid,
    Sums,
    binned,
    cross_validation,
    improved_sheather_jones,
    smoothed,
)
from scorewise.errors import BadInput
from scorewise.tallies import Tally
from scorewise.tallies.kernels import Kernel, images, kernel_named, scott, silverman
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import NARROWEST, why_not_unit

Support: TypeAlias = tuple[float, float]
Rule: TypeAlias = Literal["isj", "scott", "silverman", "cv"]
FEW = 2048  # values up to which kernels are summed one by one
_CELLS, _MOST_CELLS = 1 << 16, 1 << 20
_DIGITS = 1e-9  # of the size of values: what is nearer cannot be told apart well
_SPAN = 16  # cells that a bandwidth should span
_FADED = 5.0  # standard deviations beyond the outermost value at which x begins and ends


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
    at_least(2, 512, points=points)


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


def inside(found: Columns, support: Support) -> tuple[Any, tuple[float, float]]:
    """The values, and the least and the greatest; refused where there are none, or outside the support."""
    values = found.one("score").values
    if not len(values):
        raise BadInput("x has no rows; pass at least one number")
    low, high = in_range(values, "x", found.place)
    if support[0] <= low and high <= support[1]:
        return values, (low, high)
    out = (values < support[0]) | (values > support[1])
    raise BadInput(
        f"x is outside the support [{support[0]:g}, {support[1]:g}] {found.place.rows(out)} "
        f"({values[out.argmax()]:.6g}); widen support= or leave such rows out"
    )


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


@dataclass(frozen=True, eq=False, repr=False)
class Density:
    """A kernel density: its heights `y` at even points `x`, and how it came about.

    Called with any points it gives the heights there, 0 outside the support; `cdf` gives the share
    below. `bandwidth` is the standard deviation of the `kernel`; `rule` found it, or it was "given".
    `rows` is the number of rows that weighted rows are worth, `cautions` what to know before use.
    """

    x: Floats
    y: Floats
    bandwidth: float
    kernel: str
    rule: str
    support: Support
    rows: float
    cautions: tuple[str, ...]
    dropped: int
    _sums: Sums

    def __call__(self, x: Any) -> Any:
        """The density at any points."""
        return self._at(x, self._sums.heights, beyond=0.0)

    def cdf(self, x: Any) -> Any:
        """The share of the density at and below any points."""
        return self._at(x, self._sums.areas, beyond=1.0)

    def _at(self, x: Any, found: Any, beyond: float) -> Any:
        points = np.asarray(x, np.float64)
        flat = points.ravel()
        low, high = self.support
        inside = (flat >= low) & (flat <= high)
        values = np.where(flat > high, beyond, np.where(np.isnan(flat), np.nan, 0.0))
        if inside.any():
            values[inside] = found(flat[inside])
        return values.reshape(points.shape)[()]

    @staticmethod
    def of(
        t: Tally,
        *,
        kernel: str = "gaussian",
        bandwidth: Rule | float = "isj",
        points: int = 1024,
    ) -> ClassDensities:
        """The densities of the scores of both classes of a tally.

        Probabilities, and logits as probabilities, are mirrored at 0 and 1; other scores have no edges.

        Where the scores lie in [0, 1], rules give no bandwidth below 0.005, so that a class whose scores
        are all equal has a density, too.

        >>> t = Tally.of([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.8, 0.9])
        >>> round(Density.of(t, bandwidth="silverman").overlap, 3)
        0.508
        """
        shape = kernel_named(kernel)
        check_options(bandwidth, points)
        if why := t.why_not_ranked:
            raise BadInput(f"no densities of two classes: {why}")
        within = not why_not_unit(t) and t.kind != "score"
        support: Support = (0.0, 1.0) if within else (-math.inf, math.inf)
        least, s, made = NARROWEST if within else 0.0, unit(t.score, t.kind), []
        totals = (t.negatives, t.positives)
        sides = zip(("negatives", "positives"), (t.neg, t.pos), totals, t.squares, strict=True)
        for word, w, total, squares in sides:
            x, weight, rows = s[w > 0], w[w > 0], total**2 / squares
            ends = float(x[0]), float(x[-1])
            v = Values(x, weight, ends, rows, f"the score of the {word}")
            made.append(estimated(v, shape, bandwidth, support, points, least=least))
        return ClassDensities(*made)

    def plot(self, ax: Any = None, *, name: str | None = None, **line: Any) -> Any:
        """Draw it; `line` goes to matplotlib's `plot`."""
        import scorewise  # by its public name: no curve depends on a picture

        return scorewise.displays.DensityDisplay(self, name).plot(ax=ax, **line)

    def __repr__(self) -> str:
        low, high = self.support
        edges = "" if math.isinf(low) and math.isinf(high) else f" on [{low:g}, {high:g}]"
        return f"<Density: {self.kernel}, bandwidth {self.bandwidth:.4g} ({self.rule}){edges}>"


def density(
    x: Any,
    *,
    weight: Any = None,
    kernel: str = "gaussian",
    bandwidth: Rule | float = "isj",
    support: tuple[float | None, float | None] | None = None,
    points: int = 1024,
    missing: Missing = "refuse",
) -> Density:
    """How values are spread, as a smooth curve of area 1.

    f(x) = sum of w K((x - v) / h) / h over values v with weights w that make 1. The bandwidth h is the
    standard deviation of the kernel, a number or found by a rule: "isj" (Botev et al. 2010), "scott",
    "silverman" or "cv" (least squares, leaving one out). Kernels that reach over an edge of the `support`
    are mirrored back into it. Beyond 2,048 values they are binned to a grid much finer than h.

    >>> found = density([0.1, 0.2, 0.2, 0.6], bandwidth=0.1, support=(0, 1))
    >>> found
    <Density: gaussian, bandwidth 0.1 (given) on [0, 1]>
    >>> found([0.2, 0.6]).round(3), round(float(np.trapezoid(found.y, found.x)), 6)
    (array([2.612, 0.998]), 1.0)
    """
    shape, edges = kernel_named(kernel), edges_of(support)
    check_options(bandwidth, points)
    found = read(None, {"score": {"x": x}, "weight": weight}, missing=missing)
    w = found.weight
    values, ends = inside(found, edges)
    found.told()
    rows = float(len(values)) if w is None else float(w.sum()) ** 2 / float((w * w).sum())
    v = Values(values, w, ends, rows)
    return estimated(v, shape, bandwidth, edges, points, dropped=found.dropped)


def estimated(
    v: Values,
    kernel: Kernel,
    bandwidth: Rule | float,
    support: Support,
    points: int,
    *,
    least: float = 0.0,
    dropped: int = 0,
) -> Density:
    """The density of checked values; no rule makes the bandwidth smaller than `least`."""
    if isinstance(bandwidth, str):
        width, grid = found_width(v, bandwidth, support, least)
    else:
        width, grid = given_width(v, float(bandwidth), support)
    h, (low, high) = width.value, support
    sums: Sums
    if v.few:
        s, share = v.cells(grid)
        sums = Direct(s, share, h, kernel, images(support, kernel.reach * h), low)
    else:
        sums = smoothed(grid, h, kernel, (math.isinf(low), math.isinf(high)))
    room = min(kernel.reach, _FADED) * h
    x = np.linspace(
        low if math.isfinite(low) else v.ends[0] - room,
        high if math.isfinite(high) else v.ends[1] + room,
        points,
    )
    how = (h, kernel.name, width.rule, support, v.rows, width.cautions, dropped)
    return Density(x, sums.heights(x), *how, sums)


class ClassDensities(NamedTuple):
    """The densities of the scores of the negatives and of the positives, each of area 1."""

    neg: Density
    pos: Density

    @property
    def overlap(self) -> float:
        """The area that both have in common: 0 where the classes lie apart, 1 where they are alike."""
        x = np.union1d(self.neg.x, self.pos.x)
        return float(np.trapezoid(np.minimum(self.neg(x), self.pos(x)), x))


__all__ = ["ClassDensities", "Density", "density"]
