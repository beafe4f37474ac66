"""How the rows of cells might have fallen: resampled, with other labels, or dealt to folds.

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
from scorewise.inference.tables import Formula
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.coarse import pool
from scorewise.tallies.probabilities import Chances
from scorewise.tallies.sorting import Numbers, add_runs, first_of_runs

_CELLS = 1024
_COUNTABLE = 10**8  # rows of a cell up to which draws without replacement are made
REPLICATES = 1000
_MANY = 100  # variance, in rows, beyond which draws are normal
_ALIKE = (
    1.01  # what differing chances may take off the variance of a cell whose rows count as alike
)
_RARE = 5  # expected rows of the rarer class up to which weighted rows are drawn one by one
_GROUPS = 32  # of rows with like chances in a cell


def share_beyond(null: Floats, least: float) -> float:
    """The p-value of a value seen: how many replicates reach it, the sample itself counted once.

    `least` is a little below what was seen, because equal up to rounding counts as equal.

    >>> share_beyond(np.array([0.5, 1.0, 3.0]), 2.0)
    0.5
    """
    return (1 + int(np.count_nonzero(null >= least))) / (1 + len(null))


def resampled(
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


def bootstrap_table(
    c: Confusion, formula: Formula, *, replicates: int = 1000, seed: int = 0
) -> Floats:
    """Replicates of a formula of tp, fp, fn, tn.

    >>> c = Confusion.counts(tp=25, fp=10, fn=15, tn=20)
    >>> np.quantile(bootstrap_table(c, lambda tp, fp, fn, tn: tp / (tp + fn)), [0.025, 0.975]).round(2)
    array([0.48, 0.76])
    """
    drawn = resampled(c.table, c.squares, replicates, np.random.default_rng(seed))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(formula(*drawn.T), np.float64)


def few_cells(t: Tally, cells: int = _CELLS) -> Tally:
    """The same pooled to about a thousand cells of equal mass, for replicates alone."""
    return pool(t.pooled, cells)


def bootstrap_cells(
    t: Tally,
    statistic: Callable[[Floats, Floats], Any],
    *,
    replicates: int = 1000,
    seed: int = 0,
    cells: int = _CELLS,
) -> Floats:
    """Replicates of a statistic of (neg, pos).

    Both arguments of the statistic have cells, from the lowest score up, as their last axis: those of
    `few_cells(t, cells)`.
    """
    rng = np.random.default_rng(seed)
    few = few_cells(t, cells)
    neg, pos, neg2, pos2 = (c.astype(np.float64) for c in (few.neg, few.pos, few.neg2, few.pos2))
    drawn = resampled(neg, neg2, replicates, rng), resampled(pos, pos2, replicates, rng)
    return np.asarray(statistic(*drawn))


def drawn_gaps(c: Chances, replicates: int, rng: np.random.Generator) -> Floats:
    """Replicates (rows) of `c.gap` (columns) if the scores are calibrated.

    Cells with a variance of more than a hundred rows are drawn from the normal. Others of counts have
    binomial numbers of positives, or the sum of binomials where the chances of their rows differ. Of
    weights, single rows are drawn one by one where few of a class are expected, and else the beta of
    the same mean and variance.

    >>> c = Chances(*np.array([[0.5], [4.0], [4.0], [2.0], [2.0], [1.0]]))
    >>> drawn_gaps(c, 5, np.random.default_rng(0)).ravel()
    array([ 0., -1., -2., -2.,  1.])
    """
    p = _chance(c)
    rows = np.divide(c.weight**2, c.squares, out=np.zeros(len(c)), where=c.squares > 0)
    unit = np.divide(c.weight, rows, out=np.zeros(len(c)), where=rows > 0)
    plain = c.squares * p * (1 - p)  # variance if all rows of a cell had its mean chance
    many = c.noise > _MANY * unit**2
    alike = ~many & (plain <= _ALIKE * c.noise)
    near = np.rint(rows)
    single = alike & (np.abs(rows - 1) < 1e-6)
    whole = alike & ~single & (np.abs(rows - near) < 1e-6 * rows)
    if c.weighted and c.finer is not None:
        whole &= False
    left = ~(many | single | whole)
    # cell by cell, which draws binomials of one kind in one go
    pos = np.empty((len(c), replicates))
    error = np.sqrt(np.maximum(c.noise[many], 0.0))
    pos[many] = c.sum[many, None] + error[:, None] * rng.standard_normal((len(error), replicates))
    pos[single] = _coins(p[single], rng, replicates) * c.weight[single, None]
    n, q = near[whole, None], p[whole, None]
    pos[whole] = rng.binomial(n.astype(np.int64), q, (len(n), replicates)) * unit[whole, None]
    if left.any() and not c.weighted:
        pos[left] = _sums_of_binomials(c, left, replicates, rng)
    elif left.any():
        pos[left] = _weights(c, left, replicates, rng)
    pos -= c.sum[:, None]
    return np.ascontiguousarray(pos.T)


def _chance(c: Chances) -> Floats:
    """The mean chance of each cell, without the last digits: the unit of weights may change them."""
    p = np.clip(c.p, 0.0, 1.0)
    return np.where(p < 1e-6, p, p.round(14))


def _coins(p: Floats, rng: np.random.Generator, replicates: int) -> Floats:
    return (rng.random((len(p), replicates)) < p[:, None]).astype(float)


def _inside(c: Chances, used: NDArray[np.bool_]) -> tuple[Chances, Ints]:
    """The cells that the cells in use were joined from, and in which of these each is."""
    if c.finer is None or c.first is None:
        return c.part(used), np.arange(int(used.sum()))
    length = np.diff(c.first, append=len(c.finer))
    of = np.repeat(np.arange(len(length)), length)
    inside = used[of]
    return c.finer.part(inside), (np.cumsum(used) - 1)[of[inside]]


def _sums_of_binomials(
    c: Chances, used: NDArray[np.bool_], replicates: int, rng: np.random.Generator
) -> Floats:
    """Numbers of positives of cells of counts: exact, but for rows of next to the same chance."""
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
    of = of[groups.first]
    return _drawn_sums(groups.weight, _chance(groups), first_of_runs(of), replicates, rng)


def _drawn_sums(
    n: Floats, p: Floats, start: Ints, replicates: int, rng: np.random.Generator
) -> Floats:
    """Sums of binomials (n, p) over runs that begin at `start`, drawn from their exact distribution.

    That comes from its characteristic function.

    >>> n, p = np.array([2.0, 1.0, 1.0]), np.array([0.5, 0.0, 1.0])
    >>> _drawn_sums(n, p, np.array([0, 1]), 6, np.random.default_rng(0))
    array([[1., 1., 0., 0., 2., 2.],
           [1., 1., 1., 1., 1., 1.]])
    """
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
    found = np.searchsorted((upto + cell).ravel(), drawn.ravel(), side="right")
    counts: Floats = low[:, None] + np.clip(found.reshape(drawn.shape) - size * cell, 0, size - 1)
    return counts


def _weights(
    c: Chances, used: NDArray[np.bool_], replicates: int, rng: np.random.Generator
) -> Floats:
    """Weights of positives of cells of weighted rows."""
    fine, of = _inside(c, used)
    rows = np.divide(fine.weight**2, fine.squares, out=np.ones(len(fine)), where=fine.squares > 0)
    p = _chance(fine)
    rarer = np.minimum(p, 1 - p)
    cells = c.part(used)
    rare = np.bincount(of, np.ceil(rows - 1e-6) * rarer, len(cells)) <= _RARE
    pos = np.empty((len(cells), replicates))
    inside = rare[of]
    pos[rare] = _single_rows(
        fine.part(inside), (np.cumsum(rare) - 1)[of[inside]], int(rare.sum()), replicates, rng
    )
    pos[~rare] = _betas(cells.part(~rare), replicates, rng)
    return pos


def _single_rows(
    fine: Chances, of: Ints, cells: int, replicates: int, rng: np.random.Generator
) -> Floats:
    """Weights of positives, row by row: only rows that get the less likely of their labels are drawn.

    A cell of weights whose rows are not known has so many as leave its variance right, on average.
    """
    p = _chance(fine)
    rows = np.divide(fine.weight**2, fine.squares, out=np.ones(len(fine)), where=fine.squares > 0)
    each = np.maximum(np.ceil(rows - 1e-6), 1.0)
    replicate, hit = hits(np.minimum(p, 1 - p), each, replicates, rng)
    weight = (fine.weight / each)[hit] * np.where(p[hit] > 0.5, -1.0, 1.0)
    broken = np.flatnonzero((each > rows * (1 + 1e-6))[hit])
    shape = 1 / (each / rows - 1)[hit[broken]]
    weight[broken] *= rng.standard_gamma(shape) / shape
    added = np.bincount(replicate * cells + of[hit], weight, replicates * cells)
    usual, total = (np.bincount(of, w, cells) for w in (fine.weight * (p > 0.5), fine.weight))
    pos: Floats = np.clip(usual + added.reshape(replicates, cells), 0.0, total).T
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


def _betas(c: Chances, replicates: int, rng: np.random.Generator) -> Floats:
    """Weights of positives that have the mean and the variance of each cell."""
    p = _chance(c)
    plain = c.weight**2 * p * (1 - p)
    prior = np.divide(plain, c.noise, out=np.zeros(len(c)), where=c.noise > 0) - 1
    several = (prior > 1e-9) & (p > 0) & (p < 1)
    share = _coins(p, rng, replicates)
    a, b = (p * prior)[several, None], ((1 - p) * prior)[several, None]
    share[several] = rng.beta(a, b, (len(a), replicates))
    return share * c.weight[:, None]


def dealt(
    weight: Floats, square: Floats, folds: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """The weights of cells and their squares, each row dealt to one of the folds (fold by cell).

    Rows of one cell and class are alike, so that it is enough to draw how many of them go to each fold:
    the order of the rows does not matter. Weighted rows of one cell are dealt out as if each had their
    mean weight.

    >>> dealt(np.array([4.0, 1.0]), np.array([4.0, 1.0]), 2, np.random.default_rng(0))[0]
    array([[2., 0.],
           [2., 1.]])
    """
    safe = np.where(square > 0, square, 1.0)
    rows = np.maximum(np.rint(weight * weight / safe), weight > 0).astype(np.int64)
    drawn = rng.multinomial(rows, np.full(folds, 1 / folds)).T
    share = drawn / np.maximum(rows, 1)
    return share * weight, share * square


def others(weight: Floats) -> Floats:
    """The weights of all folds but each one."""
    total = weight.sum(0)
    rest = total - weight
    # what is left after a difference of equal sums is no weight
    return np.where(rest > 1e-12 * total, rest, 0.0)


def dealt_cells(c: Chances, folds: int, seed: int) -> tuple[Floats, Floats]:
    """For each fold (rows) the share of each cell's weight (columns) and its weight of positives.

    Unlike `dealt`, labels have no say in which fold a row goes to. Cells that are worth whole numbers of
    equal rows are dealt row by row, others as a whole.

    >>> c = Chances(*np.array([[0.5], [4.0], [4.0], [2.0], [2.0], [1.0]]))
    >>> share, pos = dealt_cells(c, 2, seed=0)
    >>> share.sum(), pos.sum()
    (np.float64(1.0), np.float64(2.0))
    """
    rows = c.weight**2 / c.squares
    unit = c.weight / rows
    positives = c.pos / unit
    near = np.rint(rows), np.rint(positives)
    whole = (np.abs(rows - near[0]) < 1e-6 * rows) & (np.abs(positives - near[1]) < 1e-6 * rows)
    equal = np.full(folds, 1 / folds)
    by_row, by_label, by_cell = (np.random.default_rng([seed, k]) for k in (0, 1, 2))
    total, hits = (np.where(whole, n, 0).clip(0).astype(np.int64) for n in near)
    rows_in = by_row.multinomial(total, equal).T
    share = rows_in / near[0].clip(1)
    positive = _drawn(hits, total, rows_in, by_label) * unit
    fold = by_cell.integers(folds, size=len(c))
    broken = np.flatnonzero(~whole)
    share[fold[broken], broken] = 1.0
    positive[fold[broken], broken] = c.pos[broken]
    return share, positive


def _drawn(
    hits: NDArray[np.int64], total: NDArray[np.int64], each: Any, rng: np.random.Generator
) -> Floats:
    """How many of a cell's positives go with the rows that each fold gets of it."""
    found = np.zeros(each.shape)
    left, of = hits.copy(), total.copy()
    countable = total < _COUNTABLE
    for k, n in enumerate(each):
        drawn = rng.hypergeometric(
            np.where(countable, left, 0),
            np.where(countable, of - left, 0),
            np.where(countable, n, 0),
        )
        # of very many rows each fold gets its share
        found[k] = np.where(countable, drawn, hits * (n / np.maximum(total, 1)))
        left, of = left - drawn, of - n
    return found
