"""Observed disagreement, disagreement by chance, and how each item moves them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.intervals.disagreement import Codes, Disagreement, Quadratic
from scorewise.intervals.scales import effective
from scorewise.tallies.ratings import Ratings

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rated:
    """Patterns of ratings with weights that add up to 1, and the mean disagreement within each.

    Weights may be several replicates, one in each row; all sums then are one for each row.
    `apart` is 0 where there are fewer than two ratings. `worth` is the number of equal items.
    """

    codes: Codes
    weight: Floats
    weight2: Floats
    rated: NDArray[np.int64]
    apart: Floats
    kernel: Disagreement
    many: int
    worth: float

    @classmethod
    def of(cls, r: Ratings, kernel: Disagreement) -> Rated:
        """All patterns."""
        w, w2, worth = _in_unit(r.weight, r.weight2)
        return cls(
            r.codes, w, w2, r.rated, apart(r.codes, r.rated, kernel), kernel,
            len(r.categories), worth,
        )  # fmt: skip

    def only(self, used: NDArray[np.bool_], raters: tuple[int, int] | None = None) -> Rated:
        """Some patterns, and perhaps two of the raters."""
        codes, rated = self.codes[used], self.rated[used]
        found = self.apart[used]
        if raters is not None:
            codes = codes[:, list(raters)]
            rated = np.count_nonzero(codes >= 0, axis=1)
            found = apart(codes, rated, self.kernel)
        w, w2, worth = _in_unit(self.weight[used], self.weight2[used])
        return replace(
            self, codes=codes, weight=w, weight2=w2, rated=rated, apart=found, worth=worth
        )

    def drawn(self, weight: Floats) -> Rated:
        """The same patterns with other weights."""
        return replace(self, weight=weight / weight.sum(-1, keepdims=True))

    def shares(self, each: Floats) -> Floats:
        """The share of each category, when a rating of a pattern counts `each`."""
        if each.ndim > 1:
            found: Floats = np.einsum("bp,pq->bq", each, self._said().sum(1, dtype=np.float64))
            return found
        return self._sums(np.repeat(each, self.codes.shape[1]))

    def sums(self, each: Floats) -> Floats:
        """The sum of patterns x raters over the ratings of each category."""
        return self._sums(each.ravel())

    def by_rater(self) -> Floats:
        """Raters x categories: the weight of the items that a rater put there."""
        if self.weight.ndim > 1:
            rows: Floats = np.einsum("bp,prq->brq", self.weight, self._said().astype(np.float64))
            return rows
        raters = self.codes.shape[1]
        at = self.codes + np.arange(raters) * (self.many + 1) + 1
        flat = np.repeat(self.weight, raters)
        found: Any = np.bincount(at.ravel(), flat, raters * (self.many + 1))
        table: Floats = found.reshape(raters, self.many + 1)[:, 1:]
        return table

    def _said(self) -> NDArray[np.bool_]:
        """Patterns x raters x categories: who said what."""
        said: NDArray[np.bool_] = self.codes[:, :, None] == np.arange(self.many)
        return said

    def _sums(self, flat: Floats) -> Floats:
        at = self.codes.ravel() + 1
        found: Any = np.bincount(at, flat, self.many + 1)[1:]
        total: Floats = found
        return total

    def mean_of(self, values: Floats) -> Floats:
        """For each pattern, the mean over its ratings of a number of the category."""
        ended = np.append(values, 0.0)  # a missing rating, -1, takes the last
        found: Floats = ended[self.codes].sum(1) / self.rated
        return found


def _in_unit(weight: Any, weight2: Any) -> tuple[Floats, Floats, float]:
    total = float(weight.sum())
    if not total > 0:
        return weight.astype(np.float64), weight2.astype(np.float64), 0.0
    worth = effective(total, float(weight2.sum()))
    return weight / total, weight2 / total / total, worth


def apart(codes: Codes, rated: NDArray[np.int64], kernel: Disagreement) -> Floats:
    """The mean disagreement of two ratings of each pattern."""
    pairs = rated * (rated - 1)
    found: Floats = kernel.within(codes) / np.maximum(pairs, 1)
    return found


class Parts(NamedTuple):
    """Observed and chance disagreement, and what each pattern adds to both, in units of chance.

    A pattern moves 1 - observed / chance by observed / chance * lean - own.
    """

    observed: Any
    chance: Any
    own: Callable[[], Floats]
    lean: Callable[[], Floats]

    @property
    def value(self) -> Any:
        """The coefficient; NaN where chance leaves no room."""
        return 1 - self.observed / np.where(self.chance > 0, self.chance, np.nan)


Chance = Callable[[Rated], tuple[Any, Callable[[], Floats]]]


def against(chance: Chance) -> Callable[[Rated], Parts]:
    """The parts of a coefficient whose observed agreement is the mean over items with two ratings.

    The slopes are Gwet's (2014, 2021): those of an item with one rating, which says something of
    chance alone, are as in his variance.
    """

    def parts(x: Rated) -> Parts:
        two = x.rated >= 2
        pairs = x.weight[..., two].sum(-1)
        observed = (x.weight * x.apart)[..., two].sum(-1) / pairs
        away, turn = chance(x)

        def own() -> Floats:
            f = two / pairs
            found: Floats = f * x.apart / away - (f - 1)
            return found

        return Parts(observed, away, own, lambda: 1 + turn() / away)

    return parts


def none(x: Rated) -> tuple[Any, Callable[[], Floats]]:
    """No correction for chance."""
    return 1.0, lambda: np.zeros(len(x.codes))


def fleiss(x: Rated) -> tuple[Any, Callable[[], Floats]]:
    """Two ratings drawn from the shares of the categories over all raters."""
    p = x.shares(x.weight / x.rated)
    spread = x.kernel.spread(p)
    away = (p * spread).sum(-1)
    return away, lambda: 2 * (x.mean_of(spread) - away)


def gwet(x: Rated) -> tuple[Any, Callable[[], Floats]]:
    """Random ratings, as often as the shares of the categories are even."""
    p = x.shares(x.weight / x.rated)
    even = x.many * (1 - uniform(x)) / (x.many - 1)  # the sum of all weights / q (q - 1)
    agree = even * (p * (1 - p)).sum(-1)
    return 1 - agree, lambda: 2 * even * (x.mean_of(p) - (p * p).sum())


def uniform(x: Rated) -> float:
    """The disagreement of two categories drawn evenly."""
    p = np.full(x.many, 1 / x.many)
    return float((p * x.kernel.spread(p)).sum())


def brennan(x: Rated) -> tuple[Any, Callable[[], Floats]]:
    """Two categories drawn evenly."""
    return uniform(x), lambda: np.zeros(len(x.codes))


def conger(x: Rated) -> tuple[Any, Callable[[], Floats]]:
    """One rating from each of two raters' own shares of the categories, over all pairs of raters."""
    table = x.by_rater()
    weight = table.sum(-1)
    who = np.flatnonzero((x.codes >= 0).any(0))
    share = table[..., who, :] / weight[..., who, None]
    everybody = x.kernel.spread(share.sum(-2))
    spread = everybody[..., None, :] - x.kernel.spread(share)  # of all other raters
    pairs = len(who) * (len(who) - 1)
    away = (share * spread).sum(-1)

    def turn() -> Floats:
        moved = np.zeros(len(x.codes))
        for k, others, own in zip(who, spread, away, strict=True):
            used = x.codes[:, k] >= 0
            moved[used] += (others[x.codes[used, k]] - own) / weight[k]
        return 2 * moved / pairs

    return away.sum(-1) / pairs, turn


