"""Calibration of several classes by whole rows: samples of them, labels drawn anew, and kernels.

Consistency resampling draws each row's class anew from the row's own probabilities (Vaicenavicius et al.
2019, Widmann, Lindsten and Zachariah 2019).

Dirichlet kernels estimate E[Y | p] at p_i by the mean of the other labels y_j, weighted by the density at
p_i of the Dirichlet distribution with parameters p_j / h + 1 (Popordanoska, Sayer and Blaschko 2022). With
two classes that is the beta kernel (Chen 1999).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.computing import on_threads
from scorewise.errors import BadInput, Option
from scorewise.inference.inversion import MAX_COARSE
from scorewise.inference.resampling import consistency_gaps, hits
from scorewise.statistics.probabilities import ProbabilityCells
from scorewise.tallies.classes import ClassTally
from scorewise.tallies.joint import MAX_ROWS as JOINT
from scorewise.tallies.losses import softmax

Labels = NDArray[np.int64]
_DRAWS = 1 << 19  # of labels
_ROWS = 1 << 11
_MANY = 100  # variance, in rows, beyond which the values that a cell can take do not matter
BANDWIDTHS = np.concatenate((np.logspace(-5, -1, 15), np.linspace(0.2, 1, 5)))  # of the authors
_SEEN = 256
_WIDER = 10.0


@dataclass(frozen=True, eq=False)
class ClassSample:
    """Rows one by one: probabilities that add up to 1, the class that happened, the share of weight.

    `rows` is how many there are in all; a sample was taken where that is more than `len(sample)`.

    >>> t = ClassTally.of([0, 1], [[0.75, 0.25], [0.5, 0.5]], count=[1, 2])
    >>> s = ClassSample.of(t, 1000)
    >>> sorted(s.p[:, 0].tolist()), sorted(s.y.tolist()), s.rows
    ([0.5, 0.5, 0.75], [0, 1, 1], 3)
    """

    p: Floats
    y: NDArray[np.int64]
    weight: Floats
    rows: int

    @classmethod
    def of(cls, t: ClassTally, limit: int) -> ClassSample:
        """All rows, or `limit` of them: evenly along the hashes of their content.

        A distinct row stands for as many as its weights are worth (Kish).
        """
        if isinstance(limit, bool) or not isinstance(limit, int | np.integer) or limit < 2:
            raise BadInput(
                Option("rows", limit), " has no pairs of rows; leave it out, or give some hundred"
            )
        assert t.joint is not None
        j = t.joint
        used = np.flatnonzero(j.weight > 0)
        w, w2 = (c[used].astype(float) for c in (j.weight, j.weight2))
        times = np.maximum(np.rint(w * w / w2), 1.0).astype(np.int64)
        ends = np.cumsum(times)
        n = int(ends[-1]) if len(ends) else 0
        places = (
            np.arange(n) if n <= limit else ((np.arange(limit) + 0.5) * (n / limit)).astype(int)
        )
        at = np.searchsorted(ends, places, side="right")
        weight = (w / times)[at]
        scores = j.scores[used[at]]
        p = softmax(scores) if t.kind == "logit" else scores / scores.sum(1, keepdims=True)
        rows = n if j.whole else max(t.rows, n)
        return cls(p, j.y[used[at]], weight / weight.sum() if n else weight, rows)

    @property
    def gap(self) -> Floats:
        """What happened (0 or 1 for each class), less its probability."""
        return gaps_of(self.y, self.p)

    @property
    def alone(self) -> bool:
        """Whether one row has all the weight, so that there are no pairs of rows."""
        return bool((self.weight**2).sum() > 1 - 1e-12)

    @property
    def said(self) -> str:
        """What of the rows was used, for the method; nothing where all were."""
        return "" if len(self) >= self.rows else f", on {len(self):,} of {self.rows:,} rows"

    def shuffled(self, seed: int) -> ClassSample:
        """The rows in an order of chance, so that neighbours have nothing in common."""
        order = np.random.default_rng([seed, 1]).permutation(len(self))
        return ClassSample(self.p[order], self.y[order], self.weight[order], self.rows)

    def __len__(self) -> int:
        return len(self.y)


def gaps_of(y: Labels, p: Floats) -> Floats:
    """The labels (0 or 1 for each class), less their probabilities."""
    gap = -p
    gap[np.arange(len(y)), y] += 1
    return gap


def why_no_rows(t: ClassTally) -> str:
    """Why calibration of all classes cannot be judged, or nothing."""
    if not t.rows or not t.weight.sum():
        return "no rows"
    return "" if t.joint is not None else "only the confidence is known, not the other classes"


def why_unreliable(s: ClassSample) -> str:
    """Why an interval along the errors seen is unreliable: there are hardly any, and few expected."""
    rows = 1 / float((s.weight**2).sum())
    top = s.p.argmax(1)
    seen, expected = (
        rows * float((s.weight * x).sum()) for x in (s.y != top, 1 - s.p[np.arange(len(s)), top])
    )
    if max(seen, expected) >= 5:
        return ""
    n = round(seen)
    return f"{n} row{'' if n == 1 else 's'} of a class that was not the likeliest"


def pairs_of_rows(classes: int) -> int:
    """How many rows can be compared in pairs, in all their classes, in a fraction of a second.

    >>> pairs_of_rows(10), pairs_of_rows(1000)
    (1024, 223)
    """
    return min(1024, int((5e7 / classes) ** 0.5))


def affordable_replicates(cost: int, budget: int = 1 << 27) -> int:
    """How many replicates of that cost fit a budget; 99 at the least, 999 at the most."""
    return int(np.clip(budget // max(cost, 1), 99, 999))


def class_replicates(s: ClassSample, cells: int, limit: int) -> int:
    """How many replicates of so many cells' gaps can be drawn; 0 where they are too many cells."""
    cost = len(s) if len(s) <= _ROWS else max(int(_changes(s)), 1)
    draws = min(affordable_replicates(cost, budget=_DRAWS), limit // cells)
    return draws if draws >= 99 else 0


def drawn_labels(p: Floats, chance: Floats) -> Labels:
    """The class of each row (column of the result) that a number in [0, 1) for it stands for.

    >>> drawn_labels(np.array([[0.5, 0.3, 0.2]]), np.array([[0.1], [0.5], [0.9]])).ravel()
    array([0, 1, 2])
    """
    drawn = np.zeros(chance.shape, np.int64)
    ends = np.cumsum(p, axis=1)
    # against rounding: the last class ends at 1, and so do those before it that nothing follows
    ends = np.where(ends >= ends[:, -1:], np.inf, ends)
    for k in range(p.shape[1] - 1):
        drawn += chance >= ends[:, k]
    return drawn


def label_changes(labels: Labels, usual: Labels, classes: int) -> Any:
    """A sparse table with a row for each replicate and class: which rows come to it, and which leave.

    Its product with a matrix adds up what that changes, in one thread and in single precision. It is empty
    where labels are as usual: what is added to a sum is then exactly nothing.

    >>> label_changes(np.array([[0, 1, 1]]), np.array([0, 0, 1]), 2).toarray()
    array([[ 0., -1.,  0.],
           [ 0.,  1.,  0.]], dtype=float32)
    """
    from scipy.sparse import csr_array

    replicates, n = labels.shape
    replicate, row = np.nonzero(labels != usual)
    to, off = labels[replicate, row], usual[row]
    place = np.concatenate((to, off)) + classes * np.tile(replicate, 2)
    sign = np.repeat(np.array([1, -1], np.float32), len(row))
    return csr_array((sign, (place, np.tile(row, 2))), shape=(replicates * classes, n))


def enough_rows(t: ClassTally) -> ClassSample:
    """The rows whose labels are drawn: all that are known where few are surprising, or else 2,048."""
    s = ClassSample.of(t, JOINT)
    return s if len(s) <= _ROWS or _changes(s) <= _ROWS else ClassSample.of(t, _ROWS)


def consistency_class_gaps(
    s: ClassSample, cell: Labels, cells: ProbabilityCells, draws: int, rng: np.random.Generator
) -> Floats:
    """Replicates (rows) of `cells.gap` if the rows are calibrated.

    `cell` says in which cell a row (first axis) lies by its probability of a class (second). The noise
    of a sample of rows is scaled, cell by cell, to the variance that all rows have; where few rows of a
    class are expected, it says only in which replicates draws of all rows are large.
    """
    n, m = len(s), len(cells)
    w = s.weight[:, None]
    variance: Any
    variance, mean = (
        np.bincount(cell.ravel(), c.ravel(), m) for c in (w * w * s.p * (1 - s.p), w * s.p)
    )
    if n > _ROWS:
        drawn: Any = _surprises(s, cell, m, draws, rng)
        variance = variance * (n / s.rows)
    else:
        labels = drawn_labels(s.p, rng.random((draws, n)))
        place = cell[np.arange(n), labels] + m * np.arange(draws)[:, None]
        drawn = np.bincount(place.ravel(), np.tile(s.weight, draws), draws * m).reshape(draws, m)
    known = variance > 0
    scale = np.sqrt(np.divide(cells.noise, variance, out=np.zeros(m), where=known))
    gaps: Floats = (drawn - mean) * scale
    if n < s.rows:
        rare = cells.noise <= _MANY * (cells.squares / cells.weight) ** 2
        other, like = consistency_gaps(cells.part(rare), draws, rng), gaps[:, rare]
        # put in the order of the replicates of rows; equal ones in any order
        order = np.argsort(like + 1e-9 * like.std(0) * rng.random(like.shape), axis=0)
        np.put_along_axis(like, order, np.sort(other, axis=0), axis=0)
        gaps[:, rare] = like
        known |= rare
    unseen = ~known & (cells.noise > 0)
    if unseen.any():
        more = rng.standard_normal((draws, int(unseen.sum())))
        gaps[:, unseen] = more * np.sqrt(cells.noise[unseen])
    return gaps


def _changes(s: ClassSample) -> float:
    """About how many rows are expected not to get their likeliest class, of all that `s` stands for."""
    return float(-np.log(np.maximum(s.p.max(1), 1e-300)).mean()) * s.rows


def _surprises(
    s: ClassSample, cell: Labels, cells: int, draws: int, rng: np.random.Generator
) -> Floats:
    """The weight on each cell, of replicates in which only labels other than the likeliest are drawn."""
    n, row = len(s), np.arange(len(s))
    top = s.p.argmax(1)
    usual = np.bincount(cell[row, top], s.weight, cells)
    # a row of a sample stands for several
    replicate, hit = hits(1 - s.p[row, top], np.full(n, s.rows / n), draws, rng)
    other = s.p[hit]
    other[np.arange(len(hit)), top[hit]] = 0.0
    to = drawn_labels(other / other.sum(1, keepdims=True), rng.random((1, len(hit))))[0]
    weight = s.weight[hit] * (n / s.rows)
    place = np.concatenate((cell[hit, to], cell[hit, top[hit]])) + cells * np.tile(replicate, 2)
    change: Any = np.bincount(place, np.concatenate((weight, -weight)), draws * cells)
    return np.asarray(usual + change.reshape(draws, cells))


def resampled_class_gaps(
    s: ClassSample, cell: Labels, cells: int, draws: int, rng: np.random.Generator
) -> Floats:
    """Replicates, of variance 1, of what other rows would change in the gaps of the cells.

    Each row's distances of labels from probabilities count a number of times that is drawn anew, so that
    what is wrong in one class is missing in another.
    """
    from scipy.sparse import csr_array

    some = slice(None, None, -(-len(s) // _ROWS))
    cell, weight = cell[some], s.weight[some] / s.weight[some].sum()
    n, k = cell.shape
    gap = (s.gap[some] * weight[:, None]).ravel()
    table = csr_array((gap, cell.ravel(), k * np.arange(n + 1)), shape=(n, cells))
    times = rng.standard_normal((n, draws))
    times -= weight @ times
    drawn, size = (table.T @ times).T, np.sqrt(np.bincount(cell.ravel(), gap**2, cells))
    return np.asarray(np.divide(drawn, size, out=np.zeros(drawn.shape), where=size > 0))


class Kernels:
    """The logarithms of the kernels between the rows of a sample, for any bandwidth."""

    def __init__(self, s: ClassSample) -> None:
        self._p = s.p
        # 0 is below any bandwidth: the smallest number stands for it, and 0 log 0 = 0
        log = np.log(np.maximum(s.p, np.finfo(float).tiny))
        self._cross = np.einsum("ik,jk->ij", log, s.p)
        with np.errstate(divide="ignore"):
            self._weight = np.log(s.weight)

    def log(self, h: float, first: int | None = None) -> Floats:
        """Of each row (first axis) by each other (second), with the other's weight; -inf for itself."""
        from scipy.special import gammaln

        ends = self._p / h
        scale = gammaln(ends.sum(1) + ends.shape[1]) - gammaln(ends + 1).sum(1)
        log: Floats = self._cross[:first] / h
        log += scale + self._weight
        np.fill_diagonal(log, -math.inf)
        return log

    def shares(self, h: float) -> Floats:
        """The weight that each other row (second axis) has at a row (first axis); they add up to 1."""
        log = self.log(h)
        log -= log.max(1, keepdims=True)
        np.exp(log, out=log)
        log /= log.sum(1, keepdims=True)
        return log


def best_bandwidth(kernels: Kernels, weight: Floats) -> float:
    """The bandwidth under which the rows are likeliest, each seen from the others.

    Some of them, in the order of the sample, are enough to tell.
    """

    def likelihood(h: float) -> float:
        log = kernels.log(h, _SEEN)
        top = log.max(1)
        log -= top[:, None]
        each = top + np.log(np.exp(log, out=log).sum(1))
        return float((weight[:_SEEN] * each).sum())

    return float(max(BANDWIDTHS, key=likelihood))


class KernelGaps:
    """Gaps between the classes' shares and their probabilities, smoothed by kernels; see `Gaps`.

    `gap` holds the smoothed y - p, class by class; `bias` what smoothing alone makes of p. Noise is that of
    labels with the probabilities p at step 0; beyond, that of p and the gaps of a wider kernel, which
    tells how certain the labels are where p does not.
    """

    def __init__(self, s: ClassSample, kernels: Kernels, h: float, seed: int) -> None:
        n, k = s.p.shape
        self.few = False
        self._p = s.p.T.ravel()
        shares = kernels.shares(h)
        smooth = np.einsum("ij,jk->ik", shares, s.p)
        self.bias = (smooth - s.p).T.ravel()
        self.gap = np.einsum("ij,jk->ik", shares, s.gap).T.ravel()
        self.coarse = len(self.gap) <= MAX_COARSE
        chance = np.random.default_rng(seed).random(
            (affordable_replicates(max(n * n, 8 * n * k)), n)
        )
        # in single precision: this is noise
        light = np.ascontiguousarray(shares.T, np.float32)
        q = np.maximum(s.p + np.einsum("ij,jk->ik", kernels.shares(_WIDER * h), s.gap), 0.0)
        q /= q.sum(1, keepdims=True)
        self.null, self._noise = on_threads(
            lambda of: _noise(of, shares, light, chance), [s.p, q], enough=1
        )

    def moved(self, step: float) -> Floats:
        """The gaps without chance: so many times those seen, within the probabilities there are."""
        return np.asarray(np.clip(self._p + step * self.gap, 0.0, 1.0) - self._p)

    def at(self, step: float) -> Floats:
        """Replicates of the gaps at a step."""
        if step == 0:
            return self.null
        return np.asarray(self.moved(step).astype(np.float32) + self._noise)


def _noise(p: Floats, shares: Floats, light: NDArray[np.float32], chance: Floats) -> Floats:
    """Replicates of the smoothed y - p for labels y of chances p.

    Added to those of the likeliest labels: small gaps of rows that are nearly certain keep their digits.
    """
    replicates, (n, k) = len(chance), p.shape
    likeliest = p.argmax(1)
    changes = label_changes(drawn_labels(p, chance), likeliest, k)
    drawn: Floats = (changes @ light).reshape(replicates, k * n)
    least = np.einsum("ij,jk->ik", shares, gaps_of(likeliest, p))
    drawn += least.T.ravel().astype(np.float32)
    return drawn
