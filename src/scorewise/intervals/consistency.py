"""Consistency resampling: what the labels might have been if the scores were calibrated.

Each row of probability p is positive with that chance (Bröcker and Smith 2007). Rows of one cell are
alike, so it is enough to draw the weight of positives on each cell.
"""

from __future__ import annotations

import numpy as np

from scorewise.tallies.chances import Chances, Floats

REPLICATES = 1000
_FEW = 50


def drawn_gaps(c: Chances, replicates: int, rng: np.random.Generator) -> Floats:
    """Replicates (rows) of `c.gap` (columns) if the scores are calibrated.

    Cells that are worth a whole number of rows are drawn as binomials, others as the beta of the same
    mean and variance; cells with a hundred expected rows of either class, whose draws are close to
    normal, from the normal. Cells of many rows are scaled to the variance `c.noise`, which is less than
    binomial where the probabilities of a cell differ.

    >>> c = Chances(*np.array([[0.5], [4.0], [4.0], [2.0], [2.0], [1.0]]))
    >>> drawn_gaps(c, 5, np.random.default_rng(0)).ravel()
    array([ 0., -1., -2., -2.,  1.])
    """
    p = np.clip(c.p, 0.0, 1.0)
    rows = np.divide(c.weight**2, c.squares, out=np.zeros(len(c)), where=c.squares > 0)
    near = np.rint(rows)
    many = rows * np.minimum(p, 1 - p) > 100
    single = ~many & (np.abs(rows - 1) < 1e-6)
    whole = ~many & ~single & (np.abs(rows - near) < 1e-6 * rows)
    broken = ~(many | single | whole)
    # cell by cell, which draws binomials of one kind in one go
    share = np.empty((len(c), replicates))
    error = np.sqrt(np.maximum(c.noise, 0.0)) / c.weight
    normal = rng.standard_normal((int(many.sum()), replicates))
    share[many] = p[many, None] + error[many, None] * normal
    share[single] = _coins(p[single], rng, replicates)
    n, q = near[whole, None], p[whole, None]
    share[whole] = rng.binomial(n.astype(np.int64), q, (len(n), replicates)) / n
    share[broken] = _shares(rows[broken], p[broken], rng, replicates)
    scale = c.weight.copy()
    # few rows keep their few possible values, such as that of no positive at all
    crowd = (rows > _FEW) & ~many & (p > 0) & (p < 1)
    scale[crowd] *= error[crowd] / np.sqrt(p[crowd] * (1 - p[crowd]) / rows[crowd])
    share -= p[:, None]
    share *= scale[:, None]
    return np.ascontiguousarray(share.T)


def _coins(p: Floats, rng: np.random.Generator, replicates: int) -> Floats:
    return (rng.random((len(p), replicates)) < p[:, None]).astype(float)


def _shares(rows: Floats, p: Floats, rng: np.random.Generator, replicates: int) -> Floats:
    """Shares of mean p and variance p (1 - p) / rows; zero or one where there is a single row."""
    prior = rows - 1
    several = (prior > 1e-9) & (p > 0) & (p < 1)
    share = _coins(p, rng, replicates)
    a, b = (p * prior)[several, None], ((1 - p) * prior)[several, None]
    share[several] = rng.beta(a, b, (len(a), replicates))
    return share
