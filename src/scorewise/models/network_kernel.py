"""The kernel of a ReLU network: how similar rows are by the units that are on, and the posterior from that.

Each unit of a network is on or off for a row; these bits are the row's pattern.

    rows = ReferenceRows.of(patterns, codes, weight, classes)
    sums = rows.neighbours(patterns_new, [exponent], 10).sums
    pool = tune_pool(log_network, sums, y, prior, weight)  # on rows left out in turn
    inside = pool.posterior(log_network, sums, prior)      # the posterior near the data
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import log_softmax

from scorewise.arrays import Bools, Floats, Ints

Words: TypeAlias = NDArray[np.uint64]
Singles: TypeAlias = NDArray[np.float32]

MAX_PAIRS = 1 << 16  # of rows that are compared at once: what the cache holds
TINY = np.float32(1e-30)
EXPONENTS = (2.0, 8.0, 32.0, 128.0, 512.0, 2048.0)
SMOOTHINGS = (0.01, 1.0)
DOUBTS = (0.001, 0.01, 0.1)
BOUNDS = [(0.0, 10.0), (0.0, 10.0), (-10.0, 10.0)]  # of the shares of a pool
ALONE = np.array([1.0, 0.0, 0.0])  # the shares of a network as it is
PRECISION = 1.0  # of the normal prior that draws the shares there


@dataclass(frozen=True)
class Patterns:
    """For each layer the on/off bits of all rows, 64 to a word, and how many bits there are.

    >>> on = np.array([[True, False, True], [True, True, True], [False, True, False]])
    >>> p = Patterns.of([on])
    >>> [(7 * block).round().tolist() for _, block in similarities(p, p)]
    [[[7.0, 5.0, 1.0], [5.0, 7.0, 3.0], [1.0, 3.0, 7.0]]]
    """

    layers: tuple[Words, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(cls, layers: Sequence[Bools]) -> Patterns:
        """From one boolean array for each layer, rows by units."""
        words = []
        for on in layers:
            # the last word is filled with zeros, which differ in no pair
            filled = np.pad(on, ((0, 0), (0, -on.shape[1] % 64)))
            words.append(np.ascontiguousarray(np.packbits(filled, axis=1)).view(np.uint64))
        return cls(tuple(words), tuple(on.shape[1] for on in layers))

    def __len__(self) -> int:
        return len(self.layers[0])

    def __getitem__(self, rows: Any) -> Patterns:
        return Patterns(tuple(words[rows] for words in self.layers), self.widths)


def similarities(rows: Patterns, others: Patterns) -> Iterator[tuple[slice, Singles]]:
    """Product over layers of 1 - the share of units in which two rows differ; rows by others.

    Each layer counts half a unit more than it has, which never differs, so that no product is 0. Some rows
    at a time, so that the cache holds them.
    """
    step = max(1, MAX_PAIRS // max(len(others), 1))
    for start in range(0, len(rows), step):
        places, product = slice(start, min(start + step, len(rows))), np.ones((1, 1), np.float32)
        part = rows[places]
        for left, right, width in zip(part.layers, others.layers, others.widths, strict=True):
            differing: Any = np.zeros((), np.min_scalar_type(width))
            for a, b in zip(left.T, right.T, strict=True):
                differing = differing + np.bitwise_count(a[:, None] ^ b)
            equal = np.multiply(differing, np.float32(-1 / (width + 0.5)), dtype=np.float32)
            equal += np.float32(1)
            product = equal * product
        yield places, product


class Neighbours(NamedTuple):
    """What reference rows say of others: kernel sums by exponent, row and class; the most similar.

    The places of the most similar and their similarity have a line for each row.
    """

    sums: Floats
    places: Ints
    similarity: Floats


@dataclass(frozen=True)
class ReferenceRows:
    """Patterns of rows whose class is known, in the order of their classes, with their weights."""

    patterns: Patterns
    weight: Singles
    starts: Ints
    present: Ints
    classes: int

    @classmethod
    def of(cls, patterns: Patterns, codes: Ints, weight: Floats, classes: int) -> ReferenceRows:
        """From patterns, class codes in rising order, and weights."""
        present, starts = np.unique(codes, return_index=True)
        return cls(patterns, weight.astype(np.float32), starts, present, classes)

    def __len__(self) -> int:
        return len(self.patterns)

    def neighbours(
        self, rows: Patterns, exponents: Sequence[float], count: int, left_out: Ints | None = None
    ) -> Neighbours:
        """Sums of w^exponent over the reference rows of each class, where the nearest row has w = 1.

        The exponents are powers of two, rising. `count` rows are told that are most similar. `left_out` has
        for each row its own place among the reference rows, where it is not to count.
        """
        count = min(count, len(self) - (left_out is not None))
        sums = np.zeros((len(exponents), len(rows), self.classes))
        nearest = np.empty((len(rows), count), np.int64)
        similarity = np.empty((len(rows), count))
        for places, w in similarities(rows, self.patterns):
            if left_out is not None:
                w[np.arange(len(w)), left_out[places]] = 0
            nearest[places], similarity[places] = largest(w, count)
            w /= np.maximum(similarity[places, :1].astype(np.float32), TINY)
            power = 1.0
            for at, exponent in enumerate(exponents):
                while power < exponent:
                    np.square(w, out=w)
                    power *= 2
                by_class = np.add.reduceat(w * self.weight, self.starts, axis=1)
                sums[at, places, self.present] = by_class.T
        return Neighbours(sums, nearest, similarity)


def largest(values: Singles, count: int) -> tuple[Ints, Singles]:
    """Places of the `count` largest values of each row, and these values, falling.

    One search for the largest after another: of few it is quicker than a partition of many ties.

    >>> largest(np.array([[1.0, 3.0, 2.0]], np.float32), 2)
    (array([[1, 2]]), array([[3., 2.]], dtype=float32))
    """
    rows = np.arange(len(values))
    places = np.empty((len(values), count), np.int64)
    top = np.empty((len(values), count), np.float32)
    for rank in range(count):
        place = values.argmax(axis=1)
        places[:, rank], top[:, rank] = place, values[rows, place]
        values[rows, place] = -1
    values[rows[:, None], places] = top
    return places, top


@dataclass(frozen=True)
class Pool:
    """How network, kernel and prior make a posterior: ∝ p^network (q / prior)^kernel prior^prior.

    p is the network's posterior with `doubt` of the prior added, so that no class is impossible; q that
    of the kernel sums of the `exponent` with `smoothing` rows of the prior added, as near as the nearest
    row. `loss` is the log loss on the rows that it was tuned on.
    """

    exponent: float = 32.0
    smoothing: float = 1.0
    doubt: float = 0.01
    network: float = 0.5
    kernel: float = 0.5
    prior: float = 0.5
    loss: float = float("nan")

    def posterior(self, log_network: Floats, sums: Floats, prior: Floats) -> Floats:
        """The pooled posterior; of several networks (a first axis), the logs are averaged."""
        p, q, base = _logs(log_network, sums, prior, self.smoothing, self.doubt)
        logs = self.network * p + self.kernel * q
        logs = logs if logs.ndim == 2 else logs.mean(axis=0)
        return np.asarray(np.exp(log_softmax(logs + self.prior * base, axis=1)))


def tune_pool(
    log_network: Floats,
    sums: Floats,
    y: Ints,
    prior: Floats,
    weight: Floats,
    exponents: Sequence[float] = EXPONENTS,
) -> Pool:
    """The pool with the least log loss on rows that neither network nor kernel knows.

    `sums` has the kernel sums by exponent, row and class. For each exponent, smoothing and doubt the
    loss is convex in the three shares; they are drawn towards the network alone.
    """
    pools = []
    for (place, exponent), smoothing, doubt in product(enumerate(exponents), SMOOTHINGS, DOUBTS):
        logs = _logs(log_network, sums[place], prior, smoothing, doubt)
        best = minimize(
            _loss_and_slopes, ALONE, (logs, y, weight), jac=True, method="L-BFGS-B", bounds=BOUNDS
        )
        network, kernel, rest = best.x.tolist()
        loss = float(best.fun)
        pools.append(Pool(exponent, smoothing, doubt, network, kernel, rest, loss))
    return min(pools, key=lambda pool: pool.loss)


def _logs(
    log_network: Floats, sums: Floats, prior: Floats, smoothing: float, doubt: float
) -> tuple[Floats, Floats, Floats]:
    """Logs of the network's posterior, of the kernel's against the prior, and of the prior."""
    base = np.log(prior)
    p = np.log(np.exp(log_network) + doubt * prior)
    total = sums.sum(axis=-1, keepdims=True) + smoothing
    return p, np.log((sums + smoothing * prior) / total) - base, np.broadcast_to(base, p.shape[-2:])


def _loss_and_slopes(
    shares: Floats, logs: Sequence[Floats], y: Ints, weight: Floats
) -> tuple[float, Floats]:
    """The mean log loss with these shares, drawn towards the network alone, and its derivatives."""
    rows, total, away = np.arange(len(y)), weight.sum(), shares - ALONE
    log = log_softmax(sum(s * r for s, r in zip(shares, logs, strict=True)), axis=1)
    p = np.exp(log)
    slopes = np.array([(weight * ((p * r).sum(axis=1) - r[rows, y])).sum() for r in logs])
    loss = -(weight * log[rows, y]).sum() + 0.5 * PRECISION * (away * away).sum()
    return loss / total, (slopes + PRECISION * away) / total
