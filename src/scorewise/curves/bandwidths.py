"""Bandwidths of kernel densities, by rules from the values on a grid.

Values are shared out to the two nodes of an even grid beside them (linear binning). Two rules see them
through `c[k]`, the mean of cos(pi k z) over values z in [0, 1] that are mirrored at 0 and 1. There a
Gaussian of variance t multiplies c[k] by exp(-k^2 pi^2 t / 2), so that norms of the density and of its
derivatives are short sums.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.computing import inner
from scorewise.errors import BadInput
from scorewise.statistics.kernels import linear_binning, scott, silverman

Support: TypeAlias = tuple[float, float]
Rule: TypeAlias = Literal["isj", "scott", "silverman", "cv"]
Terms: TypeAlias = tuple[Floats, Floats, Floats]  # c[k]^2, (pi k)^2 and its logarithm, from k = 1
MAX_DIRECT = 2048  # values up to which kernels are summed one by one
_CELLS, _MAX_CELLS = 1 << 16, 1 << 20
_DIGITS = 1e-9  # of the size of values: what is nearer cannot be told apart well
_SPAN = 16  # cells that a bandwidth should span
_FINEST = 4.0  # nodes that a bandwidth has to span
_STAGES = 5
_SHORTER = 0.8  # step in which a bracket of the root is looked for
_DAMPED = 10.0  # standard deviations in frequency beyond which a term adds nothing


@dataclass(frozen=True, eq=False)
class Grid:
    """The share of the values on each of some even nodes, `step` apart from `low` on; all make 1."""

    low: float
    step: float
    share: Floats

    @property
    def nodes(self) -> Floats:
        """Where the nodes are."""
        return self.low + self.step * np.arange(len(self.share), dtype=np.float64)

    @property
    def length(self) -> float:
        """From the first node to the last."""
        return self.step * (len(self.share) - 1)

    def thinned(self, times: int) -> Grid:
        """The same on one node in so many, exactly as if the values had been binned there."""
        cells = math.ceil((len(self.share) - 1) / times)
        at = np.arange(len(self.share)) / times
        return Grid(self.low, self.step * times, linear_binning(at, self.share, 0.0, 1.0, cells))

    def padded(self, before: int, after: int) -> Grid:
        """The same with empty nodes before and after."""
        share = np.concatenate((np.zeros(before), self.share, np.zeros(after)))
        return Grid(self.low - before * self.step, self.step, share)

    def spectrum(self) -> Floats:
        """Mean of cos(pi k z) over the values z, counted from 0 to 1 along the grid; k = 0, 1, ...

        They are the Fourier coefficients of the values mirrored at both ends of the grid.
        """
        from scipy.fft import rfft

        coefficients: Floats = rfft(self.mirrored()).real / 2
        return coefficients

    def mirrored(self) -> Floats:
        """The shares around the circle that the grid and its mirror image make."""
        ends = self.share[[0, -1]]
        return np.concatenate(
            (2 * ends[:1], self.share[1:-1], 2 * ends[1:], self.share[-2:0:-1]), dtype=np.float64
        )


def binned(x: NDArray[Any], weight: Any, low: float, high: float, cells: int) -> Grid:
    """Values that lie in [low, high] on a grid of so many cells.

    >>> binned(np.array([0.25, 1.0]), None, 0.0, 1.0, 2).share
    array([0.25, 0.25, 0.5 ])
    """
    step = (high - low) / cells
    sums = linear_binning(x, weight, low, step, cells)
    return Grid(low, step, sums / sums.sum())


class Bandwidth(NamedTuple):
    """A bandwidth, the rule that gave it, and cautions."""

    bandwidth: float
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
    def distinct(self) -> float:
        """What is nearer cannot be told apart well, beside the greatest distance from 0."""
        return _DIGITS * max(map(abs, self.ends))

    @property
    def direct(self) -> bool:
        """Whether kernels can be summed one by one."""
        return len(self.x) <= MAX_DIRECT

    def cells(self, grid: Grid) -> tuple[Floats, Floats]:
        """Increasing values with their shares: each of a few, else those of the grid."""
        if not self.direct:
            return grid.nodes, grid.share
        order = np.argsort(self.x, kind="stable")
        weight = np.ones(len(order)) if self.weight is None else self.weight[order]
        return self.x[order].astype(np.float64), weight / weight.sum()

    def within(self, support: Support, room: float) -> tuple[float, float]:
        """The ends of the support; where it has none, so far beyond the values."""
        (low, high), (first, last) = support, self.ends
        return (
            low if math.isfinite(low) else first - room,
            high if math.isfinite(high) else last + room,
        )


def bandwidth_on_grid(
    v: Values, bandwidth: Rule | float, support: Support, least: float
) -> tuple[Bandwidth, Grid]:
    """The bandwidth given, or by a rule, and the values on a grid that is fine enough for it.

    No rule makes it smaller than `least`.
    """
    rule, given = (bandwidth, 0.0) if isinstance(bandwidth, str) else ("given", float(bandwidth))
    (low, high), (first, last) = support, v.ends
    if isinstance(bandwidth, str) and v.span <= max(1e-100, v.distinct):
        if not least and first == last:
            raise BadInput(
                f"{v.name} is {first:g} in every row, and a rule needs values that differ; "
                f"pass bandwidth= as a number"
            )
        if not least:
            raise BadInput(
                f"{v.name} from {first!r} to {last!r} differs in its last digits only; "
                f"shift or scale it"
            )
        given = least
    if given > high - low:
        raise BadInput(
            f"bandwidth={given:g} is wider than the support from {low:g} to {high:g}; "
            f"pass a smaller one"
        )
    if v.span > 1e100:
        raise BadInput(f"{v.name} from {first:g} to {last:g} is too wide; scale it down")
    for cells in (_CELLS, _MAX_CELLS):
        ends = v.within(support, max(v.span / 2, given))
        grid = binned(v.x, v.weight, *ends, cells)
        width = Bandwidth(given, rule) if given else _bandwidth_by_rule(v, rule, grid)
        if v.direct or width.bandwidth >= _SPAN * grid.step:
            break
    h = max(width.bandwidth, 0.0 if rule == "given" else least)
    if h > v.distinct and (v.direct or h >= 4 * grid.step):
        return width._replace(bandwidth=h), grid
    raise BadInput(
        f"the bandwidth {h:.3g} is too narrow for {v.name} from {first:g} to {last:g}; "
        f"pass a larger bandwidth=, or leave out values that lie far away"
    )


def _bandwidth_by_rule(v: Values, rule: str, grid: Grid) -> Bandwidth:
    s, share = v.cells(grid)
    if rule == "scott":
        return Bandwidth(scott(s, share, v.rows), rule)
    thumb = silverman(s, share, v.rows)
    if rule == "silverman":
        return Bandwidth(thumb, rule)
    if rule == "isj":
        found = improved_sheather_jones(grid.spectrum(), v.rows)
    else:
        widest = 2 * scott(s, share, v.rows) / grid.length
        found = cross_validation(grid.spectrum(), v.rows, widest) if v.rows > 1 else None
    if found is None:
        why = f"{v.name} gives no bandwidth by the rule {rule}; it is Silverman's instead"
        return Bandwidth(thumb, "silverman", (why,))
    return Bandwidth(found * grid.length, rule)


def improved_sheather_jones(c: Floats, rows: float) -> float | None:
    """The bandwidth of Botev, Grotowski and Kroese (2010), or None where their equation has no root.

    A normal reference is nowhere used: each norm of a derivative is estimated with the bandwidth that is
    best for it, which needs the norm of the next derivative, down to the bandwidth itself; it is the
    fixed point t = xi gamma(t).
    """
    from scipy.optimize import brentq

    k2: Floats = (math.pi * np.arange(1, len(c), dtype=np.float64)) ** 2
    terms: Terms = c[1:] * c[1:], k2, np.log(k2)

    def excess(root: float) -> float:
        t = root * root
        return t - _best_variance(terms, rows, t)

    high = 1.0
    while excess(high) <= 0:
        high *= _SHORTER
        if high < 0.1:
            return None
    while excess(_SHORTER * high) > 0:
        high *= _SHORTER
        if high <= _FINEST / (len(c) - 1):
            return None
    return float(brentq(excess, _SHORTER * high, high, xtol=1e-10 * high, rtol=1e-10))


def _best_variance(terms: Terms, rows: float, t: float) -> float:
    """The variance of the kernel, xi gamma^[5](t), if t is that for the highest derivative."""
    norm = _norm(terms, _STAGES + 2, t)
    for j in range(_STAGES + 1, 1, -1):
        odd = math.prod(range(1, 2 * j, 2))
        inflation = (1 + 0.5 ** (j + 0.5)) / 3
        t = (inflation * odd / (rows * math.sqrt(math.pi / 2) * norm)) ** (2 / (3 + 2 * j))
        norm = _norm(terms, j, t)
    return float((2 * rows * math.sqrt(math.pi) * norm) ** -0.4)


def _norm(terms: Terms, j: int, t: float) -> float:
    """Integral of the squared j-th derivative of the density with kernels of variance t."""
    squares, k2, log_k2 = (part[: _frequencies(t)] for part in terms)
    return max(2 * inner(squares, np.exp(j * log_k2 - k2 * t)), 1e-300)


def _frequencies(t: float) -> int:
    return int(_DAMPED / (math.pi * math.sqrt(t))) + 1


def cross_validation(c: Floats, rows: float, widest: float) -> float | None:
    """The bandwidth of least-squares cross-validation (Rudemo 1982, Bowman 1984), or None without one.

    It minimises the integral of the squared density less twice its mean at the values, each left out in
    turn. Among the minima below `widest` the deepest; ties alone pull it towards 0, which is none.
    """
    from scipy.optimize import minimize_scalar

    def loss(log_width: float) -> float:
        return _leave_one_out_loss(c, rows, math.exp(2 * log_width))

    least = _FINEST / (len(c) - 1)
    if widest <= least:
        return None
    tried = np.linspace(
        math.log(least), math.log(widest), 1 + math.ceil(math.log(widest / least) / 0.08)
    )
    losses = np.array([loss(w) for w in tried])
    inside = 1 + np.flatnonzero((losses[1:-1] < losses[:-2]) & (losses[1:-1] <= losses[2:]))
    if not len(inside):
        return None
    i = inside[losses[inside].argmin()]
    found = minimize_scalar(
        loss, bounds=(tried[i - 1], tried[i + 1]), method="bounded", options={"xatol": 1e-6}
    )
    return math.exp(found.x)


def _leave_one_out_loss(c: Floats, rows: float, t: float) -> float:
    few = min(len(c) - 1, _frequencies(t / 2))
    k = np.arange(1, few + 1)
    damped = np.exp(-((math.pi * k) ** 2) * t / 2)
    twice = np.zeros(few)
    reach = min(few, (len(c) - 1) // 2)
    twice[:reach] = c[2 : 2 * reach + 1 : 2]
    square = 1 + 2 * float((c[k] ** 2 * damped**2).sum())
    mean = 1 + 2 * float((c[k] ** 2 * damped).sum())
    itself = 1 + float(((1 + twice) * damped).sum())
    return square - 2 * (mean - itself / rows) * rows / (rows - 1)
