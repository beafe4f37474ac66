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

    Cells that are worth a whole number of rows are drawn as binomials, others as the beta of the same
    mean and variance; cells with a hundred expected rows of either class, whose draws are close to
    normal, from the normal. All are scaled to the variance `c.noise`, which is less than binomial where
    the probabilities of a cell differ.

    >>> c = Chances(*np.array([[0.5], [4.0], [4.0], [2.0], [2.0], [1.0]]))
    >>> drawn_gaps(c, 5, np.random.default_rng(0)).ravel()
    array([ 0., -1., -2., -2.,  1.])
    """
    gaps = np.empty((replicates, len(c)))
    p = np.clip(c.p, 0.0, 1.0)
    rows = np.divide(c.weight**2, c.squares, out=np.zeros(len(c)), where=c.squares > 0)
    spread = np.sqrt(np.maximum(c.noise, 0.0))
    near = np.rint(rows)
    many = rows * np.minimum(p, 1 - p) > 100
    single = ~many & (np.abs(rows - 1) < 1e-6)
    whole = ~many & ~single & (np.abs(rows - near) < 1e-6 * rows)
    broken = ~(many | single | whole)
    gaps[:, many] = rng.standard_normal((replicates, int(many.sum())))
    gaps[:, single] = _standard(_coins(p[single], rng, replicates), p[single], 1.0)
    n = near[whole]
    drawn = rng.binomial(n.astype(np.int64), p[whole], (replicates, len(n)))
    gaps[:, whole] = _standard(drawn / n, p[whole], n)
    q, n = p[broken], rows[broken]
    gaps[:, broken] = _standard(_shares(n, q, rng, replicates), q, n)
    gaps *= spread
    return gaps


def _standard(share: Floats, p: Floats, rows: Floats | float) -> Floats:
    """Shares of positives as multiples of their standard error about p."""
    error = np.sqrt(p * (1 - p) / rows)
    return (share - p) / np.where(error > 0, error, np.inf)


def _coins(p: Floats, rng: np.random.Generator, replicates: int) -> Floats:
    return (rng.random((replicates, len(p))) < p).astype(float)


def _shares(rows: Floats, p: Floats, rng: np.random.Generator, replicates: int) -> Floats:
    """Shares of mean p and variance p (1 - p) / rows; zero or one where there is a single row."""
    prior = rows - 1
    several = (prior > 1e-9) & (p > 0) & (p < 1)
    share = _coins(p, rng, replicates)
    a, b = (p * prior)[several], ((1 - p) * prior)[several]
    share[:, several] = rng.beta(a, b, (replicates, int(several.sum())))
    return share
