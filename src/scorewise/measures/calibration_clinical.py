"""Is a risk model calibrated where it is used? The ratio and the distances that medical papers report."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.computing import cached
from scorewise.curves.reliability import Smoother, smoother
from scorewise.estimate import Estimate, Undefined, undefined_if
from scorewise.inference.inversion import Gaps, Noise, Statistic, invert_test
from scorewise.inference.scales import Variance, limits, normal_quantile, sandwich, t_p_value
from scorewise.inference.shares import wilson
from scorewise.measures.calibration_bins import method_on_cells, pooled_noise
from scorewise.registry import measure
from scorewise.statistics.probabilities import probability_cells, why_not_probabilities
from scorewise.tallies import Tally

RATIO = (0.0, math.inf)
SHARES = (0.5, 0.9)  # of the rows, which the quantiles of distances are of


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
    undefined_if(why_not_probabilities(t))
    c = probability_cells(t)
    expected = float(c.sum.sum())
    if not expected > 1e-100 * c.total:
        zero = "all probabilities are 0"
        raise Undefined("the mean probability is below 1e-100" if expected else zero)
    due, pos = t.positives / expected * np.clip(c.p, 0.0, 1.0), c.pos / c.weight
    squares = c.squares * pos, c.squares * (1 - pos)
    if len(t.score) == len(c):  # each score has a cell
        squares = t.pos2.astype(np.float64), t.neg2.astype(np.float64)
    up = c.pos, squares[0], (1 - due) / expected
    down = c.weight - c.pos, squares[1], -due / expected
    value, known = t.positives / expected, sandwich(up, down)
    if min(t.positives, t.negatives) > 0 and known.informative(value):
        low, high, p_value = ratio_interval(value, known, level)
        return Estimate(value, low, high, level, "linearised, log", expected=1.0, p=p_value)
    times = c.total / expected
    _, low, high = wilson(t.positives, t.negatives, *t.squares[::-1], level)
    return Estimate(value, low * times, high * times, level, "Wilson", expected=1.0)


def ratio_interval(value: Any, known: Variance, level: float) -> tuple[Any, Any, Any]:
    """The limits of observed over expected positives, and the p-value of a ratio of 1; or of many."""
    low, high = limits(value, known, level, "log")
    return low, high, t_p_value(np.log(value) * value / np.sqrt(known.variance), known.df)


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
    undefined_if(why_not_probabilities(t))
    s, noise = smoother(t), pooled_noise(t, seed)
    off = s.curve - s.cells.p
    far, mass = np.abs(off), s.mass
    few, drawn = cached(noise, "distances", lambda: _distances(noise))
    if share is None:
        value, there = float((far[None] @ mass)[0]), mass
        found = invert_test(drawn, lambda far: np.asarray(far @ few.mass), level, value=value)
    else:
        k = SHARES.index(share)
        value = float(_quantiles(far, mass)[k])
        quantiles_of = partial(_quantiles, mass=few.mass)
        ranked = cached(drawn, "ranked", lambda: _Transformed(drawn, quantiles_of))
        found = invert_test(ranked, lambda quantiles: quantiles[:, k], level, value=value)
        at = np.abs(far - value) <= 1e-9
        there = at / at.sum()
    # a distance is not known better than the curve where it is measured
    error = normal_quantile(level) * math.sqrt(float(s.variance((there * np.sign(off))[None])[0]))
    found = found._replace(low=min(found.low, value - error), high=max(found.high, value + error))
    return found.estimate(level, method=method_on_cells(t))


class _Transformed:
    """A function of gaps in the place of these (see `Gaps`), cached for each step."""

    def __init__(self, gaps: Gaps, made: Statistic) -> None:
        self._gaps, self._made, self.few, self.coarse = gaps, made, gaps.few, gaps.coarse
        self.gap, self.null = made(gaps.gap[None])[0], made(gaps.null)

    def moved(self, step: float) -> Floats:
        return cached(self, ("moved", step), lambda: self._made(self._gaps.moved(step)[None])[0])

    def at(self, step: float) -> Floats:
        return cached(self, step, lambda: self._made(self._gaps.at(step)))


def _distances(noise: Noise) -> tuple[Smoother, _Transformed]:
    """How far the curve is from each of the few cells that noise is drawn for."""
    s = Smoother(noise.cells)
    return s, _Transformed(noise, partial(_apart, s))


def _apart(s: Smoother, gaps: Floats) -> Floats:
    return np.abs(s.fitted(gaps) - s.cells.p)


def _quantiles(far: Floats, mass: Floats) -> Floats:
    """The distances that these shares of the rows do not exceed, of replicates by cells."""
    order = np.argsort(far, axis=-1)
    upto = mass[order].cumsum(-1)
    at = np.stack([(upto >= share - 1e-9).argmax(-1) for share in SHARES], axis=-1)
    return np.take_along_axis(far, np.take_along_axis(order, at, -1), -1)
