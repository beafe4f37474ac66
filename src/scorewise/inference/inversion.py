"""How large a calibration error may be, given what was seen: tests inverted along the observed gaps.

A plug-in calibration error is never 0, even for calibrated scores: noise alone makes gaps between
labels and probabilities. So a bootstrap around it covers badly. Instead, the gaps are supposed to be a
number of times those seen, noise is drawn anew, and the interval holds the steps under which the value
seen is not extreme. At step 0 that is consistency resampling, which gives the p-value: the interval
reaches down to 0 exactly when the p-value is above (1 - level) / 2. Its upper end is that of a usual
value where the one seen is below it. Only one direction is tried, so that the level is approximate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np

from scorewise.arrays import Floats
from scorewise.computing import cached, inner
from scorewise.estimate import Estimate
from scorewise.inference.resampling import consistency_gaps, resampling_p
from scorewise.inference.scales import bisection
from scorewise.statistics.probabilities import ProbabilityCells
from scorewise.tallies.losses import logit

Statistic = Callable[[Floats], Floats]  # of gaps, replicates by cells, as shares of the whole
# fixed steps, so that a wider level never has a narrower interval
_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 8.0, 32.0, 1e3, 1e6, 1e12)
_PRIOR = 2.0  # rows of the trend
_EXPECTED = 25.0  # variance, in rows, of labels below which few rows of a class are expected
MAX_COARSE = (
    12  # cells with which all steps are tried: rates that end at 0 or 1 may turn the way back
)
CELLS = 1 << 10  # up to which all can be drawn at once
DRAWN = 1 << 20  # beyond which draws would take minutes
_BLOCK = 1 << 12  # cells in a block, at the most
_BLOCKS = 16  # at the least
_DRAWS = 1 << 22  # labels drawn at a step, about
Part = Callable[[slice], Statistic]  # of the gaps of some cells: what they add to an error


METHOD = "inverted consistency test"


class InvertedTest(NamedTuple):
    """A statistic seen, its interval, and what calibrated scores would give."""

    value: float
    low: float
    high: float
    expected: float
    p: float

    def estimate(
        self,
        level: float,
        *,
        bound: float = 0.0,
        bounds: tuple[float, float] = (0.0, 1.0),
        method: str = METHOD,
        caution: str = "",
    ) -> Estimate:
        """The estimate, within the bounds of the measure."""
        value, low, high, expected, p = self
        known = {"bound": bound, "expected": expected, "p": p}
        return Estimate.within(bounds, value, low, high, level, method, caution=caution, **known)


class Gaps(Protocol):
    """The gaps seen, and replicates of what they would be if they were a number of times as large.

    Steps below 0 lead the other way. `few` says that so few rows of a class are expected that chance
    may well have hidden a larger error there, `coarse` that the cells are few.
    """

    gap: Floats
    null: Floats
    few: bool
    coarse: bool

    def moved(self, step: float) -> Floats:
        """The gaps without chance: so many times those seen, where possible."""
        ...

    def at(self, step: float) -> Floats:
        """Replicates of the gaps; at step 0 they are `null`."""
        ...


class Noise:
    """Replicates of what chance adds to gaps that are a number of times as large as those seen.

    Where few rows of a class are expected, labels are drawn anew at each step; otherwise what is drawn
    for calibrated scores is scaled, with normal draws for what is missing. Where cells do not vary
    independently, `drawn` are replicates of the gaps of calibrated scores, and `seen` replicates, of
    variance 1, of what chance adds to the gaps seen. A part of many cells is given its `direction`.
    """

    def __init__(
        self,
        c: ProbabilityCells,
        replicates: int,
        seed: int | tuple[int, int],
        *,
        drawn: Floats | None = None,
        seen: Floats | None = None,
        direction: Direction | None = None,
    ) -> None:
        self._rng = np.random.default_rng(seed)
        self._seed = seed
        self._way = Direction.of(c) if direction is None else direction
        self.few = self._way.few
        self.total = self._way.total
        self.cells, self.coarse = c, len(c) <= MAX_COARSE
        self.gap = c.gap / self.total
        null = consistency_gaps(c, replicates, self._rng) if drawn is None else drawn
        self.null = null / self.total
        self._seen = seen

    def moved(self, step: float) -> Floats:
        """The gaps without chance, as shares of the whole: so many times those seen, where possible."""
        c = self.cells
        return cached(
            self, ("moved", step), lambda: (self._rate(step) - c.p) * c.weight / self.total
        )

    def at(self, step: float) -> Floats:
        """Replicates of the gaps, as shares of the whole; kept for other errors of the same cells."""
        if not step:
            return self.null
        again = self._redrawn if self.few else self._drawn
        return cached(self, step, lambda: again(step)) if self._seen is None else again(step)

    def _redrawn(self, step: float) -> Floats:
        c = self.cells
        there = c.shifted(self._rate(step) - c.p)
        redrawn_gaps = consistency_gaps(there, len(self.null), np.random.default_rng(self._seed))
        return np.asarray((redrawn_gaps + (there.sum - c.sum)) / self.total)

    def _rate(self, step: float) -> Floats:
        c = self.cells
        shift = step * self._way.toward if step > 0 else -step * self._way.back
        return np.asarray(np.clip(c.p + shift / c.weight, 0.0, 1.0))

    def _drawn(self, step: float) -> Floats:
        c, rate = self.cells, self._rate(step)
        drawn: Floats
        # what differing chances within a cell take off the variance of its mean chance
        within = c.squares * c.p * (1 - c.p) - c.noise
        variance = c.squares * rate * (1 - rate) - within
        # what rounding leaves is no variance
        variance = np.where(variance > 1e-12 * c.squares, variance, 0.0)
        free = self.moved(step)
        # other rows would have had other scores, and so other shares of the cells
        shares = np.divide(1.0, c.rows, out=np.zeros(len(c)), where=c.rows > 0)
        if self._seen is not None:
            # from the noise of calibrated scores to that of the gaps seen
            part = np.where(self._seen.any(0), min(abs(step), 1.0), 0.0)
            wanted = variance + shares * (free * self.total) ** 2
            noisy = c.noise > 1e-200 * wanted.max(initial=0.0)
            ratio = np.divide(wanted, c.noise, out=np.ones(len(c)), where=noisy)
            drawn = np.sqrt((1 - part) * ratio) * self.null
            drawn += np.sqrt(part * wanted) / self.total * self._seen
            drawn += free
            return drawn
        # threads that ask for several steps at once must not draw this twice
        more, mass = cached(self, "more", lambda: self._more(shares))
        left = np.minimum(variance, c.noise)
        less = np.sqrt(np.divide(left, c.noise, out=np.ones(len(c)), where=c.noise > 0))
        drawn = less * self.null
        drawn += free
        drawn += np.sqrt(np.maximum(variance - c.noise, 0.0)) / self.total * more
        drawn += free * mass
        return drawn

    def _more(self, shares: Floats) -> tuple[Floats, Floats]:
        """Normal draws for what noise is missing, and for the shares of rows that cells might have."""
        more, mass = self._rng.standard_normal((2, *self.null.shape))
        mass *= np.sqrt(shares)
        mass -= (mass * (self.cells.weight / self.total)).sum(1, keepdims=True)
        return more, mass


class Direction(NamedTuple):
    """Where rates move: by how much weight of positives, at step 1 and at step -1, on each cell."""

    toward: Floats
    back: Floats
    total: float
    few: bool

    @classmethod
    def of(cls, c: ProbabilityCells) -> Direction:
        """Along the gaps seen; and back, all rates up or down by a row, or what chance may do."""
        toward = _without_noise(c)
        noise = np.maximum(c.noise, 0.0)
        # no gap at all leaves the direction open: then all rates move up, by what chance may do
        if not (np.abs(toward) > 1e-12 * c.weight).any():
            toward = np.sqrt(noise)
        unit = np.divide(c.squares, c.weight, out=np.zeros(len(c)), where=c.weight > 0)
        rows = np.divide(noise, unit**2, out=np.zeros(len(c)), where=unit > 0)
        expected = float(rows.sum())
        share = rows / expected if expected > 0 else rows
        # what cancels up to rounding goes up
        rises = toward.sum() > 1e-9 * np.abs(toward).sum()
        reach = max(1.0, expected**0.5) * (-1.0 if rises else 1.0)
        return cls(toward, reach * share * unit, c.total, expected < _EXPECTED)

    def part(self, used: slice) -> Direction:
        """The same for some of the cells."""
        return self._replace(toward=self.toward[used], back=self.back[used])


def _without_noise(c: ProbabilityCells) -> Floats:
    """The gaps seen, shrunk towards those of a logistic recalibration by how much of the rest is noise.

    Noise that is in the gaps seen would otherwise count twice when it is drawn anew. The trend is
    p (1 - p) times a quadratic function of the logit. The rest shrinks, small gaps the most, until gaps
    and noise together are as large, on average, as what was seen.
    """
    least = variance = np.maximum(c.noise, 1e-4 * c.squares)
    p = np.clip(c.p, 1e-3, 1 - 1e-3)
    z = logit(p)
    basis = c.weight * p * (1 - p) * np.stack([np.ones(len(c)), z, z * z])
    rows = np.where(c.squares > 0, c.rows, 1.0)
    # of sure scores that are wrong, the noise is rather that of the rates seen, with two rows of the trend
    for _ in range(3):
        error = np.sqrt(variance)
        solution = np.linalg.lstsq((basis / error).T, c.gap / error, rcond=1e-6)
        trend = (solution[0][:, None] * basis).sum(0)
        r = np.clip(c.p + trend / c.weight, 0.0, 1.0)
        r = np.clip((c.pos / c.weight * rows + _PRIOR * r) / (rows + _PRIOR), 0.0, 1.0)
        variance = np.maximum(least, c.squares * r * (1 - r))
    error = np.sqrt(variance)
    toward: Floats = _shrunk(trend / error, (c.gap - trend) / error, error) * error
    # what rounding leaves of nothing is no gap
    toward[np.abs(toward) <= 1e-12 * np.abs(c.gap).max(initial=0.0)] = 0.0
    return toward


def _shrunk(trend: Floats, rest: Floats, error: Floats) -> Floats:
    """Gaps in units of their errors, of which normal noise makes as much as the trend and the rest."""
    from scipy.special import erf

    square = np.maximum(rest * rest, 1e-20)
    wanted = inner(error, np.abs(trend + rest)) * (1 + 1e-9)
    around, root = math.sqrt(2 / math.pi), math.sqrt(2)

    def gaps(less: float) -> Floats:
        return np.asarray(trend + rest * np.maximum(1 - less / square, 0.0))

    def too_large(less: float) -> bool:
        g = gaps(less)
        return inner(error, around * np.exp(-g * g / 2) + g * erf(g / root)) > wanted

    largest = float(square.max(initial=0.0))
    if too_large(largest):
        return trend
    return gaps(bisection(too_large, 0.0, largest, 30)[1])


def invert_test(
    noise: Gaps, statistic: Statistic, level: float, *, size: Statistic | None = None,
    value: float | None = None, expected: float | None = None,
) -> InvertedTest:  # fmt: skip
    """The statistic of the gaps seen, with interval, expected value and p-value.

    `size` is the error itself, as a function of gaps without noise, where the statistic corrects for
    noise; `value` is the statistic where it is known better than from these cells; `expected` is what
    calibrated scores get where that is not the mean of the statistic.
    """
    size = size or statistic
    tail = (1 - level) / 2
    seen = float(statistic(noise.gap[None])[0])
    # equal up to rounding counts as equal
    rounding = (1e-5 if noise.null.dtype == np.float32 else 1e-9) * abs(seen) + 1e-15
    least = seen - rounding
    null = statistic(noise.null)
    drawn = {0.0: np.sort(null)}

    def quantile(step: float, share: float) -> float:
        if step not in drawn:
            drawn[step] = np.sort(statistic(noise.at(step)))
        ordered, place = drawn[step], share * (len(null) - 1)
        at = min(int(place), len(ordered) - 2)
        return float(ordered[at] + (place - at) * (ordered[at + 1] - ordered[at]))

    p = resampling_p(null, least)
    low = 0.0
    if p < tail:
        low = _crossing(lambda step: quantile(step, 1 - tail) - least, noise.coarse, 0)
    # a value below what chance alone gives is luck, and hides as much as a usual one
    usual = max(seen, quantile(0.0, 0.5)) + rounding
    high = _crossing(lambda step: quantile(step, tail) - usual, noise.coarse, -1)
    ends = _largest(noise, size, 1.0, low, high)
    if noise.few and p >= tail:
        # gaps that chance may have made do not say which way they go
        back = _crossing(lambda step: quantile(-step, tail) - usual, noise.coarse, -1)
        ends[1] = max(ends[1], *_largest(noise, size, -1.0, back))
    exact = seen if value is None else value
    mean = float(null.mean()) if expected is None else expected
    return InvertedTest(exact, min(ends[0], exact), max(ends[1], exact), mean, p)


def _largest(noise: Gaps, size: Statistic, way: float, *last: float) -> list[float]:
    """The largest errors without chance on the way to some steps, straight between fixed steps."""
    steps = _STEPS[: sum(step < max(last) for step in _STEPS) + 1]
    reached = np.maximum.accumulate(size(np.stack([noise.moved(way * step) for step in steps])))
    return np.interp(last, steps, reached).tolist()


def _crossing(above: Callable[[float], float], all_steps: bool, which: int) -> float:
    """The step at which a function of steps reaches 0, straight between fixed steps.

    Where all are tried it is the first (0) or the last (-1); otherwise it is found by halving.
    """
    low, high, middle = 0, len(_STEPS) - 1, _STEPS.index(1.0)
    if all_steps:
        below = [above(step) < 0 for step in _STEPS]
        if which == -1 and below[-1]:
            return _STEPS[-1]
        turns = [k for k in range(high) if below[k] and not below[k + 1]]
        if not turns or (which == 0 and not below[0]):
            return _STEPS[-1] if below[0] else 0.0
        low = turns[which]
    elif above(_STEPS[0]) >= 0:
        return 0.0
    else:
        while high - low > 1:
            low, high = (middle, high) if above(_STEPS[middle]) < 0 else (low, middle)
            middle = (low + high) // 2
    a, b = above(_STEPS[low]), above(_STEPS[low + 1])
    if b <= a or b < 0:
        return _STEPS[low + 1]
    return _STEPS[low] - a * (_STEPS[low + 1] - _STEPS[low]) / (b - a)


class ManyCells:
    """What each block of very many cells adds to an error: seen, drawn, and without chance; see `Gaps`.

    An error adds up, or is the largest of, what single cells hold, and cells are independent given the
    scores. So each block needs few replicates, which are put together anew for each replicate of the
    whole: memory does not grow with the number of cells.

    `term` makes it of the gaps of a block, `size` of gaps that are free of noise.
    """

    def __init__(
        self, c: ProbabilityCells, term: Part, size: Part, replicates: int, seed: int
    ) -> None:
        self._cells, self._term, self._size, self._seed = c, term, size, seed
        self._way = Direction.of(c)
        self.few, self.coarse = self._way.few, False
        step = max(1, min(_BLOCK, len(c) // _BLOCKS))
        self._blocks = [slice(i, i + step) for i in range(0, len(c), step)]
        self._draws = int(np.clip(_DRAWS // len(c), 16, 256))
        shape = replicates, len(self._blocks)
        self._which = np.random.default_rng(seed).integers(self._draws, size=shape)
        self.gap = self._each(lambda block: term(block)((c.gap[block] / c.total)[None]))[0]
        self.null = self.at(0.0)

    def moved(self, step: float) -> Floats:
        """What each block adds without chance."""
        free = self._each(lambda at: self._size(at)(self._noise(at, 0).moved(step)[None]))
        return np.asarray(free[0])

    def at(self, step: float) -> Floats:
        """Replicates of what each block adds."""
        drawn = self._each(lambda at: self._term(at)(self._noise(at, self._draws).at(step)))
        return np.take_along_axis(drawn, self._which, axis=0)

    def _noise(self, block: slice, draws: int) -> Noise:
        seed = self._seed, block.start
        return Noise(self._cells.part(block), draws, seed, direction=self._way.part(block))

    def _each(self, compute: Callable[[slice], Any]) -> Floats:
        return np.stack([compute(block) for block in self._blocks], axis=-1)
