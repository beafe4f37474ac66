"""The classes' shares at a row of probabilities, by Dirichlet kernels, leaving the row itself out.

Popordanoska, Sayer and Blaschko (2022): E[Y | p] is estimated at p_i by the mean of the other labels y_j,
weighted by the density at p_i of the Dirichlet distribution with parameters p_j / h + 1. With two classes
that is the beta kernel (Chen 1999).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.intervals.class_consistency import changes, drawn_labels, indicator, replicates
from scorewise.tallies.class_sample import ClassSample

BANDWIDTHS = np.concatenate((np.logspace(-5, -1, 15), np.linspace(0.2, 1, 5)))  # of the authors
_SEEN = 256
_WIDER = 10.0


class Kernels:
    """The logarithms of the kernels between the rows of a sample, for any bandwidth."""

    def __init__(self, s: ClassSample) -> None:
        self._p = s.p
        # 0 is below any bandwidth: the smallest number stands for it, and 0 log 0 = 0
        log = np.log(np.maximum(s.p, np.finfo(float).tiny))
        self._cross = np.einsum("ik,jk->ij", log, s.p)
        with np.errstate(divide="ignore"):
            self._weight = np.log(s.weight)

    def log(self, h: float, first: int | None = None) -> Floats:
        """Of each row (first axis) by each other (second), with the other's weight; -inf for itself."""
        from scipy.special import gammaln

        ends = self._p / h
        scale = gammaln(ends.sum(1) + ends.shape[1]) - gammaln(ends + 1).sum(1)
        log: Floats = self._cross[:first] / h
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
    """The bandwidth under which the rows are likeliest, each seen from the others.

    Some of them, in the order of the sample, are enough to tell.
    """

    def likelihood(h: float) -> float:
        log = kernels.log(h, _SEEN)
        top = log.max(1)
        log -= top[:, None]
        each = top + np.log(np.exp(log, out=log).sum(1))
        return float((weight[:_SEEN] * each).sum())

    return float(max(BANDWIDTHS, key=likelihood))


class KernelGaps:
    """Gaps between the classes' shares and their probabilities, smoothed by kernels; see `Gaps`.

    `gap` holds the smoothed y - p, class by class; `bias` what smoothing alone makes of p. Noise is that of
    labels with the probabilities p at step 0; beyond, that of p and the gaps of a wider kernel, which
    tells how certain the labels are where p does not.
    """

    def __init__(self, s: ClassSample, kernels: Kernels, h: float, seed: int) -> None:
        n, k = s.p.shape
        self.few = False
        self._p = s.p.T.ravel()
        shares = kernels.shares(h)
        smooth = np.einsum("ij,jk->ik", shares, s.p)
        self.bias = (smooth - s.p).T.ravel()
        self.gap = np.einsum("ij,jk->ik", shares, s.gap).T.ravel()
        chance = np.random.default_rng(seed).random((replicates(max(n * n, 8 * n * k)), n))
        # in single precision: this is noise
        light = np.ascontiguousarray(shares.T, np.float32)
        self.null = _noise(s.p, shares, light, chance)
        wide = kernels.shares(_WIDER * h)
        q = s.p - np.einsum("ij,jk->ik", wide, s.p) + (indicator(s.y[None], k) @ wide.T).T
        q = np.maximum(q, 0.0)
        q /= q.sum(1, keepdims=True)
        self._noise = _noise(q, shares, light, chance)

    def moved(self, step: float) -> Floats:
        """The gaps without chance: so many times those seen, within the probabilities there are."""
        moved: Floats = np.clip(self._p + step * self.gap, 0.0, 1.0) - self._p
        return moved

    def at(self, step: float) -> Floats:
        """Replicates of the gaps at a step."""
        if step == 0:
            return self.null
        drawn: Floats = self.moved(step).astype(np.float32) + self._noise
        return drawn


def _noise(p: Floats, shares: Floats, light: NDArray[np.float32], chance: Floats) -> Floats:
    """Replicates of the smoothed y - p for labels y of chances p.

    Added to those of the likeliest labels: small gaps of rows that are nearly certain keep their digits.
    """
    many, (n, k) = len(chance), p.shape
    likeliest = p.argmax(1)
    least = -p
    least[np.arange(n), likeliest] += 1
    drawn: Floats = (changes(drawn_labels(p, chance), likeliest, k) @ light).reshape(many, k * n)
    drawn += np.einsum("ij,jk->ik", shares, least).T.ravel().astype(np.float32)
    return drawn
