"""smROC once more, by loops over rows in the words of its definition, and nothing of the package."""

from statistics import fmean

import numpy as np
from scipy import optimize, stats

NEAR = 1e-12  # a score this near the midpoint is at it


def climb_and_run(label, score, midpoint):
    high = score >= midpoint - NEAR
    appropriate = high == bool(label)
    v = score if appropriate else 1 - score
    return v, 1 - v


def curve(y, s, w, midpoint):
    """The points, walking from the highest score down; tied rows are one step."""
    rows = sorted(zip(s, y, w, strict=True), reverse=True, key=lambda row: row[0])
    x_points, y_points = [0.0], [0.0]
    last = None
    for score, label, weight in rows:
        climb, run = climb_and_run(label, score, midpoint)
        if score == last:
            x_points[-1] += weight * run
            y_points[-1] += weight * climb
        else:
            x_points.append(x_points[-1] + weight * run)
            y_points.append(y_points[-1] + weight * climb)
        last = score
    return np.array(x_points), np.array(y_points)


def area(y, s, w, midpoint):
    """Over all pairs of rows: climb of the one times run of the other, if it lies above; ties half."""
    won = height = width = 0.0
    steps = [climb_and_run(label, score, midpoint) for label, score in zip(y, s, strict=True)]
    for (climb, run), weight in zip(steps, w, strict=True):
        height += weight * climb
        width += weight * run
    for i, (climb, _) in enumerate(steps):
        for j, (_, run) in enumerate(steps):
            pair = w[i] * w[j] * climb * run
            won += pair * ((s[i] > s[j]) + (s[i] == s[j]) / 2)
    return won / (height * width) if height * width > 0 else np.nan


def midpoint(y, s, w, rule):
    sides = [
        [(b, c) for a, b, c in zip(y, s, w, strict=True) if bool(a) == side] for side in (0, 1)
    ]
    means = [sum(b * c for b, c in side) / sum(c for _, c in side) for side in sides]
    if rule == "mean":
        shares = [sum(c for _, c in side) for side in sides]
        ratio = shares[0] / shares[1]
        return (means[1] + ratio * means[0]) / (1 + ratio)
    if rule == "balanced":
        return fmean(means)
    if rule == "median":
        return fmean(median(side) for side in sides)
    return crossing(sides, means)


def median(side):
    """The middle of those scores with no more than half of the weight below and above."""
    total = sum(c for _, c in side)
    middle = [
        b
        for b, _ in side
        if sum(c for a, c in side if a < b) <= total / 2 * (1 + NEAR)
        and sum(c for a, c in side if a > b) <= total / 2 * (1 + NEAR)
    ]
    return (min(middle) + max(middle)) / 2


def crossing(sides, means):
    """By scipy's kernel density, told Silverman's width, reflected at both ends."""
    densities = []
    for side in sides:
        s, w = (np.array(column, float) for column in zip(*side, strict=True))
        share = w / w.sum()
        spread = np.sqrt(np.cov(s, aweights=w, ddof=0)) if len(s) > 1 else 0.0
        order = np.argsort(s, kind="stable")
        below = share[order].cumsum()
        first, last = (s[order][np.searchsorted(below, q * below[-1])] for q in (0.25, 0.75))
        rows = w.sum() ** 2 / (w**2).sum()
        iqr = (last - first) / 1.34
        width = max(0.005, 0.9 * (min(spread, iqr) or spread) * rows**-0.2)
        densities.append(_density(s, share, width))

    def lead(x):
        return densities[1](x) - densities[0](x)

    low, high = sorted(means)
    x = np.linspace(low, high, 257)
    signs = lead(x[:, None]) > 0
    turns = [i for i in range(256) if signs[i] != signs[i + 1]]
    if not turns:
        return None
    i = min(turns, key=lambda i: abs((x[i] + x[i + 1]) / 2 - (low + high) / 2))
    return optimize.brentq(lead, x[i], x[i + 1], xtol=1e-14)


def _density(s, share, width):
    def at(x):
        total = 0.0
        for mirrored in (s, -s, 2 - s):
            total += (share * stats.norm.pdf(x, mirrored, width)).sum(-1)
        return total

    return at
