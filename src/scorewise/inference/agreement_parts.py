"""Observed disagreement, disagreement by chance, and how each item moves them; also of each two raters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats, Ints
from scorewise.columns.rating_codes import Codes, RatingList
from scorewise.inference.agreement_weights import Disagreement, Quadratic
from scorewise.inference.scales import effective
from scorewise.tallies.formulas import mid_ranks, placed
from scorewise.tallies.rating_patterns import Counted, picked, ranges, spans, summed
from scorewise.tallies.ratings import Ratings

MOST = 10**9  # pairs of ratings of an item that are compared
_BLOCK = 1 << 18  # pairs of ratings at a time
_CELLS = 1 << 18  # of tables of pairs of raters x categories at a time


@dataclass(frozen=True)
class Rated:
    """Patterns of ratings with weights that add up to 1, and the mean disagreement within each.

    `listed` has the ratings one by one, `said` the categories of each pattern. Weights may be several
    replicates, one in each row; all sums then are one for each row. `apart` is 0 where there are fewer
    than two ratings. `worth` is the number of equal items. All formulas also hold for arrays of fractions.
    """

    listed: RatingList
    said: Counted
    weight: Floats
    weight2: Floats
    apart: Floats
    kernel: Disagreement
    many: int
    worth: float

    @classmethod
    def of(cls, r: Ratings, kernel: Disagreement) -> Rated:
        """All patterns."""
        w, w2, worth = _in_unit(r.weight, r.weight2)
        found = apart(r.counted, kernel)
        return cls(r.listed, r.counted, w, w2, found, kernel, len(r.categories), worth)

    def __len__(self) -> int:
        return len(self.apart)

    @property
    def rated(self) -> Ints:
        """How many ratings each pattern has."""
        return self.said.rated

    @cached_property
    def codes(self) -> Codes:
        """Patterns x raters."""
        return self.listed.table()

    def only(self, used: NDArray[np.bool_], raters: tuple[int, int] | None = None) -> Rated:
        """Some patterns, and perhaps two of the raters."""
        w, w2, worth = _in_unit(self.weight[used], self.weight2[used])
        if raters is not None:
            codes = self.codes[:, list(raters)][used]
            return Rated(
                RatingList.of(codes), said := Counted.of(codes), w, w2, apart(said, self.kernel),
                self.kernel, self.many, worth,
            )  # fmt: skip
        return replace(self.pick(np.flatnonzero(used)), weight=w, weight2=w2, worth=worth)

    def pick(self, rows: Ints) -> Rated:
        """Some patterns in that order, with their weights as they are."""
        return replace(
            self, listed=picked(self.listed, rows), said=self.said.pick(rows),
            weight=self.weight[rows], weight2=self.weight2[rows], apart=self.apart[rows],
        )  # fmt: skip

    def drawn(self, weight: Floats) -> Rated:
        """The same patterns with other weights."""
        return replace(self, weight=weight / weight.sum(-1, keepdims=True))

    def shares(self, each: Floats) -> Floats:
        """The share of each category, when a rating of a pattern counts `each`."""
        if each.ndim > 1:
            counts = np.zeros((len(self), self.many))
            counts[self.said.at, self.said.code] = self.said.times
            found: Floats = np.einsum("bp,pq->bq", each, counts)
            return found
        return self.sums(each[self.said.at])

    def sums(self, each: Floats) -> Floats:
        """The sum over ratings by category, of a number for each category of a pattern."""
        return summed(self.said.code, each * self.said.times, self.many)

    def by_rater(self) -> Floats:
        """Raters x categories: the weight of the items that a rater put there."""
        item, rater, code, shape = self.listed
        if self.weight.ndim > 1:
            said = np.zeros((*shape, self.many))
            said[item, rater, code] = 1.0
            rows: Floats = np.einsum("bp,prq->brq", self.weight, said)
            return rows
        found = summed(rater * self.many + code, self.weight[item], shape[1] * self.many)
        return found.reshape(shape[1], self.many)

    def mean_of(self, values: Floats) -> Floats:
        """For each pattern, the mean over its ratings of a number of the category."""
        found: Floats = self.said.total(values[self.said.code] * self.said.times) / self.rated
        return found


def _in_unit(weight: Any, weight2: Any) -> tuple[Floats, Floats, float]:
    total = float(weight.sum())
    if not total > 0:
        return weight.astype(np.float64), weight2.astype(np.float64), 0.0
    worth = effective(total, float(weight2.sum()))
    return weight / total, weight2 / total / total, worth


def apart(said: Counted, kernel: Disagreement) -> Floats:
    """The mean disagreement of two ratings of each pattern."""
    pairs = said.rated * (said.rated - 1)
    found: Floats = said.total(said.times * kernel.within(said)) / np.maximum(pairs, 1)
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
    return 1, lambda: np.zeros(len(x))


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


def uniform(x: Rated) -> Any:
    """The disagreement of two categories drawn evenly."""
    p = np.full(x.many, x.worth / x.worth) / x.many  # floats or fractions, as the weights are
    return (p * x.kernel.spread(p)).sum()


def brennan(x: Rated) -> tuple[Any, Callable[[], Floats]]:
    """Two categories drawn evenly."""
    return uniform(x), lambda: np.zeros(len(x))


def conger(x: Rated) -> tuple[Any, Callable[[], Floats]]:
    """One rating from each of two raters' own shares of the categories, over all pairs of raters."""
    table = x.by_rater()
    weight = table.sum(-1)
    item, rater, code, shape = x.listed
    present = np.bincount(rater, minlength=shape[1]) > 0
    who, place = np.flatnonzero(present), present.cumsum() - 1
    share = table[..., who, :] / weight[..., who, None]
    everybody = x.kernel.spread(share.sum(-2))
    spread = everybody[..., None, :] - x.kernel.spread(share)  # of all other raters
    pairs = len(who) * (len(who) - 1)
    away = (share * spread).sum(-1)

    def turn() -> Floats:
        own = place[rater]
        moved = (spread[own, code] - away[own]) / weight[rater]
        return summed(item, moved, len(x)) * (2 / pairs)

    return away.sum(-1) / pairs, turn


