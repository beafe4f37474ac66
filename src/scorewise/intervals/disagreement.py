"""How far apart two ratings are, from 0 (agree) to 1: summed over pairs without a table of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]
_BLOCK = 1 << 20  # pairs of categories at a time


class Disagreement(Protocol):
    """The disagreement d(k, l) = 1 - w(k, l) of two categories, as sums over pairs."""

    def between(self, first: Codes, second: Codes) -> Any:
        """The disagreement of two codes."""

    def within(self, codes: Codes) -> Floats:
        """For each pattern, the sum of d over its ordered pairs of ratings."""

    def spread(self, share: Floats) -> Floats:
        """For each category k, the sum of d(k, l) share(l); leading axes of `share` are kept."""

    def squares(self, first: Floats, second: Floats) -> float:
        """The sum of first(k) second(l) d(k, l)**2."""


@dataclass(frozen=True)
class Identity:
    """0 for the same category, 1 for any other.

    >>> Identity().within(np.array([[0, 0, 1, -1]], np.int32)), Identity().spread(np.array([0.25, 0.75]))
    (array([4.]), array([0.75, 0.25]))
    """

    def between(self, first: Codes, second: Codes) -> Any:
        """Whether they differ."""
        return first != second

    def within(self, codes: Codes) -> Floats:
        """All ordered pairs but those of one category, whose runs are seen after a sort."""
        ordered = np.sort(codes, axis=1)
        place = np.arange(codes.shape[1])
        new = np.ones(ordered.shape, np.bool_)
        new[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
        start = np.maximum.accumulate(np.where(new, place, 0), axis=1)
        # the squares of a run's length are the sum of 2 x + 1 over the places x in it
        alike = np.where(ordered >= 0, 2 * (place - start) + 1, 0).sum(1)
        rated = np.count_nonzero(codes >= 0, axis=1)
        apart: Floats = (rated * rated - alike).astype(np.float64)
        return apart

    def spread(self, share: Floats) -> Floats:
        """The share of all other categories."""
        rest: Floats = share.sum(-1, keepdims=True) - share
        return rest

    def squares(self, first: Floats, second: Floats) -> float:
        """The same as without the square."""
        return float((first * self.spread(second)).sum())


@dataclass(frozen=True)
class Linear:
    """The distance of the numbers of the categories; these lie between 0 and 1.

    >>> Linear(np.array([0.0, 0.5, 1.0])).spread(np.array([0.5, 0.0, 0.5]))
    array([0.5, 0.5, 0.5])
    """

    values: Floats

    def between(self, first: Codes, second: Codes) -> Any:
        """The distance of their numbers."""
        return np.abs(self.values[first] - self.values[second])

    def within(self, codes: Codes) -> Floats:
        """By the order of the numbers: the place of each says how often it is added and subtracted."""
        ordered = np.sort(np.where(codes >= 0, self.values[codes], np.inf), axis=1)
        rated = np.count_nonzero(codes >= 0, axis=1)[:, None]
        lead = 2 * np.arange(codes.shape[1]) + 1 - rated
        found: Floats = 2 * (np.where(np.isfinite(ordered), ordered, 0.0) * lead).sum(1)
        return found

    def spread(self, share: Floats) -> Floats:
        """By running sums in the order of the numbers."""
        order = np.argsort(self.values, kind="stable")
        v, p = self.values[order], share[..., order]
        mass, moment = p.cumsum(-1), (p * v).cumsum(-1)
        found = np.empty_like(p)
        found[..., order] = (
            v * (2 * mass - mass[..., -1:]) + moment[..., -1:] - 2 * moment
        )  # below and above each number
        return np.maximum(found, 0.0)

    def squares(self, first: Floats, second: Floats) -> float:
        """The squares of distances are another disagreement."""
        return float((first * Quadratic(self.values).spread(second)).sum())


@dataclass(frozen=True)
class Quadratic:
    """The squared distance of the numbers of the categories; these lie between 0 and 1.

    >>> Quadratic(np.array([0.0, 0.5, 1.0])).spread(np.array([0.5, 0.0, 0.5]))
    array([0.5 , 0.25, 0.5 ])
    """

    values: Floats

    def between(self, first: Codes, second: Codes) -> Any:
        """The squared distance of their numbers."""
        return (self.values[first] - self.values[second]) ** 2

    def within(self, codes: Codes) -> Floats:
        """By the variance of the numbers of each pattern."""
        there = codes >= 0
        rated = np.count_nonzero(there, axis=1)
        v = np.where(there, self.values[codes], 0.0)
        off = np.where(there, v - (v.sum(1) / np.maximum(rated, 1))[:, None], 0.0)
        found: Floats = 2 * rated * (off * off).sum(1)
        return found

    def spread(self, share: Floats) -> Floats:
        """By mean and variance of the numbers."""
        mass = share.sum(-1, keepdims=True)
        mean = (share * self.values).sum(-1, keepdims=True) / np.where(mass > 0, mass, 1.0)
        off = self.values - mean
        found: Floats = mass * off * off + (share * off * off).sum(-1, keepdims=True)
        return found

    def squares(self, first: Floats, second: Floats) -> float:
        """The fourth power of a difference, by its moments."""
        v = self.values - ((first + second) * self.values).sum() / (first + second).sum()
        a, b = ([float((p * v**k).sum()) for k in range(5)] for p in (first, second))
        return a[4] * b[0] - 4 * a[3] * b[1] + 6 * a[2] * b[2] - 4 * a[1] * b[3] + a[0] * b[4]


@dataclass(frozen=True)
class Pairwise:
    """A function of two codes: summed over pairs of raters, and over categories in blocks.

    >>> half = Pairwise(lambda k, l: 0.5 * (k != l), 2)
    >>> half.within(np.array([[0, 1, 1]], np.int32)), half.spread(np.array([0.25, 0.75]))
    (array([2.]), array([0.375, 0.125]))
    """

    of: Callable[[Any, Any], Any]
    categories: int

    def between(self, first: Codes, second: Codes) -> Any:
        """The function."""
        return self.of(first, second)

    def within(self, codes: Codes) -> Floats:
        """Rater by rater, or category by category where these are fewer."""
        if self.categories < codes.shape[1]:
            return self._within_counts(codes)
        total = np.zeros(len(codes))
        for k in range(codes.shape[1]):
            for j in range(k):
                both = (codes[:, k] >= 0) & (codes[:, j] >= 0)
                total[both] += 2 * self.of(codes[both, k], codes[both, j])
        return total

    def _within_counts(self, codes: Codes) -> Floats:
        seen = [np.count_nonzero(codes == k, axis=1) for k in range(self.categories)]
        total = np.zeros(len(codes))
        for k in range(self.categories):
            for j in range(k):
                total += 2 * float(self.of(np.int64(k), np.int64(j))) * seen[k] * seen[j]
        return total

    def spread(self, share: Floats) -> Floats:
        """Block by block of categories."""
        found = np.empty_like(share)
        for rows, block in self.blocks():
            for at in np.ndindex(share.shape[:-1]):
                found[(*at, rows)] = (block * share[at]).sum(1)
        return found

    def squares(self, first: Floats, second: Floats) -> float:
        """Block by block of categories."""
        return float(
            sum(
                (first[rows] * (block * block * second).sum(1)).sum()
                for rows, block in self.blocks()
            )
        )

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Rows of the table of disagreements, some at a time."""
        step = max(1, _BLOCK // max(self.categories, 1))
        every = np.arange(self.categories)
        for first in range(0, self.categories, step):
            rows = slice(first, min(first + step, self.categories))
            yield rows, np.asarray(self.of(every[rows, None], every[None, :]), np.float64)


def all_or_nothing(d: Disagreement, categories: int) -> bool:
    """Whether two categories agree wholly or not at all.

    >>> all_or_nothing(Identity(), 3), all_or_nothing(Linear(np.array([0.0, 0.5, 1.0])), 3)
    (True, False)
    """
    if isinstance(d, Identity) or categories <= 2:
        return True
    if not isinstance(d, Pairwise):
        return False
    return all(bool(((block == 0) | (block == 1)).all()) for _, block in d.blocks())
