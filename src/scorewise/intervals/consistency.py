"""Consistency resampling: what the labels might have been if the scores were calibrated.

Each row of probability p is positive with that chance (Bröcker and Smith 2007). Rows of one cell are
alike, so it is enough to draw the weight of positives on each cell.
"""

from __future__ import annotations

import numpy as np

from scorewise.tallies.chances import Chances, Floats

REPLICATES = 1000


def drawn_gaps(c: Chances, replicates: int, rng: np.random.Generator) -> Floats:
    """Replicates (rows) of `c.gap` (columns) if the scores are calibrated.

    Counts are drawn as binomials, weights as the beta of the same mean and variance; cells with a
    hundred expected rows of either class, whose draws are close to normal, from the normal.

    >>> c = Chances(*np.array([[0.5], [4.0], [4.0], [2.0], [2.0], [1.0]]))
    >>> drawn_gaps(c, 5, np.random.default_rng(0)).ravel()
    array([ 0., -1., -2., -2.,  1.])
    """
    gaps = np.empty((replicates, len(c)))
    p = np.clip(c.p, 0.0, 1.0)
    rows = np.divide(c.weight**2, c.squares, out=np.zeros(len(c)), where=c.squares > 0)
    many = rows * np.minimum(p, 1 - p) > 100
    gaps[:, many] = rng.standard_normal((replicates, int(many.sum()))) * np.sqrt(c.noise[many])
    few = ~many
    size, q, w = rows[few], p[few], c.weight[few]
    shape = (replicates, len(size))
    if not c.weighted:
        positives = rng.binomial(np.rint(size).astype(np.int64), q, shape).astype(float)
    else:
        positives = _shares(size, q, rng, shape) * w
    gaps[:, few] = positives - c.sum[few]
    return gaps


def _shares(rows: Floats, p: Floats, rng: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Shares of mean p and variance p (1 - p) / rows; zero or one where there is a single row."""
    prior = rows - 1
    several = (prior > 1e-9) & (p > 0) & (p < 1)
    share = (rng.random(shape) < p).astype(float)
    a, b = (p * prior)[several], ((1 - p) * prior)[several]
    share[:, several] = rng.beta(a, b, (shape[0], int(several.sum())))
    return share