def alpha(x: Rated) -> Parts:
    """Krippendorff's: the parts over ratings of items with two, corrected for a small sample."""
    rated = np.asarray((x.weight * x.rated).sum(-1))
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
    rated = (x.weight * x.rated).sum()
    p = x.shares(x.weight / rated)
    assert isinstance(x.kernel, Quadratic)
    order = np.argsort(x.kernel.values, kind="stable")
    rank = mid_ranks(p, x.kernel.values)
    kernel = Quadratic(rank)
    y = replace(x, kernel=kernel, apart=apart(x.said, kernel))
    plain = alpha(y)

    rho = x.rated / rated

    def turned(both: Floats) -> Floats:
        found: Floats = rho / plain.chance * (x.mean_of(_above(both, order)) - (both * rank).sum())
        return found

    def own() -> Floats:
        at, code = x.said.at, x.said.code
        pull = x.sums((4 * x.weight * rho / (x.rated - 1))[at] * (rank[code] - y.mean_of(rank)[at]))
        return plain.own() + turned(pull)

    def lean() -> Floats:
        return plain.lean() + turned(4 * p * (rank - (p * rank).sum()))

    return plain._replace(own=own, lean=lean)


def _above(values: Floats, order: NDArray[np.int64]) -> Floats:
    """For each category, the sum over higher ones and half its own."""
    found = np.empty_like(values)
    found[order[::-1]] = placed(values[order[::-1]])
    return found