def alpha(x: Rated) -> Parts:
    """Krippendorff's: the parts over ratings of items with two, corrected for a small sample."""
    rated = (x.weight * x.rated).sum(-1)
    rho = x.rated / rated[..., None]
    few = 1 / (rated * x.worth)
    p = x.shares(x.weight / rated[..., None])
    spread = x.kernel.spread(p)
    chance = (p * spread).sum(-1)
    plain = (x.weight * rho * x.apart).sum(-1)
    observed = (1 - few) * plain

    def lean() -> Floats:
        turned = 2 * rho * (x.mean_of(spread) - chance)
        found: Floats = rho - 1 + (1 + turned / chance) / (1 - few)
        return found

    return Parts(observed, chance, lambda: rho * x.apart / chance, lean)


def alpha_of_ranks(x: Rated) -> Parts:
    """Krippendorff's for ordinal ratings: of the squared distance of mid-ranks, which items move too."""
    rated = float((x.weight * x.rated).sum())
    p = x.shares(x.weight / rated)
    assert isinstance(x.kernel, Quadratic)
    order = np.argsort(x.kernel.values, kind="stable")
    rank = np.empty(len(p))
    rank[order] = p[order].cumsum() - p[order] / 2
    kernel = Quadratic(rank)
    y = replace(x, kernel=kernel, apart=apart(x.codes, x.rated, kernel))
    plain = alpha(y)

    rho = x.rated / rated

    def turned(both: Floats) -> Floats:
        found: Floats = rho / plain.chance * (x.mean_of(_above(both, order)) - (both * rank).sum())
        return found

    def own() -> Floats:
        u = np.append(rank, 0.0)[x.codes]
        centre = y.mean_of(rank)[:, None]
        pull = x.sums((4 * x.weight * rho / (x.rated - 1))[:, None] * (u - centre))
        return plain.own() + turned(pull)

    def lean() -> Floats:
        return plain.lean() + turned(4 * p * (rank - (p * rank).sum()))

    return plain._replace(own=own, lean=lean)


def _above(values: Floats, order: NDArray[np.int64]) -> Floats:
    """For each category, the sum over higher ones and half its own."""
    ordered = values[order]
    found = np.empty_like(values)
    found[order] = ordered[::-1].cumsum()[::-1] - ordered / 2
    return found
