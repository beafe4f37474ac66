"""Samples for the tests of drift."""

import numpy as np

from scorewise import Tally


def draw(seed, n=300, prevalence=0.3, shift=0.0, noise=0.0, digits=None):
    """Labels and calibrated probabilities, changed as said."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prevalence
    z = rng.normal(size=n) + 1.2 * y + shift
    p = 1 / (1 + np.exp(-(1.2 * z - 0.72 + np.log(0.3 / 0.7))))
    y = np.where(rng.random(n) < noise, ~y, y)
    return y, p if digits is None else p.round(digits)


def tally(*args, **options):
    return Tally.of(*draw(*args, **options), positive=True)
