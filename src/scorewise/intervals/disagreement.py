"""How far apart two ratings are, from 0 (agree) to 1: summed over pairs without a table of all pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from scorewise.arrays import Floats
from scorewise.door.rating_codes import Codes
from scorewise.tallies.rating_patterns import Counted

_BLOCK = 1 << 20  # pairs of categories at a time


class Disagreement(Protocol):
    """The disagreement d(k, l) = 1 - w(k, l) of two categories, as sums over pairs."""

    def between(self, first: Codes, second: Codes) -> Any:
        """The disagreement of two codes."""

    def within(self, said: Counted) -> Floats:
        """For each category said of a pattern, the sum of d over all ratings of the pattern."""

    def spread(self, share: Floats) -> Floats:
        """For each category k, the sum of d(k, l) share(l); leading axes of `share` are kept."""

    def squares(self, first: Floats, second: Floats) -> float:
        """The sum of first(k) second(l) d(k, l)**2."""


@dataclass(frozen=True)
class Identity:
    """0 for the same category, 1 for any other.

    >>> said = Counted.of(np.array([[0, 0, 1, -1]], np.int32))
    >>> Identity().within(said), Identity().spread(np.array([0.25, 0.75]))
    (array([1., 2.]), array([0.75, 0.25]))
    """

    def between(self, first: Codes, second: Codes) -> Any:
        """Whether they differ."""
        return first != second

    def within(self, said: Counted) -> Floats:
        """All ratings but those of the category."""
        rest: Floats = (said.rated[said.at] - said.times).astype(np.float64)
        return rest

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

    def within(self, said: Counted) -> Floats:
        """By running sums in the order of the numbers."""
        v, times = self.values[said.code], said.times
        patterns, steps = said.steps()
        rated, whole = said.rated[patterns], said.total(times * v)[patterns]
        mass, moment = np.zeros((2, len(patterns)))
        by_number = None if (np.diff(self.values) >= 0).all() else np.lexsort((v, said.at))
        found = np.empty(len(v))
        for step in steps:
            here, n = step if by_number is None else by_number[step], len(step)
            value, amount = v[here], times[here]
            mass[:n] += amount
            moment[:n] += amount * value
            # below and above each number
            found[here] = value * (2 * mass[:n] - rated[:n]) + whole[:n] - 2 * moment[:n]
        return np.maximum(found, 0.0)

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

    def within(self, said: Counted) -> Floats:
        """By mean and variance of the numbers of each pattern."""
        v = self.values[said.code]
        mean = said.total(said.times * v) / np.maximum(said.rated, 1)
        off = (v - mean[said.at]) ** 2
        found: Floats = said.rated[said.at] * off + said.total(said.times * off)[said.at]
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
    """A function of two codes: summed over what was said of a pattern, and over categories in blocks.

    >>> half = Pairwise(lambda k, l: 0.5 * (k != l), 2)
    >>> said = Counted.of(np.array([[0, 1, 1]], np.int32))
    >>> half.within(said), half.spread(np.array([0.25, 0.75]))
    (array([1. , 0.5]), array([0.375, 0.125]))
    """

    of: Callable[[Any, Any], Any]
    categories: int

    def between(self, first: Codes, second: Codes) -> Any:
        """The function."""
        return self.of(first, second)

    def within(self, said: Counted) -> Floats:
        """Each category of a pattern with the next, with the one after that, ..."""
        found = np.zeros(len(said.code))
        here = np.arange(len(found))
        ends = (said.start + said.length)[said.at]
        for step in range(1, int(said.length.max(initial=0))):
            here = here[here + step < ends[here]]
            there = here + step
            apart = self.of(said.code[here], said.code[there])
            found[here] += said.times[there] * apart
            found[there] += said.times[here] * apart
        return found

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