def too_many(rated: Ints) -> str:
    """Why the ratings of these items are not compared in pairs, or nothing."""
    pairs = int((rated * (rated - 1) // 2).sum())
    return (
        f"{pairs:,} pairs of ratings of an item are too many to compare; {MOST:,} are taken"
        if pairs > MOST
        else ""
    )


class Compared(NamedTuple):
    """Some raters against all that follow: what each two said, and the weight of the items.

    `cell` is the pair: raters from the `lowest` on x all. `place` has, for each pair of ratings of a
    `pattern`, its place in the other columns: equal ones are summed up where that makes them fewer.
    """

    lowest: int
    cells: int
    cell: Ints
    first: Any
    second: Any
    weight: Any
    weight2: Any
    pattern: Ints
    place: Any


def compared(
    ratings: RatingList, weight: Any, weight2: Any, many: int, together: int
) -> Iterator[Compared]:
    """All pairs of ratings of a pattern: at most `together` raters and all that follow, at a time.

    `weight2` is None where nobody asks for it.
    """
    item, rater, code, (patterns, raters) = ratings
    start, length = spans(item, patterns)
    later = (start + length)[item] - np.arange(len(item)) - 1
    order = np.argsort(rater, kind="stable")
    ends = [*spans(rater, raters)[0].tolist(), len(rater)]
    pairs = np.bincount(rater, later, raters).cumsum()
    code, table = code.astype(np.int64), many * many
    keys = rater * table + code
    low = 0
    while low < raters:
        done = pairs[low - 1] if low else 0.0
        high = int(np.searchsorted(pairs, done + _BLOCK, side="right"))
        high = min(max(high, low + 1), low + together, raters)
        its = order[ends[low] : ends[high]]
        n = later[its]
        other = ranges(its + 1, n)
        pattern = item[its].repeat(n)
        w, w2 = weight[pattern], None if weight2 is None else weight2[pattern]
        own = (rater[its] - low) * raters
        cells = (high - low) * raters
        if cells * table <= len(other):
            place = (own * table + code[its] * many).repeat(n) + keys[other]
            w, w2 = (None if x is None else summed(place, x, cells * table) for x in (w, w2))
            cell, said = np.divmod(np.arange(cells * table), table)
            yield Compared(low, cells, cell, *np.divmod(said, many), w, w2, pattern, place)
        else:
            cell = own.repeat(n) + rater[other]
            first, second = code[its].repeat(n), code[other]
            yield Compared(low, cells, cell, first, second, w, w2, pattern, slice(None))
        low = high


class MeanCohen(NamedTuple):
    """The mean over pairs of kappa and of its parts, the fewest items of a pair, and the slopes."""

    value: float
    observed: float
    expected: float
    items: float
    slope: Floats


def mean_cohen(x: Rated, raters: tuple[str, ...]) -> MeanCohen | str:
    """Light's kappa, or why there is none: a pair of raters has no kappa, or they are too many."""
    if why := too_many(x.rated):
        return why
    sums, items, slope = np.zeros(3), np.inf, np.zeros(len(x))
    many = len(raters)
    together = max(1, _CELLS // (many * x.many))
    for c in compared(x.listed, x.weight, x.weight2, x.many, together):
        found = _each_pair(x, c)
        # the raters that follow the first of each pair
        pair = np.arange(many) > np.arange(c.lowest, c.lowest + c.cells // many)[:, None]
        few, alike = (
            pair & wrong.reshape(pair.shape)
            for wrong in (found.items < 1 + 1e-9, found.chance <= 1e-14)
        )
        if (lacking := (few | alike).any(1)).any():
            k = int(lacking.argmax())
            other = raters[int((few if few[k].any() else alike)[k].argmax())]
            why = "leave no room for disagreement by chance"
            why = "rated fewer than two items both" if few[k].any() else why
            return f"{raters[c.lowest + k]} and {other} {why}"
        observed, chance, rated = (
            x[pair.ravel()] for x in (found.observed, found.chance, found.items)
        )
        sums += [float((1 - part).sum()) for part in (observed / chance, observed, chance)]
        items = min(items, float(rated.min(initial=np.inf)))
        slope -= summed(c.pattern, found.turned[c.place], len(x))
    pairs = many * (many - 1) / 2
    value, apart, by_chance = (sums / pairs).tolist()
    return MeanCohen(value, apart, by_chance, items, slope / pairs)


class _Pairs(NamedTuple):
    """Items of each pair of raters, disagreement and that by chance, and how what they said turns it."""

    items: Floats
    observed: Floats
    chance: Floats
    turned: Floats


def _each_pair(x: Rated, c: Compared) -> _Pairs:
    total, squares = (summed(c.cell, w, c.cells) for w in (c.weight, c.weight2))
    rated = np.where(total > 0, total, 1.0)
    apart = x.kernel.between(c.first, c.second)
    observed = summed(c.cell, c.weight * apart, c.cells) / rated
    own, other = (
        summed(c.cell * x.many + code, c.weight, c.cells * x.many).reshape(-1, x.many)
        / rated[:, None]
        for code in (c.first, c.second)
    )
    of_own, of_other = x.kernel.spread(other), x.kernel.spread(own)
    chance = (own * of_own).sum(1)
    safe = np.where(chance > 0, chance, 1.0)
    turn = of_own[c.cell, c.first] + of_other[c.cell, c.second] - 2 * chance[c.cell]
    turned = apart - observed[c.cell] - (observed / safe)[c.cell] * turn
    items = total * total / np.where(squares > 0, squares, 1.0)
    return _Pairs(items, observed, chance, turned / (safe * rated)[c.cell])
