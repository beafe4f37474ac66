"""Agreement of resampled items: replicates of a coefficient."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.intervals.agreement import (
    BY_RATER,
    Formula,
    Subject,
    coefficient,
    cohen_pairs,
    subject,
)
from scorewise.intervals.agreement_parts import Rated, alpha_of_ranks
from scorewise.intervals.agreement_weights import Weights
from scorewise.tallies.rating_patterns import Counted, list_keys, ranked, summed
from scorewise.tallies.ratings import Ratings
from scorewise.tallies.sorting import Numbers

_DRAWN = 1 << 20  # weights drawn at a time
_FEW = 1 << 15  # patterns x raters x categories that all replicates are summed over at once
_MANY = 30.0  # items from which on a gamma distribution is that of the cube of a normal number


def replicates_of(
    r: Ratings, name: str, weights: Weights = None, *, replicates: int = 1000, seed: int = 0
) -> Floats:
    """Replicates of a coefficient over resampled items; NaN where chance leaves no room.

    The weight of a pattern is drawn from the gamma distribution that has the mean and the variance of
    its resampled items, as in `bootstrap.resampled`.
    """
    rng = np.random.default_rng(seed)
    if name == "light_kappa":
        return _light(r, weights, replicates, rng)
    found = subject(r, name, weights)
    if isinstance(found, str):
        return np.empty(0)
    x = found.rated if name in BY_RATER else folded(found.rated)[0]
    return _values(found.formula, x, _draws(x.weight, x.weight2, replicates, rng))


def _values(formula: Formula, x: Rated, draws: Iterator[Floats]) -> Floats:
    """The formula's value for each row of drawn weights; all rows at once where patterns are few."""
    together = math.prod(x.listed.shape) * x.many <= _FEW and formula is not alpha_of_ranks
    values = (
        [formula(x.drawn(rows)).value] if together else [formula(x.drawn(w)).value for w in rows]
        for rows in draws
    )
    return np.concatenate([np.atleast_1d(v) for part in values for v in part])


def folded(x: Rated, *, order: bool = False) -> tuple[Rated, NDArray[np.int64]]:
    """Equal patterns as one, and the place of each; who said what is dropped unless in `order`."""
    key = list_keys(x.listed, x.many) if order else _said_keys(x.said)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    weight, weight2 = (summed(place, w, len(first)) for w in (x.weight, x.weight2))
    return replace(x.pick(first), weight=weight, weight2=weight2), place


def _said_keys(said: Counted) -> NDArray[np.int64]:
    """Keys of patterns by how many ratings they have and what was said, lowest categories first."""
    most = int(said.times.max(initial=0))
    # of two patterns with as many ratings, more of a low category come first
    word = said.code.astype(np.int64) * (most + 1) + most - said.times
    return said.rated * len(said.rated) + ranked(word, said.start, said.length)


def _light(r: Ratings, weights: Weights, replicates: int, rng: np.random.Generator) -> Floats:
    if coefficient(r, "light_kappa", weights).why:
        return np.empty(0)
    total = np.zeros(replicates)
    drawn = list(_draws(r.weight, r.weight2, replicates, rng))
    for s in cohen_pairs(r, weights):
        x, place = folded(s.rated, order=True)
        total += _values(s.formula, x, _gathered(drawn, s, place, len(x)))
    return total / math.comb(r.given.shape[1], 2)


def _gathered(
    drawn: list[Floats], s: Subject, place: NDArray[np.int64], cells: int
) -> Iterator[Floats]:
    """Drawn weights of all patterns, as those of the cells of a pair of raters."""
    for rows in drawn:
        yield np.stack([np.bincount(place, w, cells) for w in rows[:, s.used]])


def _draws(
    weight: Numbers, weight2: Numbers, replicates: int, rng: np.random.Generator
) -> Iterator[Floats]:
    largest = float(weight.max(initial=0)) or 1.0
    w, w2 = weight / largest, weight2 / largest / largest
    # items of the same weight; rounded, so that no last digit decides how numbers are drawn
    worth = np.ones(len(w))
    np.divide(w * w, w2, out=worth, where=w2 > 0)
    worth = worth.round(9)
    unit = w / worth
    heavy = worth >= _MANY
    step = max(1, _DRAWN // max(len(w), 1))
    for first in range(0, replicates, step):
        rows = min(step, replicates - first)
        drawn = np.empty((rows, len(w)))
        drawn[:, ~heavy] = rng.standard_gamma(worth[~heavy], (rows, np.count_nonzero(~heavy)))
        drawn[:, heavy] = _cubes(worth[heavy], rng.standard_normal((rows, np.count_nonzero(heavy))))
        yield drawn * unit


def _cubes(worth: Floats, normal: Floats) -> Floats:
    """Gamma numbers of a large shape by cubes of normal ones (Wilson and Hilferty 1931)."""
    root = 1 - 1 / (9 * worth) + normal / (3 * np.sqrt(worth))
    found: Floats = worth * root * root * root
    return found
