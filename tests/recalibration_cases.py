"""Rows whose probabilities are wrong in a known way."""

import numpy as np


def expit(z):
    return 1 / (1 + np.exp(-z))


def draw(seed, rows, slope=1.0, intercept=0.0, spread=1.5, digits=None):
    """Scores p, and labels whose log-odds are intercept + slope x those of p."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=rows) * spread
    p = expit(z)
    if digits is not None:
        p = np.clip(p.round(digits), 10.0**-digits, 1 - 10.0**-digits)
        z = np.log(p / (1 - p))
    return p, (rng.random(rows) < expit(intercept + slope * z)).astype(int)
