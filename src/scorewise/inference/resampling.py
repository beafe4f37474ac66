"""How the rows of cells might have fallen: resampled, or with other labels.

Rows on the same cell are alike, so a resample need only say how much weight each cell gets, and its cost
does not grow with the number of rows. With Exp(1) weights for rows (Rubin's Bayesian bootstrap, 1981) a
cell of n rows gets Gamma(n); with weights it gets the gamma of the same mean and variance. Unlike a
multinomial draw this never loses a class, knows weights, and does not change when all weights are
multiplied.

Consistency resampling draws labels as calibrated scores would get them: each row of probability p is
positive with that chance (Bröcker and Smith 2007). It is enough to draw the weight of positives on each
cell. Where few rows of a class are expected, that weight has few possible values, such as that of no
positive at all: draws keep to them, because a test compares what was seen with what was drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats, Ints
from scorewise.statistics.probabilities import ProbabilityCells
from scorewise.tallies import Tally
from scorewise.tallies.coarse import pool
from scorewise.tallies.runs import add_runs, first_of_runs
from scorewise.tallies.sorting import Numbers

CELLS = 1024  # of equal mass, for replicates alone
REPLICATES = 1000
_MANY = 100  # variance, in rows, beyond which draws are normal
_ALIKE = (
    1.01  # what differing chances may take off the variance of a cell whose rows count as alike
)
_RARE = 5  # expected rows of the rarer class up to which weighted rows are drawn one by one
_GROUPS = 32  # of rows with like chances in a cell


def resampling_p(null: Floats, least: float) -> float:
    """The p-value of a value seen: how many replicates reach it, the sample itself counted once.

    `least` is a little below what was seen, because equal up to rounding counts as equal.

    >>> resampling_p(np.array([0.5, 1.0, 3.0]), 2.0)
    0.5
    """
    return (1 + int(np.count_nonzero(null >= least))) / (1 + len(null))


def resampled_weights(
    weight: Numbers, squares: Numbers, replicates: int, rng: np.random.Generator
) -> Floats:
    """Replicates (rows) of the weights of cells (columns), given their sums of squared weights."""
    used = weight > 0
    w, w2 = weight[used].astype(np.float64), squares[used].astype(np.float64)
    drawn = np.zeros((replicates, len(weight)))
    rows = w * w / w2
    # draws of one row are of another kind than those of a little more
    rows = np.where(np.abs(rows - 1) < 1e-9, 1.0, rows)
    drawn[:, used] = rng.standard_gamma(rows, (replicates, len(w))) * (w2 / w)
    return drawn


def bootstrap_cells(
    t: Tally,
    statistic: Callable[[Floats, Floats], Any],
    *,
    replicates: int = 1000,
    seed: int = 0,
    cells: int = CELLS,
) -> Floats:
    """Replicates of a statistic of (neg, pos).

    Both arguments of the statistic have cells, from the lowest score up, as their last axis: those of
    `pool(t.pooled, cells)`.
    """
    rng = np.random.default_rng(seed)
    pooled = pool(t.pooled, cells)
    sides = (pooled.neg, pooled.neg2), (pooled.pos, pooled.pos2)
    neg, pos = (resampled_weights(w, w2, replicates, rng) for w, w2 in sides)
    return np.asarray(statistic(neg, pos))


def consistency_gaps(
    c: ProbabilityCells, replicates: int, rng: np.random.Generator, many: float = _MANY
) -> Floats:
    """Replicates (rows) of `c.gap` (columns) if the scores are calibrated.

    Cells with a variance of more than `many` rows, a hundred, are drawn from the normal. Others of counts
    have binomial numbers of positives, or the sum of binomials where the chances of their rows differ. Of
    weights, single rows are drawn one by one where few of a class are expected, and else the beta of
    the same mean and variance.

    >>> c = ProbabilityCells(*np.array([[0.5], [4.0], [4.0], [2.0], [2.0], [1.0]]))
    >>> consistency_gaps(c, 5, np.random.default_rng(0)).ravel()
    array([ 0., -1., -2., -2.,  1.])
    """
    p, rows = _chance(c), c.rows
    unit = np.divide(c.weight, rows, out=np.zeros(len(c)), where=rows > 0)
    plain = c.squares * p * (1 - p)  # variance if all rows of a cell had its mean chance
    large = c.noise > many * unit**2
    alike = ~large & (plain <= _ALIKE * c.noise)
    rounded = np.rint(rows)
    single = alike & (np.abs(rows - 1) < 1e-6)
    integer = alike & ~single & (np.abs(rows - rounded) < 1e-6 * rows)
    if c.weighted and c.finer is not None:
        integer &= False
    left = ~(large | single | integer)
    # cell by cell, which draws binomials of one kind in one go
    pos = np.empty((len(c), replicates))
    error = np.sqrt(np.maximum(c.noise[large], 0.0))
    pos[large] = c.sum[large, None] + error[:, None] * rng.standard_normal((len(error), replicates))
    pos[single] = _coins(p[single], rng, replicates) * c.weight[single, None]
    n, q = rounded[integer, None], p[integer, None]
    pos[integer] = rng.binomial(n.astype(np.int64), q, (len(n), replicates)) * unit[integer, None]
    if left.any():
        drawn = _weights if c.weighted else _sums_of_binomials
        pos[left] = drawn(c, left, replicates, rng)
    pos -= c.sum[:, None]
    return np.ascontiguousarray(pos.T)


def _chance(c: ProbabilityCells) -> Floats:
    """The mean chance of each cell, without the last digits: the unit of weights may change them."""
    p = np.clip(c.p, 0.0, 1.0)
    return np.where(p < 1e-6, p, p.round(14))


def _coins(p: Floats, rng: np.random.Generator, replicates: int) -> Floats:
    return (rng.random((len(p), replicates)) < p[:, None]).astype(float)


def _inside(c: ProbabilityCells, used: NDArray[np.bool_]) -> tuple[ProbabilityCells, Ints]:
    """The cells that the cells in use were joined from, and in which of these each is."""
    if c.finer is None or c.first is None:
        return c.part(used), np.arange(int(used.sum()))
    length = np.diff(c.first, append=len(c.finer))
    of = np.repeat(np.arange(len(length)), length)
    inside = used[of]
    return c.finer.part(inside), (np.cumsum(used) - 1)[of[inside]]


def _sums_of_binomials(
    c: ProbabilityCells, used: NDArray[np.bool_], replicates: int, rng: np.random.Generator
) -> Floats:
    """Numbers of positives of cells of counts: exact, but for rows of next to the same chance.

    Sums of binomials are drawn from their distribution, which comes from its characteristic function.
    """
    fine, of = _inside(c, used)
    start = first_of_runs(of)
    length = np.diff(start, append=len(of))
    p, upto = np.clip(fine.p, 0.0, 1.0), np.cumsum(fine.weight) - fine.weight / 2
    first, last = np.repeat(start, length), np.repeat(start + length - 1, length)
    # half by mass and half by chance, so that no group holds rows that are far apart
    by_chance, by_mass = (
        (x - x[first]) / np.where(x[last] > x[first], x[last] - x[first], 1.0) for x in (p, upto)
    )
    group = ((by_chance + by_mass) * (_GROUPS / 2 - 1e-6) + 1e-9).astype(np.int64)
    groups = fine.joined(first_of_runs(of, group))
    n, p, start = groups.weight, _chance(groups), first_of_runs(of[groups.first])
    mean, variance = (add_runs(x, start) for x in (n * p, n * p * (1 - p)))
    reach = int(6 * np.sqrt(variance.max()) + 10)  # beyond which there is less than 1e-9
    size = 2 * reach + 1
    low = np.maximum(np.floor(mean) - reach, 0.0)
    turn = -2j * np.pi / size * np.arange(size // 2 + 1)
    with np.errstate(divide="ignore"):
        waves = n[:, None] * np.log(1 + p[:, None] * (np.exp(turn) - 1))
    chance = np.fft.irfft(np.exp(add_runs(waves.T, start).T - low[:, None] * turn), size)
    upto = np.cumsum(np.maximum(chance, 0.0), axis=1)
    upto /= upto[:, -1:]
    cell = np.arange(len(start))[:, None]
    drawn = rng.random((len(start), replicates)) + cell
    place = np.searchsorted((upto + cell).ravel(), drawn.ravel(), side="right")
    return np.asarray(low[:, None] + np.clip(place.reshape(drawn.shape) - size * cell, 0, size - 1))


def _weights(
    c: ProbabilityCells, used: NDArray[np.bool_], replicates: int, rng: np.random.Generator
) -> Floats:
    """Weights of positives of cells of weighted rows.

    Row by row where few of a class are expected: only rows that get the less likely of their labels are
    drawn. A cell of weights whose rows are not known has so many as leave its variance right, on average.
    Else from the beta that has the mean and the variance of the cell.
    """
    fine, of = _inside(c, used)
    p, cells = _chance(fine), c.part(used)
    rows = np.where(fine.squares > 0, fine.rows, 1.0)
    rows_up = np.ceil(rows - 1e-6)
    rare = np.bincount(of, rows_up * np.minimum(p, 1 - p), len(cells)) <= _RARE
    pos = np.empty((len(cells), replicates))
    rare_cells, inside = int(rare.sum()), rare[of]
    fine, of, p = fine.part(inside), (np.cumsum(rare) - 1)[of[inside]], p[inside]
    rows, each = rows[inside], np.maximum(rows_up[inside], 1.0)
    replicate, hit = hits(np.minimum(p, 1 - p), each, replicates, rng)
    weight = (fine.weight / each)[hit] * np.where(p[hit] > 0.5, -1.0, 1.0)
    broken = np.flatnonzero((each > rows * (1 + 1e-6))[hit])
    shape = 1 / (each / rows - 1)[hit[broken]]
    weight[broken] *= rng.standard_gamma(shape) / shape
    added = np.bincount(replicate * rare_cells + of[hit], weight, replicates * rare_cells)
    usual, total = (np.bincount(of, w, rare_cells) for w in (fine.weight * (p > 0.5), fine.weight))
    pos[rare] = np.clip(usual + added.reshape(replicates, rare_cells), 0.0, total).T
    rest = cells.part(~rare)
    p = _chance(rest)
    plain = rest.weight**2 * p * (1 - p)
    prior = np.divide(plain, rest.noise, out=np.zeros(len(rest)), where=rest.noise > 0) - 1
    mixed = (prior > 1e-9) & (p > 0) & (p < 1)
    share = _coins(p, rng, replicates)
    a, b = (p * prior)[mixed, None], ((1 - p) * prior)[mixed, None]
    share[mixed] = rng.beta(a, b, (len(a), replicates))
    pos[~rare] = share * rest.weight[:, None]
    return pos


def hits(q: Floats, each: Floats, replicates: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Which of `each` rows of a cell are hit, with chance q: replicate and cell of each that is.

    Points fall on a row at the rate -log(1 - q): it is hit at least once with chance q. So the cost is
    that of the rows that are hit.

    >>> replicate, cell = hits(np.array([0.5, 0.0]), np.array([4.0, 9.0]), 1000, np.random.default_rng(0))
    >>> round(len(cell) / 1000, 1), set(cell.tolist())
    (2.0, {0})
    """
    upto = np.append(0.0, np.cumsum(-np.log1p(-q) * each))
    points = np.sort(rng.random(rng.poisson(upto[-1] * replicates))) * replicates
    replicate = np.minimum(points.astype(np.int64), replicates - 1)
    place = (points - replicate) * upto[-1]
    cell = np.minimum(np.searchsorted(upto, place, side="right") - 1, len(q) - 1)
    row = np.minimum((place - upto[cell]) / np.diff(upto)[cell] * each[cell], each[cell] - 1)
    # a row that is hit twice is hit
    once = first_of_runs(replicate, cell, row.astype(np.int64))
    return replicate[once], cell[once]
