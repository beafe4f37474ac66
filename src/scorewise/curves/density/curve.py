"""How values are spread: a smooth density, for the price of counting them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.density.checks import check_inside, check_options, edges_of
from scorewise.curves.density.sums import Direct, Sums, smoothed
from scorewise.curves.density.values import Rule, Support, Values, found_width, given_width
from scorewise.door import Missing
from scorewise.door.sample import take_sample
from scorewise.tallies import Tally
from scorewise.tallies.kernels import Kernel, images, kernel_named

if TYPE_CHECKING:
    from scorewise.curves.density.classes import ClassDensities

_FADED = 5.0  # standard deviations beyond the outermost value at which x begins and ends


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

        >>> t = Tally.of([0, 0, 0, 1, 1, 1], [0.1, 0.2, 0.6, 0.4, 0.8, 0.9])
        >>> round(Density.of(t, bandwidth="silverman").overlap, 3)
        0.508
        """
        from scorewise.curves.density.classes import class_densities

        return class_densities(t, kernel=kernel, bandwidth=bandwidth, points=points)

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
    taken = take_sample(x, weight=weight, missing=missing)
    check_inside(taken, edges)
    w, total = taken.weight, float(len(taken.values))
    rows = total if w is None else float(w.sum()) ** 2 / float((w * w).sum())
    v = Values(taken.values, w, taken.ends, rows)
    return estimated(v, shape, bandwidth, edges, points, dropped=taken.dropped)


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
    return Density(
        x,
        sums.heights(x),
        h,
        kernel.name,
        width.rule,
        support,
        v.rows,
        width.cautions,
        dropped,
        sums,
    )
