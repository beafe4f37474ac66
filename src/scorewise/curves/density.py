"""How values, and the scores of each class, are spread: smooth densities, for the price of counting.

Kernels are summed over each value, or by Fourier transform over values on a grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import at_least
from scorewise.columns import Columns, Missing, read
from scorewise.columns.numbers import in_range
from scorewise.curves.bandwidths import Grid, Rule, Support, Values, bandwidth_on_grid
from scorewise.errors import BadInput
from scorewise.statistics.kernels import (
    Kernel,
    Reflection,
    kernel_matrix,
    kernel_named,
    reflections,
)
from scorewise.statistics.smroc import MIN_BANDWIDTH, why_not_unit
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit

_FADED = 5.0  # standard deviations beyond the outermost value at which x begins and ends
_KERNELS = 1 << 20  # kernels that are summed at a time
_FINE = 256  # nodes a bandwidth, beyond which a finer grid changes nothing


def _check_options(bandwidth: Any, points: int) -> None:
    """Refuse unknown rules, bandwidths that are not positive, and fewer than two points."""
    known = ", ".join(f'"{rule}"' for rule in get_args(Rule))
    if isinstance(bandwidth, str):
        if bandwidth not in get_args(Rule):
            raise BadInput(
                f"bandwidth={bandwidth!r} is not known; pass {known} or a number above 0"
            )
    elif isinstance(bandwidth, bool) or not 1e-150 < bandwidth < 1e150:
        raise BadInput(f"bandwidth={bandwidth!r} is not a number above 0; pass one, or {known}")
    at_least(2, 512, points=points)


def _edges(support: tuple[float | None, float | None] | None) -> Support:
    """The ends of the support, infinite where it has none.

    >>> _edges((0, None))
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


def _values_within(found: Columns, support: Support) -> tuple[Any, tuple[float, float]]:
    """The values, and the least and the greatest; refused without any, or outside the support."""
    values = found.column("score").values
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


@dataclass(frozen=True, eq=False)
class Direct:
    """One kernel for each value and each of its images."""

    s: Floats
    share: Floats
    width: float
    kernel: Kernel
    seen: list[Reflection]
    low: float

    def heights(self, x: Floats) -> Floats:
        """The density at points inside the support."""
        return self._summed(x)

    def areas(self, x: Floats) -> Floats:
        """The share of the density below them."""
        low = max(self.low, float(self.s.min()) - 2 * self.kernel.reach * self.width)
        return np.minimum(self._summed(x, low), 1.0)

    def _summed(self, x: Floats, low: float | None = None) -> Floats:
        parts = np.array_split(x, max(1, math.ceil(len(x) * len(self.s) / _KERNELS)))
        how = self.s, self.width, self.seen, self.kernel, low
        return np.concatenate([(kernel_matrix(part, *how) * self.share).sum(1) for part in parts])


@dataclass(frozen=True, eq=False)
class Gridded:
    """The density on even nodes, straight between them; its area by trapezoids is 1."""

    x: Floats
    y: Floats

    def heights(self, x: Floats) -> Floats:
        """The density at points inside the support."""
        return np.interp(x, self.x, self.y, left=0.0, right=0.0)

    def areas(self, x: Floats) -> Floats:
        """The share of the density below them."""
        below = np.concatenate(([0.0], (self.y[1:] + self.y[:-1]).cumsum()))
        return np.asarray(np.interp(x, self.x, below / below[-1]))


Sums: TypeAlias = Direct | Gridded


def smoothed(grid: Grid, width: float, kernel: Kernel, support: Support) -> Gridded:
    """The density of binned values, mirrored at the ends of the grid; open ends are first given room."""
    from scipy.fft import irfft, rfft

    times = math.floor(math.log2(width / (_FINE * grid.step)))
    coarse = grid.thinned(2**times) if times > 0 else grid
    room = math.ceil(kernel.reach * width / coarse.step) + 1
    first, last = np.flatnonzero(coarse.share)[[0, -1]]
    lacking = room - first, room - (len(coarse.share) - 1 - last)
    coarse = coarse.padded(
        *(max(0, n) if math.isinf(end) else 0 for n, end in zip(lacking, support, strict=True))
    )
    circle = coarse.mirrored()
    # the kernel's area around each node, wrapped around the circle
    edges = kernel.below(-(np.arange(room + 2, dtype=np.float64) - 0.5) * (coarse.step / width))
    side, at = edges[:-1] - edges[1:], np.arange(-room, room + 1) % len(circle)
    weights = np.bincount(at, np.concatenate((side[:0:-1], side)), len(circle))
    y = irfft(rfft(circle) * rfft(weights), len(circle))[: len(coarse.share)] / coarse.step
    return Gridded(coarse.nodes, np.maximum(y, 0.0))


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
        _check_options(bandwidth, points)
        if why := t.why_not_ranked:
            raise BadInput(f"no densities of two classes: {why}")
        within = not why_not_unit(t) and t.kind != "score"
        support: Support = (0.0, 1.0) if within else (-math.inf, math.inf)
        least, s, made = MIN_BANDWIDTH if within else 0.0, unit(t.score, t.kind), []
        totals = (t.negatives, t.positives)
        sides = zip(("negatives", "positives"), (t.neg, t.pos), totals, t.squares, strict=True)
        for word, w, total, squares in sides:
            x, weight, rows = s[w > 0], w[w > 0], total**2 / squares
            ends = float(x[0]), float(x[-1])
            v = Values(x, weight, ends, rows, f"the score of the {word}")
            made.append(_estimated(v, shape, bandwidth, support, points, least=least))
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
    shape, edges = kernel_named(kernel), _edges(support)
    _check_options(bandwidth, points)
    found = read(None, {"score": {"x": x}, "weight": weight}, missing=missing)
    w = found.weight
    values, ends = _values_within(found, edges)
    found.all_notes()
    rows = float(len(values)) if w is None else float(w.sum()) ** 2 / float((w * w).sum())
    v = Values(values, w, ends, rows)
    return _estimated(v, shape, bandwidth, edges, points, dropped=found.dropped)


def _estimated(
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
    (h, rule, cautions), grid = bandwidth_on_grid(v, bandwidth, support, least)
    sums: Sums
    if v.direct:
        seen = reflections(support, kernel.reach * h)
        sums = Direct(*v.cells(grid), h, kernel, seen, support[0])
    else:
        sums = smoothed(grid, h, kernel, support)
    x = np.linspace(*v.within(support, min(kernel.reach, _FADED) * h), points)
    how = h, kernel.name, rule, support, v.rows, cautions, dropped
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
