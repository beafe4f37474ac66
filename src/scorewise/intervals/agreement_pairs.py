"""Each two raters compared on the items that both rated, and Cohen's kappa of all such pairs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.door.rating_codes import RatingList
from scorewise.intervals.agreement_parts import Rated
from scorewise.tallies.rating_patterns import ranges, spans, summed

MOST = 10**9  # pairs of ratings of an item that are compared
_BLOCK = 1 << 18  # pairs of ratings at a time
_CELLS = 1 << 18  # of tables of pairs of raters x categories at a time


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
