"""The classes' shares at a row of probabilities, by Dirichlet kernels, leaving the row itself out.

Popordanoska, Sayer and Blaschko (2022): E[Y | p] is estimated at p_i by the mean of the other labels y_j,
weighted by the density at p_i of the Dirichlet distribution with parameters p_j / h + 1. With two classes
that is the beta kernel (Chen 1999).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from scorewise.intervals.class_consistency import drawn_labels, indicator, replicates
from scorewise.tallies.class_sample import ClassSample

Floats = NDArray[np.float64]
BANDWIDTHS = np.concatenate((np.logspace(-5, -1, 15), np.linspace(0.2, 1, 5)))  # of the authors


class Kernels:
    """The logarithms of the kernels between the rows of a sample, for any bandwidth."""

    def __init__(self, s: ClassSample) -> None:
        self._p = s.p
        # 0 is below any bandwidth: the smallest number stands for it, and 0 log 0 = 0
        log = np.log(np.maximum(s.p, np.finfo(float).tiny))
        self._cross = np.einsum("ik,jk->ij", log, s.p)
        with np.errstate(divide="ignore"):
            self._weight = np.log(s.weight)

    def log(self, h: float) -> Floats:
        """Of each row (first axis) by each other (second), with the other's weight; -inf for itself."""
        ends = self._p / h
        scale = gammaln(ends.sum(1) + ends.shape[1]) - gammaln(ends + 1).sum(1)
        log = self._cross / h
        log += scale + self._weight
        np.fill_diagonal(log, -math.inf)
        return log

    def shares(self, h: float) -> Floats:
        """The weight that each other row (second axis) has at a row (first axis); they add up to 1."""
        log = self.log(h)
        log -= log.max(1, keepdims=True)
        np.exp(log, out=log)
        log /= log.sum(1, keepdims=True)
        return log


def likeliest(kernels: Kernels, weight: Floats) -> float:
    """The bandwidth under which the rows are likeliest, each seen from the others."""
    rest = np.log1p(-weight)

    def likelihood(h: float) -> float:
        log = kernels.log(h)
        top = log.max(1)
        log -= top[:, None]
        each = top + np.log(np.exp(log, out=log).sum(1)) - rest
        return float((weight * each).sum())

    return float(max(BANDWIDTHS, key=likelihood))


class KernelGaps:
    """Gaps between the classes' shares and their probabilities, smoothed by kernels; see `Gaps`.

    `gap` holds the smoothed y - p, class by class; `bias` what smoothing alone makes of p. At a step the
    labels have the probabilities p + step gap; draws with the same random numbers at steps 0 and 1 are
    joined linearly in between.
    """

    def __init__(self, s: ClassSample, shares: Floats, seed: int) -> None:
        n, k = s.p.shape
        smooth = np.einsum("ij,jk->ik", shares, s.p)
        self.bias = (smooth - s.p).T.ravel()
        seen = (indicator(s.y[None], k) @ shares.T).T
        self.gap = (seen - smooth).T.ravel()
        chance = np.random.default_rng(seed).random((replicates(max(n * n, 8 * n * k)), n))
        # in single precision: this is noise
        light = np.ascontiguousarray(shares.T, np.float32)
        self.null = _noise(s.p, smooth, light, chance)
        q = np.maximum(s.p + (seen - smooth), 0.0)
        q /= q.sum(1, keepdims=True)
        self._far = _noise(q, np.einsum("ij,jk->ik", shares, q), light, chance)

    def at(self, step: float) -> Floats:
        """Replicates of the gaps at a step."""
        part = min(step, 1.0)
        drawn: Floats = step * self.gap + (1 - part) * self.null + part * self._far
        return drawn


def _noise(p: Floats, smooth: Floats, light: NDArray[np.float32], chance: Floats) -> Floats:
    many, (n, k) = len(chance), p.shape
    drawn = indicator(drawn_labels(p, chance), k).astype(np.float32) @ light
    drawn = drawn.reshape(many, k * n)
    drawn -= smooth.T.ravel()
    return drawn
