"""Is a risk model calibrated where it is used? The ratio and the distances that medical papers report."""

from __future__ import annotations

import math

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.loess import Smoother, smoother
from scorewise.estimate import Estimate
from scorewise.inference.inversion import Noise, inverted
from scorewise.inference.scales import Spread, freedom, limits, student_chance, z
from scorewise.inference.shares import wilson
from scorewise.measures.calibration_bins import METHOD, calibrated, lacking, path_noise
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.probabilities import chances, displacement, why_not_probable
from scorewise.tallies.sorting import kept

RATIO = (0.0, math.inf)


@measure(group="calibration", better="near", target=1.0, bounds=RATIO, title="O/E")
def oe_ratio(t: Tally, *, level: float = 0.95) -> Estimate:
    """Observed positives over expected ones: 1 is right, above 1 the probabilities are too low.

    The share of positives over the mean probability. The interval is linearised on the log scale (each
    row's influence on the ratio, so what scores explain of the labels makes it narrower), with Student's
    quantile where few rows bring most of the variance; with rows of one class alone it is Wilson's for the
    share. `p` is that of a ratio of 1.

    >>> oe_ratio(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1, 0.4, 0.7]))
    1.034 [0.478, 2.239]
    """
    z(level)
    if why := why_not_probable(t):
        return Estimate.undefined(why, level)
    c = chances(t)
    expected = float(c.sum.sum())
    if not expected > 1e-100 * c.total:
        why = "the mean probability is below 1e-100" if expected else "all probabilities are 0"
        return Estimate.undefined(why, level)
    p, pos = np.clip(c.p, 0.0, 1.0), c.pos / c.weight
    squares = c.squares * pos, c.squares * (1 - pos)
    if len(t.score) == len(c):  # each score has a cell
        squares = t.pos2.astype(np.float64), t.neg2.astype(np.float64)
    due = t.positives / expected * p
    effect = np.concatenate([1 - due, -due]) / expected
    weight, both = np.concatenate([c.pos, c.weight - c.pos]), np.concatenate(squares)
    known = Spread(float((both * effect * effect).sum()), freedom(weight, both, effect))
    return ratio_estimate(expected, known, (t.positives, t.negatives, *t.squares[::-1]), level)


def ratio_estimate(
    expected: float, known: Spread, table: tuple[float, float, float, float], level: float
) -> Estimate:
    """The estimate of observed over expected positives, given the variance of the ratio.

    `table` has the weights of positives and of negatives, and the sums of their squares.
    """
    value = table[0] / expected
    if min(table[:2]) > 0 and known.says_something(value):
        low, high = limits(value, known, level, "log")
        p = student_chance(math.log(value) * value / math.sqrt(known.variance), known.df)
        return Estimate(value, low, high, level, "linearised, log", expected=1.0, p=p)
    times = (table[0] + table[1]) / expected
    _, low, high = wilson(*table, level)
    return Estimate(value, low * times, high * times, level, "Wilson", expected=1.0)


@measure(group="calibration", better="low", title="ICI")
def ici(t: Tally, *, level: float = 0.95, seed: int = 0) -> Estimate:
    """Mean distance between the probabilities and a smooth calibration curve (Austin and Steyerberg 2019).

    The integrated calibration index: |p - loess(p)| averaged over rows, with `curves.smooth_reliability`
    for the curve. Chance alone makes it larger than 0: compare it with `expected`. Beyond 512 distinct
    scores, neighbours are joined at their mean. The interval inverts
    consistency tests along the gaps seen, and is no narrower than the curve is known where it is measured.

    >>> ici(Tally.of([0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9]))
    0.166 [0.000, 0.424]
    """
    return _distance(t, level, seed, None)


@measure(group="calibration", better="low", title="E50")
def e50(t: Tally, *, level: float = 0.95, seed: int = 0) -> Estimate:
    """Median distance between the probabilities and a smooth calibration curve.

    Half of the rows are no further from it (Austin and Steyerberg 2019); otherwise as `ici`.

    >>> e50(Tally.of([0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9]))
    0.141 [0.000, 0.801]
    """
    return _distance(t, level, seed, 0.5)


@measure(group="calibration", better="low", title="E90")
def e90(t: Tally, *, level: float = 0.95, seed: int = 0) -> Estimate:
    """Distance from a smooth calibration curve that nine tenths of the probabilities do not exceed.

    As `ici`, with the 90th percentile in the place of the mean (Austin and Steyerberg 2019).

    >>> e90(Tally.of([0, 0, 1, 0, 1, 1, 0, 1], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9]))
    0.400 [0.000, 0.769]
    """
    return _distance(t, level, seed, 0.9)


def _distance(t: Tally, level: float, seed: int, share: float | None) -> Estimate:
    if why := lacking(t, level):
        return Estimate.undefined(why, level)
    s, noise = smoother(t), path_noise(t, seed)
    off = s.curve - s.cells.p
    far, mass = np.abs(off)[None], s.mass
    value = float(_size(far, mass, share)[0])
    drawn = kept(noise, "distances", lambda: _Distances(noise))
    of_few = drawn.smoother.mass
    found = inverted(drawn, lambda far: _size(far, of_few, share), level, value=value)
    # a distance is not known better than the curve where it is measured
    at = np.abs(far[0] - value) <= 1e-9
    there = mass if share is None else at / at.sum()
    error = z(level) * math.sqrt(float(s.variance((there * np.sign(off))[None])[0]))
    found = found._replace(low=min(found.low, value - error), high=max(found.high, value + error))
    how = f"{METHOD}, on coarse cells" if displacement(t) else METHOD
    return calibrated(found, level, how=how)


class _Distances:
    """How far the curve is from each cell, in the place of its gaps (see `Gaps`); kept for each step."""

    def __init__(self, noise: Noise) -> None:
        self.smoother, self.few, self._noise = Smoother(noise.cells), noise.few, noise
        self.gap, self.null = self._far(noise.gap[None])[0], self._far(noise.null)

    def moved(self, step: float) -> Floats:
        far: Floats = self._far(self._noise.moved(step)[None])[0]
        return far

    def at(self, step: float) -> Floats:
        return kept(self, step, lambda: self._far(self._noise.at(step)))

    def _far(self, gaps: Floats) -> Floats:
        return np.abs(self.smoother.fitted(gaps) - self.smoother.cells.p)


def _size(far: Floats, mass: Floats, share: float | None) -> Floats:
    """The mean of distances, of replicates by cells, or the quantile of that share of the rows."""
    if share is None:
        return np.asarray(far @ mass)
    order = np.argsort(far, axis=-1)
    at = (mass[order].cumsum(-1) >= share - 1e-9).argmax(-1)
    return np.take_along_axis(far, np.take_along_axis(order, at[:, None], -1), -1)[:, 0]
