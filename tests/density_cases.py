"""Samples of known densities."""

import numpy as np
from scipy import stats


def normals(n, seed=0):
    return np.random.default_rng(seed).normal(1.0, 2.0, n)


def two_peaks(n, seed=0):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.5, rng.normal(0, 1, n), rng.normal(6, 0.5, n))


def two_peaks_pdf(x):
    return stats.norm.pdf(x, 0, 1) / 2 + stats.norm.pdf(x, 6, 0.5) / 2
