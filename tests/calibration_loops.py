"""Calibration errors by rows and loops, as their papers write them."""

from itertools import pairwise

import numpy as np
from scipy import optimize


def ones(y, w):
    return np.ones(len(y)) if w is None else np.asarray(w, float)


def equal_mass(p, w, bins):
    """The bin of each row: that in which the middle of its score's mass lies."""
    total, index = w.sum(), np.zeros(len(p), int)
    for value in np.unique(p):
        below, at = w[p < value].sum(), w[p == value].sum()
        index[p == value] = min(int(bins * (below + at / 2) / total + 1e-9), bins - 1)
    return index


def parts(y, p, w, index):
    """For each bin in use: its weight, share of positives, mean probability and effective rows."""
    for b in np.unique(index):
        at = index == b
        mass = w[at].sum()
        yield mass, (w * y)[at].sum() / mass, (w * p)[at].sum() / mass, mass**2 / (w[at] ** 2).sum()


def binned_error(y, p, w, index, norm=1.0):
    found = [(mass / w.sum(), abs(share - mean)) for mass, share, mean, _ in parts(y, p, w, index)]
    if np.isinf(norm):
        return max(gap for _, gap in found)
    return sum(mass * gap**norm for mass, gap in found) ** (1 / norm)


def debiased(y, p, w, index):
    """Kumar, Liang and Ma (2019), squared; bins of one row count as 0, as in their package."""
    total = 0.0
    for mass, share, mean, rows in parts(y, p, w, index):
        if rows > 1 + 1e-9:
            total += mass / w.sum() * ((share - mean) ** 2 - share * (1 - share) / (rows - 1))
    return total


def sweep(y, p, w):
    """Roelofs et al. (2022): more bins until the shares of positives fall somewhere."""
    last = equal_mass(p, w, 1)
    for bins in range(2, len(np.unique(p)) + 1):
        index = equal_mass(p, w, bins)
        shares = [share for _, share, _, _ in parts(y, p, w, index)]
        if any(b < a - 1e-12 for a, b in pairwise(shares)):
            break
        last = index
    values = np.unique(p, return_inverse=True)[1]
    shares = [share for _, share, _, _ in parts(y, p, w, values)]
    rise = all(b >= a - 1e-12 for a, b in pairwise(shares))
    return binned_error(y, p, w, values if rise else last)


def kernel_error(y, p, w, width=0.25):
    """Widmann, Lindsten and Zachariah (2019): all pairs of different rows."""
    total = weight = 0.0
    for i in range(len(y)):
        for j in range(len(y)):
            if i != j:
                pair = w[i] * w[j]
                weight += pair
                total += pair * (y[i] - p[i]) * (y[j] - p[j]) * np.exp(-abs(p[i] - p[j]) / width)
    return total / weight


def cumulative(y, p, w):
    """The cumulative gaps at the end of each tied score, from none."""
    path = [0.0]
    for value in np.unique(p):
        at = p == value
        path.append(path[-1] + (w * (y - p))[at].sum() / w.sum())
    return np.array(path)


def directed(values, weight, squares, share, positive, folds, cells=20):
    """Gaps in the direction that the other folds show; None where rounding decides which that is.

    That is the sign of their gap in the same of the cells of equal mass, if it is more than two standard
    errors, the largest row counted once more; otherwise that of one Newton step of a logistic
    recalibration. `share` and `positive` say how the rows of each value were dealt to folds, the only
    thing taken from the project.
    """
    total = weight.sum()
    clipped = np.clip(values, 1e-4, 1 - 1e-4)
    design = np.stack([np.ones(len(values)), np.log(clipped / (1 - clipped))])
    gaps = (positive - share * weight * values) / total
    known = share * weight / total * clipped * (1 - clipped)
    middle = (np.cumsum(weight) - weight / 2) / total
    group = np.minimum(middle * cells + 1e-9, cells - 1).astype(int)
    largest = (squares / weight).max() / total
    error = 0.0
    for k in range(folds):
        others = np.arange(folds) != k
        curvature = (design * known[others].sum(0)) @ design.T
        push = design @ gaps[others].sum(0)
        rank = np.linalg.det(curvature) / max(curvature[0, 0] * curvature[1, 1], 1e-300)
        if 1e-11 < rank < 1e-7:
            return None
        step = np.linalg.solve(curvature, push) if rank > 1e-9 else np.array([push[0], 0.0])
        trend = step @ design
        for cell in np.flatnonzero(share[k] * weight > 0):
            same = group == group[cell]
            gap = gaps[others][:, same].sum()
            noise = (share[others] * squares * values * (1 - values))[:, same].sum() / total**2
            least = 2 * np.sqrt(noise + largest**2)
            if abs(abs(gap) - least) < 1e-9:
                return None
            toward = gap if abs(gap) > least else trend[cell]
            if abs(toward) < 1e-9 and abs(gaps[k, cell]) > 0:
                return None
            error += np.sign(toward) * gaps[k, cell]
    return error


def smoothed_size(y, p, w, s, points=4000):
    """Total size of the gaps under a Gaussian that is reflected at 0 and 1, by dense quadrature."""
    x = (np.arange(points) + 0.5) / points
    density = np.zeros(points)
    values, at = np.unique(p, return_inverse=True)
    gaps = np.bincount(at, w * (y - p))
    reach = int(np.ceil(4 * s))
    for turn in range(-reach, reach + 1):
        for centres in (2 * turn + values, 2 * turn - values):
            density += np.exp(-(((x[:, None] - centres) / s) ** 2) / 2) @ gaps
    return np.abs(density).mean() / (s * np.sqrt(2 * np.pi) * w.sum())


def smooth_error(y, p, w, points=1500):
    """Błasiok and Nakkiran (2023): the width that equals the size."""
    return optimize.brentq(lambda s: smoothed_size(y, p, w, s, points) - s, 4e-3, 0.7, xtol=1e-6)
